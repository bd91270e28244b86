"""What became of a metric's mean between two runs, with an interval for the change. Pure and repeatable.

The same cases are compared with themselves: the change is the mean of the differences after − before over the
cases that both runs scored. Up to `MOST_RESAMPLED` of them its interval is a percentile bootstrap (Efron
1979): the differences are drawn again with replacement `RESAMPLES` times, and the middle `level` of the means
is the interval. Beyond that the mean of so many differences is close to normal, and mean ± z·s/√n is used,
which takes no time. The draws come from a hash of the seed and the metric, so the same runs give the same
interval.
"""

import math
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from hashlib import shake_256
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

__all__ = ["MOST_RESAMPLED", "RESAMPLES", "ScoreChange", "ScoreRow", "interval_of", "score_changes"]

RESAMPLES = 2_000
MOST_RESAMPLED = 200
LEVEL = 0.95
_DIGITS = 12

# A metric's id and version, a case's id and the score, None where the case was not scored.
ScoreRow = tuple[str, str, str, float | None]


class ScoreChange(NamedTuple):
    """One metric in two runs.

    `pairs` counts the cases scored in both, over which `before`, `after` and `change` are means (None without
    any). `low` and `high` bound the change at `level`; they are None where fewer than two pairs tell nothing
    about its spread. `method` is how they were found. `only_before` and `only_after` count cases scored in
    one run alone; they are in no mean. `issue` says why there is nothing to compare, None where there is.
    """

    metric_id: str
    version: str
    pairs: int
    before: float | None
    after: float | None
    change: float | None
    low: float | None
    high: float | None
    level: float
    method: Literal["bootstrap", "normal", "none"]
    raised: int
    lowered: int
    only_before: int
    only_after: int
    issue: str | None = None

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out 0: the change is more than the choice of cases would explain."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    def as_dict(self) -> dict[str, Any]:
        """The change as a machine reads it."""
        return {**self._asdict(), "clear": self.clear}

    def words(self) -> str:
        """The change in one line for people."""
        if self.issue is not None:
            return f"{self.metric_id}: {self.issue}"
        if self.change is None:
            return f"{self.metric_id} {self.version}: no case was scored in both runs"
        text = f"{self.metric_id} {self.version}: {self.before:.3f} → {self.after:.3f} ({self.change:+.3f}"
        if self.low is not None:
            text += f", {self.level:.0%} interval {self.low:+.3f} to {self.high:+.3f}"
        text += f") over {self.pairs:,} case{'' if self.pairs == 1 else 's'}"
        alone = self.only_before + self.only_after
        return text + (f"; {alone:,} scored in one run only" if alone else "")


def score_changes(
    before: Iterable[ScoreRow], after: Iterable[ScoreRow], *, level: float = LEVEL, seed: int = 0
) -> tuple[ScoreChange, ...]:
    """The change of every metric of two runs, in the order in which they first occur.

    A metric whose version differs, or which one run lacks, is told as an issue and not compared. `level` is
    the coverage of the intervals, above 0 and below 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level!r}; it lies between 0 and 1")
    left, right = _gathered(before), _gathered(after)
    changes = []
    for metric in dict.fromkeys([*left, *right]):
        if metric not in left or metric not in right:
            version = (left.get(metric) or right[metric])[0]
            changes.append(_none(metric, version, level, f"only the {_which(metric in left)} run has it"))
            continue
        (old, was), (new, now) = left[metric], right[metric]
        if old != new:
            changes.append(_none(metric, new, level, f"version {old} and version {new} are not comparable"))
        else:
            changes.append(_change(metric, new, was, now, level, seed))
    return tuple(changes)


def _which(first: bool) -> str:
    return "first" if first else "second"


def _gathered(rows: Iterable[ScoreRow]) -> dict[str, tuple[str, dict[str, float]]]:
    found: dict[str, tuple[str, dict[str, float]]] = {}
    for metric, version, case, score in rows:
        _, scores = found.setdefault(metric, (version, {}))
        if score is not None:
            scores[case] = score
    return found


def _none(metric: str, version: str, level: float, issue: str) -> ScoreChange:
    return ScoreChange(metric, version, 0, None, None, None, None, None, level, "none", 0, 0, 0, 0, issue)


def _change(
    metric: str, version: str, was: Mapping[str, float], now: Mapping[str, float], level: float, seed: int
) -> ScoreChange:
    # Sorted, so that the order in which cases were finished changes nothing.
    shared = sorted(was.keys() & now.keys())
    differences = [round(now[case] - was[case], _DIGITS) for case in shared]
    only = (len(was) - len(shared), len(now) - len(shared))
    if not shared:
        return ScoreChange(metric, version, 0, None, None, None, None, None, level, "none", 0, 0, *only)
    low, high, method = interval_of(differences, level=level, seed=f"{seed}:{metric}")
    return ScoreChange(
        metric,
        version,
        len(shared),
        _mean([was[case] for case in shared]),
        _mean([now[case] for case in shared]),
        _mean(differences),
        low,
        high,
        level,
        method,
        sum(difference > 0 for difference in differences),
        sum(difference < 0 for difference in differences),
        *only,
    )


def _mean(values: Sequence[float]) -> float:
    return round(math.fsum(values) / len(values), _DIGITS)


def interval_of(
    differences: Sequence[float], *, level: float, seed: str
) -> tuple[float | None, float | None, Literal["bootstrap", "normal", "none"]]:
    """The bounds of the mean of the differences at this level, and how they were found."""
    count = len(differences)
    if count < 2:
        return None, None, "none"
    if count > MOST_RESAMPLED:
        mean = math.fsum(differences) / count
        spread = math.sqrt(math.fsum((d - mean) ** 2 for d in differences) / (count - 1))
        reach = NormalDist().inv_cdf((1 + level) / 2) * spread / math.sqrt(count)
        return round(mean - reach, _DIGITS), round(mean + reach, _DIGITS), "normal"
    means = sorted(_resampled(differences, seed))
    outside = int((1 - level) / 2 * len(means))
    return means[outside], means[-1 - outside], "bootstrap"


def _resampled(differences: Sequence[float], seed: str) -> list[float]:
    """The mean of each resample."""
    count = len(differences)
    draws = array("I", shake_256(seed.encode()).digest(4 * count * RESAMPLES))
    if draws.itemsize != 4:  # pragma: no cover - no platform of ours
        raise OverflowError("an unsigned int has no 32 bits here")
    if sys.byteorder == "big":  # pragma: no cover - the same draws on every machine
        draws.byteswap()
    # Scaling 32 bits to at most 200 places favours none of them by more than a ten-millionth.
    picked = [differences[draw * count >> 32] for draw in draws]
    return [round(sum(picked[at : at + count]) / count, _DIGITS) for at in range(0, len(picked), count)]
