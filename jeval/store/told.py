"""What the end of a run tells of it."""

import sqlite3
from typing import Any

__all__ = ["critical_failures", "request_errors"]

_CRITICAL = """
SELECT case_ids.id, rubrics.id, rubrics.version, verdicts.reason
FROM runs
JOIN check_rows c ON c.run = runs.pk AND c.critical = 1
JOIN run_cases ON run_cases.run = c.run AND run_cases.case_key = c.case_key
JOIN case_ids ON case_ids.key = c.case_key
JOIN rubrics ON rubrics.pk = c.rubric
JOIN verdicts ON verdicts.id = c.verdict
WHERE runs.id = ? ORDER BY run_cases.position, c.rubric LIMIT ?
"""


def critical_failures(connection: sqlite3.Connection, run_id: str, limit: int) -> list[tuple[Any, ...]]:
    """(case id, rubric id, rubric version, reason) of a run's first critical failures, in the dataset's order."""
    return connection.execute(_CRITICAL, (run_id, limit)).fetchall()


def request_errors(connection: sqlite3.Connection, run_id: str) -> list[tuple[Any, ...]]:
    """(kind, how many, one message) of a run's failed requests, the most frequent first."""
    return connection.execute(
        "SELECT error_kind, count(*), min(error_message) FROM requests"
        " WHERE run_id = ? AND error_kind IS NOT NULL GROUP BY error_kind ORDER BY 2 DESC",
        (run_id,),
    ).fetchall()
