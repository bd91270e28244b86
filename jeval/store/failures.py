"""A run's failures as the gate sorts them."""

import sqlite3

from jeval.gate import FailureGroup

__all__ = ["failure_groups"]

_GROUPS = """
SELECT count(*), c.critical,
  EXISTS (SELECT 1 FROM check_rows b
    WHERE b.run = :baseline AND b.case_key = c.case_key AND b.rubric = c.rubric AND b.status = 1) AS known,
  EXISTS (SELECT 1 FROM repeat_flips f
    WHERE f.run = c.run AND f.case_key = c.case_key AND f.rubric = c.rubric) AS flips
FROM check_rows c
WHERE c.run = :run AND c.status = 1 AND c.rubric IN (SELECT pk FROM rubrics WHERE required = 1)
GROUP BY c.critical, known, flips
"""


def failure_groups(connection: sqlite3.Connection, run: int, baseline: int | None = None) -> tuple[FailureGroup, ...]:
    """Failed checks of required rubrics, counted by what a gate may excuse. Runs are named by their keys.

    A failure is known where the same rubric, in the very same content, fails the same case in the baseline.
    """
    rows = connection.execute(_GROUPS, {"run": run, "baseline": baseline})
    return tuple(FailureGroup(n, bool(critical), bool(known), bool(flips)) for n, critical, known, flips in rows)
