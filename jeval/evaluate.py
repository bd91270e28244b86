"""From cases to results, as a stream: the way in from Python.

The command line calls `evaluate_all` too, with a store behind its evaluator's recall and its sink.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from jeval.case import Case
from jeval.evaluator import Evaluator
from jeval.metric import Metric
from jeval.plan import DEFAULT_MAX_STATE_TOKENS, Planner
from jeval.question import Judge
from jeval.result import CaseResult
from jeval.rubric import Rubric, Thresholds

__all__ = [
    "evaluate_all",
    "evaluate_case",
    "evaluate_case_async",
    "evaluate_dataset",
    "evaluate_dataset_async",
]

_T = TypeVar("_T")

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
            # A case that needed no waiting must not keep the others, or Ctrl-C, from their turn.
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for _ in range(max(1, concurrency)):
            group.create_task(work())


async def evaluate_dataset_async(
    cases: Iterable[Case | Mapping[str, Any]],
    rubrics: Sequence[Rubric | Mapping[str, Any]] = (),
    *,
    metrics: Sequence[Metric | Mapping[str, Any]] = (),
    judge: Judge | None = None,
    thresholds: Thresholds | None = None,
    concurrency: int = 64,
) -> list[CaseResult]:
    """Every case's result, in the order of the cases. The judge is the offline one unless given."""
    planner = Planner(
        [one if isinstance(one, Rubric) else Rubric.model_validate(one) for one in rubrics],
        [one if isinstance(one, Metric) else Metric.model_validate(one) for one in metrics],
        max_state_tokens=DEFAULT_MAX_STATE_TOKENS,
    )
    evaluator = Evaluator(planner, judge or _offline(), thresholds or Thresholds())
    results: dict[int, CaseResult] = {}

    async def keep(position: int, case: Case, result: CaseResult) -> None:
        results[position] = result

    stream = (case if isinstance(case, Case) else Case.model_validate(case) for case in cases)
    try:
        await evaluate_all(evaluator, stream, keep, concurrency=concurrency)
    except BaseExceptionGroup as group:
        raise _first(group) from group
    return [results[position] for position in sorted(results)]


async def evaluate_case_async(
    case: Case | Mapping[str, Any],
    rubrics: Sequence[Rubric | Mapping[str, Any]] = (),
    *,
    metrics: Sequence[Metric | Mapping[str, Any]] = (),
    judge: Judge | None = None,
    thresholds: Thresholds | None = None,
) -> CaseResult:
    """The result of one case."""
    results = await evaluate_dataset_async(
        [case], rubrics, metrics=metrics, judge=judge, thresholds=thresholds, concurrency=1
    )
    return results[0]


def evaluate_case(case: Case | Mapping[str, Any], rubrics: Sequence[Any] = (), **options: Any) -> CaseResult:
    """`evaluate_case_async`, from code that runs no event loop."""
    return asyncio.run(_closing(evaluate_case_async(case, rubrics, **options), options.get("judge")))


def evaluate_dataset(cases: Iterable[Any], rubrics: Sequence[Any] = (), **options: Any) -> list[CaseResult]:
    """`evaluate_dataset_async`, from code that runs no event loop."""
    return asyncio.run(_closing(evaluate_dataset_async(cases, rubrics, **options), options.get("judge")))


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
