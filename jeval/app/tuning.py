"""Tuning a run's thresholds on labels: what is asked for, which checks it rests on, and what came of it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from jeval.app.labelled_run import LabelledRun
from jeval.app.profile_file import TunedOn
from jeval.benchmark import Caution, cautions_of, sources_of
from jeval.confusion import MEASURES
from jeval.counted import counted
from jeval.errors import ConfigError
from jeval.labelled import LabelledCheck
from jeval.problems import nearest
from jeval.rubric import Thresholds
from jeval.shift import Shift, rules_of, shift
from jeval.target import Target
from jeval.tune import Search, search

__all__ = ["Tuning", "targets_of", "tune"]


def targets_of(given: Iterable[str]) -> list[Target]:
    """The targets in texts like `precision=0.9`. Raises ConfigError."""
    found: dict[str, Target] = {}
    for text in given:
        name, equals, value = text.replace("-", "_").partition("=")
        if name not in MEASURES:
            close = nearest(name, MEASURES)
            meant = f"did you mean {close}?" if close else f"there are: {', '.join(MEASURES)}"
            raise ConfigError(f"--target {text}: {name or 'nothing'} is no measure; {meant}")
        if name in found:
            raise ConfigError(f"--target {text}: {name} has a target already; name each once")
        try:
            limit = float(value)
        except ValueError:
            limit = 0.0
        if not equals or not 0 < limit < 1:
            most = "most" if MEASURES[name].at_most else "least"
            raise ConfigError(
                f"--target {text}: the limit must lie between 0 and 1, both exclusive, as the {most} that is allowed; "
                f"write e.g. --target {name}={0.05 if MEASURES[name].at_most else 0.9}"
            )
        found[name] = Target(MEASURES[name], limit)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Tuning:
    """What came of it. `checks` are those that thresholds decide; `present` what decided them, over which a rubric's
    own stand if `own`; `shift` what the thresholds found would change."""

    read: LabelledRun
    checks: Sequence[LabelledCheck]
    present: Thresholds
    own: bool
    search: Search
    shift: Shift | None
    cautions: tuple[Caution, ...]

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds found, or the present ones where none were."""
        return self.present if self.search.tuned is None else self.search.tuned.thresholds

    @property
    def tuned_on(self) -> TunedOn:
        """What it rests on, as the profile's file says it."""
        cases = {check.case_id for check in self.checks}
        return TunedOn(len(cases), self.read.labels.sha256, self.read.where)

    def as_dict(self) -> dict[str, Any]:
        """As a machine reads it; `thresholds` is null where none meet the targets."""
        tuned, run = self.search.tuned, self.read.run
        how = [one.as_dict() for one in tuned.met] if tuned else None
        return {
            "run_id": run.id,
            "name": run.name,
            "simulated": run.simulated,
            "labels": {
                "from": self.read.labels.where_from,
                "sha256": self.read.labels.sha256,
                "checks": len(self.checks),
            },
            "where": dict(self.read.where),
            "targets": [str(target) for target in self.search.targets],
            "confidence": self.search.confidence,
            "pairs_tried": self.search.tried,
            "present": self.present.model_dump(by_alias=True),
            "thresholds": tuned.thresholds.model_dump(by_alias=True) if tuned else None,
            "met": how,
            "nearest": [
                {
                    "thresholds": near.thresholds.model_dump(by_alias=True),
                    "targets": [one.as_dict() for one in near.missed],
                }
                for near in self.search.nearest
            ],
            "change": self._change(),
            "warnings": [caution._asdict() for caution in self.cautions],
        }

    def _change(self) -> dict[str, Any] | None:
        if self.shift is None:
            return None
        return {
            **{
                name: {
                    "decided": table.decided.as_dict(),
                    **{measure: table.share(measure).as_dict() for measure in MEASURES},
                }
                for name, table in (("before", self.shift.before), ("after", self.shift.after))
            },
            "changes": [
                {"before": before, "after": after, "n": n} for (before, after), n in sorted(self.shift.changes.items())
            ],
        }


def tune(read: LabelledRun, targets: Sequence[Target], confidence: float, rubric_id: str | None) -> Tuning:
    """Look for thresholds on the checks read, for one rubric alone or as a profile for all.

    Raises ConfigError where the run's thresholds are not known. Where no check is left to tune on, nothing is found.
    """
    run, own = read.run, rubric_id is None
    if run.threshold_pass is None or run.threshold_fail is None:
        raise ConfigError(f"run {run.id}: its thresholds are not recorded, so they cannot be tuned; run it again")
    profile = Thresholds(pass_=run.threshold_pass, fail=run.threshold_fail)
    present = profile if own else read.rubrics[0].effective(profile)
    fixed = [rubric.id for rubric in read.rubrics if own and _is_fixed(rubric.thresholds)]
    asked = [check for check in read.checks if check.answers]
    checks = [check for check in asked if check.rubric.id not in fixed]
    found = search(checks, targets, present, confidence, own=own)
    shifted = None
    if found.tuned is not None:
        rubrics = {check.rubric.id: check.rubric for check in checks}.values()
        before, after = (rules_of(rubrics, one, own=own) for one in (present, found.tuned.thresholds))
        shifted = shift(checks, before, after)
    cautions = (
        *(() if shifted is None else _about_nothing_decided(shifted)),
        *cautions_of(run, sources_of(checks)),
        *_about(read, checks, fixed, found, shifted, len(read.checks) - len(asked)),
    )
    return Tuning(read, checks, present, own, found, shifted, cautions)


def _is_fixed(own: Any) -> bool:
    return own.pass_ is not None and own.fail is not None


def _about(
    read: LabelledRun,
    checks: Sequence[LabelledCheck],
    fixed: Sequence[str],
    found: Search,
    shifted: Shift | None,
    settled: int,
) -> Iterator[Caution]:
    """What there is to know about the search itself."""
    disputed = sum(one.label is None for one in read.labels.settled.values())
    if disputed:
        yield Caution("disputed", f"{counted(disputed, 'check')} left out: those who labelled them disagree")
    if settled:
        text = counted(settled, "labelled check is", "labelled checks are")
        yield Caution("settled", f"{text} left out, which no threshold decides: settled by code, or without an answer")
    if fixed:
        yield Caution("own", f"left out for having both thresholds of their own: {', '.join(fixed)}; see --rubric")
    names = dict.fromkeys(check.rubric.id for check in checks)
    if len(names) > 1:
        yield Caution(
            "pooled",
            f"the targets hold for {len(names)} rubrics together, not for each, and count checks of one case as "
            "independent; --rubric ID tunes one alone",
        )
    if not read.where:
        yield Caution("held_out", "no case was held out to confirm it on; tune on some of them: --where split=tuning")
    if shifted is not None:
        yield from _about_shift(shifted)
    if found.tuned is not None and found.tuned.thresholds.permissive:
        yield Caution(
            "permissive",
            "below 0.5 a check can be decided although the judge finds the evidence insufficient",
        )


def _about_nothing_decided(shifted: Shift) -> Iterator[Caution]:
    """Targets that are met by deciding next to nothing: a rate of mistakes is lowest where nothing is decided."""
    before, after = shifted.before, shifted.after
    for status, word, target in (("pass", "passes", "pass_precision"), ("fail", "fails", "precision")):
        if not after.n((status,)):
            yield Caution(
                f"nothing_{word}",
                f"by the thresholds found nothing would {status} any more (now {before.n((status,)):,} would): the "
                f"targets are met by leaving it for review; add --target {target}=0.9, which is not met where nothing "
                f"{word}",
            )
    if (after.decided.rate or 0.0) < (before.decided.rate or 0.0) / 2:
        shares = " to ".join(f"{table.decided.rate or 0.0:.0%}" for table in (before, after))
        yield Caution(
            "coverage",
            f"decided falls from {shares}: the rest is left for review; no target asks for coverage, so give a laxer "
            "limit or more labels, or keep the thresholds that there are",
        )


def _about_shift(shifted: Shift) -> Iterator[Caution]:
    """What the thresholds found would do that no target looks at."""
    before, after = (table.n(("skipped",), ("fail",)) for table in (shifted.before, shifted.after))
    if after > before:
        text = counted(after, "check labelled fail is", "checks labelled fail are")
        yield Caution("skipped", f"by these thresholds {text} skipped, where nobody would look (now {before:,})")
    if shifted.unlike:
        text = counted(shifted.unlike, "stored status is", "stored statuses are")
        yield Caution("unlike", f"{text} not what this version of jeval makes of the answers")
