"""What somebody looks at while Datasette makes the cells of a table, for it does not tell the hook that makes them."""

from contextvars import ContextVar
from typing import NamedTuple

__all__ = ["LOOK", "Look"]


class Look(NamedTuple):
    """One row by itself, or not; and the run that a query was asked about."""

    row: bool = False
    run: str | None = None


_NOTHING_SPECIAL = Look()
LOOK: ContextVar[Look] = ContextVar("LOOK", default=_NOTHING_SPECIAL)
