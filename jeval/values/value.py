"""A value found in a text, and when two of them are the same."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

__all__ = ["KINDS", "Kind", "Reading", "Value", "bare_numbers", "offered", "wanted"]

Kind = Literal["price", "percentage", "date", "time", "duration"]
KINDS: tuple[Kind, ...] = ("price", "percentage", "date", "time", "duration")

# ("price", currency, amount) · ("percentage", number) · ("date", year or None, month, day or None) ·
# ("time", second of the day) · ("duration", unit, amount)
Reading = tuple[Any, ...]

_SECONDS_IN = (1, 60, 3600, 86_400, 604_800)


@dataclass(frozen=True, slots=True)
class Value:
    """One value as it stands in a text.

    `written` is the text as written, `start` its offset. `readings` holds every form that may be meant: two
    for 03/04/2026, whose order is not known, and two for 2:30, which may be in the afternoon. `loose` marks
    what may be no value at all ("a day", "30 may"): it counts as evidence but needs none.
    """

    kind: Kind
    written: str
    start: int
    readings: frozenset[Reading]
    loose: bool = False

    def matches(self, other: "Value") -> bool:
        """Whether some reading of each is the same: 14:00 and 2 pm, 24 hours and 1 day."""
        return not wanted(self.readings).isdisjoint(offered(other.readings))


def offered(readings: Iterable[Reading]) -> set[Reading]:
    """The keys under which evidence with these readings is found."""
    keys: set[Reading] = set()
    for reading in readings:
        keys.add(reading)
        if reading[0] == "date":
            _, year, month, day = reading
            if day is not None:
                keys.add(("date", "any", month, day))
                keys.add(("date", year, month, None))
    return keys


def wanted(readings: Iterable[Reading]) -> set[Reading]:
    """The keys one of which evidence must offer: a date without its year is found under any year."""
    keys: set[Reading] = set()
    for reading in readings:
        if reading[0] != "date":
            keys.add(reading)
            continue
        _, year, month, day = reading
        if year is None:
            keys.add(("date", "any", month, day))
        else:
            keys.update((reading, ("date", None, month, day)))
    return keys


def bare_numbers(reading: Reading) -> tuple[Fraction, ...]:
    """The numbers without a unit that may stand for a reading: 45 for 45 minutes, 0.15 for 15 %."""
    match reading:
        case ("price", _, amount):
            return (amount,)
        case ("percentage", number):
            return (number, number / 100)
        case ("duration", "seconds", seconds):
            return tuple(seconds / unit for unit in _SECONDS_IN)
        case ("duration", "months", months):
            return (months, months / 12)
        case ("duration", _, amount):
            return (amount,)
    return ()
