"""One check as somebody who labels it reads it: the case, the criterion, what the judge answered and code made of it.

Long texts are folded to what the screen holds, or shown whole; every text is shown as text.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jeval.app.columns import columns, cut, wrapped
from jeval.app.painter import COLOURS, SIGNS, Painter
from jeval.preamble import PREAMBLE
from jeval.report.overview import CheckLine

__all__ = ["Block", "case_blocks", "check_lines", "laid_out"]

_BAR = 20
_MARGIN = 12
# Characters of one text, even where all of it is wanted: nobody labels by more, and --json has it.
_LONGEST = 50_000
# Lines of a text, the most first: the first number with which a check fits the screen is taken.
_LIMITS = (60, 30, 20, 14, 10, 7, 5, 4, 3, 2, 1)
# Lines that the answer and the criterion get at least: they are what the label is about.
_LEAST_ANSWER, _LEAST_CRITERION = 4, 9
_OPTIONS = 6
# Columns of an option's name.
_NAME = 30


class Block(NamedTuple):
    """A text of the case and what it is. `main` texts are folded last; `aside` ones are for who wants to see all."""

    name: str
    text: str
    main: bool = False
    aside: bool = False


def case_blocks(case: Mapping[str, Any]) -> Iterator[Block]:
    """What there is of a case, in the order in which a person reads it."""
    for key, name in (("chatbotRole", "role"), ("scenario", "scenario")):
        if case.get(key):
            yield Block(name, case[key])
    yield from _conversation(case)
    yield Block("answer", case["output"], main=True)
    if case.get("expectedOutcome"):
        yield Block("should end", case["expectedOutcome"])
    for item in case.get("context") or ():
        title = " · ".join(str(item[key]) for key in ("title", "source") if item.get(key))
        yield Block("reference", f"[{item['id']}] {title}\n{item['content']}" if title else item["content"])
    if case.get("policy"):
        yield Block("policy", case["policy"])
    yield from _tools(case)
    if case.get("metadata"):
        yield Block("metadata", json.dumps(case["metadata"], ensure_ascii=False) + " (not sent)", aside=True)


def _conversation(case: Mapping[str, Any]) -> Iterator[Block]:
    """The messages and the turn under evaluation, which is not shown twice where the messages end with it."""
    said = [(message["role"], message["content"]) for message in case.get("messages") or ()]
    if said and said[-1] == ("assistant", case["output"]):
        said.pop()
    if said and said[-1] == ("user", case["input"]):
        said.pop()
    for role, content in said:
        yield Block(role, content)
    yield Block("user", case["input"])


def _tools(case: Mapping[str, Any]) -> Iterator[Block]:
    events = case.get("toolEvents")
    if events == []:
        yield Block("tools", "none was called")
    for event in events or ():
        lines = [f"{event['name']} {event['status']} ({event['id']})"]
        for key in ("input", "output", "error"):
            if event.get(key) is not None:
                value = event[key]
                lines.append(f"{key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}")
        yield Block("tool", "\n".join(lines))


def laid_out(
    painter: Painter,
    blocks: Sequence[Block],
    check: CheckLine,
    *,
    width: int,
    height: int | None,
) -> tuple[list[str], bool]:
    """The case and the check in lines of `width` columns, and whether anything is folded.

    With a `height` texts are folded so that no more lines than that are needed, as far as that can be; with None
    all is shown.
    """
    lines: list[str] = []
    folded = False
    for limit in (None,) if height is None else _LIMITS:
        lines, folded = [], False
        for block in blocks:
            if block.aside and limit is not None:
                continue
            most = None if limit is None else max(limit, _LEAST_ANSWER) if block.main else limit
            style = ("bold",) if block.main else ()
            shown, cut_short = _beside(painter, _margin(painter, block.name), block.text, width, most, *style)
            lines += shown
            folded = folded or cut_short
        shown, cut_short = check_lines(painter, check, width=width, most=limit)
        lines += ["", *shown]
        folded = folded or cut_short
        if height is None or len(lines) <= height:
            break
    return lines, folded


def _margin(painter: Painter, name: str, *styles: str) -> str:
    """A name at the right of the margin."""
    return painter.paint(f"{cut(name, _MARGIN - 1):>{_MARGIN - 1}}", *(styles or ("bright_black",))) + "  "


def _beside(
    painter: Painter, head: str, text: str, width: int, most: int | None, *styles: str
) -> tuple[list[str], bool]:
    """A text beside its head, in at most so many lines; and whether there is more of it."""
    room = max(10, width - _MARGIN - 1)
    lines = wrapped(text[:_LONGEST].rstrip("\n"), room, None if most is None else most + 1)
    folded = most is not None and len(lines) > most
    if folded:
        lines = lines[:most]
        lines[-1] = cut(lines[-1] + " …", room)
    elif len(text) > _LONGEST:
        lines.append(f"… {len(text) - _LONGEST:,} more characters: jeval show RUN CASE --json")
    painted = [painter.paint(line, *styles) if styles else line for line in lines]
    rest = (" " * (_MARGIN + 1) + line if line else "" for line in painted[1:])
    return [head + painted[0], *rest], folded


def check_lines(painter: Painter, check: CheckLine, *, width: int, most: int | None) -> tuple[list[str], bool]:
    """What was asked, what was answered and what code made of it; and whether anything is folded."""
    marks = ", ".join([check.kind, check.severity, *([] if check.required else ["optional"])])
    name = painter.paint(cut(f"{check.rubric_id} {check.rubric_version}", width - 4 - len(marks)), "bold")
    lines = [f"{name} ({marks})"]
    folded = False
    if check.criterion is not None:
        asked, room = check.criterion, None
        if most is not None:
            room = max(most, _LEAST_CRITERION)
            if asked.startswith(PREAMBLE):  # the same sentence before every criterion
                asked = "… " + asked[len(PREAMBLE) :].lstrip()
            asked = asked.replace("\n\n", "\n")
        shown, folded = _beside(painter, _margin(painter, "asked"), asked, width, room)
        lines += shown
    head = _margin(painter, f"{SIGNS[check.status]} {check.status}", "bold", COLOURS[check.status])
    decided = f"{check.reason} [rule {check.rule}]"
    shown, cut_short = _beside(painter, head, decided, width, None if most is None else max(most, 2))
    probabilities, left_out = _probabilities(painter, check, width, most)
    return [*lines, *shown, *probabilities], folded or cut_short or left_out


def _probabilities(painter: Painter, check: CheckLine, width: int, most: int | None) -> tuple[list[str], bool]:
    if not check.probabilities:
        return [], False
    several = isinstance(next(iter(check.probabilities.values())), Mapping)
    parts = check.probabilities if several else {"": check.probabilities}
    names = max(columns(cut(name, _NAME)) for part in parts.values() for name in part)
    lines: list[str] = []
    for part, distribution in parts.items():
        top = max(distribution.values())
        for i, (name, p) in enumerate(distribution.items()):
            shown = cut(name, _NAME)
            bar = painter.paint("━" * round(p * _BAR), "cyan" if p == top else "bright_black")
            padding = " " * (names - columns(shown))
            head = _margin(painter, "" if i else part)
            lines.append(f"{head}{shown}{padding}  {p:<6.4g} {bar}".rstrip())
    room = len(lines) if most is None else max(_OPTIONS, most)
    return lines[:room], len(lines) > room
