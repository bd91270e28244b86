"""Rows of one store carried over into another: keys in the terms of the store they come to, shared rows once.

Nothing here begins or ends a transaction, and foreign keys are not looked after: who calls does both. Every key is
looked up, so a row that refers to none is noticed all the same.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from jeval.fingerprint import compact
from jeval.store.rows import first_request_id

__all__ = ["CARRIED", "Translation", "carry_run", "carry_shared", "count_judgments", "drop_run", "translation"]

_COUNT = 0xFFFF_FFFF

# Rows whose key is a hash of their content: the same everywhere.
_CONTENT_KEYED = ("questions", "criteria", "verdicts", "score_results")

# Rows of a run: the table, what its rows are found by, and which columns are in another store's terms.
_OF_RUN = "run = :run"
_OF_REQUESTS = f"request BETWEEN :run << 32 AND (:run << 32) + {_COUNT}"
_RUN_TABLES: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("run_rubrics", _OF_RUN, {"run": "runs", "rubric": "rubrics"}),
    ("run_cases", _OF_RUN, {"run": "runs", "case_key": "cases", "content": "contents", "sources": "sources"}),
    ("request_rows", _OF_RUN, {"id": "requests", "run": "runs", "case_key": "cases", "judge": "judges"}),
    ("judgment_rows", _OF_REQUESTS, {"request": "requests"}),
    ("check_rows", _OF_RUN, {"run": "runs", "case_key": "cases", "rubric": "rubrics"}),
    ("tallies", _OF_RUN, {"run": "runs", "rubric": "rubrics"}),
    ("repeat_flips", _OF_RUN, {"run": "runs", "case_key": "cases", "rubric": "rubrics"}),
    ("score_rows", _OF_RUN, {"run": "runs", "case_key": "cases", "metric": "metrics"}),
)

# Every table that is looked after here.
CARRIED = (
    *("runs", "case_ids", "case_rows", "rubrics", "metrics", "judges", "findings"),
    *_CONTENT_KEYED,
    *(table for table, _, _ in _RUN_TABLES),
)


class _Keys(Protocol):
    """What a value is called in the other store."""

    def __getitem__(self, value: Any, /) -> Any: ...


@dataclass(frozen=True)
class Translation:
    """What the keys of one store are in another; `runs` holds every run that is in both once all is carried over."""

    runs: dict[int, int] = field(default_factory=dict)
    cases: dict[int, int] = field(default_factory=dict)
    contents: dict[int, int] = field(default_factory=dict)
    rubrics: dict[int, int] = field(default_factory=dict)
    metrics: dict[int, int] = field(default_factory=dict)
    judges: dict[int, int] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    """Rubrics and metrics, as `rubric tone 1.0.0`, whose version has another content in the other store."""

    @property
    def requests(self) -> "_Requests":
        """What requests are called."""
        return _Requests(self.runs)

    @property
    def sources(self) -> "_Sources":
        """What the list of requests is called that a case rests on."""
        return _Sources(self.runs)


class _Requests:
    """A request's id is its run's key and its number in the run, so it follows its run."""

    def __init__(self, runs: Mapping[int, int]) -> None:
        self._runs = runs

    def __getitem__(self, request: int) -> int:
        return first_request_id(self._runs[request >> 32]) - 1 + (request & _COUNT)


class _Sources:
    """A JSON list of requests; those of a run that is no more are left out, for their numbers mean nothing."""

    def __init__(self, runs: Mapping[int, int]) -> None:
        self._runs, self._requests = runs, _Requests(runs)

    def __getitem__(self, sources: str | None) -> str | None:
        if sources is None:
            return None
        return compact([self._requests[id_] for id_ in json.loads(sources) if id_ >> 32 in self._runs])


def translation(source: sqlite3.Connection, target: sqlite3.Connection) -> Translation:
    """The keys of `source` in `target`, without those of runs; what is not there yet is written."""
    found = Translation()
    for key, name in source.execute("SELECT key, id FROM case_ids ORDER BY key"):
        found.cases[key] = _key(target, "case_ids", "key", {"id": name})
    bodies = "SELECT body FROM case_rows WHERE pk = ?"
    for pk, case, sha in source.execute("SELECT pk, case_key, sha256 FROM case_rows ORDER BY pk"):
        identity = {"case_key": found.cases[case], "sha256": sha}
        here = _find(target, "case_rows", "pk", identity)
        if here is None:
            here = _add(target, "case_rows", identity | {"body": source.execute(bodies, (pk,)).fetchone()[0]})
        found.contents[pk] = here
    for table, keys in (("rubrics", found.rubrics), ("metrics", found.metrics)):
        for row in _records(source, table):
            found.changed.extend(_changed(target, table, row))
            identity = {name: row[name] for name in ("id", "version", "sha256")}
            keys[row["pk"]] = _key(target, table, "pk", identity, row)
    for row in _records(source, "judges"):
        identity = {name: row[name] for name in ("gateway", "model_asked")}
        found.judges[row["pk"]] = _key(target, "judges", "pk", identity, row)
        # Two names for one judge: which stands does not depend on who came first.
        target.execute(
            "UPDATE judges SET name = ?1 WHERE pk = ?2 AND name > ?1", (row["name"], found.judges[row["pk"]])
        )
    return found


def _changed(target: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> Iterator[str]:
    """The rubric or metric, where the other store knows its version with other contents only."""
    known = target.execute(
        f"SELECT sha256 FROM {table} WHERE id = ? AND version = ?",  # noqa: S608 - our own names
        (row["id"], row["version"]),
    ).fetchall()
    if known and (row["sha256"],) not in known:
        yield f"{table[:-1]} {row['id']} {row['version']}"


def _records(connection: sqlite3.Connection, table: str) -> Iterator[dict[str, Any]]:
    cursor = connection.execute(f"SELECT * FROM {table} ORDER BY pk")  # noqa: S608 - our own names
    names = [column[0] for column in cursor.description]
    return (dict(zip(names, row, strict=True)) for row in cursor)


def _find(target: sqlite3.Connection, table: str, key: str, identity: Mapping[str, Any]) -> int | None:
    where = " AND ".join(f"{name} = ?" for name in identity)
    row = target.execute(f"SELECT {key} FROM {table} WHERE {where}", tuple(identity.values())).fetchone()  # noqa: S608
    return None if row is None else int(row[0])


def _key(
    target: sqlite3.Connection,
    table: str,
    key: str,
    identity: Mapping[str, Any],
    row: Mapping[str, Any] | None = None,
) -> int:
    """The key of what has this identity; `row`, its own key left out, is written where there is none."""
    here = _find(target, table, key, identity)
    if here is None:
        values = {name: value for name, value in (row or identity).items() if name != key}
        here = _add(target, table, values)
    return here


def _add(target: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> int:
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    sql = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 - our own names
    return int(target.execute(sql, tuple(row.values())).lastrowid or 0)


def carry_shared(source: sqlite3.Connection, target: sqlite3.Connection, keys: Translation) -> None:
    """Write the rows that many checks share, where they are not there yet."""
    for table in _CONTENT_KEYED:
        _carry(target, table, *_rows(source, table), {}, "OR IGNORE")
    _carry(target, "findings", *_rows(source, "findings"), {"case_key": keys.cases}, "OR IGNORE")


def carry_run(source: sqlite3.Connection, target: sqlite3.Connection, run: int, keys: Translation) -> None:
    """Write a run with all its rows. Its key there is in `keys.runs`, and so are those of the runs it rests on."""
    names, rows = _rows(source, "runs", "pk = :run", run)
    _carry(target, "runs", names, rows, {"pk": keys.runs})
    for table, condition, columns in _RUN_TABLES:
        maps = {name: getattr(keys, terms) for name, terms in columns.items()}
        _carry(target, table, *_rows(source, table, condition, run), maps)


def count_judgments(source: sqlite3.Connection, run: int) -> int:
    """How many judgments a run asked for."""
    sql = f"SELECT count(*) FROM judgment_rows WHERE {_OF_REQUESTS}"  # noqa: S608 - our own fragment
    return int(source.execute(sql, {"run": run}).fetchone()[0])


def drop_run(target: sqlite3.Connection, run: int) -> None:
    """Take a run and all its rows away, so that a fuller copy can take its place and its key."""
    for table, condition, _ in _RUN_TABLES:
        target.execute(f"DELETE FROM {table} WHERE {condition}", {"run": run})  # noqa: S608 - our own names
    target.execute("DELETE FROM runs WHERE pk = ?", (run,))


def _rows(
    source: sqlite3.Connection, table: str, condition: str = "true", run: int | None = None
) -> tuple[list[str], sqlite3.Cursor]:
    cursor = source.execute(f"SELECT * FROM {table} WHERE {condition}", {"run": run})  # noqa: S608
    return [column[0] for column in cursor.description], cursor


def _carry(
    target: sqlite3.Connection,
    table: str,
    names: Sequence[str],
    rows: sqlite3.Cursor,
    maps: Mapping[str, _Keys],
    conflict: str = "",
) -> None:
    marks = ", ".join("?" * len(names))
    sql = f"INSERT {conflict} INTO {table} ({', '.join(names)}) VALUES ({marks})"  # noqa: S608 - our own names
    try:
        target.executemany(sql, _translated(rows, [(names.index(name), keys) for name, keys in maps.items()]))
    finally:
        rows.close()  # a statement under way would keep the source open, and its log beside it


def _translated(rows: Iterable[Sequence[Any]], maps: Sequence[tuple[int, _Keys]]) -> Iterator[Sequence[Any]]:
    if not maps:
        yield from rows
        return
    for row in rows:
        values = list(row)
        for column, keys in maps:
            values[column] = keys[values[column]]
        yield values
