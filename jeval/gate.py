"""What `--ci` makes of a run: an exit code, and every rule with its number and its limit.

Only required rubrics count; optional ones are reported. What breaks a rule is of two sorts:

- quality, exit code 1: failures, critical failures, a metric's mean under its least;
- completeness, exit code 2: errors, cases not evaluated, too many reviews, too few checks decided, a required
  rubric skipped for every case, an empty dataset, a simulated judge.

Where both sorts are broken, the code is 1: no review or repeated request makes a failure undone. A simulated
judge is the exception, its failures are none, so it leads to 2 whatever else is broken; nor does any score of it
reach its least.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from jeval.summary import Summary

__all__ = ["FailureGroup", "GateFacts", "GateReason", "GateRules", "GateVerdict", "gate_facts", "judge_gate"]

QUALITY, INCOMPLETE = 1, 2

# A mean is a sum of many floats: so much below its least is still it.
_ROUNDING = 1e-9


class GateRules(Protocol):
    """The limits; None means no limit. Rates are 0 to 1."""

    @property
    def max_failures(self) -> int | None: ...
    @property
    def max_critical_failures(self) -> int | None: ...
    @property
    def max_review_rate(self) -> float | None: ...
    @property
    def min_decided_coverage(self) -> float | None: ...
    @property
    def allow_errors(self) -> bool: ...
    @property
    def allow_skipped_required(self) -> bool: ...
    @property
    def allow_empty_dataset(self) -> bool: ...
    @property
    def allow_simulated(self) -> bool: ...
    @property
    def min_scores(self) -> Mapping[str, float]: ...
    @property
    def ignore_flips(self) -> bool: ...


class FailureGroup(NamedTuple):
    """Failed checks of required rubrics that are alike: critical or not, failed in the baseline too or not,
    changing between repeats or not."""

    n: int
    critical: bool = False
    known: bool = False
    flips: bool = False


@dataclass(frozen=True, slots=True)
class GateFacts:
    """What there is to judge. Counts are of checks of required rubrics unless they say otherwise."""

    cases: int
    """Cases the dataset has, evaluated or not."""
    simulated: bool = False
    unevaluated: int = 0
    """Cases the run did not come to."""
    passes: int = 0
    failures: tuple[FailureGroup, ...] = ()
    reviews: int = 0
    errors: int = 0
    evaluated: int | None = None
    """Checks of any rubric that passed, failed or are for review, and scores; None where nobody counted."""
    any_errors: bool = False
    """Whether any check or score at all is an error."""
    score_errors: int = 0
    """Metrics without a usable answer, by case."""
    skipped_everywhere: tuple[str, ...] = ()
    """Required rubrics that were skipped for every case."""
    scores: Mapping[str, float | None] = field(default_factory=dict)
    """Each metric's mean, None where no case was scored."""
    optional_failures: int = 0
    optional_critical_failures: int = 0
    baseline: str | None = None
    """The run whose failures are excused, if there is one."""
    baseline_simulated: bool = False

    @property
    def decided(self) -> int:
        """Checks that passed or failed, whatever excuses them."""
        return self.passes + sum(group.n for group in self.failures)

    @property
    def applicable(self) -> int:
        """Checks that were not skipped."""
        return self.decided + self.reviews + self.errors


class GateReason(NamedTuple):
    """One rule applied: the setting's name, whether it holds, and a line with number and limit."""

    rule: str
    holds: bool
    text: str
    exit_code: int
    """What it leads to where it does not hold."""


class GateVerdict(NamedTuple):
    """The exit code and all that led to it, rules that hold included."""

    exit_code: int
    reasons: tuple[GateReason, ...]

    @property
    def broken(self) -> tuple[GateReason, ...]:
        """The rules that do not hold."""
        return tuple(reason for reason in self.reasons if not reason.holds)


def gate_facts(
    summary: Summary,
    *,
    cases: int,
    simulated: bool,
    failures: Sequence[FailureGroup] | None = None,
    baseline: str | None = None,
    baseline_simulated: bool = False,
) -> GateFacts:
    """The facts in a run's summary. `cases` is the dataset's size; `failures` sorts the failures of required
    rubrics where a baseline or repeats tell them apart."""
    required = [tally for tally in summary.rubrics.values() if tally.rubric.required]
    optional = [tally for tally in summary.rubrics.values() if not tally.rubric.required]
    if failures is None:
        failures = [FailureGroup(t.counts["fail"], t.rubric.severity == "critical") for t in required]
    return GateFacts(
        cases=cases,
        simulated=simulated,
        unevaluated=max(0, cases - summary.cases),
        passes=sum(tally.counts["pass"] for tally in required),
        failures=tuple(failures),
        reviews=sum(tally.counts["review"] for tally in required),
        errors=sum(tally.counts["error"] for tally in required),
        evaluated=sum(t.counts[s] for t in summary.rubrics.values() for s in ("pass", "fail", "review"))
        + sum(score.scored for score in summary.scores.values()),
        any_errors=any(tally.counts["error"] for tally in summary.rubrics.values())
        or any(score.errors for score in summary.scores.values()),
        score_errors=sum(score.errors for score in summary.scores.values()),
        skipped_everywhere=tuple(rubric.id for rubric in summary.skipped_everywhere),
        scores={name: score.mean for name, score in summary.scores.items()},
        optional_failures=sum(tally.counts["fail"] for tally in optional),
        optional_critical_failures=sum(
            tally.counts["fail"] for tally in optional if tally.rubric.severity == "critical"
        ),
        baseline=baseline,
        baseline_simulated=baseline_simulated,
    )


def judge_gate(rules: GateRules, facts: GateFacts) -> GateVerdict:
    """Apply every rule."""
    reasons = (*_quality(rules, facts), *_completeness(rules, facts))
    broken = {reason.exit_code for reason in reasons if not reason.holds}
    distrusted = facts.simulated and not rules.allow_simulated
    code = INCOMPLETE if distrusted else QUALITY if QUALITY in broken else max(broken, default=0)
    return GateVerdict(code, reasons)


def _quality(rules: GateRules, facts: GateFacts) -> Iterator[GateReason]:
    groups = facts.failures
    critical = [group for group in groups if group.critical]
    optional, optional_critical = facts.optional_failures, facts.optional_critical_failures
    if not facts.applicable and not rules.min_scores and facts.cases:
        yield GateReason("required", True, "no required check applied and no score is required", QUALITY)
    yield _failures("max_failures", "failures", groups, optional, rules, facts)
    yield _failures("max_critical_failures", "critical failures", critical, optional_critical, rules, facts)
    for name, least in rules.min_scores.items():
        rule = f"min_scores.{name}"
        mean = facts.scores.get(name)
        if name not in facts.scores:
            text = f"score {name}: the run has no such metric (it has {', '.join(facts.scores) or 'none'})"
            yield GateReason(rule, False, text, INCOMPLETE)
        elif mean is None:
            text = f"score {name}: no case was scored, at least {least:g} required"
            yield GateReason(rule, False, text, INCOMPLETE)
        elif facts.simulated and not rules.allow_simulated:
            text = f"score {name} {mean:.4g} is simulated and says nothing, at least {least:g} required"
            yield GateReason(rule, False, text, INCOMPLETE)
        else:
            holds = mean >= least - _ROUNDING
            aside = " (simulated: it says nothing about the answers)" if facts.simulated else ""
            text = f"score {name} {mean:.4g} {'≥' if holds else '<'} {least:g} required{aside}"
            yield GateReason(rule, holds, text, QUALITY)


def _failures(
    rule: str, noun: str, groups: Sequence[FailureGroup], optional: int, rules: GateRules, facts: GateFacts
) -> GateReason:
    limit: int | None = getattr(rules, rule)
    excuses = _excuses(facts)
    known = sum(group.n for group in groups if group.known and excuses)
    flips = sum(group.n for group in groups if group.flips and rules.ignore_flips and not (group.known and excuses))
    counted = sum(group.n for group in groups) - known - flips
    notes = (
        (known, f"in the baseline {facts.baseline} too"),
        (flips, "changing between repeats, ignored"),
        (optional, "of optional rubrics, reported only"),
    )
    said = "; ".join(f"{number:,} more {note}" for number, note in notes if number)
    aside = f" ({said})" if said else ""
    if limit is None:
        return GateReason(rule, True, f"{noun} {counted:,}, no limit{aside}", QUALITY)
    holds = counted <= limit
    sign = "≤" if holds else ">"
    return GateReason(rule, holds, f"{noun} {counted:,} {sign} {limit:,} allowed{aside}", QUALITY)


def _excuses(facts: GateFacts) -> bool:
    """Whether the baseline's failures excuse this run's: not where only one of the two was simulated."""
    return facts.baseline is not None and facts.baseline_simulated == facts.simulated


def _completeness(rules: GateRules, facts: GateFacts) -> Iterator[GateReason]:
    judge = "simulated judge, " + ("allowed" if rules.allow_simulated else "none allowed")
    holds = rules.allow_simulated or not facts.simulated
    yield GateReason("allow_simulated", holds, judge if facts.simulated else "no simulated judge", INCOMPLETE)
    if facts.baseline is not None and not _excuses(facts):
        which = "the baseline" if facts.baseline_simulated else "this run"
        text = f"baseline {facts.baseline}: only {which} was judged by a simulation, so it excuses no failure"
        yield GateReason("baseline", False, text, INCOMPLETE)
    if facts.cases and facts.evaluated == 0:
        rule = "allow_errors" if facts.any_errors else "allow_skipped_required"
        text = "nothing was evaluated: no check passed, failed or is for review, and no case was scored"
        yield GateReason(rule, getattr(rules, rule), text, INCOMPLETE)
    empty = f"cases {facts.cases:,}, " + ("none needed" if rules.allow_empty_dataset else "at least 1 required")
    holds = facts.cases > 0 or rules.allow_empty_dataset
    yield GateReason("allow_empty_dataset", holds, empty, INCOMPLETE)
    yield _allowed("allow_errors", rules.allow_errors, facts.errors + facts.score_errors, "errors")
    yield _allowed("allow_errors", rules.allow_errors, facts.unevaluated, "cases not evaluated")
    skipped = facts.skipped_everywhere
    named = f" ({', '.join(skipped)})" if skipped else ""
    noun = "required rubrics skipped for every case"
    yield _allowed("allow_skipped_required", rules.allow_skipped_required, len(skipped), noun, named)
    yield _rate("max_review_rate", rules.max_review_rate, facts.reviews, facts.applicable, "review rate")
    yield _rate(
        "min_decided_coverage",
        rules.min_decided_coverage,
        facts.decided,
        facts.applicable,
        "decided coverage",
    )


def _allowed(rule: str, allowed: bool, number: int, noun: str, aside: str = "") -> GateReason:
    text = f"{noun} {number:,}{aside}, " + ("allowed" if allowed else "none allowed")
    return GateReason(rule, allowed or not number, text, INCOMPLETE)


def _rate(rule: str, limit: float | None, part: int, whole: int, noun: str) -> GateReason:
    """A share held against its most or its least; where there is nothing to take a share of, it holds."""
    least = rule.startswith("min_")
    word = "required" if least else "allowed"
    if not whole:
        return GateReason(rule, True, f"{noun} of no applicable checks", INCOMPLETE)
    share = f"{noun} {part / whole:.1%} ({part:,} of {whole:,})"
    if limit is None:
        return GateReason(rule, True, f"{share}, no limit", INCOMPLETE)
    holds = part / whole >= limit if least else part / whole <= limit
    sign = ("≥" if holds else "<") if least else ("≤" if holds else ">")
    return GateReason(rule, holds, f"{share} {sign} {100 * limit:.4g}% {word}", INCOMPLETE)
