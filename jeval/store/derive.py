"""A run written beside another it shares everything with but its decisions."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from jeval.ruling import Verdict
from jeval.store.rows import TALLY, Known
from jeval.store.status import STATUS_CODES

__all__ = ["DerivedCheck", "Source", "derive_run"]

_COPY_CASES = (
    "INSERT INTO run_cases SELECT ?, position, case_key, content, sources FROM run_cases"
    " WHERE run = ? AND case_key BETWEEN ? AND ?"
)
_COPY_SCORES = (
    "INSERT INTO score_rows SELECT ?, case_key, metric, result FROM score_rows"
    " WHERE run = ? AND case_key BETWEEN ? AND ?"
)

# Cases a transaction takes: others may write between.
_CHUNK = 2_000


class Source:
    """A finished run whose cases, findings and scores further runs refer to."""

    def __init__(self, run: int) -> None:
        self.run = run
        self.known = Known()
        self._cases: list[tuple[int, str]] | None = None
        self._findings: dict[int, dict[int, int]] = {}

    def load(self, connection: sqlite3.Connection) -> list[tuple[int, str]]:
        """(case key, case id) of every case, once read and then kept, with each check's finding."""
        if self._cases is None:
            self._cases = connection.execute(
                "SELECT case_ids.key, case_ids.id FROM run_cases JOIN case_ids ON case_ids.key = run_cases.case_key"
                " WHERE run = ? ORDER BY run_cases.case_key",
                (self.run,),
            ).fetchall()
            for key, rubric, finding in connection.execute(
                "SELECT case_key, rubric, finding FROM check_rows WHERE run = ?", (self.run,)
            ):
                self._findings.setdefault(key, {})[rubric] = finding
        return self._cases

    def finding(self, case_key: int, rubric: int) -> int:
        """The finding of one check of the source run."""
        return self._findings[case_key][rubric]


class DerivedCheck(NamedTuple):
    """One check of a further run: its rubric's key, its verdict, and whether it is a critical failure."""

    rubric: int
    verdict: Verdict
    critical: bool


def derive_run(
    connection: sqlite3.Connection, source: Source, run: int, decided: Callable[[str], Sequence[DerivedCheck]]
) -> Mapping[tuple[int, int], int]:
    """Write the checks of `run`, each case whole; its cases and scores are the source's.

    Returns how many checks there are of each (rubric key, status code).
    """
    cases = source.load(connection)
    # Every row refers to what the source's rows refer to, which was checked when they were written; checking it
    # again for each profile would take three times as long as writing.
    connection.execute("PRAGMA foreign_keys = OFF")
    try:
        return _derive(connection, source, run, cases, decided)
    finally:
        connection.execute("PRAGMA foreign_keys = ON")


def _derive(
    connection: sqlite3.Connection,
    source: Source,
    run: int,
    cases: Sequence[tuple[int, str]],
    decided: Callable[[str], Sequence[DerivedCheck]],
) -> Mapping[tuple[int, int], int]:
    tallies: Counter[tuple[int, int]] = Counter()
    for start in range(0, len(cases), _CHUNK):
        chunk = cases[start : start + _CHUNK]
        verdicts: list[tuple[Any, ...]] = []
        rows: list[tuple[Any, ...]] = []
        for key, case_id in chunk:
            for rubric, verdict, critical in decided(case_id):
                code = STATUS_CODES[verdict.status]
                verdict_key, new = source.known.verdict(verdict)
                if new:
                    verdicts.append((verdict_key, code, verdict.outcome, verdict.rule, verdict.reason))
                rows.append((run, key, rubric, code, int(critical), source.finding(key, rubric), verdict_key))
        here = Counter((row[2], row[3]) for row in rows)
        tallies.update(here)
        keys = (run, source.run, chunk[0][0], chunk[-1][0])
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute(_COPY_CASES, keys)
            connection.execute(_COPY_SCORES, keys)
            connection.executemany("INSERT OR IGNORE INTO verdicts VALUES (?, ?, ?, ?, ?)", verdicts)
            connection.executemany("INSERT INTO check_rows VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            connection.executemany(TALLY, [(run, *tally, n) for tally, n in here.items()])
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    return tallies
