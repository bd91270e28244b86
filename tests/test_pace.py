"""pace.py: how fast to ask, learnt from what is let through. Servers are simulated in virtual time."""

import asyncio
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.judges.pace import LONGEST_PAUSE_S, Gate, Pace
from tests.virtual_time import run_virtually


def burst(pace, size, away, now=0.0, wait_s=None):
    """Start `size` requests at once; the last `away` of them are turned away. Their tickets."""
    tickets = [pace.start(now) for _ in range(size)]
    for ticket in tickets[: size - away]:
        pace.answered(ticket, now + 0.01)
    for ticket in tickets[size - away :]:
        pace.throttled(ticket, now + 0.01, wait_s)
    return tickets


# The pace itself


def test_nothing_is_held_back_until_the_judge_says_too_many():
    pace = Pace()
    for _ in range(1000):
        assert pace.delay(0.0) == 0.0
        pace.answered(pace.start(0.0), 0.0)
    assert pace.rate(0.0) is None


def test_one_refusal_among_many_answers_is_no_limit():
    pace = Pace()
    burst(pace, 64, 3, wait_s=5.0)
    assert pace.rate(0.02) is None and pace.delay(0.02) == 0.0


def test_many_refusals_slow_everyone_down_at_once():
    pace = Pace()
    burst(pace, 64, 44)
    assert pace.rate(0.02) is not None and pace.delay(0.02) > 0


def test_a_burst_of_refusals_is_one_cut():
    pace = Pace()
    tickets = burst(pace, 64, 30)
    rate = pace.rate(0.02)
    for ticket in tickets:
        pace.throttled(ticket, 0.02)
    assert rate is not None and pace.rate(0.02) == rate


def test_a_wait_the_judge_asks_for_holds_back_everyone():
    pace = Pace()
    burst(pace, 64, 44, wait_s=3.0)
    assert pace.delay(0.01) == pytest.approx(3.0, abs=0.01)
    assert pace.delay(2.0) == pytest.approx(1.01, abs=0.01)


def test_the_longest_wait_asked_for_counts():
    pace = Pace()
    tickets = burst(pace, 64, 44, wait_s=1.0)
    pace.throttled(tickets[0], 0.02, 7.0)
    pace.throttled(tickets[1], 0.02, 2.0)
    assert pace.delay(0.02) == pytest.approx(7.0, abs=0.01)


def test_an_absurd_wait_is_bounded():
    pace = Pace()
    burst(pace, 64, 44, wait_s=1e9)
    assert pace.delay(0.01) <= LONGEST_PAUSE_S


def test_the_wait_ends_early_where_a_later_request_is_let_in():
    pace = Pace()
    burst(pace, 64, 44, wait_s=30.0)
    ticket = pace.start(0.5)  # someone who had already been let go
    pace.answered(ticket, 0.6)
    assert pace.delay(0.7) < 1.0


def test_the_rate_comes_back_gradually_and_the_limit_is_forgotten():
    pace = Pace()
    burst(pace, 64, 44)
    rates = [pace.rate(0.02 + second) for second in range(9)]
    assert rates == sorted(rates)
    assert rates[4] - rates[3] < rates[1] - rates[0]  # slow around the rate that was too much
    assert pace.rate(60.0) is None and pace.delay(60.0) == 0.0


def test_requests_are_spaced_out_evenly():
    pace = Pace()
    burst(pace, 64, 44)
    now, starts = 0.02, []
    for _ in range(20):
        now += pace.delay(now)
        pace.start(now)
        starts.append(now)
    gaps = [b - a for a, b in pairwise(starts)]
    assert max(gaps) < 1.5 * min(gaps)


events = st.lists(
    st.tuples(st.floats(0, 2), st.sampled_from(["start", "answered", "throttled"]), st.none() | st.floats(0, 1e6)),
    max_size=200,
)


@given(events=events, threshold=st.integers(0, 5))
def test_whatever_happens_a_request_may_start_within_a_bounded_time(events, threshold):
    pace, now, open_tickets = Pace(), 0.0, []
    for step, what, wait_s in events:
        now += step
        if what == "start" or not open_tickets:
            open_tickets.append(pace.start(now))
        elif what == "answered":
            pace.answered(open_tickets.pop(0), now)
        else:
            pace.throttled(open_tickets.pop(-1), now, wait_s)
        assert 0.0 <= pace.delay(now) <= LONGEST_PAUSE_S + 2.1 * len(events)
        rate = pace.rate(now)
        assert rate is None or rate >= 0.499


# With a server behind it


class Window:
    """Lets through so many requests in any so many seconds, and says when the next would pass, if it may."""

    def __init__(self, limit, seconds=1.0, tells=True):
        self.limit, self.seconds, self.tells = limit, seconds, tells
        self.passed = []

    async def ask(self, now):
        limit = self.limit(now) if callable(self.limit) else self.limit
        self.passed = [then for then in self.passed if now - then < self.seconds]
        if len(self.passed) < limit:
            self.passed.append(now)
            await asyncio.sleep(0.05)
            return True, None
        return False, self.seconds - (now - self.passed[0]) + 0.001 if self.tells else None


class Bucket:
    """Lets through `rate` a second on average, `size` of them at once; tells nothing."""

    def __init__(self, rate, size):
        self.rate, self.size, self.tokens, self.then = rate, size, float(size), 0.0

    async def ask(self, now):
        self.tokens = min(self.size, self.tokens + (now - self.then) * self.rate)
        self.then = now
        passes = self.tokens >= 1
        self.tokens -= passes
        await asyncio.sleep(0.05)
        return passes, None


class Dice:
    """Turns away a share of requests, however many there are."""

    def __init__(self, share, wait_s=1.0):
        self.share, self.wait_s, self.random = share, wait_s, random.Random(5)

    async def ask(self, now):
        await asyncio.sleep(0.05)
        return (False, self.wait_s) if self.random.random() < self.share else (True, None)


def simulate(server, requests, workers=64, attempts=5):
    """(answers a second, refusals, requests given up) with so many workers."""

    async def main():
        loop = asyncio.get_running_loop()
        gate = Gate(Pace(), loop.time)
        todo, done, refused, lost = iter(range(requests)), 0, 0, 0

        async def work():
            nonlocal done, refused, lost
            for _ in todo:
                for attempt in range(attempts):
                    ticket = await gate.enter()
                    passed, wait_s = await server.ask(loop.time())
                    if passed:
                        gate.pace.answered(ticket, loop.time())
                        done += 1
                        break
                    refused += 1
                    gate.pace.throttled(ticket, loop.time(), wait_s)
                    await asyncio.sleep(wait_s or min(5.0, 0.5 * 2**attempt))
                else:
                    lost += 1

        await asyncio.gather(*(work() for _ in range(workers)))
        return done / loop.time(), refused, lost

    return run_virtually(main())


@pytest.mark.parametrize("tells", [True, False], ids=["with retry-after", "without"])
@pytest.mark.parametrize("limit", [20, 200])
def test_a_limited_server_is_used_well_and_seldom_asked_too_often(limit, tells):
    rate, refused, lost = simulate(Window(limit, tells=tells), 600 if limit == 20 else 3000)
    assert rate > 0.6 * limit
    assert refused < 150
    assert lost == 0


def test_a_minutes_allowance_is_waited_for():
    rate, refused, lost = simulate(Window(300, seconds=60.0), 900)
    assert rate > 0.7 * 300 / 60
    assert refused < 250 and lost == 0


def test_a_bucket_that_lets_a_burst_through_first_is_found_out():
    rate, refused, lost = simulate(Bucket(20, 200), 1500)
    assert rate > 0.8 * 20
    assert refused < 300 and lost < 15


def test_one_request_a_second_is_a_pace_too():
    rate, refused, lost = simulate(Window(1), 60)
    assert rate > 0.5 and refused < 80 and lost < 3


def test_a_limit_that_drops_is_followed():
    _, refused, lost = simulate(Window(lambda now: 100 if now < 4 else 10), 700)
    assert refused < 200 and lost == 0


def test_a_limit_that_rises_is_noticed():
    rate, _, lost = simulate(Window(lambda now: 10 if now < 5 else 200), 3000)
    assert rate > 60 and lost == 0


@pytest.mark.parametrize("share", [0.05, 0.2, 0.4])
def test_refusals_at_random_do_not_bring_the_rate_down_to_nothing(share):
    rate, _, lost = simulate(Dice(share), 2000)
    assert rate > 40
    assert lost <= 2000 * share**5 * 2 + 2


def test_a_judge_that_is_never_too_busy_is_asked_as_fast_as_can_be():
    rate, refused, _ = simulate(Dice(0.0), 6400)
    assert rate == pytest.approx(64 / 0.05) and refused == 0


# The gate


def test_those_who_wait_go_in_the_order_they_came():
    async def main():
        loop = asyncio.get_running_loop()
        gate, order = Gate(Pace(), loop.time), []
        burst(gate.pace, 64, 44, now=loop.time(), wait_s=1.0)

        async def pass_through(name):
            await gate.enter()
            order.append(name)

        await asyncio.gather(*(pass_through(n) for n in range(30)))
        return order

    assert run_virtually(main()) == list(range(30))


def test_one_who_gives_up_waiting_holds_nobody_up():
    async def main():
        loop = asyncio.get_running_loop()
        gate = Gate(Pace(), loop.time)
        burst(gate.pace, 64, 44, now=loop.time(), wait_s=2.0)
        tasks = [asyncio.ensure_future(gate.enter()) for _ in range(3)]
        await asyncio.sleep(0.5)
        tasks[0].cancel()
        tasks[1].cancel()
        await tasks[2]
        return loop.time()

    assert run_virtually(main()) < 2.5
