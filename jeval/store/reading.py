"""What commands and reports read of a run: its overview, its checks, one case of it."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from jeval.report.junit import CaseScore
from jeval.report.overview import STATUSES, CheckLine, Overview, RubricLine, ScoreLine
from jeval.store.queries import status_name
from jeval.store.status import STATUS_CODES

__all__ = [
    "CHECK_COLUMNS",
    "CHECK_TEXTS",
    "CheckFilter",
    "check_line",
    "count_runs",
    "read_checks",
    "read_overview",
    "read_runs",
    "read_scores",
    "read_suites",
]

CHECK_COLUMNS = f"""
  case_ids.id, rubrics.id, rubrics.version, rubrics.kind, rubrics.severity, rubrics.required,
  {status_name("c.status")}, verdicts.outcome, findings.probabilities, findings.confidence,
  verdicts.reason, verdicts.rule, criteria.text, findings.evidence
"""

CHECK_TEXTS = """
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

    def lets_through(self, check: CheckLine) -> bool:
        """Whether it lets this check through."""
        return all(
            not values or value in values
            for values, value in (
                (self.statuses, check.status),
                (self.rubrics, check.rubric_id),
                (self.severities, check.severity),
                (self.kinds, check.kind),
            )
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


def count_runs(connection: sqlite3.Connection) -> int:
    """How many runs there are."""
    return int(connection.execute("SELECT count(*) FROM runs").fetchone()[0])


def read_overview(
    connection: sqlite3.Connection, run: sqlite3.Row, scores: Sequence[ScoreLine] | None = None
) -> Overview:
    """A run from above; `run` is its row. Scores that somebody added up already are not added up again."""
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
        scores=_score_lines(connection, pk) if scores is None else tuple(scores),
    )


def _rubric_lines(connection: sqlite3.Connection, run: int) -> tuple[RubricLine, ...]:
    counts: dict[int, dict[str, int]] = {}
    for rubric, status, n in connection.execute("SELECT rubric, status, n FROM tallies WHERE run = ?", (run,)):
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
    SELECT {CHECK_COLUMNS} FROM chosen c {CHECK_TEXTS} ORDER BY {_WORST}
    """  # noqa: S608 - our own fragments
    for row in connection.execute(sql, parameters):
        yield check_line(row)


def check_line(row: Sequence[Any]) -> CheckLine:
    """A check from a row of `CHECK_COLUMNS`."""
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
