"""Cells of Datasette's own pages: runs and cases link to their pages, and the unseen is shown."""

import json
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from jeval.browse.screen import SIGNS
from jeval.browse.visible import hides, visible

__all__ = ["cell"]

_LINK = Markup('<a href="{}">{}</a>')
_PRE = Markup('<pre style="margin:0;white-space:pre-wrap;min-width:16em">{}</pre>')
_JSON = {"probabilities", "probabilities_before", "probabilities_after", "evidence", "answer", "definition"}
_STATUS_COLUMNS = {"status", "before", "after", "expected"}


def cell(row: Any, value: Any, column: str, table: str | None, base: str) -> Any:
    """The cell as Datasette shall show it, or None for Datasette's own way. `base` is the pages' root."""
    if not isinstance(value, str) or not value:
        return None
    if column in ("run_id", "case_id") or (table == "runs" and column == "id"):
        return _LINK.format(_target(row, value, column, base), visible(value))
    if column in _STATUS_COLUMNS and value in SIGNS:
        return f"{SIGNS[value]} {value}"
    if column in _JSON and value[:1] in "{[" and len(value) < 20_000:
        return _PRE.format(visible(_indented(value)))
    return visible(value) if hides(value) else None


def _target(row: Any, value: str, column: str, base: str) -> str:
    run = _column(row, "run_id")
    if column == "case_id" and isinstance(run, str):
        return f"{base}/case/{quote(run, safe='')}/{quote(value, safe='')}"
    if column == "case_id":
        return f"{base}/case/@last/{quote(value, safe='')}"
    return f"{base}/run/{quote(value, safe='')}"


def _column(row: Any, name: str) -> Any:
    try:
        return row[name]
    except (KeyError, IndexError, TypeError):
        return None


def _indented(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except ValueError:
        return text
