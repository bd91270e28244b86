"""What a metric sends to a judge: its questions, and of a case the fields it names and nothing else.

Names and layout are DeepEval's (`{"test_case": {…}}`, or `{"turns": […], "test_case": {…}}`), so that a
metric written for it asks the same thing about the same state here. A metric of `fields: all` sees the rubrics' state.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jeval.case import Case, ToolEvent
from jeval.metric import Choice, Metric, MetricQuestion, Noul, Score
from jeval.preamble import PREAMBLE
from jeval.question import Question
from jeval.state import State, build_state, state_of

__all__ = ["MetricState", "metric_questions", "metric_state"]

_WHY = {
    "expected_output": "labels and reference answers never reach the judge",
    "expected_tools": "labels and expectations never reach the judge",
    "metadata": "metadata never reaches the judge",
    "tags": "cases hold no tags",
}
# DeepEval reads these from each turn. A case's evidence is not tied to turns, so it stands beside them.
_OF_A_TURN = ("role", "content")


@dataclass(frozen=True, slots=True)
class MetricState:
    """What one metric may see of one case.

    `state` is None where the case lacks a field that the metric names; then `reason` says in words which, and
    the judge must not be asked: half a state would be another question. `state.cut` tells what was left out.
    """

    state: State | None
    reason: str = ""


# Metrics met before, by identity, for hashing one takes longer than making its questions.
_MADE: dict[int, tuple[Metric, tuple[Question, ...]]] = {}


def metric_questions(metric: Metric) -> tuple[Question, ...]:
    """The metric's questions as they are sent, in order. Weights and credits are not in them."""
    made = _MADE.get(id(metric))
    if made is not None and made[0] is metric:
        return made[1]
    if len(_MADE) >= 256:
        _MADE.clear()
    questions = tuple(_question(one) for one in metric.questions)
    _MADE[id(metric)] = (metric, questions)
    return questions


def _question(one: MetricQuestion) -> Question:
    options: tuple[tuple[str, str | None], ...]
    match one:
        case Score():
            options = tuple((str(place), level) for place, level in enumerate(one.levels))
        case Choice():
            options = tuple((name, None) for name in one.options)
        case Noul(true=None, false=None):
            options = ()
        case Noul():
            options = (("true", one.true), ("false", one.false))
    return _built(one.type, one.text, options)


@lru_cache(maxsize=4096)
def _built(kind: Any, text: str, options: tuple[tuple[str, str | None], ...]) -> Question:
    # The same few questions are asked of every case: their wire form and hash are computed once.
    return Question(kind, f"{PREAMBLE}\n\n{text}", options, text)


def metric_state(metric: Metric, case: Case, room: int) -> MetricState:
    """The state of a case for a metric, digested to `room` bytes of JSON text, or why there is none."""
    if metric.sees_all:
        return MetricState(build_state(case, room))
    values = {name: _value(case, name) for name in metric.seen}
    missing = [name for name, value in values.items() if value is None]
    if missing:
        return MetricState(None, _missing(missing))
    body: dict[str, Any] = {}
    left_out: tuple[str, ...] = ()
    if metric.conversational:
        body["turns"], left_out = _turns(case, [name for name in metric.seen if name in _OF_A_TURN])
        values = {name: value for name, value in values.items() if name not in _OF_A_TURN}
    if values:
        body["test_case"] = values
    state = state_of(body, room)
    return MetricState(state._replace(cut=(*left_out, *state.cut)) if left_out else state)


def _value(case: Case, name: str) -> Any:
    """What a case holds under DeepEval's name, or None. Empty texts and an empty tool log are evidence."""
    match name:
        case "role" | "content":
            return any(_is_turn(message.role) for message in case.messages or ()) or None
        case "input" | "scenario" | "expected_outcome" | "chatbot_role":
            return getattr(case, name)
        case "actual_output":
            return case.output
        case "context" | "retrieval_context":
            return [item.content for item in case.context] if case.context else None
        case "tools_called":
            return None if case.tool_events is None else [_tool_call(event) for event in case.tool_events]
    return None


def _is_turn(role: str) -> bool:
    return role in ("user", "assistant")


def _turns(case: Case, names: list[str]) -> tuple[list[dict[str, str]], tuple[str, ...]]:
    """The turns of user and assistant, and a note of the messages that are neither."""
    messages = case.messages or ()
    turns = [{name: getattr(m, name) for name in names} for m in messages if _is_turn(m.role)]
    gone = len(messages) - len(turns)
    if not gone:
        return turns, ()
    what = "1 system or tool message" if gone == 1 else f"{gone} system and tool messages"
    return turns, (f"turns: {what} left out, for turns are a user's or an assistant's",)


def _tool_call(event: ToolEvent) -> dict[str, Any]:
    """An event as DeepEval's ToolCall, and a failure's status and error, for which that has no place."""
    call: dict[str, Any] = {"name": event.name, "type": "FUNCTION"}
    if event.output is not None:
        call["output"] = event.output
    if event.input is not None:
        call["input_parameters"] = event.input
    if event.status == "failure":
        call["status"] = event.status
    if event.error is not None:
        call["error"] = event.error
    return call


def _missing(names: list[str]) -> str:
    listed = " and ".join(dict.fromkeys("messages" if name in _OF_A_TURN else name for name in names))
    why = "; ".join(dict.fromkeys(_WHY[name] for name in names if name in _WHY))
    return f"the case does not hold {listed}, which the metric asks for{f' ({why})' if why else ''}"
