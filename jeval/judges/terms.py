"""The words that carry a text's content, in a form in which "bookings" meets "booked" and "two" meets "2".

For the offline judge only: a rough stand-in for reading, kept small enough to be checked by hand.
"""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from jeval.values.numbers import NUMBER_WORDS

__all__ = [
    "NEGATORS",
    "SMALL_TALK",
    "STOP_WORDS",
    "Word",
    "content",
    "fold",
    "opposites",
    "stem",
    "word",
    "words",
]

# Words that tell nothing about what is claimed.
STOP_WORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between
    both but by can could did do does doing during each either else ever every few for from further get
    gets got had has have having he her here hers herself him himself his how i if in into is it its itself
    just least less let like many may me might more most much must my myself of off on once one only onto or
    other our ours ourselves out over own per quite rather really same shall she should since so some such
    than that the their theirs them themselves then there these they this those through to too under until up
    upon us very via was we were what when where whether which while who whom whose why will with within would
    yes you your yours yourself already finally first mean means now still yet ca d ll m re s sha ve
    wo""".split()
)
# What people say around a claim.
SMALL_TALK = frozenset(
    """afraid anything apologies apologise apologize ask asking assist assistance bye certainly cheers concern
    course dear enjoy evening feel forward glad gladly goodbye greetings happily happy hello help helped
    helpful helps hesitate hey hi hope hopefully inconvenience kind know lovely meal morning nice ok okay
    patience please pleased pleasure question questions reach regards regret sorry sure thank thanks
    understand unfortunately weekend welcome wish worries yes""".split()
)
NEGATORS = frozenset(
    """not no never neither none cannot nothing nobody nowhere without hardly arent cant couldnt didnt doesnt
    dont hadnt hasnt havent isnt shouldnt wasnt werent wouldnt""".split()
)
_UNTOLD = STOP_WORDS | NEGATORS
# Folded stems whose meaning is the other's negation.
_PAIRS = tuple(
    pair.split("/")
    for pair in """accept/refuse accept/reject alive/dead allow/forbid allow/prohibit approve/decline
    approve/reject connect/disconnect early/late enable/disable include/exclude increase/decrease
    increase/reduce minimum/maximum open/close open/shut pass/fail permit/forbid permit/prohibit
    safe/dangerous true/false""".split()
)

_SUFFIXES = ("ically", "edly", "ies", "ied", "ing", "ed", "ly", "es", "s", "e")
# Han, kana and Thai are written without spaces: there each character counts as a word.
_WORD = re.compile(
    r"\d{1,15}(?:[.,:]\d{1,6})+(?![^\W_])|[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]"
    r"|[^\W_\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]+"
)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")

_CLAUSE = re.compile(
    r"[,;:()\u2013\u2014]\s|\s-\s|\b(?:although|as|because|but|however|if|since|so|unless|until|when|whereas|while)\b",
    re.IGNORECASE,
)
_CONTRACTED = re.compile(r"n['’]t\b", re.IGNORECASE)
# "No. 5", "not only … but also" and the second half of "neither … nor" negate nothing.
_NO_NEGATION = re.compile(r"\bno\.? ?(?=\d)|\bnot (?:only|just)\b", re.IGNORECASE)

_OPPOSITES: dict[str, tuple[str, ...]] = {}


class Word(NamedTuple):
    """One word of a text: as folded, its stem, and whether it is written like a name or holds a digit."""

    folded: str
    stem: str
    capital: bool
    digit: bool


@lru_cache(maxsize=1 << 15)
def word(token: str) -> Word:
    """The word that a token is."""
    folded = fold(token)
    digit = any(map(str.isdecimal, folded))
    return Word(folded, _number(folded) if digit else stem(folded), token[0].isupper(), digit)


def words(text: str) -> list[Word]:
    """Every word of a text, in order."""
    return [word(token) for token in _WORD.findall(text)]


def content(sentence: str) -> list[tuple[Word, bool]]:
    """The content words of a sentence, each with whether its clause is negated ("not", "never",
    "without")."""
    text = sentence
    if "'" in text or "’" in text:
        text = _CONTRACTED.sub(" not", text)
    found = words(text)
    if NEGATORS.isdisjoint(one.folded for one in found):
        return [(one, False) for one in found if one.folded not in STOP_WORDS]
    told: list[tuple[Word, bool]] = []
    for clause in _CLAUSE.split(_NO_NEGATION.sub(" ", text)):
        found = words(clause)
        negated = sum(one.folded in NEGATORS for one in found) % 2 == 1
        told += [(one, negated) for one in found if one.folded not in _UNTOLD]
    return told


def fold(text: str) -> str:
    """The text in lower case and without accents."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text)
    return "".join(char for char in plain if not unicodedata.combining(char)).casefold() or text


def _number(folded: str) -> str:
    """1,234.5 and 1234.5 are one number, as are 1,2 and 1.2."""
    return folded.replace(",", "") if _GROUPED.fullmatch(folded) else folded.replace(",", ".")


@lru_cache(maxsize=1 << 15)
def stem(folded: str) -> str:
    """A folded word without its ending; a number word as its number."""
    if folded in NUMBER_WORDS and folded != "one":
        return str(NUMBER_WORDS[folded])
    for suffix in _SUFFIXES:
        if folded.endswith(suffix) and len(folded) - len(suffix) >= 3:
            folded = folded[: -len(suffix)]
            break
    if folded[-1:] == "i" and len(folded) > 3:
        folded = folded[:-1] + "y"
    # stopped, stop; a double l or s is the stem's own as often as not, so it goes in every form.
    if len(folded) > 3 and folded[-1] == folded[-2]:
        folded = folded[:-1]
    return folded


@lru_cache(maxsize=1 << 12)
def opposites(root: str) -> tuple[str, ...]:
    """Stems that deny this one: by a prefix (un-, non-, in-, im-), or as a pair like open and close."""
    found = [f"{prefix}{root}" for prefix in ("un", "non")]
    if len(root) >= 5:
        found += [f"in{root}", f"im{root}"]
    for prefix, least in (("un", 4), ("non", 4), ("in", 5), ("im", 5)):
        if root.startswith(prefix) and len(root) - len(prefix) >= least:
            found.append(root[len(prefix) :])
    return (*found, *_OPPOSITES.get(root, ()))


for _one, _other in _PAIRS:
    for _key, _value in ((stem(_one), stem(_other)), (stem(_other), stem(_one))):
        _OPPOSITES[_key] = (*_OPPOSITES.get(_key, ()), _value)
