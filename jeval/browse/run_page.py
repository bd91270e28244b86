"""One run: its counts and rates, what failed, scores, configuration and what differs from the run before."""

import difflib
import json
import sqlite3
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from jeval.browse.again import command
from jeval.browse.check_list import list_of_checks
from jeval.browse.filters import Filters
from jeval.browse.rows import counts_of, every, find_run, one, rubrics_of, totals
from jeval.report.gated import stored_gate

__all__ = ["run_head", "run_page"]


def run_head(conn: sqlite3.Connection, name: str) -> dict[str, Any]:
    """The run, its rubrics with their counts, and its totals. Raises NotHere."""
    run = find_run(conn, name)
    rubrics = rubrics_of(conn, run["pk"])
    counts = counts_of(conn, [run["pk"]])[run["pk"]]
    for rubric in rubrics:
        rubric["counts"] = counts.get(rubric["pk"], {})
        rubric["description"] = json.loads(rubric["definition"]).get("description")
    critical = [rubric["pk"] for rubric in rubrics if rubric["severity"] == "critical"]
    run["done"] = conn.execute("SELECT count(*) FROM run_cases WHERE run = ?", (run["pk"],)).fetchone()[0]
    return {"run": run, "rubrics": rubrics, "totals": totals(counts, critical)}


def run_page(conn: sqlite3.Connection, name: str, filters: Filters) -> dict[str, Any]:
    """All that the page of a run shows. Raises NotHere."""
    found = run_head(conn, name)
    run, rubrics = found["run"], found["rubrics"]
    previous = one(
        conn,
        "SELECT * FROM runs WHERE dataset = ? AND (started_at, pk) < (?, ?) ORDER BY started_at DESC, pk DESC LIMIT 1",
        (run["dataset"], run["started_at"], run["pk"]),
    )
    return {
        **found,
        **list_of_checks(conn, run, rubrics, filters),
        "critical": _critical(conn, run) if not filters.active and found["totals"]["critical_failures"] else [],
        "scores": [] if filters.active else scores(conn, run["pk"]),
        "previous": previous,
        "difference": difference(previous, run) if previous else [],
        "config": config_lines(previous, run),
        "command": command(run),
        "gate": stored_gate(run["gate"], run["exit_code"]),
        "errors": _errors(conn, run["pk"]) if found["totals"]["counts"]["error"] else [],
        "flips": conn.execute("SELECT count(*) FROM repeat_flips WHERE run = ?", (run["pk"],)).fetchone()[0],
    }


def _critical(conn: sqlite3.Connection, run: dict[str, Any]) -> list[dict[str, Any]]:
    return every(
        conn,
        "SELECT i.id AS case_id, r.id AS rubric_id, r.version AS rubric_version, v.reason,"
        " json_extract(b.body, '$.output') AS output FROM (SELECT c.case_key, c.rubric, c.verdict, rc.content"
        " FROM check_rows c JOIN run_cases rc ON rc.run = c.run AND rc.case_key = c.case_key"
        " WHERE c.run = ? AND c.critical = 1 ORDER BY rc.position LIMIT 10) f"
        " CROSS JOIN case_ids i ON i.key = f.case_key CROSS JOIN rubrics r ON r.pk = f.rubric"
        " CROSS JOIN verdicts v ON v.id = f.verdict CROSS JOIN case_rows b ON b.pk = f.content",
        (run["pk"],),
    )


def _errors(conn: sqlite3.Connection, run: int) -> list[dict[str, Any]]:
    return every(
        conn,
        "SELECT error_kind AS kind, count(*) AS n, min(error_message) AS message FROM request_rows"
        " WHERE run = ? AND error_kind IS NOT NULL GROUP BY error_kind ORDER BY n DESC LIMIT 20",
        (run,),
    )


_SCORES = """
SELECT s.metric, m.id, m.version, min(9, CAST(r.score * 10 AS INTEGER)) AS step, count(*) AS cases,
  count(r.score) AS scored, total(r.score) AS sum, total(r.passed) AS passed, total(r.status = 'error') AS errors,
  total(r.status = 'skipped') AS skipped, max(r.threshold) AS threshold, max(r.strict) AS strict
FROM score_rows s JOIN metrics m ON m.pk = s.metric JOIN score_results r ON r.id = s.result
WHERE s.run = ? GROUP BY s.metric, step ORDER BY m.id
"""


_UNSCORED = """
SELECT g.metric, r.reason, sum(g.n) AS n FROM
  (SELECT metric, result, count(*) AS n FROM score_rows WHERE run = ? GROUP BY metric, result) g
JOIN score_results r ON r.id = g.result AND r.status = 'skipped'
GROUP BY g.metric, r.reason ORDER BY n DESC, r.reason
"""


def _any_skipped(found: Mapping[int, Mapping[str, Any]]) -> bool:
    return any(one["skipped"] for one in found.values())


def scores(conn: sqlite3.Connection, run: int) -> list[dict[str, Any]]:
    """Each metric's mean with its denominator, and how its scores spread over ten equal steps.

    `why` holds the commonest reason why cases were not scored, and `n`, of how many; or it is None.
    """
    found: dict[int, dict[str, Any]] = {}
    for row in every(conn, _SCORES, (run,)):
        nothing = dict.fromkeys(("cases", "scored", "sum", "passed", "errors", "skipped"), 0)
        one = found.setdefault(row["metric"], row | nothing | {"spread": [0] * 10})
        for name in nothing:
            one[name] += int(row[name]) if name != "sum" else row[name]
        if row["step"] is not None:
            one["spread"][row["step"]] = row["scored"]
        one |= {name: max(one[name], row[name]) for name in ("threshold", "strict")}
    whys = {row["metric"]: row for row in reversed(every(conn, _UNSCORED, (run,)))} if _any_skipped(found) else {}
    for metric, one in found.items():
        one["why"] = whys.get(metric)
    return [one | {"mean": one["sum"] / one["scored"] if one["scored"] else None} for one in found.values()]


def config_lines(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The whole configuration of a run as (sign, line) pairs: "+" for a line that the run before did not have, "-"
    for one that only it had, " " for the others."""
    if before is None:
        return [(" ", line) for line in after["config_yaml"].splitlines()]
    return list(_compared(before["config_yaml"], after["config_yaml"]))


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What differs between two configurations, as ("-" or "+", line) pairs, each after its section as ("@", line)."""
    found: list[tuple[str, str]] = []
    section: tuple[str, str] | None = None
    for sign, line in _compared(before["config_yaml"], after["config_yaml"]):
        if sign == " ":
            section = ("@", line) if line and not line.startswith(" ") else section
            continue
        if line.startswith(" ") and section is not None:
            found.append(section)
            section = None
        found.append((sign, line))
    return found


@lru_cache(maxsize=64)
def _compared(before: str, after: str) -> tuple[tuple[str, str], ...]:
    one, other = before.splitlines()[:5000], after.splitlines()[:5000]
    found: list[tuple[str, str]] = []
    for _, begin, end, other_begin, other_end in difflib.SequenceMatcher(None, one, other, False).get_opcodes():
        same = one[begin:end] == other[other_begin:other_end]
        if not same:
            found += [("-", line) for line in one[begin:end]]
        found += [(" " if same else "+", line) for line in other[other_begin:other_end]]
    return tuple(found)
