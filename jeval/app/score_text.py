"""A case's scores as lines of text: each with its breakdown, question by question."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from jeval.app.painter import plain

__all__ = ["score_lines"]

_SHOWN_OPTIONS = 4


def score_lines(
    scores: Sequence[Mapping[str, Any]],
    breakdown: Sequence[Mapping[str, Any]],
    explanations: Mapping[str, str] | None = None,
    *,
    width: int = 100,
) -> list[str]:
    """Lines for a terminal: of each metric its score, then a line for each question and its probabilities.

    `scores` and `breakdown` are rows of the views of the same names; `explanations` a text by metric id,
    where there are any. Texts are made safe to print and cut to `width` characters.
    """
    lines: list[str] = []
    for score in scores:
        lines.append(_head(score))
        if score["score"] is None:
            lines.append(f"  {plain(score['reason'], width)}")
        for row in breakdown:
            if row["metric_id"] == score["metric_id"]:
                lines += _question(row, width)
        if explanations and score["metric_id"] in explanations:
            lines.append("  explained afterwards by a model, without any effect on the score:")
            lines += [f"    {plain(part, width)}" for part in _folded(explanations[score["metric_id"]], width)]
    return lines


def _head(score: Mapping[str, Any]) -> str:
    name = f"{score['metric_id']} {score['metric_version']}"
    if score["score"] is None:
        return f"{name}: no score"
    verdict = "passed" if score["passed"] else "not passed"
    rule = "strict" if score["strict"] else f"threshold {score['threshold']:g}"
    sure = "" if score["confidence"] is None else f", least confidence {score['confidence']:.2f}"
    return f"{name}: {score['score']:.4f}, {verdict} ({rule}{sure})"


def _question(row: Mapping[str, Any], width: int) -> list[str]:
    value = f"{row['value']:.4f}" if row["applicable"] else "   n/a"
    weight = "" if row["weight"] == 1 else f" ×{row['weight']:g}"
    passed = {None: "", 0: " ✕", 1: " ✓"}[row["passed"]]
    first = f"  {row['position']:>2} {value}{passed}  {row['type']}{weight}: {row['question']}"
    return [plain(first, width), f"            {plain(_shares(row['probabilities']), width - 12)}"]


def _shares(probabilities: str) -> str:
    """The most probable options first, the rest counted."""
    found = sorted(json.loads(probabilities).items(), key=lambda item: -item[1])
    shown = [f"{name} {p:.2f}" for name, p in found[:_SHOWN_OPTIONS]]
    rest = len(found) - len(shown)
    return " · ".join(shown) + (f" · {rest} more" if rest else "")


def _folded(text: str, width: int) -> list[str]:
    import textwrap

    return [line for part in text.splitlines() for line in textwrap.wrap(part, width - 4)]
