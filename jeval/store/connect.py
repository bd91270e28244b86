"""Opening a store: created, migrated or refused."""

import sqlite3
import time
from pathlib import Path

from jeval.errors import StoreError, StoreTooNew
from jeval.store.schema import APPLICATION_ID, MIGRATIONS, VERSION

__all__ = ["TIMEOUT_S", "connect", "connection_to", "open_store", "schema_version"]

# How long a writer waits for another before it gives up.
TIMEOUT_S = 30.0


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """A connection that begins no transaction of its own, in WAL mode, with foreign keys on."""
    connection = connection_to(path, "ro" if read_only else "rwc")
    if not read_only:
        _prepare(connection)
    return connection


def connection_to(path: Path, mode: str) -> sqlite3.Connection:
    """A connection in a mode of SQLite's addresses (ro, rw, rwc), with foreign keys on; nothing else is set."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    # Going over to WAL does not wait for others as a transaction does, so several who make a store at once try again.
    for tries_left in range(200, -1, -1):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or not tries_left:
                raise
            time.sleep(0.02)
    connection.execute("PRAGMA synchronous = NORMAL")
    # Pages written again and again are copied to the file once in 16 MB of log instead of once in 4.
    connection.execute("PRAGMA wal_autocheckpoint = 4000")


def open_store(path: Path, *, create: bool = True) -> sqlite3.Connection:
    """The store at `path`, brought to this version's schema; created where it is absent and `create` is set.

    Raises StoreError where the file is no store or cannot be used, StoreTooNew where a newer jeval wrote it;
    such a file is left as it is.
    """
    try:
        _refuse_no_place(path, create)
        connection = connection_to(path, "rwc")
    except (sqlite3.Error, OSError, ValueError) as error:  # ValueError: a name with NUL in it
        raise _unusable(path, error) from error
    try:
        schema_version(connection, path)
        _prepare(connection)
        _migrate(connection, path)
    except sqlite3.Error as error:
        connection.close()
        raise _unusable(path, error) from error
    except StoreError:
        connection.close()
        raise
    return connection


def _refuse_no_place(path: Path, create: bool) -> None:
    if path.is_dir():
        raise StoreError(f"store {path} is a directory; name a file, e.g. store={path / 'jeval.db'}")
    if not create and not path.exists():
        raise StoreError(f"store {path} does not exist; run `jeval run` first, or name another with --store")
    if create and not path.parent.is_dir():
        remedy = "make it, or name another with store="
        raise StoreError(f"store {path}: its folder {path.parent} does not exist; {remedy}")


def _unusable(path: Path, error: Exception) -> StoreError:
    reason = getattr(error, "strerror", None) or str(error)
    return StoreError(f"store {path} cannot be used: {reason}; check the file and its folder, or name another")


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    if schema_version(connection, path) == VERSION:
        return
    # Several processes may find an old store at once: the lock lets one migrate, the others look again.
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = schema_version(connection, path)
        for _, sql in MIGRATIONS[version:]:
            for statement in _statements(sql):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk ends it on its own
            connection.execute("ROLLBACK")
        raise


def schema_version(connection: sqlite3.Connection, path: Path) -> int:
    """The schema version of the file at `path`, 0 for an empty one.

    Raises StoreTooNew where a newer jeval wrote it, StoreError where it is a SQLite file of something else.
    """
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    owner = int(connection.execute("PRAGMA application_id").fetchone()[0])
    if version > VERSION and owner == APPLICATION_ID:
        remedy = "upgrade jeval, or name another store"
        raise StoreTooNew(f"store {path} has schema {version}, this jeval knows {VERSION}; {remedy}")
    if owner == APPLICATION_ID:
        return version
    if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        raise StoreError(f"store {path} is a SQLite file of something else; name another with store= or --store")
    return 0


def _statements(sql: str) -> list[str]:
    """The statements of a script one by one, for executescript would commit the transaction around them."""
    statements, pending = [], ""
    for piece in sql.split(";"):
        pending += piece + ";"
        if sqlite3.complete_statement(pending):
            if pending.strip(" \n;"):
                statements.append(pending)
            pending = ""
    return statements
