"""The generated parts of docs/sql.md: SQL and what it finds in the store of scripts/example_store.py."""

import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from jeval.store.queries import QUERIES
from scripts.example_store import make_store

__all__ = ["ask", "columns", "named"]

_WIDTH = 46


def ask(sql: str, **parameters: str) -> str:
    """The SQL and its answer, as Markdown."""
    return f"```sql\n{sql.strip()}\n```\n\n{_answer(sql, parameters)}"


def named(name: str, *shown: str, **parameters: str) -> str:
    """A named query's SQL and some columns of its answer, as Markdown."""
    query = QUERIES[name]
    takes = ", ".join(f"`:{parameter}`" for parameter in query.parameters)
    only = f", the columns {', '.join(shown)}" if shown else ""
    given = " and ".join(f"`{key}` = {value}" for key, value in parameters.items())
    return (
        f"{query.title}. Takes {takes}.\n\n```sql\n{query.sql}\n```\n\n"
        f"With {given}{only}:\n\n{_answer(query.sql, parameters, shown)}"
    )


def columns() -> str:
    """Every table and view with its columns, as Markdown; the rows beneath the views are not for queries."""
    with tempfile.TemporaryDirectory() as folder, closing(make_store(Path(folder))) as connection:
        lines = ["| table or view | columns |", "|---|---|"]
        for name in _READABLE:
            found = connection.execute("SELECT name FROM pragma_table_info(?) ORDER BY cid", (name,))
            lines.append(f"| `{name}` | {', '.join(row[0] for row in found)} |")
    return "\n".join(lines)


_READABLE = (
    "runs",
    "run_summary",
    "rubric_summary",
    "critical_failures",
    "checks",
    "scores",
    "score_breakdown",
    "cases",
    "rubrics",
    "labels",
    "judgments",
    "requests",
)


def _answer(sql: str, parameters: dict[str, str], shown: tuple[str, ...] = ()) -> str:
    with tempfile.TemporaryDirectory() as folder, closing(make_store(Path(folder))) as connection:
        found = connection.execute(sql, parameters)
        names = [column[0] for column in found.description]
        rows = found.fetchall()
    kept = [names.index(name) for name in shown] if shown else list(range(len(names)))
    table = [[names[i] for i in kept], *([_cell(row[i]) for i in kept] for row in rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(kept))]
    numbers = [all(row[i] is None or isinstance(row[i], int | float) for row in rows) for i in kept]
    table.insert(1, ["-" * width for width in widths])
    lines = ["  ".join(_pad(*cell) for cell in zip(row, widths, numbers, strict=True)).rstrip() for row in table]
    return "\n".join(["```text", *lines, "```"])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.3g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"


def _pad(text: str, width: int, number: bool) -> str:
    return f"{text:>{width}}" if number else f"{text:<{width}}"
