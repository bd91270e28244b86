"""Two runs side by side: what became worse first, each change with both distributions.

Whether the runs may be compared and how sure the difference is come from `jeval.compare`, as on the command
line; this module chooses what a page shows of the changes.
"""

import sqlite3
from collections.abc import Sequence
from typing import Any

from jeval.browse.check_list import describe
from jeval.browse.choices import metadata_keys, of_checks, unknown, why_nothing
from jeval.browse.differing import Differences, Left, Pattern, differences, kinds_in, left, page_of
from jeval.browse.filters import ALL, SEVERITIES, Filters
from jeval.browse.kinds import groups
from jeval.browse.narrowed import Narrowed
from jeval.browse.rows import counts_of, every, find_run, totals
from jeval.browse.run_list import critical_rubrics, run_names
from jeval.browse.run_page import difference
from jeval.compare import CATEGORIES, Category, Comparison, category, compare
from jeval.store.alignment import align, run_facts

__all__ = ["ABOUT", "PAGE", "TITLES", "compare_page"]

PAGE = 40

# What the address says beside filters: both runs, one kind of change, and the side that filters look at.
ABOUT = ("a", "b", "change", "match")
SORTS = {"": "worst first", "case": "by case", "rubric": "by rubric"}
MATCH = {"": "the check in B", "a": "the check in A"}

# Worst first, and the colour of each.
TITLES: dict[Category, tuple[str, str]] = {
    "new_failures": ("new failures", "fail"),
    "new_errors": ("new errors", "error"),
    "new_reviews": ("newly for review", "review"),
    "resolved_failures": ("failures resolved", "pass"),
    "other_changes": ("other changes", "skipped"),
}
_WORST = tuple(TITLES)


def compare_page(conn: sqlite3.Connection, filters: Filters = ALL) -> dict[str, Any]:
    """All that the comparison shows; only the lists to choose from where a run is not named. Raises NotHere."""
    shown: dict[str, Any] = {"names": run_names(conn), "a": None, "b": None, "filters": filters, "sorts": SORTS}
    shown |= {"change": filters["change"], "match": MATCH}
    if not filters["a"] or not filters["b"]:
        return shown
    a, b = find_run(conn, filters["a"]), find_run(conn, filters["b"])
    found = _comparison(conn, a, b)
    counts = counts_of(conn, {a["pk"], b["pk"]})
    critical = critical_rubrics(conn)
    return shown | {
        "a": a,
        "b": b,
        "totals": {run["pk"]: totals(counts[run["pk"]], critical) for run in (a, b)},
        "compared": found.alignment.overlap.checks,
        "unchanged": found.unchanged,
        "issues": found.issues,
        "comparable": found.comparable,
        "significance": found.significance_text(),
        "difference": difference(a, b),
        **_changes(conn, (a, b), filters),
    }


# Finished runs never change: the last comparisons are kept, so that paging through one asks for it once.
_KEPT: dict[tuple[str, ...], Comparison] = {}


def _comparison(conn: sqlite3.Connection, a: dict[str, Any], b: dict[str, Any]) -> Comparison:
    file = conn.execute("PRAGMA database_list").fetchone()[2]
    key = (file, a["id"], b["id"], a["finished_at"] or "", b["finished_at"] or "")
    if key in _KEPT:
        return _KEPT[key]
    rows: list[Any] = [a, b]  # dicts read by name as rows do
    found = compare(run_facts(conn, rows[0]), run_facts(conn, rows[1]), align(conn, rows[0], rows[1]))
    if file and a["finished_at"] and b["finished_at"]:
        if len(_KEPT) >= 16:
            _KEPT.clear()
        _KEPT[key] = found
    return found


def _changes(conn: sqlite3.Connection, runs: tuple[dict[str, Any], dict[str, Any]], filters: Filters) -> dict[str, Any]:
    """The changes that filters leave: counted by kind, rubric and group, and one page of them."""
    found = differences(conn, runs, same_content=True)
    side = 0 if filters["match"] == "a" else 1
    rows = left(found, runs, Narrowed(conn, filters), side)
    chosen = [row for row in rows if not filters["change"] or _kind(row.pattern) == filters["change"]]
    listed = sum(len(row.cases) for row in chosen)
    pages = max(1, -(-listed // PAGE))
    page = min(filters.page, pages)
    choices = of_checks(found.rubrics[side].values(), kinds_in(left(found, runs, Narrowed(conn, ALL), side)))
    choices |= {"metadata": metadata_keys(conn, runs[side]["pk"])}
    about = {"change": list(CATEGORIES), "match": [*filter(None, MATCH)]}
    problems = unknown(filters, choices | about, SORTS)
    return {
        "kinds": [
            {"name": name, "title": title, "colour": colour, "n": _sum(r for r in rows if _kind(r.pattern) == name)}
            for name, (title, colour) in TITLES.items()
        ],
        "by_rubric": _by_rubric(found, rows, side),
        "groups": groups(kinds_in(chosen), found.rubrics[side]),
        "changes": [
            _described(conn, runs, found, *one)
            for one in page_of(chosen, found.places, _rank(filters.sort, found), (page - 1) * PAGE, PAGE)
        ],
        "listed": listed,
        "page": page,
        "pages": pages,
        "choices": choices,
        "problems": problems or ([] if listed else why_nothing(conn, [runs[side]["pk"]], filters)),
    }


def _kind(pattern: Pattern) -> Category:
    before, after = pattern.verdicts
    assert before is not None and after is not None  # a change is in both runs
    return category(before.status, after.status)


def _sum(rows: Any) -> int:
    return sum(len(row.cases) for row in rows)


def _rank(sort: str, found: Differences) -> Any:
    """How changes are ordered before the order of their cases."""
    if sort == "case":
        return lambda pattern: 0
    if sort == "rubric":
        return lambda pattern: pattern.rubric_id
    severity = {name: SEVERITIES.index(row["severity"]) for name, row in found.rubrics[1].items()}
    return lambda pattern: (_WORST.index(_kind(pattern)), severity[pattern.rubric_id])


def _by_rubric(found: Differences, rows: Sequence[Left], side: int) -> list[dict[str, Any]]:
    """For each rubric that changed: how many of each kind, the worst first."""
    counts: dict[str, dict[Category, int]] = {}
    for row in rows:
        numbers = counts.setdefault(row.pattern.rubric_id, dict.fromkeys(TITLES, 0))
        numbers[_kind(row.pattern)] += len(row.cases)
    shown = [{"rubric": found.rubrics[side][name], "counts": numbers} for name, numbers in counts.items()]
    return sorted(shown, key=lambda row: [-row["counts"][name] for name in TITLES])


_SIDE = """
SELECT c.rubric, c.status AS code, c.critical, v.outcome, v.rule, v.reason, f.probabilities, f.confidence,
  f.evidence, NULL AS criterion, EXISTS (SELECT 1 FROM repeat_flips p
    WHERE p.run = c.run AND p.case_key = c.case_key AND p.rubric = c.rubric) AS flips
FROM check_rows c JOIN verdicts v ON v.id = c.verdict
JOIN findings f ON f.case_key = c.case_key AND f.id = c.finding
WHERE c.run = ? AND c.case_key = ? AND c.rubric = ?
"""


def _described(
    conn: sqlite3.Connection,
    runs: tuple[dict[str, Any], dict[str, Any]],
    found: Differences,
    case: int,
    pattern: Pattern,
) -> dict[str, Any]:
    """A change with both checks; `flips` where one run's judge changes its mind when it is asked again."""
    sides = []
    for run, known in zip(runs, found.rubrics, strict=True):
        rubric = known[pattern.rubric_id]
        row = every(conn, _SIDE, (run["pk"], case, rubric["pk"]))[0]
        sides.append(describe(row, run, rubric))
    case_id = conn.execute("SELECT id FROM case_ids WHERE key = ?", (case,)).fetchone()[0]
    flips = any(side["flips"] for side in sides)
    return {"case_id": case_id, "flips": flips, "before": sides[0], "after": sides[1]}
