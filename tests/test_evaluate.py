"""From cases to results: what is asked, shared, reused, stopped, and what a failing judge leaves behind."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from jeval.case import Case
from jeval.errors import JudgeError, JudgeRefused, MalformedAnswer
from jeval.evaluate import (
    evaluate_all,
    evaluate_case,
    evaluate_case_async,
    evaluate_dataset,
    evaluate_dataset_async,
)
from jeval.evaluator import Evaluator, Recalled
from jeval.metric import Metric
from jeval.plan import Planner
from jeval.question import Answer, Question
from jeval.result import CaseResult
from jeval.rubric import Rubric, Thresholds
from tests.judges import ScriptedJudge, first_option, leaning
from tests.samples import SECRET_LABEL, SECRET_METADATA, case, rubric

TONE = rubric("custom")
POLICY = rubric("policy-compliance")
METRIC: dict[str, Any] = {
    "id": "polite",
    "version": "1",
    "fields": ["actual_output"],
    "questions": [{"noul": "It is polite."}],
}


def evaluator(judge: ScriptedJudge, *rubrics: Rubric, **options: Any) -> Evaluator:
    return Evaluator(Planner(rubrics or (TONE,)), judge, options.pop("thresholds", Thresholds()), **options)


def cases(count: int) -> list[Case]:
    """Cases whose evidence differs."""
    return [case(id=f"case-{n}", input=f"Question {n}?") for n in range(count)]


async def all_of(
    evaluator: Evaluator, stream: Any, *, concurrency: int = 4, **options: Any
) -> dict[int, CaseResult]:
    """The results of a stream by position."""
    found: dict[int, CaseResult] = {}

    async def keep(position: int, one: Case, result: CaseResult) -> None:
        assert one.id == result.case_id
        assert position not in found
        found[position] = result

    async with asyncio.timeout(20):
        await evaluate_all(evaluator, stream, keep, concurrency=concurrency, **options)
    return found


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


def test_each_answer_comes_back_to_the_question_it_was_given_to() -> None:
    def by_criterion(question: Question) -> Answer:
        return leaning(question, "unacceptable" if "calm" in question.instructions else "acceptable")

    for rubrics in ([TONE, POLICY], [POLICY, TONE]):
        checks = evaluate_case(case(), rubrics, judge=ScriptedJudge(by_criterion)).checks
        assert {check.rubric.id: check.status for check in checks} == {
            "custom": "fail",
            "policy-compliance": "pass",
        }


def test_where_code_settles_everything_the_judge_is_not_asked() -> None:
    judge = ScriptedJudge()
    result = evaluate_case(case(policy=None), [POLICY], judge=judge)
    assert result.checks[0].status == "review"
    assert judge.requests == []
    assert (result.asked, result.reused, result.exchanges, result.sources) == (0, 0, (), ())


def test_no_label_and_no_metadata_is_in_what_the_judge_is_handed() -> None:
    judge = ScriptedJudge()
    evaluate_case(case(), [TONE, POLICY], metrics=[METRIC], judge=judge)
    assert len(judge.requests) == 2
    handed = "".join(
        request.state.json + "".join(q.wire for q in request.questions.values()) for request in judge.requests
    )
    assert SECRET_LABEL not in handed
    assert SECRET_METADATA not in handed


def test_metrics_are_scored_beside_the_checks() -> None:
    result = evaluate_case(case(), [TONE], metrics=[METRIC], judge=ScriptedJudge())
    assert [check.status for check in result.checks] == ["pass"]
    assert [(score.metric_id, score.score) for score in result.scores] == [("polite", 0.9)]
    alone = evaluate_case(case(), metrics=[METRIC], judge=ScriptedJudge())
    assert (alone.checks, len(alone.scores)) == ((), 1)


# A judge that fails


@pytest.mark.parametrize(
    ("error", "kind", "attempts"),
    [
        (JudgeError("timeout", "no answer within 10 s", attempts=3, latency_ms=30_000.0), "timeout", 3),
        (MalformedAnswer("the probabilities sum to 7.5", attempts=2), "malformed", 2),
    ],
)
def test_a_failed_request_is_an_error_on_that_case_alone(error: JudgeError, kind: str, attempts: int) -> None:
    judge = ScriptedJudge(failures=[None, error])
    results = evaluate_dataset(cases(3), [TONE, POLICY], judge=judge, concurrency=1)
    assert [[check.status for check in result.checks] for result in results] == [
        ["pass", "pass"],
        ["error", "error"],
        ["pass", "pass"],
    ]
    failed = results[1]
    assert failed.failed
    assert not results[0].failed
    assert failed.checks[0].reason == f"{kind}: {error.message}"
    (exchange,) = failed.exchanges
    assert exchange.failure == (kind, error.message)
    assert (exchange.attempts, exchange.latency_ms) == (attempts, error.latency_ms)
    assert (exchange.answers, exchange.model, exchange.cost_usd) == ({}, None, None)
    assert (failed.asked, failed.reused, failed.sources) == (0, 0, ())


def test_a_failed_request_leaves_what_code_settled_as_it_was() -> None:
    judge = ScriptedJudge(failures=[JudgeError("timeout", "x")])
    result = evaluate_case(case(policy=None), [POLICY, TONE], judge=judge)
    assert [check.status for check in result.checks] == ["review", "error"]


def test_where_the_request_about_a_metric_fails_the_checks_stand() -> None:
    judge = ScriptedJudge(failures=[None, JudgeError("timeout", "no answer within 10 s")])
    result = evaluate_case(case(), [TONE], metrics=[METRIC], judge=judge)
    assert result.checks[0].status == "pass"
    assert (result.scores[0].status, result.scores[0].reason) == ("error", "timeout: no answer within 10 s")


def test_a_judge_that_refuses_every_request_alike_stops_the_whole() -> None:
    judge = ScriptedJudge(failures=[None, JudgeRefused("auth", "401: no such key")] + [None] * 100)
    with pytest.raises(JudgeRefused, match="no such key"):
        evaluate_dataset(cases(100), [TONE], judge=judge, concurrency=2)
    assert len(judge.requests) <= 4


def test_a_refusal_ends_requests_under_way_and_keeps_what_was_done() -> None:
    async def scenario() -> None:
        gate = asyncio.Event()
        judge = ScriptedJudge(gate=gate, failures=[None, JudgeRefused("auth", "401")])
        done: list[str] = []

        async def keep(position: int, one: Case, result: CaseResult) -> None:
            done.append(one.id)
            gate.clear()

        async with asyncio.timeout(20):
            running = asyncio.create_task(evaluate_all(evaluator(judge), cases(50), keep, concurrency=3))
            await judge.started.wait()
            gate.set()
            with pytest.raises(ExceptionGroup) as caught:
                await running
        assert caught.group_contains(JudgeRefused)
        assert done[:1] == ["case-0"]
        assert judge.at_once == 0
        assert len(judge.requests) < 10

    asyncio.run(scenario())


def test_an_error_that_is_not_the_judges_is_hidden_from_nobody() -> None:
    with pytest.raises(ZeroDivisionError):
        evaluate_dataset(cases(3), [TONE], judge=ScriptedJudge(failures=[ZeroDivisionError()]))


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
    results = evaluate_dataset([case(id="a"), case(id="b"), case(id="c")], [TONE], judge=judge, concurrency=1)
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
    results = evaluate_dataset(stream, [tuning, holdout, either], judge=judge, concurrency=1)
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
    evaluate_dataset([case(id="a"), case(id="b", output="Something else.")], [TONE], judge=judge)
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
    asyncio.run(all_of(again, cases(3)))
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


def test_a_case_asked_once_keeps_no_repeats() -> None:
    assert asyncio.run(evaluator(ScriptedJudge()).case(case())).repeats == ()


# Many cases


def test_results_come_in_the_order_of_the_cases_whatever_order_they_were_done_in() -> None:
    class Backwards(ScriptedJudge):
        """Answers the later cases first."""

        async def ask(self, state: Any, questions: Any) -> Any:
            reply = await super().ask(state, questions)
            for _ in range(40 - 2 * len(self.requests)):
                await asyncio.sleep(0)
            return reply

    results = evaluate_dataset(cases(12), [TONE], judge=Backwards(), concurrency=12)
    assert [result.case_id for result in results] == [f"case-{n}" for n in range(12)]


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_no_more_requests_are_under_way_than_the_concurrency_allows(concurrency: int) -> None:
    judge = ScriptedJudge()
    found = asyncio.run(all_of(evaluator(judge), cases(30), concurrency=concurrency))
    assert sorted(found) == list(range(30))
    assert judge.most_at_once == concurrency


@pytest.mark.parametrize("concurrency", [0, -5])
def test_a_concurrency_below_one_is_one(concurrency: int) -> None:
    judge = ScriptedJudge()
    assert len(asyncio.run(all_of(evaluator(judge), cases(3), concurrency=concurrency))) == 3
    assert judge.most_at_once == 1


def test_cases_are_drawn_as_they_are_needed_and_not_all_at_once() -> None:
    async def scenario() -> None:
        gate, drawn = asyncio.Event(), 0

        def stream() -> Iterator[Case]:
            nonlocal drawn
            for one in cases(1_000):
                drawn += 1
                yield one

        judge = ScriptedJudge(gate=gate)
        async with asyncio.timeout(20):
            running = asyncio.create_task(all_of(evaluator(judge), stream(), concurrency=5))
            await judge.started.wait()
            for _ in range(20):
                await asyncio.sleep(0)
            assert drawn == 5
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running

    asyncio.run(scenario())


def test_once_stop_is_true_no_further_case_is_begun_and_those_under_way_are_finished() -> None:
    async def scenario() -> None:
        gate, stopped = asyncio.Event(), False
        judge = ScriptedJudge(gate=gate)
        async with asyncio.timeout(20):
            running = asyncio.create_task(
                all_of(evaluator(judge), cases(50), concurrency=3, stop=lambda: stopped)
            )
            await judge.started.wait()
            for _ in range(5):
                await asyncio.sleep(0)
            stopped = True
            gate.set()
            found = await running
        assert sorted(found) == [0, 1, 2]
        assert len(judge.requests) == 3

    asyncio.run(scenario())


def test_where_stop_is_true_from_the_start_nothing_is_asked() -> None:
    judge = ScriptedJudge()
    assert asyncio.run(all_of(evaluator(judge), cases(5), stop=lambda: True)) == {}
    assert judge.requests == []


def test_cases_that_need_no_judge_let_others_have_their_turn() -> None:
    async def scenario() -> list[str]:
        order: list[str] = []

        async def keep(position: int, one: Case, result: CaseResult) -> None:
            order.append("case")

        async def other() -> None:
            for _ in range(3):
                order.append("other")
                await asyncio.sleep(0)

        settled = [case(id=f"case-{n}", policy=None) for n in range(20)]
        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            group.create_task(evaluate_all(evaluator(ScriptedJudge(), POLICY), settled, keep, concurrency=1))
            group.create_task(other())
        return order

    assert asyncio.run(scenario()).index("other") < 3


def test_a_sink_that_fails_ends_the_whole() -> None:
    async def full(position: int, one: Case, result: CaseResult) -> None:
        raise OSError("no space left on device")

    judge = ScriptedJudge()
    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(evaluate_all(evaluator(judge), cases(50), full, concurrency=2))
    assert caught.group_contains(OSError, match="no space left")
    assert len(judge.requests) <= 4


def test_a_stream_that_breaks_ends_the_whole() -> None:
    def broken() -> Iterator[Case]:
        yield case()
        raise ValueError("line 2 is not JSON")

    with pytest.raises(ValueError, match="line 2"):
        evaluate_dataset(broken(), [TONE], judge=ScriptedJudge())


def test_an_empty_dataset_has_no_results() -> None:
    assert evaluate_dataset([], [TONE], judge=ScriptedJudge()) == []


def test_ids_of_exchanges_are_given_by_the_caller_where_it_numbers_them() -> None:
    numbers = iter(range(100, 200))
    found = asyncio.run(all_of(evaluator(ScriptedJudge(), next_id=numbers.__next__), cases(5)))
    assert sorted(result.exchanges[0].id for result in found.values()) == [100, 101, 102, 103, 104]


def test_states_kept_at_hand_do_not_grow_without_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jeval.evaluator._KEPT_STATES", 5)
    ready = evaluator(ScriptedJudge())
    asyncio.run(all_of(ready, cases(40), concurrency=3))
    assert len(ready._flights) == 5


# From Python


def test_plain_mappings_do_for_cases_rubrics_and_metrics() -> None:
    result = evaluate_case(
        {"id": "a", "input": "Hello?", "output": "Hello."},
        [TONE.definition()],
        metrics=[METRIC],
        judge=ScriptedJudge(),
    )
    assert (result.case_id, result.checks[0].status, result.scores[0].score) == ("a", "pass", 0.9)


def test_the_async_twins_give_the_same_results() -> None:
    async def twins() -> tuple[CaseResult, list[CaseResult]]:
        return (
            await evaluate_case_async(case(), [TONE], judge=ScriptedJudge()),
            await evaluate_dataset_async(cases(3), [TONE], judge=ScriptedJudge()),
        )

    one, many = asyncio.run(twins())
    assert one == evaluate_case(case(), [TONE], judge=ScriptedJudge())
    assert many == evaluate_dataset(cases(3), [TONE], judge=ScriptedJudge())


def test_thresholds_given_are_those_used() -> None:
    judge = ScriptedJudge(lambda question: leaning(question, "acceptable", 0.8))
    assert evaluate_case(case(), [TONE], judge=judge).checks[0].status == "pass"
    strict = Thresholds(pass_=0.9, fail=0.5)
    assert evaluate_case(case(), [TONE], judge=judge, thresholds=strict).checks[0].status == "review"


def test_thresholds_that_do_not_go_with_a_rubrics_are_refused_before_anything_is_asked() -> None:
    judge = ScriptedJudge()
    with pytest.raises(ValueError, match="with rubric custom's own thresholds"):
        evaluate_case(case(), [rubric("custom", thresholds={"pass": 0.3})], judge=judge)
    assert judge.requests == []


def test_a_metric_as_a_model_does_too() -> None:
    metric = Metric.model_validate(METRIC)
    assert evaluate_case(case(), metrics=[metric], judge=ScriptedJudge(first_option)).scores[0].score == 0.9
