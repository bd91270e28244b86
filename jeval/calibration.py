"""Whether probabilities mean what they say: of the checks the judge held for failing with probability p, were a share
of p labelled fail?"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

__all__ = ["Bin", "Calibration", "calibration"]

# So many checks to a bin, at least, and so many bins at most.
_FEWEST, _BINS = 10, 10


class Bin(NamedTuple):
    """Checks of like probability: how many, the lowest and highest, their mean, and the share labelled fail."""

    n: int
    low: float
    high: float
    mean: float
    share: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """How well probabilities of a fail fit the labels. All figures are 0 to 1, and less is better.

    `brier` is the mean squared difference (Brier, 1950, Monthly Weather Review 78, 1-3), `brier_base_rate` what one
    would get who always said the share of fails. `ece` is the expected calibration error (Naeini, Cooper and
    Hauskrecht, 2015, AAAI, 2901-2907) over bins of equal mass (Nguyen and O'Connor, 2015, EMNLP, 1587-1598): the
    mean gap between what was said and what was so. `ece_by_chance` is about what a perfectly calibrated judge would
    get with as few checks, for the gap of a bin scatters around 0.
    """

    n: int
    brier: float
    brier_base_rate: float
    ece: float
    ece_by_chance: float
    bins: tuple[Bin, ...]

    def as_dict(self) -> dict[str, Any]:
        """As a machine reads it."""
        return {
            "n": self.n,
            "brier": self.brier,
            "brier_base_rate": self.brier_base_rate,
            "ece": self.ece,
            "ece_by_chance": self.ece_by_chance,
            "bins": [one._asdict() for one in self.bins],
        }


def calibration(pairs: Sequence[tuple[float, bool]]) -> Calibration | None:
    """How probabilities of a fail (0 to 1) fit whether it is one; None where there is nothing to hold together."""
    n = len(pairs)
    if not n:
        return None
    base = sum(failed for _, failed in pairs) / n
    bins, gaps, chance = [], 0.0, 0.0
    for members in _equal_mass(sorted(pairs)):
        size = len(members)
        mean = sum(p for p, _ in members) / size
        share = sum(failed for _, failed in members) / size
        bins.append(Bin(size, members[0][0], members[-1][0], mean, share))
        gaps += size / n * abs(mean - share)
        # The mean distance of a normal variable from its own mean is sqrt(2 / pi) standard deviations.
        chance += math.sqrt(2 / math.pi * sum(p * (1 - p) for p, _ in members)) / n
    return Calibration(
        n,
        brier=sum((p - failed) ** 2 for p, failed in pairs) / n,
        brier_base_rate=base * (1 - base),
        ece=gaps,
        ece_by_chance=chance,
        bins=tuple(bins),
    )


def _equal_mass(ordered: Sequence[tuple[float, bool]]) -> Iterator[list[tuple[float, bool]]]:
    """Bins of about as many members each; members of one probability stay together."""
    n = len(ordered)
    wanted = max(1, min(_BINS, n // _FEWEST))
    members: list[tuple[float, bool]] = []
    done = closed = 0
    for _, alike in groupby(ordered, key=lambda pair: pair[0]):
        members += alike
        done_now = done + len(members)
        if done_now * wanted >= (closed + 1) * n:
            yield members
            done, closed, members = done_now, done_now * wanted // n, []
    if members:
        yield members
