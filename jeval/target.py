"""What is asked of thresholds: a measure and its limit, and how it is met."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from jeval.confusion import Confusion, Measure
from jeval.proportion import Proportion, needed

__all__ = ["Met", "Target", "met"]


class Target(NamedTuple):
    """A measure and its limit, 0 to 1 exclusive: at least, or for a rate of mistakes at most."""

    measure: Measure
    limit: float

    @property
    def least(self) -> float:
        """The share of good ones that must be reached: of those that are no mistakes, for a rate of mistakes."""
        return 1 - self.limit if self.measure.at_most else self.limit

    def good(self, table: Confusion) -> Proportion:
        """The good ones among those counted."""
        share = table.share(self.measure.name)
        return share.rest if self.measure.at_most else share

    def __str__(self) -> str:
        return f"{self.measure.name} {'≤' if self.measure.at_most else '≥'} {self.limit:g}"


class Met(NamedTuple):
    """How a target is met: what was counted, and the error level it was tested at."""

    target: Target
    good: Proportion
    level: float

    @property
    def bound(self) -> float | None:
        """What is sure, as the measure is read: at least so much, or for a rate of mistakes at most so much."""
        low = self.good.lower(1 - self.level)
        return None if low is None else 1 - low if self.target.measure.at_most else low

    @property
    def observed(self) -> float | None:
        """What was found, as the measure is read."""
        return (self.good.rest if self.target.measure.at_most else self.good).rate

    @property
    def holds(self) -> bool:
        """Whether it is shown at this level."""
        return self.good.p_value(self.target.least) <= self.level

    @property
    def more(self) -> int | None:
        """About how many more checks of the kind counted would show it, at the rate found; None: no number would."""
        rate = self.good.rate
        total = needed(1.0 if rate is None else rate, self.target.least, self.level)
        return None if total is None else max(1, total - self.good.n)

    def as_dict(self) -> dict[str, Any]:
        """As a machine reads it; `k` of `n` are good ones."""
        return {
            "target": str(self.target),
            "value": self.observed,
            "good": self.good.k,
            "n": self.good.n,
            "bound": self.bound,
            "level": self.level,
            "holds": self.holds,
            "more": None if self.holds else self.more,
        }


def met(targets: Iterable[Target], table: Confusion, level: float) -> tuple[Met, ...]:
    """How each target is met by a table of statuses and labels, at an error level."""
    return tuple(Met(target, target.good(table), level) for target in targets)
