"""Runs in the store: begun, finished, found by name."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from jeval.errors import ConfigError
from jeval.fingerprint import compact
from jeval.metric import Metric
from jeval.rubric import Rubric
from jeval.store.find import find_run
from jeval.store.rows import RunKeys

__all__ = ["begin_run", "find_run", "finish_run", "refuse_changed", "served_models"]


def refuse_changed(connection: sqlite3.Connection, items: Sequence[Rubric] | Sequence[Metric], noun: str) -> None:
    """Raise ConfigError where the store knows the same id and version with another content.

    Results of one version must all mean the same, so an edited criterion needs a version of its own.
    """
    for item in items:
        row = connection.execute(
            f"SELECT sha256 FROM {noun}s WHERE id = ? AND version = ? AND sha256 <> ?",  # noqa: S608 - our own noun
            (item.id, item.version, item.sha256),
        ).fetchone()
        same = connection.execute(
            f"SELECT 1 FROM {noun}s WHERE id = ? AND version = ? AND sha256 = ?",  # noqa: S608
            (item.id, item.version, item.sha256),
        ).fetchone()
        if row and not same:
            raise ConfigError(
                f"{noun} {item.id} {item.version} is not the {noun} of that version in the store "
                f"(content {item.sha256[:8]}, stored {row[0][:8]}); give the edited {noun} a new version, "
                f"or use another store"
            )


def begin_run(
    connection: sqlite3.Connection,
    columns: Mapping[str, Any],
    rubrics: Sequence[Rubric],
    metrics: Sequence[Metric],
) -> RunKeys:
    """Write a run's row, its rubrics and its judge in one transaction; the keys its rows refer to."""
    names = ", ".join(columns)
    marks = ", ".join("?" * len(columns))
    connection.execute("BEGIN IMMEDIATE")
    try:
        refuse_changed(connection, rubrics, "rubric")
        refuse_changed(connection, metrics, "metric")
        run = connection.execute(
            f"INSERT INTO runs ({names}) VALUES ({marks})",  # noqa: S608 - our own names
            tuple(columns.values()),
        ).lastrowid
        identity = (columns["gateway"], columns["model_asked"])
        connection.execute(
            "INSERT OR IGNORE INTO judges (name, gateway, model_asked) VALUES (?, ?, ?)",
            (columns["judge"], *identity),
        )
        judge = connection.execute("SELECT pk FROM judges WHERE gateway = ? AND model_asked = ?", identity).fetchone()[
            0
        ]
        keys = RunKeys(run or 0, judge, {}, {})
        for position, rubric in enumerate(rubrics):
            keys.rubrics[rubric.sha256] = _rubric_key(connection, rubric)
            connection.execute("INSERT INTO run_rubrics VALUES (?, ?, ?)", (run, position, keys.rubrics[rubric.sha256]))
        for metric in metrics:
            keys.metrics[metric.id] = _metric_key(connection, metric)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return keys


def _rubric_key(connection: sqlite3.Connection, rubric: Rubric) -> int:
    connection.execute(
        "INSERT OR IGNORE INTO rubrics (id, version, sha256, kind, severity, required, definition)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            rubric.id,
            rubric.version,
            rubric.sha256,
            rubric.kind,
            rubric.severity,
            int(rubric.required),
            compact(rubric.definition()),
        ),
    )
    identity = (rubric.id, rubric.version, rubric.sha256)
    return int(
        connection.execute("SELECT pk FROM rubrics WHERE id = ? AND version = ? AND sha256 = ?", identity).fetchone()[0]
    )


def _metric_key(connection: sqlite3.Connection, metric: Metric) -> int:
    connection.execute(
        "INSERT OR IGNORE INTO metrics (id, version, sha256, definition) VALUES (?, ?, ?, ?)",
        (metric.id, metric.version, metric.sha256, compact(metric.definition())),
    )
    identity = (metric.id, metric.version, metric.sha256)
    return int(
        connection.execute("SELECT pk FROM metrics WHERE id = ? AND version = ? AND sha256 = ?", identity).fetchone()[0]
    )


def served_models(connection: sqlite3.Connection, run: int) -> list[str]:
    """Every model version whose judgments the run rests on, reused ones included."""
    rows = connection.execute(
        "SELECT DISTINCT q.model_served FROM request_rows q WHERE q.model_served IS NOT NULL AND (q.run = ?1 OR q.id IN"
        " (SELECT s.value FROM run_cases, json_each(run_cases.sources) s WHERE run_cases.run = ?1)) ORDER BY 1",
        (run,),
    )
    return [row[0] for row in rows]


def finish_run(connection: sqlite3.Connection, run: int, columns: Mapping[str, Any]) -> None:
    """Complete a run's row."""
    names = ", ".join(f"{name} = ?" for name in columns)
    connection.execute(f"UPDATE runs SET {names} WHERE pk = ?", (*columns.values(), run))  # noqa: S608 - our own names
