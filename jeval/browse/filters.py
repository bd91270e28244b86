"""What a list of checks is narrowed to: read from the address, written back to it, and turned into SQL."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

__all__ = ["ALL", "Filters", "Where", "where"]

STATUSES = ("pass", "fail", "review", "skipped", "error")
SEVERITIES = ("critical", "major", "minor")


@dataclass(frozen=True)
class Filters:
    """Every filter there is. `slower` and `faster` bound a case's slowest request in milliseconds."""

    status: tuple[str, ...] = ()
    rubric: tuple[str, ...] = ()
    severity: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    outcome: tuple[str, ...] = ()
    rule: tuple[str, ...] = ()
    case: str = ""
    key: str = ""
    value: str = ""
    slower: float | None = None
    faster: float | None = None
    q: str = ""
    page: int = 1

    @classmethod
    def read(cls, args: Iterable[tuple[str, str]]) -> "Filters":
        """From the pairs of a query string; what is unknown or unreadable is left out."""
        given: dict[str, list[str]] = {}
        for name, text in args:
            if text.strip():
                given.setdefault(name, []).append(text.strip())
        lists = {
            name: tuple(dict.fromkeys(given.get(name, ())))[:50]
            for name in ("status", "rubric", "severity", "kind", "outcome", "rule")
        }
        lists["status"] = tuple(s for s in lists["status"] if s in STATUSES)
        lists["severity"] = tuple(s for s in lists["severity"] if s in SEVERITIES)
        last = {name: values[-1] for name, values in given.items()}
        page = _number(last.get("page")) or 1
        return cls(
            **lists,
            case=last.get("case", ""),
            key=last.get("key", ""),
            value=last.get("value", ""),
            slower=_number(last.get("slower")),
            faster=_number(last.get("faster")),
            q=last.get("q", "")[:500],
            page=max(1, min(int(page), 1_000_000)),
        )

    @property
    def active(self) -> bool:
        """Whether anything is narrowed."""
        return replace(self, page=1) != Filters()

    def pairs(self, **changes: Any) -> list[tuple[str, str]]:
        """The query string's pairs with these changes. They start at the first page."""
        state = replace(self, **{"page": 1, **changes})
        found: list[tuple[str, str]] = []
        for field in fields(state):
            value = getattr(state, field.name)
            if isinstance(value, tuple):
                found += [(field.name, one) for one in value]
            elif value not in ("", None) and (field.name, value) != ("page", 1):
                found.append((field.name, f"{value:g}" if isinstance(value, float) else str(value)))
        return found

    def query(self, **changes: Any) -> str:
        """The query string with these changes, with its question mark, or nothing."""
        pairs = self.pairs(**{name: _as_tuple(self, name, value) for name, value in changes.items()})
        return f"?{urlencode(pairs)}" if pairs else "?"


def _as_tuple(state: Filters, name: str, value: Any) -> Any:
    if isinstance(getattr(state, name), tuple) and isinstance(value, str):
        return (value,) if value else ()
    return value


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text else None
    except ValueError:
        return None
    return number if number is not None and 0 <= number < 1e12 else None


ALL = Filters()


@dataclass(frozen=True)
class Where:
    """Conditions on `check_rows c` of one run, and their parameters."""

    sql: str
    params: dict[str, Any]


def where(
    filters: Filters, run: int, rubrics: Sequence[Mapping[str, Any]], cases: Sequence[int] | None = None
) -> Where:
    """The conditions for a run whose rubrics are these rows; `cases` are what `chosen_cases` found."""
    params: dict[str, Any] = {"run": run}
    conditions = ["c.run = :run"]
    if filters.rubric or filters.severity or filters.kind:
        keys = [
            int(row["pk"])
            for row in rubrics
            if (not filters.rubric or row["id"] in filters.rubric)
            and (not filters.severity or row["severity"] in filters.severity)
            and (not filters.kind or row["kind"] in filters.kind)
        ]
        conditions.append(f"c.rubric IN ({', '.join(map(str, keys))})")
    if filters.status:
        conditions.append(f"c.status IN ({', '.join(str(STATUSES.index(s)) for s in filters.status)})")
    for column in ("outcome", "rule"):
        values = getattr(filters, column)
        if values:
            marks = _bind(params, column, values)
            conditions.append(f"c.verdict IN (SELECT id FROM verdicts WHERE {column} IN ({marks}))")  # noqa: S608
    if cases is not None:
        conditions.append("c.case_key IN (SELECT value FROM json_each(:cases))")
        params["cases"] = json.dumps(cases)
    return Where(" AND ".join(conditions), params)


def _bind(params: dict[str, Any], name: str, values: Sequence[str]) -> str:
    marks = []
    for i, value in enumerate(values):
        params[f"{name}{i}"] = value
        marks.append(f":{name}{i}")
    return ", ".join(marks)
