"""Another store opened to be read and nothing else: its file is the same afterwards, byte for byte."""

import secrets
import sqlite3
from contextlib import closing
from pathlib import Path

from jeval.errors import StoreError
from jeval.store.connect import connection_to, open_store, schema_version
from jeval.store.schema import VERSION

__all__ = ["open_reader", "open_snapshot"]


def open_reader(path: Path) -> sqlite3.Connection:
    """A connection that cannot write, to a file that is a SQLite file. It is not migrated.

    Raises StoreError where there is none, or it cannot be read.
    """
    if path.is_dir():
        raise StoreError(f"store {path} is a directory; name a file in it")
    if not path.exists():
        raise StoreError(f"store {path} does not exist; check the path")
    failed: Exception | None = None
    for mode in _modes(path):
        connection = None
        try:
            connection = connection_to(path, mode)
            connection.execute("PRAGMA query_only = ON")
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except (sqlite3.Error, OSError, ValueError) as error:
            failed = failed or error
            if connection is not None:
                connection.close()
        else:
            return connection
    raise StoreError(f"store {path} cannot be read: {failed}; check the file, or name another") from failed


def _modes(path: Path) -> tuple[str, ...]:
    """How to open it, the best way first.

    Who opens a store with `ro` leaves two empty files beside it, for only a writer may take them away. Where there
    is no log of writes that a writer's end would carry into the file, `rw` changes nothing and leaves nothing.
    Where the folder may not be written either, nobody writes the store, so it may be read as it lies there.
    """
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        return ("ro",)
    return ("rw", "ro&immutable=1")


def open_snapshot(path: Path, scratch: Path) -> sqlite3.Connection:
    """The store at `path` as it stands at this moment, in this version's schema, to be read.

    One of an older jeval is migrated as a copy, in the folder `scratch`. Raises StoreError, StoreTooNew.
    """
    connection = open_reader(path)
    try:
        version = schema_version(connection, path)
        if version < VERSION:
            return _migrated(connection, scratch)
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM runs").fetchone()  # only now it stands still
    except sqlite3.Error as error:
        connection.close()
        raise StoreError(f"store {path} cannot be read: {error}; see `jeval doctor --store {path}`") from error
    except BaseException:
        connection.close()
        raise
    return connection


def _migrated(connection: sqlite3.Connection, scratch: Path) -> sqlite3.Connection:
    copy = scratch / f"{secrets.token_hex(8)}.db"
    with closing(connection), closing(sqlite3.connect(copy)) as blank:
        connection.backup(blank)
    return open_store(copy, create=False)
