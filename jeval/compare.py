"""What changed between two runs: which checks, whether the runs may be compared at all, and how sure it is.

A failure is new where the check fails and both runs evaluated it: before, it passed or was for review. It is resolved
where the check passes: a review decides nothing, so what failed and is now for review is newly for review. What was
skipped or an error on one side says nothing about the answers, so it is listed among other changes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from jeval.comparability import Issue, Overlap, RunFacts, find_issues
from jeval.score_change import ScoreChange
from jeval.significance import Pairs, paired_change

__all__ = [
    "CATEGORIES",
    "Alignment",
    "Change",
    "Comparison",
    "category",
    "compare",
]

Category = Literal["new_failures", "resolved_failures", "new_reviews", "new_errors", "other_changes"]
CATEGORIES: tuple[Category, ...] = (
    "new_failures",
    "resolved_failures",
    "new_reviews",
    "new_errors",
    "other_changes",
)


class Change(NamedTuple):
    """A check whose status differs between the runs. `flips` says that it changes by chance, too, when one
    run asks its judge several times."""

    case_id: str
    rubric_id: str
    rubric_version: str
    before: str
    after: str
    severity: str = "major"
    required: bool = True
    reason_before: str = ""
    reason_after: str = ""
    flips: bool = False

    @property
    def undecided_failure(self) -> bool:
        """Whether it failed before and is for review: neither new nor resolved."""
        return self.before == "fail" and self.after == "review"

    def as_dict(self) -> dict[str, Any]:
        """As a machine reads it."""
        return {
            "case_id": self.case_id,
            "rubric_id": self.rubric_id,
            "rubric_version": self.rubric_version,
            "before": self.before,
            "after": self.after,
        }


@dataclass(frozen=True, slots=True)
class Alignment:
    """Two runs side by side, case by id and rubric by content.

    `checks` counts checks that both runs decided; `cases` counts cases, of which one fails when any required
    check fails that both runs decided. `scores` says what became of each metric's mean.
    """

    overlap: Overlap
    changes: tuple[Change, ...]
    checks: Pairs
    cases: Pairs
    scores: tuple[ScoreChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """The whole of it. Each changed check is in exactly one of the lists."""

    baseline: RunFacts
    candidate: RunFacts
    issues: tuple[Issue, ...]
    unchanged: int
    changes: Mapping[Category, Sequence[Change]]
    alignment: Alignment

    @property
    def comparable(self) -> bool:
        """Whether no issue forbids it."""
        return not any(issue.severity == "error" for issue in self.issues)

    @property
    def gating_failures(self) -> int:
        """New failures of required rubrics; optional ones are reported only."""
        return sum(change.required for change in self.changes["new_failures"])

    def exit_code(self, *, fail_on_new: bool) -> int:
        """2 where the runs are not comparable, 1 for new failures if they are to count, else 0."""
        if not self.comparable:
            return 2
        return 1 if fail_on_new and self.gating_failures else 0

    def significance(self) -> dict[str, Any]:
        """The statistics by checks, by cases and by metric."""
        return {
            "checks": paired_change(self.alignment.checks).as_dict(),
            "cases": paired_change(self.alignment.cases).as_dict(),
            "scores": {change.metric_id: change.as_dict() for change in self.alignment.scores},
            "text": [f"{name}: {'; '.join(lines)}" for name, lines in self.significance_text()],
        }

    def significance_text(self) -> list[tuple[str, list[str]]]:
        """The statistics in words: what each is of, and its lines."""
        found = []
        if self.alignment.overlap.checks:
            checks, cases = paired_change(self.alignment.checks), paired_change(self.alignment.cases)
            note = "as if checks were independent; those of one case are not"
            found.append((f"by check ({note})", checks.lines("checks")))
            found.append(("by case (which fails if any required check does)", cases.lines("cases")))
        if self.alignment.scores:
            simulated = self.baseline.simulated or self.candidate.simulated
            note = " (simulated: such scores say nothing about the answers)" if simulated else ""
            found.append((f"metrics{note}", [change.words() for change in self.alignment.scores]))
        return found

    def as_dict(self) -> dict[str, Any]:
        """As a machine reads it."""
        return {
            "baseline": self.baseline.id,
            "candidate": self.candidate.id,
            "comparable": self.comparable,
            "issues": [issue._asdict() for issue in self.issues],
            "unchanged": self.unchanged,
            **{name: [change.as_dict() for change in self.changes[name]] for name in CATEGORIES},
            "significance": self.significance(),
        }


def category(before: str, after: str) -> Category:
    """Which list a change from one status to another belongs to."""
    if "skipped" in (before, after):
        return "other_changes"
    if after == "error":
        return "new_errors"
    if after == "fail" and before in ("pass", "review"):
        return "new_failures"
    if before == "fail" and after == "pass":
        return "resolved_failures"
    return "new_reviews" if after == "review" else "other_changes"


def compare(baseline: RunFacts, candidate: RunFacts, alignment: Alignment) -> Comparison:
    """Put the changes in their lists and say what stands in the way of comparing."""
    changes: dict[Category, list[Change]] = {name: [] for name in CATEGORIES}
    for change in alignment.changes:
        changes[category(change.before, change.after)].append(change)
    overlap = alignment.overlap
    issues = tuple(find_issues(baseline, candidate, overlap))
    unchanged = overlap.checks - len(alignment.changes)
    return Comparison(baseline, candidate, issues, unchanged, changes, alignment)
