"""Two runs side by side: what became worse first, each change with both distributions.

What changed, whether the runs may be compared and how sure it is come from `jeval.compare`, as on the command
line; this module chooses what a page shows of it.
"""

import sqlite3
from collections.abc import Sequence
from typing import Any

from jeval.browse.check_list import describe
from jeval.browse.filters import ALL, Filters
from jeval.browse.narrowed import checks_left
from jeval.browse.rows import counts_of, every, find_run, rubrics_of, totals
from jeval.browse.run_list import critical_rubrics, run_names
from jeval.browse.run_page import difference
from jeval.compare import CATEGORIES, Category, Change, Comparison, compare
from jeval.store.alignment import align, run_facts

__all__ = ["PAGE", "TITLES", "compare_page"]

PAGE = 40

# Worst first, and the colour of each.
TITLES: dict[Category, tuple[str, str]] = {
    "new_failures": ("new failures", "fail"),
    "new_errors": ("new errors", "error"),
    "new_reviews": ("newly for review", "review"),
    "resolved_failures": ("failures resolved", "pass"),
    "other_changes": ("other changes", "skipped"),
}
_SEVERITIES = ("critical", "major", "minor")


def compare_page(
    conn: sqlite3.Connection, first: str, second: str, change: str = "", filters: Filters = ALL
) -> dict[str, Any]:
    """All that the comparison shows; only the lists to choose from where a run is not named. Raises
    NotHere."""
    shown: dict[str, Any] = {"names": run_names(conn), "a": None, "b": None}
    page = filters.page
    shown |= {"change": change, "filters": filters, "page": page}
    if not first or not second:
        return shown
    a, b = find_run(conn, first), find_run(conn, second)
    ra, rb = ({(r["id"], r["version"]): r for r in rubrics_of(conn, run["pk"])} for run in (a, b))
    found = _comparison(conn, a, b)
    counts = counts_of(conn, {a["pk"], b["pk"]})
    critical = critical_rubrics(conn)
    changed = (one.case_id for rows in found.changes.values() for one in rows)
    rows = _chosen(found, change, checks_left(conn, b["pk"], list(rb.values()), filters, changed))
    these = rows[(page - 1) * PAGE : page * PAGE]
    return shown | {
        "a": a,
        "b": b,
        "totals": {run["pk"]: totals(counts[run["pk"]], critical) for run in (a, b)},
        "kinds": [
            {"name": name, "title": title, "colour": colour, "n": len(found.changes[name])}
            for name, (title, colour) in TITLES.items()
        ],
        "by_rubric": _by_rubric(found, rb),
        "compared": found.alignment.overlap.checks,
        "unchanged": found.unchanged,
        "changes": [_described(conn, (a, b), (ra, rb), one) for one in these],
        "more": len(rows) > page * PAGE,
        "listed": len(rows),
        "issues": found.issues,
        "comparable": found.comparable,
        "significance": found.significance_text(),
        "difference": difference(a, b),
    }


# Finished runs never change: the last comparisons are kept, so that paging through one asks for it once.
_KEPT: dict[tuple[str, str, str, str], Comparison] = {}


def _comparison(conn: sqlite3.Connection, a: dict[str, Any], b: dict[str, Any]) -> Comparison:
    key = (a["id"], b["id"], a["finished_at"] or "", b["finished_at"] or "")
    if key in _KEPT:
        return _KEPT[key]
    rows: list[Any] = [a, b]  # dicts read by name as rows do
    found = compare(run_facts(conn, rows[0]), run_facts(conn, rows[1]), align(conn, rows[0], rows[1]))
    if a["finished_at"] and b["finished_at"]:
        if len(_KEPT) >= 16:
            _KEPT.clear()
        _KEPT[key] = found
    return found


def _chosen(found: Comparison, kind: str, left: set[tuple[str, str]] | None) -> list[Change]:
    """The changes of one kind, or all, that filters leave; worst first and critical before others."""
    return [
        change
        for name in TITLES
        if not kind or name == kind
        for change in sorted(
            found.changes[name],
            key=lambda c: (_SEVERITIES.index(c.severity), c.case_id),
        )
        if left is None or (change.case_id, change.rubric_id) in left
    ]


def _by_rubric(found: Comparison, rubrics: dict[tuple[str, str], dict[str, Any]]) -> list[dict[str, Any]]:
    """For each rubric that changed: how many of each kind, the worst first."""
    counts: dict[tuple[str, str], dict[Category, int]] = {}
    for name in CATEGORIES:
        for change in found.changes[name]:
            numbers = counts.setdefault((change.rubric_id, change.rubric_version), dict.fromkeys(TITLES, 0))
            numbers[name] += 1
    rows = [{"rubric": rubrics[key], "counts": numbers} for key, numbers in counts.items()]
    return sorted(rows, key=lambda row: [-row["counts"][name] for name in TITLES])


_SIDE = """
SELECT c.rubric, c.status AS code, c.critical, v.outcome, v.rule, v.reason, f.probabilities, f.confidence,
  f.evidence, NULL AS criterion
FROM check_rows c JOIN verdicts v ON v.id = c.verdict
JOIN findings f ON f.case_key = c.case_key AND f.id = c.finding
WHERE c.run = ? AND c.case_key = (SELECT key FROM case_ids WHERE id = ?) AND c.rubric = ?
"""


def _described(
    conn: sqlite3.Connection,
    runs: tuple[dict[str, Any], dict[str, Any]],
    rubrics: Sequence[dict[tuple[str, str], dict[str, Any]]],
    change: Change,
) -> dict[str, Any]:
    """A change with both checks."""
    sides = []
    for run, known in zip(runs, rubrics, strict=True):
        rubric = known[change.rubric_id, change.rubric_version]
        row = every(conn, _SIDE, (run["pk"], change.case_id, rubric["pk"]))[0]
        sides.append(describe(row, run, rubric))
    return {"case_id": change.case_id, "flips": change.flips, "before": sides[0], "after": sides[1]}
