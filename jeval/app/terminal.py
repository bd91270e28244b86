"""A terminal taken over for a while: keys as they are pressed, the whole screen written anew, and all given back.

POSIX only: `usable` says whether there is such a terminal.
"""

import os
import select
import signal
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any, TextIO

from jeval.app.columns import clipped

__all__ = ["Terminal", "usable"]

# How often it is looked whether the window has another size now.
_TICK_S = 0.5
# An escape sequence comes in one piece; a lone escape has nothing after it for so long.
_SEQUENCE_S = 0.05

_SEQUENCES = {
    b"\x1b[A": "up", b"\x1bOA": "up", b"\x1b[B": "down", b"\x1bOB": "down",
    b"\x1b[C": "right", b"\x1bOC": "right", b"\x1b[D": "left", b"\x1bOD": "left",
    b"\x1b[5~": "page up", b"\x1b[6~": "page down",
    b"\x1b[H": "home", b"\x1bOH": "home", b"\x1b[1~": "home", b"\x1b[F": "end", b"\x1bOF": "end", b"\x1b[4~": "end",
}  # fmt: skip
_NAMED = {b" ": "space", b"\r": "enter", b"\n": "enter", b"\x04": "q", b"\x1b": "escape"}


def usable(stdin: TextIO, stdout: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether keys can be read one by one here, and the screen be written anew."""
    try:
        import termios
    except ImportError:  # Windows
        return False
    if environ.get("TERM", "dumb") == "dumb" or not stdout.isatty():
        return False
    try:
        termios.tcgetattr(stdin.fileno())
    except (OSError, ValueError, termios.error):  # a pipe, or a stream without a file
        return False
    return True


class Terminal:
    """For as long as the block lasts keys are read one by one, on a screen of its own.

    However it ends (Ctrl-C, SIGTERM, SIGHUP, an exception, Ctrl-Z until it is called back), the terminal is as it was.
    Raises KeyboardInterrupt for the three signals.
    """

    def __init__(self, stdin: TextIO, stdout: TextIO) -> None:
        self._in, self._out = stdin.fileno(), stdout
        self._pending = b""
        self._drawn: tuple[int, int] | None = None
        self._saved: Any = None
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> "Terminal":
        import termios

        self._out.flush()
        self._saved = termios.tcgetattr(self._in)
        for name in (signal.SIGTERM, signal.SIGHUP):
            self._handlers[name] = signal.signal(name, _interrupt)
        self._handlers[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._stopped)
        self._take()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._give_back()
        finally:
            for name, handler in self._handlers.items():
                signal.signal(name, handler)

    def _take(self) -> None:
        import tty

        tty.setcbreak(self._in)
        self._write("\x1b[?1049h\x1b[2J")
        self._drawn = None

    def _give_back(self) -> None:
        import termios

        try:
            self._write("\x1b[?1049l")
        finally:
            termios.tcsetattr(self._in, termios.TCSADRAIN, self._saved)

    def _stopped(self, number: int, frame: FrameType | None) -> None:
        """Ctrl-Z: give the terminal back, stop, and take it again when called back."""
        self._give_back()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._stopped)
        self._take()

    def _write(self, text: str) -> None:
        # Past Python's buffer, which refuses who writes from a signal's handler in the middle of a write.
        left = text.encode(self._out.encoding or "utf-8", "backslashreplace")
        while left:
            left = left[os.write(self._out.fileno(), left) :]

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines, as they are now."""
        try:
            columns, lines = os.get_terminal_size(self._out.fileno())
        except OSError:
            columns, lines = 80, 24
        return max(columns, 20) if columns else 80, max(lines, 8) if lines else 24

    def draw(self, lines: Sequence[str]) -> None:
        """Write the screen anew with these lines: as much of each, and as many, as it holds."""
        self._drawn = self.size
        shown = [clipped(line, self._drawn[0]) for line in lines[: self._drawn[1]]]
        # Each line is cleared before it is written: after a full one, its last column would be cleared with the rest.
        self._write("\x1b[H" + "\n".join(f"\x1b[K{line}" for line in shown) + "\x1b[J")

    def key(self) -> str | None:
        """The next key by its name, or as itself; None where the window changed and wants to be written anew."""
        while not self._pending:
            ready, _, _ = select.select([self._in], [], [], _TICK_S)
            if self.size != self._drawn:
                return None
            if ready and not self._read():
                return "q"  # nobody is there any more
        return self._next()

    def _read(self) -> bool:
        found = os.read(self._in, 4096)
        self._pending += found
        if found.endswith(b"\x1b") and select.select([self._in], [], [], _SEQUENCE_S)[0]:
            self._pending += os.read(self._in, 4096)
        return bool(found)

    def _next(self) -> str:
        for sequence, name in _SEQUENCES.items():
            if self._pending.startswith(sequence):
                self._pending = self._pending[len(sequence) :]
                return name
        if self._pending[:2] in (b"\x1b[", b"\x1bO"):  # one that means nothing here: to its last byte
            end = next((i for i, byte in enumerate(self._pending[2:], 3) if 0x40 <= byte <= 0x7E), len(self._pending))
            self._pending = self._pending[end:]
            return "escape"
        first, self._pending = self._pending[:1], self._pending[1:]
        while first[0] >= 0x80 and self._pending[:1] and 0x80 <= self._pending[0] < 0xC0:  # a letter of several bytes
            first, self._pending = first + self._pending[:1], self._pending[1:]
        return _NAMED.get(first) or first.decode("utf-8", "replace")

    def line(self, prompt: str) -> str:
        """A line of text, written by the terminal's own means at the foot of the screen."""
        import termios
        import tty

        termios.tcsetattr(self._in, termios.TCSADRAIN, self._saved)
        self._write(f"\x1b[{self.size[1]};1H\x1b[K{prompt}")
        text = self._pending
        try:
            while b"\n" not in text:
                found = os.read(self._in, 4096)
                if not found:
                    break
                text += found
        finally:
            tty.setcbreak(self._in)
            self._drawn = None
        said, _, self._pending = text.partition(b"\n")
        return said.decode("utf-8", "replace")


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
