"""What a list of checks is narrowed to: read from the address, written back to it, and turned into SQL."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

from jeval.browse.search import match_text

__all__ = ["Filters", "Where", "where"]

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
        """The query string's pairs with these changes. Whatever changes, the list starts at its first page."""
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


@dataclass(frozen=True)
class Where:
    """Conditions on `check_rows c` of one run, and their parameters."""

    sql: str
    params: dict[str, Any]


def where(filters: Filters, run: int, rubrics: Sequence[Mapping[str, Any]], indexed: int | None) -> Where:
    """The conditions for a run whose rubrics are these rows; `indexed` as `search.indexed` tells it."""
    conditions, params = ["c.run = :run"], {"run": run}
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
    if filters.case:
        conditions.append("c.case_key IN (SELECT key FROM case_ids WHERE id = :case)")
        params["case"] = filters.case
    _case_conditions(filters, conditions, params, indexed)
    return Where(" AND ".join(conditions), params)


def _bind(params: dict[str, Any], name: str, values: Sequence[str]) -> str:
    marks = []
    for i, value in enumerate(values):
        params[f"{name}{i}"] = value
        marks.append(f":{name}{i}")
    return ", ".join(marks)


_OF_RUN = "c.case_key IN (SELECT rc.case_key FROM run_cases rc JOIN case_rows b ON b.pk = rc.content WHERE rc.run = :run AND ({}))"
_METADATA = (
    "CASE json_type(b.body, :path) WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'"
    " ELSE CAST(json_extract(b.body, :path) AS TEXT) END"
)


def _case_conditions(filters: Filters, conditions: list[str], params: dict[str, Any], indexed: int | None) -> None:
    if filters.key:
        name = filters.key.replace('"', "")
        params |= {"path": f'$.metadata."{name}"', "value": filters.value}
        test = f"{_METADATA} = :value" if filters.value else "json_type(b.body, :path) IS NOT NULL"
        conditions.append(_OF_RUN.format(test))
    slow = "c.case_key IN (SELECT case_key FROM request_rows WHERE run = :run GROUP BY case_key HAVING max(latency_ms) {} :{})"
    if filters.slower is not None:
        conditions.append(slow.format(">=", "slower"))
        params["slower"] = filters.slower
    if filters.faster is not None:
        conditions.append(slow.format("<=", "faster"))
        params["faster"] = filters.faster
    if filters.q:
        params["like"] = f"%{_escape_like(filters.q)}%"
        late = "b.body LIKE :like ESCAPE '!'"
        query = match_text(filters.q)
        if indexed is None or not query:
            conditions.append(_OF_RUN.format(late))
        else:
            params |= {"q": query, "indexed": indexed}
            found = "rc.content IN (SELECT rowid FROM case_search WHERE case_search MATCH :q)"
            conditions.append(_OF_RUN.format(f"{found} OR (rc.content > :indexed AND {late})"))


def _escape_like(text: str) -> str:
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
