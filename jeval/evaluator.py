"""One case evaluated: planned, recalled or asked, decided. Holds no store, no files and no clock of its own."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import NamedTuple, Protocol

from jeval.case import Case
from jeval.decision import decide_case, decide_scores
from jeval.errors import JudgeError, JudgeRefused
from jeval.plan import Ask, CasePlan, Planner
from jeval.question import Answer, Judge, Question
from jeval.result import CaseResult, Check, Exchange, Failure
from jeval.rubric import Thresholds
from jeval.score import MetricResult

__all__ = ["Evaluator", "Recall", "Recalled"]

# States whose answers are kept at hand: more than can be on their way to the store at any time.
_KEPT_STATES = 2_048


class Recalled(NamedTuple):
    """Stored judgments of one state: answers by question sha256, the ids of the requests that brought them,
    and when the oldest was asked."""

    answers: Mapping[str, Answer]
    sources: tuple[int, ...]
    oldest: str | None


class Recall(Protocol):
    """How stored judgments are looked up."""

    def __call__(self, state_sha256: str, questions: Mapping[str, Question], repeat: int) -> Recalled: ...


# What a request under way will have brought: by question sha256, the request's id and the answer.
_Flight = asyncio.Future[dict[str, tuple[int, Answer]]]


class _Answers(NamedTuple):
    """The answers to one ask, and how they were come by."""

    answers: dict[str, Answer]
    exchange: Exchange | None
    sources: tuple[int, ...]
    asked: int
    reused: int


class Evaluator:
    """Evaluates one case at a time, any number of them at once in one event loop.

    `recall` looks up stored judgments; `ask` False never asks (what is not stored is an error); `repeat` asks
    everything that many times. `next_id` numbers exchanges; `now` gives the time an exchange was asked. `keep`
    is handed every plan with the answers to its rubrics' questions, for whoever wants to decide again.
    """

    def __init__(
        self,
        planner: Planner,
        judge: Judge,
        thresholds: Thresholds,
        *,
        recall: Recall | None = None,
        ask: bool = True,
        repeat: int = 1,
        next_id: Callable[[], int] | None = None,
        now: Callable[[], str] | None = None,
        keep: Callable[[CasePlan, Mapping[str, Answer]], None] | None = None,
    ) -> None:
        for kind in planner.kinds:
            kind.rubric.effective(thresholds)  # raises now, not when the answers are paid for
        self.planner, self.judge, self.thresholds = planner, judge, thresholds
        self.recall, self.asking, self.repeat = recall, ask, repeat
        self._next_id = next_id or count(1).__next__
        self._now = now
        self._keep = keep
        self.oldest_reused: str | None = None
        self._flights: OrderedDict[tuple[str, int], _Flight] = OrderedDict()

    async def case(self, case: Case) -> CaseResult:
        """The checks and scores of one case. A judge that fails makes checks of status error, no exception;
        only JudgeRefused, which every further request would meet too, is raised."""
        plan = self.planner.plan(case)
        rounds = [[await self._answer(ask, repeat) for ask in plan.asks] for repeat in range(self.repeat)]
        if self._keep is not None:
            self._keep(plan, rounds[0][0].answers if rounds[0] else {})
        return self._result(plan, rounds)

    def _result(self, plan: CasePlan, rounds: Sequence[Sequence[_Answers]]) -> CaseResult:
        decided = [self._decide(plan, found) for found in rounds]
        every = [one for found in rounds for one in found]
        repeats = tuple(tuple(check.status for check in checks) for checks, _ in decided)
        return CaseResult(
            case_id=plan.case.id,
            checks=decided[0][0],
            scores=decided[0][1],
            exchanges=tuple(one.exchange for one in every if one.exchange is not None),
            asked=sum(one.asked for one in every),
            reused=sum(one.reused for one in every),
            sources=tuple(dict.fromkeys(source for one in every for source in one.sources)),
            repeats=repeats if self.repeat > 1 else (),
        )

    def _decide(self, plan: CasePlan, found: Sequence[_Answers]) -> tuple[tuple[Check, ...], tuple[MetricResult, ...]]:
        by_state = {ask.state.sha256: one.answers for ask, one in zip(plan.asks, found, strict=True)}
        failure = next((one.exchange.failure for one in found if one.exchange and one.exchange.failure), None)
        # Rubrics' questions are all about the first state, where they have any.
        answers = found[0].answers if found else {}
        return decide_case(plan, answers, self.thresholds, failure), decide_scores(plan, by_state, failure)

    async def _answer(self, ask: Ask, repeat: int) -> _Answers:
        """Stored answers where there are any, answers of a request under way for the same state, or a request."""
        key = (ask.state.sha256, repeat)
        answers: dict[str, Answer] = {}
        sources: list[int] = []
        if self.recall is not None:
            found = self.recall(ask.state.sha256, ask.questions, repeat)
            answers.update(found.answers)
            sources.extend(found.sources)
            if found.oldest and (self.oldest_reused is None or found.oldest < self.oldest_reused):
                self.oldest_reused = found.oldest
        missing = {sha: q for sha, q in ask.questions.items() if sha not in answers}
        while missing and (flight := self._flights.get(key)) is not None:
            brought = await asyncio.shield(flight)
            shared = [sha for sha in missing if sha in brought]
            if not shared and (not brought or self._flights.get(key) is flight):
                break
            answers.update({sha: brought[sha][1] for sha in shared})
            sources.extend(brought[sha][0] for sha in shared)
            missing = {sha: q for sha, q in missing.items() if sha not in answers}
        reused = len(ask.questions) - len(missing)
        if not missing or not self.asking:
            return _Answers(answers, None, tuple(sources), 0, reused)
        exchange = await self._ask(key, ask, missing, repeat)
        answers.update(exchange.answers)
        if exchange.failure is None:
            sources.append(exchange.id)
        return _Answers(answers, exchange, tuple(sources), len(exchange.answers), reused)

    async def _ask(self, key: tuple[str, int], ask: Ask, missing: Mapping[str, Question], repeat: int) -> Exchange:
        flight: _Flight = asyncio.get_running_loop().create_future()
        earlier = self._flights.get(key)  # about the same state, but it did not bring all that is needed now
        self._flights[key] = flight
        exchange: Exchange | None = None
        try:
            exchange = await self._request(ask, missing, repeat)
            return exchange
        finally:
            brought = dict(earlier.result()) if earlier is not None and earlier.done() else {}
            if exchange is not None:
                brought.update({sha: (exchange.id, answer) for sha, answer in exchange.answers.items()})
            flight.set_result(brought)
            if not brought and self._flights.get(key) is flight:
                del self._flights[key]
            while len(self._flights) > _KEPT_STATES and next(iter(self._flights.values())).done():
                self._flights.popitem(last=False)

    async def _request(self, ask: Ask, missing: Mapping[str, Question], repeat: int) -> Exchange:
        keyed = {f"q{i}": question for i, question in enumerate(missing.values(), 1)}
        asked_at = self._now() if self._now else None
        try:
            reply = await self.judge.ask(ask.state, keyed)
        except JudgeRefused:
            raise
        except JudgeError as error:
            failure = Failure(error.kind, error.message)
            return Exchange(
                self._next_id(), ask.state.sha256, {}, {}, repeat, latency_ms=error.latency_ms,
                attempts=error.attempts, failure=failure, asked_at=asked_at, replies=error.replies,
                input_tokens=error.input_tokens, output_tokens=error.output_tokens, cost_usd=error.cost_usd,
            )  # fmt: skip
        return Exchange(
            id=self._next_id(),
            state_sha256=ask.state.sha256,
            answers={question.sha256: reply.answers[key] for key, question in keyed.items()},
            questions=missing,
            repeat=repeat,
            model=reply.model,
            latency_ms=reply.latency_ms,
            attempts=reply.attempts,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            cost_usd=reply.cost_usd,
            request_id=reply.request_id,
            asked_at=asked_at,
            replies=reply.replies,
        )
