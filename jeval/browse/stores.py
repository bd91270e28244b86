"""Which of Datasette's databases are stores of jeval."""

import sqlite3
from typing import Any
from weakref import WeakKeyDictionary

__all__ = ["find_stores", "is_store", "known_stores"]

# "jevl" in ASCII, written into every store by jeval.store.
_APPLICATION_ID = 0x6A65766C

_known: "WeakKeyDictionary[Any, dict[str, bool]]" = WeakKeyDictionary()


def _looks_like_one(conn: sqlite3.Connection) -> bool:
    if conn.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION_ID:
        return False
    return bool(conn.execute("SELECT count(*) FROM sqlite_master WHERE name = 'check_rows'").fetchone()[0])


async def find_stores(datasette: Any) -> list[str]:
    """The names of the databases that are stores; each is looked at once."""
    known = _known.setdefault(datasette, {})
    for name, database in list(datasette.databases.items()):
        if not known.get(name) and name not in ("_internal", "_memory"):
            known[name] = await database.execute_fn(_looks_like_one)
    return known_stores(datasette)


def known_stores(datasette: Any) -> list[str]:
    """The names of those that were found to be stores, for what cannot wait."""
    known = _known.get(datasette, {})
    return [name for name in datasette.databases if known.get(name)]


def is_store(datasette: Any, name: str | None) -> bool:
    """Whether a database was found to be a store."""
    return bool(name and _known.get(datasette, {}).get(name))
