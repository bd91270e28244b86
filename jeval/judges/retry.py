"""What is tried again, after how long and how often: small policies, put together by tenacity.

The happy path does not enter tenacity, which takes 30 µs a call: it is called in once a first attempt failed.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt
from tenacity.stop import stop_base
from tenacity.wait import wait_base

from jeval.judges.faults import AttemptFailed

__all__ = ["StopWithinBudget", "WaitAsTold", "WaitBackOff", "persist", "policy"]

T = TypeVar("T")


class WaitBackOff(wait_base):
    """`first` seconds, doubled each time up to `longest`, less a random part of up to `jitter` of it."""

    def __init__(
        self, random: Callable[[], float], first: float = 0.5, longest: float = 5.0, jitter: float = 0.25
    ) -> None:
        self.random, self.first, self.longest, self.jitter = random, first, longest, jitter

    def __call__(self, retry_state: RetryCallState) -> float:
        doubled = self.first * 2.0 ** min(retry_state.attempt_number - 1, 32)
        return min(doubled, self.longest) * (1 - self.jitter * self.random())


class WaitAsTold(wait_base):
    """As long as the judge asks for, where it does; else as `otherwise` says."""

    def __init__(self, otherwise: wait_base) -> None:
        self.otherwise = otherwise

    def __call__(self, retry_state: RetryCallState) -> float:
        error = retry_state.outcome.exception() if retry_state.outcome is not None else None
        if isinstance(error, AttemptFailed) and error.retry_after_s is not None:
            return error.retry_after_s
        return self.otherwise(retry_state)


class StopWithinBudget(stop_base):
    """Give up rather than sleep past the budget; `spent` tells the seconds used so far."""

    def __init__(self, spent: Callable[[], float], budget_s: float) -> None:
        self.spent, self.budget_s = spent, budget_s

    def __call__(self, retry_state: RetryCallState) -> bool:
        return self.spent() + retry_state.upcoming_sleep >= self.budget_s


def worth_another(error: BaseException) -> bool:
    """408, 429, 5xx, 529, timeouts, broken connections and malformed answers; nothing else."""
    return isinstance(error, AttemptFailed) and error.transient


def policy(
    *,
    max_attempts: int,
    budget_s: float,
    spent: Callable[[], float],
    random: Callable[[], float],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncRetrying:
    """How one ask is retried. Holds state: make one for each."""
    return AsyncRetrying(
        retry=retry_if_exception(worth_another),
        wait=WaitAsTold(WaitBackOff(random)),
        stop=stop_after_attempt(max_attempts) | StopWithinBudget(spent, budget_s),
        sleep=sleep,
        reraise=True,
    )


async def persist(attempt: Callable[[], Awaitable[T]], retrying: Callable[[], AsyncRetrying]) -> T:
    """The result of an attempt, made again as the policy says. Raises what the last one raised.

    `retrying` makes the policy; it is asked for one only where the first attempt fails.
    """
    try:
        return await attempt()
    except AttemptFailed as error:
        if not error.transient:
            raise
        first: list[AttemptFailed] = [error]

    async def again() -> T:
        if first:
            raise first.pop()  # the attempt that has been made is tenacity's first
        return await attempt()

    return await retrying()(again)
