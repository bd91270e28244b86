"""The geometry of the charts; the templates draw it. Widths in the units of a viewBox, probabilities 0 to
1."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

__all__ = ["Piece", "Point", "columns", "pieces", "spark"]

ORDER = ("fail", "error", "review", "pass", "skipped")


class Piece(NamedTuple):
    """One part of a bar of statuses."""

    status: str
    n: int
    x: float
    width: float


class Point(NamedTuple):
    """One point of a line."""

    x: float
    y: float


def pieces(counts: Mapping[str, int], width: float = 200) -> list[Piece]:
    """A bar of statuses, what needs eyes first. A status that occurs at all is at least 2 wide."""
    total = sum(counts.get(status, 0) or 0 for status in ORDER)
    if not total:
        return []
    wanted = {s: max(2.0, width * (counts.get(s) or 0) / total) for s in ORDER if counts.get(s)}
    scale = width / sum(wanted.values())
    found, x = [], 0.0
    for status, wide in wanted.items():
        found.append(Piece(status, counts[status], round(x, 2), round(wide * scale, 2)))
        x += wide * scale
    return found


def spark(values: Sequence[float | None], width: float = 96, height: float = 22) -> list[Point]:
    """A line through rates from 0 to 1, oldest first; unknown ones leave their place empty."""
    if len(values) < 2:
        return []
    step = (width - 6) / (len(values) - 1)
    return [
        Point(round(3 + i * step, 2), round(3 + (1 - value) * (height - 6), 2))
        for i, value in enumerate(values)
        if value is not None
    ]


def columns(runs: Sequence[Mapping[str, Any]], height: float = 160, width: float = 44) -> list[dict[str, Any]]:
    """Stacked columns, one a run, from the bottom: each with `x` and `parts` (status, n, y, height)."""
    tallest = max((sum(run["counts"].values()) for run in runs), default=0) or 1
    found = []
    for i, run in enumerate(runs):
        y, parts = height, []
        for status in ("pass", "review", "fail", "error", "skipped"):
            n = run["counts"].get(status, 0)
            tall = height * n / tallest
            y -= tall
            if n:
                parts.append({"status": status, "n": n, "y": round(y, 2), "height": round(tall, 2)})
        found.append({"x": round(i * (width + 20) + 10, 2), "width": width, "parts": parts, "run": run})
    return found
