"""Cases down, runs across: what broke when, seen at once."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from jeval.browse.choices import metadata_keys, of_store, unknown, why_nothing
from jeval.browse.chosen import some_cases
from jeval.browse.filters import Filters
from jeval.browse.kinds import groups, kinds_left
from jeval.browse.narrowed import cases_left, rubrics_of_runs
from jeval.browse.rows import every, rubrics_of
from jeval.browse.run_list import run_choices, run_conditions

__all__ = ["ABOUT", "history_page"]

PAGE = 60
_RUNS = 20

# What the address says beside filters: which runs stand across, the one that filters look at, and whether only
# cases are shown that changed.
ABOUT = ("dataset", "thresholds", "judge", "simulated", "name", "match", "changed")
SORTS = {"": "as the dataset has them", "case": "by case id", "worst": "worst in the latest run first"}
MATCH = {"": "the latest run", "any": "any run shown"}

# A case's cell is its worst status: fail, error, review, pass, skipped.
_WORST = "min(CASE c.status WHEN 1 THEN 0 WHEN 4 THEN 1 WHEN 2 THEN 2 WHEN 0 THEN 3 ELSE 4 END)"
_BY_RANK = ("fail", "error", "review", "pass", "skipped")


def history_page(conn: sqlite3.Connection, filters: Filters) -> dict[str, Any]:
    """All that the history shows: `runs` oldest first, and `cases` with a `cells` entry for each run or None."""
    datasets = [
        row[0]
        for row in conn.execute("SELECT dataset FROM runs GROUP BY dataset ORDER BY max(started_at) DESC LIMIT 200")
    ]
    dataset = filters["dataset"] or (datasets[0] if datasets else "")
    conditions, params = run_conditions(filters)
    runs = every(
        conn,
        "SELECT pk, id, name, started_at, finished_at, thresholds, judge, simulated FROM runs"  # noqa: S608 - our own
        f" WHERE dataset = :of AND {conditions} ORDER BY started_at DESC, pk DESC LIMIT {_RUNS}",
        params | {"of": dataset},
    )[::-1]
    rubrics = rubrics_of_runs(conn, [run["pk"] for run in runs])
    cases, more = _cases(conn, runs, rubrics, filters) if runs else ([], False)
    choices: dict[str, Any] = of_store(conn, rubrics) | run_choices(conn, dataset) | {"dataset": datasets}
    choices |= {"metadata": metadata_keys(conn, runs[-1]["pk"]) if runs else {}}
    choices.pop("state")
    about = {"match": [*filter(None, MATCH)], "changed": ["1"]}
    problems = unknown(filters, choices | about, SORTS)
    if not problems and not cases and filters.active:
        problems = why_nothing(conn, [run["pk"] for run in runs[-5:]], filters)
    return {
        "runs": runs,
        "cases": cases,
        "more": more,
        "filters": filters,
        "page": filters.page,
        "dataset": dataset,
        "choices": choices,
        "sorts": SORTS,
        "match": MATCH,
        "problems": problems,
        "groups": _groups(conn, runs[-1], filters) if runs else [],
    }


def _groups(conn: sqlite3.Connection, run: dict[str, Any], filters: Filters) -> list[dict[str, Any]]:
    """What needs eyes in the latest run, of the checks that filters leave there."""
    rubrics = rubrics_of(conn, run["pk"])
    cases = some_cases(conn, run["pk"], filters)
    return groups(kinds_left(conn, run, rubrics, filters, cases), {row["pk"]: row for row in rubrics})


def _keys(runs: Sequence[dict[str, Any]]) -> str:
    return ", ".join(str(int(run["pk"])) for run in runs)


def _matching(conn: sqlite3.Connection, runs: Sequence[dict[str, Any]], filters: Filters) -> list[int] | None:
    """The cases with a check that filters leave, in the latest run or in any; None for all."""
    if not filters.active:
        return None
    found: set[int] = set()
    for run in runs if filters["match"] == "any" else runs[-1:]:
        left = cases_left(conn, run["pk"], rubrics_of(conn, run["pk"]), filters)
        if left is None:
            left = [row[0] for row in conn.execute("SELECT case_key FROM run_cases WHERE run = ?", (run["pk"],))]
        found.update(left)
    return sorted(found)


def _cases(
    conn: sqlite3.Connection, runs: Sequence[dict[str, Any]], rubrics: Sequence[dict[str, Any]], filters: Filters
) -> tuple[list[dict[str, Any]], bool]:
    """One page of cases with their cells, and whether there are more."""
    left = _matching(conn, runs, filters)
    of = [row["pk"] for row in rubrics if filters.takes_rubric(row)]
    only = f"AND c.rubric IN ({', '.join(map(str, of))})" if len(of) < len(rubrics) else ""
    params = {"left": json.dumps(left), "limit": PAGE + 1, "skip": (filters.page - 1) * PAGE}
    keys = [row[0] for row in conn.execute(_chosen(runs, filters, only, narrowed=left is not None), params)]
    more, keys = len(keys) > PAGE, keys[:PAGE]
    marks = ", ".join(map(str, keys))
    cells: dict[int, dict[int, str]] = {key: {} for key in keys}
    sql = (
        f"SELECT c.run, c.case_key, {_WORST} FROM check_rows c WHERE c.run IN ({_keys(runs)}) AND"  # noqa: S608
        f" c.case_key IN ({marks}) {only} GROUP BY c.run, c.case_key"
    )
    for run, key, worst in conn.execute(sql):
        cells[key][run] = _BY_RANK[worst]
    names = dict(conn.execute(f"SELECT key, id FROM case_ids WHERE key IN ({marks})"))  # noqa: S608
    return [{"id": names[key], "cells": [cells[key].get(run["pk"]) for run in runs]} for key in keys], more


def _chosen(runs: Sequence[dict[str, Any]], filters: Filters, only: str, *, narrowed: bool) -> str:
    """SQL for the keys of one page of cases; `only` narrows the checks that cells and changes look at."""
    some = "AND c.case_key IN (SELECT value FROM json_each(:left))" if narrowed else ""
    sql = f"SELECT c.case_key, min(c.position) AS place FROM run_cases c WHERE c.run IN ({_keys(runs)}) {some}"  # noqa: S608
    if filters["changed"]:
        sql += (
            f" AND c.case_key IN (SELECT case_key FROM (SELECT c.case_key, {_WORST} AS worst FROM check_rows c"  # noqa: S608
            f" WHERE c.run IN ({_keys(runs)}) {only} {some} GROUP BY c.run, c.case_key)"
            " GROUP BY case_key HAVING min(worst) <> max(worst))"
        )
    sql += " GROUP BY c.case_key"
    order = "o.place, o.case_key"
    if filters.sort == "case":
        order = "(SELECT id FROM case_ids WHERE key = o.case_key)"
    elif filters.sort == "worst":
        worst = f"SELECT c.case_key, {_WORST} AS worst FROM check_rows c WHERE c.run = {runs[-1]['pk']} {only}"  # noqa: S608
        sql = f"SELECT n.*, w.worst FROM ({sql}) n LEFT JOIN ({worst} GROUP BY c.case_key) w ON w.case_key = n.case_key"  # noqa: S608
        order = "o.worst IS NULL, o.worst, o.place, o.case_key"
    return f"SELECT o.case_key FROM ({sql}) o ORDER BY {order} LIMIT :limit OFFSET :skip"  # noqa: S608
