"""What the end of a run tells of it, and `jeval show` tells again."""

import json
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from jeval.report.overview import CheckLine, Overview, ScoreLine
from jeval.store.queries import status_name
from jeval.store.reading import CHECK_COLUMNS, CHECK_TEXTS, check_line, read_overview

__all__ = ["Told", "answers_of", "read_told"]

# Characters of an answer that are kept to be shown on one line.
_BEGINNING = 500

_CRITICAL = f"""
SELECT {CHECK_COLUMNS} FROM check_rows c {CHECK_TEXTS}
JOIN run_cases ON run_cases.run = c.run AND run_cases.case_key = c.case_key
WHERE c.run = ? AND c.critical = 1 ORDER BY run_cases.position, c.rubric LIMIT ?
"""  # noqa: S608 - our own fragments

_ERRORS = """
SELECT error_kind, count(*), min(error_message) FROM request_rows
WHERE run = ? AND error_kind IS NOT NULL GROUP BY error_kind ORDER BY 2 DESC
"""

_FLIPS = f"""
SELECT rubrics.id, {status_name("c.status")}, count(*) FROM repeat_flips f
JOIN check_rows c ON c.run = f.run AND c.case_key = f.case_key AND c.rubric = f.rubric
JOIN rubrics ON rubrics.pk = f.rubric
WHERE f.run = ? GROUP BY f.rubric, c.status ORDER BY 3 DESC, 1
"""  # noqa: S608 - our own fragments


# What was not scored, by why. Equal results are one row, so few texts are read however many cases there are.
_UNSCORED = """
SELECT metrics.id, r.reason, sum(g.n) FROM
  (SELECT metric, result, count(*) AS n FROM score_rows WHERE run = ? GROUP BY metric, result) g
JOIN score_results r ON r.id = g.result AND r.status = 'skipped'
JOIN metrics ON metrics.pk = g.metric
GROUP BY g.metric, r.reason ORDER BY 3 DESC, 2
"""

_ANSWERS = """
SELECT case_ids.id, case_rows.body FROM json_each(?) wanted
CROSS JOIN case_ids ON case_ids.id = wanted.value
CROSS JOIN run_cases ON run_cases.run = ? AND run_cases.case_key = case_ids.key
CROSS JOIN case_rows ON case_rows.pk = run_cases.content
"""


class Told(NamedTuple):
    """A run from above, and what stands beside its counts.

    `rubric_set` and `metric_set` are the names of the sets it used. `critical` holds its first critical failures
    in the dataset's order, `errors` the kind, number and one message of requests that failed, the most frequent
    first. `repeats` is how often each question was asked; `flips` counts checks whose status changed between
    repeats, by rubric and status. `answers` has the beginning of what was answered in the cases of `critical`, by case;
    `unscored` for each metric the commonest reason why cases were not scored, and of how many.
    """

    run: Overview
    rubric_set: str | None = None
    metric_set: str | None = None
    critical: Sequence[CheckLine] = ()
    errors: Sequence[tuple[str, int, str | None]] = ()
    repeats: int = 1
    flips: Sequence[tuple[str, str, int]] = ()
    answers: Mapping[str, str] = {}
    unscored: Mapping[str, tuple[str, int]] = {}


def read_told(
    connection: sqlite3.Connection, run: sqlite3.Row, limit: int | None, scores: Sequence[ScoreLine] | None = None
) -> Told:
    """What there is to tell of a run; `run` is its row. At most `limit` critical failures, all where it is None.

    Whoever has added up the scores hands them in, for adding them up takes a look at every case.
    """
    overview, pk = read_overview(connection, run, scores), run["pk"]
    critical = connection.execute(_CRITICAL, (pk, -1 if limit is None else limit)) if overview.critical_failures else ()
    repeats = re.search(r"^  repeat: (\d+)$", run["config_yaml"], re.MULTILINE)
    flips = connection.execute(_FLIPS, (pk,)).fetchall() if repeats and repeats[1] != "1" else ()
    listed = [check_line(row) for row in critical]
    return Told(
        overview,
        run["rubrics"],
        run["metrics"],
        listed,
        connection.execute(_ERRORS, (pk,)).fetchall() if overview.errors else (),
        int(repeats[1]) if repeats else 1,
        flips,
        answers_of(connection, pk, listed),
        _unscored(connection, pk) if any(line.skipped for line in overview.scores) else {},
    )


def answers_of(connection: sqlite3.Connection, run: int, checks: Iterable[CheckLine]) -> dict[str, str]:
    """The beginnings of the answers that failed these checks of a run, by case id; no other case is read."""
    wanted = list(dict.fromkeys(check.case_id for check in checks if check.status == "fail"))
    if not wanted:
        return {}
    rows = connection.execute(_ANSWERS, (json.dumps(wanted), run))
    return {case: json.loads(body)["output"][:_BEGINNING] for case, body in rows}  # SQLite's own ends at a NUL


def _unscored(connection: sqlite3.Connection, run: int) -> dict[str, tuple[str, int]]:
    found: dict[str, tuple[str, int]] = {}
    for metric, reason, number in connection.execute(_UNSCORED, (run,)):
        found.setdefault(metric, (reason, number))
    return found
