"""English clauses and verb forms, as far as wording.py needs them."""

import re
from functools import lru_cache
from typing import NamedTuple

from jeval.judges.terms import fold
from jeval.sentences import split_sentences

__all__ = ["Clause", "bases", "clauses", "is_english", "is_past", "word_list"]

_IRREGULAR = dict(
    pair.split("/")
    for pair in """bought/buy brought/bring did/do done/do froze/freeze frozen/freeze gave/give given/give
    held/hold made/make paid/pay put/put rang/ring repaid/repay reset/reset rung/ring sent/send set/set
    spoke/speak spoken/speak taken/take told/tell took/take written/write wrote/write""".split()
)
_CONTRACTED = tuple(
    (re.compile(pattern), written_out)
    for pattern, written_out in (
        (r"\bcan['’]?t\b|\bcannot\b", "can not"),
        (r"\bwon['’]t\b", "will not"),
        (r"n['’]t\b", " not"),
        (r"['’]ve\b", " have"),
        (r"['’]re\b", " are"),
        (r"['’]ll\b", " will"),
        (r"['’]d\b", " would"),
        (r"\bi['’]m\b", "i am"),
        (r"\b(it|that|he|she|there|here|what|who|all)['’]s\b", r"\1 is"),
    )
)
# "I can confirm that it is booked" claims as much as "it is booked".
_OPENER = re.compile(
    r"\b(?:i|we)(?: can| could| am| are| would| will)?"
    r"(?: now| also| just| like to| happy to| pleased to| glad to| delighted to){0,3}"
    r" (?:confirm|say|tell you|report|inform you|let you know|announce|see)\b(?: that)?"
    r"|\b(?:please|kindly) (?:note|be advised|rest assured)(?: that)?|\bno (?:problem|worries|trouble)\b"
)
# Begins only where a run of marks begins, for a long run is looked at once.
_JOINT = re.compile(
    r"(?<![,;:.!?()\u2013\u2014\n])[,;:.!?()\u2013\u2014\n]++(?:\s|$)|\s-\s|\b(?:and|but|so|because|while|although|though)\b"
)
_CONDITION = re.compile(r"\W{0,9}(?:if|once|when|unless|until|as soon as|after|before|should you|in case)\b")
_ASKS = re.compile(
    r"\W{0,9}(?:do|does|did|is|are|was|were|has|have|had|can|could|shall|should|will|would|may|might|what|which|who|"
    r"when|where|why|how)\b"
)
_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = frozenset(
    "the is are your you have has i we and to of for it this that with be not been can will my our there us "
    "do than at by or from was were which would".split()
)
_LONGEST = 600  # characters of a clause


class Clause(NamedTuple):
    """A clause in lower case with contractions written out. `asks` says that it is a question, `conditional`
    that its sentence begins with a condition."""

    text: str
    asks: bool
    conditional: bool


def clauses(text: str) -> list[Clause]:
    """The clauses of a text, in order."""
    found: list[Clause] = []
    for sentence in split_sentences(text):
        plain = fold(sentence)
        for pattern, written_out in _CONTRACTED:
            plain = pattern.sub(written_out, plain)
        parts = [part.strip() for part in _JOINT.split(_OPENER.sub(" ", plain))]
        # No clause is that long; what is without a break gets one, so that none is searched from end to end
        # often.
        parts = [part[at : at + _LONGEST] for part in parts for at in range(0, len(part), _LONGEST)]
        # In "It is booked, is that all right?" only the last clause asks.
        asks_whole = bool(_ASKS.match(plain))
        question = sentence.rstrip("\"'”’) ").endswith("?")
        conditional = bool(_CONDITION.match(plain))
        for i, part in enumerate(parts):
            asks = question and (asks_whole or i == len(parts) - 1)
            found.append(Clause(part, asks, conditional))
    return found


def is_past(word: str) -> bool:
    """Whether a folded word may be a past form of a verb."""
    return word in _IRREGULAR or (word.endswith("ed") and len(word) > 3)


@lru_cache(maxsize=1 << 12)
def bases(word: str) -> frozenset[str]:
    """The base forms that a folded verb may have: cancelled → cancel, issued → issue, applying → apply."""
    if word in _IRREGULAR:
        return frozenset({_IRREGULAR[word]})
    found = {word}
    for suffix in ("ing", "ed", "es", "s"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 2:
            root = word[: -len(suffix)]
            found |= {root, root + "e"}
            if len(root) > 2 and root[-1] == root[-2]:
                found.add(root[:-1])
            if root[-1] == "i":
                found.add(root[:-1] + "y")
    return frozenset(found)


def word_list(text: str) -> list[str]:
    """The words of a text, folded, without digits."""
    return _WORD.findall(fold(text))


def is_english(text: str) -> bool:
    """Whether a text holds enough of English's smallest words, or is short and in Latin letters."""
    found = word_list(text)
    if found and not any(map(str.isascii, found)):
        return False
    return len(found) < 5 or sum(one in _ENGLISH for one in found) * 10 >= len(found)
