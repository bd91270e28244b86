"""Durations. Days and shorter count in seconds, months and years in months: 24 hours are 1 day, but 30 days
are not 1 month, and working days and nights are units of their own."""

import re
from collections.abc import Iterator
from fractions import Fraction

from jeval.values.numbers import GAP, NUMBER, RANGE, START, Found, Text, amounts, blank, matches
from jeval.values.value import Reading

__all__ = ["durations"]

# Unit: (what it counts in, how many of those).
_UNITS: dict[str, tuple[str, int]] = {
    "second": ("seconds", 1), "sec": ("seconds", 1), "s": ("seconds", 1),
    "minute": ("seconds", 60), "min": ("seconds", 60),
    "hour": ("seconds", 3600), "hr": ("seconds", 3600), "h": ("seconds", 3600),
    "day": ("seconds", 86_400), "d": ("seconds", 86_400),
    "week": ("seconds", 604_800), "wk": ("seconds", 604_800), "fortnight": ("seconds", 1_209_600),
    "month": ("months", 1), "mo": ("months", 1), "year": ("months", 12), "yr": ("months", 12),
    "decade": ("months", 120), "night": ("nights", 1),
}  # fmt: skip
_LONG = "|".join(sorted((name for name in _UNITS if len(name) > 1), key=len, reverse=True))
_ADJECTIVE = "working|business|calendar|full|whole|consecutive|more|further|additional|extra"
_DURATION = re.compile(
    rf"(?:(?P<lower>{NUMBER}){RANGE}|\b(?i:between) (?P<between>{NUMBER}) (?i:and) )?"
    rf"(?:(?P<number>{NUMBER})|\b(?P<part>(?i:half|quarter) (?:of )?(?i:an?)|(?i:an?))\b)"
    rf"(?P<half>(?i:[- ]and[- ]a[- ]half))?"
    rf"(?:{GAP}-?(?P<adjective>(?i:{_ADJECTIVE})[ -])?"
    rf"(?P<unit>(?i:{_LONG}))[sS]?\b|(?P<short>[hsd])\b)"
    rf"(?P<tail> (?i:and a half)\b)?"
)
_HOURS_MINUTES = re.compile(rf"{START}(\d{{1,3}}) ?h ?([0-5]\d) ?(?:m|min|mins)?\b")
_UNIT_WORDS = frozenset((*_UNITS, *(f"{name}s" for name in _UNITS)))
_JOINTS = frozenset({"", " ", " and "})


def durations(text: Text) -> Iterator[Found]:
    """Every duration; "1 hour and 30 minutes" is one of 90 minutes."""
    taken: list[tuple[int, int]] = []
    for found in matches(_HOURS_MINUTES, text.plain, text.numbers if "h" in text.vocabulary else ()):
        hours, minutes = int(found[1]), int(found[2])
        readings = {_reading("seconds", Fraction(3600 * hours + 60 * minutes))}
        if hours <= 24:  # 14h30 is a time of day, too
            readings.add(("time", (3600 * hours + 60 * minutes) % 86_400))
        taken.append(found.span())
        yield Found(*found.span(), frozenset(readings))
    if text.vocabulary.isdisjoint(_UNIT_WORDS):
        return
    last: Found | None = None
    places = sorted((*text.numbers, *text.words))
    for found in matches(_DURATION, blank(text.plain, taken), places):
        for part in _parts(found):
            if last and _continues(text.plain, last, part):
                last = Found(last.start, part.end, _sum(last.readings, part.readings))
                continue
            if last:
                yield last
            last = part
    if last:
        yield last


def _parts(found: re.Match[str]) -> Iterator[Found]:
    unit, size = _UNITS[(found["unit"] or found["short"]).lower()]
    adjective = (found["adjective"] or "").lower()
    if adjective[:-1] in ("working", "business"):
        unit, size = f"working {(found['unit']).lower()}s", 1
    for group in ("lower", "between"):
        if found[group]:
            yield Found(*found.span(group), _times(found[group], size, unit), shown=found.span())
    extra = Fraction(size, 2) if found["half"] or found["tail"] else Fraction(0)
    part = found["part"]
    if not part:
        yield Found(found.start("number"), found.end(), _times(found["number"], size, unit, extra))
        return
    share = {"h": Fraction(1, 2), "q": Fraction(1, 4)}.get(part[0].lower(), Fraction(1))
    # "a day" is a rate or a turn of phrase as often as it is a duration.
    loose = share == 1 and not extra
    yield Found(found.start("part"), found.end(), frozenset({_reading(unit, share * size + extra)}), loose)


def _reading(unit: str, amount: Fraction) -> Reading:
    return ("duration", unit, amount)


def _times(number: str, size: int, unit: str, extra: Fraction = Fraction(0)) -> frozenset[Reading]:
    return frozenset(_reading(unit, amount * size + extra) for amount in amounts(number))


def _continues(text: str, last: Found, part: Found) -> bool:
    """Whether `part` follows `last` as minutes follow hours, with nothing else between."""
    if text[last.end : part.start] not in _JOINTS or last.loose or part.loose:
        return False
    if not len(last.readings) == len(part.readings) == 1:
        return False
    (_, large, more), (_, small, less) = *last.readings, *part.readings
    if not large == small == "seconds":
        return False
    room = 86_400 if more % 86_400 == 0 else 3600 if more % 3600 == 0 else 60
    return bool(less < room)


def _sum(first: frozenset[Reading], second: frozenset[Reading]) -> frozenset[Reading]:
    (_, unit, more), (_, _, less) = *first, *second
    return frozenset({_reading(unit, more + less)})
