"""The shape that policy-compliance, custom and claim-support share: one choice of three outcomes.

It may be asked twice in independent wording (`params.readers: 2`): the answers are averaged, and readers who
disagree make it a matter for review.
"""

from collections.abc import Mapping
from typing import Any

from jeval.case import Case
from jeval.kinds.base import Asked, RubricKind
from jeval.question import Answer, Question
from jeval.rubric import Rubric, Thresholds
from jeval.ruling import Verdict, average, number, three_way

__all__ = ["ThreeOutcomes"]


class ThreeOutcomes(RubricKind):
    """A choice among `names` (good, bad, insufficient); subclasses word the question."""

    names: tuple[str, str, str] = ("acceptable", "unacceptable", "insufficient_context")
    fail_on_third = False

    def __init__(self, rubric: Rubric) -> None:
        super().__init__(rubric)
        readers = rubric.params.readers or 1
        questions = [self.question(reader) for reader in range(readers)]
        names = [""] if readers == 1 else ["reader1", "reader2"]
        self._asked = Asked(tuple(zip(names, questions, strict=True)))

    def question(self, reader: int) -> Question:
        """The question as reader 0 or reader 1 is asked it."""
        raise NotImplementedError

    def plan(self, case: Case) -> Asked | Verdict:
        return self._asked

    def decide(self, facts: Any, answers: Mapping[str, Answer], thresholds: Thresholds) -> Verdict:
        if "" in answers:
            return self.rule(answers[""].probabilities, thresholds)
        return self._two_readers(answers, thresholds)

    def rule(self, p: Mapping[str, float], thresholds: Thresholds) -> Verdict:
        """The three-way rule under this kind's outcome names."""
        return three_way(p, thresholds, self.names, fail_on_third=self.fail_on_third)

    def _two_readers(self, answers: Mapping[str, Answer], thresholds: Thresholds) -> Verdict:
        first, second = answers["reader1"], answers["reader2"]
        verdict = self.rule(average(first.probabilities, second.probabilities), thresholds)
        if first.leader != second.leader:
            one = f"{first.leader} {number(first.probabilities[first.leader])}"
            two = f"{second.leader} {number(second.probabilities[second.leader])}"
            return Verdict("review", verdict.outcome, "readers-disagree", f"the readers disagree: {one} against {two}")
        return verdict._replace(reason=f"mean of two readers: {verdict.reason}")
