"""How a run is going: one live line on a terminal, a plain line now and then elsewhere. Always on stderr."""

import sys
import time
from collections.abc import Callable
from typing import Any, Protocol, TextIO

from jeval.app.painter import COLOURS, SIGNS, duration, hush
from jeval.counted import counted
from jeval.ruling import STATUSES
from jeval.summary import Summary

__all__ = ["COLOURS", "SIGNS", "Progress", "duration", "make_progress"]


class _State(Protocol):
    """What of a run the line shows."""

    summary: Summary
    cost_usd: float | None
    reused: int
    asked: int


class Progress:
    """Shows nothing; its subclasses do."""

    def begin(self, total: int) -> None:
        """A run of `total` cases begins."""

    def advance(self, state: _State) -> None:
        """One more case is done."""

    def end(self) -> None:
        """The run has ended, well or not."""


class _Clocked(Progress):
    """Knows how fast the run is and how long it has to go; tells it every `interval` seconds."""

    interval = 0.1

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._total, self._began, self._next = 0, 0.0, 0.0

    def begin(self, total: int) -> None:
        self._total, self._began = total, self._clock()
        self._next = self._began + self.interval

    def advance(self, state: _State) -> None:
        at = self._clock()
        if at >= self._next:
            self._next = at + self.interval
            self.show(state, at - self._began)

    def show(self, state: _State, elapsed: float) -> None:
        """Tell how it is going after `elapsed` seconds."""

    def facts(self, state: _State, elapsed: float) -> tuple[str, str, str]:
        """(done of total, rate and time left, cost), each as text."""
        done = state.summary.cases
        if not done:
            return f"0/{counted(self._total, 'case')}", f"waiting for the first answer, {duration(elapsed)}", ""
        rate = done / elapsed if elapsed > 0 else 0.0
        left = f"{duration((self._total - done) / rate)} left" if rate > 0 else "time left unknown"
        cost = f"${state.cost_usd:.4f}" if state.cost_usd is not None else ""
        pace = f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"
        return f"{done:,}/{counted(self._total, 'case')}", f"{pace}/s · {left}", cost


class PlainProgress(_Clocked):
    """A line every five seconds, for logs."""

    interval = 5.0

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self._stream = stream

    def show(self, state: _State, elapsed: float) -> None:
        done, pace, cost = self.facts(state, elapsed)
        counts = state.summary.counts
        shown = "  ".join(f"{SIGNS[status]} {counts[status]:,} {status}" for status in STATUSES if counts[status])
        line = "  ".join(part for part in (f"{done}  {pace}", shown, cost) if part)
        try:
            print(line, file=self._stream, flush=True)
        except BrokenPipeError:  # nobody reads the log any more: no reason to end the run
            hush(self._stream)


class LiveProgress(_Clocked):
    """One line that rewrites itself, with a bar where there is room for one."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        from rich.console import Console
        from rich.live import Live
        from rich.progress_bar import ProgressBar

        self._bar_type = ProgressBar
        self._console = Console(file=stream)
        self._live: Any = Live(console=self._console, auto_refresh=False, transient=True)

    def begin(self, total: int) -> None:
        super().begin(total)
        self._live.start()
        self._show(0, f"0/{counted(total, 'case')}  waiting for the first answer")

    def show(self, state: _State, elapsed: float) -> None:
        from rich.text import Text

        done, pace, cost = self.facts(state, elapsed)
        counts = state.summary.counts
        line = Text(f"{done}  {pace}")
        for status in STATUSES:
            if counts[status]:
                line.append(f"  {SIGNS[status]} {counts[status]:,}", style=COLOURS[status])
        line.append(f"  {cost}")
        self._show(state.summary.cases, line)

    def _show(self, done: int, line: Any) -> None:
        from rich.table import Table

        grid = Table.grid(padding=(0, 2))
        room = self._console.width - len(line) - 2
        if room >= 10:
            bar = self._bar_type(total=max(1, self._total), completed=done, width=min(24, room))
            grid.add_column(no_wrap=True)
            grid.add_column(no_wrap=True, overflow="ellipsis")
            grid.add_row(bar, line)
        else:
            grid.add_column(no_wrap=True, overflow="ellipsis")
            grid.add_row(line)
        self._live.update(grid, refresh=True)

    def end(self) -> None:
        self._live.stop()


def make_progress(stream: TextIO | None = None) -> Progress:
    """The line that suits the stream: live on a terminal, plain elsewhere."""
    target = sys.stderr if stream is None else stream
    return LiveProgress(target) if target.isatty() else PlainProgress(target)
