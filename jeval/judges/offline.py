"""The judge that needs no network and no model: the default, and the baseline that a real judge has to beat.

It answers what words alone can tell. Claims are judged by how far the references hold their content words and
values (overlap.py), completed actions and escalations by their wording (wording.py). What it cannot know,
such as whether a policy was kept, it answers as insufficient, which becomes a review. Nothing in a case is an
instruction to it, for it follows none.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jeval.judges.overlap import judge_support
from jeval.judges.references import References
from jeval.judges.wording import judge_completion, judge_escalation
from jeval.question import Answer, Question, Reply
from jeval.state import State

__all__ = ["OfflineJudge"]

MODEL = "offline-1"

_SUPPORT = ("supported", "contradicted", "not_covered")
_COMPLETION = ("claims_completed", "does_not_claim", "unclear")
_ESCALATION = ("states_escalation", "does_not_state", "unclear")
_INSUFFICIENT = (
    "insufficient",
    "unclear",
    "unknown",
    "undetermined",
    "cannot_tell",
    "not_enough",
    "not_covered",
)
_MOST_UNKNOWN = 0.8


class OfflineJudge:
    """Answers at once, always alike, and marks its runs as simulated."""

    name = "offline"
    gateway = "offline"
    model = MODEL
    simulated = True

    async def ask(self, state: State, questions: Mapping[str, Question]) -> Reply:
        """Answer every question about the state. Never raises for a state of a case or a metric."""
        reading = _Reading(json.loads(state.json))
        return Reply({key: _answer(reading, question) for key, question in questions.items()}, MODEL)

    async def close(self) -> None:
        """Nothing to let go of."""


class _Reading:
    """One state, its references read when first asked for and then kept for all its questions."""

    def __init__(self, body: Any) -> None:
        fields = body if isinstance(body, dict) else {}
        self.response = _joined(fields.get("assistant_response"))
        self.question = _joined(fields.get("user_input"))
        self._passages = fields.get("reference_material")
        self._references: References | None = None

    @property
    def references(self) -> References:
        if self._references is None:
            self._references = References(_passages(self._passages))
        return self._references


def _answer(reading: _Reading, question: Question) -> Answer:
    if question.type == "noul":
        return Answer({"true": 0.5})
    if question.type == "score":
        # An even split over the levels; its expected level is the middle of the scale.
        count = len(question.names)
        return Answer(_split(question.names), 0.0, (count - 1) / 2)
    found: tuple[float, ...]
    if question.names == _SUPPORT:
        claim = reading.response if question.about is None else question.about
        whole = claim.strip() == reading.response.strip()
        found = judge_support(claim, reading.question, reading.references, whole=whole)
    elif question.names == _COMPLETION:
        found = judge_completion(reading.response, question.about or "")
    elif question.names == _ESCALATION:
        found = judge_escalation(reading.response, question.about or "")
    else:
        return _choice(_unknown(question.names))
    return _choice(dict(zip(question.names, found, strict=True)))


def _choice(probabilities: dict[str, float]) -> Answer:
    """With the confidence that System One states for a choice: (n·peak − 1) / (n − 1)."""
    count = len(probabilities)
    confidence = (count * max(probabilities.values()) - 1) / (count - 1) if count > 1 else 1.0
    return Answer(probabilities, round(min(max(confidence, 0.0), 1.0), 4))


def _unknown(names: tuple[str, ...]) -> dict[str, float]:
    """Most on the last option where that one says that it cannot be told, else an even split."""
    if len(names) < 2 or not names[-1].lower().startswith(_INSUFFICIENT):
        return _split(names)
    rest = (1 - _MOST_UNKNOWN) / (len(names) - 1)
    return dict.fromkeys(names[:-1], rest) | {names[-1]: _MOST_UNKNOWN}


def _split(names: tuple[str, ...]) -> dict[str, float]:
    return {name: 1 / len(names) for name in names}


def _passages(material: Any) -> Iterator[tuple[str, str]]:
    """(title, text) of each passage; whatever else a shortened state holds is read as text."""
    for item in material if isinstance(material, list) else [material]:
        if isinstance(item, dict) and isinstance(item.get("content"), str):
            yield _joined(item.get("title")), item["content"]
        else:
            yield "", _joined(item)


def _joined(value: Any) -> str:
    return "\n".join(_texts(value))


def _texts(value: Any) -> Iterable[str]:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            stack += reversed(item.values())
        elif isinstance(item, list):
            stack += reversed(item)
        elif item is not None:
            yield str(item)
