"""Problems as they are found: alike ones told once, the first different ones kept, the rest counted."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from jeval.errors import DataError, Problem

__all__ = ["Findings"]

# Problems told in full; beyond it they are counted.
SHOWN = 50
# As many alike are told one by one. Of more, the first is told with the places of so many others.
_ALIKE = 3
_INDEX = re.compile(r"\[\d+\]")

_Key = tuple[str, str | None, str, str]


class Findings:
    """Problems of any number in memory that does not grow with it.

    Two are alike where everything but the place and the positions in lists is the same.
    """

    def __init__(self) -> None:
        self._first: dict[_Key, list[tuple[int, Problem]]] = {}
        self._places: dict[_Key, list[str]] = {}
        self._counts: Counter[_Key] = Counter()
        self._total = 0

    def add(self, problems: Sequence[Problem]) -> None:
        """Take in what was found."""
        for problem in problems:
            key = (_INDEX.sub("[]", problem.field), problem.value, problem.message, problem.remedy)
            self._total += 1
            if key not in self._first:
                if len(self._first) == SHOWN:
                    continue
                self._first[key], self._places[key] = [], []
            self._counts[key] += 1
            first, places = self._first[key], self._places[key]
            if len(first) < _ALIKE:
                first.append((self._total, problem))
            if len(places) < _ALIKE and problem.place not in (first[0][1].place, *places):
                places.append(problem.place)

    def __bool__(self) -> bool:
        return self._total > 0

    @property
    def problems(self) -> list[Problem]:
        """The first ones, at most 50, in the order in which they were found; alike ones in one."""
        kept: list[tuple[int, Problem]] = []
        for key, found in self._first.items():
            if self._counts[key] <= _ALIKE:
                kept += found
            else:
                position, problem = found[0]
                also = tuple(self._places[key])
                kept.append((position, replace(problem, alike=self._counts[key] - 1, also=also)))
        kept.sort(key=lambda one: one[0])
        return [problem for _, problem in kept[:SHOWN]]

    @property
    def more(self) -> int:
        """How many there are besides those."""
        return self._total - sum(1 + problem.alike for problem in self.problems)

    def check(self, undone: str | None = None) -> None:
        """Raise DataError where anything was found."""
        if self:
            raise DataError(self.problems, self.more, undone)
