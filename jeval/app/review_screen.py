"""A review in front of somebody: a screen whose keys are read one by one, or lines where there is no such terminal."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from jeval.app.columns import columns, cut
from jeval.app.painter import SIGNS, Painter
from jeval.app.review_session import KEYS, LABELS, Session
from jeval.app.review_text import case_blocks, laid_out
from jeval.app.terminal import Terminal
from jeval.errors import ConfigError
from jeval.store.case_reading import read_case

__all__ = ["by_keys", "by_lines"]

_SCROLL = {"up": -1, "down": 1, "k": -1, "j": 1}
_PAGES = {"page up": -1, "page down": 1}
# Without a terminal: lines in a row that change nothing, after which nobody is taken to be there.
_MOST_IDLE = 20


def by_keys(
    session: Session, connection: sqlite3.Connection, run: sqlite3.Row, terminal: Terminal, painter: Painter
) -> None:
    """Review on a screen of its own until somebody ends it."""
    top, shown_for = 0, (-1, False)
    while not session.done:
        width, height = terminal.size
        head, foot = _head(painter, session, run, width), _foot(painter, session, width)
        room = height - len(head) - len(foot)
        body, folded = _body(painter, session, connection, run, width, None if session.unfolded else room)
        if shown_for != (session.place, session.unfolded):
            top, shown_for = 0, (session.place, session.unfolded)
        top = max(0, min(top, len(body) - room))
        _note_place(painter, foot, (top, room, len(body)), folded, width)
        visible = body[top : top + room]
        terminal.draw([*head, *visible, *[""] * (room - len(visible)), *foot])
        key = terminal.key()
        if key in _SCROLL:
            top += _SCROLL[key]
        elif key in _PAGES:
            top += _PAGES[key] * max(1, room - 2)
        elif key in ("home", "end"):
            top = 0 if key == "home" else len(body)
        elif key == "n" and session.current is not None:
            session.write_note(terminal.line("note: "))
        elif key not in (None, "escape"):
            session.press(cut(str(key), 12))


def by_lines(
    session: Session, connection: sqlite3.Connection, run: sqlite3.Row, stdin: TextIO, painter: Painter, width: int
) -> None:
    """Review line by line: each check is written out, and a line begins with a key (`p`, `n what is odd`, …).

    The end of the input ends the review. Raises ConfigError where line after line is no key.
    """
    words = {name: key for key, name in KEYS.items()} | {"": "enter"}
    shown, idle = (-1, False), 0
    while not session.done:
        if shown != (session.place, session.unfolded):
            shown = (session.place, session.unfolded)
            body, folded = _body(painter, session, connection, run, width, None if session.unfolded else 40)
            for line in [*_head(painter, session, run, width), *body, *([_more(painter)] if folded else [])]:
                painter.line(line)
        if session.message:
            painter.line(painter.paint(cut(session.message, width), "yellow"))
        painter.line(_keys_line(painter))
        line = stdin.readline()
        if not line:
            return
        word, _, rest = line.strip().partition(" ")
        key = words.get(word.lower(), word.lower())
        said = rest.encode("utf-8", "replace").decode()
        changed = session.write_note(said) if key == "n" else session.press(cut(key, 30))
        idle = 0 if changed else idle + 1
        if idle >= _MOST_IDLE:
            raise ConfigError(
                f"review: {idle} lines in a row are no use here, the last is {word!r:.40}; write a key a line"
            )


def _head(painter: Painter, session: Session, run: sqlite3.Row, width: int) -> list[str]:
    total = len(session.queue)
    where = f"{session.place + 1:,} of {total:,}" if session.current else f"end of {total:,}"
    labelled = f"{len(session.given):,} labelled"
    name = run["name"] or run["id"]
    rest = cut(f"{labelled} · run {name}", max(10, width - len(where) - 3))
    case = [painter.paint(cut(session.current[0], width), "bold")] if session.current else []
    return [painter.paint(where, "bold", "cyan") + painter.paint(f" · {rest}", "bright_black"), *case]


def _body(
    painter: Painter,
    session: Session,
    connection: sqlite3.Connection,
    run: sqlite3.Row,
    width: int,
    height: int | None,
) -> tuple[list[str], bool]:
    """What is to be judged at this place, and whether texts of it are folded."""
    if session.current is None:
        return ["", session.told(), "", "b goes back, u undoes the last label, q ends."], False
    case_id, rubric_id = session.current
    found = read_case(connection, run, case_id)
    check = next(check for check in found["checks"] if check.rubric_id == rubric_id)
    said = _said(painter, session, found["labels"], rubric_id, width)
    lines, folded = laid_out(
        painter,
        list(case_blocks(found["case"])),
        check,
        width=width,
        height=None if height is None else height - len(said),
    )
    return [*lines, *said], folded


def _said(
    painter: Painter, session: Session, labels: Sequence[Mapping[str, Any]], rubric_id: str, width: int
) -> list[str]:
    """What the reviewer said before. What others say is not shown, so that it sways nobody."""
    own = session.own
    lines = []
    if own is not None:
        note = f": {own.note}" if own.note else ""
        text = f"you labelled it {SIGNS[own.expected]} {own.expected}{note}"
        lines.append(painter.paint(cut(text, width), "cyan"))
    if session.note is not None:
        lines.append(painter.paint(cut(f"note: {session.note}", width), "cyan"))
    people = [label for label in labels if label["rubric_id"] == rubric_id and label["source"] == "human"]
    others = len(people) - (own is not None)
    if others > 0:
        lines.append(painter.paint(f"{others} other{'s' if others > 1 else ''} labelled it too", "bright_black"))
    return ["", *lines] if lines else []


def _foot(painter: Painter, session: Session, width: int) -> list[str]:
    message = painter.paint(cut(session.message, width), "yellow")
    keys = [(f"{key} {name}", f"{painter.paint(key, 'bold')} {name}") for key, name in KEYS.items()]
    whole = sum(columns(text) + 2 for text, _ in keys) - 2 <= width
    groups = [keys] if whole else [keys[: len(LABELS)], keys[len(LABELS) :]]
    rows = [row for group in groups for row in _packed(group, width)]
    return [painter.paint("─" * width, "bright_black"), *rows, message]


def _packed(texts: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Texts, each plain and painted, on as few rows as hold them."""
    rows: list[str] = []
    room = 0
    for text, painted in texts:
        wide = columns(text)
        if rows and wide + 2 <= room:
            rows[-1] += f"  {painted}"
            room -= wide + 2
        else:
            rows.append(painted)
            room = width - wide
    return rows


def _note_place(painter: Painter, foot: list[str], view: tuple[int, int, int], folded: bool, width: int) -> None:
    """Say in the line above the keys what is not on the screen."""
    top, room, total = view
    parts = []
    if total > room:
        parts.append(f"lines {top + 1}–{min(top + room, total)} of {total}, ↑↓ moves")
    if folded:
        parts.append("… folded, a shows all")
    if parts:
        text = cut(" ".join(["──", " · ".join(parts), ""]), width)
        foot[0] = painter.paint(text + "─" * (width - columns(text)), "bright_black")


def _keys_line(painter: Painter) -> str:
    shown = [
        "n TEXT note" if key == "n" else "empty next" if key == "space" else f"{key} {name}"
        for key, name in KEYS.items()
    ]
    return painter.paint("[" + " · ".join(shown) + "]", "bright_black")


def _more(painter: Painter) -> str:
    return painter.paint("… some texts are folded; a shows all", "bright_black")
