"""A stored check beside its label, ready to be decided again: by other thresholds, or by a judge who were certain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jeval.case import Case
from jeval.kinds import Asked, RubricKind
from jeval.label import CheckLabel
from jeval.question import Answer
from jeval.rubric import Rubric, Thresholds
from jeval.ruling import Status, average

__all__ = ["LabelledCheck", "labelled_check"]

# A certain judge reaches any thresholds; these are as good as any.
_ANY = Thresholds()
_READERS = {"reader1", "reader2"}


@dataclass(frozen=True, slots=True)
class LabelledCheck:
    """One check of a run and what it should have come to.

    `probabilities` are as stored: {option: p} of one question, {part: {option: p}} of several, None where nothing
    was asked. `answers` are the same by part, empty where no threshold can change the status: the check was settled
    by code, or there was no usable answer. `facts` is what deciding needs of the case.
    """

    rubric: Rubric
    label: CheckLabel
    status: Status
    reason: str
    probabilities: Mapping[str, Any] | None
    kind: RubricKind
    facts: Any
    answers: Mapping[str, Answer]

    @property
    def case_id(self) -> str:
        """The case."""
        return self.label.case_id

    @property
    def expected(self) -> str:
        """What the label says."""
        return self.label.expected

    def status_at(self, thresholds: Thresholds) -> Status:
        """The status by these thresholds, the rubric's own left out of account. Only where there are answers."""
        return self.kind.decide(self.facts, self.answers, thresholds).status

    @property
    def p_fail(self) -> float | None:
        """The probability, 0 to 1, that the judge gave to what makes this check fail.

        It is the sum of the probabilities of those options that, were the judge certain of them, would fail the
        check: p(unacceptable), or p(claims_completed) where the tool failed. None for a check of several questions,
        whose probabilities cannot be added up, and where nothing was asked. Of two readers it is the mean.
        """
        if len(self.answers) == 1:
            ((_, answer),) = self.answers.items()
            p: Mapping[str, float] = answer.probabilities
        elif set(self.answers) == _READERS:
            p = average(self.answers["reader1"].probabilities, self.answers["reader2"].probabilities)
        else:
            return None
        total = sum(share for option, share in p.items() if self._if_certain(option, p) == "fail")
        return min(1.0, total)

    def _if_certain(self, option: str, p: Mapping[str, float]) -> Status:
        """What the check would be, were this option certain."""
        certain = Answer({name: float(name == option) for name in p})
        return self.kind.decide(self.facts, dict.fromkeys(self.answers, certain), _ANY).status


def labelled_check(
    kind: RubricKind,
    case: Case,
    label: CheckLabel,
    status: Status,
    reason: str,
    probabilities: Mapping[str, Any] | None,
) -> LabelledCheck:
    """A stored check with its label; `case` is the case as it was judged."""
    facts: Any = None
    answers: dict[str, Answer] = {}
    if probabilities and status != "error":
        asked = kind.plan(case)
        parts = probabilities if isinstance(next(iter(probabilities.values())), Mapping) else {"": probabilities}
        # Where this version would ask something else than was asked, its rules do not fit the answers.
        if isinstance(asked, Asked) and {name for name, _ in asked.parts} == set(parts):
            facts, answers = asked.facts, {name: Answer(p) for name, p in parts.items()}
    return LabelledCheck(kind.rubric, label, status, reason, probabilities, kind, facts, answers)
