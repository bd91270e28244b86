"""One run from settings to exit code: judged as a stream, every case committed as it is done."""

import asyncio
import gc
import secrets
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from jeval.app.outcome import Outcome, Stop
from jeval.app.prepare import Prepared
from jeval.app.progress import Progress
from jeval.app.run_record import now, run_columns
from jeval.case import Case
from jeval.errors import JevalError, JudgeRefused
from jeval.evaluate import evaluate_all
from jeval.evaluator import Evaluator
from jeval.plan import CasePlan, Planner
from jeval.question import Answer, Judge
from jeval.result import CaseResult
from jeval.rubric import Thresholds
from jeval.ruling import STATUSES
from jeval.store.recall import StoredJudgments
from jeval.store.rows import RunKeys, first_request_id
from jeval.store.runs import begin_run, finish_run, served_models
from jeval.store.writer import ResultWriter
from jeval.summary import RubricTally, Summary

__all__ = ["Redecide", "execute", "new_run_id"]

# How often the progress line is renewed where no case ends.
_TICK_S = 0.5


def new_run_id() -> str:
    """A fresh run id that sorts by time."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


class Redecide(Protocol):
    """What a sweep keeps of its first run, to decide further ones without asking."""

    def keep(self, plan: CasePlan, answers: Mapping[str, Answer]) -> None: ...

    def finish(self, run: int, outcome: "Outcome") -> None: ...

    def ready(self) -> bool: ...

    def decide(
        self, connection: sqlite3.Connection, run: int, rubric_keys: Sequence[int], thresholds: Thresholds
    ) -> Mapping[tuple[int, int], int]: ...

    def summary(self) -> Summary: ...

    def judgments(self) -> int: ...

    def models(self) -> list[str]: ...


def execute(
    prepared: Prepared,
    connection: sqlite3.Connection,
    judge: Judge,
    progress: Progress,
    *,
    run_id: str,
    overrides: list[str],
    replay: int | None = None,
    sweep: tuple[str, int] | None = None,
    root: Path | None = None,
    redecide: Redecide | None = None,
) -> Outcome:
    """Run it. What stops it early is in the outcome; what is judged by then is in the store.

    `replay` is the pk of a stored run whose judgments alone are used, asking nothing. `redecide`, once it is
    ready, decides the whole run from what an earlier one of the sweep was answered.
    """
    started = time.perf_counter()
    columns = run_columns(prepared, judge, run_id, overrides, sweep, root)
    keys = begin_run(connection, columns, prepared.rubrics, prepared.metrics)
    outcome = Outcome(run_id, prepared.settings.name, judge.simulated)
    oldest: Callable[[], str | None] = lambda: None  # noqa: E731
    try:
        if redecide is not None and redecide.ready():
            with _calm_collector():
                _decide_again(prepared, connection, keys, outcome, redecide)
        else:
            session = _Session(prepared, connection, progress, judge, keys, outcome, replay, redecide)
            oldest = lambda: session.evaluator.oldest_reused  # noqa: E731
            with _calm_collector():
                _loop_runner()(session.run())
        _conclude(outcome, prepared)
    except (KeyboardInterrupt, asyncio.CancelledError):
        outcome.status, outcome.exit_code, outcome.stopped_because = "interrupted", 130, "interrupted"
    except JevalError as error:
        _failed(outcome, error)
    except BaseExceptionGroup as group:
        cause = _cause(group)
        _failed(outcome, cause)
        if not isinstance(cause, JevalError):
            raise cause from group
    finally:
        outcome.wall_s = time.perf_counter() - started
        outcome.left = prepared.dataset.cases - outcome.summary.cases
        outcome.oldest_reused = oldest()
        _finish(connection, keys.run, outcome)
        if redecide is not None and not redecide.ready():
            redecide.finish(keys.run, outcome)
    return outcome


def _failed(outcome: Outcome, error: BaseException) -> None:
    outcome.status, outcome.exit_code = "incomplete", getattr(error, "exit_code", 3)
    outcome.stopped_because = str(error)


def _decide_again(
    prepared: Prepared, connection: sqlite3.Connection, keys: RunKeys, outcome: Outcome, redecide: Redecide
) -> None:
    """Fill the run from answers at hand."""
    rubric_keys = [keys.rubrics[rubric.sha256] for rubric in prepared.rubrics]
    tallies = redecide.decide(connection, keys.run, rubric_keys, prepared.settings.thresholds.thresholds)
    outcome.summary = redecide.summary()
    for rubric, key in zip(prepared.rubrics, rubric_keys, strict=True):
        tally = outcome.summary.rubrics[rubric.id] = RubricTally(rubric)
        for code, status in enumerate(STATUSES):
            tally.counts[status] = tallies.get((key, code), 0)
    outcome.reused, outcome.models = redecide.judgments(), redecide.models()


@contextmanager
def _calm_collector() -> Iterator[None]:
    """Keep the garbage collector from walking all that start-up loaded, again and again: an eighth of a run's CPU.

    Results make few cycles, so looking for them seldom costs next to no memory.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _loop_runner() -> Callable[[Any], Any]:
    """uvloop's runner where it is installed: it halves what the loop itself costs."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run
    runner: Callable[[Any], Any] = uvloop.run
    return runner


class _Session:
    """The moving parts of one run."""

    def __init__(
        self,
        prepared: Prepared,
        connection: sqlite3.Connection,
        progress: Progress,
        judge: Judge,
        keys: RunKeys,
        outcome: Outcome,
        replay: int | None,
        redecide: Redecide | None,
    ) -> None:
        settings = prepared.settings.judge
        self.prepared, self.connection, self.progress = prepared, connection, progress
        self.judge, self.keys, self.outcome = judge, keys, outcome
        planner = Planner(prepared.rubrics, prepared.metrics, settings.max_state_tokens)
        afresh = settings.reuse == "never" and replay is None
        recall = None if afresh else StoredJudgments(connection, keys.judge, replay)
        self.evaluator = Evaluator(
            planner,
            judge,
            prepared.settings.thresholds.thresholds,
            recall=recall,
            ask=settings.reuse != "only" and replay is None,
            repeat=settings.repeat,
            next_id=count(first_request_id(keys.run)).__next__,
            now=now,
            keep=redecide.keep if redecide is not None else None,
        )
        self.stop = Stop(settings.max_usd, outcome)
        self.concurrency = settings.concurrency

    async def run(self) -> None:
        """Judge every case; then, whatever happened, write what waits and let go of the judge."""
        writer = ResultWriter(self.connection, self.keys, now)
        task = asyncio.current_task()
        with suppress(NotImplementedError, RuntimeError):  # on Windows, and in a thread that is not the main one
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel if task else lambda: None)
        self.progress.begin(self.prepared.dataset.cases)
        ticking = asyncio.create_task(self._tick())

        async def sink(position: int, case: Case, result: CaseResult) -> None:
            writer.put((position, case, result))
            self.outcome.add(result)
            self.stop.look(result)
            self.progress.advance(self.outcome)

        try:
            await evaluate_all(
                self.evaluator, self.prepared.dataset, sink, concurrency=self.concurrency, stop=self.stop
            )
        except BaseExceptionGroup as group:
            error = _cause(group)
            if not isinstance(error, JudgeRefused):
                raise
            self.stop.because = f"{error.kind}: {error.message}"
            self.outcome.spent(error)
        finally:
            ticking.cancel()
            self.progress.end()
            try:
                writer.close()
            finally:
                await self.judge.close()
        self.outcome.stopped_because = self.stop.because

    async def _tick(self) -> None:
        """Show that the run is alive, and how fast it is, where no case ends for long."""
        while True:
            await asyncio.sleep(_TICK_S)
            self.progress.advance(self.outcome)


def _cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _conclude(outcome: Outcome, prepared: Prepared) -> None:
    """Complete, or not: something left unasked, an error, or nothing there to evaluate."""
    left = prepared.dataset.cases - outcome.summary.cases
    if outcome.stopped_because or left or outcome.summary.errors or prepared.dataset.cases == 0:
        outcome.status, outcome.exit_code = "incomplete", 2


def _finish(connection: sqlite3.Connection, run: int, outcome: Outcome) -> None:
    try:
        outcome.models = outcome.models or served_models(connection, run)
        finish_run(
            connection,
            run,
            {
                "finished_at": now(),
                "status": outcome.status,
                "exit_code": outcome.exit_code,
                "model_served": ", ".join(outcome.models) or None,
                "requests": outcome.requests,
                "judgments_asked": outcome.asked,
                "judgments_reused": outcome.reused,
                "oldest_reused_at": outcome.oldest_reused,
                "input_tokens": outcome.input_tokens,
                "output_tokens": outcome.output_tokens,
                "cost_usd": outcome.cost_usd,
                "wall_s": round(outcome.wall_s, 3),
                "left_unasked": outcome.left,
                "stopped_because": outcome.stopped_because,
            },
        )
    except sqlite3.Error as error:
        # The disk may be full: the run's row stays unfinished, its checks are there.
        outcome.status, outcome.exit_code = "incomplete", 3
        outcome.stopped_because = outcome.stopped_because or f"the store could not be written: {error}"
