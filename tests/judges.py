"""A judge for tests: it answers from a script, counts what it is asked, and can fail or keep one waiting.

Built on the `Judge` protocol like any judge, so that tests of the core stand on the seam itself.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from jeval.question import Answer, Question, Reply
from jeval.state import State

Script = Callable[[Question], Answer]


class Request(NamedTuple):
    """One request as it arrived."""

    state: State
    questions: Mapping[str, Question]


def leaning(question: Question, option: str, p: float = 0.9) -> Answer:
    """An answer that gives `p` to one option and shares the rest among the others, in the author's order."""
    others = len(question.names) - 1
    return Answer({name: p if name == option else (1 - p) / others for name in question.names}, confidence=0.5)


def first_option(question: Question) -> Answer:
    """The first option at 0.9: whatever the author named first."""
    if question.type == "noul":
        return Answer({"true": 0.9})
    answer = leaning(question, question.names[0])
    return answer if question.type == "choice" else answer._replace(score=0.4)


class ScriptedJudge:
    """Answers by `script`, after `gate` opened where there is one.

    `failures` are raised by the next requests, one each, in order; None among them lets a request through.
    `requests` holds all that was asked, `most_at_once` the largest number under way together. `started` is
    set when a request arrives.
    """

    name = "scripted"
    gateway = "here"
    model = "scripted-1"
    simulated = False

    def __init__(
        self,
        script: Script = first_option,
        *,
        failures: Sequence[Exception | None] = (),
        gate: asyncio.Event | None = None,
    ) -> None:
        self.script, self.failures, self.gate = script, list(failures), gate
        self.requests: list[Request] = []
        self.started = asyncio.Event()
        self.at_once = self.most_at_once = 0
        self.closed = False

    @property
    def questions(self) -> list[Question]:
        """Every question asked, in order, those asked twice twice."""
        return [question for request in self.requests for question in request.questions.values()]

    async def ask(self, state: State, questions: Mapping[str, Question]) -> Reply:
        self.requests.append(Request(state, dict(questions)))
        self.started.set()
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await (self.gate.wait() if self.gate is not None else asyncio.sleep(0))
        finally:
            self.at_once -= 1
        failure = self.failures.pop(0) if self.failures else None
        if failure is not None:
            raise failure
        answers = {key: self.script(question) for key, question in questions.items()}
        count = len(self.requests)
        return Reply(answers, "scripted-1.0", 12.5, 1, 100 + count, 0, 0.001, f"request-{count}", 1)

    async def close(self) -> None:
        self.closed = True
