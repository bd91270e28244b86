"""A file that was meant as a dataset and is in another form as a whole: told once, not line by line."""

import re
import shlex
from contextlib import suppress
from pathlib import Path
from typing import Any

from jeval.app.parse import BadText, is_no_text, parse_json
from jeval.errors import Problem
from jeval.problems import shorten

__all__ = ["TABLES", "other_form"]

TABLES = (".csv", ".tsv")
_NAME = re.compile(rb'\s*"?[A-Za-z_][\w .-]{0,60}"?\s*')


def other_form(path: Path) -> Problem | None:
    """What the file is instead of a case a line; None where it is JSONL, if perhaps with faults in its lines.

    Told by its first two lines that are not empty. Raises OSError.
    """
    with path.open("rb") as file:
        stripped = (line.removeprefix(b"\xef\xbb\xbf").strip() for line in file)
        lines = (line for line in stripped if line)
        first, second = next(lines, b""), next(lines, None)
    if is_no_text(first):
        return None
    try:
        value = parse_json(first)
    except BadText:
        return _unreadable(path, first, second)
    if isinstance(value, list) and second is None:
        return _list(path, shorten(value))
    return _records(path, value, second)


def _records(path: Path, value: Any, second: bytes | None) -> Problem | None:
    """What is told of records that a capture takes; None where the second line is a case, or they are none."""
    from jeval.imports.formats import foreign_format, is_own_form

    name = foreign_format(value)
    if name is None:
        return None
    with suppress(BadText):
        if second is not None and is_own_form(parse_json(second)):
            return None
    out = "cases.jsonl" if path.name != "cases.jsonl" else "captured.jsonl"
    remedy = f"`jeval capture {_typed(path)} -o {out}` makes cases of them"
    return Problem(str(path), "", None, f"holds records of the format {name}, not cases", remedy)


def _unreadable(path: Path, first: bytes, second: bytes | None) -> Problem | None:
    if first.startswith(b"["):
        return _list(path, None) if second is not None else None
    if first.startswith(b"{"):
        if second is None or not second.startswith((b'"', b"}")):
            return None
        remedy = f"write one case a line; `jq -c . {_typed(path)} > cases.jsonl` does it"
        return Problem(str(path), "", None, "is JSON over several lines", remedy)
    shown = shorten(first.decode(errors="replace"))
    cells = re.split(rb"[,;\t]", first)
    if path.suffix.lower() in TABLES or (len(cells) > 1 and all(map(_NAME.fullmatch, cells))):
        table = path if path.suffix.lower() in TABLES else path.with_suffix(".csv")
        rename = "" if table == path else f"name it {table.name}, and "
        remedy = f"write one case a line; {rename}`jeval capture {_typed(table)} -o cases.jsonl` makes cases of it"
        return Problem(str(path), "", shown, "looks like a table, not like JSONL", remedy)
    if second is None or second.startswith(b"{"):
        return None
    remedy = (
        'write one case a line: {"id": …, "input": …, "output": …}; `jeval capture FILE -o OUT` makes cases of traces'
    )
    return Problem(str(path), "", shown, "is not JSONL", remedy)


def _list(path: Path, value: str | None) -> Problem:
    remedy = (
        "write one case a line, without brackets and commas around them; "
        f"`jq -c '.[]' {_typed(path)} > cases.jsonl` does it"
    )
    return Problem(str(path), "", value, "is one JSON list", remedy)


def _typed(path: Path) -> str:
    return shlex.quote(str(path))
