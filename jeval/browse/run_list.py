"""The list of runs: newest first, each with its counts and how runs of its kind went before."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jeval.browse.choices import metadata_keys, of_store, unknown, why_nothing
from jeval.browse.filters import Filters
from jeval.browse.kinds import groups
from jeval.browse.narrowed import Narrowed, rubrics_of_runs
from jeval.browse.rows import counts_of, every, totals

__all__ = ["ABOUT", "PAGE", "critical_rubrics", "run_choices", "run_conditions", "run_list", "run_names"]

PAGE = 40
_TREND = 12

# What the address says of the runs themselves, beside filters on their checks.
ABOUT = ("name", "dataset", "judge", "thresholds", "simulated", "state")
SORTS: dict[str, str] = {
    "": "newest first",
    "oldest": "oldest first",
    "name": "by name",
    "fail": "most failures first",
    "critical": "most critical failures first",
    "review": "most for review first",
    "error": "most errors first",
    "checks": "most checks first",
    "cost": "dearest first",
}
_BY: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "name": lambda run: (run["name"] is None, (run["name"] or run["id"]).lower()),
    "critical": lambda run: -run["critical_failures"],
    "checks": lambda run: -run["checks"],
    "cost": lambda run: -(run["cost_usd"] or 0),
    **{status: lambda run, status=status: -run["counts"][status] for status in ("fail", "review", "error")},  # type: ignore[misc]
}

_COLUMNS = (
    "pk, id, name, started_at, finished_at, status, exit_code, dataset, cases, rubrics, metrics,"
    " thresholds, threshold_pass,"
    " threshold_fail, judge, model_asked, model_served, simulated, requests, judgments_asked,"
    " judgments_reused, cost_usd,"
    " wall_s, sweep_id, sweep_position"
)
# A run that goes on, or was killed, has no end.
_STATE = "CASE WHEN finished_at IS NULL THEN 'unfinished' ELSE status END"
_SIMULATED = "CASE WHEN simulated THEN 'yes' ELSE 'no' END"
_SAYS = {"dataset": "dataset", "judge": "judge", "thresholds": "thresholds", "simulated": _SIMULATED, "state": _STATE}

_MEANS = """
SELECT m.id, avg(r.score) AS mean FROM score_rows s
JOIN score_results r ON r.id = s.result JOIN metrics m ON m.pk = s.metric
WHERE s.run = ? GROUP BY s.metric ORDER BY m.id
"""

# So many runs at a time are asked for checks that match.
_AT_ONCE = 50


def run_conditions(filters: Filters) -> tuple[str, dict[str, str]]:
    """SQL for what the filters say of runs themselves, on a row of `runs`, and its parameters."""
    conditions, params = ["1"], {}
    for name, column in _SAYS.items():
        if filters[name]:
            conditions.append(f"{column} = :{name}")
            params[name] = filters[name]
    if filters["name"]:
        conditions.append("instr(lower(coalesce(name, '') || ' ' || id || ' ' || tags), lower(:name)) > 0")
        params["name"] = filters["name"]
    return " AND ".join(conditions), params


def run_choices(conn: sqlite3.Connection, dataset: str = "") -> dict[str, list[str]]:
    """What the runs of the store, or of one dataset, say of themselves."""
    sql = "SELECT DISTINCT {0} FROM runs WHERE {0} IS NOT NULL AND ?1 IN ('', dataset) ORDER BY 1 LIMIT 200"
    return {name: [row[0] for row in conn.execute(sql.format(column), (dataset,))] for name, column in _SAYS.items()}


def run_list(conn: sqlite3.Connection, filters: Filters) -> dict[str, Any]:
    """What the list shows: `runs` of this page with the counts of the checks that filters leave, whether there
    are `more`, each filter's `choices`; `groups` where checks are narrowed.

    Where filters look at checks, a run without any that matches is not shown.
    """
    critical = critical_rubrics(conn)
    narrowed = Narrowed(conn, filters)
    shown, more = _page(conn, filters, narrowed, critical)
    choices: dict[str, Any] = run_choices(conn)
    latest = [row[0] for row in conn.execute("SELECT pk FROM runs ORDER BY started_at DESC, pk DESC LIMIT 1")]
    choices |= of_store(conn, every(conn, "SELECT id, severity, kind FROM rubrics ORDER BY id"))
    choices |= {"metadata": metadata_keys(conn, latest[0]) if latest else {}}
    for run in shown:
        run["means"] = _means(conn, run) if run["metrics"] else ()
    if not filters.active:
        _add_trends(conn, shown, critical)
    problems = unknown(filters, choices, SORTS)
    if not problems and not shown and filters.active:
        problems = why_nothing(conn, [row["pk"] for row in _runs(conn, filters)[:20]], filters)
    return {
        "runs": shown,
        "before_first": _before_first(shown),
        "more": more,
        "filters": filters,
        "page": filters.page,
        "choices": choices,
        "sorts": SORTS,
        "problems": problems,
        "groups": _groups(conn, shown, narrowed) if filters.active else [],
    }


def _runs(conn: sqlite3.Connection, filters: Filters, limit: int = -1, skip: int = 0) -> list[dict[str, Any]]:
    conditions, params = run_conditions(filters)
    order = "started_at, pk" if filters.sort == "oldest" else "started_at DESC, pk DESC"
    sql = f"SELECT {_COLUMNS} FROM runs WHERE {conditions} ORDER BY {order} LIMIT :limit OFFSET :skip"  # noqa: S608
    return every(conn, sql, params | {"limit": limit, "skip": skip})


def _page(
    conn: sqlite3.Connection, filters: Filters, narrowed: Narrowed, critical: set[int]
) -> tuple[list[dict[str, Any]], bool]:
    """One page of runs with their counts, and whether there are more."""
    skip, order = (filters.page - 1) * PAGE, _BY.get(filters.sort)
    if order is None and not filters.active:
        rows = _runs(conn, filters, PAGE + 1, skip)
        return _counted(conn, rows[:PAGE], narrowed, critical), len(rows) > PAGE
    found: list[dict[str, Any]] = []
    candidates = _runs(conn, filters)
    for start in range(0, len(candidates), _AT_ONCE):
        some = _counted(conn, candidates[start : start + _AT_ONCE], narrowed, critical)
        found += [run for run in some if run["checks"] or not filters.active]
        if order is None and len(found) > skip + PAGE:
            break
    if order is not None:
        found.sort(key=order)
    return found[skip : skip + PAGE], len(found) > skip + PAGE


def _counted(
    conn: sqlite3.Connection, runs: Sequence[dict[str, Any]], narrowed: Narrowed, critical: set[int]
) -> list[dict[str, Any]]:
    """Runs with the totals of the checks that filters leave; `of` says how many checks a run has at all."""
    counts, whole = narrowed.counts(runs), counts_of(conn, [run["pk"] for run in runs])
    return [
        run | totals(counts[run["pk"]], critical) | {"of": totals(whole[run["pk"]])["checks"], "trend": []}
        for run in runs
    ]


# Finished runs never change, and a mean takes a look at every case.
_KEPT: dict[tuple[str, str, str], list[dict[str, Any]]] = {}


def _means(conn: sqlite3.Connection, run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each metric's mean in a run, None where it scored no case."""
    file = conn.execute("PRAGMA database_list").fetchone()[2]
    key = (file, run["id"], run["finished_at"] or "")
    if key in _KEPT:
        return _KEPT[key]
    found = every(conn, _MEANS, (run["pk"],))
    if file and run["finished_at"]:
        if len(_KEPT) >= 2000:
            _KEPT.clear()
        _KEPT[key] = found
    return found


def _before_first(shown: Sequence[dict[str, Any]]) -> str | None:
    """The id of the run to hold the first against: the next of the same dataset, or simply the next."""
    rest = [run for run in shown[1:] if run["dataset"] == shown[0]["dataset"]] or shown[1:]
    return rest[0]["id"] if rest else None


def _groups(conn: sqlite3.Connection, runs: Sequence[dict[str, Any]], narrowed: Narrowed) -> list[dict[str, Any]]:
    """What of these runs' checks needs eyes, in groups over all of them."""
    rubrics = {row["pk"]: row for row in rubrics_of_runs(conn, [run["pk"] for run in runs])}
    kinds = [kind._replace(rubric=rubrics[kind.rubric]["id"]) for run in runs for kind in narrowed.kinds(run)]
    return groups(kinds, {row["id"]: row for row in rubrics.values()})


def _add_trends(conn: sqlite3.Connection, runs: list[dict[str, Any]], critical: set[int]) -> None:
    """Give each run the pass rates of the runs of its kind up to it, oldest first."""
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
    sums = {key: totals(value, critical) for key, value in counts_of(conn, wanted).items()}
    for run in runs:
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
