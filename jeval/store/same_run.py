"""Two copies of one run, in two stores: the same, one the beginning of the other, or not the same run at all.

What is compared is content under its own names, never keys, for those differ between stores.
"""

import sqlite3
from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple

__all__ = ["Kinship", "Relation", "kinship"]

# The lower half of a request's id counts within its run; see `rows.first_request_id`.
_COUNT = 0xFFFF_FFFF

# What is written at the end of a run; the rest of its row is there from the beginning.
_ENDING = frozenset(
    "finished_at status exit_code model_served requests judgments_asked judgments_reused oldest_reused_at"
    " input_tokens output_tokens cost_usd wall_s left_unasked stopped_because gate".split()
)


class _Part(NamedTuple):
    """Rows of a run: what they are called, how many of their first columns tell them apart, and the SQL."""

    name: str
    key: int
    sql: str


_SOURCES = (
    f"(SELECT group_concat(o.id || ':' || (s.value & {_COUNT}), ' ') FROM json_each(x.sources) s"  # noqa: S608
    " JOIN runs o ON o.pk = s.value >> 32)"
)
_CASE = "JOIN case_ids i ON i.key = x.case_key"
_RUBRIC = "JOIN rubrics r ON r.pk = x.rubric"

# Each in the order of its key.
_PARTS = (
    _Part(
        "rubrics",
        1,
        f"SELECT x.position, r.id, r.version, r.sha256 FROM run_rubrics x {_RUBRIC} WHERE x.run = :run ORDER BY 1",  # noqa: S608
    ),
    _Part(
        "cases",
        1,
        f"SELECT i.id, x.position, b.sha256, {_SOURCES} FROM run_cases x {_CASE}"  # noqa: S608 - our own fragments
        " JOIN case_rows b ON b.pk = x.content WHERE x.run = :run ORDER BY 1",
    ),
    _Part(
        "checks",
        4,
        f"SELECT i.id, r.id, r.version, r.sha256, x.status, x.critical, x.finding, x.verdict"  # noqa: S608
        f" FROM check_rows x {_CASE} {_RUBRIC} WHERE x.run = :run ORDER BY 1, 2, 3, 4",
    ),
    _Part(
        "scores",
        4,
        f"SELECT i.id, m.id, m.version, m.sha256, x.result FROM score_rows x {_CASE}"  # noqa: S608
        " JOIN metrics m ON m.pk = x.metric WHERE x.run = :run ORDER BY 1, 2, 3, 4",
    ),
    _Part(
        "repeats",
        4,
        f"SELECT i.id, r.id, r.version, r.sha256, x.statuses FROM repeat_flips x {_CASE} {_RUBRIC}"  # noqa: S608
        " WHERE x.run = :run ORDER BY 1, 2, 3, 4",
    ),
    _Part(
        "requests",
        1,
        f"SELECT x.id & {_COUNT}, i.id, j.gateway, j.model_asked, x.state, x.repeat, x.model_served, x.asked_at,"  # noqa: S608
        " x.latency_ms, x.attempts, x.input_tokens, x.output_tokens, x.cost_usd, x.request_id, x.error_kind,"
        f" x.error_message FROM request_rows x {_CASE} JOIN judges j ON j.pk = x.judge WHERE x.run = :run ORDER BY 1",
    ),
    _Part(
        "judgments",
        2,
        f"SELECT x.request & {_COUNT}, x.question, x.answer FROM judgment_rows x"  # noqa: S608
        f" WHERE x.request BETWEEN :run << 32 AND (:run << 32) + {_COUNT} ORDER BY x.request, x.question",
    ),
)


class Relation(Enum):
    """How a copy here relates to one there."""

    SAME = "same"
    EARLIER = "earlier"
    """The one here is what the one there began with."""
    LATER = "later"
    """The one here holds all of the one there, and more."""
    OTHER = "other"
    """They are not the same run."""


class Kinship(NamedTuple):
    """A relation; `differs` says in what, where they are not the same run."""

    relation: Relation
    differs: str = ""


def kinship(here: sqlite3.Connection, here_run: int, there: sqlite3.Connection, there_run: int) -> Kinship:
    """How the run with key `here_run` of one store relates to that with key `there_run` of another.

    A run that has not ended may have gone on in the other store; one that has ended is what it is. What was
    written about its scores afterwards is no part of it.
    """
    first, second = _row(here, here_run), _row(there, there_run)
    columns = [name for name in first.keys() | second.keys() if first.get(name) != second.get(name)]
    set_before = sorted(set(columns) - _ENDING - {"pk"})
    if set_before:
        return Kinship(Relation.OTHER, f"its {' and '.join(set_before[:3])}")
    more_here = more_there = ""
    for part in _PARTS:
        only_here, only_there, differ = _difference(
            here.execute(part.sql, {"run": here_run}), there.execute(part.sql, {"run": there_run}), part.key
        )
        if differ:
            return Kinship(Relation.OTHER, f"its {part.name}")
        more_here = more_here or (part.name if only_here else "")
        more_there = more_there or (part.name if only_there else "")
    ends = set(columns) & _ENDING
    if not more_here and not more_there and not ends:
        return Kinship(Relation.SAME)
    if not more_here and first["status"] == "running":
        return Kinship(Relation.EARLIER)
    if not more_there and second["status"] == "running":
        return Kinship(Relation.LATER)
    return Kinship(Relation.OTHER, f"its {more_here or more_there or 'end'}")


def _row(connection: sqlite3.Connection, run: int) -> dict[str, Any]:
    cursor = connection.execute("SELECT * FROM runs WHERE pk = ?", (run,))
    return dict(zip((column[0] for column in cursor.description), cursor.fetchone(), strict=True))


def _difference(here: Iterator[tuple[Any, ...]], there: Iterator[tuple[Any, ...]], key: int) -> tuple[bool, bool, bool]:
    """Of rows in the order of their first `key` columns: whether there are some only here, some only there, and
    some of one key that are not alike."""
    only_here = only_there = False
    first, second = next(here, None), next(there, None)
    while first is not None or second is not None:
        if second is None or (first is not None and first[:key] < second[:key]):
            only_here, first = True, next(here, None)
        elif first is None or second[:key] < first[:key]:
            only_there, second = True, next(there, None)
        elif first != second:
            return only_here, only_there, True
        else:
            first, second = next(here, None), next(there, None)
        if only_here and only_there:
            return True, True, True
    return only_here, only_there, False
