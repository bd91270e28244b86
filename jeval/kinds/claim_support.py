"""claim-support: do the references state or entail what the response claims?

Asked of the whole response, of one claim (`params.claim`) or of every sentence (`params.granularity:
sentence`), each sentence its own question in the same request.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from jeval.case import Case
from jeval.counted import counted
from jeval.kinds.base import Asked, RubricKind, instruct
from jeval.kinds.three_outcomes import ThreeOutcomes
from jeval.question import Answer, Question, choice
from jeval.rubric import Rubric, Thresholds
from jeval.ruling import Verdict, three_way
from jeval.sentences import split_sentences

__all__ = ["ClaimSupport", "SentenceSupport", "claim_support"]

NAMES = ("supported", "contradicted", "not_covered")
_MEANINGS = (
    "Every factual claim in question is stated by reference_material or follows from it.",
    "At least one factual claim in question conflicts with reference_material.",
    "No claim conflicts, but at least one is neither stated by reference_material nor follows from it.",
)
_SENTENCE_MEANINGS = (
    "What the sentence claims is stated by reference_material or follows from it, or it claims no fact.",
    "The sentence claims something that conflicts with reference_material.",
    "The sentence claims a fact that reference_material neither states nor contradicts.",
)


def _options(rubric: Rubric, meanings: tuple[str, str, str]) -> dict[str, str | None]:
    own = rubric.outcomes
    texts = (own.acceptable, own.unacceptable, own.insufficient)
    return {name: text or default for name, text, default in zip(NAMES, texts, meanings, strict=True)}


class ClaimSupport(ThreeOutcomes):
    """Asks one choice about the response or one claim: supported, contradicted or not_covered."""

    names = NAMES

    def __init__(self, rubric: Rubric) -> None:
        super().__init__(rubric)
        self.fail_on_third = rubric.params.uncovered_is == "fail"

    def question(self, reader: int) -> Question:
        claim = self.rubric.params.claim
        if claim is None:
            wordings = (
                "Judge the factual claims of assistant_response against reference_material alone.",
                "Take reference_material as all that is known. Is everything that assistant_response says so?",
            )
        else:
            wordings = (
                f'Judge this one claim against reference_material alone: "{claim}"',
                f'Take reference_material as all that is known. Is it so that: "{claim}"?',
            )
        text = instruct(wordings[reader], self.rubric.criterion)
        return choice(text, _options(self.rubric, _MEANINGS), about=claim)


class SentenceSupport(RubricKind):
    """Asks the same choice of every sentence; any fail fails, any undecided one is for review."""

    def __init__(self, rubric: Rubric) -> None:
        super().__init__(rubric)
        self._options = _options(rubric, _SENTENCE_MEANINGS)
        self._head = "Judge one sentence of assistant_response against reference_material alone."
        # The same sentence stands in many responses of one assistant.
        self._question = lru_cache(maxsize=4096)(self._worded)

    def _worded(self, sentence: str) -> Question:
        text = instruct(self._head, self.rubric.criterion, f'The sentence: "{sentence}"')
        return choice(text, self._options, about=sentence)

    def plan(self, case: Case) -> Asked | Verdict:
        sentences = split_sentences(case.output)
        if not sentences:
            return Verdict("review", None, "nothing-to-judge", "the response holds no sentence to judge")
        parts = tuple((f"s{i}", self._question(sentence)) for i, sentence in enumerate(sentences, 1))
        evidence = {"sentences": {f"s{i}": sentence for i, sentence in enumerate(sentences, 1)}}
        return Asked(parts, None, evidence)

    def decide(self, facts: Any, answers: Mapping[str, Answer], thresholds: Thresholds) -> Verdict:
        fail_on_third = self.rubric.params.uncovered_is == "fail"
        verdicts = {
            part: three_way(answer.probabilities, thresholds, NAMES, fail_on_third=fail_on_third)
            for part, answer in answers.items()
        }
        for status, rule, verb in (
            ("fail", "sentence-fails", ("fails", "fail")),
            ("review", "sentence-undecided", ("is undecided", "are undecided")),
        ):
            hits = {part: verdict for part, verdict in verdicts.items() if verdict.status == status}
            if hits:
                part, first = next(iter(hits.items()))
                count = f"{len(hits)} of {counted(len(verdicts), 'sentence')} {verb[len(hits) > 1]}"
                return Verdict(status, first.outcome, rule, f"{count}; {part}: {first.reason}")  # type: ignore[arg-type]
        part = min(answers, key=lambda name: answers[name].probabilities["supported"])
        subject = (
            f"all {len(verdicts)} sentences pass; the least sure" if len(verdicts) > 1 else "the one sentence passes"
        )
        reason = f"{subject}, {part}: {verdicts[part].reason}"
        return Verdict("pass", "supported", "all-sentences-pass", reason)


def claim_support(rubric: Rubric) -> RubricKind:
    """The reader that the rubric's granularity asks for."""
    return SentenceSupport(rubric) if rubric.params.granularity == "sentence" else ClaimSupport(rubric)
