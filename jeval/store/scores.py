"""Scores of stored runs, read back: of one case with their breakdown, of a whole run to be compared."""

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from jeval.score_change import ScoreRow
from jeval.store.explanations import explanations_of

__all__ = ["case_scores", "run_scores"]

_OF_CASE = """
SELECT metrics.id AS metric_id, metrics.version AS metric_version, r.status, r.score, r.passed, r.strict,
  r.threshold, r.confidence, r.reason, r.breakdown
FROM score_rows s
JOIN score_results r ON r.id = s.result
JOIN metrics ON metrics.pk = s.metric
WHERE s.run = ? AND s.case_key = ? ORDER BY metrics.id
"""


def case_scores(connection: sqlite3.Connection, run: int, case_key: int) -> list[dict[str, Any]]:
    """The scores of one case in a run, by metric; empty where the run has none. Both are named by their keys.

    Each holds the columns of the view `scores`, its `breakdown` as rows, and its `explanation`: what a model
    wrote about it afterwards, None where none did.
    """
    cursor = connection.execute(_OF_CASE, (run, case_key))
    names = [column[0] for column in cursor.description]
    prose = explanations_of(connection, run, case_key)
    found = (dict(zip(names, row, strict=True)) for row in cursor)
    return [
        {
            **score,
            "passed": None if score["passed"] is None else bool(score["passed"]),
            "strict": bool(score["strict"]),
            "breakdown": json.loads(score["breakdown"]),
            "explanation": prose.get(score["metric_id"]),
        }
        for score in found
    ]


def run_scores(connection: sqlite3.Connection, run_id: str) -> Iterator[ScoreRow]:
    """Every score of a run, in the order of the metrics, None where a case was not scored."""
    return iter(
        connection.execute(
            "SELECT metrics.id, metrics.version, case_ids.id, r.score FROM runs"
            " JOIN score_rows s ON s.run = runs.pk JOIN metrics ON metrics.pk = s.metric"
            " JOIN case_ids ON case_ids.key = s.case_key JOIN score_results r ON r.id = s.result"
            " WHERE runs.id = ? ORDER BY s.metric",
            (run_id,),
        )
    )
