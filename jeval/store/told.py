"""What the end of a run tells of it, and `jeval show` tells again."""

import re
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from jeval.report.overview import CheckLine, Overview, ScoreLine
from jeval.store.queries import status_name
from jeval.store.reading import CHECK_COLUMNS, CHECK_TEXTS, check_line, read_overview

__all__ = ["Told", "read_told"]

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


class Told(NamedTuple):
    """A run from above, and what stands beside its counts.

    `rubric_set` and `metric_set` are the names of the sets it used. `critical` holds its first critical failures
    in the dataset's order, `errors` the kind, number and one message of requests that failed, the most frequent
    first. `repeats` is how often each question was asked; `flips` counts checks whose status changed between
    repeats, by rubric and status.
    """

    run: Overview
    rubric_set: str | None = None
    metric_set: str | None = None
    critical: Sequence[CheckLine] = ()
    errors: Sequence[tuple[str, int, str | None]] = ()
    repeats: int = 1
    flips: Sequence[tuple[str, str, int]] = ()


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
    return Told(
        overview,
        run["rubrics"],
        run["metrics"],
        [check_line(row) for row in critical],
        connection.execute(_ERRORS, (pk,)).fetchall() if overview.errors else (),
        int(repeats[1]) if repeats else 1,
        flips,
    )
