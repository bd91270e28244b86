"""Keeping the search index up with the store, in the background of whoever browses."""

import asyncio
import sqlite3
from typing import Any

from jeval.browse.search import behind, fill

__all__ = ["tend"]

# Each step holds the store's write lock for a few milliseconds; a run that writes hardly waits.
_STEP = 200
_STEPS = 5_000


async def tend(database: Any) -> int:
    """Index what is new, step by step; how many cases were. A store that cannot be written stays as it is."""
    total = 0
    if not database.is_mutable:
        return total
    for _ in range(_STEPS):
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
