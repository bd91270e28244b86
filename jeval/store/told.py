"""What the end of a run tells of it."""

import sqlite3
from typing import Any

__all__ = ["critical_failures", "request_errors"]


def critical_failures(connection: sqlite3.Connection, run_id: str, limit: int) -> list[tuple[Any, ...]]:
    """(case id, rubric id, rubric version, reason) of a run's first critical failures."""
    sql = "SELECT case_id, rubric_id, rubric_version, reason FROM critical_failures WHERE run_id = ? LIMIT ?"
    return connection.execute(sql, (run_id, limit)).fetchall()


def request_errors(connection: sqlite3.Connection, run_id: str) -> list[tuple[Any, ...]]:
    """(kind, how many, one message) of a run's failed requests, the most frequent first."""
    return connection.execute(
        "SELECT error_kind, count(*), min(error_message) FROM requests"
        " WHERE run_id = ? AND error_kind IS NOT NULL GROUP BY error_kind ORDER BY 2 DESC",
        (run_id,),
    ).fetchall()
