"""Lines for people: text made plain, colours where a terminal wants them. Imports nothing heavy.

Text from cases, rubrics and judges is shown as text: control characters are escaped, so that none can move a
cursor or colour a line.
"""

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, TextIO

from jeval.report.escape import visible

__all__ = [
    "COLOURS",
    "SIGNS",
    "SIMULATED",
    "Painter",
    "duration",
    "flush",
    "folded",
    "hush",
    "packed",
    "plain",
    "size",
    "titled",
]

SIGNS = {"pass": "✓", "fail": "✕", "review": "?", "skipped": "–", "error": "!"}
COLOURS = {"pass": "green", "fail": "red", "review": "yellow", "skipped": "bright_black", "error": "magenta"}
_PAINT = re.compile("\x1b\\[[0-9;]*m")

# Of a file or a pipe; and a terminal narrower than the other gets lines that wrap.
_WIDTH, _NARROWEST = 100, 20

SIMULATED = "simulated: the offline judge only compares words"

_ANSI = {
    "green": "32",
    "red": "31",
    "yellow": "33",
    "bright_black": "90",
    "magenta": "35",
    "bold": "1",
    "cyan": "36",
}


def plain(text: str, width: int | None = None) -> str:
    """A text on one line with nothing in it that a terminal would obey; at most `width` characters."""
    safe = visible(text)
    return safe if width is None or len(safe) <= width else safe[: width - 1] + "…"


def folded(text: str, width: int) -> list[str]:
    """A text as plain lines of at most `width` columns, at least one; its line breaks are seen, not obeyed."""
    import textwrap

    return textwrap.wrap(plain(text), max(_NARROWEST, width)) or [""]


def titled(name: str, text: str, width: int) -> list[str]:
    """A text beside its name, folded so that the names of several stand in a column."""
    first, *rest = folded(text, width - 14)
    return [f"  {name:<11} {first}", *(" " * 14 + line for line in rest)]


def packed(parts: Iterable[str], width: int) -> list[str]:
    """Parts with dots between them, on as few lines of `width` columns as hold them; painted parts too.

    Empty parts are left out. A part that is longer than a line has one to itself.
    """
    lines: list[str] = []
    used = 0
    for part in filter(None, parts):
        columns = size(part)
        if lines and used + 3 + columns <= width:
            lines[-1] += f" · {part}"
            used += 3 + columns
        else:
            lines.append(part)
            used = columns
    return lines


def size(text: str) -> int:
    """The columns that a text takes, painted or not."""
    return len(_PAINT.sub("", text))


def hush(stream: TextIO) -> None:
    """Whoever read the stream has seen enough: what is still written goes nowhere, and nobody complains."""
    with suppress(OSError, ValueError):  # a stream without a file behind it
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def flush(stream: TextIO) -> None:
    """Write out what is buffered, if anybody still reads it."""
    try:
        stream.flush()
    except BrokenPipeError:
        hush(stream)


class Painter:
    """Writes lines to a stream, coloured where it is a terminal that wants colours."""

    def __init__(self, stream: TextIO, environ: Any) -> None:
        self._stream, self._environ = stream, environ
        self._colour = stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"

    @property
    def width(self) -> int:
        """Columns of the terminal, or what COLUMNS says; 100 where there is neither."""
        given = str(self._environ.get("COLUMNS", ""))
        if given.isdecimal() and int(given):
            return int(given)
        with suppress(OSError, ValueError):
            return os.get_terminal_size(self._stream.fileno()).columns or _WIDTH
        return _WIDTH

    def line(self, text: str = "") -> None:
        """Write one line."""
        try:
            print(text, file=self._stream)
        except BrokenPipeError:
            hush(self._stream)

    def paint(self, text: str, *styles: str) -> str:
        """The text in these styles, or as it is."""
        if not self._colour or not text:
            return text
        return f"\x1b[{';'.join(_ANSI[style] for style in styles)}m{text}\x1b[0m"

    def status(self, status: str, text: str) -> str:
        """A text in the colour of a status, after its sign."""
        return self.paint(f"{SIGNS[status]} {text}", COLOURS[status])


def duration(seconds: float) -> str:
    """Seconds as people say them: 4s, 3m 05s, 2h 10m."""
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02d}m"
