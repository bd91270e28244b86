"""Where the terms of one claim stand in the references, and whether what stands there conflicts with it."""

import heapq
from collections.abc import Sequence
from typing import NamedTuple

from jeval.judges.references import Key, References

__all__ = ["Matches", "Term"]

_LIKELY = 8


class Term(NamedTuple):
    """A content word or value of a claim.

    `keys` are what it is found under, `denials` the words that deny it. `sort` is "" for a word, else what
    sort of number or value it is. `new` says that the question did not bring it, `hard` that it is a name or
    a number, for which no synonym can stand.
    """

    keys: tuple[Key, ...]
    denials: tuple[Key, ...]
    weight: float
    sort: str
    new: bool
    hard: bool
    negated: bool


class Met(NamedTuple):
    """How a term stands in a sentence: whether the clause there is as negated as the claim's (None where that
    says nothing), and whether what stands there is the term's opposite."""

    alike: bool | None
    denied: bool


class Matches:
    """The terms of a claim, found sentence by sentence."""

    def __init__(self, terms: Sequence[Term], references: References) -> None:
        self._terms = terms
        self._references = references
        self._total = sum(term.weight for term in terms)
        self._claimed = {key for term in terms for key in term.keys}
        self._at = [self._find(term) for term in terms]
        self._scores = self._scored(numbers=True)

    def _find(self, term: Term) -> dict[int, Met]:
        here: dict[int, Met] = {}
        for keys, denied in ((term.denials, True), (term.keys, False)):
            for key in keys:
                for place in self._references.places(key):
                    known = not term.sort and place.negated is not None
                    alike = place.negated == term.negated if known else None
                    before = here.get(place.sentence)
                    # The term itself counts before its opposite, and a like clause before an unlike one.
                    if before is None or before.denied or (alike and not before.alike):
                        here[place.sentence] = Met(alike, denied)
        return here

    def _scored(self, *, numbers: bool) -> dict[int, float]:
        scores: dict[int, float] = {}
        for term, here in zip(self._terms, self._at, strict=True):
            if numbers or not term.sort:
                for sentence in here:
                    scores[sentence] = scores.get(sentence, 0.0) + term.weight
        return scores

    def known(self) -> list[tuple[Term, bool]]:
        """Each term and whether it stands anywhere."""
        return [(term, bool(here)) for term, here in zip(self._terms, self._at, strict=True)]

    def focus(self) -> float:
        """The share of the terms, by weight, in the sentence that holds most of them."""
        return max(self._scores.values(), default=0.0) / self._total

    def conflict(self) -> float | None:
        """The probability of a contradiction, or None where some sentence that matches about best has
        none."""
        # Numbers are what may differ, so the words say which sentences are about the same thing.
        topic = self._scored(numbers=False) or self._scores
        best = max(topic.values(), default=0.0)
        near = (sentence for sentence, score in topic.items() if score >= 0.8 * best)
        found = [
            max(self._polarity(sentence), self._number(sentence))
            for sentence in heapq.nlargest(_LIKELY, near, key=topic.__getitem__)
        ]
        return min(found) if found and min(found) > 0 else None

    def _polarity(self, sentence: int) -> float:
        """0, or how probably the sentence says the opposite."""
        met = [(term, here[sentence]) for term, here in zip(self._terms, self._at, strict=True) if sentence in here]
        turned = sum(one.denied for _, one in met) % 2 == 1  # "unsuitable" against "not suitable" agrees
        if not turned and any(one.alike and term.negated for term, one in met):
            return 0.0  # both deny it
        share = self._scores[sentence] / self._total
        agreed = sum(term.weight for term, one in met if one.alike is (not turned))
        opposed = sum(term.weight for term, one in met if one.alike is turned)
        if share < 0.6 or opposed <= agreed or len(met) < min(2, len(self._terms)):
            return 0.0
        return 0.5 + 0.4 * share

    def _number(self, sentence: int) -> float:
        """0, or how probably another number stands where the claim's should."""
        pairs = list(zip(self._terms, self._at, strict=True))
        # The user's own words, known nowhere, say nothing about which sentence is meant.
        total = sum(term.weight for term, here in pairs if not term.sort and (here or term.new))
        met = sum(term.weight for term, here in pairs if not term.sort and sentence in here)
        share = met / total if total else 0.0
        # A number that stands elsewhere in the references needs a closer match of the words.
        sorts = {
            term.sort for term, here in pairs if term.sort and sentence not in here and share >= (0.75 if here else 0.5)
        }
        rival = any(self._references.rivals(sentence, sort, self._claimed) for sort in sorts)
        return 0.5 + 0.4 * share if rival else 0.0
