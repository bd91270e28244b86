"""Text in terminal columns: East Asian characters and most emoji take two, marks on another character none."""

import re
import unicodedata

from jeval.app.painter import plain

__all__ = ["clipped", "columns", "cut", "wrapped"]

_PIECES = re.compile(" +|[^ ]+")
_COLOUR = re.compile("(\x1b\\[[0-9;]*m)")


def _width(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def columns(text: str) -> int:
    """How many columns a text of one line takes."""
    return len(text) if text.isascii() else sum(map(_width, text))


def cut(text: str, width: int) -> str:
    """The text made plain, on one line of at most `width` columns."""
    safe = plain(text)
    if columns(safe) <= width:
        return safe
    kept, used = "", 1
    for character in safe:
        used += _width(character)
        if used > width:
            break
        kept += character
    return kept + "…"


def clipped(painted: str, width: int) -> str:
    """A line that is plain but for its colours, of no more than `width` columns."""
    if columns(_COLOUR.sub("", painted)) <= width:
        return painted
    kept, used = "", 0
    for piece in _COLOUR.split(painted):
        if _COLOUR.fullmatch(piece):
            kept += piece
            continue
        for character in piece:
            used += _width(character)
            if used > width:
                break
            kept += character
    return kept


def wrapped(text: str, width: int, most: int | None = None) -> list[str]:
    """The text's lines, made plain and broken at spaces into lines of at most `width` columns; at least one line.

    No more than `most` are made; the last of them may not be the text's last then.
    """
    found: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        found += _broken(plain(line.expandtabs(4)), max(2, width))
        if most is not None and len(found) >= most:
            return found[:most]
    return found


def _broken(line: str, width: int) -> list[str]:
    """A line as several, none wider; spaces where it is broken vanish."""
    found: list[str] = []
    current, used = "", 0
    for piece in _PIECES.findall(line):
        wide = columns(piece)
        if used + wide <= width:
            current, used = current + piece, used + wide
            continue
        if current.strip() or piece.isspace():
            found.append(current.rstrip())
            current, used = "", 0
        if piece.isspace():
            continue
        for character in piece:  # a word that may be wider than a line
            wide = _width(character)
            if used + wide > width:
                found.append(current.rstrip())
                current, used = "", 0
            current, used = current + character, used + wide
    return [*found, current.rstrip()]
