"""A run by its name. Imports nothing heavy, for every command that reads the store begins here."""

import sqlite3

from jeval.errors import NotFound

__all__ = ["find_run"]


_LATEST = "SELECT * FROM runs ORDER BY started_at DESC, pk DESC LIMIT 2"
_NAMED = "SELECT * FROM runs WHERE name = ? ORDER BY started_at DESC, pk DESC LIMIT 1"
# Of so many runs, the latest, the names are compared with one that is none of them.
_WRITTEN = "SELECT name, id FROM runs ORDER BY started_at DESC, pk DESC LIMIT 5000"
_SUGGESTED = 3
# Characters from which a part of a name tells which is meant.
_TELLING = 3


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
    remedy = f"{_meant(connection, name)}see `jeval runs`, or use @last or @prev"
    raise NotFound(f"run {name}: no run of that id, beginning or name; {remedy}")


def _meant(connection: sqlite3.Connection, name: str) -> str:
    """The names and ids most like a mistyped one, as a question; empty where none is like it."""
    from difflib import get_close_matches

    written = (text for row in connection.execute(_WRITTEN) for text in row if text)
    known: dict[str, str] = {text.lower(): text for text in dict.fromkeys(written)}
    typed = name.strip().lower()
    if not typed:
        return ""
    close = get_close_matches(typed, known, n=_SUGGESTED)
    if len(typed) >= _TELLING:  # a part of a name is no misspelling by its letters, and is what people remember
        close += [text for text in known if typed in text and text not in close]
    # An @ before a name is a slip, not a name.
    if name.startswith("@"):
        close = [text for text in ("@last", "@prev") if get_close_matches(typed, [text])] or close
    shown = [known.get(text, text) for text in close[:_SUGGESTED]]
    return f"did you mean {' or '.join(shown)}? " if shown else ""
