"""A sweep: status counts across its profiles, and the checks that are not the same everywhere."""

import sqlite3
from typing import Any

from jeval.browse.filters import STATUSES
from jeval.browse.rows import NotHere, counts_of, every, totals
from jeval.browse.run_list import critical_rubrics

__all__ = ["sweep_page"]

PAGE = 60


def sweep_page(conn: sqlite3.Connection, sweep: str, page: int) -> dict[str, Any]:
    """All that the page of a sweep shows. Raises NotHere."""
    runs = every(
        conn,
        "SELECT pk, id, name, started_at, finished_at, status, dataset, thresholds,"
        " threshold_pass, threshold_fail, judge, rubrics,"
        " simulated, sweep_position, judgments_asked, judgments_reused FROM runs WHERE sweep_id = ?"
        " ORDER BY sweep_position, pk LIMIT 200",
        (sweep,),
    )
    if not runs:
        raise NotHere(f"The store holds no sweep {sweep}. A run that belongs to one links to it.")
    counts = counts_of(conn, [run["pk"] for run in runs])
    critical = critical_rubrics(conn)
    for run in runs:
        run |= totals(counts[run["pk"]], critical)
    flips, more, by_rubric = _flips(conn, runs, page)
    failed = every(
        conn,
        "SELECT position, overrides, error FROM sweep_jobs WHERE sweep_id = ? AND error IS NOT"
        " NULL ORDER BY position LIMIT 50",
        (sweep,),
    )
    shown: dict[str, Any] = {"sweep": sweep, "runs": runs, "failed": failed, "page": page}
    return shown | {"flips": flips, "more": more, "by_rubric": by_rubric}


def _flips(
    conn: sqlite3.Connection, runs: list[dict[str, Any]], page: int
) -> tuple[list[dict[str, Any]], bool, list[dict[str, Any]]]:
    keys = ", ".join(str(run["pk"]) for run in runs)
    flipped = (
        "SELECT c.case_key, r.id AS rubric, max(c.critical) AS critical FROM check_rows c JOIN"  # noqa: S608
        " rubrics r ON r.pk = c.rubric"
        f" WHERE c.run IN ({keys}) GROUP BY c.case_key, r.id HAVING min(c.status) <> max(c.status)"
    )
    by_rubric = every(conn, f"SELECT rubric, count(*) AS n FROM ({flipped}) GROUP BY rubric ORDER BY n DESC")  # noqa: S608
    rows = every(
        conn,
        f"{flipped} ORDER BY max(c.critical) DESC, c.case_key, r.id LIMIT {PAGE + 1} OFFSET {(page - 1) * PAGE}",
    )
    shown = rows[:PAGE]
    for row in shown:
        row["case_id"] = conn.execute("SELECT id FROM case_ids WHERE key = ?", (row["case_key"],)).fetchone()[0]
        cells = dict(
            conn.execute(
                "SELECT c.run, c.status FROM check_rows c JOIN rubrics r ON r.pk = c.rubric"  # noqa: S608
                f" WHERE c.run IN ({keys})"
                " AND c.case_key = ? AND r.id = ?",
                (row["case_key"], row["rubric"]),
            )
        )
        row["cells"] = [STATUSES[cells[run["pk"]]] if run["pk"] in cells else None for run in runs]
    return shown, len(rows) > PAGE, by_rubric
