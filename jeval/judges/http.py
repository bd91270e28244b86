"""The judge over HTTP: any server or gateway of the System One protocol, or any chat model."""

import asyncio
import random as _random
import time
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from tenacity import AsyncRetrying

from jeval.errors import ConfigError, JudgeError, JudgeRefused, MalformedAnswer
from jeval.judges.address import refuse_plain_text
from jeval.judges.chat import Chat
from jeval.judges.faults import THROTTLED, AttemptFailed, Sent, refusal
from jeval.judges.gateways import HttpSettings, check_key
from jeval.judges.lean_httpx import httpx
from jeval.judges.pace import LONGEST_PAUSE_S, Gate, Pace
from jeval.judges.retry import persist, policy
from jeval.judges.transport import Received, exchange, new_transport
from jeval.judges.wire import SystemOne, Usage, Wire
from jeval.question import Question, Reply
from jeval.state import State

__all__ = ["HttpJudge"]

# Some local servers insist on a bearer token and take any.
_PLACEHOLDER_KEY = "local"


class _Lane:
    """What asks in one event loop share: connections, the pace, and since when nothing has worked."""

    def __init__(self, judge: "HttpJudge") -> None:
        settings = judge.settings
        self.transport = judge.transport or new_transport(settings.url, settings.concurrency)
        self.pace = Pace()
        self.gate = Gate(self.pace, judge.clock, judge.sleep)
        self.slots = asyncio.Semaphore(settings.concurrency)
        self.asking = 0
        self.reached = False  # any reply at all, ever
        self.silent_since = 0.0  # no usable answer since, though asked
        self.failed_at = 0.0  # the last request without one

    @property
    def silent_s(self) -> float:
        """For how long requests have been seen to fail, and none to work."""
        return self.failed_at - self.silent_since


class HttpJudge:
    """Asks a server in its own protocol, again where that helps, no faster than it likes to be asked.

    One judge serves any number of event loops, one after another or at once; each has its own connections and
    pace. `transport` stands in for the network in tests; `clock` and `sleep` for time.
    """

    simulated = False

    def __init__(
        self,
        settings: HttpSettings,
        *,
        key: str | None,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = _random.random,
    ) -> None:
        try:
            url = httpx.URL(settings.url)
        except httpx.InvalidURL as error:
            raise ConfigError(f"judge.base_url is {settings.base_url!r:.80}: {error}; correct it") from None
        if key is not None:
            check_key(key, "the judge's key")
            refuse_plain_text(url.scheme, url.host)
        self.name, self.gateway, self.model = settings.name, settings.gateway, settings.model
        self.settings, self.transport = settings, transport
        self.clock, self.sleep, self.random = clock, sleep, random
        self.wire: Wire = Chat(settings) if settings.protocol == "chat" else SystemOne(settings)
        self._key = key
        self._url = url
        self._headers = httpx.Headers(
            {
                "authorization": f"Bearer {key or _PLACEHOLDER_KEY}",
                "content-type": "application/json",
                "accept": "application/json",
                # Replies are small, and not every gateway's packing can be trusted.
                "accept-encoding": "identity",
                "user-agent": _user_agent(),
            }
        )
        self._lanes: dict[asyncio.AbstractEventLoop, _Lane] = {}

    def __repr__(self) -> str:
        return f"HttpJudge({self.settings!r})"

    async def ask(self, state: State, questions: Mapping[str, Question]) -> Reply:
        """Answer every question about the state, under its key.

        The reply's latency is the milliseconds of all attempts and the waits between them, without the wait
        for a free connection and for the pace. Raises JudgeError once it gives up, and JudgeRefused where
        every further request would fare alike.
        """
        lane = self._lanes.get(asyncio.get_running_loop()) or await self._open()
        if not lane.asking:
            lane.silent_since = self.clock()
        lane.asking += 1
        ask = _Ask(self, lane, state, questions)
        try:
            return await persist(ask.attempt_unless_hopeless, ask.retrying)
        except AttemptFailed as failure:
            raise self._given_up(failure, ask, lane) from None
        finally:
            lane.asking -= 1

    async def close(self) -> None:
        """Let go of this event loop's connections. A later ask opens new ones."""
        await self._drop([asyncio.get_running_loop()])

    async def _open(self) -> _Lane:
        lane = self._lanes[asyncio.get_running_loop()] = _Lane(self)
        await self._drop([loop for loop in self._lanes if loop.is_closed()])
        return lane

    async def _drop(self, loops: list[asyncio.AbstractEventLoop]) -> None:
        lanes = [self._lanes.pop(loop) for loop in loops if loop in self._lanes]
        for lane in lanes:
            if lane.transport is not self.transport:
                await lane.transport.aclose()

    def request(self, body: bytes) -> httpx.Request:
        return httpx.Request("POST", self._url, headers=self._headers, content=body)

    def sent(self, body: bytes) -> Sent:
        return Sent(body, self._key, self.settings.key_env, self.model)

    def _given_up(self, failure: AttemptFailed, ask: "_Ask", lane: _Lane) -> JudgeError:
        """The error for the caller: a refusal too where nothing works and has not for long."""
        refused, remedy = failure.refused, failure.remedy and f"; {failure.remedy}"
        if failure.kind in THROTTLED and (failure.retry_after_s or 0) > LONGEST_PAUSE_S:
            refused, remedy = True, f"; it asks to wait {failure.retry_after_s:.0f} s: run again after that"
        elif failure.kind == "connection" and not lane.reached:
            refused, remedy = True, "; is the server running, and is judge.base_url right?"
        elif (failure.transient or ask.hopeless) and lane.silent_s > LONGEST_PAUSE_S:
            refused, remedy = True, f"; nothing has worked for {lane.silent_s:.0f} s: run again later"
        tries = f", {ask.attempts} attempts" if ask.attempts > 1 else ""
        where = f"judge {self.name} ({self._url}{tries}): "
        message = where + failure.message[: 300 - len(where) - len(remedy)] + remedy
        took: dict[str, Any] = {"attempts": ask.attempts, "replies": ask.replies, "latency_ms": ask.spent() * 1000}
        took |= ask.used._asdict()
        if refused:
            return JudgeRefused(failure.kind, message, **took)
        if failure.kind == "malformed":
            return MalformedAnswer(message, **took)
        return JudgeError(failure.kind, message, **took)


class _Ask:
    """One ask under way: its request, what it has used up, and one attempt at a time."""

    __slots__ = (
        "attempts", "body", "judge", "lane", "last", "questions", "replies", "request", "started", "used", "waited",
    )  # fmt: skip

    def __init__(self, judge: HttpJudge, lane: _Lane, state: State, questions: Mapping[str, Question]) -> None:
        self.judge, self.lane, self.questions = judge, lane, questions
        self.body = judge.wire.build(state, questions)
        self.request = judge.request(self.body)
        self.attempts = self.replies = 0
        self.started = judge.clock()
        self.waited = 0.0
        self.used = Usage()  # by replies without usable answers
        self.last: AttemptFailed | None = None

    def spent(self) -> float:
        """Seconds so far, without those waited for a free connection or for the pace."""
        return self.judge.clock() - self.started - self.waited

    def retrying(self) -> AsyncRetrying:
        judge = self.judge
        return policy(
            max_attempts=judge.settings.max_attempts,
            budget_s=judge.settings.budget_s,
            spent=self.spent,
            random=judge.random,
            sleep=judge.sleep,
        )

    @property
    def hopeless(self) -> bool:
        """Nothing works and has not for long, though it might pass. A timeout has waited by itself: it may retry."""
        last = self.last
        if last is None or not last.transient or last.kind == "timeout":
            return False
        return self.lane.silent_s > LONGEST_PAUSE_S

    async def attempt_unless_hopeless(self) -> Reply:
        """As `attempt`, but what fails where nothing works is not to be tried again. Raises AttemptFailed."""
        try:
            self._despair()
            return await self.attempt()
        except _Hopeless:
            raise
        except AttemptFailed as failure:
            self.last, self.lane.failed_at = failure, self.judge.clock()
            self._despair()
            raise

    def _despair(self) -> None:
        if self.last is not None and self.hopeless:
            raise _Hopeless(self.last)

    async def attempt(self) -> Reply:
        """One request and its reply. Raises AttemptFailed."""
        judge, lane = self.judge, self.lane
        queued = judge.clock()
        async with lane.slots:
            ticket = await lane.gate.enter()
            self.waited += judge.clock() - queued
            self._despair()  # others may have found out meanwhile
            self.attempts += 1
            received = await self._exchange()
        self.replies += 1
        lane.reached = True
        trouble = ""
        if received.status == 200:
            try:
                reply = judge.wire.read(received.content, received.headers, self.questions)
            except MalformedAnswer as error:
                trouble = error.message
            except AttemptFailed:  # it is said already what is wrong, and what to do
                self._pay(received)
                lane.pace.answered(ticket, judge.clock())
                raise
            else:
                lane.silent_since = now = judge.clock()
                lane.pace.answered(ticket, now)
                latency_ms = (now - self.started - self.waited) * 1000
                reply = reply._replace(latency_ms=latency_ms, attempts=self.attempts, replies=self.replies)
                return reply if self.attempts == 1 else self._with_all_used(reply)
            self._pay(received)
        raise self._failure(received, ticket, trouble)

    def _pay(self, received: Received) -> None:
        self.used = self.used.plus(self.judge.wire.usage(received.content))

    def _with_all_used(self, reply: Reply) -> Reply:
        used = self.used.plus(Usage(reply.input_tokens, reply.output_tokens, reply.cost_usd))
        return reply._replace(**used._asdict())

    async def _exchange(self) -> Received:
        settings = self.judge.settings
        limit = min(settings.timeout_s, max(settings.budget_s - self.spent(), 0.001))
        try:
            async with asyncio.timeout(limit):
                return await exchange(self.lane.transport, self.request)
        except TimeoutError:
            raise AttemptFailed("timeout", f"no answer within {limit:.3g} s") from None

    def _failure(self, received: Received, ticket: int, trouble: str) -> AttemptFailed:
        """What a reply without usable answers means; `trouble` says what is wrong with a 200."""
        judge, pace = self.judge, self.lane.pace
        sent = judge.sent(self.body)
        # Some gateways put an error, with its own status, into a 200.
        failure = refusal(received.status, received.headers, received.content, sent, time.time())
        failure = judge.wire.advised(failure)
        if failure.kind in THROTTLED:
            pace.throttled(ticket, judge.clock(), failure.retry_after_s)
        else:
            pace.answered(ticket, judge.clock())
        if failure.kind == "malformed" and trouble:
            return AttemptFailed("malformed", trouble)
        return failure


class _Hopeless(AttemptFailed):
    """A failure that a second attempt might mend, were there any hope."""

    def __init__(self, last: AttemptFailed) -> None:
        super().__init__(last.kind, last.message, retry_after_s=last.retry_after_s, remedy=last.remedy)

    @property
    def transient(self) -> bool:
        return False


def _user_agent() -> str:
    try:
        return f"jeval/{version('jeval')}"
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "jeval"
