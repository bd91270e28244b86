"""How sure a share is: so many of so many, its interval, and whether it can be shown to reach a level.

All take the things counted as independent of one another.
"""

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import Any, NamedTuple

__all__ = ["CONFIDENCE", "Proportion", "needed"]

CONFIDENCE = 0.95

# More things than these are not looked for.
_MOST = 1_000_000

# Halvings that bring a bound nearer than any float can tell.
_HALVINGS = 60


class Proportion(NamedTuple):
    """`k` of `n`; with n = 0 nothing is known, and every figure is None."""

    k: int
    n: int

    @property
    def rate(self) -> float | None:
        """The share, 0 to 1."""
        return self.k / self.n if self.n else None

    @property
    def rest(self) -> "Proportion":
        """The others: those of the n that are none of the k."""
        return Proportion(self.n - self.k, self.n)

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float] | None:
        """The two-sided interval of Wilson (1927), Journal of the American Statistical Association 22, 209-212.

        It has a width even for none or all of n, and keeps near its level with few (Brown, Cai and DasGupta,
        2001, Statistical Science 16, 101-133).
        """
        if not self.n:
            return None
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        rate, n = self.k / self.n, self.n
        middle = (rate + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
        # At either end the interval reaches it exactly, which the arithmetic may miss by a last digit.
        low = 0.0 if self.k == 0 else max(0.0, middle - half)
        return low, 1.0 if self.k == n else min(1.0, middle + half)

    def p_value(self, least: float) -> float:
        """The chance of at least k of n, were the true share only `least` (0 to 1): the exact binomial test."""
        return 1.0 if self.k == 0 else _beta(least, self.k, self.n - self.k + 1)

    def lower(self, confidence: float = CONFIDENCE) -> float | None:
        """The one-sided lower bound of Clopper and Pearson (1934), Biometrika 26, 404-413.

        It reaches `least` exactly where `p_value(least)` is at most 1 - confidence.
        """
        if not self.n:
            return None
        if not self.k:
            return 0.0
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.p_value(middle) <= 1 - confidence else (low, middle)
        return low

    def as_dict(self) -> dict[str, Any]:
        """As a machine reads it; the interval is Wilson's."""
        return {"value": self.rate, "k": self.k, "n": self.n, "interval_95": self.interval()}


def needed(rate: float, least: float, level: float) -> int | None:
    """About how many things it takes to show at error `level` that the true share is at least `least`, if `rate` of
    them count.

    None where the rate itself is no higher, or more than a million would be needed.
    """
    if rate <= least:
        return None
    return next((n for n in _growing() if Proportion(math.floor(rate * n + 1e-9), n).p_value(least) <= level), None)


def _growing() -> Iterator[int]:
    """Whole numbers from 1 on, every one at first and then in steps of a hundredth."""
    n = 1
    while n <= _MOST:
        yield n
        n += max(1, n // 100)


def _beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b); I_p(k, n - k + 1) is the binomial's upper tail from k.

    By the continued fraction DLMF 8.17.22, evaluated by Lentz's method; relative error under 1e-9.
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # where the fraction converges slowly, its mirror image does not
        return 1 - _beta(1 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    tiny = 1e-300
    c, d = 1.0, 1 / (_away(1 - (a + b) * x / (a + 1), tiny))
    fraction = d
    for m in range(1, 10_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _away(1 + term * d, tiny)
            c = _away(1 + term / c, tiny)
            fraction *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return min(1.0, front * fraction / a)


def _away(value: float, tiny: float) -> float:
    """The value, never 0, for something is divided by it."""
    return value if abs(value) > tiny else tiny
