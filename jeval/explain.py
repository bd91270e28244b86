"""What a language model is told when it is to put a settled score into prose. Pure.

It sees what the judge saw of the case, the texts of the questions and the judge's probabilities. It sees no
weights and no credits, and it is asked for no verdict: the score was settled by code before.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from jeval.fingerprint import compact
from jeval.preamble import PREAMBLE
from jeval.score import QuestionScore

__all__ = ["LONGEST_TEXT", "explainer_messages", "settled_text"]

LONGEST_TEXT = 4_000
"""Characters of an explanation that are kept."""

_TASK = (
    "A metric has scored one output of an AI assistant. The score was computed by code from a judge's"
    " answers to fixed questions; it is final. Explain in at most 120 words of plain prose, for the"
    " person who maintains the assistant, what in `state` fits these answers: quote the words that"
    " matter, and begin with the question that cost the score most. Where `state` does not show why an"
    " answer was given, say so. Give no score, no verdict and no advice of your own."
)


def explainer_messages(
    score: float, passed: bool, breakdown: Sequence[QuestionScore | Mapping[str, Any]], state: str
) -> list[dict[str, str]]:
    """The messages for a chat model. `state` is the JSON text that the judge saw, `breakdown` its rows."""
    outcomes = [_outcome(row if isinstance(row, Mapping) else row.as_dict()) for row in breakdown]
    told = compact({"score": round(score, 4), "passed": passed, "questions": outcomes})
    return [
        {"role": "system", "content": f"{_TASK}\n\n{PREAMBLE}"},
        {"role": "user", "content": f'{{"outcome":{told},"state":{state}}}'},
    ]


def _outcome(row: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"question": row["question"], "probabilities": row["probabilities"]}
    if not row["applicable"]:
        found["applies"] = False
    if row["passed"] is not None:
        found["passed"] = bool(row["passed"])
    return found


def settled_text(raw: Any) -> str | None:
    """What a model wrote as text to keep, at most `LONGEST_TEXT` characters, or None where it is none.

    Nothing in it is obeyed or believed. Whoever shows it must treat it as text from outside.
    """
    if not isinstance(raw, str):
        return None
    text = raw.encode("utf-8", "replace").decode().replace("\x00", "\ufffd").strip()
    if not text:
        return None
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
