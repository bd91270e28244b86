"""Checks in a list, in a terminal: which case, which rubric, why, and what was answered where it failed."""

from collections.abc import Mapping, Sequence

from jeval.app.columns import cut
from jeval.app.painter import Painter, folded, plain, size
from jeval.report.overview import CheckLine

__all__ = ["print_checks"]


def print_checks(
    painter: Painter, checks: Sequence[CheckLine], answers: Mapping[str, str] | None = None, *, alike: bool = False
) -> None:
    """Checks, each on one line if all of them fit on theirs, else each with its reason beneath it.

    A failure has the beginning of its case's answer beneath, as far as `answers` has it by case id. `alike` leaves
    out status and severity, where a heading tells them.
    """
    heads = [_check_head(painter, check, alike) for check in checks]
    fit = all(4 + size(h) + len(plain(c.reason)) <= painter.width for h, c in zip(heads, checks, strict=True))
    for head, check in zip(heads, checks, strict=True):
        if fit:
            painter.line(f"  {head}: {plain(check.reason)}")
        else:
            painter.line(f"  {head}")
            for line in folded(plain(check.reason, 2 * painter.width), painter.width - 6):
                painter.line("      " + painter.paint(line, "bright_black"))
        answer = (answers or {}).get(check.case_id) if check.status == "fail" else None
        if answer:
            painter.line("      " + painter.paint(_quoted(answer, painter.width - 6), "bright_black"))


def _quoted(answer: str, width: int) -> str:
    """The beginning of an answer on one line; `cut` escapes what a terminal would obey."""
    return f"“{cut(' '.join(answer.split()), width - 2)}”"


def _check_head(painter: Painter, check: CheckLine, alike: bool) -> str:
    name = f"{check.case_id}  {check.rubric_id} {plain(check.rubric_version)}"
    critical = "critical" if check.severity == "critical" and not alike else ""
    marks = ", ".join(mark for mark in (critical, "" if check.required else "optional") if mark)
    if marks:
        name += f" ({marks})"
    return (
        painter.status(check.status, name) if alike else f"{painter.status(check.status, f'{check.status:<7}')}  {name}"
    )
