"""Questions people ask of a store, as named SQL: for `jeval`, for Datasette and for plain `sqlite3` alike.

Parameters are run ids in full (`:run`, `:run_a`, `:run_b`). Joins of two runs are written CROSS JOIN, which
in SQLite fixes their order: the first run is read through once and the second is looked up by its primary
key, whatever statistics a store may have gathered.
"""

from typing import NamedTuple

from jeval.store.status import STATUS_CODES, STATUS_NAMES

__all__ = ["QUERIES", "Query", "status_name"]


class Query(NamedTuple):
    """A question, the SQL that answers it, and the parameters it takes."""

    name: str
    title: str
    sql: str
    parameters: tuple[str, ...]


def status_name(column: str) -> str:
    """SQL for the name of a status code in `column`."""
    cases = " ".join(f"WHEN {code} THEN '{name}'" for code, name in enumerate(STATUS_NAMES))
    return f"CASE {column} {cases} END"


_PASS, _FAIL, _REVIEW, _SKIPPED, _ERROR = (STATUS_CODES[name] for name in STATUS_NAMES)

# The same lists as in `jeval.compare.category`.
_CHANGE = f"""CASE
    WHEN a.status = {_SKIPPED} OR b.status = {_SKIPPED} THEN 'other_change'
    WHEN b.status = {_ERROR} THEN 'new_error'
    WHEN b.status = {_FAIL} AND a.status IN ({_PASS}, {_REVIEW}) THEN 'new_failure'
    WHEN a.status = {_FAIL} AND b.status = {_PASS} THEN 'resolved_failure'
    WHEN b.status = {_REVIEW} THEN 'new_review'
    ELSE 'other_change' END"""

_BOTH_RUNS = """FROM check_rows a
CROSS JOIN check_rows b
  ON b.run = (SELECT pk FROM runs WHERE id = :run_b) AND b.case_key = a.case_key AND b.rubric = a.rubric
JOIN case_ids ON case_ids.key = a.case_key
JOIN rubrics ON rubrics.pk = a.rubric
JOIN verdicts va ON va.id = a.verdict
JOIN verdicts vb ON vb.id = b.verdict"""

_SEVERITY = "CASE rubrics.severity WHEN 'critical' THEN 0 WHEN 'major' THEN 1 ELSE 2 END"

_COMPARE = f"""SELECT
  case_ids.id AS case_id, rubrics.id AS rubric_id, rubrics.version AS rubric_version,
  {status_name("a.status")} AS before,
  {status_name("b.status")} AS after,
  {_CHANGE} AS change,
  rubrics.severity AS severity, rubrics.required AS required,
  va.reason AS reason_before, vb.reason AS reason_after,
  EXISTS (SELECT 1 FROM repeat_flips f WHERE f.run IN (a.run, b.run)
    AND f.case_key = a.case_key AND f.rubric = a.rubric) AS flips
{_BOTH_RUNS}
WHERE a.run = (SELECT pk FROM runs WHERE id = :run_a) AND a.status <> b.status
ORDER BY instr('new_failure resolved_failure new_review new_error other_change', change),
  {_SEVERITY}, case_ids.id, rubrics.id"""  # noqa: S608 - our own fragments

_FLIPS = f"""SELECT
  case_ids.id AS case_id, rubrics.id AS rubric_id, rubrics.version AS rubric_version,
  rubrics.severity AS severity,
  {status_name("a.status")} AS before,
  {status_name("b.status")} AS after,
  va.reason AS reason_before, vb.reason AS reason_after,
  fa.probabilities AS probabilities_before, fb.probabilities AS probabilities_after
{_BOTH_RUNS}
JOIN findings fa ON fa.case_key = a.case_key AND fa.id = a.finding
JOIN findings fb ON fb.case_key = b.case_key AND fb.id = b.finding
WHERE a.run = (SELECT pk FROM runs WHERE id = :run_a) AND a.status <> b.status
  AND a.status IN ({_PASS}, {_FAIL}) AND b.status IN ({_PASS}, {_FAIL})
ORDER BY {_SEVERITY}, case_ids.id, rubrics.id"""  # noqa: S608 - our own fragments

# Ordered before the texts come in, so that no text is sorted: who looks at the first rows does not wait for all. The
# LIMIT keeps SQLite from dropping that order, and CROSS JOIN from leaving it.
_CRITICAL = """SELECT
  case_ids.id AS case_id, rubrics.id AS rubric_id, rubrics.version AS rubric_version, verdicts.reason AS reason,
  json_extract(case_rows.body, '$.output') AS output
FROM (
  SELECT c.case_key, c.rubric, c.verdict, run_cases.content FROM check_rows c
  JOIN run_cases ON run_cases.run = c.run AND run_cases.case_key = c.case_key
  JOIN rubrics ON rubrics.pk = c.rubric
  WHERE c.run = (SELECT pk FROM runs WHERE id = :run) AND c.critical = 1
  ORDER BY run_cases.position, rubrics.id LIMIT -1
) f
CROSS JOIN case_rows ON case_rows.pk = f.content
CROSS JOIN case_ids ON case_ids.key = f.case_key
CROSS JOIN rubrics ON rubrics.pk = f.rubric
CROSS JOIN verdicts ON verdicts.id = f.verdict"""

_REPEAT_FLIPS = """SELECT
  case_ids.id AS case_id, rubrics.id AS rubric_id, rubrics.version AS rubric_version,
  rubrics.severity AS severity, f.statuses AS statuses
FROM repeat_flips f
JOIN case_ids ON case_ids.key = f.case_key
JOIN rubrics ON rubrics.pk = f.rubric
WHERE f.run = (SELECT pk FROM runs WHERE id = :run)
ORDER BY case_ids.id, rubrics.id"""

_REVIEW_QUEUE = f"""SELECT
  case_ids.id AS case_id, rubrics.id AS rubric_id, rubrics.severity AS severity, verdicts.reason AS reason,
  json_extract(case_rows.body, '$.input') AS input, json_extract(case_rows.body, '$.output') AS output
FROM (
  SELECT c.case_key, c.rubric, c.verdict, run_cases.content FROM check_rows c
  JOIN run_cases ON run_cases.run = c.run AND run_cases.case_key = c.case_key
  JOIN rubrics ON rubrics.pk = c.rubric
  WHERE c.run = (SELECT pk FROM runs WHERE id = :run) AND c.status = {_REVIEW}
  ORDER BY {_SEVERITY}, run_cases.position, rubrics.id LIMIT -1
) waiting
CROSS JOIN case_rows ON case_rows.pk = waiting.content
CROSS JOIN case_ids ON case_ids.key = waiting.case_key
CROSS JOIN rubrics ON rubrics.pk = waiting.rubric
CROSS JOIN verdicts ON verdicts.id = waiting.verdict"""  # noqa: S608 - our own fragments

_LABELS = f"""SELECT
  labels.case_id, labels.rubric_id, {status_name("d.status")} AS status, labels.expected,
  labels.source, labels.reviewer, labels.note, verdicts.reason
FROM (
  SELECT labels.rowid AS label, c.status, c.verdict FROM labels
  JOIN case_ids ON case_ids.id = labels.case_id
  JOIN rubrics ON rubrics.id = labels.rubric_id
  JOIN check_rows c ON c.run = (SELECT pk FROM runs WHERE id = :run)
    AND c.case_key = case_ids.key AND c.rubric = rubrics.pk
  WHERE {status_name("c.status")} <> labels.expected
  ORDER BY {_SEVERITY}, labels.case_id, labels.rubric_id LIMIT -1
) d
CROSS JOIN labels ON labels.rowid = d.label
CROSS JOIN verdicts ON verdicts.id = d.verdict"""  # noqa: S608 - our own fragments

QUERIES = {
    query.name: query
    for query in (
        Query("compare", "Every check whose status changed between two runs", _COMPARE, ("run_a", "run_b")),
        Query("flips", "Checks that went from pass to fail or back, with why", _FLIPS, ("run_a", "run_b")),
        Query("critical", "Critical failures of a run, with what was answered", _CRITICAL, ("run",)),
        Query("review", "What of a run waits for a person", _REVIEW_QUEUE, ("run",)),
        Query(
            "repeat_flips",
            "Checks whose status changes when the judge is asked again",
            _REPEAT_FLIPS,
            ("run",),
        ),
        Query("against_labels", "Checks of a run that disagree with a label", _LABELS, ("run",)),
    )
}
