"""The queue of what needs a person, and the labels they give."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from jeval.browse.case_page import anchors, body_of, case_checks, case_key, labels_of
from jeval.browse.choices import metadata_keys, of_checks, unknown, why_nothing
from jeval.browse.chosen import some_cases
from jeval.browse.filters import ALL, STATUSES, Filters, Where, where
from jeval.browse.kinds import Kind, groups, kinds_left, kinds_of, kinds_where
from jeval.browse.rows import NotHere, every, find_run, rubrics_of
from jeval.browse.run_list import run_names
from jeval.store.reviewing import StoredLabel, put_label

__all__ = ["ABOUT", "KNOWN", "LABELS", "label_problem", "queue_page", "write_label"]

# What the address says beside filters; and what it says of one page only, so that no link carries it on.
ABOUT = ("run", "queue")
KNOWN = ("skip", "check", "done", "as", "of")
SORTS = {"": "critical rubrics first", "case": "by case"}

# What a label may say, and the key that says it.
LABELS = (("pass", "p"), ("fail", "f"), ("review", "r"), ("skipped", "s"))
NOTE_CAP = 10_000

# Which statuses a queue holds, in this order, and whether of critical rubrics only.
_QUEUES: dict[str, tuple[tuple[str, bool], ...]] = {
    "": (("review", False), ("fail", True)),
    "review": (("review", False),),
    "critical": (("fail", True),),
    "fail": (("fail", False),),
    "error": (("error", False),),
    "pass": (("pass", False),),
}
_ORDER = ("review", "fail", "error", "pass", "skipped")

Place = tuple[str, int]  # a status and a rubric's key


def queue_page(conn: sqlite3.Connection, check: str, skip: int, filters: Filters = ALL) -> dict[str, Any]:
    """The next check of the queue, how many are left, and those in groups; `skip` passes over so many.

    A `check` (a rubric's id) and the filter `case` show that check, labelled or not. Raises NotHere.
    """
    case, filters = filters.case if check else "", replace(filters, case="") if check else filters
    shown: dict[str, Any] = {"names": run_names(conn), "run": None, "check": None, "alone": bool(check and case)}
    shown |= {"left": 0, "labelled": 0, "skip": skip, "filters": filters, "problems": [], "groups": []}
    if not shown["names"]:
        return shown
    run = find_run(conn, filters["run"] or shown["names"][0]["id"])
    rubrics = rubrics_of(conn, run["pk"])
    labelled = _labelled(conn, run["pk"])
    queue = _queue(conn, run, rubrics, filters, labelled)
    left = sum(n for _, n in queue.parts)
    choices = of_checks(rubrics, kinds_of(conn, run)) | {"metadata": metadata_keys(conn, run["pk"])}
    problems = unknown(filters, choices | {"queue": [*filter(None, _QUEUES)]}, SORTS)
    shown |= {
        "run": run,
        "choices": choices,
        "sorts": SORTS,
        "problems": problems or ([] if left else why_nothing(conn, [run["pk"]], filters)),
        "groups": groups(queue.kinds, {row["pk"]: row for row in rubrics}),
        "queue": filters["queue"],
        "left": left,
        "labelled": len(labelled),
    }
    if shown["alone"]:
        return shown | _one(conn, run, case, check)
    if not left:
        return shown
    shown["skip"] = skip % left
    return shown | _one(conn, run, *_at(conn, queue, shown["skip"]))


def _labelled(conn: sqlite3.Connection, run: int) -> list[tuple[int, int]]:
    """(case, rubric) of the run's checks that a person has labelled."""
    return conn.execute(
        # CROSS JOIN fixes the order: people's labels are few, whatever else the store holds.
        "SELECT DISTINCT c.case_key, c.rubric FROM labels l CROSS JOIN case_ids i ON i.id = l.case_id"
        " CROSS JOIN rubrics r ON r.id = l.rubric_id"
        " CROSS JOIN check_rows c ON c.run = ?1 AND c.case_key = i.key AND c.rubric = r.pk WHERE"
        " l.source = 'human'",
        (run,),
    ).fetchall()


class _Queue(NamedTuple):
    """What is left of a run: its kinds; its parts in order, each with the (status, rubric) of its checks and how
    many there are; and the conditions on all of it."""

    kinds: list[Kind]
    parts: list[tuple[list[Place], int]]
    left: Where


def _queue(
    conn: sqlite3.Connection,
    run: dict[str, Any],
    rubrics: list[dict[str, Any]],
    filters: Filters,
    labelled: Sequence[tuple[int, int]],
) -> _Queue:
    cases = some_cases(conn, run["pk"], filters)
    these = where(filters, run["pk"], rubrics, cases)
    done = "(SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:done))"
    params = these.params | {"done": json.dumps(labelled)}
    places = _places(rubrics, filters)
    kinds = [k for k in kinds_left(conn, run, rubrics, filters, cases) if (k.verdict.status, k.rubric) in places]
    if labelled:
        gone = kinds_where(conn, Where(f"{these.sql} AND (c.case_key, c.rubric) IN {done}", params))
        less = {(kind.rubric, kind.verdict[:3]): kind.n for kind in gone}
        kinds = [kind._replace(n=kind.n - less.get((kind.rubric, kind.verdict[:3]), 0)) for kind in kinds]
    counts = dict.fromkeys(places, 0)
    for kind in kinds:
        counts[kind.verdict.status, kind.rubric] += kind.n
    parts = [([place], n) for place, n in counts.items() if n]
    if filters.sort == "case" and parts:
        parts = [([place for (place,), _ in parts], sum(n for _, n in parts))]
    left = Where(f"{these.sql} AND (c.case_key, c.rubric) NOT IN {done}", params)
    return _Queue([kind for kind in kinds if kind.n], parts, left)


def _places(rubrics: Sequence[dict[str, Any]], filters: Filters) -> list[Place]:
    """The (status, rubric) pairs of the queue, in its order: critical and then required rubrics first."""
    queue = _QUEUES.get(filters["queue"], _QUEUES[""])
    if filters.status and not filters["queue"]:
        queue = tuple((status, False) for status in _ORDER if status in filters.status)
    ordered = sorted(rubrics, key=lambda row: (row["severity"] != "critical", not row["required"]))
    return [
        (status, row["pk"])
        for status, only_critical in queue
        for row in ordered
        if not only_critical or row["severity"] == "critical"
    ]


def _at(conn: sqlite3.Connection, queue: _Queue, skip: int) -> tuple[str, str]:
    """The case and rubric ids of the check at this place of the queue."""
    for places, n in queue.parts:
        if skip >= n:
            skip -= n
            continue
        of = ", ".join(f"({STATUSES.index(status)}, {int(rubric)})" for status, rubric in places)
        row = conn.execute(
            "SELECT (SELECT id FROM case_ids WHERE key = c.case_key),"  # noqa: S608 - our own fragments
            " (SELECT id FROM rubrics WHERE pk = c.rubric)"
            " FROM check_rows c CROSS JOIN run_cases rc ON rc.run = c.run AND rc.case_key = c.case_key"
            f" WHERE {queue.left.sql} AND (c.status, c.rubric) IN (VALUES {of})"
            " ORDER BY rc.position, c.rubric LIMIT 1 OFFSET :skip",
            queue.left.params | {"skip": skip},
        ).fetchone()
        if row is not None:
            return row[0], row[1]
    raise NotHere("The queue changed while this page was made. Reload it.")


def _one(conn: sqlite3.Connection, run: dict[str, Any], case_id: str, rubric_id: str) -> dict[str, Any]:
    key = case_key(conn, case_id)
    body = body_of(conn, run["pk"], key) or {}
    check = next((c for c in case_checks(conn, run, key) if c["rubric"]["id"] == rubric_id), None)
    if check is None:
        raise NotHere(f"Run {run['id']} has no check {rubric_id} of case {case_id}.")
    given = labels_of(conn, case_id).get(rubric_id, [])
    return {"check": check, "case": body, "anchors": anchors(body), "given": given}


def label_problem(conn: sqlite3.Connection, case_id: str, rubric_id: str, expected: str, note: str) -> str | None:
    """Why this cannot be a label, or None."""
    if expected not in [name for name, _ in LABELS]:
        return f"A label is one of {', '.join(name for name, _ in LABELS)}, not {expected!r:.60}."
    if len(note) > NOTE_CAP:
        return f"The note has {len(note):,} characters; at most {NOTE_CAP:,} are kept."
    if not every(conn, "SELECT 1 FROM case_ids WHERE id = ?", (case_id,)):
        return f"The store holds no case {case_id!r:.200}."
    if not every(conn, "SELECT 1 FROM rubrics WHERE id = ? LIMIT 1", (rubric_id,)):
        return f"The store holds no rubric {rubric_id!r:.200}."
    return None


def write_label(
    conn: sqlite3.Connection,
    *,
    case_id: str,
    rubric_id: str,
    expected: str,
    reviewer: str | None,
    note: str | None,
    now: str,
) -> None:
    """Write a person's label, in place of the one the same person gave before."""
    conn.execute("PRAGMA busy_timeout = 10000")
    with conn:
        put_label(conn, case_id, rubric_id, reviewer, StoredLabel(expected, note, now))
