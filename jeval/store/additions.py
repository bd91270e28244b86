"""What is added to runs from outside: labels, prose about scores, the jobs of sweeps. Carried over into another store.

Where both stores hold one, which stands does not depend on which store is merged into which: of labels the latest
of each author, of prose the first about a score.
"""

import sqlite3
from collections.abc import Callable

__all__ = ["ADDED", "carry_additions", "carry_sweep_jobs"]

# Every table that is looked after here.
ADDED = ("labels", "explanation_rows", "sweep_jobs")

_LABELS = "SELECT case_id, rubric_id, expected, source, reviewer, note, labelled_at FROM labels"
_LABEL = """
INSERT INTO labels AS here (case_id, rubric_id, expected, source, reviewer, note, labelled_at)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (case_id, rubric_id, source, coalesce(reviewer, '')) DO UPDATE
SET expected = excluded.expected, reviewer = excluded.reviewer, note = excluded.note, labelled_at = excluded.labelled_at
WHERE (excluded.labelled_at, excluded.expected, excluded.note IS NOT NULL, coalesce(excluded.note, ''),
  excluded.reviewer IS NOT NULL)
  > (here.labelled_at, here.expected, here.note IS NOT NULL, coalesce(here.note, ''), here.reviewer IS NOT NULL)
"""

_EXPLANATIONS = """
SELECT runs.id, case_ids.id, metrics.id, metrics.version, metrics.sha256, e.text, e.model, e.at
FROM explanation_rows e
JOIN runs ON runs.pk = e.run
JOIN case_ids ON case_ids.key = e.case_key
JOIN metrics ON metrics.pk = e.metric
"""
_EXPLANATION = """
INSERT INTO explanation_rows AS here (run, case_key, metric, text, model, at)
SELECT runs.pk, case_ids.key, metrics.pk, ?6, ?7, ?8 FROM runs, case_ids, metrics
WHERE runs.id = ?1 AND case_ids.id = ?2 AND metrics.id = ?3 AND metrics.version = ?4 AND metrics.sha256 = ?5
ON CONFLICT (run, case_key, metric) DO UPDATE
SET text = excluded.text, model = excluded.model, at = excluded.at
WHERE (excluded.at, excluded.model, excluded.text) < (here.at, here.model, here.text)
"""

_JOBS = """
SELECT j.sweep_id, j.position, j.overrides, runs.id, j.exit_code, j.error FROM sweep_jobs j
LEFT JOIN runs ON runs.pk = j.run
"""
_JOB = "INSERT INTO sweep_jobs VALUES (?, ?, ?, (SELECT pk FROM runs WHERE id = ?), ?, ?)"


_SAYING = """
SELECT 1 FROM labels WHERE case_id = ?1 AND rubric_id = ?2 AND source = ?4 AND coalesce(reviewer, '') = coalesce(?5, '')
  AND (labelled_at > ?7 OR (expected = ?3 AND note IS ?6))
"""


def carry_additions(source: sqlite3.Connection, target: sqlite3.Connection) -> int:
    """Carry labels and explanations over; how many labels say what none of their author's said there before.

    The runs that they are about must be there already.
    """
    target.executemany(_EXPLANATION, source.execute(_EXPLANATIONS))
    fresh = 0
    for label in source.execute(_LABELS):
        fresh += target.execute(_SAYING, label).fetchone() is None
        target.execute(_LABEL, label)
    return fresh


def carry_sweep_jobs(
    source: sqlite3.Connection, target: sqlite3.Connection, refuse: Callable[[str], Exception]
) -> None:
    """Carry over what jobs of sweeps left. Raises what `refuse` makes of a job that is another one there."""
    known = {row[:2]: row for row in target.execute(_JOBS)}
    for row in source.execute(_JOBS):
        here = known.get(row[:2])
        if here is None:
            target.execute(_JOB, row)
        elif here != row:
            raise refuse(f"job {row[1] + 1} of sweep {row[0]}")
