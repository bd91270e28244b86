"""What there is to filter by, and what an address asks for that there is not, in words."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jeval.browse.chosen import LATENCIES, chosen_cases
from jeval.browse.filters import STATUSES, Filters
from jeval.browse.kinds import Kind

__all__ = ["Choices", "metadata_keys", "of_checks", "of_store", "unknown", "why_nothing"]

# {filter: its values}; under "metadata", {key: values}.
Choices = dict[str, Any]

# How many of a filter's values a message names, and from how many cases metadata is offered.
_NAMED = 20
_CASES = 200

_TITLES = {
    "rule": "rule or error",
    "sort": "order",
    "match": "side to look at",
    "profiles": "order of profiles",
    "simulated": "value of simulated",
    "thresholds": "threshold profile",
    "state": "state of a run",
}


def of_checks(rubrics: Iterable[Mapping[str, Any]], kinds: Iterable[Kind]) -> Choices:
    """The values that checks of these rubrics and kinds have."""
    rows, found = list(rubrics), list(kinds)
    return _of_rubrics(rows) | {
        "outcome": sorted({kind.verdict.outcome for kind in found if kind.verdict.outcome}),
        "rule": sorted({kind.verdict.rule for kind in found}),
    }


def of_store(conn: sqlite3.Connection, rubrics: Iterable[Mapping[str, Any]]) -> Choices:
    """The values of these rubrics, with every outcome and rule of the store: for lists of many runs."""
    sql = "SELECT DISTINCT {0} FROM verdicts WHERE {0} IS NOT NULL ORDER BY 1 LIMIT 1000"
    return _of_rubrics(list(rubrics)) | {
        name: [row[0] for row in conn.execute(sql.format(name))] for name in ("outcome", "rule")
    }


def _of_rubrics(rubrics: Sequence[Mapping[str, Any]]) -> Choices:
    found: Choices = {"status": list(STATUSES), "rubric": list(dict.fromkeys(row["id"] for row in rubrics))}
    order = ("critical", "major", "minor")
    found["severity"] = sorted({row["severity"] for row in rubrics}, key=order.index)
    return found | {"kind": sorted({row["kind"] for row in rubrics})}


def metadata_keys(conn: sqlite3.Connection, run: int, cases: int = _CASES) -> dict[str, list[str]]:
    """{key: values} of the metadata of the first cases of a run, to choose from."""
    rows = conn.execute(
        "SELECT m.key, CASE m.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE"
        " CAST(m.value AS TEXT) END"
        " FROM (SELECT content FROM run_cases WHERE run = ? LIMIT ?) rc JOIN case_rows b ON b.pk = rc.content,"
        " json_each(b.body, '$.metadata') m WHERE m.type NOT IN ('object', 'array', 'null')",
        (run, cases),
    )
    found: dict[str, set[str]] = {}
    for key, value in rows:
        found.setdefault(key, set()).add(value)
    return {key: sorted(values)[:30] for key, values in sorted(found.items())[:20]}


def unknown(filters: Filters, choices: Mapping[str, Any], sorts: Iterable[str] = ()) -> list[str]:
    """What the address asks for that is not there: each value named, with what there is instead."""
    allowed = {name: values for name, values in choices.items() if name != "metadata"}
    allowed["sort"] = [*filter(None, sorts)]
    found = []
    for name, values in allowed.items():
        asked = filters[name]
        for value in (asked,) if isinstance(asked, str) else asked:
            if value and value not in values:
                found.append(f"There is no {_TITLES.get(name, name)} “{value}” here. {_there_are(values)}")
    if filters.value and not filters.key:
        keys = _there_are(list(choices.get("metadata", ())))
        found.append(f"The metadata value “{filters.value}” narrows nothing without a key. {keys}")
    for name, text in filters.unread:
        found.append(f"{name}: “{text}” is no number of milliseconds, and narrows nothing. Write one, such as 1500.")
    for name in filters.strangers:
        names = [*(n for n in allowed if n != "sort" or sorts), "case", "key", "value", "slower", "faster", "q"]
        found.append(f"There is no filter “{name}” here, so it narrows nothing. {_there_are(names)}")
    return found


def _there_are(values: Sequence[str]) -> str:
    if not values:
        return "There is none."
    more = f", … ({len(values):,} in all)" if len(values) > _NAMED else ""
    return f"There {'is only' if len(values) == 1 else 'are'}: {', '.join(values[:_NAMED])}{more}."


def why_nothing(conn: sqlite3.Connection, runs: Sequence[int], filters: Filters) -> list[str]:
    """For a list that is empty: which filter on cases nothing in these runs can match."""
    found = []
    if filters.case and not any(chosen_cases(conn, run, Filters(case=filters.case)) for run in runs):
        found.append(f"There is no case “{filters.case}” here.")
    if filters.key:
        found += _no_metadata(conn, runs, filters)
    if (filters.slower, filters.faster) != (None, None) and not any(_measured(conn, run) for run in runs):
        found.append("No request that these answers rest on has a measured latency.")
    return found


def _no_metadata(conn: sqlite3.Connection, runs: Sequence[int], filters: Filters) -> list[str]:
    known: dict[str, list[str]] = {}
    for run in runs[:5]:
        for key, values in metadata_keys(conn, run).items():
            known[key] = sorted({*known.get(key, ()), *values})
    if not any(chosen_cases(conn, run, Filters(key=filters.key)) for run in runs):
        return [f"No case here has metadata “{filters.key}”. {_there_are(list(known))}"]
    if not filters.value or any(chosen_cases(conn, run, Filters(key=filters.key, value=filters.value)) for run in runs):
        return []
    return [f"No case here has the metadata {filters.key} “{filters.value}”. {_there_are(known.get(filters.key, []))}"]


def _measured(conn: sqlite3.Connection, run: int) -> bool:
    sql = f"SELECT 1 FROM ({LATENCIES}) WHERE ms IS NOT NULL LIMIT 1"  # noqa: S608 - our own words
    return conn.execute(sql, {"run": run}).fetchone() is not None
