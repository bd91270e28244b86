"""Cases down, runs across: what broke when, seen at once."""

import json
import sqlite3
from typing import Any

from jeval.browse.filters import Filters
from jeval.browse.narrowed import cases_left
from jeval.browse.rows import every, rubrics_of

__all__ = ["history_page"]

PAGE = 60
_RUNS = 20
# A case's cell is its worst status: fail, error, review, pass, skipped.
_WORST = "min(CASE c.status WHEN 1 THEN 0 WHEN 4 THEN 1 WHEN 2 THEN 2 WHEN 0 THEN 3 ELSE 4 END)"
_BY_RANK = ("fail", "error", "review", "pass", "skipped")


def history_page(conn: sqlite3.Connection, state: dict[str, str], filters: Filters) -> dict[str, Any]:
    """All that the history shows: `runs` oldest first, and `cases` with a `cells` entry for each run or
    None."""
    datasets = [
        row[0]
        for row in conn.execute("SELECT dataset FROM runs GROUP BY dataset ORDER BY max(started_at) DESC LIMIT 200")
    ]
    dataset = state.get("dataset") or (datasets[0] if datasets else "")
    profiles = _values(conn, "thresholds", dataset)
    judges = _values(conn, "judge", dataset)
    conditions, params = ["dataset = :dataset"], {"dataset": dataset}
    for name in ("thresholds", "judge"):
        if state.get(name):
            conditions.append(f"{name} = :{name}")
            params[name] = state[name]
    runs = every(
        conn,
        "SELECT pk, id, name, started_at, thresholds, judge, simulated FROM runs"  # noqa: S608 - our own names
        f" WHERE {' AND '.join(conditions)} ORDER BY started_at DESC, pk DESC LIMIT {_RUNS}",
        params,
    )[::-1]
    rubrics = _rubric_ids(conn, runs)
    rubric = state.get("rubric", "")
    page = filters.page
    left = None
    if runs:
        latest = runs[-1]["pk"]
        left = cases_left(conn, latest, rubrics_of(conn, latest), filters)
    cases, more = _cases(conn, runs, rubric, bool(state.get("changed")), page, left)
    return {
        "runs": runs,
        "cases": cases,
        "more": more,
        "state": state,
        "filters": filters,
        "page": page,
        "dataset": dataset,
        "choices": {"dataset": datasets, "thresholds": profiles, "judge": judges, "rubric": rubrics},
    }


def _values(conn: sqlite3.Connection, column: str, dataset: str) -> list[str]:
    sql = f"SELECT DISTINCT {column} FROM runs WHERE dataset = ? AND {column} IS NOT NULL ORDER BY 1 LIMIT 100"  # noqa: S608
    return [row[0] for row in conn.execute(sql, (dataset,))]


def _keys(runs: list[dict[str, Any]]) -> str:
    return ", ".join(str(run["pk"]) for run in runs)


def _rubric_ids(conn: sqlite3.Connection, runs: list[dict[str, Any]]) -> list[str]:
    sql = (
        f"SELECT DISTINCT r.id FROM run_rubrics rr JOIN rubrics r ON r.pk = rr.rubric WHERE"  # noqa: S608
        f" rr.run IN ({_keys(runs)}) ORDER BY 1"
    )
    return [row[0] for row in conn.execute(sql)]


def _cases(
    conn: sqlite3.Connection,
    runs: list[dict[str, Any]],
    rubric: str,
    changed: bool,
    page: int,
    left: list[int] | None,
) -> tuple[list[dict[str, Any]], bool]:
    if not runs:
        return [], False
    params: dict[str, Any] = {"rubric": rubric, "left": json.dumps(left)}
    only = "AND c.rubric IN (SELECT pk FROM rubrics WHERE id = :rubric)" if rubric else ""
    some = "AND c.case_key IN (SELECT value FROM json_each(:left))" if left is not None else ""
    limit = f"LIMIT {PAGE + 1} OFFSET {(page - 1) * PAGE}"
    if changed:
        chosen = (
            f"SELECT case_key FROM (SELECT c.run, c.case_key, {_WORST} AS worst FROM check_rows c"  # noqa: S608
            f" WHERE c.run IN ({_keys(runs)}) {only} {some}"
            " GROUP BY c.run, c.case_key) GROUP BY case_key HAVING min(worst) <> max(worst)"
            f" ORDER BY case_key {limit}"
        )
    else:
        chosen = (
            f"SELECT c.case_key FROM run_cases c WHERE c.run IN ({_keys(runs)}) {some}"  # noqa: S608
            f" GROUP BY c.case_key ORDER BY min(c.position), c.case_key {limit}"
        )
    keys = [row[0] for row in conn.execute(chosen, params)]
    more, keys = len(keys) > PAGE, keys[:PAGE]
    marks = ", ".join(map(str, keys))
    cells: dict[int, dict[int, str]] = {key: {} for key in keys}
    sql = (
        f"SELECT c.run, c.case_key, {_WORST} FROM check_rows c WHERE c.run IN ({_keys(runs)}) AND"  # noqa: S608
        f" c.case_key IN ({marks}) {only}"
        " GROUP BY c.run, c.case_key"
    )
    for run, key, worst in conn.execute(sql, params):
        cells[key][run] = _BY_RANK[worst]
    names = dict(conn.execute(f"SELECT key, id FROM case_ids WHERE key IN ({marks})"))  # noqa: S608
    return [{"id": names[key], "cells": [cells[key].get(run["pk"]) for run in runs]} for key in keys], more
