"""From cases to results, as a stream: the way in from Python.

The command line calls `evaluate_all` too, with a store behind its evaluator's recall and its sink.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from jeval.case import Case
from jeval.evaluator import Evaluator
from jeval.given import CaseLike, MetricLike, RubricLike, ThresholdsLike, judge_of, models_of, thresholds_of
from jeval.metric import Metric
from jeval.plan import DEFAULT_MAX_STATE_TOKENS, Planner
from jeval.problems import shorten
from jeval.question import Judge
from jeval.result import CaseResult
from jeval.rubric import Rubric

__all__ = [
    "evaluate_all",
    "evaluate_case",
    "evaluate_case_async",
    "evaluate_dataset",
    "evaluate_dataset_async",
]

_T = TypeVar("_T")

# Cases after which a worker lets the others have a turn.
_TURN = 4

Sink = Callable[[int, Case, CaseResult], Awaitable[None]]


async def evaluate_all(
    evaluator: Evaluator,
    cases: Iterable[Case],
    sink: Sink,
    *,
    concurrency: int = 64,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Evaluate cases as a stream, `concurrency` at once, handing each result to `sink` as it is done.

    Memory does not grow with the number of cases. `stop` is asked before each case; once true, no further case
    is begun. The first exception ends the whole, after what is under way was cancelled.
    """
    stream: Iterator[tuple[int, Case]] = enumerate(cases)

    async def work() -> None:
        for position, case in stream:
            if stop():
                return
            await sink(position, case, await evaluator.case(case))
            if position % _TURN == 0:
                # Cases that need no waiting must not keep the others, or Ctrl-C, from their turn.
                await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for _ in range(max(1, concurrency)):
            group.create_task(work())


async def evaluate_dataset_async(
    cases: Iterable[CaseLike],
    rubrics: Iterable[RubricLike] = (),
    *,
    metrics: Iterable[MetricLike] = (),
    judge: Judge | None = None,
    thresholds: ThresholdsLike | None = None,
    concurrency: int = 64,
) -> list[CaseResult]:
    """Every case's result, in the order of the cases.

    Cases, rubrics and metrics may be models or mappings as on disk; all of them are checked before anything is
    asked. The judge is the offline one unless given, and stays open; `thresholds` are {"pass": 0.75, "fail": 0.5}
    unless given; `concurrency` is the number of cases under way at once.

    A judge that fails makes checks of status error, no exception. Raises DataError with every problem of a mapping
    and for an id given twice, ConfigError for thresholds, JudgeRefused where the judge would refuse every further
    request too, TypeError for what is none of these.
    """
    planner = Planner(
        models_of(rubrics, Rubric),
        models_of(metrics, Metric),
        max_state_tokens=DEFAULT_MAX_STATE_TOKENS,
    )
    evaluator = Evaluator(planner, judge_of(judge) or _offline(), thresholds_of(thresholds))
    results: dict[int, CaseResult] = {}

    async def keep(position: int, case: Case, result: CaseResult) -> None:
        results[position] = result

    try:
        await evaluate_all(evaluator, models_of(cases, Case), keep, concurrency=concurrency)
    except BaseExceptionGroup as group:
        raise _first(group) from group
    return [results[position] for position in sorted(results)]


async def evaluate_case_async(
    case: CaseLike,
    rubrics: Iterable[RubricLike] = (),
    *,
    metrics: Iterable[MetricLike] = (),
    judge: Judge | None = None,
    thresholds: ThresholdsLike | None = None,
) -> CaseResult:
    """The result of one case. What is taken and raised is said at `evaluate_dataset_async`."""
    if not isinstance(case, Case | Mapping):
        raise TypeError(f"case is {shorten(case)}; pass a Case or a mapping, or several to evaluate_dataset")
    results = await evaluate_dataset_async(
        [case], rubrics, metrics=metrics, judge=judge, thresholds=thresholds, concurrency=1
    )
    return results[0]


def evaluate_case(
    case: CaseLike,
    rubrics: Iterable[RubricLike] = (),
    *,
    metrics: Iterable[MetricLike] = (),
    judge: Judge | None = None,
    thresholds: ThresholdsLike | None = None,
) -> CaseResult:
    """`evaluate_case_async`, from code that runs no event loop; the judge's connections are closed at the end."""
    _refuse("evaluate_case", judge)
    evaluation = evaluate_case_async(case, rubrics, metrics=metrics, judge=judge, thresholds=thresholds)
    return asyncio.run(_closing(evaluation, judge))


def evaluate_dataset(
    cases: Iterable[CaseLike],
    rubrics: Iterable[RubricLike] = (),
    *,
    metrics: Iterable[MetricLike] = (),
    judge: Judge | None = None,
    thresholds: ThresholdsLike | None = None,
    concurrency: int = 64,
) -> list[CaseResult]:
    """`evaluate_dataset_async`, from code that runs no event loop; the judge's connections are closed at the end."""
    _refuse("evaluate_dataset", judge)
    evaluation = evaluate_dataset_async(
        cases, rubrics, metrics=metrics, judge=judge, thresholds=thresholds, concurrency=concurrency
    )
    return asyncio.run(_closing(evaluation, judge))


def _refuse(name: str, judge: Judge | None) -> None:
    """Raise TypeError for no judge, which could not be closed, and RuntimeError inside a running event loop."""
    judge_of(judge)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError(f"{name} cannot run where an event loop runs, as in a notebook; await {name}_async(…) there")


async def _closing(evaluation: Awaitable[_T], judge: Judge | None) -> _T:
    """Await it, then let go of the connections that the judge has in this loop, which ends here."""
    try:
        return await evaluation
    finally:
        if judge is not None:
            await judge.close()


def _offline() -> Judge:
    from jeval.judges.offline import OfflineJudge  # an edge, loaded only where no judge was given

    return OfflineJudge()


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
