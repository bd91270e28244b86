"""What every rubric kind has in common: a rubric made ready to be planned and decided."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

from jeval.case import Case, ToolEvent
from jeval.preamble import PREAMBLE
from jeval.question import Answer, Question
from jeval.rubric import Rubric, SuccessWhen, Thresholds
from jeval.ruling import Verdict

__all__ = ["Asked", "RubricKind", "ToolFact", "instruct", "tool_fact"]


class Asked(NamedTuple):
    """What a check asks: named questions, and the facts of the case that its decision needs besides answers.

    `parts` is ((name, question), …); the name is "" where there is one question only. `facts` is frozen and
    small, for a sweep keeps it. `evidence` adds to what the check shows as evidence.
    """

    parts: tuple[tuple[str, Question], ...]
    facts: Any = None
    evidence: Mapping[str, Any] | None = None


class RubricKind(ABC):
    """One rubric, its questions worded once, ready for any number of cases."""

    def __init__(self, rubric: Rubric) -> None:
        self.rubric = rubric

    @abstractmethod
    def plan(self, case: Case) -> Asked | Verdict:
        """What to ask about this case, or the verdict where code can tell without asking.

        Called only for cases to which the rubric applies and whose required evidence is there.
        """

    @abstractmethod
    def decide(self, facts: Any, answers: Mapping[str, Answer], thresholds: Thresholds) -> Verdict:
        """The verdict from the answers by part name. Pure: the same input gives the same verdict."""


def instruct(*paragraphs: str) -> str:
    """An instruction: the preamble, then the paragraphs that are not empty."""
    return "\n\n".join([PREAMBLE, *(p.strip() for p in paragraphs if p and p.strip())])


class ToolFact(NamedTuple):
    """What the tool log says of one tool: the last event of that name decides.

    `state` is success, failure or none; `event` the event's id; `why` says it in words.
    """

    state: str
    event: str | None
    why: str


def tool_fact(events: tuple[ToolEvent, ...], name: str, success_when: SuccessWhen | None) -> ToolFact:
    """What the last event named `name` shows."""
    event = next((e for e in reversed(events) if e.name == name), None)
    if event is None:
        return ToolFact("none", None, f"no {name} event")
    if event.status == "failure":
        return ToolFact("failure", event.id, f"{name} ({event.id}) failed")
    if success_when is not None:
        found, value = _at(event.output, success_when.path)
        if not found:
            shown = f"its output has no {success_when.path}"
            return ToolFact("failure", event.id, f"{name} ({event.id}) succeeded but {shown}")
        if not _same(value, success_when.equals):
            shown = f"{success_when.path} = {value!r:.60}, not {success_when.equals!r:.60}"
            return ToolFact("failure", event.id, f"{name} ({event.id}) succeeded but {shown}")
    return ToolFact("success", event.id, f"{name} ({event.id}) succeeded")


def _at(value: Any, path: str) -> tuple[bool, Any]:
    """The value at a dotted path, and whether there is one."""
    for key in path.split("."):
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list | tuple) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return False, None
    return True, value


def _same(left: Any, right: Any) -> bool:
    """JSON equality: 1 is 1.0, but true is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_same(left[k], right[k]) for k in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(_same(a, b) for a, b in zip(left, right, strict=True))
    return bool(left == right)
