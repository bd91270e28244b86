"""An event loop whose clock jumps to the next timer instead of waiting: a minute of pauses takes no time.

Only for code that touches no real socket; what becomes ready by itself, such as a socket, would be overtaken.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Jump(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
    def __init__(self) -> None:
        super().__init__()
        self.skipped = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise RuntimeError("nothing is scheduled: the code under test waits for ever")
        self.skipped += timeout
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """Begins at time 0 and moves only by what the code under test waits for."""

    def __init__(self) -> None:
        self._jump = _Jump()
        super().__init__(self._jump)

    def time(self) -> float:
        return self._jump.skipped


def run_virtually(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
