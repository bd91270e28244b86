"""What evidence offers: the values in its texts, and the numbers in its JSON."""

import json
import re
from fractions import Fraction
from functools import lru_cache
from typing import Any

from jeval.values.finder import find_values
from jeval.values.value import Reading, Value, bare_numbers, offered, wanted

__all__ = ["Evidence"]

_NUMBER = re.compile(r"\s*[-+]?(\d{1,12}(?:\.\d{1,6})?)\s*")
_LARGEST = 10**15
_MARKUP = ("{", "[")


class Evidence:
    """Gathers values; tells whether it holds a value in any form that means the same."""

    def __init__(self) -> None:
        self._keys: set[Reading] = set()
        self._numbers: set[Fraction] = set()

    def add_text(self, text: str) -> None:
        """Add the values in a text. A text that is a JSON document is read as one."""
        body = _document(text)
        if body is None:
            self._keys |= _offered(text)
        else:
            self.add_json(body)

    def add_json(self, body: Any) -> None:
        """Add the values in every text of a JSON value, its keys too, and every bare number.

        A bare number stands for a price, a percentage or a duration of any unit, as nothing says which.
        """
        texts: list[str] = []
        stack = [body]
        while stack:
            item = stack.pop()
            if isinstance(item, dict):
                texts += (key for key in item if isinstance(key, str))
                stack += item.values()
            elif isinstance(item, list | tuple):
                stack += item
            elif isinstance(item, str):
                self._add_string(item, texts, stack)
            elif isinstance(item, int | float) and not isinstance(item, bool) and abs(item) < _LARGEST:
                # Not Fraction(item), for that holds what the float is, not what was written.
                self._numbers.add(Fraction(str(abs(item))))
        # Two line ends, for a value never runs over more than one.
        self._keys |= _offered("\n\n".join(texts))

    def _add_string(self, item: str, texts: list[str], stack: list[Any]) -> None:
        number = _NUMBER.fullmatch(item)
        body = None if number else _document(item)
        if number:
            self._numbers.add(Fraction(number[1]))
        elif body is None:
            texts.append(item)
        else:
            stack.append(body)

    def holds(self, value: Value) -> bool:
        """Whether some reading of the value occurs, or a bare number that may stand for it."""
        if not wanted(value.readings).isdisjoint(self._keys):
            return True
        return bool(self._numbers) and any(
            number in self._numbers for reading in value.readings for number in bare_numbers(reading)
        )


# Many cases share a policy and passages.
@lru_cache(maxsize=64)
def _offered(text: str) -> frozenset[Reading]:
    """The keys that the values in a text offer."""
    return frozenset(key for value in find_values(text) for key in offered(value.readings))


def _document(text: str) -> Any:
    """The JSON object or array that the whole text is, or None."""
    if text.lstrip()[:1] not in _MARKUP:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
