"""How a store is: looked at without changing it, and without bringing it to this version's schema."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from jeval.store.connect import schema_version
from jeval.store.reader import open_reader
from jeval.store.schema import MIGRATIONS, VERSION

__all__ = ["LEAST_SQLITE", "VERSION", "StoreHealth", "has_full_text", "store_health"]

# Strict tables, which the schema is made of.
LEAST_SQLITE = (3, 37, 0)


class StoreHealth(NamedTuple):
    """What a look at a store finds.

    `version` is its schema's, 0 for an empty file; `faults` is what is damaged, at most a few lines of SQLite's
    own words, empty where nothing is. `log_bytes` is the size of the log that a writer leaves beside the store.
    `missing` names the tables and views of its schema that it lacks.
    """

    version: int
    runs: int
    judgments: int
    labels: int
    file_bytes: int
    log_bytes: int
    faults: tuple[str, ...]
    missing: tuple[str, ...] = ()


def has_full_text() -> bool:
    """Whether this Python's SQLite can index words (FTS5)."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
        except sqlite3.OperationalError:
            return False
    return True


def store_health(path: Path) -> StoreHealth:
    """Look at the store at `path`, every page of it.

    Raises StoreError where it is no store or cannot be read, StoreTooNew where a newer jeval wrote it.
    """
    with closing(open_reader(path)) as connection:
        version = schema_version(connection, path)
        faults = _faults(connection)
        missing = () if faults else _missing(connection, version)
        runs = judgments = labels = 0
        if version and not faults:
            counted = ("runs", "judgment_rows", "labels")
            runs, judgments, labels = (0 if table in missing else _count(connection, table) for table in counted)
    log = path.with_name(path.name + "-wal")
    log_bytes = log.stat().st_size if log.exists() else 0
    return StoreHealth(version, runs, judgments, labels, path.stat().st_size, log_bytes, faults, missing)


def _count(connection: sqlite3.Connection, table: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608 - our own names


def _missing(connection: sqlite3.Connection, version: int) -> tuple[str, ...]:
    """The tables and views that a new store of this version has and this one lacks."""
    with closing(sqlite3.connect(":memory:")) as new:
        for _, sql in MIGRATIONS[:version]:
            new.executescript(sql)
        return tuple(sorted(_names(new) - _names(connection)))


def _names(connection: sqlite3.Connection) -> set[str]:
    return {str(row[0]) for row in connection.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")}


def _faults(connection: sqlite3.Connection) -> tuple[str, ...]:
    try:
        found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(3)")]
        if found != ["ok"]:
            return tuple(found)
        there = _names(connection)
        strays = connection.execute("PRAGMA foreign_key_check")
        # Where a table is missing, all that refers to it is astray: `missing` tells that better.
        stray = next((stray for stray in strays if stray[2] in there), None)
        if stray is not None:
            return (f"a row of {stray[0]} refers to one of {stray[2]} that is not there",)
    except sqlite3.DatabaseError as error:
        return (str(error),)
    return ()
