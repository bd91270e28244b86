"""Explaining a run that is over: prose from a language model, which has no say in any score.

Whatever goes wrong here is told on stderr and changes nothing: not a score, not a status, not the exit code.
"""

import asyncio
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jeval.app.painter import plain
from jeval.app.settings import ExplainSettings
from jeval.digest import BYTES_PER_TOKEN
from jeval.errors import JevalError, JudgeError
from jeval.explain import explainer_messages, settled_text
from jeval.metric import Metric
from jeval.metric_state import metric_state
from jeval.store.explanations import ScoredCase, keep_explanation, scored_cases

__all__ = ["explain_run"]


def explain_run(
    connection: sqlite3.Connection,
    run_id: str,
    metrics: Sequence[Metric],
    settings: ExplainSettings,
    environ: Mapping[str, str],
    *,
    simulated: bool,
    max_state_tokens: int,
    now: Callable[[], str],
) -> int:
    """Have the scores of a run explained and keep the texts; how many were kept. Raises nothing."""
    if settings.base_url is None or not metrics:
        return 0
    if simulated and not settings.simulated:
        _tell("nothing explained, for the scores are simulated; have it done with explain.simulated=true")
        return 0
    try:
        found = list(scored_cases(connection, run_id, failed_only=settings.which == "failed", limit=settings.limit))
        if not found:
            return 0
        work = _Work(connection, run_id, {metric.id: metric for metric in metrics}, settings, now, max_state_tokens)
        asyncio.run(work.all(found, environ))
    except KeyboardInterrupt:
        _tell("explaining interrupted; the scores stand")
        return 0
    except Exception as error:
        reason = str(error) if isinstance(error, JevalError | sqlite3.Error) else f"{type(error).__name__}: {error}"
        _tell(f"nothing explained: {reason}")
        return 0
    _tell(work.summary(len(found)))
    return work.kept


def _tell(text: str) -> None:
    print(f"explain: {plain(text, 300)}", file=sys.stderr)


class _Work:
    """The explanations under way."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        run_id: str,
        metrics: Mapping[str, Metric],
        settings: ExplainSettings,
        now: Callable[[], str],
        max_state_tokens: int,
    ) -> None:
        self._connection, self._run_id, self._metrics = connection, run_id, metrics
        self._settings, self._now = settings, now
        self._room = max_state_tokens * BYTES_PER_TOKEN
        self.kept = 0
        self._faults: dict[str, int] = {}

    async def all(self, found: Sequence[ScoredCase], environ: Mapping[str, str]) -> None:
        """Explain each, some at once."""
        from jeval.judges.gateways import read_key
        from jeval.judges.llm import LlmSettings, LlmWriter

        settings = self._settings
        llm = LlmSettings(
            base_url=settings.base_url or "",
            model=settings.model or "",
            key_env=settings.key_env,
            timeout_s=settings.timeout_s,
            concurrency=settings.concurrency,
            max_tokens=settings.max_tokens,
        )
        writer = LlmWriter(llm, key=read_key(llm.key_env, environ))
        try:
            await asyncio.gather(*(self._one(writer, scored) for scored in found))
        finally:
            await writer.close()

    async def _one(self, writer: Any, scored: ScoredCase) -> None:
        state = metric_state(self._metrics[scored.metric_id], scored.case, self._room).state
        if state is None:
            return
        messages = explainer_messages(scored.score, scored.passed, scored.breakdown, state.json)
        try:
            raw, model = await writer.write(messages)
        except JudgeError as error:
            self._faults[error.message] = self._faults.get(error.message, 0) + 1
            return
        text = settled_text(raw)
        if text is None:
            self._faults["the model wrote nothing"] = self._faults.get("the model wrote nothing", 0) + 1
            return
        name = settled_text(model) or "unknown"
        keep_explanation(self._connection, self._run_id, scored, text, name[:200], self._now())
        self.kept += 1

    def summary(self, asked: int) -> str:
        """One line about what came of it."""
        text = f"{self.kept} of {asked} scores explained by {self._settings.model}"
        return "; ".join([text, *(f"{count} × {fault}" for fault, count in self._faults.items())])
