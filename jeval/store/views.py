"""The views people query: the pieces of a check put together again under their guaranteed names."""

from jeval.store.status import STATUS_CODES

__all__ = ["NEWEST_FIRST", "VIEWS"]

_STATUS = "CASE {} WHEN 0 THEN 'pass' WHEN 1 THEN 'fail' WHEN 2 THEN 'review' WHEN 3 THEN 'skipped' ELSE 'error' END"
_COUNTS = ",\n  ".join(
    f'sum(CASE WHEN t.status = {code} THEN t.n ELSE 0 END) AS "{name}"' for name, code in STATUS_CODES.items()
)

VIEWS = f"""
CREATE VIEW cases AS SELECT
  lower(hex(r.sha256)) AS case_sha256, case_ids.id AS id,
  json_extract(r.body, '$.input') AS input, json_extract(r.body, '$.output') AS output, r.body AS body,
  r.pk AS pk
FROM case_rows r
JOIN case_ids ON case_ids.key = r.case_key;

CREATE VIEW checks AS SELECT
  runs.id AS run_id, case_ids.id AS case_id, rubrics.id AS rubric_id, rubrics.version AS rubric_version,
  rubrics.kind AS kind, rubrics.severity AS severity, rubrics.required AS required,
  {_STATUS.format("c.status")} AS status,
  verdicts.outcome AS outcome, findings.probabilities AS probabilities, findings.confidence AS confidence,
  verdicts.reason AS reason, verdicts.rule AS rule, criteria.text AS criterion, findings.evidence AS evidence
FROM check_rows c
JOIN runs ON runs.pk = c.run
JOIN case_ids ON case_ids.key = c.case_key
JOIN rubrics ON rubrics.pk = c.rubric
JOIN verdicts ON verdicts.id = c.verdict
JOIN findings ON findings.case_key = c.case_key AND findings.id = c.finding
LEFT JOIN criteria ON criteria.id = findings.criterion;

CREATE VIEW scores AS SELECT
  runs.id AS run_id, case_ids.id AS case_id, metrics.id AS metric_id, metrics.version AS metric_version,
  r.score AS score, r.passed AS passed, r.strict AS strict, r.threshold AS threshold,
  r.confidence AS confidence, r.reason AS reason, r.status AS status
FROM score_rows s
JOIN runs ON runs.pk = s.run
JOIN case_ids ON case_ids.key = s.case_key
JOIN metrics ON metrics.pk = s.metric
JOIN score_results r ON r.id = s.result;

CREATE VIEW score_breakdown AS SELECT
  runs.id AS run_id, case_ids.id AS case_id, metrics.id AS metric_id,
  json_extract(part.value, '$.position') AS position, json_extract(part.value, '$.type') AS type,
  json_extract(part.value, '$.question') AS question, json_extract(part.value, '$.weight') AS weight,
  json_extract(part.value, '$.probabilities') AS probabilities, json_extract(part.value, '$.value') AS value,
  json_extract(part.value, '$.applicable') AS applicable, json_extract(part.value, '$.passed') AS passed,
  json_extract(part.value, '$.confidence') AS confidence
FROM score_rows s
JOIN runs ON runs.pk = s.run
JOIN case_ids ON case_ids.key = s.case_key
JOIN metrics ON metrics.pk = s.metric
JOIN score_results r ON r.id = s.result
JOIN json_each(r.breakdown) part;

CREATE VIEW judgments AS SELECT
  judges.name AS judge, judges.gateway AS gateway, judges.model_asked AS model_asked, q.model_served AS model_served,
  lower(hex(q.state)) AS state_sha256, questions.sha256 AS question_sha256, q.repeat AS repeat, j.answer AS answer,
  q.asked_at AS asked_at, q.request_id AS request_id, q.id AS request, q.run AS run
FROM judgment_rows j
JOIN request_rows q ON q.id = j.request
JOIN judges ON judges.pk = q.judge
JOIN questions ON questions.id = j.question;

CREATE VIEW requests AS SELECT
  runs.id AS run_id, case_ids.id AS case_id, q.model_served AS model_served, q.latency_ms AS latency_ms,
  q.attempts AS attempts, q.input_tokens AS input_tokens, q.output_tokens AS output_tokens,
  q.cost_usd AS cost_usd, q.error_kind AS error_kind, q.error_message AS error_message,
  q.asked_at AS asked_at, q.request_id AS request_id, q.repeat AS repeat, q.id AS request
FROM request_rows q
JOIN runs ON runs.pk = q.run
JOIN case_ids ON case_ids.key = q.case_key;

CREATE VIEW rubric_summary AS SELECT
  runs.id AS run_id, rubrics.id AS rubric_id, rubrics.version AS rubric_version,
  {_COUNTS},
  rubrics.kind AS kind, rubrics.severity AS severity, rubrics.required AS required
FROM tallies t
JOIN runs ON runs.pk = t.run
JOIN rubrics ON rubrics.pk = t.rubric
GROUP BY t.run, t.rubric;

CREATE VIEW run_summary AS SELECT
  run_id, "pass", "fail", "review", "skipped", "error",
  CASE WHEN "pass" + "fail" > 0 THEN 1.0 * "pass" / ("pass" + "fail") END AS pass_rate_decided,
  CASE WHEN "pass" + "fail" + "review" + "error" > 0
    THEN 1.0 * ("pass" + "fail") / ("pass" + "fail" + "review" + "error") END AS decided_coverage,
  CASE WHEN "pass" + "fail" + "review" + "error" > 0
    THEN 1.0 * "review" / ("pass" + "fail" + "review" + "error") END AS review_rate,
  critical_failures
FROM (
  SELECT runs.id AS run_id,
  {_COUNTS},
  sum(CASE WHEN t.status = 1 AND rubrics.severity = 'critical' THEN t.n ELSE 0 END) AS critical_failures
  FROM runs
  LEFT JOIN tallies t ON t.run = runs.pk
  LEFT JOIN rubrics ON rubrics.pk = t.rubric
  GROUP BY runs.pk
);

CREATE VIEW critical_failures AS SELECT
  runs.id AS run_id, case_ids.id AS case_id, rubrics.id AS rubric_id, rubrics.version AS rubric_version,
  verdicts.reason AS reason
FROM check_rows c
JOIN runs ON runs.pk = c.run
JOIN case_ids ON case_ids.key = c.case_key
JOIN rubrics ON rubrics.pk = c.rubric
JOIN verdicts ON verdicts.id = c.verdict
WHERE c.critical = 1;
"""

# The same columns and rows, with runs first in the join; CROSS JOIN keeps SQLite from moving them. The newest rows
# come without a sort of the whole table, and those of one case are looked up in each run by its primary key.
NEWEST_FIRST = f"""
DROP VIEW checks;
CREATE VIEW checks AS SELECT
  runs.id AS run_id, case_ids.id AS case_id, rubrics.id AS rubric_id, rubrics.version AS rubric_version,
  rubrics.kind AS kind, rubrics.severity AS severity, rubrics.required AS required,
  {_STATUS.format("c.status")} AS status,
  verdicts.outcome AS outcome, findings.probabilities AS probabilities, findings.confidence AS confidence,
  verdicts.reason AS reason, verdicts.rule AS rule, criteria.text AS criterion, findings.evidence AS evidence
FROM runs
CROSS JOIN check_rows c ON c.run = runs.pk
JOIN case_ids ON case_ids.key = c.case_key
JOIN rubrics ON rubrics.pk = c.rubric
JOIN verdicts ON verdicts.id = c.verdict
JOIN findings ON findings.case_key = c.case_key AND findings.id = c.finding
LEFT JOIN criteria ON criteria.id = findings.criterion;

DROP VIEW scores;
CREATE VIEW scores AS SELECT
  runs.id AS run_id, case_ids.id AS case_id, metrics.id AS metric_id, metrics.version AS metric_version,
  r.score AS score, r.passed AS passed, r.strict AS strict, r.threshold AS threshold,
  r.confidence AS confidence, r.reason AS reason, r.status AS status
FROM runs
CROSS JOIN score_rows s ON s.run = runs.pk
JOIN case_ids ON case_ids.key = s.case_key
JOIN metrics ON metrics.pk = s.metric
JOIN score_results r ON r.id = s.result;

DROP VIEW requests;
CREATE VIEW requests AS SELECT
  runs.id AS run_id, case_ids.id AS case_id, q.model_served AS model_served, q.latency_ms AS latency_ms,
  q.attempts AS attempts, q.input_tokens AS input_tokens, q.output_tokens AS output_tokens,
  q.cost_usd AS cost_usd, q.error_kind AS error_kind, q.error_message AS error_message,
  q.asked_at AS asked_at, q.request_id AS request_id, q.repeat AS repeat, q.id AS request
FROM runs
CROSS JOIN request_rows q ON q.run = runs.pk
JOIN case_ids ON case_ids.key = q.case_key;

DROP VIEW critical_failures;
CREATE VIEW critical_failures AS SELECT
  runs.id AS run_id, case_ids.id AS case_id, rubrics.id AS rubric_id, rubrics.version AS rubric_version,
  verdicts.reason AS reason
FROM runs
CROSS JOIN check_rows c ON c.run = runs.pk
JOIN case_ids ON case_ids.key = c.case_key
JOIN rubrics ON rubrics.pk = c.rubric
JOIN verdicts ON verdicts.id = c.verdict
WHERE c.critical = 1;
"""
