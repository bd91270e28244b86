"""claim-support: of the whole response, of one claim, and sentence by sentence."""

import json

import pytest

from jeval.case import Case
from jeval.preamble import PREAMBLE
from jeval.rubric import Thresholds
from tests.samples import asked, case, check_of, plan_of, rubric

KIND = "claim-support"
SENTENCES = {"granularity": "sentence"}

SUPPORTED, CONTRADICTED, UNCOVERED = (0.9, 0.05, 0.05), (0.1, 0.8, 0.1), (0.1, 0.1, 0.8)
WAVERING = (0.6, 0.3, 0.1)

THREE = case(output="We open at nine. Bring your card. Parking is free.")


def sentences(*answers: tuple[float, ...]) -> dict[str, tuple[float, ...]]:
    return {f"s{place}": answer for place, answer in enumerate(answers, 1)}


def test_it_asks_one_choice_of_three_outcomes_in_this_order() -> None:
    questions = asked(rubric(KIND))
    assert list(questions) == [""]
    assert questions[""].names == ("supported", "contradicted", "not_covered")


def test_the_instruction_begins_with_the_preamble_and_ends_with_the_criterion() -> None:
    text = asked(rubric(KIND))[""].instructions
    assert text.startswith(f"{PREAMBLE}\n\n")
    assert "reference_material" in text.removeprefix(PREAMBLE)
    assert text.endswith("\n\nOnly what is said about visits.")


def test_it_needs_no_criterion() -> None:
    text = asked(rubric(KIND, criterion=""))[""].instructions
    assert text == text.strip()


@pytest.mark.parametrize(
    ("probabilities", "status", "rule"),
    [
        (SUPPORTED, "pass", "pass-threshold"),
        ((0.75, 0.0, 0.25), "pass", "pass-threshold"),
        ((0.74, 0.0, 0.26), "review", "undecided"),
        (CONTRADICTED, "fail", "fail-threshold"),
        ((0.5, 0.5, 0.0), "fail", "fail-threshold"),
        (UNCOVERED, "review", "insufficient-leads"),
        ((0.0, 0.0, 1.0), "review", "insufficient-leads"),
    ],
)
@pytest.mark.parametrize("params", [{}, {"uncoveredIs": "review"}])
def test_supported_passes_contradicted_fails_and_not_covered_is_for_review(
    probabilities: tuple[float, ...], status: str, rule: str, params: dict[str, str]
) -> None:
    check = check_of(rubric(KIND, params=params), probabilities)
    assert (check.status, check.rule) == (status, rule)


@pytest.mark.parametrize(
    ("probabilities", "status", "rule"),
    [
        ((0.5, 0.0, 0.5), "fail", "not_covered-fails"),
        (UNCOVERED, "fail", "not_covered-fails"),
        ((0.25, 0.26, 0.49), "review", "insufficient-leads"),
        ((0.51, 0.0, 0.49), "review", "undecided"),
        (SUPPORTED, "pass", "pass-threshold"),
        (CONTRADICTED, "fail", "fail-threshold"),
    ],
)
def test_where_uncovered_is_fail_not_covered_fails_once_it_reaches_the_fail_threshold(
    probabilities: tuple[float, ...], status: str, rule: str
) -> None:
    check = check_of(rubric(KIND, params={"uncoveredIs": "fail"}), probabilities)
    assert (check.status, check.rule) == (status, rule)


def test_the_threshold_for_not_covered_is_the_profiles_fail() -> None:
    strict = rubric(KIND, params={"uncoveredIs": "fail"})
    assert check_of(strict, UNCOVERED, thresholds=Thresholds(pass_=0.75, fail=0.8)).status == "fail"
    assert check_of(strict, UNCOVERED, thresholds=Thresholds(pass_=0.75, fail=0.81)).status == "review"


@pytest.mark.parametrize("about", [case(context=None), case(context=[])])
def test_without_references_it_is_for_review_and_the_judge_is_not_asked(about: Case) -> None:
    check = check_of(rubric(KIND), about=about)
    assert plan_of(rubric(KIND), about).asks == ()
    assert (check.status, check.rule) == ("review", "missing-evidence")
    assert check.reason == "context is missing, so the judge was not asked"


def test_a_claim_narrows_the_question_to_itself() -> None:
    question = asked(rubric(KIND, params={"claim": "The ward opens at nine."}))[""]
    assert 'claim against reference_material alone: "The ward opens at nine."' in question.instructions
    assert question.about == "The ward opens at nine."
    assert question.names == ("supported", "contradicted", "not_covered")
    assert question.sha256 != asked(rubric(KIND))[""].sha256


def test_a_claim_is_decided_like_any_other() -> None:
    narrow = rubric(KIND, params={"claim": "The ward opens at nine."})
    statuses = [check_of(narrow, p).status for p in (SUPPORTED, CONTRADICTED, UNCOVERED)]
    assert statuses == ["pass", "fail", "review"]


@pytest.mark.parametrize("params", [{"readers": 2}, {"readers": 2, "claim": "The ward opens at nine."}])
def test_two_readers_read_it_in_independent_wording(params: dict[str, object]) -> None:
    twice = rubric(KIND, params=params)
    first, second = asked(twice).values()
    assert first.instructions != second.instructions
    assert all(q.instructions.startswith(PREAMBLE) for q in (first, second))
    assert all(("The ward opens at nine." in q.instructions) == ("claim" in params) for q in (first, second))
    assert check_of(twice, {"reader1": SUPPORTED, "reader2": SUPPORTED}).status == "pass"
    assert check_of(twice, {"reader1": SUPPORTED, "reader2": CONTRADICTED}).rule == "readers-disagree"


def test_two_readers_fail_what_is_not_covered_by_their_mean() -> None:
    twice = rubric(KIND, params={"readers": 2, "uncoveredIs": "fail"})
    check = check_of(twice, {"reader1": (0.3, 0.0, 0.7), "reader2": (0.35, 0.0, 0.65)})
    assert (check.status, check.rule) == ("fail", "not_covered-fails")


# Sentence by sentence


def test_every_sentence_is_a_question_of_its_own_in_the_same_request() -> None:
    plan = plan_of(rubric(KIND, params=SENTENCES), THREE)
    questions = asked(rubric(KIND, params=SENTENCES), THREE)
    assert len(plan.asks) == 1
    assert list(questions) == ["s1", "s2", "s3"]
    for question, sentence in zip(
        questions.values(), ("We open at nine.", "Bring your card.", "Parking is free."), strict=True
    ):
        assert question.instructions.startswith(f"{PREAMBLE}\n\n")
        assert question.instructions.endswith(f'The sentence: "{sentence}"')
        assert "Only what is said about visits." in question.instructions
        assert question.about == sentence
        assert question.names == ("supported", "contradicted", "not_covered")


@pytest.mark.parametrize(
    ("answers", "status", "rule", "outcome"),
    [
        ((SUPPORTED, SUPPORTED, SUPPORTED), "pass", "all-sentences-pass", "supported"),
        ((SUPPORTED, CONTRADICTED, SUPPORTED), "fail", "sentence-fails", "contradicted"),
        ((SUPPORTED, SUPPORTED, UNCOVERED), "review", "sentence-undecided", "not_covered"),
        ((WAVERING, SUPPORTED, SUPPORTED), "review", "sentence-undecided", "supported"),
        # Any that fails fails the whole, whatever else is undecided, and wherever it stands.
        ((UNCOVERED, WAVERING, CONTRADICTED), "fail", "sentence-fails", "contradicted"),
        ((CONTRADICTED, UNCOVERED, SUPPORTED), "fail", "sentence-fails", "contradicted"),
        ((UNCOVERED, UNCOVERED, UNCOVERED), "review", "sentence-undecided", "not_covered"),
        ((CONTRADICTED, CONTRADICTED, CONTRADICTED), "fail", "sentence-fails", "contradicted"),
    ],
)
def test_any_sentence_that_fails_fails_and_any_undecided_is_for_review(
    answers: tuple[tuple[float, ...], ...], status: str, rule: str, outcome: str
) -> None:
    check = check_of(rubric(KIND, params=SENTENCES), sentences(*answers), THREE)
    assert (check.status, check.rule, check.outcome) == (status, rule, outcome)


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        (
            (SUPPORTED, CONTRADICTED, CONTRADICTED),
            "2 of 3 sentences fail; s2: p(contradicted) 0.8 ≥ fail 0.5",
        ),
        (
            (SUPPORTED, SUPPORTED, WAVERING),
            "1 of 3 sentences is undecided; s3: p(contradicted) 0.3 < fail 0.5 and p(supported) 0.6 < pass 0.75",
        ),
        (
            (SUPPORTED, (0.8, 0.1, 0.1), SUPPORTED),
            "all 3 sentences pass; the least sure, s2: p(supported) 0.8 ≥ pass 0.75",
        ),
    ],
)
def test_the_reason_names_the_sentence_and_the_numbers_that_made_it(
    answers: tuple[tuple[float, ...], ...], reason: str
) -> None:
    assert check_of(rubric(KIND, params=SENTENCES), sentences(*answers), THREE).reason == reason


def test_an_uncovered_sentence_fails_where_the_rubric_says_so() -> None:
    strict = rubric(KIND, params={**SENTENCES, "uncoveredIs": "fail"})
    check = check_of(strict, sentences(SUPPORTED, UNCOVERED, SUPPORTED), THREE)
    assert (check.status, check.rule, check.outcome) == ("fail", "sentence-fails", "not_covered")
    assert check.reason == "1 of 3 sentences fails; s2: p(not_covered) 0.8 ≥ fail 0.5"


@pytest.mark.parametrize(
    ("answer", "begins"),
    [
        (SUPPORTED, "the one sentence passes, s1: p(supported)"),
        (CONTRADICTED, "1 of 1 sentence fails; s1: p(contradicted)"),
    ],
)
def test_one_sentence_is_told_as_one(answer: tuple[float, ...], begins: str) -> None:
    check = check_of(rubric(KIND, params=SENTENCES), sentences(answer), case(output="It opens at nine."))
    assert check.reason.startswith(begins)


def test_the_check_lists_the_sentences_and_their_probabilities() -> None:
    check = check_of(rubric(KIND, params=SENTENCES), sentences(SUPPORTED, UNCOVERED, SUPPORTED), THREE)
    assert json.loads(check.evidence)["sentences"] == {
        "s1": "We open at nine.",
        "s2": "Bring your card.",
        "s3": "Parking is free.",
    }
    assert check.probabilities is not None
    assert check.probabilities["s2"] == {"supported": 0.1, "contradicted": 0.1, "not_covered": 0.8}


def test_a_sentence_that_occurs_twice_is_asked_once_and_counts_twice() -> None:
    echo = case(output="We open at nine. Bring your card. We open at nine.")
    assert len(plan_of(rubric(KIND, params=SENTENCES), echo).asks[0].questions) == 2
    check = check_of(rubric(KIND, params=SENTENCES), sentences(CONTRADICTED, SUPPORTED, CONTRADICTED), echo)
    assert check.reason.startswith("2 of 3 sentences fail; s1: ")


@pytest.mark.parametrize("output", ["", "   \n", "…", "--- !"])
def test_a_response_without_a_sentence_is_for_review_and_the_judge_is_not_asked(output: str) -> None:
    plan = plan_of(rubric(KIND, params=SENTENCES), case(output=output))
    assert plan.asks == ()
    check = check_of(rubric(KIND, params=SENTENCES), about=case(output=output))
    assert (check.status, check.rule) == ("review", "nothing-to-judge")


def test_granularity_response_is_the_default_spelt_out() -> None:
    assert asked(rubric(KIND, params={"granularity": "response"})) == asked(rubric(KIND))
