"""How the checks of a run were decided, in kinds: one status, rubric, rule and outcome each.

A run has few kinds however many checks it has, so that what a list counts, groups and offers to choose from
costs one pass over a run, and nothing more once it has finished.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from jeval.browse.filters import Filters, Where, where
from jeval.ruling import STATUSES, Verdict

__all__ = ["NEED_EYES", "Kind", "by_status", "groups", "kinds_left", "kinds_of", "kinds_where", "takes"]

NEED_EYES = ("fail", "error", "review")

# How many runs' kinds are kept; a run has some dozens.
_KEPT_RUNS = 500


class Kind(NamedTuple):
    """`n` checks of one rubric that were decided alike; the verdict's reason is an example.

    Within one run a rubric is its key, where several runs are looked at its id.
    """

    rubric: Any
    verdict: Verdict
    n: int


def takes(filters: Filters, rubric: Mapping[str, Any], verdict: Verdict) -> bool:
    """Whether the filters on checks leave a check of this rubric that was decided so: what `where` says in SQL."""
    return (
        (not filters.status or verdict.status in filters.status)
        and (not filters.rule or verdict.rule in filters.rule)
        and (not filters.outcome or verdict.outcome in filters.outcome)
        and filters.takes_rubric(rubric)
    )


_KINDS = """
SELECT g.rubric, g.status, v.outcome, v.rule, max(v.reason), sum(g.n) FROM (
  SELECT c.rubric, c.status, c.verdict, count(*) AS n FROM check_rows c WHERE {}
  GROUP BY c.rubric, c.status, c.verdict) g
JOIN verdicts v ON v.id = g.verdict GROUP BY g.rubric, g.status, v.outcome, v.rule ORDER BY 6 DESC"""


def kinds_where(conn: sqlite3.Connection, these: Where) -> tuple[Kind, ...]:
    """The kinds of the checks that conditions leave, the largest first."""
    rows = conn.execute(_KINDS.format(these.sql), these.params)
    return tuple(Kind(rubric, Verdict(STATUSES[code], *texts), n) for rubric, code, *texts, n in rows)


_kept: dict[tuple[str, str, str], tuple[Kind, ...]] = {}


def kinds_of(conn: sqlite3.Connection, run: Mapping[str, Any]) -> tuple[Kind, ...]:
    """The kinds of a whole run. Those of a finished one never change, so they are kept."""
    file = conn.execute("PRAGMA database_list").fetchone()[2]
    key = (file, run["id"], run["finished_at"] or "")
    if key in _kept:
        return _kept[key]
    found = kinds_where(conn, where(Filters(), run["pk"], []))
    if file and run["finished_at"]:
        if len(_kept) >= _KEPT_RUNS:
            _kept.clear()
        _kept[key] = found
    return found


def kinds_left(
    conn: sqlite3.Connection,
    run: Mapping[str, Any],
    rubrics: Sequence[Mapping[str, Any]],
    filters: Filters,
    cases: Sequence[int] | None = None,
) -> list[Kind]:
    """The kinds of the checks of a run that filters leave; `cases` are what `chosen_cases` found."""
    if cases is not None:
        return list(kinds_where(conn, where(filters, run["pk"], rubrics, cases)))
    by_key = {rubric["pk"]: rubric for rubric in rubrics}
    return [kind for kind in kinds_of(conn, run) if takes(filters, by_key[kind.rubric], kind.verdict)]


def by_status(kinds: Iterable[Kind]) -> dict[str, int]:
    """How many checks there are of each status that occurs."""
    counts: dict[str, int] = {}
    for kind in kinds:
        counts[kind.verdict.status] = counts.get(kind.verdict.status, 0) + kind.n
    return counts


def groups(kinds: Iterable[Kind], rubrics: Mapping[Any, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The checks that need eyes in groups of one kind: one status, rubric and rule, errors by their kind.

    What fails stands first, critical rubrics before others, then the largest. `outcomes` are those that occur
    in the group; `reason` is one of its reasons, as an example. `rubrics` are rows by what kinds call them.
    """
    found: dict[tuple[str, Any, str], dict[str, Any]] = {}
    for rubric, verdict, n in kinds:
        if verdict.status not in NEED_EYES:
            continue
        group = found.setdefault(
            (verdict.status, rubric, verdict.rule),
            {"status": verdict.status, "rubric": rubrics[rubric], "rule": verdict.rule, "n": 0, "outcomes": []}
            | {"reason": verdict.reason},
        )
        group["n"] += n
        if verdict.outcome and verdict.outcome not in group["outcomes"]:
            group["outcomes"].append(verdict.outcome)
    order = lambda g: (NEED_EYES.index(g["status"]), g["rubric"]["severity"] != "critical", -g["n"])  # noqa: E731
    return sorted(found.values(), key=order)
