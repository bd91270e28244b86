"""Dates, with or without a year, and months of a year."""

import re
from collections.abc import Iterator

from jeval.values.numbers import Found, Text, matches
from jeval.values.value import Reading

__all__ = ["MONTHS", "dates"]

# Month names of a few languages: a figure is checked in whatever language the answer is. Each column is a
# month.
_NAMES = (
    "january february march april may june july august september october november december",
    "jan feb mar apr - jun jul aug sep oct nov dec",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "januari februari mars april maj juni juli augusti september oktober november december",
    "januar februar marts april maj juni juli august september oktober november december",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "- - - - - - - - sept - - -",
)
MONTHS = {name: i for names in _NAMES for i, name in enumerate(names.split(), 1) if name != "-"}
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

_MONTH = rf"(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b\.?"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?(?!\d)"
_YEAR = r"(?:19|20|21)\d\d(?!\d)"
_BEFORE = r"(?<![\w.,:$€£])"
_ISO = re.compile(r"(?<![\d-])(\d{4})([-/.])(0?[1-9]|1[0-2])\2(0?[1-9]|[12]\d|3[01])(?:(?!\d)|T(?=\d\d:))")
_NUMERIC = re.compile(r"(?<![\w./-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d\d)(?![\w/]|[.-]\d)")
_SHORT = re.compile(r"(?<![\w./-])(0[1-9]|[12]\d|3[01])/(0[1-9]|[12]\d|3[01])(?![\w/]|[.-]\d)")
_JOINED = re.compile(r"\d([-/.])\d\d?\1\d")
_DAY_FIRST = re.compile(
    rf"{_BEFORE}(?:(?P<other>{_DAY})\.?(?: ?- ?| to | and | or |, ?))?"
    rf"(?P<day>{_DAY})\.? ?(?:of |de )?(?P<month>{_MONTH})(?:,? ?(?:of |de )?(?P<year>{_YEAR}))?",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    rf"(?<!\w)(?P<month>{_MONTH}) ?(?:the )?(?P<day>{_DAY})(?!:\d| ?[ap]\.?m\b|[.,]?\d|%| ?[€£$])"
    rf"(?:(?: ?- ?| to )(?P<other>{_DAY})(?![:%]))?(?:,? (?P<year>{_YEAR}))?",
    re.IGNORECASE,
)
_MONTH_ONLY = re.compile(rf"(?<!\w)(?P<month>{_MONTH}),? (?P<year>{_YEAR})", re.IGNORECASE)


def dates(text: Text) -> Iterator[Found]:
    """Every date. Where the order of day and month is open, both readings; where there is no year, any."""
    joined = text.numbers if _JOINED.search(text.plain) else ()
    for found in matches(_ISO, text.plain, joined):
        year, _, month, day = found.groups()
        end = found.end() - found.group().endswith("T")
        yield from _found(found.start(), end, _reading(int(year), int(month), int(day)))
    for found in matches(_NUMERIC, text.plain, joined):
        first, mark, second, written = found.groups()
        if mark == "." and len(written) == 2 and not len(first) == len(second) == 2:
            continue  # a version number
        century = 0 if len(written) == 4 else 2000 if int(written) < 70 else 1900
        year = century + int(written)
        yield from _found(
            *found.span(), _reading(year, int(second), int(first)) | _reading(year, int(first), int(second))
        )
    for found in matches(_SHORT, text.plain, text.numbers if "/" in text.plain else ()):
        first, second = int(found[1]), int(found[2])
        readings = _reading(None, second, first) | _reading(None, first, second)
        yield from _found(*found.span(), readings, loose=True)
    if text.months:
        yield from _named(text)


def _named(text: Text) -> Iterator[Found]:
    for pattern, places in ((_DAY_FIRST, text.numbers), (_MONTH_FIRST, text.months)):
        for found in matches(pattern, text.plain, places):
            month = _month(found["month"])
            year = int(found["year"]) if found["year"] else None
            # "may" and "march" in lower case are words more often than months.
            loose = found["month"] in ("may", "march")
            if found["other"]:
                other = _reading(year, month, _number(found["other"]))
                yield from _found(*found.span("other"), other, loose, found.span())
            start = found.start("day") if pattern is _DAY_FIRST else found.start()
            end = found.end("day") if found["other"] and start == found.start() else found.end()
            yield from _found(start, end, _reading(year, month, _number(found["day"])), loose)
    for found in matches(_MONTH_ONLY, text.plain, text.months):
        loose = found["month"] in ("may", "march")
        yield Found(*found.span(), frozenset({("date", int(found["year"]), _month(found["month"]), None)}), loose)


def _month(name: str) -> int:
    return MONTHS[name.lower().rstrip(".")]


def _number(day: str) -> int:
    return int(day[:2]) if day[1:2].isdigit() else int(day[0])


def _reading(year: int | None, month: int, day: int) -> frozenset[Reading]:
    if 1 <= month <= 12 and 1 <= day <= _DAYS[month - 1]:
        return frozenset({("date", year, month, day)})
    return frozenset()


def _found(
    start: int,
    end: int,
    readings: frozenset[Reading],
    loose: bool = False,
    shown: tuple[int, int] | None = None,
) -> Iterator[Found]:
    if readings:
        yield Found(start, end, readings, loose, shown)
