"""Keeping the search index up with the store, in the background of whoever browses."""

import asyncio
import sqlite3
from typing import Any

from jeval.browse.search import behind, fill

__all__ = ["keep_tended", "tend"]

# Each step holds the store's write lock for a few milliseconds; a run that writes hardly waits.
_STEP = 200
_STEPS = 5_000


_busy: dict[int, "asyncio.Task[int]"] = {}


def keep_tended(database: Any) -> None:
    """Index what is new in the background, unless that is going on already."""
    key = id(database)
    if key not in _busy:
        _busy[key] = asyncio.ensure_future(tend(database))
        _busy[key].add_done_callback(lambda _: _busy.pop(key, None))


async def tend(database: Any, steps: int = _STEPS) -> int:
    """Index what is new, step by step; how many cases were. A store that cannot be written stays as it is."""
    total = 0
    if not database.is_mutable:
        return total
    for _ in range(steps):
        if not await database.execute_fn(behind):
            break
        done = await database.execute_write_fn(_fill)
        if not done:
            break
        total += done
        await asyncio.sleep(0)
    return total


def _fill(conn: sqlite3.Connection) -> int:
    level, conn.isolation_level = conn.isolation_level, None
    try:
        conn.execute("PRAGMA busy_timeout = 2000")
        return fill(conn, _STEP)
    except sqlite3.Error:  # read-only, busy for long, or without FTS5: text is compared instead
        return 0
    finally:
        conn.isolation_level = level
