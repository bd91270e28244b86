"""Reference material, read once and searched by content words and values."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from typing import NamedTuple

from jeval.judges.terms import Word, content, words
from jeval.sentences import split_sentences
from jeval.values import find_values
from jeval.values.numbers import blank
from jeval.values.value import KINDS, Reading, offered

__all__ = ["Key", "Place", "References", "is_number", "phrase", "shape"]

# A stem, or a value's reading.
Key = str | Reading

# A sentence that begins so is about what the one before it is about.
_PRONOUNS = frozenset("it its they their these this he his she her".split())
_SUBJECT = 2
# Passages put together without a space: "… in three acts.The overture …"
_GLUED = re.compile(r"(?<=[a-z\d)\]\"”])\.(?=[\"“(]?[A-Z])")


class Place(NamedTuple):
    """Where a key stands: the number of a sentence, and whether its clause there is negated; None where that
    cannot be said, as for a title's words and for values."""

    sentence: int
    negated: bool | None


def phrase(text: str) -> str:
    """The words of a text, folded, each with one space before and after."""
    return f" {' '.join(one.folded for one in words(text))} "


def is_number(one: Word) -> bool:
    """Whether a word is a number, in digits or spelt, or a code with a digit in it."""
    return one.digit or one.stem[0].isdecimal()


def shape(key: str) -> str:
    """What sort of number a stem with a digit is: only numbers of one sort can conflict."""
    if not key.replace(".", "").replace(":", "").isdecimal():
        return "code"
    return "year" if len(key) == 4 and key[:2] in ("17", "18", "19", "20", "21") else "number"


class References:
    """The sentences of some passages, with an index from stems and values to where they stand.

    `passages` is (title, content) pairs; a title counts as part of every sentence below it, and the first
    words of a sentence as part of those after it that begin with "It" and the like. Values are read when
    first asked for.
    """

    def __init__(self, passages: Iterable[tuple[str, str]]) -> None:
        self._sentences: list[str] = []
        self._passages: list[str] = []
        self._phrases: dict[int, str] = {}
        self._index: dict[Key, list[Place]] = defaultdict(list)
        self._valued = False
        self._numbers: dict[int, dict[str, list[Set[Key]]]] = {}
        for title, text in passages:
            self._passages.append(text)
            named = [one for one, _ in content(title)]
            subject: Sequence[Word] = ()
            # What is said twice holds no more.
            for sentence in dict.fromkeys(split_sentences(_GLUED.sub(". ", text), limit=100_000)):
                found = content(sentence)
                first = next(iter(words(sentence[:40])), None)
                if first is None or first.folded not in _PRONOUNS:
                    subject = [one for one, _ in found[:_SUBJECT]]
                self._add(sentence, found, (*named, *subject))

    def _add(self, sentence: str, found: Sequence[tuple[Word, bool]], named: Sequence[Word]) -> None:
        at = len(self._sentences)
        self._sentences.append(sentence)
        for stem, negated in {(one.stem, negated) for one, negated in found}:
            self._index[stem].append(Place(at, negated))
        for stem in {one.stem for one in named} - {one.stem for one, _ in found}:
            self._index[stem].append(Place(at, None))

    def places(self, key: Key) -> Sequence[Place]:
        """Where a stem or a reading stands."""
        if not isinstance(key, str) and not self._valued:
            self._read_values()
        return self._index.get(key, ())

    def rivals(self, sentence: int, sort: str, claimed: Set[Key]) -> bool:
        """Whether a sentence holds a number or a value of this sort that is not among those claimed."""
        return any(claimed.isdisjoint(keys) for keys in self._sorts(sentence).get(sort, ()))

    def _sorts(self, sentence: int) -> dict[str, list[Set[Key]]]:
        """The numbers and values in a sentence by sort, each as the keys it is found under."""
        sorts = self._numbers.get(sentence)
        if sorts is None:
            text = self._sentences[sentence]
            sorts = self._numbers[sentence] = {}
            values = find_values(text)
            different = {value.readings: value.kind for value in values}
            for readings, kind in different.items():
                sorts.setdefault(kind, []).append(offered(readings))
            plain = blank(text, [(value.start, value.start + len(value.written)) for value in values])
            for stem in dict.fromkeys(one.stem for one in words(plain) if is_number(one)):
                sorts.setdefault(shape(stem), []).append({stem})
        return sorts

    def _read_values(self) -> None:
        self._valued = True
        for at in range(len(self._sentences)):
            for sort, found in self._sorts(at).items():
                if sort in KINDS:
                    for key in set().union(*found):
                        self._index[key].append(Place(at, None))

    def _phrase(self, passage: int) -> str:
        found = self._phrases.get(passage)
        if found is None:
            found = self._phrases[passage] = phrase(self._passages[passage])
        return found

    def verbatim(self, text: str) -> bool:
        """Whether the words of `text` occur in this order, side by side, in some passage."""
        wanted = phrase(text)
        return len(wanted) > 2 and any(wanted in self._phrase(at) for at in range(len(self._passages)))

    def equals_passage(self, text: str) -> bool:
        """Whether some passage is this text, word for word."""
        # Most passages are far longer than any answer; those need no reading.
        near = (at for at, passage in enumerate(self._passages) if len(passage) <= 2 * len(text) + 20)
        wanted = phrase(text)
        return any(self._phrase(at) == wanted for at in near)
