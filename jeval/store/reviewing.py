"""What of a run needs a person, and the labels they give, each in place of their own earlier one."""

import json
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from jeval.store.status import STATUS_CODES

__all__ = ["Queue", "StoredLabel", "label_by", "put_label", "review_queue", "take_back_label"]

# What needs a person most comes first; of critical and required rubrics before others, and rubric by rubric, for a
# question is answered best while it is in mind.
_ORDER = """
ORDER BY CASE c.status WHEN 2 THEN 0 WHEN 1 THEN CASE r.severity WHEN 'critical' THEN 1 ELSE 2 END
  WHEN 4 THEN 3 WHEN 0 THEN 4 ELSE 5 END,
  r.severity <> 'critical', r.required = 0, u.position, run_cases.position
"""

_WAITING = """
SELECT c.case_key, c.rubric FROM check_rows c
JOIN rubrics r ON r.pk = c.rubric
JOIN run_rubrics u ON u.run = c.run AND u.rubric = c.rubric
JOIN run_cases ON run_cases.run = c.run AND run_cases.case_key = c.case_key
JOIN case_ids ON case_ids.key = c.case_key
WHERE c.run = :run AND c.status IN (SELECT value FROM json_each(:statuses))
  AND (:again OR NOT EXISTS (SELECT 1 FROM labels l
    WHERE l.source = 'human' AND l.case_id = case_ids.id AND l.rubric_id = r.id))
"""

_NAMES = "SELECT (SELECT id FROM case_ids WHERE key = ?), (SELECT id FROM rubrics WHERE pk = ?)"

_BY = """
SELECT expected, note, labelled_at FROM labels
WHERE case_id = ? AND rubric_id = ? AND source = 'human' AND coalesce(reviewer, '') = coalesce(?, '')
"""

_PUT = """
INSERT INTO labels (case_id, rubric_id, expected, source, reviewer, note, labelled_at)
VALUES (?, ?, ?, 'human', ?, ?, ?)
ON CONFLICT (case_id, rubric_id, source, coalesce(reviewer, '')) DO UPDATE
SET expected = excluded.expected, note = excluded.note, labelled_at = excluded.labelled_at
"""

_TAKE_BACK = """
DELETE FROM labels
WHERE case_id = ? AND rubric_id = ? AND source = 'human' AND coalesce(reviewer, '') = coalesce(?, '')
"""


class Queue:
    """The checks of a run that wait, in their order, each named when it is wanted."""

    def __init__(self, connection: sqlite3.Connection, keys: Sequence[tuple[int, int]], labelled: int) -> None:
        self._connection, self._keys = connection, keys
        self.labelled = labelled
        """How many more there would be, had no person labelled them."""

    def __len__(self) -> int:
        return len(self._keys)

    def __getitem__(self, place: int) -> tuple[str, str]:
        """The case id and the rubric id of the check at a place."""
        case_id, rubric_id = self._connection.execute(_NAMES, self._keys[place]).fetchone()
        return case_id, rubric_id


class StoredLabel(NamedTuple):
    """What one person said of one check, why, and when (UTC, ISO 8601)."""

    expected: str
    note: str | None
    labelled_at: str


def review_queue(connection: sqlite3.Connection, run: int, statuses: Sequence[str], *, again: bool = False) -> Queue:
    """The checks of a run, by its key, with one of these statuses: for review first, then critical failures, then
    other failures, errors, passes. Those that any person has labelled are left out, unless `again` is set.
    """
    codes = json.dumps([STATUS_CODES[status] for status in statuses])
    given = {"run": run, "statuses": codes, "again": again}
    keys = connection.execute(_WAITING + _ORDER, given).fetchall()
    (all_of_them,) = connection.execute(
        f"SELECT count(*) FROM ({_WAITING})",  # noqa: S608 - our own fragment
        given | {"again": True},
    ).fetchone()
    return Queue(connection, keys, all_of_them - len(keys))


def label_by(connection: sqlite3.Connection, case_id: str, rubric_id: str, reviewer: str | None) -> StoredLabel | None:
    """What this person said of a check, None where nothing."""
    row = connection.execute(_BY, (case_id, rubric_id, reviewer)).fetchone()
    return None if row is None else StoredLabel(*row)


def put_label(
    connection: sqlite3.Connection, case_id: str, rubric_id: str, reviewer: str | None, label: StoredLabel
) -> None:
    """Write a person's label, in place of the one the same person gave before."""
    expected, note, labelled_at = label
    connection.execute(_PUT, (case_id, rubric_id, expected, reviewer, note, labelled_at))


def take_back_label(connection: sqlite3.Connection, case_id: str, rubric_id: str, reviewer: str | None) -> None:
    """Take this person's label of a check away."""
    connection.execute(_TAKE_BACK, (case_id, rubric_id, reviewer))
