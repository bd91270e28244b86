"""The list of runs: newest first, each with its counts and how runs of its kind went before."""

import sqlite3
from typing import Any

from jeval.browse.rows import counts_of, every, totals

__all__ = ["PAGE", "run_list", "run_names"]

PAGE = 40
_TREND = 12

_COLUMNS = (
    "pk, id, name, started_at, finished_at, status, exit_code, dataset, cases, rubrics, metrics,"
    " thresholds, threshold_pass,"
    " threshold_fail, judge, model_asked, model_served, simulated, requests, judgments_asked,"
    " judgments_reused, cost_usd,"
    " wall_s, sweep_id, sweep_position"
)
_DISTINCT = "SELECT DISTINCT {0} FROM runs WHERE {0} IS NOT NULL ORDER BY 1 LIMIT 200"
_CHOICES = ("dataset", "judge", "thresholds", "status")


def run_list(conn: sqlite3.Connection, state: dict[str, str], page: int) -> dict[str, Any]:
    """What the list shows: `runs` of this page, whether there are `more`, and each filter's `choices`."""
    conditions, params = ["1"], {}
    for name in _CHOICES:
        if state.get(name):
            conditions.append(f"{name} = :{name}")
            params[name] = state[name]
    if state.get("q"):
        conditions.append("(instr(lower(coalesce(name, '') || ' ' || id || ' ' || tags), lower(:q)) > 0)")
        params["q"] = state["q"]
    rows = every(
        conn,
        f"SELECT {_COLUMNS} FROM runs WHERE {' AND '.join(conditions)}"  # noqa: S608 - our own names
        " ORDER BY started_at DESC, pk DESC LIMIT :limit OFFSET :offset",
        params | {"limit": PAGE + 1, "offset": (page - 1) * PAGE},
    )
    shown = rows[:PAGE]
    _add_counts(conn, shown)
    choices = {name: [row[0] for row in conn.execute(_DISTINCT.format(name))] for name in _CHOICES}
    return {"runs": shown, "more": len(rows) > PAGE, "choices": choices}


def _add_counts(conn: sqlite3.Connection, runs: list[dict[str, Any]]) -> None:
    earlier = {
        run["pk"]: [
            row[0]
            for row in conn.execute(
                "SELECT pk FROM runs WHERE dataset = ? AND coalesce(thresholds, '') ="
                " coalesce(?, '') AND judge = ?"
                " AND started_at <= ? ORDER BY started_at DESC LIMIT ?",
                (run["dataset"], run["thresholds"], run["judge"], run["started_at"], _TREND),
            )
        ]
        for run in runs
    }
    wanted = {run["pk"] for run in runs}.union(*earlier.values()) if runs else set()
    counts = counts_of(conn, wanted)
    critical = critical_rubrics(conn)
    sums = {key: totals(value, critical) for key, value in counts.items()}
    for run in runs:
        run |= sums[run["pk"]]
        rates = [sums[key] for key in reversed(earlier[run["pk"]])]
        run["trend"] = [s["counts"]["pass"] / s["decided"] if s["decided"] else None for s in rates]


def critical_rubrics(conn: sqlite3.Connection) -> set[int]:
    """The keys of all rubrics of critical severity."""
    return {row[0] for row in conn.execute("SELECT pk FROM rubrics WHERE severity = 'critical'")}


def run_names(conn: sqlite3.Connection, limit: int = 200) -> list[dict[str, Any]]:
    """The latest runs, to choose from."""
    return every(
        conn,
        "SELECT pk, id, name, started_at, dataset, thresholds, judge FROM runs ORDER BY"
        " started_at DESC, pk DESC LIMIT ?",
        (limit,),
    )
