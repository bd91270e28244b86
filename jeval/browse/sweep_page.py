"""A sweep: status counts across its profiles, and the checks that are not the same everywhere."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jeval.browse.choices import metadata_keys, of_store, unknown, why_nothing
from jeval.browse.differing import Differences, Pattern, differences, kinds_in, left, page_of
from jeval.browse.filters import Filters
from jeval.browse.kinds import groups
from jeval.browse.narrowed import Narrowed, rubrics_of_runs
from jeval.browse.rows import NotHere, every, totals
from jeval.browse.run_list import critical_rubrics

__all__ = ["ABOUT", "sweep_page"]

PAGE = 60

# What the address says beside filters: the run that filters look at, and the order of the profiles.
ABOUT = ("match", "profiles")
SORTS = {"": "critical first", "case": "by case", "rubric": "by rubric"}
PROFILES: dict[str, tuple[str, Callable[[Mapping[str, Any]], Any]]] = {
    "": ("as they were swept", lambda run: 0),
    "pass": ("most passed first", lambda run: -run["counts"]["pass"]),
    "fail": ("most failed first", lambda run: -run["counts"]["fail"]),
    "review": ("most for review first", lambda run: -run["counts"]["review"]),
    "critical": ("most critical failures first", lambda run: -run["critical_failures"]),
}


def sweep_page(conn: sqlite3.Connection, sweep: str, filters: Filters) -> dict[str, Any]:
    """All that the page of a sweep shows: its runs with the counts of the checks that filters leave, and the
    checks that differ between runs. Raises NotHere."""
    swept = every(
        conn,
        "SELECT pk, id, name, started_at, finished_at, status, dataset, thresholds,"
        " threshold_pass, threshold_fail, judge, rubrics,"
        " simulated, sweep_position, judgments_asked, judgments_reused FROM runs WHERE sweep_id = ?"
        " ORDER BY sweep_position, pk LIMIT 200",
        (sweep,),
    )
    if not swept:
        raise NotHere(f"The store holds no sweep {sweep}. A run that belongs to one links to it.")
    narrowed = Narrowed(conn, filters)
    counts = narrowed.counts(swept)
    critical = critical_rubrics(conn)
    for run in swept:
        run |= totals(counts[run["pk"]], critical)
    _, order = PROFILES.get(filters["profiles"], PROFILES[""])
    failed = every(
        conn,
        "SELECT position, overrides, error FROM sweep_jobs WHERE sweep_id = ? AND error IS NOT"
        " NULL ORDER BY position LIMIT 50",
        (sweep,),
    )
    return {
        "sweep": sweep,
        "runs": sorted(swept, key=order),
        "failed": failed,
        "filters": filters,
        "sorts": SORTS,
        "profiles": {name: words for name, (words, _) in PROFILES.items()},
        "match": {"": "any run"} | {run["id"]: _called(run) for run in swept},
        **_flips(conn, swept, narrowed),
    }


def _called(run: Mapping[str, Any]) -> str:
    numbers = " / ".join(f"{run[name]:g}" for name in ("threshold_pass", "threshold_fail") if run[name] is not None)
    return f"{run['name'] or run['thresholds'] or 'custom'} {numbers}"


def _flips(conn: sqlite3.Connection, runs: Sequence[dict[str, Any]], narrowed: Narrowed) -> dict[str, Any]:
    """The checks that are not the same everywhere and that filters leave: grouped, counted, one page of them."""
    found, filters = differences(conn, runs, same_content=False), narrowed.filters
    ids = [run["id"] for run in runs]
    side = ids.index(filters["match"]) if filters["match"] in ids else None
    rows = left(found, runs, narrowed, side)
    total = sum(len(row.cases) for row in rows)
    pages = max(1, -(-total // PAGE))
    page = min(filters.page, pages)
    by_rubric: dict[str, int] = {}
    for row in rows:
        by_rubric[row.pattern.rubric_id] = by_rubric.get(row.pattern.rubric_id, 0) + len(row.cases)
    choices = of_store(conn, rubrics_of_runs(conn, [run["pk"] for run in runs]))
    choices |= {"metadata": metadata_keys(conn, runs[0]["pk"])}
    about = {"match": ids, "profiles": [*filter(None, PROFILES)]}
    problems = unknown(filters, choices | about, SORTS)
    nothing = not total and not any(run["checks"] for run in runs)
    return {
        "total": total,
        "page": page,
        "pages": pages,
        "by_rubric": sorted(by_rubric.items(), key=lambda item: -item[1]),
        "groups": groups(kinds_in(rows), _rubrics(found)),
        "flips": [
            _flip(conn, runs, found, *one)
            for one in page_of(rows, found.places, _rank(filters.sort, found), (page - 1) * PAGE, PAGE)
        ],
        "choices": choices,
        "problems": problems or (why_nothing(conn, [run["pk"] for run in runs[:5]], filters) if nothing else []),
    }


def _rubrics(found: Differences) -> dict[str, dict[str, Any]]:
    """Rubrics by id, as the first run that has them used them."""
    return {name: row for rubrics in reversed(found.rubrics) for name, row in rubrics.items()}


def _rank(sort: str, found: Differences) -> Callable[[Pattern], Any]:
    """How flips are ordered before the order of their cases."""
    if sort == "case":
        return lambda pattern: 0
    if sort == "rubric":
        return lambda pattern: pattern.rubric_id
    return lambda pattern: not _critical(found, pattern)


def _critical(found: Differences, pattern: Pattern) -> bool:
    """Whether a critical rubric fails in one of the runs."""
    return any(
        verdict is not None and verdict.status == "fail" and rubrics[pattern.rubric_id]["severity"] == "critical"
        for verdict, rubrics in zip(pattern.verdicts, found.rubrics, strict=True)
    )


def _flip(
    conn: sqlite3.Connection, runs: Sequence[dict[str, Any]], found: Differences, case: int, pattern: Pattern
) -> dict[str, Any]:
    case_id = conn.execute("SELECT id FROM case_ids WHERE key = ?", (case,)).fetchone()[0]
    cells = {run["pk"]: verdict and verdict.status for run, verdict in zip(runs, pattern.verdicts, strict=True)}
    return {"case_id": case_id, "rubric": pattern.rubric_id, "critical": _critical(found, pattern), "cells": cells}
