"""Thresholds that meet a target on labels, and how sure that is. Asks no judge: stored answers are decided again.

The way is that of Learn then Test (Angelopoulos, Bates, Candès, Jordan and Lei, 2021, arXiv:2110.01052). For each
candidate the hypothesis that it misses the target is tested by the exact binomial test, whose inversion is the bound
of Clopper and Pearson. Many are looked at, so they are tested in an order that is fixed before any label is read,
strictest first, and the allowed error (1 - confidence) is spent by the fallback procedure (Wiens, 2003,
Pharmaceutical Statistics 2, 211-215; Wiens and Dmitrienko, 2005, Journal of Biopharmaceutical Statistics 15,
929-942): a few of them are given a part of it, and a candidate that is shown to meet the target hands its part on to
the next. So the chance that any candidate is called good that is not, and with it the one that is chosen, is at most
the allowed error. Of the good ones that which decides most checks is chosen, for which no label is read.

Checks are taken as independent. Those of different cases are; several of one case are not quite.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from jeval.confusion import Confusion
from jeval.labelled import LabelledCheck
from jeval.rubric import Rubric, Thresholds
from jeval.shift import rules_of
from jeval.target import Met, Target, met

__all__ = ["LOWEST_FAIL", "LOWEST_PASS", "Nearest", "Search", "Tuned", "search"]

# Candidates are this fine, for judges round to two decimals.
_STEP = 0.01

# Lower ones are never tried: below them a check would pass, or fail, on what the judge itself thinks less likely.
LOWEST_PASS, LOWEST_FAIL = 0.5, 0.2

# Thresholds that add up to at least this never both hold, even where rounded probabilities add up to more than 1
# (0.005 for each of three options and 0.01): then what fails hangs on `fail` alone, and what passes on `pass`.
_APART = 1.03

# Where the search begins, as thresholds, and the part of the allowed error each is given. Nothing stricter than the
# first is looked at, for there is seldom enough evidence. Judges are often very sure, so it is given most.
_STARTS = ((0.9, 0.5), (0.75, 0.25), (0.6, 0.25))

# Kinds whose every status hangs on `pass` alone.
_BY_PASS = ("tool-claim", "escalation")


class Tuned(NamedTuple):
    """The thresholds that were found, how each target is met, and how many checks are decided now."""

    thresholds: Thresholds
    met: tuple[Met, ...]


class Nearest(NamedTuple):
    """Of thresholds that miss a target, those that came nearest to it."""

    thresholds: Thresholds
    missed: tuple[Met, ...]


@dataclass(frozen=True, slots=True)
class Search:
    """What came of looking. `tried` counts the pairs looked at; `tuned` is None where none meets the targets, and then
    `nearest` says what is missing, for each part of the search that found nothing."""

    targets: tuple[Target, ...]
    confidence: float
    tried: int
    tuned: Tuned | None
    nearest: tuple[Nearest, ...]


Pair = tuple[float, float]


class _Chain(NamedTuple):
    """Pairs in the order they are tested, the targets they are tested for, and where error is spent: the part of the
    allowed error that the pair at each index is given."""

    pairs: tuple[Pair, ...]
    targets: tuple[Target, ...]
    spent: Mapping[int, float]


class _Space(NamedTuple):
    """Which thresholds are looked at: the present ones, and how low each may go."""

    present: Pair
    lowest: Pair

    def values(self, axis: int) -> list[float]:
        """The values of one threshold, strictest first."""
        lowest = self.lowest[axis]
        steps = (round(1 - i * _STEP, 2) for i in range(round(1 / _STEP)))
        return [*(value for value in steps if value > lowest), lowest]


def search(
    checks: Sequence[LabelledCheck],
    targets: Sequence[Target],
    present: Thresholds,
    confidence: float,
    *,
    own: bool = True,
) -> Search:
    """The thresholds that meet all targets with this confidence (0 to 1) and decide most of these checks.

    Every check has answers. What is not bounded by a target becomes no laxer than by the `present` thresholds: `pass`
    goes below them only if what passes is bounded, `fail` only if what fails is. A rubric's own thresholds stand over
    those tried, unless `own` is False, where they are what is looked for.
    """
    table = _Decider(checks, own=own)
    bounded = {status for target in targets for status in target.measure.bounds}
    now = (present.pass_, present.fail)
    rubrics = {check.rubric.id: check.rubric for check in checks}.values() if own else ()
    space = _Space(now, _lowest(now, bounded, rubrics))
    chains = _chains(space, targets, {check.rubric.kind in _BY_PASS for check in checks}, 1 - confidence)
    good = {axis: _walk(chain, table) for axis, chain in chains.items()}
    tried = len({pair for chain in chains.values() for pair in chain.pairs})
    failed = [_nearest(chains[axis], table, now) for axis, found in good.items() if not found]
    tuned = None if failed else _widest(space, chains, good, table)
    return Search(tuple(targets), confidence, tried, tuned, tuple(failed))


def _lowest(present: Pair, bounded: set[str], rubrics: Iterable[Rubric]) -> Pair:
    """How low each threshold may go: no lower than now where no target bounds what it lets through, nor so low that
    it cannot go with one that a rubric has of its own."""
    pass_ = min(LOWEST_PASS, present[0]) if "pass" in bounded else present[0]
    fail = min(LOWEST_FAIL, present[1]) if "fail" in bounded else present[1]
    own = [rubric.thresholds for rubric in rubrics]
    passes = [one.pass_ for one in own if one.pass_ is not None and one.fail is None]
    fails = [one.fail for one in own if one.fail is not None and one.pass_ is None]
    beside = [1.0, *passes], [1.0, *fails]
    least_fail, least_pass = (round(_APART - min(values), 2) for values in beside)
    return max(pass_, least_pass), max(fail, least_fail)


def _chains(space: _Space, targets: Sequence[Target], by_pass: set[bool], error: float) -> dict[str, _Chain]:
    """What is tested, by the threshold it moves: `pass`, `fail`, or `both` together where a target hangs on both."""
    parts: dict[str, list[Target]] = {}
    for target in targets:
        bounds = target.measure.bounds
        if bounds == ("pass",) or by_pass == {True}:
            axis = "pass"
        else:
            axis = "fail" if bounds == ("fail",) and by_pass == {False} else "both"
        parts.setdefault(axis, []).append(target)
    if "both" in parts:
        parts = {"both": list(targets)}
    return {axis: _chain(space, axis, of_it, error / len(parts)) for axis, of_it in parts.items()}


def _chain(space: _Space, axis: str, targets: Sequence[Target], error: float) -> _Chain:
    if axis == "pass":
        steps = [(value, (value, 1.0)) for value in space.values(0)]
    elif axis == "fail":
        steps = [(value, (1.0, value)) for value in space.values(1)]
    else:
        # Side by side from the strict end, until one of them may go no further.
        lowest = min(space.lowest)
        both = _Space(space.present, (lowest, lowest)).values(0)
        steps = [(value, (max(value, space.lowest[0]), max(value, space.lowest[1]))) for value in both]
        steps = [(value, pair) for value, pair in steps if _apart(*pair)]
    pairs = tuple(dict.fromkeys(pair for _, pair in steps))
    spent: dict[int, float] = {}
    # Of checks with a certain label there are as many all along, so a later start shows nothing an earlier one cannot.
    starts = ((1.0, 1.0),) if all(target.measure.by_label for target in targets) else _STARTS
    for start, part in starts:
        at = next((pairs.index(pair) for value, pair in steps if value <= start), len(pairs) - 1)
        spent[at] = spent.get(at, 0.0) + part * error
    first = min(spent)  # what is stricter is given nothing and so cannot be shown
    return _Chain(pairs[first:], tuple(targets), {at - first: part for at, part in spent.items()})


def _walk(chain: _Chain, table: "_Decider") -> dict[Pair, float]:
    """The pairs shown to meet every target, each with the error level it was tested at: the fallback procedure."""
    found: dict[Pair, float] = {}
    handed_on = 0.0
    for i, pair in enumerate(chain.pairs):
        level = chain.spent.get(i, 0.0) + handed_on
        # To miss one target is to miss them: the largest p-value is that of the union (intersection-union test).
        shown = level > 0 and all(one.holds for one in met(chain.targets, table(pair), level))
        handed_on = level if shown else 0.0
        if shown:
            found[pair] = level
    return found


def _nearest(chain: _Chain, table: "_Decider", present: Pair) -> Nearest:
    """The pair of a chain that was least far from meeting its targets."""
    level = max(chain.spent.values())

    def far(pair: Pair) -> tuple[float, int]:
        reached = met(chain.targets, table(pair), level)
        return max(one.good.p_value(one.target.least) for one in reached), -sum(one.good.n for one in reached)

    pair = min(chain.pairs, key=far)
    # What the chain does not move stands where it is, as far as that goes together.
    shown = [max(now, _APART - 1) if tried == 1.0 else tried for tried, now in zip(pair, present, strict=True)]
    if sum(shown) < _APART:
        shown = list(pair)
    return Nearest(Thresholds(pass_=shown[0], fail=shown[1]), met(chain.targets, table(pair), level))


def _widest(
    space: _Space, chains: Mapping[str, _Chain], good: Mapping[str, Mapping[Pair, float]], table: "_Decider"
) -> Tuned:
    """Of the pairs shown to meet the targets, that which decides most; of equals that which moves least of what no
    target bounds, then the strictest."""
    still = [axis for axis, name in enumerate(("pass", "fail")) if name not in good and "both" not in good]

    def rank(pair: Pair) -> tuple[int, float, float]:
        moved = sum(abs(pair[axis] - space.present[axis]) for axis in still)
        return table(pair).decided.k, -moved, sum(pair)

    if "both" in good:
        best = max(good["both"], key=rank)
    else:
        passes = [pair[0] for pair in good["pass"]] if "pass" in good else space.values(0)
        fails = [pair[1] for pair in good["fail"]] if "fail" in good else space.values(1)
        # To lower either decides no fewer, so for each `fail` the lowest `pass` will do; then what is needless is
        # taken back, one after the other.
        lowest = ((min((p for p in passes if _apart(p, fail)), default=None), fail) for fail in fails)
        best = max(((p, fail) for p, fail in lowest if p is not None), key=rank)
        best = max(((p, best[1]) for p in passes if _apart(p, best[1])), key=rank)
        best = max(((best[0], fail) for fail in fails if _apart(best[0], fail)), key=rank)
    how: list[Met] = []
    for name, chain in chains.items():
        tested = {"pass": (best[0], 1.0), "fail": (1.0, best[1])}.get(name, best)
        how += met(chain.targets, table(best), good[name][tested])
    return Tuned(Thresholds(pass_=best[0], fail=best[1]), tuple(how))


def _apart(pass_: float, fail: float) -> bool:
    return pass_ + fail >= _APART - 1e-9


class _Decider:
    """Decides the same checks by any thresholds, and remembers what came of them. Alike ones are decided once."""

    def __init__(self, checks: Iterable[LabelledCheck], *, own: bool) -> None:
        self._own = own
        self._tables: dict[Pair, Confusion] = {}
        self._alike: dict[Any, tuple[LabelledCheck, int]] = {}
        for check in checks:
            answers = tuple((part, *answer.probabilities.items()) for part, answer in check.answers.items())
            key = (check.rubric.id, check.expected, check.facts, answers)
            self._alike[key] = (check, self._alike.get(key, (check, 0))[1] + 1)
        self._rubrics = {check.rubric.id: check.rubric for check, _ in self._alike.values()}.values()

    def __call__(self, pair: Pair) -> Confusion:
        """The table of statuses and labels by these thresholds."""
        found = self._tables.get(pair)
        if found is None:
            rules = rules_of(self._rubrics, Thresholds(pass_=pair[0], fail=pair[1]), own=self._own)
            counts: Counter[tuple[str, str]] = Counter()
            for check, number in self._alike.values():
                counts[check.status_at(rules[check.rubric.id]), check.expected] += number
            found = self._tables[pair] = Confusion(counts)
        return found
