"""From cases to results, as a stream: what stops it, and what a failing judge leaves behind."""

import asyncio
from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any

import pytest

from jeval.case import Case
from jeval.errors import DataError, JudgeError, JudgeRefused, MalformedAnswer
from jeval.evaluate import (
    evaluate_all,
    evaluate_case,
    evaluate_case_async,
    evaluate_dataset,
    evaluate_dataset_async,
)
from jeval.evaluator import Evaluator
from jeval.metric import Metric
from jeval.plan import Planner
from jeval.question import Answer, Question
from jeval.result import CaseResult
from jeval.rubric import Rubric, Thresholds
from tests.judges import ScriptedJudge, first_option, leaning
from tests.samples import SECRET_LABEL, SECRET_METADATA, case, cases, rubric

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


async def all_of(evaluator: Evaluator, stream: Any, *, concurrency: int = 4, **options: Any) -> dict[int, CaseResult]:
    """The results of a stream by position."""
    found: dict[int, CaseResult] = {}

    async def keep(position: int, one: Case, result: CaseResult) -> None:
        assert one.id == result.case_id
        assert position not in found
        found[position] = result

    async with asyncio.timeout(20):
        await evaluate_all(evaluator, stream, keep, concurrency=concurrency, **options)
    return found


# One case


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


# Many cases


def test_results_come_in_the_order_of_the_cases_whatever_order_they_were_done_in() -> None:
    class Backwards(ScriptedJudge):
        """Answers the later cases first."""

        async def ask(self, state: Any, questions: Any) -> Any:
            turns = 40 - 2 * len(self.requests)
            reply = await super().ask(state, questions)
            for _ in range(turns):
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
            running = asyncio.create_task(all_of(evaluator(judge), cases(50), concurrency=3, stop=lambda: stopped))
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

    order = asyncio.run(scenario())
    assert order.count("case") == 20
    assert order[10:] == ["case"] * 13  # the other was done long before


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


def one_case(judge: ScriptedJudge) -> object:
    return evaluate_case(case(), [TONE], judge=judge)


def one_dataset(judge: ScriptedJudge) -> object:
    return evaluate_dataset(cases(2), [TONE], judge=judge)


@pytest.mark.parametrize("evaluate", [one_case, one_dataset])
def test_a_judge_is_closed_where_the_loop_it_was_used_in_ends(
    evaluate: Callable[[ScriptedJudge], object],
) -> None:
    judge = ScriptedJudge()
    evaluate(judge)
    assert judge.closed
    refusing = ScriptedJudge(failures=[JudgeRefused("auth", "401")])
    with pytest.raises(JudgeRefused):
        evaluate(refusing)
    assert refusing.closed


def test_a_judge_stays_open_for_whoever_runs_the_loop_and_may_ask_again() -> None:
    judge = ScriptedJudge()
    asyncio.run(evaluate_dataset_async(cases(2), [TONE], judge=judge))
    assert not judge.closed


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


def test_thresholds_may_be_a_mapping() -> None:
    judge = ScriptedJudge(lambda question: leaning(question, "acceptable", 0.8))
    strict = {"pass": 0.9, "fail": 0.5}
    assert evaluate_case(case(), [TONE], judge=judge, thresholds=strict).checks[0].status == "review"


def test_whatever_is_wrong_is_told_before_anything_is_asked() -> None:
    judge = ScriptedJudge()
    with pytest.raises(DataError, match="case 2 \\(b\\): output is missing; add it"):
        evaluate_dataset([case(), {"id": "b", "input": "i"}], [TONE], judge=judge)
    with pytest.raises(DataError, match="rubric 1 \\(tone\\): version is missing"):
        evaluate_dataset([case()], [{"id": "tone", "kind": "custom"}], judge=judge)
    with pytest.raises(DataError, match="metric 1 \\(polite\\): questions is missing"):
        evaluate_dataset([case()], metrics=[{"id": "polite", "version": "1", "fields": ["input"]}], judge=judge)
    assert judge.requests == []


@pytest.mark.parametrize("evaluate", [evaluate_case, evaluate_dataset])
def test_what_is_no_judge_is_refused_in_words(evaluate: Any) -> None:
    with pytest.raises(TypeError, match=r"judge is 'offline', which has no name, .*; pass a Judge"):
        evaluate([case()] if evaluate is evaluate_dataset else case(), [TONE], judge="offline")


def test_one_case_is_neither_a_text_nor_a_list_of_cases() -> None:
    for wrong in ("cases.jsonl", [case()]):
        with pytest.raises(TypeError, match="pass a Case or a mapping, or several to evaluate_dataset"):
            evaluate_case(wrong, [TONE])  # type: ignore[arg-type]


def test_inside_an_event_loop_the_async_twin_is_named() -> None:
    async def notebook() -> None:
        with pytest.raises(RuntimeError, match="await evaluate_case_async"):
            evaluate_case(case(), [TONE])
        with pytest.raises(RuntimeError, match="await evaluate_dataset_async"):
            evaluate_dataset([case()], [TONE])

    asyncio.run(notebook())


@pytest.mark.parametrize(
    ("twin", "original"), [(evaluate_case, evaluate_case_async), (evaluate_dataset, evaluate_dataset_async)]
)
def test_help_tells_of_the_same_parameters_for_both_twins(twin: Any, original: Any) -> None:
    assert signature(twin).parameters == signature(original).parameters
