"""retry.py: what is tried again, after how long, how often. All in virtual time."""

import asyncio
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.judges.faults import TRANSIENT, AttemptFailed
from jeval.judges.retry import StopWithinBudget, WaitAsTold, WaitBackOff, persist, policy
from tests.virtual_time import run_virtually


def after(attempt, error=None):
    """What tenacity tells a policy after an attempt."""
    outcome = SimpleNamespace(exception=lambda: error) if error else None
    return SimpleNamespace(attempt_number=attempt, outcome=outcome, upcoming_sleep=0.0)


class Attempts:
    """Fails as told, once for each failure, then succeeds."""

    def __init__(self, *failures, seconds=0.0):
        self.failures, self.seconds = list(failures), seconds
        self.times = []

    async def __call__(self):
        self.times.append(asyncio.get_running_loop().time())
        await asyncio.sleep(self.seconds)
        if self.failures:
            raise self.failures.pop(0)
        return "answered"


def run(attempts, max_attempts=5, budget_s=60.0, random=lambda: 0.0):
    async def main():
        loop = asyncio.get_running_loop()
        return await persist(
            attempts,
            lambda: policy(max_attempts=max_attempts, budget_s=budget_s, spent=loop.time, random=random),
        )

    return run_virtually(main())


def failed(kind="server_error", **more):
    return AttemptFailed(kind, f"it was a {kind}", **more)


# Policies


def test_the_wait_doubles_up_to_the_longest():
    waits = [WaitBackOff(lambda: 0.0)(after(n)) for n in range(1, 8)]
    assert waits == [0.5, 1.0, 2.0, 4.0, 5.0, 5.0, 5.0]


@given(attempt=st.integers(1, 10_000), random=st.floats(0, 1, exclude_max=True))
def test_jitter_takes_off_a_quarter_at_most(attempt, random):
    whole = WaitBackOff(lambda: 0.0)(after(attempt))
    assert 0.75 * whole <= WaitBackOff(lambda: random)(after(attempt)) <= whole <= 5.0


def test_the_judge_is_believed_about_how_long_to_wait():
    wait = WaitAsTold(WaitBackOff(lambda: 0.0))
    assert wait(after(1, failed("rate_limited", retry_after_s=17.0))) == 17.0
    assert wait(after(1, failed("rate_limited", retry_after_s=0.0))) == 0.0
    assert wait(after(1, failed("rate_limited"))) == 0.5


def test_a_sleep_past_the_budget_is_not_begun():
    state = after(1)
    state.upcoming_sleep = 3.0
    assert not StopWithinBudget(lambda: 6.9, 10.0)(state)
    assert StopWithinBudget(lambda: 7.0, 10.0)(state)


# Together


def test_an_attempt_that_succeeds_is_all_there_is():
    attempts = Attempts()
    assert run(attempts) == "answered"
    assert attempts.times == [0.0]


def test_the_happy_path_makes_no_policy():
    async def main():
        return await persist(Attempts(), lambda: pytest.fail("a policy was made"))

    assert run_virtually(main()) == "answered"


@pytest.mark.parametrize("kind", sorted(TRANSIENT))
def test_what_may_pass_by_itself_is_tried_again(kind):
    attempts = Attempts(failed(kind), failed(kind))
    assert run(attempts) == "answered"
    assert attempts.times == [0.0, 0.5, 1.5]


@pytest.mark.parametrize("kind", ["bad_request", "too_large", "auth", "not_found", "redirect", "unknown_model"])
def test_nothing_else_is_tried_again(kind):
    attempts = Attempts(failed(kind))
    with pytest.raises(AttemptFailed, match=kind):
        run(attempts)
    assert len(attempts.times) == 1


def test_a_later_refusal_ends_it_too():
    attempts = Attempts(failed("timeout"), failed("auth"))
    with pytest.raises(AttemptFailed, match="auth"):
        run(attempts)
    assert len(attempts.times) == 2


def test_a_failure_every_request_would_meet_is_not_tried_again_whatever_its_kind():
    attempts = Attempts(failed("connection", refused=True))
    with pytest.raises(AttemptFailed):
        run(attempts)
    assert len(attempts.times) == 1


@pytest.mark.parametrize("most", [1, 2, 5])
def test_so_many_attempts_and_no_more(most):
    attempts = Attempts(*(failed() for _ in range(10)))
    with pytest.raises(AttemptFailed):
        run(attempts, max_attempts=most)
    assert len(attempts.times) == most


def test_the_last_error_is_the_one_that_is_raised():
    attempts = Attempts(failed("timeout"), failed("malformed"), failed("overloaded"))
    with pytest.raises(AttemptFailed, match="overloaded"):
        run(attempts, max_attempts=3)


def test_it_gives_up_at_once_where_the_wait_would_pass_the_budget():
    attempts = Attempts(failed("rate_limited", retry_after_s=61.0))

    async def main():
        loop = asyncio.get_running_loop()
        with pytest.raises(AttemptFailed, match="rate_limited"):
            await persist(
                attempts,
                lambda: policy(max_attempts=5, budget_s=60.0, spent=loop.time, random=lambda: 0.0),
            )
        return loop.time()

    assert run_virtually(main()) == 0.0


def test_slow_attempts_use_up_the_budget_too():
    attempts = Attempts(*(failed("timeout") for _ in range(10)), seconds=9.0)
    with pytest.raises(AttemptFailed, match="timeout"):
        run(attempts, max_attempts=100, budget_s=30.0)
    assert attempts.times == [0.0, 9.5, 19.5]


def test_a_bug_is_not_tried_again():
    attempts = Attempts(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        run(attempts)


@pytest.mark.parametrize("at", [0.25, 0.75, 1.2])
def test_cancelling_ends_it_at_once_asleep_or_not(at):
    attempts = Attempts(*(failed() for _ in range(10)), seconds=0.5)

    async def main():
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(
            persist(
                attempts,
                lambda: policy(max_attempts=9, budget_s=60.0, spent=loop.time, random=lambda: 0.0),
            )
        )
        await asyncio.sleep(at)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return loop.time()

    assert run_virtually(main()) == at


def test_many_at_once_do_not_mix_up_their_attempts():
    many = [Attempts(*(failed() for _ in range(n % 4))) for n in range(40)]

    async def main():
        loop = asyncio.get_running_loop()

        def retrying():
            return policy(max_attempts=5, budget_s=60.0, spent=loop.time, random=lambda: 0.0)

        return await asyncio.gather(*(persist(attempts, retrying) for attempts in many))

    assert run_virtually(main()) == ["answered"] * 40
    assert [len(attempts.times) for attempts in many] == [n % 4 + 1 for n in range(40)]
