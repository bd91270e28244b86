"""What filters leave of runs, for lists that are about more than one run or one check."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from jeval.browse.chosen import some_cases
from jeval.browse.filters import STATUSES, Filters, where
from jeval.browse.kinds import kinds_left
from jeval.browse.rows import counts_of, every, rubrics_of

__all__ = ["cases_left", "counts_left", "rubrics_of_runs"]

Counts = dict[int, dict[int, dict[str, int]]]


def cases_left(
    conn: sqlite3.Connection, run: int, rubrics: Sequence[dict[str, Any]], filters: Filters
) -> list[int] | None:
    """The cases with a check in this run that the filters leave, or None for all."""
    if not filters.on_checks:
        return some_cases(conn, run, filters)
    left = where(filters, run, rubrics, some_cases(conn, run, filters))
    sql = f"SELECT DISTINCT c.case_key FROM check_rows c WHERE {left.sql}"  # noqa: S608 - our own conditions
    return [row[0] for row in conn.execute(sql, left.params)]


def rubrics_of_runs(conn: sqlite3.Connection, runs: Sequence[int]) -> list[dict[str, Any]]:
    """Every rubric, in every content, that one of these runs used."""
    keys = ", ".join(str(int(run)) for run in runs)
    sql = (
        "SELECT pk, id, version, kind, severity, required FROM rubrics"  # noqa: S608 - whole numbers only
        f" WHERE pk IN (SELECT rubric FROM run_rubrics WHERE run IN ({keys})) ORDER BY id, pk"
    )
    return every(conn, sql)


def counts_left(conn: sqlite3.Connection, runs: Sequence[dict[str, Any]], filters: Filters) -> Counts:
    """{run: {rubric: {status: n}}} of the checks that the filters leave, for rows of `runs`.

    The tallies know of statuses and rubrics, the kinds of a run of rules and outcomes; only a filter on cases
    has to look at checks.
    """
    keys = [run["pk"] for run in runs]
    if not filters.active:
        return counts_of(conn, keys)
    if filters.on_cases or filters.outcome or filters.rule:
        return {run["pk"]: _counted(conn, run, filters) for run in runs}
    rubrics = {row["pk"] for row in rubrics_of_runs(conn, keys) if filters.takes_rubric(row)}
    statuses = filters.status or STATUSES
    return {
        run: {
            rubric: {status: n if status in statuses else 0 for status, n in counts.items()}
            for rubric, counts in found.items()
            if rubric in rubrics
        }
        for run, found in counts_of(conn, keys).items()
    }


def _counted(conn: sqlite3.Connection, run: dict[str, Any], filters: Filters) -> dict[int, dict[str, int]]:
    cases = some_cases(conn, run["pk"], filters)
    found: dict[int, dict[str, int]] = {}
    if cases == []:
        return found
    for kind in kinds_left(conn, run, rubrics_of(conn, run["pk"]), filters, cases):
        found.setdefault(kind.rubric, dict.fromkeys(STATUSES, 0))[kind.verdict.status] += kind.n
    return found
