"""How far a judge can be trusted: a run's checks held against labels, rubric by rubric."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from jeval.calibration import Calibration, calibration
from jeval.comparability import RunFacts
from jeval.confusion import LABELS, MEASURES, Confusion
from jeval.counted import counted
from jeval.label import SOURCES, CheckKey, Settled
from jeval.labelled import LabelledCheck
from jeval.rubric import Rubric
from jeval.ruling import STATUSES
from jeval.trust import trust

__all__ = ["Benchmark", "Caution", "LabelFacts", "RubricBenchmark", "benchmark", "cautions_of", "sources_of"]

# With fewer labels than these, of pass or of fail, no interval is narrow enough to say much.
_FEW = 10

_SEVERITIES = ("critical", "major", "minor")


class Caution(NamedTuple):
    """Something to know before believing the figures: a stable word for what it is about, and a line."""

    field: str
    message: str


@dataclass(frozen=True, slots=True)
class RubricBenchmark:
    """One rubric, or all together (`rubric` None). `checks` counts the run's checks, labelled or not; `stray` labels
    that no check of the run answers to; `disputed` checks whose labels disagree, which are left out."""

    rubric: Rubric | None
    checks: int
    confusion: Confusion
    calibration: Calibration | None
    stray: int = 0
    disputed: int = 0

    @property
    def unlabelled(self) -> int:
        """Checks without a label that counts."""
        return self.checks - self.confusion.n()

    def as_dict(self) -> dict[str, Any]:
        """As a machine reads it; unknown is None."""
        table = self.confusion
        f1, f1_interval = table.f1
        kappa, kappa_interval = table.agreement
        counts = {status: {label: table.counts.get((status, label), 0) for label in LABELS} for status in STATUSES}
        body: dict[str, Any] = {} if self.rubric is None else {
            "rubric_id": self.rubric.id,
            "rubric_version": self.rubric.version,
            "severity": self.rubric.severity,
            "required": self.rubric.required,
            "trust": trust(table)._asdict(),
        }  # fmt: skip
        return {
            **body,
            "checks": self.checks,
            "labelled": table.n(),
            "unlabelled": self.unlabelled,
            "labels_without_check": self.stray,
            "disputed": self.disputed,
            "coverage": table.decided.as_dict(),
            **{name: table.share(name).as_dict() for name in MEASURES},
            "caught": table.caught.as_dict(),
            "f1": {"value": f1, "interval_95": f1_interval},
            "kappa": {"value": kappa, "interval_95": kappa_interval},
            "confusion": counts,
            "calibration": self.calibration.as_dict() if self.calibration else None,
        }


@dataclass(frozen=True, slots=True)
class LabelFacts:
    """The labels a run is held against.

    `where_from` is a file or the store; `settled` what they come to by check, for the checks of the run that are
    looked at; `stray` how many are of no check of the run, by rubric id; `sha256` their hash.
    """

    where_from: str
    sha256: str
    settled: Mapping[CheckKey, Settled]
    stray: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A run held against labels. `disagreements` come worst first."""

    run: RunFacts
    labels: LabelFacts
    overall: RubricBenchmark
    rubrics: tuple[RubricBenchmark, ...]
    disagreements: tuple[LabelledCheck, ...]
    cautions: tuple[Caution, ...]
    by_source: Mapping[str, int]

    def as_dict(self, limit: int | None = None) -> dict[str, Any]:
        """As a machine reads it, with at most `limit` disagreements."""
        run = self.run
        return {
            "run_id": run.id,
            "name": run.name,
            "dataset": run.dataset,
            "thresholds": {"name": run.thresholds, "pass": run.threshold_pass, "fail": run.threshold_fail},
            "models": list(run.models_served) or [run.model_asked],
            "simulated": run.simulated,
            "labels": {"from": self.labels.where_from, "sha256": self.labels.sha256, "by_source": dict(self.by_source)},
            "warnings": [caution._asdict() for caution in self.cautions],
            "overall": self.overall.as_dict(),
            "rubrics": [one.as_dict() for one in self.rubrics],
            "labels_without_check": dict(self.labels.stray),
            "disagreements_total": len(self.disagreements),
            "disagreements": [_disagreement(check) for check in self.disagreements[:limit]],
        }


def benchmark(
    run: RunFacts,
    rubrics: Sequence[Rubric],
    checks: Sequence[LabelledCheck],
    totals: Mapping[str, int],
    labels: LabelFacts,
    *,
    tuned: str | None = None,
) -> Benchmark:
    """Hold labelled checks against their labels.

    `totals` counts all checks that are looked at, by rubric id; `tuned` is a line on the thresholds having been tuned
    on these very cases, where they were.
    """
    disputed = Counter(rubric_id for (_, rubric_id), settled in labels.settled.items() if settled.label is None)
    by_rubric: dict[str, list[LabelledCheck]] = {rubric.id: [] for rubric in rubrics}
    for check in checks:
        by_rubric[check.rubric.id].append(check)
    lines = tuple(
        _benchmarked(rubric, by_rubric[rubric.id], totals.get(rubric.id, 0), labels.stray.get(rubric.id, 0),
                     disputed[rubric.id])
        for rubric in rubrics
    )  # fmt: skip
    overall = _benchmarked(None, checks, sum(totals.values()), sum(labels.stray.values()), disputed.total())
    by_source = sources_of(checks)
    cautions = tuple(_cautions(run, lines, overall, tuned, by_source))
    return Benchmark(run, labels, overall, lines, tuple(_worst_first(checks)), cautions, by_source)


def _benchmarked(
    rubric: Rubric | None, checks: Sequence[LabelledCheck], total: int, stray: int, disputed: int
) -> RubricBenchmark:
    pairs = [(p, check.expected == "fail") for check in checks if (p := check.p_fail) is not None]
    confusion = Confusion.of((check.status, check.expected) for check in checks)
    return RubricBenchmark(rubric, total, confusion, calibration(pairs), stray, disputed)


def _cautions(
    run: RunFacts,
    lines: Sequence[RubricBenchmark],
    overall: RubricBenchmark,
    tuned: str | None,
    by_source: Mapping[str, int],
) -> Iterator[Caution]:
    """What there is to say against believing the figures, the gravest first."""
    if tuned:
        yield Caution("tuned", tuned)
    yield from cautions_of(run, by_source)
    silent = overall.confusion.n(("skipped",), ("fail",))
    if silent:
        were = "was" if silent == 1 else "were"
        yield Caution("skipped", f"{counted(silent, 'check')} labelled fail {were} skipped: nobody would look there")
    errors = overall.confusion.n(("error",))
    if errors:
        yield Caution(
            "errors", f"{counted(errors, 'labelled check')} brought no usable answer; run again to ask for it"
        )
    if overall.disputed:
        yield Caution("disputed", f"{counted(overall.disputed, 'check')} left out: those who labelled them disagree")
    yield from _about_labels(lines)


def cautions_of(run: RunFacts, by_source: Mapping[str, int]) -> Iterator[Caution]:
    """What a run and the sources of labels give to think about, whatever the labels say."""
    if run.simulated:
        yield Caution("simulated", "a simulated judge decided: this says nothing about a real one")
    if run.status == "running":
        yield Caution("status", "the run has not ended; what it has evaluated so far is held against labels")
    if len(run.models_served) > 1:
        yield Caution("model", f"several model versions answered: {', '.join(run.models_served)}")
    made_up, total = by_source.get("synthetic", 0), sum(by_source.values())
    if made_up:
        every = "every label is" if made_up == total else f"{made_up:,} of {counted(total, 'label')} are"
        yield Caution("synthetic", f"{every} synthetic, made up with the case; label some yourself: jeval serve")


def sources_of(checks: Iterable[LabelledCheck]) -> dict[str, int]:
    """How many labels are from where, the best source first."""
    found: Counter[str] = Counter(check.label.source for check in checks)
    return {source: found[source] for source in SOURCES if found[source]}


def _about_labels(lines: Iterable[RubricBenchmark]) -> Iterator[Caution]:
    """Rubrics whose labels are too few, or all alike."""
    few, alike = [], []
    for line in lines:
        if line.rubric is None or not line.confusion.n():
            continue
        passes, fails = (line.confusion.n(labels=(label,)) for label in ("pass", "fail"))
        values = {label for (_, label), n in line.confusion.counts.items() if n}
        if len(values) == 1:
            alike.append(f"{line.rubric.id} ({next(iter(values))})")
        elif min(passes, fails) < _FEW:
            few.append(line.rubric.id)
    if alike:
        yield Caution("one_value", f"all labels say the same, so they tell little: {', '.join(alike)}")
    if few:
        yield Caution("few", f"fewer than {_FEW} labels of pass or of fail, so intervals are wide: {', '.join(few)}")


def _rank(check: LabelledCheck) -> int | None:
    """How bad it is that a status is not the label, 0 the worst; None where that is no disagreement."""
    status, expected = check.status, check.expected
    if status == expected or status in ("review", "error"):
        return None
    if expected == "fail":
        return 0 if status == "pass" else 1
    if status == "skipped":
        return 4
    return 2 if expected == "pass" else 3


def _worst_first(checks: Iterable[LabelledCheck]) -> list[LabelledCheck]:
    """The checks that disagree with their labels: false passes, fails that were skipped, false fails, what was
    decided though it should not be, what was skipped; among them critical ones, then those the judge was sure of."""
    ranked = [(rank, check) for check in checks if (rank := _rank(check)) is not None]
    ranked.sort(key=lambda pair: (pair[0], _SEVERITIES.index(pair[1].rubric.severity), -_sure(pair[1])))
    return [check for _, check in ranked]


def _sure(check: LabelledCheck) -> float:
    """The probability of the leading option, of the least sure question where there are several."""
    return min((max(answer.probabilities.values()) for answer in check.answers.values()), default=1.0)


def _disagreement(check: LabelledCheck) -> dict[str, Any]:
    label = check.label
    return {
        "case_id": check.case_id,
        "rubric_id": check.rubric.id,
        "rubric_version": check.rubric.version,
        "severity": check.rubric.severity,
        "expected": label.expected,
        "status": check.status,
        "probabilities": check.probabilities,
        "reason": check.reason,
        "source": label.source,
        "reviewer": label.reviewer,
        "note": label.note,
    }
