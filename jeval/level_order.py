"""Whether a scale's levels look as if they were written best first. English only, and only ever a warning."""

import re
from collections.abc import Sequence

__all__ = ["looks_reversed"]

_WORD = re.compile(r"[a-z]+(?:['’]t)?|\d+(?:\.\d+)?")

_GOOD = set(
    "acceptable accurate accurately adequate adequately appropriate attentive best better clear clearly"
    " coherent complete concise consistent correct correctly courteous covered exact excellent faithful"
    " flawless friendly good great grounded helpful honest ideal kind outstanding perfect polite precise"
    " relevant resolved right safe satisfactory satisfied strong successful superb supported thorough"
    " true useful warm".split()
)
_BAD = set(
    "abusive awful bad breach broken confusing contradicted contradicts cold critical dangerous error"
    " errors fabricated fail failed fails false harm harmful hostile hurtful ignored inaccurate"
    " incoherent incomplete inconsistent incorrect insulting invented irrelevant issue issues leak leaks"
    " lost major misleading mistake mistakes missing offensive omitted poor problem problems rude severe"
    " terrible toxic unacceptable unclear unfaithful ungrounded unhelpful unrelated unresolved unsafe"
    " unsupported useless vague violation violations weak worse worst wrong".split()
)
_NOT = set("no not none never nothing without neither nor zero isn't doesn't didn't wasn't aren't can't cannot".split())
# How much of what follows holds, 1 being all of it. Alone, as in "Partly", it is the level's own place.
_DEGREE = {
    **dict.fromkeys(
        "all always completely entire entirely every everything fully perfectly totally wholly".split(), 1.3
    ),
    **dict.fromkeys("generally largely mainly most mostly nearly usually".split(), 0.8),
    **dict.fromkeys("fairly half partial partially partly moderately some sometimes somewhat".split(), 0.5),
    **dict.fromkeys("barely few hardly little marginally minimal minimally minor rarely slightly".split(), 0.2),
}
_MARGIN = 0.5


def looks_reversed(levels: Sequence[str]) -> bool:
    """Whether the first level reads as better than the last, by their words or leading numbers."""
    if len(levels) < 2:
        return False
    numbers = [_leading_number(level) for level in levels]
    if all(number is not None for number in numbers):
        found = [number for number in numbers if number is not None]
        if found == sorted(found, reverse=True) and found[0] > found[-1]:
            return True
    return _goodness(levels[0]) - _goodness(levels[-1]) >= _MARGIN


def _leading_number(level: str) -> float | None:
    words = _WORD.findall(level.lower())
    return float(words[0]) if words and words[0][0].isdigit() else None


def _goodness(level: str) -> float:
    """Above 0 where the words praise, below 0 where they blame, in units of one plain word of either."""
    total, degree, negated = 0.0, None, False
    for word in _WORD.findall(level.lower().replace("’", "'")):
        if word in _NOT:
            negated = True
        elif word in _DEGREE:
            degree = _DEGREE[word]
        elif word in _GOOD or word in _BAD:
            sign = 1 if (word in _GOOD) != negated else -1
            total += sign * (1.0 if degree is None else degree)
            degree, negated = None, False
    if degree is not None:  # "Fully", "Not at all", "Mostly": a degree of what the question asks
        total += -degree if negated else degree
    elif negated:
        total -= 1
    return total
