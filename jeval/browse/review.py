"""The queue of what needs a person, and the labels they give."""

import json
import sqlite3
from typing import Any

from jeval.browse.case_page import anchors, body_of, case_checks, case_key, labels_of
from jeval.browse.filters import ALL, Filters, Where
from jeval.browse.narrowed import of_run
from jeval.browse.rows import STATUSES, NotHere, counts_of, every, find_run, rubrics_of
from jeval.browse.run_list import run_names

__all__ = ["LABELS", "label_problem", "queue_page", "write_label"]

# What a label may say, and the key that says it.
LABELS = (("pass", "p"), ("fail", "f"), ("review", "r"), ("skipped", "s"))
NOTE_CAP = 10_000

# Which statuses a queue holds, in this order, and whether of critical rubrics only.
_REVIEW, _FAIL, _ERROR, _PASS = 2, 1, 4, 0
_QUEUES: dict[str, tuple[tuple[int, bool], ...]] = {
    "": ((_REVIEW, False), (_FAIL, True)),
    "review": ((_REVIEW, False),),
    "critical": ((_FAIL, True),),
    "fail": ((_FAIL, False),),
    "error": ((_ERROR, False),),
    "pass": ((_PASS, False),),
}


def queue_page(conn: sqlite3.Connection, state: dict[str, str], skip: int, filters: Filters = ALL) -> dict[str, Any]:
    """The next check of the queue and how many are left; `skip` passes over so many.

    A `case` and a `check` (a rubric's id) in the state show that check, labelled or not. Raises NotHere.
    """
    names = run_names(conn)
    shown: dict[str, Any] = {
        "names": names,
        "run": None,
        "check": None,
        "left": 0,
        "labelled": 0,
        "skip": skip,
        "state": state,
        "filters": filters,
    }
    if not names:
        return shown
    run = find_run(conn, state.get("run") or names[0]["id"])
    rubrics = rubrics_of(conn, run["pk"])
    queue = state.get("queue", "") if state.get("queue", "") in _QUEUES else ""
    chosen = [r for r in rubrics if state.get("rubric") in (None, "", r["id"])]
    labelled = _labelled(conn, run["pk"])
    these = of_run(conn, run["pk"], rubrics, filters)
    parts = _parts(conn, run["pk"], chosen, queue, labelled, these)
    left = sum(part[2] for part in parts)
    shown |= {
        "run": run,
        "rubrics": rubrics,
        "queue": queue,
        "left": left,
        "labelled": sum(map(len, labelled.values())),
    }
    if state.get("case") and state.get("check"):
        return shown | _one(conn, run, state["case"], state["check"])
    if not left:
        return shown
    shown["skip"] = skip % left
    return shown | _one(conn, run, *_at(conn, run["pk"], parts, labelled, shown["skip"], these))


Labelled = dict[tuple[int, int], set[int]]


def _labelled(conn: sqlite3.Connection, run: int) -> Labelled:
    """{(rubric, status): cases} of the run's checks that a person has labelled."""
    found: Labelled = {}
    for rubric, status, case in conn.execute(
        # CROSS JOIN fixes the order: people's labels are few, whatever else the store holds.
        "SELECT c.rubric, c.status, c.case_key FROM labels l CROSS JOIN case_ids i ON i.id = l.case_id"
        " CROSS JOIN rubrics r ON r.id = l.rubric_id"
        " CROSS JOIN check_rows c ON c.run = ?1 AND c.case_key = i.key AND c.rubric = r.pk WHERE"
        " l.source = 'human'",
        (run,),
    ):
        found.setdefault((rubric, status), set()).add(case)
    return found


def _parts(
    conn: sqlite3.Connection,
    run: int,
    rubrics: list[dict[str, Any]],
    queue: str,
    labelled: Labelled,
    these: Where | None,
) -> list[tuple[int, int, int]]:
    """The queue as (rubric, status, how many are left), in its order: critical and required rubrics first."""
    counts = counts_of(conn, [run])[run]
    ordered = sorted(rubrics, key=lambda r: (r["severity"] != "critical", not r["required"]))
    found = []
    for status, critical in _QUEUES[queue]:
        for rubric in ordered:
            key = rubric["pk"]
            if critical and rubric["severity"] != "critical":
                continue
            if these is None:
                left = counts.get(key, {}).get(STATUSES[status], 0) - len(labelled.get((key, status), ()))
            else:
                sql, params = _left(run, key, status, labelled, these)
                left = conn.execute(f"SELECT count(*) {sql}", params).fetchone()[0]
            if left > 0:
                found.append((key, status, left))
    return found


def _left(run: int, rubric: int, status: int, labelled: Labelled, these: Where | None) -> tuple[str, dict[str, Any]]:
    """SQL for the checks of a rubric and status that nobody labelled, of those that filters leave."""
    params = {"run": run, "its_rubric": rubric, "its_status": status}
    done = json.dumps(sorted(labelled.get((rubric, status), ())))
    sql = (
        "FROM check_rows c CROSS JOIN run_cases rc ON rc.run = c.run AND rc.case_key = c.case_key"
        " WHERE c.run = :run AND c.rubric = :its_rubric AND c.status = :its_status"
        " AND c.case_key NOT IN (SELECT value FROM json_each(:done))"
    )
    if these is not None:
        sql += f" AND {these.sql}"
        params |= these.params
    return sql, params | {"done": done}


def _at(
    conn: sqlite3.Connection,
    run: int,
    parts: list[tuple[int, int, int]],
    labelled: Labelled,
    skip: int,
    these: Where | None,
) -> tuple[str, str]:
    """The case and rubric ids of the check at this place of the queue."""
    for rubric, status, left in parts:
        if skip < left:
            sql, params = _left(run, rubric, status, labelled, these)
            row = conn.execute(
                "SELECT (SELECT id FROM case_ids WHERE key = c.case_key),"  # noqa: S608 - our own fragments
                f" (SELECT id FROM rubrics WHERE pk = c.rubric) {sql}"
                " ORDER BY rc.position LIMIT 1 OFFSET :skip",
                params | {"skip": skip},
            ).fetchone()
            if row is not None:
                return row[0], row[1]
        skip -= left
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
        conn.execute(
            "INSERT INTO labels (case_id, rubric_id, expected, source, reviewer, note,"
            " labelled_at) VALUES (?, ?, ?, 'human', ?, ?, ?)"
            " ON CONFLICT (case_id, rubric_id, source, coalesce(reviewer, '')) DO UPDATE"
            " SET expected = excluded.expected, note = excluded.note, labelled_at = excluded.labelled_at",
            (case_id, rubric_id, expected, reviewer, note, now),
        )
