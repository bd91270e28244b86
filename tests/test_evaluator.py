"""One case evaluated: what is asked, what is shared or reused instead, and what is asked several times."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from jeval.case import Case
from jeval.decision import decide_case
from jeval.errors import JudgeError, MalformedAnswer
from jeval.evaluator import Evaluator, Recalled
from jeval.plan import CasePlan, Planner
from jeval.question import Answer, Question
from jeval.result import CaseResult
from jeval.rubric import Rubric, Thresholds
from tests.judges import ScriptedJudge, leaning
from tests.samples import case, cases, rubric

TONE = rubric("custom")
POLICY = rubric("policy-compliance")


def evaluator(judge: ScriptedJudge, *rubrics: Rubric, **options: Any) -> Evaluator:
    return Evaluator(Planner(rubrics or (TONE,)), judge, options.pop("thresholds", Thresholds()), **options)


def one_by_one(evaluator: Evaluator, stream: Iterable[Case]) -> list[CaseResult]:
    """The results of cases evaluated one after another."""

    async def each() -> list[CaseResult]:
        return [await evaluator.case(one) for one in stream]

    return asyncio.run(each())


class Memory:
    """Stored judgments, as a store recalls them: by state, question and repeat."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str, int], tuple[Answer, int, str]] = {}
        self.looked_up = 0

    def keep(self, result: CaseResult) -> None:
        for exchange in result.exchanges:
            for sha, answer in exchange.answers.items():
                held = (answer, exchange.id, exchange.asked_at or "")
                self.answers[exchange.state_sha256, sha, exchange.repeat] = held

    def __call__(self, state_sha256: str, questions: Mapping[str, Question], repeat: int) -> Recalled:
        self.looked_up += 1
        found = {
            sha: self.answers[state_sha256, sha, repeat]
            for sha in questions
            if (state_sha256, sha, repeat) in self.answers
        }
        sources = tuple(dict.fromkeys(source for _, source, _ in found.values()))
        oldest = min((asked_at for _, _, asked_at in found.values()), default=None)
        return Recalled({sha: answer for sha, (answer, _, _) in found.items()}, sources, oldest)


# One case


async def _one_case() -> None:
    judge = ScriptedJudge()
    result = await evaluator(judge, TONE, POLICY, rubric("escalation"), now=lambda: "2026-01-02").case(case())
    assert [check.status for check in result.checks] == ["pass", "pass", "review"]
    assert len(judge.requests) == 1
    assert len(judge.questions) == 4
    (exchange,) = result.exchanges
    assert exchange.state_sha256 == judge.requests[0].state.sha256
    assert set(exchange.answers) == set(exchange.questions) == {q.sha256 for q in judge.questions}
    assert (exchange.id, exchange.repeat, exchange.model, exchange.failure) == (1, 0, "scripted-1.0", None)
    assert (exchange.latency_ms, exchange.attempts, exchange.cost_usd) == (12.5, 1, 0.001)
    assert (exchange.input_tokens, exchange.output_tokens) == (101, 0)
    assert (exchange.request_id, exchange.asked_at) == ("request-1", "2026-01-02")
    assert (result.asked, result.reused, result.sources, result.repeats) == (4, 0, (1,), ())


def test_every_question_about_a_case_is_sent_in_one_request() -> None:
    asyncio.run(_one_case())


# Requests that several cases share


def test_two_cases_with_equal_evidence_share_one_request_under_way() -> None:
    async def scenario() -> None:
        gate = asyncio.Event()
        judge = ScriptedJudge(gate=gate)
        ready = evaluator(judge, TONE, POLICY)
        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            first = group.create_task(ready.case(case(id="a")))
            second = group.create_task(ready.case(case(id="b", metadata={"split": "holdout"})))
            await judge.started.wait()
            await asyncio.sleep(0)
            gate.set()
        assert len(judge.requests) == 1
        assert [check.status for check in second.result().checks] == ["pass", "pass"]
        assert [check.case_id for check in second.result().checks] == ["b", "b"]
        assert (first.result().asked, first.result().reused) == (2, 0)
        assert (second.result().asked, second.result().reused) == (0, 2)
        assert first.result().sources == second.result().sources == (1,)
        assert (len(first.result().exchanges), second.result().exchanges) == (1, ())

    asyncio.run(scenario())


def test_a_case_with_the_evidence_of_one_just_answered_asks_nothing() -> None:
    judge = ScriptedJudge()
    results = one_by_one(evaluator(judge), [case(id="a"), case(id="b"), case(id="c")])
    assert len(judge.requests) == 1
    assert [(result.asked, result.reused) for result in results] == [(1, 0), (0, 1), (0, 1)]


def test_a_case_that_asks_more_about_shared_evidence_asks_only_what_is_missing() -> None:
    tuning = rubric("custom", id="tuning", applicability={"onlyWhenMetadata": {"split": "tuning"}})
    holdout = rubric(
        "custom",
        id="holdout",
        criterion="It is kind.",
        applicability={"onlyWhenMetadata": {"split": "holdout"}},
    )
    either = rubric("policy-compliance", id="either")
    stream = [
        case(id="a", metadata={"split": "tuning"}),
        case(id="b", metadata={"split": "holdout"}),
        case(id="c", metadata={"split": "tuning"}),
        case(id="d", metadata={"split": "holdout"}),
    ]
    judge = ScriptedJudge()
    results = one_by_one(evaluator(judge, tuning, holdout, either), stream)
    assert [len(request.questions) for request in judge.requests] == [2, 1]
    assert [(result.asked, result.reused) for result in results] == [(2, 0), (1, 1), (0, 2), (0, 2)]
    assert [set(result.sources) for result in results] == [{1}, {1, 2}, {1}, {1, 2}]


def test_a_case_that_shares_a_request_that_fails_asks_for_itself() -> None:
    async def scenario() -> None:
        gate = asyncio.Event()
        judge = ScriptedJudge(gate=gate, failures=[JudgeError("timeout", "x"), None])
        ready = evaluator(judge)
        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            first = group.create_task(ready.case(case(id="a")))
            await judge.started.wait()
            second = group.create_task(ready.case(case(id="b")))
            await asyncio.sleep(0)
            gate.set()
        assert [first.result().checks[0].status, second.result().checks[0].status] == ["error", "pass"]
        assert len(judge.requests) == 2

    asyncio.run(scenario())


def test_a_case_that_is_cancelled_leaves_one_that_waits_for_its_request_to_ask_for_itself() -> None:
    async def scenario() -> None:
        gate = asyncio.Event()
        judge = ScriptedJudge(gate=gate)
        ready = evaluator(judge)
        async with asyncio.timeout(20):
            first = asyncio.create_task(ready.case(case(id="a")))
            await judge.started.wait()
            second = asyncio.create_task(ready.case(case(id="b")))
            await asyncio.sleep(0)
            first.cancel()
            gate.set()
            assert (await second).checks[0].status == "pass"
            with pytest.raises(asyncio.CancelledError):
                await first
        assert len(judge.requests) == 2

    asyncio.run(scenario())


def test_a_case_that_is_cancelled_while_it_waits_harms_no_other() -> None:
    async def scenario() -> None:
        gate = asyncio.Event()
        judge = ScriptedJudge(gate=gate)
        ready = evaluator(judge)
        async with asyncio.timeout(20):
            first = asyncio.create_task(ready.case(case(id="a")))
            await judge.started.wait()
            second = asyncio.create_task(ready.case(case(id="b")))
            await asyncio.sleep(0)
            second.cancel()
            with pytest.raises(asyncio.CancelledError):
                await second
            gate.set()
            assert (await first).checks[0].status == "pass"
        assert len(judge.requests) == 1

    asyncio.run(scenario())


def test_other_evidence_is_never_shared() -> None:
    judge = ScriptedJudge()
    one_by_one(evaluator(judge), [case(id="a"), case(id="b", output="Something else.")])
    assert len(judge.requests) == 2


# Stored judgments


def test_stored_judgments_are_reused_and_only_what_is_missing_is_asked() -> None:
    memory, first = Memory(), ScriptedJudge()
    before = asyncio.run(evaluator(first, TONE, now=lambda: "2026-01-02").case(case()))
    memory.keep(before)

    second = ScriptedJudge(lambda question: leaning(question, "unacceptable"))
    again = evaluator(second, TONE, POLICY, recall=memory, next_id=iter(range(7, 99)).__next__)
    result = asyncio.run(again.case(case()))
    assert [check.status for check in result.checks] == ["pass", "fail"]
    assert [question.instructions.endswith("calm.") for question in second.questions] == [False]
    assert (result.asked, result.reused, result.sources) == (1, 1, (1, 7))
    assert again.oldest_reused == "2026-01-02"


def test_with_every_judgment_stored_the_judge_is_not_asked_and_every_check_is_the_same() -> None:
    rubrics = (
        TONE,
        POLICY,
        rubric("escalation"),
        rubric("claim-support", params={"granularity": "sentence"}),
    )
    memory = Memory()
    before = asyncio.run(evaluator(ScriptedJudge(), *rubrics).case(case()))
    memory.keep(before)
    judge = ScriptedJudge(failures=[JudgeError("timeout", "x")])
    after = asyncio.run(evaluator(judge, *rubrics, recall=memory).case(case()))
    assert after.checks == before.checks
    assert judge.requests == []
    assert (after.asked, after.reused, after.exchanges) == (0, before.asked, ())


def test_fifty_profiles_ask_the_judge_once() -> None:
    memory, judge = Memory(), ScriptedJudge(lambda question: leaning(question, "acceptable", 0.75))
    statuses = []
    for step in range(50):
        profile = Thresholds(pass_=0.51 + step / 100, fail=0.5)
        result = asyncio.run(evaluator(judge, recall=memory, thresholds=profile).case(case()))
        memory.keep(result)
        statuses.append(result.checks[0].status)
    assert len(judge.requests) == 1
    assert statuses == ["pass"] * 25 + ["review"] * 25


def test_the_age_of_the_oldest_judgment_reused_is_kept() -> None:
    memory, days = Memory(), iter(["2026-03-01", "2026-01-01", "2026-02-01"])
    for one in cases(3):
        memory.keep(asyncio.run(evaluator(ScriptedJudge(), now=days.__next__).case(one)))
    again = evaluator(ScriptedJudge(), recall=memory)
    assert again.oldest_reused is None
    one_by_one(again, cases(3))
    assert again.oldest_reused == "2026-01-01"


def test_where_asking_is_off_what_is_not_stored_is_an_error_and_the_judge_is_left_alone() -> None:
    memory, judge = Memory(), ScriptedJudge()
    memory.keep(asyncio.run(evaluator(ScriptedJudge()).case(case())))
    result = asyncio.run(evaluator(judge, TONE, POLICY, recall=memory, ask=False).case(case()))
    assert [(check.status, check.rule) for check in result.checks] == [
        ("pass", "pass-threshold"),
        ("error", "unasked"),
    ]
    assert judge.requests == []
    assert (result.asked, result.reused, result.exchanges) == (0, 1, ())


def test_without_a_store_and_without_asking_everything_is_unasked() -> None:
    judge = ScriptedJudge()
    result = asyncio.run(evaluator(judge, ask=False).case(case()))
    assert (result.checks[0].status, result.checks[0].rule) == ("error", "unasked")
    assert judge.requests == []


# Asked several times


def test_repeat_asks_everything_that_many_times_and_keeps_each_status() -> None:
    turns = iter(["acceptable", "unacceptable", "acceptable"])
    judge = ScriptedJudge(lambda question: leaning(question, next(turns)))
    result = asyncio.run(evaluator(judge, repeat=3).case(case()))
    assert result.repeats == (("pass",), ("fail",), ("pass",))
    assert result.checks[0].status == "pass"
    assert [exchange.repeat for exchange in result.exchanges] == [0, 1, 2]
    assert (result.asked, result.sources) == (3, (1, 2, 3))
    assert len({exchange.state_sha256 for exchange in result.exchanges}) == 1


def test_a_repeat_is_a_judgment_of_its_own_and_reused_as_such() -> None:
    memory, turns = Memory(), iter(["acceptable", "unacceptable"])
    first = ScriptedJudge(lambda question: leaning(question, next(turns)))
    memory.keep(asyncio.run(evaluator(first, repeat=2).case(case())))
    judge = ScriptedJudge()
    result = asyncio.run(evaluator(judge, repeat=3, recall=memory).case(case()))
    assert result.repeats == (("pass",), ("fail",), ("pass",))
    assert len(judge.requests) == 1
    assert (result.asked, result.reused) == (1, 2)


def test_a_failed_repeat_spoils_no_other() -> None:
    judge = ScriptedJudge(failures=[None, JudgeError("timeout", "x"), None])
    result = asyncio.run(evaluator(judge, repeat=3).case(case()))
    assert result.repeats == (("pass",), ("error",), ("pass",))
    assert result.checks[0].status == "pass"


def test_a_request_that_failed_is_kept_with_what_it_took() -> None:
    class Costly(ScriptedJudge):
        async def ask(self, state: Any, questions: Any) -> Any:
            raise MalformedAnswer("NaN", replies=2, input_tokens=2000, output_tokens=20, cost_usd=0.5)

    (result,) = one_by_one(evaluator(Costly()), [case()])
    (exchange,) = result.exchanges
    assert exchange.failure is not None and exchange.failure.kind == "malformed"
    assert (exchange.input_tokens, exchange.output_tokens, exchange.cost_usd) == (2000, 20, 0.5)


def test_a_case_asked_once_keeps_no_repeats() -> None:
    assert asyncio.run(evaluator(ScriptedJudge()).case(case())).repeats == ()


def test_ids_of_exchanges_are_given_by_the_caller_where_it_numbers_them() -> None:
    numbers = iter(range(100, 200))
    results = one_by_one(evaluator(ScriptedJudge(), next_id=numbers.__next__), cases(5))
    assert [result.exchanges[0].id for result in results] == [100, 101, 102, 103, 104]


def test_states_kept_at_hand_do_not_grow_without_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jeval.evaluator._KEPT_STATES", 5)
    ready = evaluator(ScriptedJudge())
    one_by_one(ready, cases(40))
    assert len(ready._flights) == 5


def test_answers_no_longer_at_hand_are_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jeval.evaluator._KEPT_STATES", 5)
    judge = ScriptedJudge()
    one_by_one(evaluator(judge), [*cases(6), *cases(1)])
    assert len(judge.requests) == 7


def test_whoever_wants_to_decide_again_is_handed_every_plan_with_its_answers() -> None:
    kept: list[tuple[CasePlan, Mapping[str, Answer]]] = []
    ready = evaluator(ScriptedJudge(), POLICY, TONE, keep=lambda plan, answers: kept.append((plan, dict(answers))))
    results = one_by_one(ready, [case(id="a"), case(id="b", policy=None), case(id="c")])
    assert [plan.case.id for plan, _ in kept] == ["a", "b", "c"]
    for (plan, answers), result in zip(kept, results, strict=True):
        assert set(answers) == {sha for ask in plan.asks for sha in ask.questions}
        strict = Thresholds(pass_=0.95, fail=0.5)
        again = decide_case(plan, answers, strict)
        assert [check.probabilities for check in again] == [check.probabilities for check in result.checks]
        assert {check.status for check in again} == {"review"}


def test_where_nothing_is_asked_the_plan_is_handed_on_without_answers() -> None:
    kept: list[Mapping[str, Answer]] = []
    ready = evaluator(ScriptedJudge(), POLICY, keep=lambda plan, answers: kept.append(answers))
    one_by_one(ready, [case(policy=None)])
    assert kept == [{}]
