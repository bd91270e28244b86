"""What a list is narrowed to: read from its address, written back to it, and turned into SQL.

Every list has the same filters on checks. What else a list's address says (two runs to compare, a dataset) is
what it is `about`, and stays in every link of the page.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import urlencode

__all__ = ["ALL", "SEVERITIES", "STATUSES", "Filters", "Where", "where"]

STATUSES = ("pass", "fail", "review", "skipped", "error")
SEVERITIES = ("critical", "major", "minor")

_LISTS = ("status", "rubric", "severity", "kind", "outcome", "rule")
_TEXTS = ("case", "key", "value", "q")
_NUMBERS = ("slower", "faster")
_NARROWING = (*_LISTS, *_TEXTS, *_NUMBERS)
# Which store is meant is no list's matter: every link of a page is given it afterwards.
_EVERYWHERE = ("store",)

# How many values of one filter, and how many characters of a text, an address may hold.
_VALUES, _CHARACTERS = 50, 500


@dataclass(frozen=True)
class Filters:
    """Every filter there is, the order and the page. `slower` and `faster` bound the slowest request that a
    case's answers rest on, in milliseconds.

    `unread` are pairs of the address that make no sense, `strangers` names that no filter has: both narrow
    nothing, and the page says so.
    """

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
    sort: str = ""
    page: int = 1
    about: tuple[tuple[str, str], ...] = ()
    unread: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    strangers: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def read(cls, args: Iterable[tuple[str, str]], about: Sequence[str] = (), known: Sequence[str] = ()) -> "Filters":
        """From the pairs of a query string. Names in `about` are kept beside the filters; those in `known` are
        no strangers, and left out."""
        given: dict[str, list[str]] = {}
        for name, text in args:
            if text.strip():
                given.setdefault(name, []).append(text.strip()[:_CHARACTERS])
        last = {name: values[-1] for name, values in given.items()}
        numbers = {name: _number(last.get(name)) for name in _NUMBERS}
        page = _number(last.get("page")) or 1
        values: dict[str, Any] = {name: tuple(dict.fromkeys(given.get(name, ())))[:_VALUES] for name in _LISTS}
        values |= {name: last.get(name, "") for name in (*_TEXTS, "sort")} | numbers
        return cls(
            **values,
            page=max(1, min(int(page), 1_000_000)),
            about=tuple((name, last[name]) for name in about if name in last),
            unread=tuple((name, last[name]) for name in _NUMBERS if name in last and numbers[name] is None),
            strangers=tuple(
                name
                for name in given
                if name not in (*_NARROWING, "sort", "page", *about, *known, *_EVERYWHERE) and not name.startswith("_")
            )[:_VALUES],
        )

    def __getitem__(self, name: str) -> Any:
        """A filter by its name; else what the list is about, "" where the address does not say."""
        return getattr(self, name) if name in _FIELDS else dict(self.about).get(name, "")

    @property
    def active(self) -> bool:
        """Whether checks are narrowed; neither the order nor what a list is about does that."""
        return self.on_checks or self.on_cases

    @property
    def on_checks(self) -> bool:
        """Whether a filter looks at what a check is or how it was decided."""
        return any(getattr(self, name) for name in _LISTS)

    @property
    def on_cases(self) -> bool:
        """Whether a filter looks at the case: its id, words, metadata or latency."""
        return bool(self.case or self.key or self.q) or self.slower is not None or self.faster is not None

    @property
    def rare(self) -> int:
        """How many filters are in use that a form keeps folded away."""
        texts = (self.severity, self.kind, self.outcome, self.rule, self.key, self.case)
        return sum(map(bool, texts)) + (self.slower is not None) + (self.faster is not None)

    def written(self, name: str) -> str:
        """A number as it stands in the address, even where it is none; "" where it is not there."""
        value = getattr(self, name)
        return dict(self.unread).get(name, "") if value is None else _plain(value)

    def takes_rubric(self, rubric: Mapping[str, Any]) -> bool:
        """Whether the filters leave checks of this rubric."""
        return (
            (not self.rubric or rubric["id"] in self.rubric)
            and (not self.severity or rubric["severity"] in self.severity)
            and (not self.kind or rubric["kind"] in self.kind)
        )

    def pairs(self, **changes: Any) -> list[tuple[str, str]]:
        """The query string's pairs with these changes. They start at the first page."""
        about = dict(self.about) | {name: value for name, value in changes.items() if name not in _FIELDS}
        state = replace(self, **{"page": 1, **{n: v for n, v in changes.items() if n in _FIELDS}})
        found = [(name, str(value)) for name, value in about.items() if value not in ("", None)]
        for name in (*_NARROWING, "sort", "page"):
            value = getattr(state, name)
            if isinstance(value, tuple):
                found += [(name, one) for one in value]
            elif value not in ("", None) and (name, value) != ("page", 1):
                found.append((name, _plain(value) if isinstance(value, float) else str(value)))
        return found

    def query(self, **changes: Any) -> str:
        """The query string with these changes, with its question mark, or nothing."""
        pairs = self.pairs(**{name: _as_tuple(name, value) for name, value in changes.items()})
        return f"?{urlencode(pairs)}" if pairs else ""

    def narrow(self) -> str:
        """The filters and their order alone, as a query string without its question mark."""
        return urlencode(replace(self, about=()).pairs())

    def alone(self) -> "Filters":
        """The filters without what their list is about: for a list of another kind."""
        return replace(self, about=(), sort="", page=1)

    def cleared(self) -> "Filters":
        """What the list is about, and its order, with nothing narrowed."""
        return Filters(about=self.about, sort=self.sort)

    def chosen(self) -> list[tuple[str, str, str]]:
        """Each filter as (its name in words, its value, the query string without it)."""
        found = [
            (_WORDS.get(name, name), one, self.query(**{name: tuple(v for v in getattr(self, name) if v != one)}))
            for name in _LISTS
            for one in getattr(self, name)
        ]
        if self.key:
            found.append((f"metadata {self.key}", self.value or "any", self.query(key="", value="")))
        for name in (*_NUMBERS, "case", "q"):
            value = getattr(self, name)
            if value not in ("", None):
                shown = f"{_plain(value)} ms" if name in _NUMBERS else value
                found.append((_WORDS.get(name, name), shown, self.query(**{name: None if name in _NUMBERS else ""})))
        return found


_FIELDS = frozenset(one.name for one in fields(Filters)) - {"about", "unread", "strangers"}
_WORDS = {"rule": "rule or error", "slower": "slower than", "faster": "faster than", "q": "words"}


def _as_tuple(name: str, value: Any) -> Any:
    if name in _LISTS and isinstance(value, str):
        return (value,) if value else ()
    return value


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text else None
    except ValueError:
        return None
    return number if number is not None and 0 <= number < 1e12 else None


def _plain(number: float) -> str:
    return str(int(number)) if number.is_integer() else repr(number)


ALL = Filters()


@dataclass(frozen=True)
class Where:
    """Conditions on `check_rows c` of one run, and their parameters."""

    sql: str
    params: dict[str, Any]


def where(
    filters: Filters, run: int, rubrics: Sequence[Mapping[str, Any]], cases: Sequence[int] | None = None
) -> Where:
    """The conditions for a run whose rubrics are these rows; `cases` are what `chosen_cases` found.

    A value that nothing has matches nothing.
    """
    params: dict[str, Any] = {"run": run}
    conditions = ["c.run = :run"]
    if filters.rubric or filters.severity or filters.kind:
        keys = [int(row["pk"]) for row in rubrics if filters.takes_rubric(row)]
        conditions.append(f"c.rubric IN ({', '.join(map(str, keys))})")
    if filters.status:
        codes = [STATUSES.index(name) for name in filters.status if name in STATUSES]
        conditions.append(f"c.status IN ({', '.join(map(str, codes))})")
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
