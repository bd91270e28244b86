"""The metadata of a dataset's cases, remembered so far that a selection or a rubric that meets none can be told why."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from jeval.app.painter import plain
from jeval.case import Case
from jeval.plan import applies_to
from jeval.problems import nearest
from jeval.rubric import Rubric

__all__ = ["MetadataSeen", "never_apply", "why_none"]

# Values remembered of a key, keys remembered, and the characters of a value: what people choose by is short and few.
_VALUES, _KEYS, _LONGEST = 200, 200, 200
_SHOWN, _WIDTH = 5, 40
# Cases read once more to tell whether a rubric applies anywhere.
_READ_AGAIN = 20_000


class MetadataSeen:
    """The keys of any number of cases and the first different values of each."""

    def __init__(self) -> None:
        self.cases = 0
        self._values: dict[str, dict[Any, Any]] = {}
        self._more: set[str] = set()

    def add(self, metadata: Mapping[str, Any] | None) -> None:
        """Take in those of one case."""
        self.cases += 1
        for key, value in (metadata or {}).items():
            values = self._values.get(key)
            if values is None:
                if len(self._values) == _KEYS:
                    continue
                values = self._values[key] = {}
            if key in self._more:
                continue
            # Written out only where it must be: this is done for every case there is.
            known: Any = _written(value) if isinstance(value, list | dict) else (type(value), value)
            if known in values:
                continue
            if len(values) == _VALUES or len(_written(value)) > _LONGEST:
                self._more.add(key)
            else:
                values[known] = value

    @property
    def keys(self) -> Sequence[str]:
        """The keys, in the order in which they came."""
        return list(self._values)

    def values(self, key: str) -> Sequence[Any]:
        """The values of a key, in the order in which they came; of very many, or long ones, the first."""
        return list(self._values.get(key, {}).values())

    def knows_all(self, key: str) -> bool:
        """Whether `values` are all there are."""
        return key not in self._more and (key in self._values or len(self._values) < _KEYS)

    def shown_keys(self, meant: str) -> str:
        """The keys in words, beginning with the one that was perhaps meant."""
        if not self._values:
            return "the cases have no metadata"
        close = nearest(meant, self._values)
        hint = f"did you mean {plain(close, _WIDTH)}? " if close else ""
        return f"{hint}the keys there are {_few([plain(key, _WIDTH) for key in self._values], certain=True)}"

    def shown_values(self, key: str) -> str:
        """The values of a key in words, texts in quotes."""
        written = [plain(_written(value), _WIDTH) for value in self.values(key)]
        return f"there {'is' if len(written) == 1 else 'are'} {_few(written, certain=key not in self._more)}"


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if not isinstance(value, dict | list) else json.dumps(value)


def _few(texts: Sequence[str], *, certain: bool) -> str:
    shown = ", ".join(texts[:_SHOWN])
    more = len(texts) - _SHOWN
    if not certain:
        return f"{shown} and many more" if shown else "only long ones"
    return f"{shown} and {more:,} more" if more > 0 else shown


def why_none(where: Mapping[str, Any], seen: MetadataSeen, equal: Any) -> str:
    """Why `dataset.where` selects none of the cases that were seen; empty where it selects nothing by metadata."""
    if not where or not seen.cases:
        return ""
    reasons = []
    for key, wanted in where.items():
        asked = f"dataset.where.{plain(key, _WIDTH)}={plain(str(wanted), _WIDTH)}"
        if key not in seen.keys and seen.knows_all(key):
            reasons.append(f"{asked}: no case has that key; {seen.shown_keys(key)}")
        elif not any(equal(value, wanted) for value in seen.values(key)) and (len(where) == 1 or seen.knows_all(key)):
            reasons.append(f"{asked}: no case has that value; {seen.shown_values(key)}")
    return "; ".join(reasons) or "each of dataset.where is met by some case, all of them by none"


def _met(key: str, value: Any, seen: MetadataSeen) -> bool:
    """Whether some value remembered of a key is the one wanted, or one of those wanted; null is met by its absence."""
    return applies_to({key: value}, {}) or any(applies_to({key: value}, {key: one}) for one in seen.values(key))


def never_apply(rubrics: Iterable[Rubric], cases: Iterable[Case], seen: MetadataSeen) -> Iterator[str]:
    """A line for each rubric whose `onlyWhenMetadata` meets none of the cases, so that it is skipped throughout."""
    for rubric in rubrics:
        wanted = rubric.applicability.only_when_metadata
        if not wanted:
            continue
        # Read again only where what is remembered does not tell, and never for long.
        certain = any(seen.knows_all(key) and not _met(key, value, seen) for key, value in wanted.items())
        if not certain and (seen.cases > _READ_AGAIN or any(applies_to(wanted, case.metadata) for case in cases)):
            continue
        reasons = []
        for key, value in wanted.items():
            if applies_to({key: value}, {}):  # null is met by cases without the key
                continue
            if key not in seen.keys and seen.knows_all(key):
                reasons.append(f"no case has the metadata {plain(key, _WIDTH)}; {seen.shown_keys(key)}")
            elif (len(wanted) == 1 or seen.knows_all(key)) and not _met(key, value, seen):
                asked = plain(_written(value), _WIDTH)
                reasons.append(f"no case has {plain(key, _WIDTH)} {asked}; {seen.shown_values(key)}")
        why = "; ".join(reasons) or "each of its keys is met by some case, all of them by none that is selected"
        yield f"rubric {rubric.id}: skipped for every case by its onlyWhenMetadata: {why}"
