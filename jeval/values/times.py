"""Times of day, to the second."""

import re
from collections.abc import Iterator

from jeval.values.numbers import GAP, RANGE, WORD, Found, Text, matches, spelled
from jeval.values.value import Reading

__all__ = ["times"]

_DAY = 86_400
_NOON = _DAY // 2
_HALF = r"[ap]\.? ?m\b\.?"  # am, p.m.
_HOUR = r"(?:1[0-2]|0?[1-9])(?!\d)"
_START = r"(?<![\w.,:$€£-])"
# The T of an ISO date-time stands behind a date that was read and blanked. A zone is read over: evidence and
# answer name the same clock.
_CLOCK = re.compile(
    r"(?:(?<![\w:.,])|(?<=\0T))(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:[.,]\d{1,9})?)?"
    r"(?![\d:%]|[.,]\d)(?:Z\b|\+\d\d:?\d\d\b|(?<=:\d\d:\d\d)-\d\d:\d\d\b)?"
)
_HALVED = re.compile(
    rf"(?:{_START}(?P<hour0>{_HOUR})(?:[:.](?P<minute0>[0-5]\d))?(?:{RANGE}| and | until ))?"
    rf"(?<![\w.,:$€£])(?P<hour>{_HOUR})(?:[:.](?P<minute>[0-5]\d))?{GAP}(?P<half>{_HALF})",
    re.IGNORECASE,
)
_ON_THE_HOUR = re.compile(rf"(?:{_START}(?P<digits>\d\d?)|(?P<word>{WORD})) ?o'? ?clock\b", re.IGNORECASE)
_SPOKEN = re.compile(
    rf"\b(?P<part>half|quarter) (?P<side>past|to) (?:(?P<digits>{_HOUR})|(?P<word>{WORD}))", re.IGNORECASE
)
_HALF_WORDS = frozenset(("am", "pm", "m"))
_NAMED = re.compile(r"\b(?:(noon|midday)|midnight)\b", re.IGNORECASE)


def times(text: Text) -> Iterator[Found]:
    """Every time of day; both halves of the day where the text leaves open which."""
    for found in matches(_HALVED, text.plain, text.numbers if not text.vocabulary.isdisjoint(_HALF_WORDS) else ()):
        late = found["half"][0] in "pP"
        if found["hour0"]:  # "10 to 2 pm": the first may be in either half
            readings = _either(int(found["hour0"]), found["minute0"])
            end = found.end("minute0") if found["minute0"] else found.end("hour0")
            yield Found(found.start("hour0"), end, readings, shown=found.span())
        hour = int(found["hour"]) % 12 + 12 * late
        yield Found(found.start("hour"), found.end(), _time(hour, found["minute"]))
    for found in matches(_CLOCK, text.plain, text.numbers if ":" in text.plain else ()):
        hour = int(found["hour"])
        if found["second"]:
            yield Found(*found.span(), _time(hour, found["minute"], found["second"]))
        elif found["hour"][0] == "0" or hour > 12:
            yield Found(*found.span(), _time(hour, found["minute"]))
        else:
            yield Found(*found.span(), _either(hour, found["minute"]))
    for found in matches(_ON_THE_HOUR, text.plain, text.numbers if "clock" in text.vocabulary else ()):
        hour = _hour(found)
        if hour <= 24:
            yield Found(*found.span(), _either(hour, None) if hour <= 12 else _time(hour, None))
    for found in matches(_SPOKEN, text.plain, text.words):
        yield from _spoken(found)
    for found in matches(_NAMED, text.plain, text.words):
        yield Found(*found.span(), frozenset({("time", _NOON if found[1] else 0)}))


def _spoken(found: re.Match[str]) -> Iterator[Found]:
    hour = _hour(found)
    minutes = 30 if found["part"].lower() == "half" else 15
    past = found["side"].lower() == "past"
    if hour <= 12 and (past or minutes == 15):
        shift = minutes * 60 if past else -minutes * 60
        readings = frozenset(("time", (second + shift) % _DAY) for _, second in _either(hour, None))
        yield Found(*found.span(), readings)


def _hour(found: re.Match[str]) -> int:
    return int(found["digits"]) if found["digits"] else spelled(found["word"])


def _time(hour: int, minute: str | None, second: str | None = None) -> frozenset[Reading]:
    return frozenset({("time", (hour * 3600 + int(minute or 0) * 60 + int(second or 0)) % _DAY)})


def _either(hour: int, minute: str | None) -> frozenset[Reading]:
    """Both halves of the day: 2:30 is 02:30 or 14:30, and 12:30 may be half past midnight."""
    return _time(hour % 12, minute) | _time(hour % 12 + 12, minute)
