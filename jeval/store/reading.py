"""What commands and reports read of a run: its overview, its checks, one case of it."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jeval.errors import NotFound
from jeval.report.junit import CaseScore
from jeval.report.overview import STATUSES, CheckLine, Overview, RubricLine, ScoreLine
from jeval.store.queries import status_name
from jeval.store.status import STATUS_CODES

__all__ = [
    "CheckFilter",
    "read_case",
    "read_checks",
    "read_overview",
    "read_runs",
    "read_scores",
    "read_suites",
]

_COLUMNS = f"""
  case_ids.id, rubrics.id, rubrics.version, rubrics.kind, rubrics.severity, rubrics.required,
  {status_name("c.status")}, verdicts.outcome, findings.probabilities, findings.confidence,
  verdicts.reason, verdicts.rule, criteria.text, findings.evidence
"""

_TEXTS = """
JOIN case_ids ON case_ids.key = c.case_key
JOIN rubrics ON rubrics.pk = c.rubric
JOIN verdicts ON verdicts.id = c.verdict
JOIN findings ON findings.case_key = c.case_key AND findings.id = c.finding
LEFT JOIN criteria ON criteria.id = findings.criterion
"""

# What wants a look first: failures, errors, reviews; among them the critical ones, then as in the run.
_RANKS = """
  CASE c.status WHEN 1 THEN 0 WHEN 4 THEN 1 WHEN 2 THEN 2 WHEN 0 THEN 3 ELSE 4 END AS by_status,
  CASE r.severity WHEN 'critical' THEN 0 WHEN 'major' THEN 1 ELSE 2 END - r.required * 0.5 AS by_severity,
  run_cases.position AS position
"""
_WORST = "by_status, by_severity, position, rubric"

_SCORE_LINES = """
SELECT metrics.id, metrics.version, avg(r.score), count(r.score), total(r.passed AND r.score IS NOT NULL),
  total(r.score IS NULL AND r.status <> 'error'), total(r.score IS NULL AND r.status = 'error')
FROM score_rows s
JOIN score_results r ON r.id = s.result
JOIN metrics ON metrics.pk = s.metric
WHERE s.run = ? GROUP BY s.metric ORDER BY metrics.id
"""

_SCORES_OF_CASE = """
SELECT metrics.id AS metric_id, metrics.version AS metric_version, r.status, r.score, r.passed, r.strict,
  r.threshold, r.confidence, r.reason, r.breakdown
FROM score_rows s
JOIN score_results r ON r.id = s.result
JOIN metrics ON metrics.pk = s.metric
WHERE s.run = :run AND s.case_key = :key ORDER BY metrics.id
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


@dataclass(frozen=True, slots=True)
class CheckFilter:
    """Which checks; an empty tuple is no restriction."""

    statuses: tuple[str, ...] = ()
    rubrics: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    def lines(self, overview: Overview) -> tuple[RubricLine, ...]:
        """The rubrics it lets through."""
        return tuple(
            line
            for line in overview.rubrics
            if (not self.rubrics or line.id in self.rubrics)
            and (not self.severities or line.severity in self.severities)
            and (not self.kinds or line.kind in self.kinds)
        )

    def count(self, overview: Overview) -> int:
        """How many checks of a run it lets through."""
        statuses = self.statuses or STATUSES
        return sum(line.counts[status] for line in self.lines(overview) for status in statuses)


def read_runs(connection: sqlite3.Connection, limit: int | None = None) -> list[Overview]:
    """The runs, newest first."""
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    rows = cursor.execute(
        "SELECT * FROM runs ORDER BY started_at DESC, pk DESC LIMIT ?", (-1 if limit is None else limit,)
    ).fetchall()
    return [read_overview(connection, row) for row in rows]


def read_overview(connection: sqlite3.Connection, run: sqlite3.Row) -> Overview:
    """A run from above; `run` is its row."""
    pk = run["pk"]
    evaluated = connection.execute("SELECT count(*) FROM run_cases WHERE run = ?", (pk,)).fetchone()[0]
    names = Overview.__dataclass_fields__.keys() & set(run.keys())
    return Overview(
        **{name: run[name] for name in names - {"rubrics", "tags", "simulated"}},
        evaluated=evaluated,
        model=run["model_served"] or run["model_asked"],
        simulated=bool(run["simulated"]),
        asked=run["judgments_asked"],
        reused=run["judgments_reused"],
        tags=json.loads(run["tags"]),
        rubrics=_rubric_lines(connection, pk),
        scores=_score_lines(connection, pk),
    )


def _rubric_lines(connection: sqlite3.Connection, run: int) -> tuple[RubricLine, ...]:
    counts: dict[int, dict[str, int]] = {}
    for rubric, status, n in connection.execute(
        "SELECT rubric, status, n FROM tallies WHERE run = ?", (run,)
    ):
        counts.setdefault(rubric, dict.fromkeys(STATUSES, 0))[STATUSES[status]] = n
    rows = connection.execute(
        "SELECT pk, id, version, kind, severity, required FROM run_rubrics u"
        " JOIN rubrics ON rubrics.pk = u.rubric WHERE u.run = ? ORDER BY u.position",
        (run,),
    )
    nothing = dict.fromkeys(STATUSES, 0)
    return tuple(
        RubricLine(name, version, kind, severity, bool(required), counts.get(pk, nothing))
        for pk, name, version, kind, severity, required in rows
    )


def _score_lines(connection: sqlite3.Connection, run: int) -> tuple[ScoreLine, ...]:
    rows = connection.execute(_SCORE_LINES, (run,))
    return tuple(
        ScoreLine(name, version, mean, scored, int(passed), int(skipped), int(errors))
        for name, version, mean, scored, passed, skipped, errors in rows
    )


def read_checks(
    connection: sqlite3.Connection, run: int, wanted: CheckFilter | None = None, limit: int | None = None
) -> Iterator[CheckLine]:
    """Checks of a run that a filter lets through, the worst first; texts are read of `limit` at most."""
    wanted = wanted or CheckFilter()
    parameters = {
        "run": run,
        "statuses": json.dumps([STATUS_CODES[status] for status in wanted.statuses or STATUSES]),
        "limit": -1 if limit is None else limit,
    }
    conditions = ["c.run = :run", "c.status IN (SELECT value FROM json_each(:statuses))"]
    for column, values in (("id", wanted.rubrics), ("severity", wanted.severities), ("kind", wanted.kinds)):
        if values:
            conditions.append(f"r.{column} IN (SELECT value FROM json_each(:{column}))")  # noqa: S608
            parameters[column] = json.dumps(values)
    sql = f"""
    WITH chosen AS MATERIALIZED (
      SELECT c.case_key, c.rubric, c.status, c.finding, c.verdict, {_RANKS} FROM check_rows c
      JOIN rubrics r ON r.pk = c.rubric
      JOIN run_cases ON run_cases.run = c.run AND run_cases.case_key = c.case_key
      WHERE {" AND ".join(conditions)} ORDER BY {_WORST} LIMIT :limit
    )
    SELECT {_COLUMNS} FROM chosen c {_TEXTS} ORDER BY {_WORST}
    """  # noqa: S608 - our own fragments
    for row in connection.execute(sql, parameters):
        yield _check_line(row)


def _check_line(row: Sequence[Any]) -> CheckLine:
    case_id, rubric_id, version, kind, severity, required, status, outcome, probabilities, *rest = row
    confidence, reason, rule, criterion, evidence = rest
    return CheckLine(
        case_id, rubric_id, version, kind, severity, bool(required), status, outcome,
        json.loads(probabilities) if probabilities is not None else None,
        confidence, reason, rule, criterion, json.loads(evidence),
    )  # fmt: skip


def read_suites(
    connection: sqlite3.Connection, run: int, overview: Overview
) -> Iterator[tuple[RubricLine, Iterator[CheckLine]]]:
    """Each rubric of a run with its checks."""
    for line in overview.rubrics:
        yield line, read_checks(connection, run, CheckFilter(rubrics=(line.id,)))


def read_scores(connection: sqlite3.Connection, run: int, metric: str) -> Iterator[CaseScore]:
    """A metric's score of every case of a run, in the run's order."""
    rows = connection.execute(
        "SELECT case_ids.id, r.status, r.score, r.passed, r.threshold, r.reason FROM score_rows s"
        " JOIN metrics ON metrics.pk = s.metric AND metrics.id = :metric"
        " JOIN run_cases ON run_cases.run = s.run AND run_cases.case_key = s.case_key"
        " JOIN case_ids ON case_ids.key = s.case_key"
        " JOIN score_results r ON r.id = s.result WHERE s.run = :run ORDER BY run_cases.position",
        {"run": run, "metric": metric},
    )
    for case_id, status, score, passed, threshold, reason in rows:
        yield CaseScore(case_id, status, score, None if passed is None else bool(passed), threshold, reason)


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
        raise NotFound(
            f"case {case_id}: run {run['id']} has none of that id; {_similar(connection, pk, case_id)}"
        )
    key, sha, body = row
    keys = {"run": pk, "key": key}
    here = "c.run = :run AND c.case_key = :key"
    sql = f"SELECT {_COLUMNS} FROM check_rows c {_TEXTS} WHERE {here} ORDER BY c.rubric"  # noqa: S608
    return {
        "run_id": run["id"],
        "case_id": case_id,
        "case_sha256": sha,
        "case": json.loads(body),
        "checks": [_check_line(found) for found in connection.execute(sql, keys)],
        "scores": [_score(record) for record in _records(connection, _SCORES_OF_CASE, keys)],
        "labels": _records(connection, _LABELS_OF_CASE, {"case": case_id}),
        "repeats": {name: json.loads(found) for name, found in connection.execute(_REPEATS_OF_CASE, keys)},
        "requests": [
            {**record, "reused": bool(record["reused"])}
            for record in _records(connection, _REQUESTS_OF_CASE, keys)
        ],
    }


def _score(record: dict[str, Any]) -> dict[str, Any]:
    passed = None if record["passed"] is None else bool(record["passed"])
    breakdown = json.loads(record["breakdown"])
    return {**record, "passed": passed, "strict": bool(record["strict"]), "breakdown": breakdown}


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
