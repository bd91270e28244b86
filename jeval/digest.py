"""Making an overlong state fit the judge's limit, visibly.

First the middle of the conversation goes, as much as must: the earliest turns say what was wanted, the latest
what was answered. If that is not enough, long texts and lists lose their middle, evenly and ever more. One
marker stands wherever something was left out, and every cut is told in words.
"""

from typing import Any

from jeval.fingerprint import compact

__all__ = ["BYTES_PER_TOKEN", "digest", "estimate_tokens"]

# No tokenizer is published; English runs at about 4 bytes a token, dense JSON and other scripts at about 3.
BYTES_PER_TOKEN = 3

# (characters a text may keep, items a list may keep), from mild to severe.
_STEPS = ((20_000, 200), (10_000, 100), (5_000, 60), (2_000, 30), (1_000, 20), (500, 12), (200, 6), (80, 2))

# What is nested deeper is cut as JSON text, so that no nesting exhausts the stack.
_DEPTH = 30


def estimate_tokens(text: str) -> int:
    """A cautious estimate of a text's tokens, rounded up."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


def _size(body: Any) -> int:
    return len(compact(body).encode())


def digest(body: dict[str, Any], room: int) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The body cut to at most `room` bytes of JSON, and what was cut, in words.

    A room too small for even the severest cut gives the severest cut.
    """
    if _size(body) <= room:
        return body, ()
    turns = body.get("conversation", body.get("turns"))
    name = "conversation" if "conversation" in body else "turns"
    if isinstance(turns, list) and len(turns) > 2:
        kept = _most_turns(body, name, turns, room)
        if kept is not None:
            shorter, note = _middle_out(turns, kept, name)
            return {**body, name: shorter}, (note,)
    notes: list[str] = []
    for characters, items in _STEPS:
        notes = []
        smaller = {key: _shrink(value, characters, items, key, notes) for key, value in body.items()}
        if _size(smaller) <= room:
            return smaller, tuple(notes)
    # Deep nesting can survive every step; then each field that is still large is kept as a cut text.
    flat = {key: _flatten(value, key, notes) for key, value in smaller.items()}
    return flat, tuple(notes)


def _flatten(value: Any, path: str, notes: list[str]) -> Any:
    if isinstance(value, str):  # cut already
        return value
    text = compact(value)
    characters = _STEPS[-1][0]
    return value if len(text) <= characters else _shrink(text, characters, 0, path, notes)


def _most_turns(body: dict[str, Any], name: str, turns: list[Any], room: int) -> int | None:
    """How many turns can stay, at least 4, or None where cutting turns alone does not fit."""
    low, high, best = min(4, len(turns) - 1), len(turns) - 1, None
    while low <= high:
        middle = (low + high) // 2
        if _size({**body, name: _middle_out(turns, middle, name)[0]}) <= room:
            best, low = middle, middle + 1
        else:
            high = middle - 1
    return best


def _middle_out(items: list[Any], keep: int, path: str) -> tuple[list[Any], str]:
    """The first and last of `items`, `keep` in all, with a marker between; and a note of it."""
    head = (keep + 1) // 2
    tail = keep - head
    gone = len(items) - keep
    last = len(items) - tail
    marker: Any = f"[… {gone} left out by the evaluator to fit the judge's limit …]"
    if isinstance(items[0], dict):
        marker = {"omitted": marker}
    note = f"{path}: items {head + 1} to {last} of {len(items)} left out"
    return [*items[:head], marker, *items[last:]], note


def _shrink(value: Any, characters: int, items: int, path: str, notes: list[str], depth: int = 0) -> Any:
    if depth > _DEPTH and isinstance(value, list | dict):
        notes.append(f"{path}: nested too deeply, so it is shown as text")
        value = compact(value)
    if isinstance(value, str):
        if len(value) <= characters:
            return value
        head = characters * 2 // 3
        tail = characters - head
        gone = len(value) - characters
        notes.append(f"{path}: {gone:,} of {len(value):,} characters left out")
        return f"{value[:head]}[… {gone:,} characters left out …]{value[-tail:]}"
    if isinstance(value, list):
        gone = len(value) - items
        if gone > 0:
            value, note = _middle_out(value, items, path)
            notes.append(note)
        # Behind the marker an item's place is that in the whole list.
        places = (i if gone <= 0 or i <= (items + 1) // 2 else i + gone - 1 for i in range(len(value)))
        return [
            _shrink(item, characters, items, f"{path}[{place}]", notes, depth + 1)
            for place, item in zip(places, value, strict=True)
        ]
    if isinstance(value, dict):
        pairs = list(value.items())
        if len(pairs) > max(items, 12):
            gone = len(pairs) - max(items, 12)
            notes.append(f"{path}: {gone} of {len(pairs)} keys left out")
            pairs = [*pairs[: max(items, 12)], ("omitted", f"[… {gone} keys left out …]")]
        return {key: _shrink(item, characters, items, f"{path}.{key}", notes, depth + 1) for key, item in pairs}
    return value
