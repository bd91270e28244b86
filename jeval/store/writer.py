"""Writing a run: every case is committed whole, or not at all."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from jeval.case import Case
from jeval.errors import StoreError
from jeval.fingerprint import compact
from jeval.result import CaseResult
from jeval.store.rows import TALLY, Known, Rows, RunKeys, case_content, case_rows

__all__ = ["ResultWriter"]

# The most cases one transaction takes.
_BATCH = 64

_SIMPLE = (
    ("criteria", "INSERT OR IGNORE INTO criteria VALUES (?, ?)"),
    ("findings", "INSERT OR IGNORE INTO findings VALUES (?, ?, ?, ?, ?, ?)"),
    ("verdicts", "INSERT OR IGNORE INTO verdicts VALUES (?, ?, ?, ?, ?)"),
    ("checks", "INSERT INTO check_rows VALUES (?, ?, ?, ?, ?, ?, ?)"),
    ("questions", "INSERT OR IGNORE INTO questions VALUES (?, ?, ?)"),
    ("requests", "INSERT INTO request_rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
    ("judgments", "INSERT INTO judgment_rows VALUES (?, ?, ?)"),
    ("score_results", "INSERT OR IGNORE INTO score_results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"),
    ("scores", "INSERT INTO score_rows VALUES (?, ?, ?, ?)"),
    ("flips", "INSERT INTO repeat_flips VALUES (?, ?, ?, ?)"),
    (
        "labels",
        (
            "INSERT INTO labels VALUES (?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (case_id, rubric_id, source, coalesce(reviewer, '')) DO UPDATE"
            " SET expected = excluded.expected, note = excluded.note, labelled_at = excluded.labelled_at"
            " WHERE expected <> excluded.expected OR note IS NOT excluded.note"
        ),
    ),
)

_CASE = "SELECT i.key, c.pk FROM case_ids i LEFT JOIN case_rows c ON c.case_key = i.key AND c.sha256 = ? WHERE i.id = ?"

Item = tuple[int, Case, CaseResult]


class ResultWriter:
    """Commits results in the order they come, each case whole or not at all.

    Results of one turn of the event loop share a transaction: nothing waits longer than that. Writing happens
    in the loop's own thread, for a thread beside it would contend for the interpreter at every row and cost more
    than it frees. Close it to write what is left.
    """

    def __init__(self, connection: sqlite3.Connection, keys: RunKeys, now: Callable[[], str]) -> None:
        self._connection, self._keys, self._now = connection, keys, now
        self._known = Known()
        self._waiting: list[Item] = []
        self._error: StoreError | None = None

    def put(self, item: Item) -> None:
        """Take a result. Raises StoreError once one could not be written."""
        if self._error is not None:
            raise self._error
        self._waiting.append(item)
        if len(self._waiting) >= _BATCH:
            self.flush()
        elif len(self._waiting) == 1:
            asyncio.get_running_loop().call_soon(self._flush_soon)

    def flush(self) -> None:
        """Write what waits. Raises StoreError where that fails; what was written before stays."""
        batch, self._waiting = self._waiting, []
        if not batch or self._error is not None:
            return
        try:
            self._commit(batch)
        except (sqlite3.Error, OverflowError) as error:
            remedy = "see who else writes it" if "locked" in str(error) else "make room"
            self._error = StoreError(
                f"the store could not be written: {error}; what was answered before is in it: {remedy} and run again"
            )
            raise self._error from error

    def _flush_soon(self) -> None:
        with suppress(StoreError):  # the next `put`, or `close`, raises it
            self.flush()

    def close(self) -> None:
        """Write what is left. Raises StoreError where that, or an earlier write, failed."""
        self.flush()
        if self._error is not None:
            raise self._error

    def _commit(self, batch: list[Item]) -> None:
        execute, keys, now = self._connection.execute, self._keys, self._now()
        rows = Rows.empty()
        run_cases: list[tuple[Any, ...]] = []
        execute("BEGIN IMMEDIATE")
        try:
            for position, case, result in batch:
                case_key, content = self._case(case)
                run_cases.append(
                    (
                        keys.run,
                        position,
                        case_key,
                        content,
                        compact(result.sources) if result.sources else None,
                    )
                )
                case_rows(rows, keys, self._known, case, case_key, result, now)
            self._connection.executemany("INSERT INTO run_cases VALUES (?, ?, ?, ?, ?)", run_cases)
            self._insert(rows)
            execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                execute("ROLLBACK")
            raise

    def _case(self, case: Case) -> tuple[int, int]:
        """The keys of a case's id and of its content, written where they are new."""
        execute = self._connection.execute
        sha, body = case_content(case)
        row = execute(_CASE, (sha, case.id)).fetchone()
        if row is None:
            key = execute("INSERT INTO case_ids (id) VALUES (?)", (case.id,)).lastrowid or 0
            row = (key, None)
        if row[1] is None:
            content = execute(
                "INSERT INTO case_rows (case_key, sha256, body) VALUES (?, ?, ?)", (row[0], sha, body)
            ).lastrowid
            return row[0], content or 0
        return int(row[0]), int(row[1])

    def _insert(self, rows: Rows) -> None:
        for name, sql in _SIMPLE:
            values = getattr(rows, name)
            if values:
                self._connection.executemany(sql, values)
        self._connection.executemany(
            TALLY,
            [(self._keys.run, rubric, status, n) for (rubric, status), n in rows.tallies.items()],
        )
