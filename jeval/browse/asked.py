"""The instruction of a check as it was sent, taken apart for reading: what was asked, question by question."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from jeval.preamble import PREAMBLE

__all__ = ["Asked", "asked"]


class Asked(NamedTuple):
    """One question: its name where a check asks several, else "", and its words without the preamble."""

    name: str
    text: str


def asked(criterion: str | None, names: Sequence[str]) -> list[Asked]:
    """What was asked, one entry a question; `names` are those of a check with several. Empty where nothing was.

    Of several questions each begins with its name in brackets, as `jeval.plan` puts them together.
    """
    if criterion is None:
        return []
    known = [name for name in names if name]
    if not known:
        return [Asked("", _without_preamble(criterion))]
    begin = re.compile(rf"(?:\A|\n\n)\[({'|'.join(map(re.escape, known))})\] (?={re.escape(PREAMBLE)})")
    _, *pieces = begin.split(criterion)
    if not pieces:
        return [Asked("", _without_preamble(criterion))]
    return [Asked(name, _without_preamble(text)) for name, text in zip(pieces[::2], pieces[1::2], strict=True)]


def _without_preamble(text: str) -> str:
    return text.removeprefix(PREAMBLE).strip()
