"""Cells of Datasette's own pages: ids lead to their pages, JSON is laid out, and the unseen is shown."""

import json
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from jeval.browse.links import Links
from jeval.browse.look import Look
from jeval.browse.screen import SIGNS, probability
from jeval.browse.visible import hides, visible

__all__ = ["cell"]

_LINK = Markup('<a href="{}">{}</a>')
_LAID_OUT = Markup('<pre class="json">{}</pre>')
_LONG = Markup('<div class="long">{}</div>')
_PROBABILITIES = {"probabilities", "probabilities_before", "probabilities_after"}
_JSON = {"evidence", "answer", "definition", "body", "breakdown", "gate", "overrides", "tags", "statuses", "sources"}
# Numbers that stand for a row of another table, where a view gives Datasette no foreign key.
_NUMBERS: dict[tuple[str | None, str], str] = {
    ("judgments", "run"): "runs",
    ("judgments", "request"): "request_rows",
    ("requests", "request"): "request_rows",
}
_STATUS_COLUMNS = {"status", "before", "after", "expected"}

# A text of so many characters scrolls in its cell; in a table only so many of it are sent.
_SCROLLS, _SENT = 220, 3_000


def cell(row: Any, value: Any, column: str, table: str | None, links: Links, look: Look) -> Any:
    """The cell as Datasette shall show it, or None for Datasette's own way."""
    target = _target(row, value, column, table, links, look)
    if target is not None:
        return _LINK.format(target, visible(str(value)))
    if not isinstance(value, str) or not value:
        return None
    if column in _STATUS_COLUMNS and value in SIGNS:
        return f"{SIGNS[value]} {value}"
    if column in _PROBABILITIES and value.startswith("{"):
        return _clipped(_distribution(value), look)
    if column in _JSON and value[:1] in ("{", "["):
        return _LAID_OUT.format(_clipped(_indented(value), look))
    if len(value) > _SCROLLS or "\n" in value:
        return _LONG.format(_clipped(value, look))
    return visible(value) if hides(value) else None


def _target(row: Any, value: Any, column: str, table: str | None, links: Links, look: Look) -> str | None:
    """Where an id leads, or None where the value is none."""
    numbered = _NUMBERS.get((table, column))
    if numbered and isinstance(value, int):
        return links.row(numbered, value)
    if not isinstance(value, str) or not value:
        return None
    if column == "id":
        return _own_page(row, value, table, links)
    if column == "run_id":
        return links.run(value)
    if column == "case_id":
        run = _column(row, "run_id") or look.run
        return links.case(run, value) if isinstance(run, str) else links.find(case=value)
    if column in ("rubric_id", "metric_id"):
        kind = column.removesuffix("_id")
        return links.table(f"{kind}s", id=value, version=_column(row, f"{kind}_version"))
    if column == "question_sha256":
        return links.table("questions", sha256=value)
    return links.sweep(value) if column == "sweep_id" else None


def _own_page(row: Any, value: str, table: str | None, links: Links) -> str | None:
    """The page of what a row is about."""
    if table == "runs":
        return links.run(value)
    if table == "cases":
        return links.find(case=value, content=_column(row, "pk"))
    key = _column(row, "pk")
    return links.row(table, key) if table in ("rubrics", "metrics") and isinstance(key, int) else None


def _column(row: Any, name: str) -> Any:
    try:
        return row[name]
    except (KeyError, IndexError, TypeError):
        return None


def _clipped(text: str, look: Look) -> str:
    """Unseen characters written out; in a table of many rows not all of a text that is very long."""
    if look.row or len(text) <= _SENT:
        return visible(text)
    return f"{visible(text[:_SENT])}… ({len(text):,} characters)"


def _indented(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except ValueError:
        return text


def _distribution(text: str) -> str:
    """{option: p} as people write it, each part of several questions after its name."""
    try:
        found = json.loads(text)
    except ValueError:
        return text
    parts = [(f"{name}: ", part) for name, part in found.items() if isinstance(part, Mapping)] or [("", found)]
    return "; ".join(
        name + ", ".join(f"{option} {probability(p)}" for option, p in part.items()) for name, part in parts
    )
