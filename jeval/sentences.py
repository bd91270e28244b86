"""Where one sentence ends and the next begins.

Rules a reader can check by hand, no model: a terminator ends a sentence unless what stands around it says
otherwise (an abbreviation, an initial, a decimal, a list number). Each candidate is decided from a few
characters on either side, so any text takes linear time.
"""

import re

__all__ = ["split_sentences"]

_CANDIDATE = re.compile(r"[.!?\u2026\u3002\uff01\uff1f\uff61]+|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_CJK = frozenset("\u3002\uff01\uff1f\uff61")
_CLOSERS = frozenset("\"'”’»)]}*_」』）】》")
_LOOK_BACK = 16
_LAST_WORD = re.compile(r"[^\W_]+(?:\.[^\W_]+)*\Z")

# Followed by a capital they end no sentence; nobody is called "Dr" without a name.
_TITLES = frozenset("dr mr mrs ms mx prof rev hon capt col gen lt sgt st mt messrs fr sr jr".split())
_NEVER_LAST = frozenset("e.g i.e vs cf viz approx resp incl excl esp ca dept est".split())
# End a sentence only where the next word looks like the start of one.
_PERHAPS_LAST = frozenset("etc inc ltd co corp p.m a.m u.s u.k u.s.a ph.d b.sc m.sc d.c e.u u.n al bros".split())
# Abbreviations only in front of a number: "No. 5", but "No. That is wrong."
_BEFORE_NUMBER = frozenset(
    "no nos nr fig figs p pp sec ch vol art para tel ext eq ver v "
    "jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
# Words that start a sentence far more often than they continue a name after an initial.
_STARTERS = frozenset(
    """a after all also an and any are as at be because before both but can could did do does each either
    every for from he her here his how however i if in is it its just let may my no not note on once one or
    our please she should since so some such thank thanks that the their then there these they this those to
    unless until was we were what when where which while who why will with would yes yet you your""".split()
)


def split_sentences(text: str, limit: int = 200) -> tuple[str, ...]:
    """The sentences of `text` in order, each as written and without space around it.

    Parts without a letter or a digit are dropped. Beyond `limit` (at least 1) neighbours are merged evenly,
    so that no word is lost. Never raises for any text.
    """
    spans = _spans(text)
    if len(spans) > limit:
        count = len(spans)
        groups = [spans[i * count // limit : (i + 1) * count // limit] for i in range(limit)]
        spans = [(group[0][0], group[-1][1]) for group in groups]
    return tuple(text[start:end] for start, end in spans)


def _spans(text: str) -> list[tuple[int, int]]:
    """Start and end of every sentence that holds a letter or a digit."""
    spans: list[tuple[int, int]] = []
    start = 0
    for found in _CANDIDATE.finditer(text):
        if found.start() < start:
            continue
        end = _end(text, start, found)
        if end is not None:
            _keep(text, start, end, spans)
            start = end
    _keep(text, start, len(text), spans)
    return spans


def _keep(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    part = text[start:end]
    if any(map(str.isalnum, part)):
        left = start + len(part) - len(part.lstrip())
        spans.append((left, start + len(part.rstrip())))


def _end(text: str, start: int, found: re.Match[str]) -> int | None:
    """Where the sentence that began at `start` ends if it ends at this terminator."""
    mark = found.group()
    end = found.end()
    if mark[0].isspace() or mark[0] in "\x1c\x1d\x1e":
        return end
    if mark[-1] in _CJK:
        return _past_closers(text, end)
    after = _past_closers(text, end)
    if after < len(text) and not text[after].isspace():
        return None  # inside a number, a URL, a file name, "e.g."
    following = _next_word(text, after)
    if mark == "." and not _period_ends(text, start, found.start(), following):
        return None
    pausing = mark == "…" or (len(mark) > 1 and mark.strip("!?"))
    if following[:1].islower() and (pausing or after > end):
        return None  # an ellipsis in mid-sentence; "Really?" he said
    return after


def _past_closers(text: str, at: int) -> int:
    while at < len(text) and text[at] in _CLOSERS:
        at += 1
    return at


def _next_word(text: str, at: int) -> str:
    """The first word of what follows on this line, or its first sign, or "" at the line's end."""
    window = text[at : at + 2 * _LOOK_BACK].split("\n", 1)[0].split(maxsplit=1)
    if not window:
        return ""
    return window[0].lstrip("\"'“‘«([{*_") or window[0]


def _period_ends(text: str, start: int, at: int, following: str) -> bool:
    """Whether the period at `at` ends a sentence; `following` is the word after it, "" at a line's end."""
    if not following:
        return True
    found = _LAST_WORD.search(text, max(start, at - _LOOK_BACK), at)
    if found is None:
        return True
    word = found.group().lower()
    first = following[0]
    if word in _NEVER_LAST or (word in _TITLES and first.isupper()):
        return False
    if word in _BEFORE_NUMBER:
        return not first.isdigit()
    starts = first.isupper() and following.rstrip(",;:.!?'’").lower() in _STARTERS
    if word in _PERHAPS_LAST:
        return starts
    if len(word) == 1 and found.group().isalpha():
        # An initial ("J. Smith") or a list letter; but "I" and a letter before a common first word end one.
        unit = text[max(start, found.start() - 2) : found.start()].strip()[-1:]  # "90 °C", "5 V"
        return starts or word == "i" or not first.isupper() or unit == "°" or unit.isdigit()
    if word.isdigit():
        return bool(text[start : found.start()].strip(" \t#>*_-(["))  # "1. Fill the tank" numbers a list item
    return True
