"""A run by its name. Imports nothing heavy, for every command that reads the store begins here."""

import sqlite3

from jeval.errors import NotFound

__all__ = ["find_run"]


_LATEST = "SELECT * FROM runs ORDER BY started_at DESC, pk DESC LIMIT 2"
_NAMED = "SELECT * FROM runs WHERE name = ? ORDER BY started_at DESC, pk DESC LIMIT 1"


def find_run(connection: sqlite3.Connection, name: str) -> sqlite3.Row:
    """The run of this id, unique prefix of an id, name, @last or @prev. Raises NotFound.

    Of several runs of one name the latest is meant.
    """
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    rows: list[sqlite3.Row]
    if name in ("@last", "@prev"):
        rows = cursor.execute(_LATEST).fetchall()
        wanted = 0 if name == "@last" else 1
        if len(rows) <= wanted:
            held = f"{len(rows)} run{'' if len(rows) == 1 else 's'}"
            raise NotFound(f"run {name}: the store holds {held}; see `jeval runs`")
        return rows[wanted]
    rows = cursor.execute("SELECT * FROM runs WHERE id = ?", (name,)).fetchall()
    rows = rows or cursor.execute(_NAMED, (name,)).fetchall()
    if rows:
        return rows[0]
    beginning = "SELECT * FROM runs WHERE ?1 <> '' AND substr(id, 1, length(?1)) = ?1 LIMIT 3"
    rows = cursor.execute(beginning, (name,)).fetchall()
    if len(rows) == 1:
        return rows[0]
    if rows:
        shown = ", ".join(row["id"] for row in rows) + (", …" if len(rows) > 2 else "")
        raise NotFound(f"run {name}: several runs begin so ({shown}); write more of the id")
    remedy = "see `jeval runs`, or use @last or @prev"
    raise NotFound(f"run {name}: no run of that id, beginning or name; {remedy}")
