"""The named queries: compare, critical and flips, as Datasette serves them (HTML, JSON, CSV)."""

from typing import Any

__all__ = ["named_queries"]

_STATUS = "CASE {} WHEN 0 THEN 'pass' WHEN 1 THEN 'fail' WHEN 2 THEN 'review' WHEN 3 THEN 'skipped' ELSE 'error' END"

# A run may be named as on the command line: @last, @prev, its id, its name, or the beginning of its id.
_RUN = """(SELECT pk FROM runs WHERE CASE :{0}
    WHEN '@last' THEN pk = (SELECT pk FROM runs ORDER BY started_at DESC, pk DESC LIMIT 1)
    WHEN '@prev' THEN pk = (SELECT pk FROM runs ORDER BY started_at DESC, pk DESC LIMIT 1 OFFSET 1)
    ELSE :{0} <> '' AND (id = :{0} OR name = :{0} OR substr(id, 1, length(:{0})) = :{0}) END
  ORDER BY id = :{0} DESC, name = :{0} DESC, started_at DESC LIMIT 1)"""

_PAIRS = f"""WITH m (ka, kb) AS (
  SELECT ra.pk, rb.pk FROM run_rubrics xa JOIN rubrics ra ON ra.pk = xa.rubric
  JOIN rubrics rb ON rb.id = ra.id JOIN run_rubrics xb ON xb.rubric = rb.pk AND xb.run = {_RUN.format("run_b")}
  WHERE xa.run = {_RUN.format("run_a")}
)"""

_COMPARE = f"""{_PAIRS}
SELECT i.id AS case_id, r.id AS rubric_id, r.severity AS severity,
  {_STATUS.format("a.status")} AS before, {_STATUS.format("b.status")} AS after,
  CASE b.status WHEN 1 THEN 'new failure' WHEN 4 THEN 'new error' WHEN 2 THEN 'newly for review'
    ELSE CASE a.status WHEN 1 THEN 'failure resolved' ELSE 'other change' END END AS change,
  va.reason AS reason_before, vb.reason AS reason_after,
  fa.probabilities AS probabilities_before, fb.probabilities AS probabilities_after
FROM check_rows b CROSS JOIN m ON m.kb = b.rubric
CROSS JOIN check_rows a ON a.run = {_RUN.format("run_a")} AND a.case_key = b.case_key AND a.rubric = m.ka
JOIN case_ids i ON i.key = b.case_key JOIN rubrics r ON r.pk = b.rubric
JOIN verdicts va ON va.id = a.verdict JOIN verdicts vb ON vb.id = b.verdict
JOIN findings fa ON fa.case_key = a.case_key AND fa.id = a.finding
JOIN findings fb ON fb.case_key = b.case_key AND fb.id = b.finding
WHERE b.run = {_RUN.format("run_b")} AND {{where}}
ORDER BY CASE b.status WHEN 1 THEN 0 WHEN 4 THEN 1 WHEN 2 THEN 2 ELSE 3 END, r.severity <> 'critical', b.case_key"""  # noqa: S608

_CRITICAL = f"""SELECT runs.id AS run_id, i.id AS case_id, r.id AS rubric_id, r.version AS rubric_version, v.reason AS reason,
  f.probabilities AS probabilities
FROM check_rows c JOIN runs ON runs.pk = c.run JOIN case_ids i ON i.key = c.case_key JOIN rubrics r ON r.pk = c.rubric
JOIN verdicts v ON v.id = c.verdict JOIN findings f ON f.case_key = c.case_key AND f.id = c.finding
WHERE c.critical = 1 AND c.run = {_RUN.format("run")}
ORDER BY r.id, c.case_key"""  # noqa: S608


def named_queries() -> dict[str, dict[str, Any]]:
    """The queries by name, with title and description."""
    how = "A run is named by its id, its name, the beginning of its id, @last or @prev."
    return {
        "compare": {
            "sql": _COMPARE.format(where="a.status <> b.status"),
            "params": ["run_a", "run_b"],
            "title": "Compare two runs",
            "description": f"Every check whose status differs between run_a (before) and run_b (after), worst first. {how}",
        },
        "critical": {
            "sql": _CRITICAL,
            "params": ["run"],
            "title": "Critical failures of a run",
            "description": f"Failed checks of rubrics of critical severity. {how}",
        },
        "flips": {
            "sql": _COMPARE.format(where="(a.status = 0 AND b.status = 1 OR a.status = 1 AND b.status = 0)"),
            "params": ["run_a", "run_b"],
            "title": "Flips between two runs",
            "description": f"Checks that passed in one run and failed in the other, new failures first. {how}",
        },
    }
