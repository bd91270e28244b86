"""A case's scores as lines of text: each with its reason, its breakdown by question, and what was written of it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jeval.app.painter import SIGNS, Painter, folded, packed, plain, titled

__all__ = ["score_lines"]

# Of a question with very many options the likeliest are shown; --json has them all.
_OPTIONS = 12


def score_lines(
    painter: Painter, scores: Sequence[Mapping[str, Any]], *, width: int, simulated: bool = False
) -> Iterator[str]:
    """Lines for a terminal of `width` columns, an empty one before each score.

    `scores` is what `case_scores` finds. A simulated judge cannot answer a metric's questions, so nothing of its
    scores is shown as passed or not. Texts are made safe to print and folded, none is cut.
    """
    for score in scores:
        yield ""
        yield _head(painter, score, simulated)
        yield from titled("because", score["reason"], width)
        if score["confidence"] is not None:
            text = f"{score['confidence']:g}, that of the least decisive question: no accuracy, and not used"
            yield from titled("confidence", text, width)
        yield from _breakdown(painter, score["breakdown"], width, simulated)
        if score["explanation"]:
            yield from _explanation(painter, score["explanation"], width)


def _head(painter: Painter, score: Mapping[str, Any], simulated: bool) -> str:
    name = painter.paint(plain(f"{score['metric_id']} {score['metric_version']}"), "bold")
    if score["score"] is None:
        return f"{painter.status(score['status'], score['status'].upper())}  {name}"
    notes = ["strict" if score["strict"] else f"threshold {score['threshold']:g}"]
    if score["breakdown"] and not any(row["applicable"] for row in score["breakdown"]):
        notes.append("no question applied")
    value = f"{score['score']:.4f}"
    if simulated:
        notes.append("simulated: it says nothing about the answer")
        return f"{painter.paint(f'~ {value}', 'yellow')}  {name} ({', '.join(notes)})"
    return f"{painter.status('pass' if score['passed'] else 'fail', value)}  {name} ({', '.join(notes)})"


def _breakdown(painter: Painter, rows: Sequence[Mapping[str, Any]], width: int, simulated: bool) -> Iterator[str]:
    """Of each question its position, whether it passed (strict only), value, weight, type, text and probabilities."""
    figures = [_figures(row, simulated) for row in rows]
    column = max((len(text) for text in figures), default=0)
    indent = " " * (column + 4)
    for row, text in zip(rows, figures, strict=True):
        kind = row["type"] if row["applicable"] else f"{row['type']}, does not apply"
        first, *rest = folded(f"{kind}: {row['question']}", width - len(indent))
        colour = "" if simulated or row["passed"] is None else "green" if row["passed"] else "red"
        yield f"  {painter.paint(f'{text:<{column}}', *filter(None, [colour]))}  {first}"
        for line in rest:
            yield indent + line
        for line in packed(_shares(row, width - len(indent)), width - len(indent)):
            yield indent + painter.paint(line, "bright_black")


def _figures(row: Mapping[str, Any], simulated: bool) -> str:
    value = f"{row['value']:.4f}" if row["applicable"] else "   n/a"
    sign = "" if simulated or row["passed"] is None else SIGNS["pass" if row["passed"] else "fail"] + " "
    weight = "" if row["weight"] == 1 else f" × {row['weight']:g}"
    return f"{row['position']:>2}  {sign}{value}{weight}"


def _shares(row: Mapping[str, Any], width: int) -> Iterator[str]:
    """The probabilities: levels in their order, other options the likeliest first."""
    found = list(row["probabilities"].items())
    if row["type"] != "score":
        found.sort(key=lambda item: -item[1])
    for name, p in found[:_OPTIONS]:
        yield from folded(f"{name} {p:.4g}", width)
    if len(found) > _OPTIONS:
        yield f"{len(found) - _OPTIONS} more"


def _explanation(painter: Painter, found: Mapping[str, Any], width: int) -> Iterator[str]:
    head = f"written afterwards by {found['model']}, a language model; it may be wrong, and is no part of the score:"
    for line in folded(head, width - 2):
        yield "  " + painter.paint(line, "bright_black")
    for part in found["text"].split("\n"):
        for line in folded(part, width - 4):
            yield f"    {line}".rstrip()
