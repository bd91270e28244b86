"""Whether a judge can be trusted with a rubric: what the labels show, at 95% confidence, and why."""

from typing import Literal, NamedTuple

from jeval.confusion import Confusion
from jeval.counted import counted
from jeval.proportion import Proportion, needed

__all__ = ["LIMIT", "Trust", "trust"]

# A judge is trusted where it is shown to go wrong no more often than this: to pass what should fail, and to decide
# otherwise than labelled.
LIMIT = 0.1

# What a two-sided 95% interval leaves on each side.
_TAIL = 0.025


class Trust(NamedTuple):
    """Whether the judge can be trusted, and why, in a line.

    `yes`: both false passes and wrong decisions are shown to be at most LIMIT; `no`: one of them is shown to be
    more; `unclear`: neither is shown; `unknown`: no judged check is labelled fail, or none was decided.
    """

    level: Literal["yes", "no", "unclear", "unknown"]
    why: str


def trust(table: Confusion) -> Trust:
    """Whether the judge can be trusted with what this table is of."""
    missed, wrong = table.share("false_pass_rate"), table.share("accuracy").rest
    miss_bounds, wrong_bounds = missed.interval(), wrong.interval()
    if not table.n():
        return Trust("unknown", "no check is labelled")
    if miss_bounds is None:
        return Trust("unknown", "no judged check is labelled fail: nothing tells whether it would catch one")
    if wrong_bounds is None:
        return Trust("unknown", f"none of {counted(table.n(), 'labelled check')} was decided")
    misses = f"passed {missed.k:,} of {missed.n:,} labelled fail"
    wrongs = f"wrong on {wrong.k:,} of {wrong.n:,} decided"
    for share, (low, _), text in ((missed, miss_bounds, misses), (wrong, wrong_bounds, wrongs)):
        if low > LIMIT:
            return Trust("no", f"{text}{_about(share)}, so surely over {LIMIT:.0%}")
    for share, (_, high), text, noun in (
        (missed, miss_bounds, misses, "labelled fail"),
        (wrong, wrong_bounds, wrongs, "decided"),
    ):
        if high > LIMIT:
            return Trust("unclear", f"{text}, which may mean up to {high:.0%}; {_enough(share, noun)}")
    return Trust("yes", f"{misses} (at most {miss_bounds[1]:.0%}), {wrongs} (at most {wrong_bounds[1]:.0%})")


def _about(share: Proportion) -> str:
    return "" if share.rate is None else f" ({share.rate:.0%})"


def _enough(share: Proportion, noun: str) -> str:
    """How many more labels would show that it is no more than LIMIT, if it goes on like this."""
    total = None if share.rate is None else needed(1 - share.rate, 1 - LIMIT, _TAIL)
    if total is None:
        return f"at this rate no number of labels shows it to be under {LIMIT:.0%}"
    return f"about {max(1, total - share.n):,} more {noun} would tell"
