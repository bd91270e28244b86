"""How fast to ask: as fast as the caller likes until the judge says "too many", then as fast as it allows.

Published limits differ by source and by date, so none is written here. What the judge lets through and what
it turns away (429, 529) is the only evidence.

- A few refusals among many answers are the affair of those requests: each waits what it is told to. Four of
  them that make up three in ten replies are a limit. Requests are then spaced out at 0.7 of the rate that got
  through, and a wait the judge asks for holds all of them back, until it ends or a later request is let in.
- What was under way when the rate was cut counts no more: a burst of 64 refusals is one cut, not 64.
- From there the rate returns along a cubic curve: fast at first, slow around the rate that was too much, then
  fast until the limit is forgotten. Near the rate that was too much, half as many refusals cut again.
- Nothing but refusals is a window used up: all wait for half a second, then for twice as long each time.
- Refusals as frequent as before at a rate well below what got through do not come from our requests being
  counted. Spacing them out is no help then and is left off for a while, unless refusals become more frequent.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from itertools import islice
from typing import NamedTuple

__all__ = ["LONGEST_PAUSE_S", "Gate", "Pace"]

# Longer than any per-minute limit asks for. Who asks for more means "not today"; the caller gives up then.
LONGEST_PAUSE_S = 120.0

_CUT = 0.7  # of the rate that got through: room for others on the same key
_RETURN_S = 4.0  # from the cut back to the rate that was too much
_NEAR = 0.9  # of that rate: from here on less is needed to cut again
_FORGET = 4.0  # times that rate: nobody is limiting us any more
_SLOWEST = 0.5  # requests a second: slower than that is a judge that is not there
_LOOK_S, _FEWEST, _LAST = 1.0, 20, 128  # how far back evidence counts, in seconds and in replies
_MANY, _SHARE, _SHARE_NEAR = 4, 0.3, 0.15  # how many refusals, and what share of replies, make a limit
_SHUT, _SHUT_MANY = 0.8, 8  # and what makes a closed door
_SHUT_S, _SHUT_LONGEST_S = 0.5, 30.0
_AS_BEFORE = 0.7  # of the share refused at a higher rate: no help to have slowed down
_LEFT_OFF_S, _NO_DOUBT_S = (
    10.0,
    60.0,
)  # how long slowing down is left off, and not left off where that was wrong
_LATE_S = 0.05  # how far behind its slot a request may start without the next being put off: timers are coarse
_PEEK_S = 0.05  # how often a request that is held back looks whether it may go


class _Look(NamedTuple):
    """What became of the requests sent since the pace last changed."""

    away: int  # refusals among the last 128 replies
    share: float  # and their share, 0 to 1
    through: int  # let through in the last second, or among the last 20 replies where those took longer
    span: float  # and in how many seconds that was


class _Replies:
    """The last replies since some time: when, and whether let through."""

    def __init__(self) -> None:
        self._kept: deque[tuple[float, bool]] = deque(maxlen=4096)
        self.since = 0.0
        self.counted = 0

    def add(self, now: float, through: bool) -> None:
        self._kept.append((now, through))
        self.counted += 1

    def restart(self, now: float) -> None:
        self._kept.clear()
        self.since, self.counted = now, 0

    def look(self, now: float) -> _Look:
        """Needs at least one reply."""
        kept = self._kept
        while len(kept) > _FEWEST and kept[0][0] < now - _LOOK_S:
            kept.popleft()
        last = [through for _, through in islice(reversed(kept), _LAST)]
        away = last.count(False)
        begun = max(self.since, min(kept[0][0], now - _LOOK_S))
        return _Look(away, away / len(last), sum(through for _, through in kept), now - begun)


class _LeftOff(NamedTuple):
    """Slowing down was no help: until when it is left off, at what share of refusals, at what ceiling."""

    until: float
    share: float
    ceiling: float


class Pace:
    """When the next request may start. Pure: times, in seconds of any clock that never goes back, come in.

    Each request takes a ticket from `start`, handed back with what became of it. Tickets grow by one.
    """

    def __init__(self) -> None:
        self._tickets = 0
        self._old_ticket = 0  # the last one given out before the pace changed
        self._ceiling: float | None = None  # requests a second that were too much; None: no limit known
        self._since = 0.0  # when the rate began to return from the cut
        self._next_slot = 0.0
        self._not_before = 0.0
        self._told = 0  # the last ticket given out before everyone was told to wait
        self._replies = _Replies()
        self._before: tuple[float, float] | None = None  # what got through a second at the last cut, share refused
        self._shuts = 0  # closed doors in a row
        self._left_off: _LeftOff | None = None
        self._doubt_from = 0.0

    def rate(self, now: float) -> float | None:
        """Requests a second at present, None where nothing limits them."""
        if self._ceiling is None:
            return None
        elapsed = max(0.0, now - self._since)
        growth = 1 + (1 - _CUT) * ((elapsed - _RETURN_S) / _RETURN_S) ** 3
        if growth >= _FORGET:
            self._ceiling = self._before = None
            return None
        return self._ceiling * growth

    def delay(self, now: float) -> float:
        """Seconds until a request may start; 0.0 means now."""
        if now < self._not_before:
            return self._not_before - now
        if self._ceiling is None:
            return 0.0
        return max(0.0, self._next_slot - now)

    def start(self, now: float) -> int:
        """Note that a request starts now; its ticket."""
        self._tickets += 1
        if self._ceiling is not None and (rate := self.rate(now)):
            self._next_slot = max(self._next_slot, now - _LATE_S) + 1 / rate
        return self._tickets

    def answered(self, ticket: int, now: float) -> None:
        """The request was let through, whatever its answer is worth."""
        if ticket > self._old_ticket:
            self._replies.add(now, True)
        if now < self._not_before and ticket > self._told:
            self._not_before = now  # sent after those that were told to wait, so the door is open

    def throttled(self, ticket: int, now: float, wait_s: float | None = None) -> None:
        """The request was turned away as one too many; `wait_s` is how long the judge asks to wait.

        The wait counts for all requests only where there is a limit: see above.
        """
        if ticket > self._old_ticket:
            self._replies.add(now, False)
            look = self._replies.look(now)
            if self._left_off is None:
                self._judge(now, look)
            else:
                self._watch(now, look, self._left_off)
        if wait_s and self._ceiling is not None and ticket <= self._old_ticket:
            self._pause(now, min(wait_s, LONGEST_PAUSE_S))

    def _judge(self, now: float, look: _Look) -> None:
        """Is there a limit, and is it below the present rate?"""
        rate = self.rate(now)
        near = rate is not None and self._ceiling is not None and rate >= _NEAR * self._ceiling
        if look.away < _MANY or look.share < (_SHARE_NEAR if near else _SHARE):
            return
        if rate is None or self._ceiling is None:
            # Refusals come back before answers do: most of what is under way will get through.
            under_way = self._tickets - self._old_ticket - self._replies.counted
            self._cut(now, (look.through + under_way) / max(_LOOK_S, look.span))
        elif look.share > _SHUT:
            if look.away >= _SHUT_MANY:
                self._shut(now, rate)
        elif look.span < _LOOK_S:
            return  # too early to tell what gets through at this rate
        elif self._in_vain(now, rate, look):
            self._left_off = _LeftOff(now + _LEFT_OFF_S, look.share, self._ceiling)
            self._ceiling = self._before = None
            self._not_before = now
            self._count_from(now)
        else:
            through = look.through / look.span
            self._cut(now, min(rate, through))
            self._before = through, look.share

    def _in_vain(self, now: float, rate: float, look: _Look) -> bool:
        if self._before is None or now < self._doubt_from:
            return False
        through, share = self._before
        return rate < _NEAR * through and look.share >= _AS_BEFORE * share

    def _watch(self, now: float, look: _Look, left_off: _LeftOff) -> None:
        """While slowing down is left off: was that right?"""
        if now >= left_off.until:
            self._left_off = None
        elif self._replies.counted >= 2 * _FEWEST and look.share > (1 + left_off.share) / 2:
            self._left_off = None
            self._doubt_from = now + _NO_DOUBT_S
            self._cut(now, left_off.ceiling)

    def _cut(self, now: float, too_much: float) -> None:
        self._ceiling = max(too_much, _SLOWEST / _CUT)
        self._since = max(now, self._not_before)
        self._next_slot = self._since + 1 / (self._ceiling * _CUT)
        self._shuts = 0
        self._count_from(self._since)

    def _shut(self, now: float, rate: float) -> None:
        """Nothing gets through. Once says that a window is used up; again, that the rate is wrong too."""
        shuts = self._shuts
        self._pause(now, min(_SHUT_S * 2.0**shuts, _SHUT_LONGEST_S))
        if shuts:
            self._cut(now, rate / 2)
        self._count_from(self._not_before)
        self._shuts = shuts + 1

    def _pause(self, now: float, seconds: float) -> None:
        self._not_before = max(self._not_before, now + seconds)
        self._told = self._tickets
        self._since = self._replies.since = max(self._since, self._not_before)

    def _count_from(self, now: float) -> None:
        """Count afresh, and only what is sent from here on."""
        self._old_ticket = self._tickets
        self._replies.restart(now)


class Gate:
    """Where requests of one event loop queue until the pace lets them start, first come first served."""

    def __init__(
        self,
        pace: Pace,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.pace = pace
        self._clock, self._sleep = clock, sleep
        self._turn = asyncio.Lock()

    async def enter(self) -> int:
        """Wait until a request may start; its ticket."""
        now = self._clock()
        if not self._turn.locked() and self.pace.delay(now) <= 0:
            return self.pace.start(now)
        # One at a time looks at the clock, so that a cut or a pause reaches all who wait behind it.
        async with self._turn:
            while (delay := self.pace.delay(now := self._clock())) > 0:
                await self._sleep(min(delay, _PEEK_S))
            return self.pace.start(now)
