"""Finding every value in a text."""

import re
from collections.abc import Callable, Iterator

from jeval.values.dates import MONTHS, dates
from jeval.values.durations import durations
from jeval.values.money import CODES, SIGN, percentages, prices
from jeval.values.numbers import NUMBER_WORDS, Found, Text
from jeval.values.times import times
from jeval.values.value import Kind, Value

__all__ = ["find_values"]

# Character for character, so that offsets stay true.
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\t\u00a0\u2007\u2009\u202f\u3000", " "),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        "\u2019": "'",
        "\uff05": "%",
        "\uffe5": "\u00a5",
    }
)
_TOKEN = re.compile(rf"[½¼¾]|\d+|(?:{SIGN})|[^\W\d_]+")
_OPENERS = frozenset("a an half quarter between noon midday midnight".split())
_DIGIT = re.compile(r"[\d½¼¾]")
_LETTERS = re.compile(r"[a-z]+")
_SPELT = _OPENERS.union(NUMBER_WORDS)
_CODES = frozenset((*CODES, *map(str.lower, CODES)))
# In this order: what one kind has read is not read again as another.
_KINDS: tuple[tuple[Kind, Callable[[Text], Iterator[Found]]], ...] = (
    ("date", dates),
    ("time", times),
    ("price", prices),
    ("percentage", percentages),
    ("duration", durations),
)


def find_values(text: str) -> tuple[Value, ...]:
    """Every price, percentage, date, time and duration in `text`, in order, each as written and normalised.

    Values broken by a line's end are loose (see `Value`). Never raises for any text; takes linear time.
    """
    # Most texts hold none, and that is seen fast.
    if not _DIGIT.search(text) and _SPELT.isdisjoint(_LETTERS.findall(text.lower())):
        return ()
    read = _read(text.translate(_PLAIN))
    values: list[Value] = []
    for kind, search in _KINDS:
        spans: list[tuple[int, int]] = []
        for found in sorted(search(read), key=lambda f: (f.start, f.start - f.end)):
            if spans and found.start < spans[-1][1]:
                continue  # inside a longer one
            start, end = found.shown or (found.start, found.end)
            written = text[start:end]
            values.append(Value(kind, written, found.start, found.readings, found.loose or "\n" in written))
            spans.append((found.start, found.end))
        if spans:
            read = read.without(spans)
    return tuple(sorted(values, key=lambda value: value.start))


def _read(plain: str) -> Text:
    """The text with the places where values may begin."""
    numbers: list[int] = []
    currencies: list[int] = []
    months: list[int] = []
    words: list[int] = []
    vocabulary: set[str] = set()
    for found in _TOKEN.finditer(plain):
        token, at = found.group(), found.start()
        if token[0].isdecimal() or token in "½¼¾":
            numbers.append(at)
        elif not token[-1].isalpha():
            currencies.append(at)
        else:
            word = token.lower()
            vocabulary.add(word)
            if word in NUMBER_WORDS:
                numbers.append(at)
            elif word in MONTHS:
                months.append(at)
            elif word in _OPENERS:
                words.append(at)
            if token in _CODES:
                currencies.append(at)
    return Text(plain, numbers, currencies, months, words, frozenset(vocabulary))
