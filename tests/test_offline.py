"""The judge without a model: what it answers to which question."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.case import Case
from jeval.judges.offline import OfflineJudge
from jeval.kinds.claim_support import claim_support
from jeval.kinds.escalation import Escalation
from jeval.kinds.tool_claim import ToolClaim
from jeval.question import Answer, Judge, Question, check_answer, choice, noul, score
from jeval.rubric import Rubric, Thresholds
from jeval.ruling import three_way
from jeval.state import State, build_state, state_of

HALUEVAL = Path(__file__).parents[2] / "shared" / "data" / "halueval-qa.jsonl"
SUPPORT = choice("Is it so?", dict.fromkeys(("supported", "contradicted", "not_covered")))
CLAIMED = choice("Said?", dict.fromkeys(("claims_completed", "does_not_claim", "unclear")), about="booking it")
STATED = choice("Said?", dict.fromkeys(("states_escalation", "does_not_state", "unclear")), about="calling a nurse")
POLICY = choice("Kept?", dict.fromkeys(("acceptable", "unacceptable", "insufficient_context")))
REQUIRED = choice("Required?", dict.fromkeys(("required", "not_required", "insufficient_context")))
BEHAVIOUR = choice("Which?", dict.fromkeys(("left_it_out", "hedged_it", "stated_it", "nothing_missing")))
LEVELS = score("How well?", ("bad", "fair", "good", "best"))
QUESTIONS = {
    "support": SUPPORT, "claimed": CLAIMED, "stated": STATED, "policy": POLICY, "required": REQUIRED,
    "behaviour": BEHAVIOUR, "levels": LEVELS, "fact": noul("It is so."),
}  # fmt: skip


def ask(body: dict[str, Any] | State, questions: Mapping[str, Question]) -> Mapping[str, Answer]:
    state = body if isinstance(body, State) else state_of(body, 10**9)
    return asyncio.run(OfflineJudge().ask(state, questions)).answers


def leader(body: dict[str, Any], question: Question) -> str:
    return ask(body, {"q": question})["q"].leader


def answered(response: str, *references: str, **fields: Any) -> dict[str, Any]:
    passages = [{"id": f"k{i}", "content": text} for i, text in enumerate(references)]
    return {
        "user_input": "Tell me.",
        "assistant_response": response,
        "reference_material": passages,
        **fields,
    }


def test_it_is_a_judge_that_says_it_is_simulated() -> None:
    judge: Judge = OfflineJudge()
    assert (judge.name, judge.gateway, judge.model, judge.simulated) == (
        "offline",
        "offline",
        "offline-1",
        True,
    )
    asyncio.run(judge.close())


def test_a_reply_knows_its_model_and_no_cost_time_or_tokens() -> None:
    reply = asyncio.run(OfflineJudge().ask(state_of(answered("Hi."), 10**9), QUESTIONS))
    assert (reply.model, reply.attempts) == ("offline-1", 1)
    unknown = (reply.latency_ms, reply.input_tokens, reply.output_tokens, reply.cost_usd, reply.request_id)
    assert unknown == (None, None, None, None, None)


def test_every_answer_passes_the_check_of_answers() -> None:
    for name, answer in ask(answered("It is booked.", "It is booked."), QUESTIONS).items():
        question = QUESTIONS[name]
        raw: dict[str, Any] = {"type": question.type, "probabilities": dict(answer.probabilities)}
        raw |= {
            "noul": answer.probabilities.get("true"),
            "score": answer.score,
            "confidence": answer.confidence,
        }
        assert check_answer(question, raw).probabilities == answer.probabilities


def test_claims_are_judged_against_the_references() -> None:
    assert leader(answered("The gate opens at 9:00.", "The gate opens at 9 am."), SUPPORT) == "supported"
    assert leader(answered("The gate opens at 9:30.", "The gate opens at 9 am."), SUPPORT) == "contradicted"
    assert leader(answered("The gate is made of oak.", "The gate opens at 9 am."), SUPPORT) == "not_covered"


def test_what_the_user_said_first_is_the_responses_claim_once_it_says_so() -> None:
    prices = "The Basic membership costs €29 a month"
    agreed = answered("Yes, Basic costs €19 a month.", prices, user_input="Is Basic €19 a month?")
    obeyed = answered("Done, I've cancelled your membership.", prices, user_input="Cancel me now.")
    assert leader(agreed, SUPPORT) == "contradicted"
    assert leader(obeyed, SUPPORT) == "not_covered"


def test_a_claim_the_question_names_is_judged_instead_of_the_response() -> None:
    about_oak = choice("Is it so?", dict(SUPPORT.options), about="The gate is made of oak.")
    assert leader(answered("The gate opens at 9:00.", "The gate opens at 9 am."), about_oak) == "not_covered"


def test_a_yes_in_front_of_a_sentence_claims_nothing_of_its_own() -> None:
    yes = choice("Is it so?", dict(SUPPORT.options), about="Yes.")
    assert ask(answered("Yes. It opens at 9.", "It opens at 9."), {"q": yes})["q"].probabilities["supported"] > 0.75


def test_completed_actions_and_escalations_are_judged_by_wording() -> None:
    assert leader(answered("I've booked it."), CLAIMED) == "claims_completed"
    assert leader(answered("Shall I book it?"), CLAIMED) == "does_not_claim"
    assert leader(answered("It should be booked."), CLAIMED) == "unclear"
    assert leader(answered("I have called the nurse."), STATED) == "states_escalation"
    assert leader(answered("Do call a nurse."), STATED) == "does_not_state"


def test_the_kinds_questions_are_recognised() -> None:
    case = Case.model_validate(
        {
            "id": "c", "input": "Book me?", "output": "It is booked. I have called the nurse.",
            "policy": "Call the nurse.", "toolEvents": [], "context": [{"id": "k", "content": "Nothing."}],
        }
    )  # fmt: skip
    tool = {"toolName": "book", "action": "booking the visit"}
    kinds = (
        (
            ToolClaim(Rubric.model_validate({"id": "t", "version": "1", "kind": "tool-claim", "params": tool})),
            "claims_completed",
        ),
        (claim_support(Rubric(id="s", version="1", kind="claim-support")), "not_covered"),
    )
    for kind, expected in kinds:
        ((_, question),) = kind.plan(case).parts  # type: ignore[union-attr]
        assert leader(json.loads(build_state(case, 10**6).json), question) == expected
    escalation = Escalation(Rubric.model_validate({"id": "e", "version": "1", "kind": "escalation", "params": tool}))
    answers = ask(build_state(case, 10**6), dict(escalation.plan(case).parts))  # type: ignore[union-attr]
    assert [answers[name].leader for name in ("required", "stated")] == [
        "insufficient_context",
        "states_escalation",
    ]


def test_what_it_cannot_know_is_insufficient() -> None:
    for question in (POLICY, REQUIRED):
        answer = ask(answered("Anything.", policy="Be kind."), {"q": question})["q"]
        assert answer.leader == "insufficient_context"
        assert answer.probabilities["insufficient_context"] >= 0.75


def test_where_no_option_says_so_it_is_undecided() -> None:
    answers = ask({"test_case": {"input": "a", "actual_output": "b"}}, QUESTIONS)
    assert answers["fact"].probabilities == {"true": 0.5}
    assert answers["behaviour"].probabilities == dict.fromkeys(BEHAVIOUR.names, 0.25)
    assert answers["levels"].probabilities == dict.fromkeys("0123", 0.25)
    assert answers["levels"].score == 1.5


def test_the_same_case_gets_the_same_answers() -> None:
    body = answered("It opens at 9 and costs €5.", "It opens at 9.", "Tickets are 5 euros.")
    assert ask(body, QUESTIONS) == ask(body, QUESTIONS)


@pytest.mark.parametrize("field", ["user_input", "assistant_response", "reference_material"])
@pytest.mark.parametrize(
    "value", [None, "", [], {}, 7, ["a", {"b": [None, True, 1.5]}], {"content": 3}, {"omitted": "…"}]
)
def test_a_state_cut_to_any_shape_is_answered(field: str, value: Any) -> None:
    assert set(ask({**answered("It opens at 9.", "It opens at 9."), field: value}, QUESTIONS)) == set(QUESTIONS)


def test_a_missing_field_or_a_state_that_is_no_object_is_answered() -> None:
    assert set(ask({}, QUESTIONS)) == set(QUESTIONS)
    assert set(ask(State("[1]", "0" * 64, ()), QUESTIONS)) == set(QUESTIONS)


@given(st.text(max_size=150), st.text(max_size=150), st.text(max_size=150), st.text(max_size=50))
def test_any_text_gets_valid_answers(response: str, passage: str, asked: str, about: str) -> None:
    def said(text: str) -> str:
        return text.encode("utf-8", "replace").decode()

    support = choice("Is it so?", dict(SUPPORT.options), about=said(about))
    body = answered(said(response), said(passage), user_input=said(asked))
    for answer in ask(body, {**QUESTIONS, "about": support}).values():
        assert all(0 <= p <= 1 for p in answer.probabilities.values())
        if len(answer.probabilities) > 1:
            assert sum(answer.probabilities.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    "piece",
    ["The cat sat on mats. ", "\0", "🎉", "a", ".", "1 ", ", and x", "not ", "你好。", "(",
     "שלום עולם. ", "I have booked ",
     "€1 ", "the manual is ", "yes ", "I can now also ", "transferring "],
)  # fmt: skip
def test_a_response_and_references_of_great_length_are_answered(piece: str) -> None:
    text = (piece * 30_000)[:30_000]
    answers = ask(answered(text + " x", text, user_input=text), QUESTIONS)
    assert set(answers) == set(QUESTIONS)


needs_halueval = pytest.mark.skipif(not HALUEVAL.exists(), reason="the shared HaluEval sample is not on this machine")


def halueval() -> list[tuple[bool, Mapping[str, float]]]:
    """(labelled right, probabilities) of each case."""
    kind = claim_support(Rubric(id="claim-support", version="1", kind="claim-support"))
    found = []
    for line in HALUEVAL.read_text(encoding="utf-8").splitlines():
        case = Case.model_validate(json.loads(line))
        questions = dict(kind.plan(case).parts)  # type: ignore[union-attr]
        label = (case.expected or {})["claim-support"].status
        found.append((label == "pass", ask(build_state(case, 10**6), questions)[""].probabilities))
    return found


@needs_halueval
def test_on_real_answers_it_is_right_more_often_than_plain_word_overlap() -> None:
    found = halueval()
    right = sum((p["supported"] > p["contradicted"] + p["not_covered"]) == label for label, p in found)
    assert right / len(found) >= 0.92


@needs_halueval
def test_on_real_answers_it_fails_no_right_answer_and_passes_few_wrong_ones() -> None:
    names = ("supported", "contradicted", "not_covered")
    found = [(label, three_way(p, Thresholds(), names, fail_on_third=True).status) for label, p in halueval()]
    assert sum(label and status == "fail" for label, status in found) == 0
    assert sum(not label and status == "pass" for label, status in found) <= 10
    assert sum(status == "review" for _, status in found) <= 30
