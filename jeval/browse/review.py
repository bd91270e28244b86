"""The queue of what needs a person, and the labels they give."""

import sqlite3
from typing import Any

from jeval.browse.case_page import anchors, body_of, case_checks, case_key, labels_of
from jeval.browse.rows import NotHere, every, find_run, rubrics_of
from jeval.browse.run_list import run_names

__all__ = ["LABELS", "label_problem", "queue_page", "write_label"]

# What a label may say, and the key that says it.
LABELS = (("pass", "p"), ("fail", "f"), ("review", "r"), ("skipped", "s"))
NOTE_CAP = 10_000

_UNLABELLED = (
    "NOT EXISTS (SELECT 1 FROM labels l WHERE l.case_id = i.id AND l.rubric_id = r.id AND l.source = 'human')"
)
# Reviews first, the critical ones before the others; then failures that are critical.
_QUEUES = {
    "": "(c.status = 2 OR c.critical = 1)",
    "review": "c.status = 2",
    "critical": "c.critical = 1",
    "fail": "c.status = 1",
    "error": "c.status = 4",
    "pass": "c.status = 0",
}


def queue_page(conn: sqlite3.Connection, state: dict[str, str], skip: int) -> dict[str, Any]:
    """The next check of the queue and how many are left; `skip` passes over so many.

    A `case` and a `check` (a rubric's id) in the state show that check, labelled or not. Raises NotHere.
    """
    names = run_names(conn)
    shown: dict[str, Any] = {"names": names, "run": None, "check": None, "left": 0, "labelled": 0, "skip": skip, "state": state}
    if not names:
        return shown
    run = find_run(conn, state.get("run") or names[0]["id"])
    rubrics = rubrics_of(conn, run["pk"])
    queue = state.get("queue", "") if state.get("queue", "") in _QUEUES else ""
    chosen = [r for r in rubrics if state.get("rubric") in (None, "", r["id"])]
    left = _queue(conn, run["pk"], chosen, queue)
    shown |= {"run": run, "rubrics": rubrics, "queue": queue, "left": len(left), "labelled": _labelled(conn, run["pk"])}
    if state.get("case") and state.get("check"):
        return shown | _one(conn, run, state["case"], state["check"])
    if not left:
        return shown
    shown["skip"] = skip % len(left)
    return shown | _one(conn, run, *left[shown["skip"]])


def _queue(conn: sqlite3.Connection, run: int, rubrics: list[dict[str, Any]], queue: str) -> list[tuple[str, str]]:
    keys = ", ".join(str(rubric["pk"]) for rubric in rubrics)
    return [
        (row[0], row[1])
        for row in conn.execute(
            "SELECT i.id, r.id FROM check_rows c JOIN case_ids i ON i.key = c.case_key JOIN rubrics r ON r.pk = c.rubric"  # noqa: S608
            f" WHERE c.run = ? AND c.rubric IN ({keys}) AND {_QUEUES[queue]} AND {_UNLABELLED}"
            " ORDER BY c.status <> 2, r.severity <> 'critical', NOT r.required, c.rubric, c.case_key LIMIT 5000",
            (run,),
        )
    ]


def _labelled(conn: sqlite3.Connection, run: int) -> int:
    sql = (
        "SELECT count(DISTINCT l.case_id || char(31) || l.rubric_id) FROM labels l JOIN case_ids i ON i.id = l.case_id"
        " JOIN run_cases rc ON rc.run = ?1 AND rc.case_key = i.key WHERE l.source = 'human' AND l.rubric_id IN"
        " (SELECT r.id FROM run_rubrics rr JOIN rubrics r ON r.pk = rr.rubric WHERE rr.run = ?1)"
    )
    return int(conn.execute(sql, (run,)).fetchone()[0])


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
    conn: sqlite3.Connection, *, case_id: str, rubric_id: str, expected: str, reviewer: str | None, note: str | None, now: str
) -> None:
    """Write a person's label, in place of the one the same person gave before."""
    conn.execute("PRAGMA busy_timeout = 10000")
    with conn:
        conn.execute(
            "INSERT INTO labels (case_id, rubric_id, expected, source, reviewer, note, labelled_at) VALUES (?, ?, ?, 'human', ?, ?, ?)"
            " ON CONFLICT (case_id, rubric_id, source, coalesce(reviewer, '')) DO UPDATE"
            " SET expected = excluded.expected, note = excluded.note, labelled_at = excluded.labelled_at",
            (case_id, rubric_id, expected, reviewer, note, now),
        )
