"""Whether two runs may be held against each other, and what to know before trusting what is found."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = ["Issue", "OneSided", "Overlap", "RunFacts", "Versioned", "find_issues"]

Severity = Literal["error", "warning"]


class Versioned(NamedTuple):
    """A rubric or a metric as a run used it; `failures` counts what failed by it in that run."""

    id: str
    version: str
    sha256: str
    failures: int = 0


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What of a run decides whether another may be held against it."""

    id: str
    name: str | None
    status: str
    dataset: str
    dataset_sha256: str | None
    thresholds: str | None
    threshold_pass: float | None
    threshold_fail: float | None
    gateway: str
    model_asked: str
    models_served: tuple[str, ...]
    simulated: bool
    checks: int
    rubrics: tuple[Versioned, ...] = ()
    metrics: tuple[Versioned, ...] = ()


class OneSided(NamedTuple):
    """Cases that only one of the runs evaluated: how many, the first few of them, and their failed checks."""

    cases: int = 0
    first: tuple[str, ...] = ()
    failures: int = 0


class Overlap(NamedTuple):
    """What two runs have in common, and what not."""

    checks: int
    """Checks of one case by one rubric that both runs hold."""
    cases: int
    other_content: int = 0
    """Cases in both runs whose content is not the same."""
    baseline_only: OneSided = OneSided()
    candidate_only: OneSided = OneSided()


class Issue(NamedTuple):
    """Something about the two runs to know before trusting what follows; an error makes them incomparable."""

    field: str
    severity: Severity
    message: str


def find_issues(baseline: RunFacts, candidate: RunFacts, overlap: Overlap) -> Iterator[Issue]:
    """All there is to say against comparing these runs, the judge first."""
    yield from _identity(baseline, candidate)
    yield from _contents(baseline, candidate, overlap)


def _identity(a: RunFacts, b: RunFacts) -> list[Issue]:
    """Who judged, by which thresholds, and whether both runs ended."""
    found = []
    if a.simulated != b.simulated:
        which, other = ("baseline", "candidate") if a.simulated else ("candidate", "baseline")
        message = f"the {which} was judged by a simulation and the {other} by a real judge"
        found.append(Issue("simulated", "error", message))
    for name, before, after in (
        ("gateway", a.gateway, b.gateway),
        ("model", a.model_asked, b.model_asked),
        ("thresholds", _profile(a), _profile(b)),
    ):
        if before != after:
            found.append(Issue(name, "warning", f"{name}: {before} against {after}"))
    if a.models_served != b.models_served:
        message = f"answered by {_models(a)} against {_models(b)}"
        found.append(Issue("model", "warning", message))
    for which, run in (("baseline", a), ("candidate", b)):
        if len(run.models_served) > 1:
            message = f"several model versions answered in the {which}: {_models(run)}"
            found.append(Issue("model", "warning", message))
        if run.status == "running":
            message = f"the {which} has not ended; what it has evaluated so far is compared"
            found.append(Issue("status", "warning", message))
    return found


def _profile(run: RunFacts) -> str:
    """The thresholds by their numbers: two names for the same numbers are the same profile."""
    if run.threshold_pass is None or run.threshold_fail is None:
        return "unknown"
    return f"pass {run.threshold_pass:g}, fail {run.threshold_fail:g}"


def _models(run: RunFacts) -> str:
    return ", ".join(run.models_served) or "an unknown model"


def _contents(a: RunFacts, b: RunFacts, overlap: Overlap) -> list[Issue]:
    """What was evaluated: rubrics, metrics, dataset and cases."""
    found = [*_versions("rubrics", a.rubrics, b.rubrics), *_versions("metrics", a.metrics, b.metrics)]
    if a.dataset_sha256 != b.dataset_sha256:
        before, after = (f"{run.dataset} ({(run.dataset_sha256 or 'unknown')[:8]})" for run in (a, b))
        message = f"dataset: {before} against {after}; cases are matched by id"
        found.append(Issue("dataset", "warning", message))
    if overlap.other_content:
        share = f"{overlap.other_content:,} of {_number(overlap.cases, 'case')} in both runs"
        message = f"{share} differ in content: a change there may be the case's own"
        found.append(Issue("cases", "warning", message))
    for which, side in (("baseline", overlap.baseline_only), ("candidate", overlap.candidate_only)):
        if side.cases:
            shown = ", ".join(side.first) + (", …" if side.cases > len(side.first) else "")
            count = _number(side.cases, "case")
            message = f"{count} only in the {which}, not compared ({_failed(side.failures)}): {shown}"
            found.append(Issue("cases", "warning", message))
    if a.id != b.id and (a.checks or b.checks) and not overlap.checks:
        message = "no check is in both runs: they share no case, or no rubric of the same version"
        found.append(Issue("cases", "error", message))
    return found


def _versions(kind: str, before: Sequence[Versioned], after: Sequence[Versioned]) -> list[Issue]:
    """Rubrics or metrics that only one run has, or that are not the same in both."""
    noun = kind[:-1]
    what = "checks" if kind == "rubrics" else "scores"
    # Only a rubric forbids comparing: checks gate, scores are shown beside them.
    severity: Severity = "error" if kind == "rubrics" else "warning"
    found = []
    others = {item.id: item for item in after}
    for item in before:
        other = others.get(item.id)
        if other is None:
            message = f"{noun} {item.id} {item.version} is only in the baseline ({_failed(item.failures)})"
            found.append(Issue(kind, "warning", message))
        elif item.version != other.version:
            versions = f"version {item.version} against {other.version}"
            message = f"{noun} {item.id} is {versions}; its {what} are not compared"
            found.append(Issue(kind, severity, message))
        elif item.sha256 != other.sha256:
            message = (
                f"{noun} {item.id} {item.version} has two contents under one version "
                f"({item.sha256[:8]} against {other.sha256[:8]}); its {what} are not compared"
            )
            found.append(Issue(kind, severity, message))
    known = {item.id for item in before}
    for item in after:
        if item.id not in known:
            message = f"{noun} {item.id} {item.version} is only in the candidate ({_failed(item.failures)})"
            found.append(Issue(kind, "warning", message))
    return found


def _failed(failures: int) -> str:
    return f"{failures:,} failed there" if failures else "none failed there"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
