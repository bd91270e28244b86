"""Prose about scores, kept apart from them: written after a run, read by who shows a case."""

import json
import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from jeval.case import Case

__all__ = ["ScoredCase", "explanations_of", "keep_explanation", "scored_cases"]


class ScoredCase(NamedTuple):
    """A score to be explained, with the integers that refer to it."""

    case_key: int
    metric_key: int
    metric_id: str
    case: "Case"
    score: float
    passed: bool
    breakdown: list[dict[str, Any]]


def scored_cases(connection: sqlite3.Connection, run_id: str, *, failed_only: bool, limit: int) -> Iterator[ScoredCase]:
    """The scores of a run that are not explained yet, the lowest first, at most `limit` of them."""
    from jeval.case import Case  # not needed to read a store

    rows = connection.execute(
        "SELECT s.case_key, s.metric, metrics.id, c.body, r.score, r.passed, r.breakdown FROM runs"
        " JOIN score_rows s ON s.run = runs.pk JOIN score_results r ON r.id = s.result"
        " JOIN metrics ON metrics.pk = s.metric"
        " JOIN run_cases rc ON rc.run = s.run AND rc.case_key = s.case_key"
        " JOIN case_rows c ON c.pk = rc.content"
        " WHERE runs.id = ? AND r.score IS NOT NULL AND (NOT ? OR NOT r.passed)"
        " AND NOT EXISTS (SELECT 1 FROM explanation_rows e"
        "   WHERE e.run = s.run AND e.case_key = s.case_key AND e.metric = s.metric)"
        " ORDER BY r.score, s.case_key, s.metric LIMIT ?",
        (run_id, failed_only, limit),
    ).fetchall()
    for case_key, metric, metric_id, body, score, passed, breakdown in rows:
        case = Case.model_validate_json(body)
        yield ScoredCase(case_key, metric, metric_id, case, score, bool(passed), json.loads(breakdown))


def keep_explanation(
    connection: sqlite3.Connection, run_id: str, scored: ScoredCase, text: str, model: str, at: str
) -> None:
    """Keep a text. The first one about a score stays."""
    connection.execute(
        "INSERT OR IGNORE INTO explanation_rows (run, case_key, metric, text, model, at)"
        " SELECT pk, ?, ?, ?, ?, ? FROM runs WHERE id = ?",
        (scored.case_key, scored.metric_key, text, model, at, run_id),
    )


def explanations_of(connection: sqlite3.Connection, run: int, case_key: int) -> dict[str, dict[str, Any]]:
    """What was written about the scores of one case in a run, by metric id: text, model and when."""
    rows = connection.execute(
        "SELECT metrics.id, e.text, e.model, e.at FROM explanation_rows e"
        " JOIN metrics ON metrics.pk = e.metric WHERE e.run = ? AND e.case_key = ?",
        (run, case_key),
    )
    return {metric: {"text": text, "model": model, "explained_at": at} for metric, text, model, at in rows}
