"""One case in one run: what was said, what it was held against, and each check beside it."""

import json
import sqlite3
from typing import Any

from jeval.browse.asked import asked
from jeval.browse.check_list import describe
from jeval.browse.rows import STATUSES, NotHere, every, find_run, one, rubrics_of

__all__ = ["anchors", "body_of", "case_checks", "case_key", "case_page", "labels_of", "latest_run_of"]

_CHECKS = """
SELECT c.case_key, c.rubric, c.status AS code, c.critical, verdicts.outcome, verdicts.rule, verdicts.reason,
  findings.probabilities, findings.confidence, findings.evidence, criteria.text AS criterion
FROM check_rows c
JOIN verdicts ON verdicts.id = c.verdict
JOIN findings ON findings.case_key = c.case_key AND findings.id = c.finding
LEFT JOIN criteria ON criteria.id = findings.criterion
WHERE c.run = ? AND c.case_key = ?
"""
_FIELDS = (
    "messages",
    "context",
    "policy",
    "toolEvents",
    "metadata",
    "scenario",
    "expectedOutcome",
    "chatbotRole",
)
_RANK = {"fail": 0, "error": 1, "review": 2, "pass": 3, "skipped": 4}


def case_key(conn: sqlite3.Connection, case_id: str) -> int:
    """The key of a case id. Raises NotHere."""
    row = conn.execute("SELECT key FROM case_ids WHERE id = ?", (case_id,)).fetchone()
    if row is None:
        raise NotHere(f"No run in this store judged a case {case_id}.")
    return int(row[0])


def latest_run_of(conn: sqlite3.Connection, case_id: str, content: int = 0) -> str:
    """The id of the latest run that judged a case, of this content where it is not 0. Raises NotHere."""
    row = conn.execute(
        "SELECT r.id FROM runs r CROSS JOIN run_cases rc ON rc.run = r.pk AND rc.case_key = ?1"
        " WHERE ?2 IN (0, rc.content) ORDER BY r.started_at DESC, r.pk DESC LIMIT 1",
        (case_key(conn, case_id), content),
    ).fetchone()
    if row is None:
        raise NotHere(f"No run in this store judged this content of case {case_id}.")
    return str(row[0])


def body_of(conn: sqlite3.Connection, run: int, key: int) -> dict[str, Any] | None:
    """The case as this run judged it; None where it has not reached it."""
    row = one(
        conn,
        "SELECT b.body, lower(hex(b.sha256)) AS sha FROM run_cases rc JOIN case_rows b ON b.pk = rc.content"
        " WHERE rc.run = ? AND rc.case_key = ?",
        (run, key),
    )
    if row is None:
        return None
    body: dict[str, Any] = json.loads(row["body"])
    return dict.fromkeys(_FIELDS) | body | {"case_sha256": row["sha"]}


def case_checks(conn: sqlite3.Connection, run: dict[str, Any], key: int) -> list[dict[str, Any]]:
    """A case's checks in a run, what needs eyes first. `asked` is what the judge was asked, question by question;
    `repeats` the status in each repetition where they are not the same, else empty."""
    rubrics = {rubric["pk"]: rubric for rubric in rubrics_of(conn, run["pk"])}
    found = [describe(row, run, rubrics[row["rubric"]]) for row in every(conn, _CHECKS, (run["pk"], key))]
    flips = dict(
        conn.execute("SELECT rubric, statuses FROM repeat_flips WHERE run = ? AND case_key = ?", (run["pk"], key))
    )
    for check in found:
        check["asked"] = asked(check["criterion"], [part.name for part in check["parts"]])
        check["repeats"] = json.loads(flips.get(check["rubric"]["pk"], "[]"))
    order = list(rubrics)
    return sorted(found, key=lambda c: (_RANK[c["status"]], -c["critical"], order.index(c["rubric"]["pk"])))


def case_page(conn: sqlite3.Connection, name: str, case_id: str) -> dict[str, Any]:
    """All that the page of a case shows. Raises NotHere."""
    run = find_run(conn, name)
    key = case_key(conn, case_id)
    body = body_of(conn, run["pk"], key)
    if body is None:
        raise NotHere(f"Run {run['id']} did not judge case {case_id}, or has not reached it yet.")
    return {
        "run": run,
        "case": body,
        "anchors": anchors(body),
        "checks": case_checks(conn, run, key),
        "labels": labels_of(conn, case_id),
        "scores": _scores(conn, run["pk"], key),
        "requests": _requests(conn, run["pk"], key),
        "others": _others(conn, run["pk"], key),
        "before": _neighbour(conn, run["pk"], key, "<", "DESC"),
        "after": _neighbour(conn, run["pk"], key, ">", "ASC"),
    }


def anchors(body: dict[str, Any]) -> dict[str, dict[str, str]]:
    """{list name: {item id: anchor}}: ids may hold anything, so their places are what is linked to."""
    return {
        name: {item["id"]: f"{name}-{i}" for i, item in enumerate(body.get(name) or ())}
        for name in ("messages", "context", "toolEvents")
    }


def labels_of(conn: sqlite3.Connection, case_id: str) -> dict[str, list[dict[str, Any]]]:
    """{rubric id: its labels}, people's first, the latest first."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in every(
        conn,
        "SELECT rubric_id, expected, source, reviewer, note, labelled_at FROM labels WHERE case_id = ?"
        " ORDER BY source <> 'human', labelled_at DESC",
        (case_id,),
    ):
        found.setdefault(row["rubric_id"], []).append(row)
    return found


def _scores(conn: sqlite3.Connection, run: int, key: int) -> list[dict[str, Any]]:
    rows = every(
        conn,
        "SELECT m.id, m.version, m.definition, r.status, r.score, r.passed, r.strict, r.threshold,"
        " r.confidence, r.reason, r.breakdown"
        " FROM score_rows s JOIN metrics m ON m.pk = s.metric JOIN score_results r ON r.id = s.result"
        " WHERE s.run = ? AND s.case_key = ? ORDER BY m.id",
        (run, key),
    )
    prose = _explanations(conn, run, key)
    for row in rows:
        questions = json.loads(row["definition"]).get("questions") or []
        row["breakdown"] = [part | _marks(part, questions) for part in json.loads(row["breakdown"])]
        row["prose"] = prose.get(row["id"])
    return rows


def _marks(part: dict[str, Any], questions: list[Any]) -> dict[str, Any]:
    """What a question's options are worth: `credits` of a choice by option, null where one does not apply; the one
    that `leads`."""
    place = part["position"] - 1
    definition = questions[place] if 0 <= place < len(questions) else {}
    credits = definition.get("options") if part["type"] == "choice" else None
    probabilities = part["probabilities"] or {}
    leads = max(probabilities, key=probabilities.__getitem__) if probabilities else None
    return {"credits": credits if isinstance(credits, dict) else {}, "leads": leads}


def _explanations(conn: sqlite3.Connection, run: int, key: int) -> dict[str, dict[str, Any]]:
    """{metric id: what an explainer wrote}; stores that are not migrated yet have no place for it."""
    if not conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'explanation_rows'").fetchone():
        return {}
    sql = (
        "SELECT m.id, e.text, e.model FROM explanation_rows e JOIN metrics m ON m.pk = e.metric"
        " WHERE e.run = ? AND e.case_key = ?"
    )
    return {row["id"]: row for row in every(conn, sql, (run, key))}


# The requests that a case's answers rest on: the run's own, and those of earlier runs whose answers it used again.
_REQUESTS = """
SELECT r.id AS run_id, q.run <> :run AS reused, q.model_served, q.asked_at, q.latency_ms, q.attempts, q.input_tokens,
  q.output_tokens, q.request_id, q.error_kind, q.error_message, q.repeat
FROM request_rows q JOIN runs r ON r.pk = q.run
WHERE q.id IN (
  SELECT id FROM request_rows WHERE run = :run AND case_key = :key
  UNION SELECT s.value FROM run_cases c, json_each(c.sources) s WHERE c.run = :run AND c.case_key = :key)
ORDER BY q.asked_at, q.id LIMIT 1000
"""


def _requests(conn: sqlite3.Connection, run: int, key: int) -> list[dict[str, Any]]:
    return every(conn, _REQUESTS, {"run": run, "key": key})


def _neighbour(conn: sqlite3.Connection, run: int, key: int, sign: str, order: str) -> str | None:
    row = conn.execute(
        "SELECT case_ids.id FROM run_cases rc JOIN case_ids ON case_ids.key = rc.case_key"  # noqa: S608 - our own words
        f" WHERE rc.run = ?1 AND rc.position {sign}"
        " (SELECT position FROM run_cases WHERE run = ?1 AND case_key = ?2)"
        f" ORDER BY rc.position {order} LIMIT 1",
        (run, key),
    ).fetchone()
    return row[0] if row else None


def _others(conn: sqlite3.Connection, run: int, key: int, limit: int = 15) -> dict[str, Any]:
    """The same case in this run and the latest others: `runs`, newest first; `rubrics` with a status for each run or
    None, and `metrics` with a score."""
    runs = every(
        conn,
        "SELECT r.pk, r.id, r.name, r.started_at, r.thresholds, r.judge, rc.content FROM runs r"
        " JOIN run_cases rc ON rc.run = r.pk AND rc.case_key = ? ORDER BY r.pk <> ?, r.started_at DESC,"
        " r.pk DESC LIMIT ?",
        (key, run, limit),
    )
    runs.sort(key=lambda row: (row["started_at"], row["pk"]), reverse=True)
    cells: dict[str, dict[int, str]] = {}
    scores: dict[str, dict[int, float]] = {}
    for one_run in runs:
        for rubric, status in conn.execute(
            "SELECT rubrics.id, c.status FROM check_rows c JOIN rubrics ON rubrics.pk = c.rubric"
            " WHERE c.run = ? AND c.case_key = ?",
            (one_run["pk"], key),
        ):
            cells.setdefault(rubric, {})[one_run["pk"]] = STATUSES[status]
        for metric, score in conn.execute(
            "SELECT m.id, r.score FROM score_rows s JOIN metrics m ON m.pk = s.metric"
            " JOIN score_results r ON r.id = s.result WHERE s.run = ? AND s.case_key = ? AND r.score IS NOT NULL",
            (one_run["pk"], key),
        ):
            scores.setdefault(metric, {})[one_run["pk"]] = score
    return {"runs": runs, "rubrics": sorted(cells.items()), "metrics": sorted(scores.items())}
