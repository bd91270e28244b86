"""Checks of a run: listed by filters, and failures in groups of one kind."""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from jeval.browse.filters import STATUSES, Where
from jeval.browse.marks import bars
from jeval.browse.rows import every

__all__ = ["PAGE", "checks", "count_and_group", "describe", "metadata_keys", "outcomes"]

PAGE = 50

# What needs eyes first; within each status the order of the cases.
_ORDER = ("fail", "error", "review", "pass", "skipped")
_NEED_EYES = ("fail", "error", "review")

_LIST = """
SELECT c.case_key, case_ids.id AS case_id, c.rubric, c.status AS code, c.critical,
  verdicts.outcome, verdicts.rule, verdicts.reason, findings.probabilities, findings.confidence,
  findings.evidence, criteria.text AS criterion, substr(json_extract(body.body, '$.input'), 1, 300) AS input
FROM ({inner}) c
JOIN case_ids ON case_ids.key = c.case_key
JOIN verdicts ON verdicts.id = c.verdict
JOIN findings ON findings.case_key = c.case_key AND findings.id = c.finding
LEFT JOIN criteria ON criteria.id = findings.criterion
LEFT JOIN run_cases rc ON rc.run = :run AND rc.case_key = c.case_key
LEFT JOIN case_rows body ON body.pk = rc.content
"""


def checks(
    conn: sqlite3.Connection,
    run: dict[str, Any],
    rubrics: list[dict[str, Any]],
    where: Where,
    counts: Mapping[str, int],
    *,
    page: int = 1,
    size: int = PAGE,
) -> list[dict[str, Any]]:
    """One page of checks, what needs eyes first.

    `counts` says how many there are of each status, so that they are read one after another
    and none sorts a whole run.
    """
    found: list[dict[str, Any]] = []
    skip, left = (page - 1) * size, size
    for status in _ORDER:
        here = counts.get(status, 0)
        if here <= skip:
            skip -= here
            continue
        order = ("c.critical DESC, " if status == "fail" else "") + "rc.position, c.rubric"
        inner = (
            "SELECT c.* FROM check_rows c CROSS JOIN run_cases rc ON rc.run = c.run AND"  # noqa: S608
            " rc.case_key = c.case_key"
            f" WHERE {where.sql} AND c.status = {STATUSES.index(status)}"
            f" ORDER BY {order} LIMIT {left} OFFSET {skip}"
        )
        rows = every(conn, _LIST.format(inner=inner) + f" ORDER BY {order}", where.params)
        found += rows
        skip, left = 0, left - len(rows)
        if left <= 0:
            break
    by_key = {rubric["pk"]: rubric for rubric in rubrics}
    return [describe(row, run, by_key[row["rubric"]]) for row in found]


def describe(row: dict[str, Any], run: dict[str, Any], rubric: dict[str, Any]) -> dict[str, Any]:
    """A check's row with its status by name, its rubric, and its probabilities as bars with thresholds."""
    probabilities = _json(row["probabilities"])
    definition = _json(rubric["definition"]) or {}
    return row | {
        "status": STATUSES[row["code"]],
        "rubric": rubric,
        "probabilities": probabilities,
        "evidence": _json(row["evidence"]) or {},
        "parts": bars(rubric["kind"], definition, probabilities, run["threshold_pass"], run["threshold_fail"]),
        "description": definition.get("description"),
    }


def _json(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def count_and_group(
    conn: sqlite3.Connection, rubrics: list[dict[str, Any]], where: Where
) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """How many checks the conditions leave by status; and those that need eyes in groups of one kind.

    A group is one status, rubric and rule, the largest first; the rule of an error is the kind of the error.
    `outcomes` are those that occur in the group; `reason` is one of its reasons, as an example.
    """
    sql = f"""
SELECT g.status AS code, g.rubric, v.rule, v.outcome, sum(g.n) AS n, max(v.reason) AS reason
FROM (SELECT c.status, c.rubric, c.verdict, count(*) AS n FROM check_rows c WHERE {where.sql}
  GROUP BY c.status, c.rubric, c.verdict) g
JOIN verdicts v ON v.id = g.verdict
GROUP BY g.status, g.rubric, v.rule, v.outcome"""  # noqa: S608
    by_key = {rubric["pk"]: rubric for rubric in rubrics}
    counts: dict[str, int] = {}
    found: dict[tuple[int, int, str], dict[str, Any]] = {}
    for row in sorted(every(conn, sql, where.params), key=lambda row: -row["n"]):
        status = STATUSES[row["code"]]
        counts[status] = counts.get(status, 0) + row["n"]
        if status not in _NEED_EYES:
            continue
        group = found.setdefault(
            (row["code"], row["rubric"], row["rule"]),
            {"status": status, "rubric": by_key[row["rubric"]], "rule": row["rule"], "n": 0, "outcomes": []}
            | {"reason": row["reason"]},
        )
        group["n"] += row["n"]
        if row["outcome"]:
            group["outcomes"].append(row["outcome"])
    order = lambda g: (_NEED_EYES.index(g["status"]), g["rubric"]["severity"] != "critical", -g["n"])  # noqa: E731
    return {status: counts[status] for status in _ORDER if status in counts}, sorted(found.values(), key=order)


def outcomes(found: list[dict[str, Any]]) -> dict[str, list[str]]:
    """The outcomes and rules that occur in these groups, to choose from."""
    return {
        "outcome": sorted({outcome for row in found for outcome in row["outcomes"]}),
        "rule": sorted({row["rule"] for row in found}),
    }


def metadata_keys(conn: sqlite3.Connection, run: int, cases: int = 200) -> dict[str, list[str]]:
    """{key: values} of the metadata of the first cases of a run, to choose from."""
    rows = conn.execute(
        "SELECT m.key, CASE m.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE"
        " CAST(m.value AS TEXT) END"
        " FROM (SELECT content FROM run_cases WHERE run = ? LIMIT ?) rc JOIN case_rows b ON b.pk"
        " = rc.content,"
        " json_each(b.body, '$.metadata') m WHERE m.type NOT IN ('object', 'array', 'null')",
        (run, cases),
    )
    found: dict[str, set[str]] = {}
    for key, value in rows:
        found.setdefault(key, set()).add(value)
    return {key: sorted(values)[:30] for key, values in sorted(found.items())[:20]}
