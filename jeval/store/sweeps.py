"""The jobs of a sweep: what each left, and how its checks differ from the first one's."""

import sqlite3
from collections.abc import Sequence
from typing import Any, NamedTuple

__all__ = ["SweepRow", "record_job", "sweep_flips", "sweep_jobs"]


def record_job(
    connection: sqlite3.Connection,
    sweep_id: str,
    position: int,
    overrides: str,
    exit_code: int,
    error: str | None,
) -> None:
    """Leave word of one job: the run it made, if it made one, and how it ended."""
    connection.execute(
        "INSERT OR REPLACE INTO sweep_jobs VALUES (?1, ?2, ?3,"
        " (SELECT pk FROM runs WHERE sweep_id = ?1 AND sweep_position = ?2 ORDER BY pk DESC LIMIT 1), ?4, ?5)",
        (sweep_id, position, overrides, exit_code, error),
    )


class SweepRow(NamedTuple):
    """One job of a sweep, as its table shows it. Counts are None where the job left no run."""

    position: int
    overrides: str
    exit_code: int
    error: str | None
    run: int | None
    run_id: str | None
    simulated: bool
    counts: tuple[int, ...] | None
    critical: int | None
    flipped: int | None


def sweep_jobs(connection: sqlite3.Connection, sweep_id: str) -> list[SweepRow]:
    """Every job of a sweep that left a trace, in order, each held against the first that has a run."""
    jobs = connection.execute(
        "SELECT j.position, j.overrides, j.exit_code, j.error, runs.pk, runs.id, runs.simulated FROM sweep_jobs j"
        " LEFT JOIN runs ON runs.pk = j.run WHERE j.sweep_id = ? ORDER BY j.position",
        (sweep_id,),
    ).fetchall()
    first = next((job[4] for job in jobs if job[4] is not None), None)
    rows = []
    for position, overrides, code, error, run, run_id, simulated in jobs:
        if run is None:
            rows.append(SweepRow(position, overrides, code, error, None, None, False, None, None, None))
            continue
        summary = connection.execute(
            'SELECT "pass", "fail", "review", "skipped", "error", critical_failures FROM run_summary WHERE run_id = ?',
            (run_id,),
        ).fetchone()
        flipped = connection.execute(
            "SELECT count(*) FROM check_rows a"
            " JOIN check_rows b ON b.run = ? AND b.case_key = a.case_key AND b.rubric = a.rubric"
            " WHERE a.run = ? AND a.status <> b.status",
            (run, first),
        ).fetchone()[0]
        counts, critical = tuple(summary[:5]), summary[5]
        made = (run, run_id, bool(simulated), counts, critical, flipped)
        rows.append(SweepRow(position, overrides, code, error, *made))
    return rows


def sweep_flips(connection: sqlite3.Connection, first: int, others: Sequence[int], limit: int) -> list[tuple[Any, ...]]:
    """Checks that some profile decides otherwise than the first: (case id, rubric id, first status, changes).

    `changes` is a JSON object of run pk to status code. At most `limit`, critical rubrics first.
    """
    marks = ",".join("?" * len(others))
    return connection.execute(
        f"""
        SELECT case_ids.id, rubrics.id, a.status, json_group_object(b.run, b.status)
        FROM check_rows a
        JOIN check_rows b ON b.run IN ({marks}) AND b.case_key = a.case_key AND b.rubric = a.rubric
          AND b.status <> a.status
        JOIN case_ids ON case_ids.key = a.case_key
        JOIN rubrics ON rubrics.pk = a.rubric
        WHERE a.run = ? GROUP BY a.case_key, a.rubric
        ORDER BY rubrics.severity = 'critical' DESC, count(*) DESC, case_ids.id LIMIT ?
        """,  # noqa: S608 - only question marks are put in
        (*others, first, limit),
    ).fetchall()
