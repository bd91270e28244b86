"""What people and machines read after a run: what `jeval show` tells of it, and the run as JSON."""

import sqlite3
from dataclasses import replace
from typing import Any

from jeval.app.outcome import Outcome
from jeval.app.overview_text import print_told
from jeval.app.painter import Painter, plain
from jeval.app.prepare import Prepared
from jeval.report.overview import ScoreLine
from jeval.store.find import find_run
from jeval.store.told import read_told
from jeval.summary import ScoreTally

__all__ = ["Painter", "outcome_json", "plain", "print_outcome"]

_CRITICAL = 10


def print_outcome(painter: Painter, prepared: Prepared, outcome: Outcome, connection: sqlite3.Connection) -> None:
    """The summary of a run."""
    told = read_told(connection, find_run(connection, outcome.run_id), _CRITICAL, _scores(prepared, outcome))
    # A store that could not be written to does not know how the run ended.
    run = replace(told.run, status=outcome.status, stopped_because=outcome.stopped_because)
    print_told(painter, told._replace(run=run), prepared.warnings)


def _scores(prepared: Prepared, outcome: Outcome) -> list[ScoreLine]:
    """The metrics' lines as `read_overview` would read them, by id."""
    lines = []
    for metric in sorted(prepared.metrics, key=lambda metric: metric.id):
        tally = outcome.summary.scores.get(metric.id, ScoreTally())
        numbers = (tally.scored, tally.passed, tally.skipped, tally.errors)
        lines.append(ScoreLine(metric.id, metric.version, tally.mean, *numbers))
    return lines


def outcome_json(prepared: Prepared, outcome: Outcome, store: str) -> dict[str, Any]:
    """The run as a machine reads it."""
    summary, settings = outcome.summary, prepared.settings
    return {
        "run_id": outcome.run_id,
        "name": outcome.name,
        "status": "complete" if outcome.status == "complete" else "incomplete",
        "exit_code": outcome.exit_code,
        "cases": summary.cases,
        "checks": summary.checks,
        "counts": dict(summary.counts),
        "critical_failures": summary.critical_failures,
        "scores": {name: score.mean for name, score in summary.scores.items()},
        "thresholds": {"pass": settings.thresholds.pass_, "fail": settings.thresholds.fail},
        "judge": settings.judge.name,
        "model": ", ".join(outcome.models) or settings.judge.model,
        "simulated": outcome.simulated,
        "requests": outcome.requests,
        "judgments": {"asked": outcome.asked, "reused": outcome.reused},
        "usage": {"input_tokens": outcome.input_tokens, "output_tokens": outcome.output_tokens},
        "cost_usd": outcome.cost_usd,
        "wall_s": round(outcome.wall_s, 3),
        "store": store,
        "gate": outcome.gate,
    }
