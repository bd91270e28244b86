"""Search on cases: indexes of their words and metadata beside the store's tables, filled while browsing.

Runs do not pay for it: a case's text is indexed once, however many runs judge it, and only where the store is
looked at. What is not indexed yet is found by comparing text, so no search misses the newest cases.
"""

import json
import re
import sqlite3
from collections.abc import Iterator
from typing import Any

__all__ = ["COLUMNS", "behind", "fill", "indexed", "match_text", "terms"]

COLUMNS = ("input", "output", "messages", "context", "tool_events", "policy")

_CREATE = f"""CREATE VIRTUAL TABLE IF NOT EXISTS case_search USING fts5(
  {", ".join(COLUMNS)}, content='', tokenize='unicode61 remove_diacritics 2')"""
_METADATA = """CREATE TABLE IF NOT EXISTS case_metadata (
  key TEXT NOT NULL, value TEXT NOT NULL, content INTEGER NOT NULL REFERENCES case_rows (pk), PRIMARY KEY
  (key, value, content)
) WITHOUT ROWID"""
_LAST = "SELECT rowid FROM case_search ORDER BY rowid DESC LIMIT 1"


def indexed(conn: sqlite3.Connection) -> int | None:
    """The key of the last case content in the index, 0 for an empty one; None where there is no index."""
    try:
        row = conn.execute(_LAST).fetchone()
    except sqlite3.OperationalError as error:
        if "no such" in str(error):  # no such table, or a SQLite without FTS5
            return None
        raise
    return int(row[0]) if row else 0


def behind(conn: sqlite3.Connection) -> bool:
    """Whether there are cases the index does not hold."""
    newest = conn.execute("SELECT max(pk) FROM case_rows").fetchone()[0]
    return newest is not None and newest > (indexed(conn) or 0)


def fill(conn: sqlite3.Connection, limit: int = 500) -> int:
    """Index up to `limit` cases that are not yet; how many were. Needs a connection that may write.

    Raises sqlite3.Error where it may not, or where SQLite has no FTS5.
    """
    conn.execute("BEGIN IMMEDIATE")
    try:
        conn.execute(_CREATE)
        conn.execute(_METADATA)
        last = conn.execute(_LAST).fetchone()
        rows = conn.execute(
            "SELECT pk, body FROM case_rows WHERE pk > ? ORDER BY pk LIMIT ?", (last[0] if last else 0, limit)
        ).fetchall()
        marks = ", ".join("?" * (len(COLUMNS) + 1))
        bodies = [(row[0], json.loads(row[1])) for row in rows]
        conn.executemany(
            f"INSERT INTO case_search (rowid, {', '.join(COLUMNS)}) VALUES ({marks})",  # noqa: S608 - our own names
            [(pk, *_texts(body)) for pk, body in bodies],
        )
        conn.executemany(
            "INSERT OR IGNORE INTO case_metadata VALUES (?, ?, ?)",
            [(key, value, pk) for pk, body in bodies for key, value in _metadata(body.get("metadata"))],
        )
        conn.execute("COMMIT")
    except BaseException:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        raise
    return len(rows)


def _texts(body: dict[str, Any]) -> tuple[str, ...]:
    return tuple(
        " ".join(_strings(body.get(name)))
        for name in ("input", "output", "messages", "context", "toolEvents", "policy")
    )


def _metadata(metadata: Any) -> Iterator[tuple[str, str]]:
    """Plain values by key, as people write them: true and false in words."""
    for key, value in (metadata or {}).items():
        if isinstance(value, bool):
            yield key, "true" if value else "false"
        elif isinstance(value, str | int | float):
            yield key, str(value)


def _strings(value: Any) -> Iterator[str]:
    """Every text and number in a JSON value, keys left out."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting.extend(reversed(list(one.values())))
        elif isinstance(one, list):
            waiting.extend(reversed(one))
        elif isinstance(one, str):
            yield one
        elif isinstance(one, int | float) and not isinstance(one, bool):
            yield str(one)


def terms(text: str) -> list[tuple[str, bool]]:
    """What people type as terms that must all occur, each with whether it is only a beginning: words, "quoted"
    words together, begin*."""
    parts = []
    for quoted, word in re.findall(r'"([^"]*)"|(\S+)', text.replace("\0", " ")):
        body = (quoted or word).replace('"', "")
        begins = word.endswith("*")
        body = body.rstrip("*") if begins else body
        if any(c.isalnum() for c in body):
            parts.append((body, begins))
    return parts


def match_text(text: str) -> str:
    """What people type as an FTS5 query."""
    return " ".join(f'"{term}"{"*" if begins else ""}' for term, begins in terms(text))
