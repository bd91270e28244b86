"""How probabilities become a status. The only place that compares anything with a threshold."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from jeval.rubric import Thresholds

__all__ = ["STATUSES", "Status", "Verdict", "average", "established", "number", "three_way"]

Status = Literal["pass", "fail", "review", "skipped", "error"]
STATUSES: tuple[Status, ...] = ("pass", "fail", "review", "skipped", "error")


class Verdict(NamedTuple):
    """A status and why: `outcome` is the option that stands for it (None where nothing was asked), `rule` the
    stable name of the rule applied, `reason` one line with the numbers that made it."""

    status: Status
    outcome: str | None
    rule: str
    reason: str


def number(p: float) -> str:
    """A probability as people read it: four significant digits, no trailing zeros."""
    return f"{p:.4g}"


def three_way(
    p: Mapping[str, float], thresholds: Thresholds, names: tuple[str, str, str], *, fail_on_third: bool = False
) -> Verdict:
    """fail if p(bad) ≥ fail; else pass if p(good) ≥ pass; else review.

    `names` is (good, bad, insufficient). With `fail_on_third` the third outcome fails at the fail threshold
    too. As pass + fail > 1, no distribution that sums to 1 reaches both; where rounding sums to more, fail goes
    before pass.
    """
    good, bad, third = names
    outcome = max(p, key=p.__getitem__)
    if p[bad] >= thresholds.fail:
        return Verdict("fail", outcome, "fail-threshold", f"p({bad}) {p[bad]:.4g} ≥ fail {thresholds.fail:.4g}")
    if fail_on_third and p[third] >= thresholds.fail:
        return Verdict("fail", outcome, f"{third}-fails", f"p({third}) {p[third]:.4g} ≥ fail {thresholds.fail:.4g}")
    if p[good] >= thresholds.pass_:
        return Verdict("pass", outcome, "pass-threshold", f"p({good}) {p[good]:.4g} ≥ pass {thresholds.pass_:.4g}")
    rule = "insufficient-leads" if outcome == third else "undecided"
    below = f"p({good}) {p[good]:.4g} < pass {thresholds.pass_:.4g}"
    reason = f"p({bad}) {p[bad]:.4g} < fail {thresholds.fail:.4g} and {below}"
    if outcome == third:
        reason = f"{third} leads with {p[third]:.4g}: {reason}"
    return Verdict("review", outcome, rule, reason)


def established(p: Mapping[str, float], thresholds: Thresholds, *options: str) -> str | None:
    """The first of `options` whose probability reaches the pass threshold, or None."""
    for option in options:
        if p[option] >= thresholds.pass_:
            return option
    return None


def average(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    """The mean of two distributions, rounded so that 0.7 and 0.8 make 0.75 exactly."""
    return {name: round((first[name] + second[name]) / 2, 12) for name in first}
