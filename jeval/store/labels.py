"""Labels in the store, and the checks of a run that labels are of."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from jeval.label import CheckLabel
from jeval.ruling import STATUSES, Status

__all__ = [
    "StoredCheck",
    "case_metadata",
    "cases_of",
    "checks_of",
    "count_checks",
    "labels_of_run",
    "reviewed",
    "rubrics_of",
]

_LABEL = "l.case_id, l.rubric_id, l.expected, l.source, l.reviewer, l.note"

_LABELS_OF_RUN = f"""
SELECT {_LABEL} FROM run_cases c
JOIN case_ids ON case_ids.key = c.case_key
CROSS JOIN labels l ON l.case_id = case_ids.id
LEFT JOIN (SELECT u.position, rubrics.id FROM run_rubrics u JOIN rubrics ON rubrics.pk = u.rubric WHERE u.run = :run) r
  ON r.id = l.rubric_id
WHERE c.run = :run
ORDER BY c.position, r.position IS NULL, r.position, l.rubric_id, l.labelled_at DESC, l.reviewer
"""  # noqa: S608 - our own fragments

_PEOPLE = f"""
SELECT {_LABEL} FROM labels l
WHERE l.source = 'human' AND l.case_id IN (SELECT value FROM json_each(:cases))
ORDER BY l.case_id, l.rubric_id, l.labelled_at DESC, l.reviewer
"""  # noqa: S608 - our own fragments

# CROSS JOIN fixes the order: the few cases that labels are of, then their checks by primary key.
_CHECKS = """
SELECT case_ids.id, rubrics.id, c.status, verdicts.reason, findings.probabilities
FROM json_each(:cases) wanted
CROSS JOIN case_ids ON case_ids.id = wanted.value
CROSS JOIN check_rows c ON c.run = :run AND c.case_key = case_ids.key
JOIN rubrics ON rubrics.pk = c.rubric
JOIN verdicts ON verdicts.id = c.verdict
JOIN findings ON findings.case_key = c.case_key AND findings.id = c.finding
"""

_BODIES = """
SELECT case_ids.id, case_rows.body FROM json_each(:cases) wanted
CROSS JOIN case_ids ON case_ids.id = wanted.value
CROSS JOIN run_cases ON run_cases.run = :run AND run_cases.case_key = case_ids.key
JOIN case_rows ON case_rows.pk = run_cases.content
"""

_METADATA = """
SELECT case_ids.id, json_extract(case_rows.body, '$.metadata') FROM run_cases
JOIN case_ids ON case_ids.key = run_cases.case_key
JOIN case_rows ON case_rows.pk = run_cases.content
WHERE run_cases.run = ? ORDER BY run_cases.position
"""


class StoredCheck(NamedTuple):
    """One check of a run: what is needed to hold it against a label and to decide it again."""

    case_id: str
    rubric_id: str
    status: Status
    reason: str
    probabilities: Mapping[str, Any] | None


def labels_of_run(connection: sqlite3.Connection, run: int) -> Iterator[CheckLabel]:
    """All labels of a run's cases, by whomever, in the run's order; of one check the newest first."""
    return map(_label, connection.execute(_LABELS_OF_RUN, {"run": run}))


def reviewed(connection: sqlite3.Connection, cases: Iterable[str]) -> Iterator[CheckLabel]:
    """The labels that people gave to these cases; of one check the newest first."""
    return map(_label, connection.execute(_PEOPLE, {"cases": json.dumps(list(cases))}))


def _label(row: tuple[Any, ...]) -> CheckLabel:
    case_id, rubric_id, expected, source, reviewer, note = row
    return CheckLabel(
        case_id=case_id, rubric_id=rubric_id, expected=expected, source=source, reviewer=reviewer, note=note
    )


def rubrics_of(connection: sqlite3.Connection, run: int) -> list[dict[str, Any]]:
    """The definitions of a run's rubrics, in its order."""
    rows = connection.execute(
        "SELECT definition FROM run_rubrics u JOIN rubrics ON rubrics.pk = u.rubric WHERE u.run = ? ORDER BY position",
        (run,),
    )
    return [json.loads(definition) for (definition,) in rows]


def checks_of(connection: sqlite3.Connection, run: int, cases: Iterable[str]) -> Iterator[StoredCheck]:
    """The checks of these cases in a run."""
    for case_id, rubric_id, status, reason, probabilities in connection.execute(
        _CHECKS, {"run": run, "cases": json.dumps(list(cases))}
    ):
        found = None if probabilities is None else json.loads(probabilities)
        yield StoredCheck(case_id, rubric_id, STATUSES[status], reason, found)


def cases_of(connection: sqlite3.Connection, run: int, cases: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """These cases as the run judged them, by id."""
    for case_id, body in connection.execute(_BODIES, {"run": run, "cases": json.dumps(list(cases))}):
        yield case_id, json.loads(body)


def case_metadata(connection: sqlite3.Connection, run: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """The id and metadata of every case of a run, in its order."""
    for case_id, metadata in connection.execute(_METADATA, (run,)):
        yield case_id, {} if metadata is None else json.loads(metadata)


def count_checks(connection: sqlite3.Connection, run: int, cases: Iterable[str] | None = None) -> dict[str, int]:
    """How many checks a run has by each rubric's id: of these cases, or of all."""
    if cases is None:
        sql = "SELECT rubrics.id, sum(t.n) FROM tallies t JOIN rubrics ON rubrics.pk = t.rubric WHERE t.run = :run"
        rows = connection.execute(f"{sql} GROUP BY rubrics.id", {"run": run})
    else:
        rows = connection.execute(
            "SELECT rubrics.id, count(*) FROM json_each(:cases) wanted"
            " CROSS JOIN case_ids ON case_ids.id = wanted.value"
            " CROSS JOIN check_rows c ON c.run = :run AND c.case_key = case_ids.key"
            " JOIN rubrics ON rubrics.pk = c.rubric GROUP BY rubrics.id",
            {"run": run, "cases": json.dumps(list(cases))},
        )
    return {name: int(n) for name, n in rows}
