"""Rows as dicts, runs found by name, and counts of a run: what every page begins with."""

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["NotHere", "counts_of", "every", "find_run", "one", "rubrics_of", "totals"]

STATUSES = ("pass", "fail", "review", "skipped", "error")


class NotHere(Exception):
    """Something a page is about that the store does not hold; the message says what and where to look."""


def every(conn: sqlite3.Connection, sql: str, params: Any = ()) -> list[dict[str, Any]]:
    """All rows as dicts."""
    cursor = conn.execute(sql, params)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def one(conn: sqlite3.Connection, sql: str, params: Any = ()) -> dict[str, Any] | None:
    """The first row as a dict, or None."""
    rows = every(conn, sql, params)
    return rows[0] if rows else None


def find_run(conn: sqlite3.Connection, name: str) -> dict[str, Any]:
    """The run of this id, name or unique beginning of an id; @last and @prev too. Raises NotHere."""
    if name in ("@last", "@prev"):
        rows = every(conn, "SELECT * FROM runs ORDER BY started_at DESC, pk DESC LIMIT 2")
        wanted = 0 if name == "@last" else 1
        if len(rows) > wanted:
            return rows[wanted]
    found = one(conn, "SELECT * FROM runs WHERE id = ?", (name,)) or one(
        conn, "SELECT * FROM runs WHERE name = ? ORDER BY started_at DESC, pk DESC LIMIT 1", (name,)
    )
    if found is None and name:
        begun = every(conn, "SELECT * FROM runs WHERE substr(id, 1, ?) = ? LIMIT 2", (len(name), name))
        if len(begun) > 1:
            raise NotHere(f"Several runs begin with {name}. Write more of the id.")
        found = begun[0] if begun else None
    if found is None:
        raise NotHere(f"The store holds no run {name}. The runs there are stand in the list of runs.")
    return found


def rubrics_of(conn: sqlite3.Connection, run: int) -> list[dict[str, Any]]:
    """The run's rubrics in their order."""
    sql = (
        "SELECT r.pk, r.id, r.version, r.sha256, r.kind, r.severity, r.required, r.definition"
        " FROM run_rubrics rr"
        " JOIN rubrics r ON r.pk = rr.rubric WHERE rr.run = ? ORDER BY rr.position"
    )
    return every(conn, sql, (run,))


def counts_of(conn: sqlite3.Connection, runs: Iterable[int]) -> dict[int, dict[int, dict[str, int]]]:
    """{run: {rubric: {status: n}}} from the tallies, for any number of runs."""
    keys = [int(run) for run in runs]
    found: dict[int, dict[int, dict[str, int]]] = {key: {} for key in keys}
    marks = ", ".join("?" * len(keys))
    for run, rubric, status, n in conn.execute(
        f"SELECT run, rubric, status, n FROM tallies WHERE run IN ({marks})",  # noqa: S608 - placeholders only
        keys,
    ):
        counts = found[run].setdefault(rubric, dict.fromkeys(STATUSES, 0))
        counts[STATUSES[status]] += n
    return found


def totals(counts: Mapping[int, Mapping[str, int]], critical: Iterable[int] = ()) -> dict[str, Any]:
    """Counts over all rubrics, the denominators of the rates, and failures of the critical rubrics."""
    summed = {status: sum(c[status] for c in counts.values()) for status in STATUSES}
    checks = sum(summed.values())
    serious = set(critical)
    return {
        "counts": summed,
        "checks": checks,
        "decided": summed["pass"] + summed["fail"],
        "applicable": checks - summed["skipped"],
        "critical_failures": sum(c["fail"] for key, c in counts.items() if key in serious),
    }
