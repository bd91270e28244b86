"""A case with all its evidence, a rubric of each kind, and the short way from probabilities to a check."""

from collections.abc import Mapping
from typing import Any

from jeval.case import Case
from jeval.decision import decide_case
from jeval.plan import CasePlan, Planner
from jeval.question import Answer, Question
from jeval.result import Check
from jeval.rubric import Rubric, Thresholds

# Odd texts that occur nowhere else: where one is found, the field it stands in was shown.
SECRET_LABEL = "zq-label-4f1c"
SECRET_METADATA = "zq-metadata-8e2d"

BOOKED = {"id": "t1", "name": "book_slot", "status": "success", "output": {"status": "confirmed"}}
REFUSED = {"id": "t2", "name": "book_slot", "status": "failure", "error": "SLOT_TAKEN"}
PAGED = {"id": "t3", "name": "page_nurse", "status": "success", "output": None}
UNANSWERED = {"id": "t4", "name": "page_nurse", "status": "failure", "error": "NO_ANSWER"}

_CASE: dict[str, Any] = {
    "id": "case-1",
    "input": "Can I come on Friday at nine?",
    "output": "You are booked for Friday at nine. Bring your card.",
    "messages": [
        {"id": "m1", "role": "user", "content": "Can I come on Friday at nine?"},
        {"id": "m2", "role": "assistant", "content": "You are booked for Friday at nine. Bring your card."},
    ],
    "context": [{"id": "c1", "content": "Patients bring their card.", "title": "Visits", "source": "handbook"}],
    "policy": "Confirm a visit only after book_slot succeeded. Page a nurse for chest pain.",
    "toolEvents": [BOOKED],
    "metadata": {"split": "tuning", "note": SECRET_METADATA},
    "expected": {"booking-claim": {"status": "pass", "source": "synthetic", "note": SECRET_LABEL}},
}

_RUBRICS: dict[str, dict[str, Any]] = {
    "policy-compliance": {"criterion": "Only whether a visit was confirmed too early."},
    "claim-support": {"criterion": "Only what is said about visits."},
    "tool-claim": {
        "criterion": "Only whether the booking was completed.",
        "params": {"toolName": "book_slot", "action": "booking the visit"},
    },
    "escalation": {
        "criterion": "Only whether a nurse must be paged.",
        "params": {"toolName": "page_nurse", "action": "paging a nurse"},
    },
    "custom": {
        "criterion": "The tone is calm.",
        "outcomes": {"acceptable": "It is calm.", "unacceptable": "It is alarmed."},
    },
    "grounded-values": {},
}


def case(**changes: Any) -> Case:
    """A case with every kind of evidence; what is given replaces a field, and None takes it away."""
    body = {key: value for key, value in {**_CASE, **changes}.items() if value is not None}
    return Case.model_validate(body)


def cases(count: int) -> list[Case]:
    """Cases whose evidence differs."""
    return [case(id=f"case-{n}", input=f"Question {n}?") for n in range(count)]


def rubric(kind: str = "custom", **changes: Any) -> Rubric:
    """A rubric of a kind, called as its kind is; what is given replaces a field."""
    return Rubric.model_validate({"id": kind, "version": "1.0.0", "kind": kind, **_RUBRICS[kind], **changes})


def params(kind: str, **changes: Any) -> dict[str, Any]:
    """The params of the sample rubric of a kind, changed."""
    return {**_RUBRICS[kind].get("params", {}), **changes}


def asked(rubric: Rubric, about: Case | None = None) -> dict[str, Question]:
    """The questions a rubric asks of a case, by part name."""
    plan = Planner([rubric]).plan(about or case())
    questions = {sha: question for ask in plan.asks for sha, question in ask.questions.items()}
    return {part: questions[sha] for part, sha in plan.checks[0].parts}


def dealt(question: Question, probabilities: tuple[float, ...]) -> Answer:
    """An answer whose probabilities go to the question's options in their order."""
    return Answer(dict(zip(question.names, probabilities, strict=True)), confidence=0.5)


def plan_of(rubric: Rubric, about: Case | None = None) -> CasePlan:
    """The plan of one rubric for one case."""
    return Planner([rubric]).plan(about or case())


def check_of(
    rubric: Rubric,
    probabilities: tuple[float, ...] | Mapping[str, tuple[float, ...]] = (),
    about: Case | None = None,
    thresholds: Thresholds | None = None,
) -> Check:
    """The check a rubric comes to when its question, or each of its parts, is answered like this."""
    plan = plan_of(rubric, about)
    questions = asked(rubric, about)
    given = probabilities if isinstance(probabilities, Mapping) else dict.fromkeys(questions, probabilities)
    answers = {questions[part].sha256: dealt(questions[part], p) for part, p in given.items()}
    return decide_case(plan, answers, thresholds or Thresholds())[0]
