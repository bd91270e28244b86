"""The checks of a run that filters leave, for lists that are about more than one run or one check."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from jeval.browse.chosen import chosen_cases
from jeval.browse.filters import Filters, Where, where

__all__ = ["cases_left", "checks_left", "of_run"]


def of_run(conn: sqlite3.Connection, run: int, rubrics: list[dict[str, Any]], filters: Filters) -> Where | None:
    """The conditions on the checks of a run, or None where nothing is narrowed."""
    if not filters.active:
        return None
    return where(filters, run, rubrics, chosen_cases(conn, run, filters))


def cases_left(conn: sqlite3.Connection, run: int, rubrics: list[dict[str, Any]], filters: Filters) -> list[int] | None:
    """The cases with a check in this run that the filters leave, or None where nothing is narrowed."""
    left = of_run(conn, run, rubrics, filters)
    if left is None:
        return None
    sql = f"SELECT DISTINCT c.case_key FROM check_rows c WHERE {left.sql}"  # noqa: S608 - our own conditions
    return [row[0] for row in conn.execute(sql, left.params)]


def checks_left(
    conn: sqlite3.Connection,
    run: int,
    rubrics: list[dict[str, Any]],
    filters: Filters,
    case_ids: Iterable[str],
) -> set[tuple[str, str]] | None:
    """Those of these cases' checks that the filters leave, as (case id, rubric id); None for all."""
    left = of_run(conn, run, rubrics, replace(filters, page=1))
    if left is None:
        return None
    sql = (
        "SELECT i.id, r.id FROM check_rows c JOIN case_ids i ON i.key = c.case_key"  # noqa: S608 - our own conditions
        f" JOIN rubrics r ON r.pk = c.rubric WHERE {left.sql}"
        " AND i.id IN (SELECT value FROM json_each(:case_ids))"
    )
    given = json.dumps(sorted(set(case_ids)))
    return {(row[0], row[1]) for row in conn.execute(sql, left.params | {"case_ids": given})}
