"""Scores of stored runs, read back: of one case with their breakdown, of a whole run to be compared."""

import sqlite3
from collections.abc import Iterator
from typing import Any, NamedTuple

from jeval.score_change import ScoreRow

__all__ = ["CaseScores", "case_scores", "run_scores"]


class CaseScores(NamedTuple):
    """A case's scores in a run, and their breakdown, as rows under the names of the views."""

    scores: list[dict[str, Any]]
    breakdown: list[dict[str, Any]]


def case_scores(connection: sqlite3.Connection, run_id: str, case_id: str) -> CaseScores:
    """The scores of one case in a run, by metric; empty where the run has none."""
    return CaseScores(
        _rows(
            connection,
            "SELECT * FROM scores WHERE run_id = ? AND case_id = ? ORDER BY metric_id",
            run_id,
            case_id,
        ),
        _rows(
            connection,
            "SELECT * FROM score_breakdown WHERE run_id = ? AND case_id = ? ORDER BY metric_id, position",
            run_id,
            case_id,
        ),
    )


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


def _rows(connection: sqlite3.Connection, sql: str, *values: str) -> list[dict[str, Any]]:
    cursor = connection.execute(sql, values)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]
