"""Numbers in digits and in words, and the pieces that patterns in this package share.

Every pattern here is bounded, so that no text makes a search slow, and expects a text whose dashes, quotes
and spaces were made plain (see finder.py).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from jeval.values.value import Reading

__all__ = [
    "DIGITS",
    "GAP",
    "NUMBER",
    "NUMBER_WORDS",
    "RANGE",
    "START",
    "WORD",
    "Found",
    "Text",
    "amounts",
    "blank",
    "matches",
    "spelled",
]


class Text(NamedTuple):
    """A text made plain, and where in it a value may begin: at a number in digits or words, at a sign or code
    of a currency, at a month's name, or at another word that values begin with ("half", "an", "noon").

    A pattern is tried at these places only, and where the text's vocabulary (its words, in lower case) holds
    what it needs: most of a text is other words, and patterns are slow.
    """

    plain: str
    numbers: Sequence[int]
    currencies: Sequence[int]
    months: Sequence[int]
    words: Sequence[int]
    vocabulary: frozenset[str]

    def without(self, spans: Iterable[tuple[int, int]]) -> "Text":
        """The same text with these spans made unreadable."""
        return self._replace(plain=blank(self.plain, spans))


def matches(pattern: re.Pattern[str], plain: str, places: Iterable[int]) -> Iterator[re.Match[str]]:
    """Every match that begins at one of the places, in order, none inside another."""
    end = 0
    for place in places:
        if place >= end:
            found = pattern.match(plain, place)
            if found is not None:
                yield found
                end = found.end()


class Found(NamedTuple):
    """A value's place in a text and what it may mean. `shown` is the place of the words that name it, where a
    number alone would not: "3 to 5 days" for the 3 in it."""

    start: int
    end: int
    readings: frozenset[Reading]
    loose: bool = False
    shown: tuple[int, int] | None = None


_UNITS = "one two three four five six seven eight nine".split()
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBER_WORDS = {word: i for i, word in enumerate((*_UNITS, *_TEENS), 1)} | {
    word: 10 * i for i, word in enumerate(_TENS, 2)
}
_PARTS = {"½": Fraction(1, 2), "¼": Fraction(1, 4), "¾": Fraction(3, 4)}

# A number begins where no word, decimal or clock time is under way.
START = r"(?<!\w)(?<!\d[.,:])"
# Atomic, as are words: "twenty-five days" is no range from twenty to five.
DIGITS = (
    r"(?>\d{1,3}(?:[,.' ]\d{3}){1,5}(?:[.,]\d{1,2})?(?!\d)"
    r"|\d{1,2}(?:,\d{2}){1,4},\d{3}(?!\d)"
    r"|\d{1,12}(?:[.,]\d{1,6})?(?!\d))"
)
WORD = rf"\b(?>(?i:(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_UNITS)})\b)?|{'|'.join((*_TEENS, *_UNITS))}))\b"
NUMBER = rf"(?:{START}(?:{DIGITS}(?: ?[½¼¾])?|[½¼¾])|{WORD})"
# Between a number and its unit: nothing, a space, or the end of a wrapped line.
GAP = r"(?: |\r?\n {0,8})?"
RANGE = r"(?: ?- ?| to | or )"


def blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with these spans made unreadable, every offset kept."""
    parts: list[str] = []
    at = 0
    for start, end in sorted(spans):
        if end > at:
            parts += (text[at : max(at, start)], "\0" * (end - max(at, start)))
            at = end
    return "".join((*parts, text[at:])) if parts else text


def spelled(text: str) -> int:
    """The number that words name: "twenty-five" is 25."""
    return sum(NUMBER_WORDS[word] for word in re.split("[- ]", text.lower()))


def amounts(written: str) -> tuple[Fraction, ...]:
    """The numbers that digits or words may mean: two for 1,234, where thousands and decimals look alike."""
    text, extra = written, Fraction(0)
    if text[-1] in _PARTS:
        extra, text = _PARTS[text[-1]], text[:-1].strip()
        if not text:
            return (extra,)
    if text[0].isalpha():
        return (Fraction(spelled(text)),)
    return tuple(number + extra for number in _digits(text.replace("'", "")))


def _digits(text: str) -> tuple[Fraction, ...]:
    if " " in text:  # thousands set apart by spaces, or two numbers side by side
        return (*_digits(text.replace(" ", "")), *_digits(text.rsplit(" ", 1)[1]))
    marks = [char for char in text if char in ",."]
    if not marks:
        return (Fraction(text),)
    last = marks[-1]
    if len(marks) > 1 and len(set(marks)) == 1:
        return (Fraction(text.replace(last, "")),)
    whole, _, part = text.rpartition(last)
    whole = whole.replace(",", "").replace(".", "")
    decimal = Fraction(f"{whole}.{part}")
    if len(marks) == 1 and len(part) == 3 and len(whole) < 4 and whole[0] != "0":
        return (Fraction(whole + part), decimal)
    return (decimal,)
