"""Statuses against labels: how often each met each, and the measures read off that table.

What is to be caught is a `fail`, so precision, recall and F1 are of it. A `review` is undecided and an `error` or a
`skipped` check was not judged: none of them is ever counted as right or wrong.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from jeval.proportion import Proportion

__all__ = ["LABELS", "MEASURES", "Agreement", "Confusion", "Measure"]

# What a label may say. `error` is none: it says nothing of the case.
LABELS = ("pass", "fail", "review", "skipped")

_DECIDED = ("pass", "fail")
_JUDGED = ("pass", "fail", "review")
_STATUSES = ("pass", "fail", "review", "skipped", "error")

# The normal quantile of a two-sided 95%.
_Z = 1.959963984540054


class Measure(NamedTuple):
    """A share read off the table: `hits` of all checks with one of `statuses` and one of `labels`.

    `bounds` are the statuses that a limit on it bounds; `at_most` says that less is better; `of` and `are` say in
    words what is counted.
    """

    name: str
    hits: tuple[tuple[str, str], ...]
    statuses: tuple[str, ...]
    labels: tuple[str, ...]
    bounds: tuple[str, ...]
    at_most: bool
    of: str
    are: str

    @property
    def by_label(self) -> bool:
        """Whether it is a share of checks with a certain label, not of checks with a certain status."""
        return self.statuses == _JUDGED


MEASURES: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure(
            "false_pass_rate", (("pass", "fail"),), _JUDGED, ("fail",), ("pass",), True,
            "judged checks labelled fail", "pass",
        ),
        Measure(
            "false_fail_rate", (("fail", "pass"),), _JUDGED, ("pass",), ("fail",), True,
            "judged checks labelled pass", "fail",
        ),
        Measure(
            "accuracy", (("pass", "pass"), ("fail", "fail")), _DECIDED, LABELS, ("pass", "fail"), False,
            "decided checks", "are labelled so",
        ),
        Measure(
            "precision", (("fail", "fail"),), ("fail",), LABELS, ("fail",), False,
            "checks that fail", "are labelled fail",
        ),
        Measure(
            "recall", (("fail", "fail"),), _DECIDED, ("fail",), ("pass", "fail"), False,
            "decided checks labelled fail", "fail",
        ),
        Measure(
            "pass_precision", (("pass", "pass"),), ("pass",), LABELS, ("pass",), False,
            "checks that pass", "are labelled pass",
        ),
    )
}  # fmt: skip


class Agreement(NamedTuple):
    """Cohen's kappa, -1 to 1, and its 95% interval; None where it is not defined."""

    kappa: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Confusion:
    """How many checks have each (status, label)."""

    counts: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> "Confusion":
        """The table of these (status, label) pairs."""
        return cls(Counter(pairs))

    def n(self, statuses: Iterable[str] = _STATUSES, labels: Iterable[str] = LABELS) -> int:
        """How many have one of these statuses and one of these labels."""
        wanted = tuple(labels)
        return sum(self.counts.get((status, label), 0) for status in statuses for label in wanted)

    def share(self, name: str) -> Proportion:
        """The measure of this name."""
        measure = MEASURES[name]
        hits = sum(self.counts.get(pair, 0) for pair in measure.hits)
        return Proportion(hits, self.n(measure.statuses, measure.labels))

    @property
    def decided(self) -> Proportion:
        """Checks that passed or failed, of all that were not skipped: the coverage."""
        return Proportion(self.n(_DECIDED), self.n() - self.n(("skipped",)))

    @property
    def caught(self) -> Proportion:
        """Checks that failed, of all judged ones labelled fail: recall, with reviews as not caught."""
        return Proportion(self.counts.get(("fail", "fail"), 0), self.n(_JUDGED, ("fail",)))

    @property
    def f1(self) -> tuple[float | None, tuple[float, float] | None]:
        """The F1 of fail among the decided, and its 95% interval.

        F1 = 2 J / (1 + J) of the share J = TP / (TP + FP + FN), so Wilson's interval of J is carried over; the
        transformation is that of Hand, Christen and Kirielle (2021), Machine Learning 110, 451-456.
        """
        hits = self.counts.get(("fail", "fail"), 0)
        either = self.n(("fail",)) + self.n(("pass",), ("fail",))
        shares = Proportion(hits, either)
        interval = shares.interval()
        if shares.rate is None or interval is None:
            return None, None
        low, high = (2 * j / (1 + j) for j in interval)
        return 2 * shares.rate / (1 + shares.rate), (low, high)

    @property
    def agreement(self) -> Agreement:
        """Cohen's kappa (1960, Educational and Psychological Measurement 20, 37-46) of statuses and labels among the
        decided: 0 is what chance would agree on, 1 is agreement throughout.

        The interval is by the standard error of Fleiss, Cohen and Everitt (1969), Psychological Bulletin 72, 323-327.
        """
        n = self.n(_DECIDED)
        if not n:
            return Agreement(None, None)
        p = {(s, label): self.counts.get((s, label), 0) / n for s in _DECIDED for label in LABELS}
        given = {status: sum(p[status, label] for label in LABELS) for status in _DECIDED}
        meant = {label: sum(p[status, label] for status in _DECIDED) for label in LABELS}
        by_chance = sum(given[status] * meant[status] for status in _DECIDED)
        if by_chance >= 1 - 1e-12:  # both always say the same one thing
            return Agreement(None, None)
        kappa = (sum(p[status, status] for status in _DECIDED) - by_chance) / (1 - by_chance)
        off = 1 - kappa
        alike = sum(p[s, s] * (1 - (given[s] + meant[s]) * off) ** 2 for s in _DECIDED)
        apart = sum(share * (meant[s] + given.get(label, 0.0)) ** 2 for (s, label), share in p.items() if s != label)
        variance = alike + off**2 * apart - (kappa - by_chance * off) ** 2
        half = _Z * math.sqrt(max(0.0, variance) / n) / (1 - by_chance)
        return Agreement(kappa, (max(-1.0, kappa - half), min(1.0, kappa + half)))
