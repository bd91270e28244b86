"""The checks of a run as CSV or JSON: all that the filters leave, in the order of the cases, sent as they are read."""

import asyncio
import csv
import io
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from jeval.browse.chosen import some_cases
from jeval.browse.filters import Filters, where
from jeval.browse.rows import find_run, rubrics_of
from jeval.store.queries import status_name

__all__ = ["COLUMNS", "FORMATS", "checks_of", "pieces"]

# Those of the view `checks`, in its order.
COLUMNS = (
    *("run_id", "case_id", "rubric_id", "rubric_version", "kind", "severity", "required", "status", "outcome"),
    *("probabilities", "confidence", "reason", "rule", "criterion", "evidence"),
)
_JSON = {COLUMNS.index(name) for name in ("probabilities", "evidence")}

# Sorted before the texts come in, so that no text is sorted; the LIMIT keeps SQLite from dropping that order, and
# CROSS JOIN from leaving it.
_CHECKS = """
SELECT :run_id, i.id, r.id, r.version, r.kind, r.severity, r.required, {status}, v.outcome, f.probabilities,
  f.confidence, v.reason, v.rule, t.text, f.evidence
FROM (SELECT c.* FROM check_rows c CROSS JOIN run_cases rc ON rc.run = c.run AND rc.case_key = c.case_key
  WHERE {conditions} ORDER BY rc.position, c.rubric LIMIT -1) c
CROSS JOIN case_ids i ON i.key = c.case_key
CROSS JOIN rubrics r ON r.pk = c.rubric
CROSS JOIN verdicts v ON v.id = c.verdict
CROSS JOIN findings f ON f.case_key = c.case_key AND f.id = c.finding
LEFT JOIN criteria t ON t.id = f.criterion
"""

FORMATS = {"csv": "text/csv; charset=utf-8", "json": "application/json; charset=utf-8"}

# Rows that are read, and sent, at once.
_STEP = 500


def checks_of(conn: sqlite3.Connection, name: str, filters: Filters) -> tuple[str, sqlite3.Cursor]:
    """The id of the run of this name, and its checks as rows of COLUMNS, not read yet. Raises NotHere."""
    run = find_run(conn, name)
    these = where(filters, run["pk"], rubrics_of(conn, run["pk"]), some_cases(conn, run["pk"], filters))
    sql = _CHECKS.format(status=status_name("c.status"), conditions=these.sql)
    return run["id"], conn.execute(sql, these.params | {"run_id": run["id"]})


async def pieces(rows: sqlite3.Cursor, form: str, write: Callable[[str], Any]) -> None:
    """Write rows of COLUMNS in one of FORMATS, step by step."""
    first = True
    while True:
        step = await asyncio.to_thread(rows.fetchmany, _STEP)
        await write("".join(_csv(step, first) if form == "csv" else _json(step, first)))
        first = False
        if len(step) < _STEP:
            break
    if form == "json":
        await write("\n]\n")


def _csv(rows: Iterable[Sequence[Any]], first: bool) -> Iterator[str]:
    text = io.StringIO()
    writer = csv.writer(text)
    if first:
        writer.writerow(COLUMNS)
    writer.writerows(rows)
    yield text.getvalue()


def _json(rows: Iterable[Sequence[Any]], first: bool) -> Iterator[str]:
    if first:
        yield "["
    for row in rows:
        yield "\n" if first else ",\n"
        first = False
        values = [json.loads(v) if i in _JSON and v is not None else v for i, v in enumerate(row)]
        yield json.dumps(dict(zip(COLUMNS, values, strict=True)), ensure_ascii=False)
