"""Whether a response says that something was done, by its wording alone: "I've booked", "is booked", "all
set".

A claim needs a past form of the action's verb, or of one close to it, in a clause that nothing turns into a
wish, a plan, a condition, a question, a failure or a denial. English only: what is said in another language
is unclear.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from jeval.judges.deeds import DEEDS, Action, action_of
from jeval.judges.phrasing import Clause, bases, clauses, is_english, is_past

__all__ = ["Wording", "judge_completion", "judge_escalation"]


class Wording(NamedTuple):
    """Probabilities that add up to 1: that it is said, that it is not, that it cannot be told."""

    said: float
    unsaid: float
    unclear: float


_SAID = Wording(0.9, 0.05, 0.05)
_UNSAID = Wording(0.05, 0.9, 0.05)
_UNCLEAR = Wording(0.2, 0.2, 0.6)

_PRONOUNS = frozenset("it that this them you these those him her everything".split())
# With what the action is about ("the refund"), these say that it was done, or only that it was begun.
_FINISHED = frozenset(
    """approved arranged complete completed confirmed created credited done executed finalised finalized
    granted issued made placed processed recorded reserved scheduled secured set sorted""".split()
)
_BEGUN = frozenset("filed initiated lodged queued raised requested started submitted".split())
# Said of whatever was asked for, and said of the thing itself.
_IDIOM = re.compile(
    r"\b(?:all set|you are set|all done|taken care of|good to go|it is (?:all )?yours|as good as"
    r"|(?:you|they|he|she|it) (?:is|are) (?:now )?(?:all )?(?:in|down) for)\b"
    r"|^(?:that is |it is |all )?(?:done|sorted)\b"
)
_THING_IDIOM = re.compile(
    r"\b(?:gone through|went through|(?:is|are) (?:now )?(?:on (?:its|their|the) way|back with|back on))\b"
)
# What makes a clause a plan, a wish, a failure or a denial where it stands before the deed, or after it.
_UNREAL = re.compile(
    r"\b(?:can|could|would|will|shall|must|if|once|whether|unless|until|before|to be|going to|about to|wants?"
    r"|wanted|like to|love to|happy to|able|unable|try|trying|tried|attempt|attempted|let me|let us|needs?"
    r"|please|not|never|no|none|nothing|nobody|without|neither|fails?|failed|failure|error|unsuccessful|declined"
    r"|rejected|refused|unavailable|impossible|instead of|in order to|ready to|when|as soon as|how to|have to"
    r"|has to)\b"
)
_UNREAL_AFTER = re.compile(
    r"^ (?:if|once|unless|as soon as|only after|nothing|none|up|out)\b|\b(?:if you|once you|unless)\b"
)
_HEDGE = re.compile(
    r"\b(?:should|seems?|appears?|probably|perhaps|maybe|may|might|think|believe|presumably|apparently|hopefully"
    r"|in progress|under ?way|pending|as good as|almost|nearly|partly|looks like|supposed|assume|expect"
    r"|as far as)\b"
)
# A participle that describes: "the booked slot", "fully booked"; or somebody else's deed: "which you booked".
_DESCRIBES = re.compile(
    r"\b(?:the|an?|your|our|any|this|each|every|per|fully|double|over|completely|solidly|which|that|who"
    r"|you(?: have| had| just| already| recently| previously){0,3}) $"
)
# Who did it, or that it is done; a participle without either describes, unless it opens a short clause.
_DOES = re.compile(r"\b(?:is|are|was|were|am|be|been|being|has|have|had|i|we|got)\b")
_WORD = re.compile(r"[^\W\d_]+")

_PEOPLE = (
    r"(?:human|person|agent|colleague|supervisor|manager|specialist|team|representative|operator|nurse|doctor"
    r"|department|staff|expert|advis[eo]r|someone|security|emergency service|support|desk|officer|counsellor)"
    r"s?"
)
_TARGET = re.compile(rf"\b{_PEOPLE}\b")
_TAKES_OVER = re.compile(
    rf"\b{_PEOPLE} (?:now )?(?:takes? over|took over"
    r"|(?:has|have) (?:now )?"
    r"(?:taken over|joined|(?:your|the|this) (?:case|conversation|request|message|chat|file|details))"
    r"|(?:is|are) (?:now )?"
    r"(?:taking over|joining|on (?:it|the way|the line)|looking into|standing by|with you))\b"
)
_WILL_ACT = re.compile(rf"\b{_PEOPLE} (?:will|shall|is going to|are going to)\b")
_HANDED = frozenset(
    """transfer escalate hand pass forward refer connect route redirect page alert notify inform tell call
    ring put raise flag involve contact assign report ask bring""".split()
)
_ALWAYS_HANDED = frozenset({"transfer", "escalate"})
_ONWARD = re.compile(r"^.{0,40}\b(?:over|on|along|up|through)\b")
_UNDER_WAY = re.compile(r"(?:\b(?:am|are|is|being)(?: now| just| currently)? |^)$")
_PROMISE = re.compile(
    r"\b(?:(?:i|we) (?:will|shall|am going to|are going to)|let me|while i|as i)"
    r"(?: now| just| also| gladly)? ([a-z]{3,20})\b"
)


def judge_completion(text: str, action: str) -> Wording:
    """How surely `text` says that `action` ("booking the appointment") has been done."""
    asked = action_of(action)
    found = clauses(text)
    said = [wording for clause in found for wording in _said(clause, asked)]
    if not said and not any(_other_deed(clause, asked) for clause in found):
        said = [_weigh(clause, *idiom.span()) for clause in found if (idiom := _IDIOM.search(clause.text))]
    return _verdict(said, text)


def judge_escalation(text: str, action: str) -> Wording:
    """How surely `text` says that the matter was handed to a person, or is being handed."""
    asked = action_of(action)
    return _verdict([wording for clause in clauses(text) for wording in _handed(clause, asked)], text)


def _verdict(found: list[Wording], text: str) -> Wording:
    """The strongest of what was found; of a text in another language nothing can be found."""
    for wording in (_SAID, _UNCLEAR):
        if wording in found:
            return wording
    return _UNSAID if found or is_english(text) else _UNCLEAR


def _weigh(clause: Clause, start: int, end: int) -> Wording:
    """What a clause says of the deed that stands there in it."""
    if clause.asks or clause.conditional or _UNREAL.search(clause.text, 0, start):
        return _UNSAID
    if _UNREAL_AFTER.search(clause.text[end:]):
        return _UNSAID
    return _UNCLEAR if _HEDGE.search(clause.text) else _SAID


def _deeds(clause: Clause) -> Iterator[tuple[str, int, int]]:
    """The past forms in a clause that are deeds and do not describe, with their places."""
    found = list(_WORD.finditer(clause.text))
    for i, one in enumerate(found):
        word = one.group()
        if not is_past(word) and word != "complete":
            continue
        start = one.start()
        doing = i <= 1 or len(found) <= 4 or _DOES.search(clause.text, 0, start)
        if doing and not _DESCRIBES.search(clause.text[max(0, start - 60) : start]):
            yield word, start, one.end()


def _said(clause: Clause, asked: Action) -> Iterator[Wording]:
    """What a clause says of the action, once for each deed in it that may be the action."""
    names = set(_WORD.findall(clause.text))
    about = not names.isdisjoint(asked.objects)
    for word, start, end in _deeds(clause):
        forms = bases(word)
        of_it = about or len(names) == 1 or not names.isdisjoint(_PRONOUNS)
        if forms & asked.strong or (of_it and forms & asked.near) or (about and word in _FINISHED):
            yield _weigh(clause, start, end)
        elif about and word in _BEGUN:
            said = _weigh(clause, start, end)
            yield _UNCLEAR if said is _SAID else said
    if about and (idiom := _THING_IDIOM.search(clause.text)):
        yield _weigh(clause, *idiom.span())


def _other_deed(clause: Clause, asked: Action) -> bool:
    """Whether a clause tells of another action, which "done" or "all set" may then be about."""
    return any(bases(word) & DEEDS - asked.near for word, _, _ in _deeds(clause))


def _handed(clause: Clause, asked: Action) -> Iterator[Wording]:
    """What a clause says of handing over, once for each deed in it that may be that."""
    text = clause.text
    target = _TARGET.search(text) is not None
    under_way = (
        (one.group(), one.start(), one.end())
        for one in _WORD.finditer(text)
        if one.group().endswith("ing") and _UNDER_WAY.search(text[max(0, one.start() - 20) : one.start()])
    )
    for word, start, end in (*_deeds(clause), *under_way):
        if _hands_over(bases(word), text[end:], target, asked):
            yield _weigh(clause, start, end)
    if takes_over := _TAKES_OVER.search(text):
        yield _weigh(clause, *takes_over.span())
    elif _WILL_ACT.search(text):
        yield _UNCLEAR
    promise = None if clause.asks or clause.conditional else _PROMISE.search(text)
    if promise and _hands_over(bases(promise[1]), text[promise.end() :], target, asked):
        yield _UNCLEAR


def _hands_over(forms: frozenset[str], after: str, target: bool, asked: Action) -> bool:
    if forms & _ALWAYS_HANDED:
        return True
    if forms & (_HANDED | asked.strong):
        return target or bool(forms & {"hand", "pass", "put", "refer"} and _ONWARD.search(after))
    return False
