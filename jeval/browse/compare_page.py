"""Two runs side by side: what became worse first, each change with both distributions."""

import sqlite3
from typing import Any

from jeval.browse.check_list import describe
from jeval.browse.filters import STATUSES
from jeval.browse.rows import counts_of, every, find_run, rubrics_of, totals
from jeval.browse.run_list import critical_rubrics, run_names
from jeval.browse.run_page import difference

__all__ = ["CHANGES", "compare_page"]

PAGE = 40

# (name, title, SQL over the statuses of a and b), worst first. Each pair of statuses belongs to one.
CHANGES = (
    ("worse", "new failures", "b.status = 1"),
    ("error", "new errors", "b.status = 4"),
    ("review", "newly for review", "b.status = 2"),
    ("better", "failures resolved", "a.status = 1 AND b.status IN (0, 3)"),
    ("other", "other changes", "a.status <> 1 AND b.status IN (0, 3)"),
)

# Rubrics of the two runs are matched by id; checks by case id.
_MATCHED = """
WITH m (kb, ka) AS (SELECT rb.pk, ra.pk FROM run_rubrics xb JOIN rubrics rb ON rb.pk = xb.rubric
  JOIN rubrics ra ON ra.id = rb.id JOIN run_rubrics xa ON xa.rubric = ra.pk AND xa.run = :a WHERE xb.run = :b)
"""
_FROM = """
FROM check_rows b CROSS JOIN m ON m.kb = b.rubric
CROSS JOIN check_rows a ON a.run = :a AND a.case_key = b.case_key AND a.rubric = m.ka
WHERE b.run = :b
"""
_TALLY = f"{_MATCHED} SELECT b.rubric, a.status AS before, b.status AS after, count(*) AS n {_FROM} GROUP BY 1, 2, 3"  # noqa: S608


def compare_page(
    conn: sqlite3.Connection, first: str, second: str, change: str = "", rubric: str = "", page: int = 1
) -> dict[str, Any]:
    """All that the comparison shows; only the lists to choose from where a run is not named. Raises NotHere."""
    shown: dict[str, Any] = {"names": run_names(conn), "a": None, "b": None, "change": change, "rubric": rubric, "page": page}
    if not first or not second:
        return shown
    a, b = find_run(conn, first), find_run(conn, second)
    ra, rb = ({r["pk"]: r for r in rubrics_of(conn, run["pk"])} for run in (a, b))
    tally = every(conn, _TALLY, {"a": a["pk"], "b": b["pk"]})
    counts = counts_of(conn, {a["pk"], b["pk"]})
    critical = critical_rubrics(conn)
    changes = _changes(conn, a, b, (ra, rb), change, rubric, page)
    return shown | {
        "a": a,
        "b": b,
        "totals": {run["pk"]: totals(counts[run["pk"]], critical) for run in (a, b)},
        "matrix": _matrix(tally),
        "kinds": _kinds(tally),
        "by_rubric": _by_rubric(tally, rb),
        "compared": sum(row["n"] for row in tally),
        "changes": changes[:PAGE],
        "more": len(changes) > PAGE,
        "warnings": warnings(a, b, ra, rb),
        "difference": difference(a, b),
        "significance": None,
        "rubrics": sorted({r["id"] for r in rb.values()}),
    }


def _kind_of(before: str, after: str) -> str | None:
    """Which of CHANGES a pair of statuses is, None where nothing changed."""
    if before == after:
        return None
    if after in ("fail", "error", "review"):
        return {"fail": "worse", "error": "error", "review": "review"}[after]
    return "better" if before == "fail" else "other"


def _matrix(tally: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """{status before: {status after: n}}."""
    found = {before: dict.fromkeys(STATUSES, 0) for before in STATUSES}
    for row in tally:
        found[STATUSES[row["before"]]][STATUSES[row["after"]]] += row["n"]
    return found


def _kinds(tally: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How many changes of each kind there are, worst first."""
    numbers: dict[str, int] = {name: 0 for name, _, _ in CHANGES}
    for row in tally:
        kind = _kind_of(STATUSES[row["before"]], STATUSES[row["after"]])
        if kind:
            numbers[kind] += row["n"]
    return [{"name": name, "title": title, "n": numbers[name]} for name, title, _ in CHANGES]


def _by_rubric(tally: list[dict[str, Any]], rubrics: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
    """For each rubric that changed: how many of each kind, the worst first."""
    found: dict[int, dict[str, int]] = {}
    for row in tally:
        kind = _kind_of(STATUSES[row["before"]], STATUSES[row["after"]])
        if kind:
            counts = found.setdefault(row["rubric"], {name: 0 for name, _, _ in CHANGES})
            counts[kind] += row["n"]
    rows = [{"rubric": rubrics[key], "counts": counts} for key, counts in found.items()]
    return sorted(rows, key=lambda row: [-row["counts"][name] for name, _, _ in CHANGES])


_SIDE = """
SELECT c.rubric, c.status AS code, c.critical, v.outcome, v.rule, v.reason, f.probabilities, f.confidence, f.evidence,
  NULL AS criterion FROM check_rows c JOIN verdicts v ON v.id = c.verdict
JOIN findings f ON f.case_key = c.case_key AND f.id = c.finding WHERE c.run = ? AND c.case_key = ? AND c.rubric = ?
"""


def _changes(
    conn: sqlite3.Connection,
    a: dict[str, Any],
    b: dict[str, Any],
    rubrics: tuple[dict[int, dict[str, Any]], dict[int, dict[str, Any]]],
    change: str,
    rubric: str,
    page: int,
) -> list[dict[str, Any]]:
    """A page of changed checks and one more, worst first and critical before others."""
    ra, rb = rubrics
    rank = " ".join(f"WHEN {test} THEN {i}" for i, (_, _, test) in enumerate(CHANGES))
    conditions = ["a.status <> b.status"]
    conditions += [f"({test})" for name, _, test in CHANGES if name == change]
    if rubric:
        keys = ", ".join(str(key) for key, one in rb.items() if one["id"] == rubric)
        conditions.append(f"b.rubric IN ({keys})")
    serious = ", ".join(str(key) for key, one in rb.items() if one["severity"] == "critical")
    sql = (
        f"{_MATCHED} SELECT b.case_key, m.ka, m.kb, CASE {rank} END AS rank, b.rubric IN ({serious}) AS serious {_FROM}"  # noqa: S608
        f" AND {' AND '.join(conditions)} ORDER BY rank, serious DESC, b.case_key, b.rubric LIMIT {PAGE + 1} OFFSET {(page - 1) * PAGE}"
    )
    found = []
    for row in every(conn, sql, {"a": a["pk"], "b": b["pk"]}):
        before = every(conn, _SIDE, (a["pk"], row["case_key"], row["ka"]))[0]
        after = every(conn, _SIDE, (b["pk"], row["case_key"], row["kb"]))[0]
        case_id = conn.execute("SELECT id FROM case_ids WHERE key = ?", (row["case_key"],)).fetchone()[0]
        found.append(
            {
                "case_id": case_id,
                "kind": CHANGES[row["rank"]][0],
                "title": CHANGES[row["rank"]][1],
                "before": describe(before, a, ra[row["ka"]]),
                "after": describe(after, b, rb[row["kb"]]),
            }
        )
    return found


def warnings(
    a: dict[str, Any],
    b: dict[str, Any],
    ra: dict[int, dict[str, Any]],
    rb: dict[int, dict[str, Any]],
) -> list[str]:
    """What speaks against comparing these two runs, or limits what the comparison says."""
    found = []
    if bool(a["simulated"]) != bool(b["simulated"]):
        found.append("One run was judged by the offline judge, the other by a real one: their statuses say nothing about each other.")
    first = {r["id"]: r for r in ra.values()}
    for rubric in rb.values():
        other = first.get(rubric["id"])
        if other and (other["version"], other["sha256"]) != (rubric["version"], rubric["sha256"]):
            found.append(f"Rubric {rubric['id']} is {other['version']} in A and {rubric['version']} in B: results of two versions do not compare.")
    only_a, only_b = sorted(first.keys() - {r["id"] for r in rb.values()}), sorted({r["id"] for r in rb.values()} - first.keys())
    for where, ids in (("A", only_a), ("B", only_b)):
        if ids:
            found.append(f"Only {where} has {', '.join(ids)}; it is left out.")
    if a["dataset_sha256"] and b["dataset_sha256"] and a["dataset_sha256"] != b["dataset_sha256"]:
        found.append("The cases differ: those of one id are compared, whatever changed in them.")
    for word, key in (("model", "model_served"), ("judge", "judge")):
        if a[key] != b[key] and not (word == "judge" and found and "offline" in found[0]):
            found.append(f"The {word} differs: {a[key] or 'unknown'} in A, {b[key] or 'unknown'} in B.")
    for letter, run in (("A", a), ("B", b)):
        if run["finished_at"] is None:
            found.append(f"Run {letter} is not finished; only what both have judged is compared.")
    return found
