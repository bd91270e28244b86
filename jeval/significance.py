"""Whether a change between two runs over the same cases could be chance. Says how sure, never "better".

Two runs judge the same things, so results come in pairs, and only the pairs that changed tell anything:

- the test is McNemar's, exact: of the pairs that changed between pass and fail, does one direction occur more
  often than a fair coin would make it (two-sided binomial);
- the interval of the change in pass rate is Wald's with the adjustment of Bonett and Price (2012), Journal of
  Educational and Behavioral Statistics 37, 479-488: one pair is added to either direction. It keeps its level
  with few pairs, and has a width even where nothing changed;
- the number of pairs it takes to see such a change is Connor's (1987), Biometrics 43, 207-211, at the shares
  of changed pairs found here.

All three take pairs as independent. Cases are; checks of one case are not, for one bad answer may fail
several. So whoever compares does it for cases too, and believes that count where the two disagree.
"""

import math
from typing import Any, NamedTuple

__all__ = [
    "ALPHA",
    "POWER",
    "PairedChange",
    "Pairs",
    "interval",
    "mcnemar",
    "needed",
    "paired_change",
]

ALPHA = 0.05
POWER = 0.8

# The normal quantiles of 1 - ALPHA / 2 and of POWER.
_Z_ALPHA = 1.959963984540054
_Z_POWER = 0.8416212335729143

# Up to here the binomial is summed in whole numbers; above, from logarithms (relative error under 1e-9).
_EXACT = 1000


class Pairs(NamedTuple):
    """How often the same thing, decided in both runs, passed or failed: before, then after."""

    both_pass: int
    lost: int
    """Pass before, fail after."""
    gained: int
    """Fail before, pass after."""
    both_fail: int

    @property
    def n(self) -> int:
        """All pairs."""
        return self.both_pass + self.lost + self.gained + self.both_fail


class PairedChange(NamedTuple):
    """The change in pass rate. Rates and `change` (after minus before) are shares, None for no pairs."""

    pairs: Pairs
    before: float | None
    after: float | None
    change: float | None
    interval: tuple[float, float] | None
    """95%, from -1 to 1."""
    p_value: float | None
    needed: int | None
    """Pairs to see a change of this size in four of five tries; None where nothing changed."""

    def as_dict(self) -> dict[str, Any]:
        """As a machine reads it."""
        return {
            "n": self.pairs.n,
            **self.pairs._asdict(),
            "pass_rate_before": self.before,
            "pass_rate_after": self.after,
            "change": self.change,
            "interval_95": self.interval,
            "mcnemar_p": self.p_value,
            "needed": self.needed,
        }

    def lines(self, noun: str) -> list[str]:
        """In plain words, every number with what it is of; `noun` is the plural of what was paired."""
        n, lost, gained = self.pairs.n, self.pairs.lost, self.pairs.gained
        if self.interval is None or self.before is None or self.after is None or self.change is None:
            return [f"no {noun} were decided in both runs, so there is nothing to compare"]
        rates = f"pass rate {self.before:.1%} → {self.after:.1%} of {n:,} {noun} decided in both runs"
        low, high = self.interval
        bounds = f"95% interval {_points(low)} to {_points(high)} points"
        if not lost + gained:
            return [rates, f"none changed between pass and fail ({bounds})"]
        moved = f"{rates}: {lost:,} pass → fail, {gained:,} fail → pass"
        size = f"{_points(self.change)} points ({bounds}; exact McNemar p {_p(self.p_value)})"
        if not self.change:
            return [moved, f"{size}: as many one way as the other"]
        chance = "hardly chance alone" if (self.p_value or 0.0) < ALPHA else "may well be chance"
        enough = f"about {self.needed:,} {noun} are needed to see a change of this size (power {POWER:g})"
        return [moved, f"{size}: {chance}", enough]


def paired_change(pairs: Pairs) -> PairedChange:
    """The change in pass rate, its interval, the test, and how many pairs such a change takes."""
    n = pairs.n
    if not n:
        return PairedChange(pairs, None, None, None, None, None, None)
    change = (pairs.gained - pairs.lost) / n
    return PairedChange(
        pairs,
        before=(pairs.both_pass + pairs.lost) / n,
        after=(pairs.both_pass + pairs.gained) / n,
        change=change,
        interval=interval(pairs.lost, pairs.gained, n),
        p_value=mcnemar(pairs.lost, pairs.gained),
        needed=needed((pairs.lost + pairs.gained) / n, change),
    )


def mcnemar(lost: int, gained: int) -> float:
    """The exact two-sided p-value of McNemar's test, 1 where no pair changed."""
    n, least = lost + gained, min(lost, gained)
    if n <= _EXACT:
        return min(1.0, 2 * sum(math.comb(n, k) for k in range(least + 1)) / (1 << n))
    # Down from the largest term: each is the one above times k / (n - k + 1), and soon too small to count.
    term = total = 1.0
    for k in range(least, 0, -1):
        term *= k / (n - k + 1)
        total += term
        if term < total * 1e-17:
            break
    log_largest = math.lgamma(n + 1) - math.lgamma(least + 1) - math.lgamma(n - least + 1) - n * math.log(2)
    return min(1.0, 2 * math.exp(log_largest) * total)


def interval(lost: int, gained: int, n: int) -> tuple[float, float]:
    """The 95% interval of the change in pass rate: as Bonett and Price adjust Wald's; `n` is at least 1."""
    up, down = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    half = _Z_ALPHA * math.sqrt((up + down - (up - down) ** 2) / (n + 2))
    return max(-1.0, up - down - half), min(1.0, up - down + half)


def needed(changed: float, change: float) -> int | None:
    """Pairs it takes to see `change` in pass rate where a share `changed` of pairs changes (Connor).

    At level ALPHA, two-sided, with power POWER. None where there is no change to see.
    """
    if not change:
        return None
    spread = math.sqrt(max(0.0, changed - change**2))
    return math.ceil((_Z_ALPHA * math.sqrt(changed) + _Z_POWER * spread) ** 2 / change**2)


def _points(share: float) -> str:
    """A share as signed percentage points, with a digit that tells it from 0."""
    points = 100 * share
    text = f"{points:+.1f}" if abs(points) >= 0.1 or not points else f"{points:+.1g}"
    return text.replace("-", "\u2212", 1)


def _p(value: float | None) -> str:
    return "= 1" if value is None or value == 1 else "< 0.0001" if value < 0.0001 else f"= {value:.2g}"
