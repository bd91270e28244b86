"""Checks of a run: listed by filters, and failures in groups of one kind."""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from jeval.browse.choices import metadata_keys, of_checks, unknown, why_nothing
from jeval.browse.chosen import LATENCIES, some_cases
from jeval.browse.filters import STATUSES, Filters, Where, where
from jeval.browse.kinds import by_status, groups, kinds_left, kinds_of
from jeval.browse.marks import bars
from jeval.browse.rows import every

__all__ = ["PAGE", "SORTS", "checks", "describe", "list_of_checks"]

PAGE = 50

# What needs eyes first; within each status the order of the cases.
_ORDER = ("fail", "error", "review", "pass", "skipped")
# The orders to choose from, in words.
SORTS = {"": "what needs eyes first", "case": "by case", "rubric": "by rubric", "slowest": "slowest case first"}
_SLOWEST = f"(SELECT case_key, max(ms) AS ms FROM ({LATENCIES}) GROUP BY case_key)"  # noqa: S608 - our own words

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
    these: Where,
    counts: Mapping[str, int],
    *,
    page: int = 1,
    size: int = PAGE,
    sort: str = "",
) -> list[dict[str, Any]]:
    """One page of checks in the order `sort`, one of SORTS; by default, and where there is no such order, what
    needs eyes first.

    `counts` says how many there are of each status, so that by default they are read one after another
    and none sorts a whole run.
    """
    skip, found = (page - 1) * size, []
    if sort in SORTS and sort:
        found = _read(conn, these, _order(sort, rubrics), size, skip, slowest=sort == "slowest")
    else:
        for status in _ORDER:
            here = counts.get(status, 0)
            if here <= skip:
                skip -= here
                continue
            order = ("c.critical DESC, " if status == "fail" else "") + "rc.position, c.rubric"
            only = Where(f"{these.sql} AND c.status = {STATUSES.index(status)}", these.params)
            found += _read(conn, only, order, size - len(found), skip)
            skip = 0
            if len(found) >= size:
                break
    by_key = {rubric["pk"]: rubric for rubric in rubrics}
    return [describe(row, run, by_key[row["rubric"]]) for row in found]


def _order(sort: str, rubrics: list[dict[str, Any]]) -> str:
    """The terms of an order; `ms` is the latency of a case's slowest request, unmeasured ones last."""
    if sort == "rubric" and rubrics:
        places = " ".join(f"WHEN {int(rubric['pk'])} THEN {i}" for i, rubric in enumerate(rubrics))
        return f"CASE c.rubric {places} END, rc.position"
    return "ms DESC, rc.position, c.rubric" if sort == "slowest" else "rc.position, c.rubric"


def _read(
    conn: sqlite3.Connection, these: Where, order: str, limit: int, skip: int, *, slowest: bool = False
) -> list[dict[str, Any]]:
    more, joined = (", l.ms AS ms", f"LEFT JOIN {_SLOWEST} l ON l.case_key = c.case_key") if slowest else ("", "")
    inner = (
        f"SELECT c.*{more} FROM check_rows c CROSS JOIN run_cases rc ON rc.run = c.run AND rc.case_key = c.case_key"  # noqa: S608
        f" {joined} WHERE {these.sql} ORDER BY {order} LIMIT {int(limit)} OFFSET {int(skip)}"
    )
    return every(conn, _LIST.format(inner=inner) + f" ORDER BY {order}", these.params)


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


def list_of_checks(
    conn: sqlite3.Connection, run: dict[str, Any], rubrics: list[dict[str, Any]], filters: Filters
) -> dict[str, Any]:
    """All that a list of a run's checks shows.

    `checks` is one page of `total`; `found` counts all of them by status; `groups` are those that need eyes, one
    kind a line; `choices` is what there is to filter by, `problems` what the address asks for that is not there.
    """
    cases = some_cases(conn, run["pk"], filters)
    left = kinds_left(conn, run, rubrics, filters, cases)
    counts = by_status(left)
    total = sum(counts.values())
    pages = max(1, -(-total // PAGE))
    page = min(filters.page, pages)
    choices = of_checks(rubrics, kinds_of(conn, run)) | {"metadata": metadata_keys(conn, run["pk"])}
    problems = unknown(filters, choices, SORTS)
    these = where(filters, run["pk"], rubrics, cases)
    return {
        "filters": filters,
        "narrowed": filters.active,
        "groups": groups(left, {rubric["pk"]: rubric for rubric in rubrics}),
        "choices": choices,
        "problems": problems or ([] if total else why_nothing(conn, [run["pk"]], filters)),
        "sorts": SORTS,
        "checks": checks(conn, run, rubrics, these, counts, page=page, sort=filters.sort),
        "found": {status: counts[status] for status in _ORDER if status in counts},
        "total": total,
        "page": page,
        "pages": pages,
    }
