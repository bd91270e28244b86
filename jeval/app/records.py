"""The records in a file of traces: lines or objects of JSON, rows of CSV, each with its place."""

import csv
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from jeval.app.parse import BadText, parse_json
from jeval.errors import ConfigError, Problem
from jeval.imports.messages import message_list
from jeval.problems import shorten

__all__ = ["Record", "records_of"]

# Keys under which a file holds its list of records.
_WRAPPERS = (
    "data", "traces", "testCases", "test_cases", "conversationalTestCases", "conversational_test_cases",
    "goldens", "conversational_goldens", "records", "items", "rows", "conversations",
)  # fmt: skip

# Characters of a cell; a cell that holds a whole conversation as JSON is longer than the library expects.
_LARGEST_CELL = 50_000_000
_BLANKS = re.compile(r"\s*")

Record = tuple[str, Any]


def records_of(path: Path) -> Iterator[Record]:
    """The records of a JSONL, JSON or CSV file, each with its place; a Problem where one cannot be read.

    JSONL and CSV are read as a stream, JSON at once.
    """
    try:
        if path.suffix.lower() in (".csv", ".tsv"):
            yield from _rows(path)
        elif _is_jsonl(path):
            yield from _lines(path)
        else:
            yield from _whole(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; check the path and its permissions") from error


def _rows(path: Path) -> Iterator[Record]:
    csv.field_size_limit(_LARGEST_CELL)
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
        try:
            for row in reader:
                place = f"{path}:{reader.line_num}"
                if None in row:
                    extra = shorten(row[None])
                    yield (
                        place,
                        Problem(place, "", extra, "has more cells than the header", "quote the commas in it"),
                    )
                else:
                    yield place, {key: value for key, value in row.items() if value not in (None, "")}
        except (csv.Error, UnicodeDecodeError) as error:
            place = f"{path}:{reader.line_num + 1}"
            yield place, Problem(place, "", None, f"is not CSV in UTF-8: {error}", "save it as CSV in UTF-8")


def _is_jsonl(path: Path) -> bool:
    """Whether each line is a JSON value: by the file's name, or because the first of several is."""
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return True
    with path.open("rb") as file:
        lines = (line for line in file if line.strip())
        first, second = next(lines, b""), next(lines, None)
    try:
        parse_json(first)
    except BadText:
        # A broken first line of several is a fault of that line, if it begins and ends like an object.
        return second is not None and first.strip()[:1] == b"{" and first.strip()[-1:] == b"}"
    return second is not None


def _lines(path: Path) -> Iterator[Record]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _parsed(line, f"{path}:{number}")


def _parsed(data: bytes, place: str) -> Record:
    try:
        return place, parse_json(data)
    except BadText as bad:
        place = f"{place}:{bad.line}" if bad.line else place
        return place, Problem(place, bad.field, bad.value, bad.message, bad.remedy)


def _whole(path: Path) -> Iterator[Record]:
    data = path.read_bytes()
    place, value = _parsed(data, str(path))
    if isinstance(value, Problem) and (pieces := _pieces(data)):
        for line, piece in pieces:
            yield _parsed(piece, f"{path}:{line}")
        return
    items = _items(value)
    if items is None:
        yield place, value
        return
    for number, item in enumerate(items, 1):
        yield f"{path}: record {number}", item


def _pieces(data: bytes) -> list[tuple[int, bytes]]:
    """JSON objects that follow one another over several lines each, as printed spans do, with their first lines.

    Empty where there are not at least two of them, and nothing else.
    """
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError:
        return []
    found: list[tuple[int, bytes]] = []
    read, at, line = json.JSONDecoder().raw_decode, 0, 1
    while (begin := _next(text, at)) < len(text):
        try:
            _, end = read(text, begin)
        except (ValueError, RecursionError):
            return []
        line += text.count("\n", at, begin)
        found.append((line, text[begin:end].encode()))
        line += text.count("\n", begin, end)
        at = end
    return found if len(found) > 1 else []


def _next(text: str, at: int) -> int:
    """Where the blanks from here end."""
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at


def _items(value: Any) -> Iterable[Any] | None:
    """The records in a JSON value, or None where it is one record."""
    if isinstance(value, list):
        return None if message_list(value) else value
    if isinstance(value, dict):
        lists = [value[name] for name in _WRAPPERS if isinstance(value.get(name), list)]
        if lists and all(isinstance(item, dict) for items in lists for item in items):
            return [item for items in lists for item in items]
    return None
