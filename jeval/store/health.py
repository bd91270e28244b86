"""How a store is: looked at without changing it, and without bringing it to this version's schema."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from jeval.store.connect import schema_version
from jeval.store.reader import open_reader
from jeval.store.schema import VERSION

__all__ = ["LEAST_SQLITE", "VERSION", "StoreHealth", "has_full_text", "store_health"]

# Strict tables, which the schema is made of.
LEAST_SQLITE = (3, 37, 0)


class StoreHealth(NamedTuple):
    """What a look at a store finds.

    `version` is its schema's, 0 for an empty file; `faults` is what is damaged, at most a few lines of SQLite's
    own words, empty where nothing is. `log_bytes` is the size of the log that a writer leaves beside the store.
    """

    version: int
    runs: int
    judgments: int
    labels: int
    file_bytes: int
    log_bytes: int
    faults: tuple[str, ...]


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
        runs = judgments = labels = 0
        if version and not faults:
            runs, judgments, labels = (_count(connection, table) for table in ("runs", "judgment_rows", "labels"))
    log = path.with_name(path.name + "-wal")
    log_bytes = log.stat().st_size if log.exists() else 0
    return StoreHealth(version, runs, judgments, labels, path.stat().st_size, log_bytes, faults)


def _count(connection: sqlite3.Connection, table: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608 - our own names


def _faults(connection: sqlite3.Connection) -> tuple[str, ...]:
    try:
        found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(3)")]
        if found != ["ok"]:
            return tuple(found)
        stray = connection.execute("PRAGMA foreign_key_check").fetchone()
        if stray is not None:
            return (f"a row of {stray[0]} refers to one of {stray[2]} that is not there",)
    except sqlite3.DatabaseError as error:
        return (str(error),)
    return ()
