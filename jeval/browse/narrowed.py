"""What filters leave of runs, for lists that are about more than one run or one check."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from jeval.browse.chosen import some_cases
from jeval.browse.filters import STATUSES, Filters, where
from jeval.browse.kinds import Kind, kinds_left
from jeval.browse.rows import counts_of, every, rubrics_of

__all__ = ["Narrowed", "cases_left", "rubrics_of_runs"]

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


class Narrowed:
    """What filters leave of runs, given as rows of `runs`. Each run is looked at once, however often it is asked
    for."""

    def __init__(self, conn: sqlite3.Connection, filters: Filters) -> None:
        self._conn, self.filters = conn, filters
        self._cases: dict[int, list[int] | None] = {}
        self._kinds: dict[int, list[Kind]] = {}

    def cases(self, run: dict[str, Any]) -> list[int] | None:
        """The cases of a run that filters on cases leave, None for all."""
        if run["pk"] not in self._cases:
            self._cases[run["pk"]] = some_cases(self._conn, run["pk"], self.filters)
        return self._cases[run["pk"]]

    def kinds(self, run: dict[str, Any]) -> list[Kind]:
        """The kinds of the checks that are left of a run."""
        if run["pk"] not in self._kinds:
            cases, rubrics = self.cases(run), rubrics_of(self._conn, run["pk"])
            left = [] if cases == [] else kinds_left(self._conn, run, rubrics, self.filters, cases)
            self._kinds[run["pk"]] = left
        return self._kinds[run["pk"]]

    def counts(self, runs: Sequence[dict[str, Any]]) -> Counts:
        """{run: {rubric: {status: n}}} of the checks that are left.

        The tallies know of statuses and rubrics; for all else the kinds of a run are looked at.
        """
        filters, keys = self.filters, [run["pk"] for run in runs]
        if filters.on_cases or filters.outcome or filters.rule:
            return {run["pk"]: _counted(self.kinds(run)) for run in runs}
        if not filters.active:
            return counts_of(self._conn, keys)
        rubrics = {row["pk"] for row in rubrics_of_runs(self._conn, keys) if filters.takes_rubric(row)}
        statuses = filters.status or STATUSES
        return {
            run: {
                rubric: {status: n if status in statuses else 0 for status, n in counts.items()}
                for rubric, counts in found.items()
                if rubric in rubrics
            }
            for run, found in counts_of(self._conn, keys).items()
        }


def _counted(kinds: Iterable[Kind]) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = {}
    for kind in kinds:
        found.setdefault(kind.rubric, dict.fromkeys(STATUSES, 0))[kind.verdict.status] += kind.n
    return found
