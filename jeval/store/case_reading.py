"""One case of a run, with all that was found about it."""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from jeval.errors import NotFound
from jeval.store.reading import CHECK_COLUMNS, CHECK_TEXTS, check_line
from jeval.store.scores import case_scores

__all__ = ["read_case"]

# What decided: the rubric's own thresholds, over the run's.
_THRESHOLDS = """
SELECT rubrics.id,
  json_extract(definition, '$.thresholds.pass'), json_extract(definition, '$.thresholds.fail')
FROM run_rubrics u
JOIN rubrics ON rubrics.pk = u.rubric
WHERE u.run = ? ORDER BY u.position
"""

_LABELS_OF_CASE = """
SELECT rubric_id, expected, source, reviewer, note, labelled_at FROM labels
WHERE case_id = :case ORDER BY rubric_id, source, reviewer
"""

_REPEATS_OF_CASE = """
SELECT rubrics.id, f.statuses FROM repeat_flips f
JOIN rubrics ON rubrics.pk = f.rubric
WHERE f.run = :run AND f.case_key = :key ORDER BY rubrics.id
"""

# The requests a case's answers rest on: the run's own, and those of earlier runs it used again.
_REQUESTS_OF_CASE = """
SELECT model_served, asked_at, latency_ms, attempts, input_tokens, output_tokens, cost_usd, repeat,
  error_kind, error_message, run <> :run AS reused
FROM request_rows
WHERE run = :run AND case_key = :key OR id IN (
  SELECT s.value FROM run_cases, json_each(run_cases.sources) s
  WHERE run_cases.run = :run AND run_cases.case_key = :key)
ORDER BY id
"""


def read_case(connection: sqlite3.Connection, run: sqlite3.Row, case_id: str) -> dict[str, Any]:
    """One case of a run and all that was found about it. Raises NotFound."""
    pk = run["pk"]
    row = connection.execute(
        "SELECT case_ids.key, lower(hex(case_rows.sha256)), case_rows.body FROM case_ids"
        " JOIN run_cases ON run_cases.run = ? AND run_cases.case_key = case_ids.key"
        " JOIN case_rows ON case_rows.pk = run_cases.content WHERE case_ids.id = ?",
        (pk, case_id),
    ).fetchone()
    if row is None:
        raise NotFound(f"case {case_id}: run {run['id']} has none of that id; {_similar(connection, pk, case_id)}")
    key, sha, body = row
    keys = {"run": pk, "key": key}
    here = "c.run = :run AND c.case_key = :key"
    sql = f"SELECT {CHECK_COLUMNS} FROM check_rows c {CHECK_TEXTS} WHERE {here} ORDER BY c.rubric"  # noqa: S608
    return {
        "run_id": run["id"],
        "simulated": bool(run["simulated"]),
        "case_id": case_id,
        "case_sha256": sha,
        "case": json.loads(body),
        "thresholds": _thresholds(connection, run),
        "checks": [check_line(found) for found in connection.execute(sql, keys)],
        "scores": case_scores(connection, pk, key),
        "labels": _records(connection, _LABELS_OF_CASE, {"case": case_id}),
        "repeats": {name: json.loads(found) for name, found in connection.execute(_REPEATS_OF_CASE, keys)},
        "requests": [
            {**record, "reused": bool(record["reused"])} for record in _records(connection, _REQUESTS_OF_CASE, keys)
        ],
    }


def _thresholds(connection: sqlite3.Connection, run: sqlite3.Row) -> dict[str, dict[str, Any]]:
    return {
        name: {
            "pass": run["threshold_pass"] if pass_ is None else pass_,
            "fail": run["threshold_fail"] if fail is None else fail,
            "own": pass_ is not None or fail is not None,
        }
        for name, pass_, fail in connection.execute(_THRESHOLDS, (run["pk"],))
    }


def _records(connection: sqlite3.Connection, sql: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = connection.execute(sql, parameters)
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found]


def _similar(connection: sqlite3.Connection, run: int, case_id: str) -> str:
    """A hint at the case that was meant."""
    rows = connection.execute(
        "SELECT case_ids.id FROM run_cases JOIN case_ids ON case_ids.key = run_cases.case_key"
        " WHERE run_cases.run = ? AND instr(lower(case_ids.id), lower(?))"
        " ORDER BY run_cases.position LIMIT 3",
        (run, case_id),
    ).fetchall()
    if rows:
        return f"did you mean {', '.join(row[0] for row in rows)}?"
    return "`jeval show RUN` lists those that want a look"
