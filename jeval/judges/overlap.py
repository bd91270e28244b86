"""How far reference material holds what a text says, by its content words and values. No model, no learning.

Each sentence of the text that claims something is looked for in the references:

1. *reach*: the share of its content words that occur anywhere. What the question brought is the response's
   claim once it repeats it: absent, it counts against it; present, it is no evidence, for it only names the topic;
2. *focus*: the share of all its content words that occur together in one sentence of the references;
3. every number or name that occurs nowhere weakens it further;
4. against the sentences that match best, the opposite polarity ("not", "un-", open and closed) or another
   number of the same sort is a contradiction; words that are merely absent are not.

The weakest sentence speaks for the text, as one unsupported claim is enough. Values count in normal form, so
"2 pm" is found where "14:00" stands.
"""

import math
import re
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from jeval.judges.matches import Matches, Term
from jeval.judges.references import References, is_number, phrase, shape
from jeval.judges.terms import NEGATORS, SMALL_TALK, STOP_WORDS, content, opposites, words
from jeval.sentences import split_sentences
from jeval.values import find_values
from jeval.values.numbers import blank
from jeval.values.value import Reading, offered, wanted

__all__ = ["Support", "judge_support"]

# Chosen by hand, with an eye on a few hundred labelled answers: full overlap is right about 19 times in 20,
# and where one content word in eight is missing it may be a paraphrase as well as an error.
_LEAST, _MOST = 0.02, 0.95
_EVEN, _STEEPNESS = 0.88, 18
_STRANGER = 0.75  # factor for each name or number that occurs nowhere
_BARE = 0.55  # "yes": it affirms a question, which may ask for less than the references say
_NO_CLAIM = 0.9
_SHORT = 60  # characters that may be looked for word for word
_ASKING = 3  # words that a question needs more of

_PARTICLE = re.compile(r"\A\W{0,20}(?:yes|no|yeah|nope|yep)\b(?=\s*(?:[,.!;:\u2013\u2014]|-\s|$))", re.IGNORECASE)
_UNTOLD = STOP_WORDS | NEGATORS | frozenset("certainly course ok okay sure".split())
_JOINT = re.compile(r";\s+|,\s+(?:and|but)\s+")
# Saying that the references do not answer claims nothing of what they are about.
_ABSTAINS = re.compile(
    r"\b(?:manual|documents?|references?|text|context|information|material|sources?|passages?|records?|policy)\b"
    r".{0,40}?\b(?:not|n[o']t) (?:\w{1,20} ){0,2}?"
    r"(?:say|mention|state|specify|include|contain|answer|tell|compare|provide)"
    r"|\b(?:I|we) (?:do not|don't|cannot|can't|am not|are not) (?:\w{1,20} ){0,2}?"
    r"(?:know|sure|tell|say|find|confirm)\b"
    r"|\bno (?:\w{1,20} )?(?:information|mention|details?)\b",
    re.IGNORECASE,
)


class Support(NamedTuple):
    """Probabilities that add up to 1."""

    supported: float
    contradicted: float
    not_covered: float


def judge_support(text: str, question: str, references: References, *, whole: bool = True) -> Support:
    """How far the references support, contradict or leave open what `text` claims in answer to `question`.

    `whole` says that the text is all that was answered, so that a bare "yes" is a claim.
    """
    if not phrase(text).strip():
        return Support(0.3333, 0.3333, 0.3334)  # no word to judge by
    if references.equals_passage(text):
        return _support(_MOST)
    asked = _Asked(question)
    parts = dict.fromkeys(part for sentence in split_sentences(text) for part in _coordinate(sentence))
    found = [judged for part in parts if (judged := _judge(part, asked, references)) is not None]
    if not found:
        return _support(_BARE if whole and any(map(_is_bare, parts)) else _NO_CLAIM)
    conflicts = [one.contradicted for one in found if one.contradicted > 0.5]
    return _support(min(one.supported for one in found), max(conflicts, default=None))


def _support(supported: float, conflict: float | None = None) -> Support:
    if conflict is not None:
        supported, contradicted = min(supported, 0.1), conflict
    else:
        contradicted = 0.15 * (1 - supported)
    supported, contradicted = round(supported, 4), round(contradicted, 4)
    return Support(supported, contradicted, round(1 - supported - contradicted, 4))


class _Asked:
    """The content words and values of the question, and the terms of its last sentence."""

    def __init__(self, question: str) -> None:
        self.stems = {one.stem for one, _ in content(question)}
        self._question = question

    @cached_property
    def terms(self) -> Sequence[Term]:
        last = split_sentences(self._question)[-1:]
        return _terms(last[0], self) if last else ()

    @cached_property
    def keys(self) -> frozenset[Reading]:
        return frozenset(key for value in find_values(self._question) for key in offered(value.readings))


def _coordinate(sentence: str) -> list[str]:
    """A sentence taken apart at "; " and ", and " where every part has something of its own to say."""
    parts = _JOINT.split(sentence)
    return parts if len(parts) > 1 and all(len(content(part)) >= 2 for part in parts) else [sentence]


def _is_bare(sentence: str) -> bool:
    """Whether a sentence says no more than "yes", "no" or "sure, you can": all it claims is what was asked."""
    return all(one.folded in _UNTOLD for one in words(_PARTICLE.sub("", sentence, count=1)))


def _is_small_talk(text: str) -> bool:
    """Whether most of what could be content is pleasantry, and nothing in it is a number."""
    counted = [one for one in words(text) if one.folded in SMALL_TALK or one.folded not in STOP_WORDS]
    polite = sum(one.folded in SMALL_TALK for one in counted)
    return len(counted) < 2 * polite and not any(map(is_number, counted))


def _judge(part: str, asked: _Asked, references: References) -> Support | None:
    """The verdict on one sentence, or None where it claims nothing."""
    rest = _PARTICLE.sub("", part, count=1)
    # "Paris?" is an answer with a doubt in it, "Shall I look that up?" is none.
    asks = part.endswith("?") and len(words(part)) > _ASKING
    if asks or _ABSTAINS.search(part) or _is_small_talk(rest):
        return None
    terms = _terms(rest, asked)
    if not terms:
        return _support(_MOST) if references.verbatim(rest) else None
    matches = Matches(terms, references)
    conflict = matches.conflict()
    if conflict is None and all(term.sort or not term.new for term in terms):
        # "€19." and "It is €19 a month." say it of what the question asks about.
        said = {key for term in terms for key in term.keys}
        topic = [term for term in asked.terms if not term.sort and said.isdisjoint(term.keys)]
        conflict = Matches([*terms, *topic], references).conflict()
    if conflict is not None:
        return _support(_LEAST, conflict)
    focus = matches.focus()
    if focus < 1 and len(rest) < _SHORT and references.verbatim(rest):
        focus = 1.0  # it runs over the end of a sentence
    # A topic word that the references know tells nothing; one that they do not know is claimed all the same.
    fresh = [(term, known) for term, known in matches.known() if term.new or not known] or matches.known()
    reach = sum(term.weight for term, known in fresh if known) / sum(term.weight for term, _ in fresh)
    strangers = sum(term.hard and not known for term, known in fresh)
    return _support(_curve((reach + focus) / 2 * _STRANGER**strangers))


def _curve(strength: float) -> float:
    """Strength, 0 to 1, to probability: a logistic curve, even at `_EVEN`, scaled to `_LEAST` … `_MOST`."""
    lift = (1 + math.exp(-_STEEPNESS * (1 - _EVEN))) / (1 + math.exp(-_STEEPNESS * (strength - _EVEN)))
    return _LEAST + (_MOST - _LEAST) * lift


def _terms(text: str, asked: _Asked) -> Sequence[Term]:
    """What must be found: every value and content word, whoever said it first."""
    values = [value for value in find_values(text) if not value.loose]
    terms = []
    for readings, kind in {value.readings: value.kind for value in values}.items():
        keys = tuple(wanted(readings))
        terms.append(Term(keys, (), 2.0, kind, asked.keys.isdisjoint(keys), True, False))
    text = blank(text, [(value.start, value.start + len(value.written)) for value in values])
    first = next(iter(words(text)), None)
    seen: set[str] = set()
    for one, negated in content(text):
        if one.stem in seen:
            continue
        seen.add(one.stem)
        number = is_number(one)
        name = one.capital and one is not first
        terms.append(
            Term(
                keys=(one.stem,),
                denials=() if number else opposites(one.stem),
                weight=2.0 if number else 1.5 if name else 1.0,
                sort=shape(one.stem) if number else "",
                new=one.stem not in asked.stems,
                hard=number or name,
                negated=negated,
            )
        )
    return terms
