"""A review: where in the queue one is, and what each key does."""

from collections.abc import Mapping
from typing import NamedTuple

from jeval.app.kept_labels import KeptLabels
from jeval.app.painter import SIGNS
from jeval.counted import counted
from jeval.errors import StoreError
from jeval.store.reviewing import Queue, StoredLabel

__all__ = ["KEYS", "LABELS", "NOTE_CAP", "Session"]

# What each key says is right.
LABELS = {"p": "pass", "f": "fail", "r": "review", "s": "skipped"}

# All that a key can do, in the order in which it is shown.
KEYS: Mapping[str, str] = {**LABELS, "n": "note", "a": "all", "space": "next", "b": "back", "u": "undo", "q": "quit"}

# Characters of a note.
NOTE_CAP = 10_000

_FORWARD, _BACK = ("space", "enter", "right"), ("b", "left")


class _Given(NamedTuple):
    """A label given in this session, and what it took the place of."""

    place: int
    expected: str
    before: StoredLabel | None


class Session:
    """One person goes through a queue. Its end is a place too, from which one can still go back."""

    def __init__(self, queue: Queue, kept: KeptLabels) -> None:
        self.queue, self.kept = queue, kept
        self.place = 0
        self.unfolded = False
        """Whether long texts are shown whole."""
        self.note: str | None = None
        """What goes with the label of this check, once it is given."""
        self.message = ""
        """What the last key did, where it cannot be seen."""
        self.done = False
        self._given: list[_Given] = []

    @property
    def current(self) -> tuple[str, str] | None:
        """The case id and rubric id of the check one is at; None at the end."""
        return self.queue[self.place] if self.place < len(self.queue) else None

    @property
    def own(self) -> StoredLabel | None:
        """What the reviewer said of this check."""
        return None if self.current is None else self.kept.own(*self.current)

    @property
    def given(self) -> dict[int, str]:
        """The labels given and not taken back, by place."""
        return {given.place: given.expected for given in self._given}

    def press(self, key: str) -> bool:
        """Do what the key is for; whether anything came of it. A key that is none leaves a message."""
        self.message = ""
        if key in LABELS:
            return self._label(LABELS[key])
        if key == "a":
            self.unfolded = not self.unfolded
        elif key in _FORWARD or key in _BACK:
            return self._go(self.place + (1 if key in _FORWARD else -1))
        elif key == "u":
            return self._undo()
        elif key == "q":
            self.done = True
        else:
            self.message = f"{key} is no key here"
            return False
        return True

    def write_note(self, text: str) -> bool:
        """Take a note for this check: with the label it has, or the one it gets. An empty one takes it away."""
        self.message = ""
        if self.current is None:
            self.message = "there is no check to make a note of here"
            return False
        note = text.strip()[:NOTE_CAP] or None
        own = self.own
        if own is None:
            self.note = note
            self.message = "the note goes with the label" if note else "no note"
            return True
        return self._put(own.expected, note, f"noted with your {own.expected}" if note else "the note is gone")

    def _label(self, expected: str) -> bool:
        if self.current is None:
            self.message = "there is nothing to label here; b goes back, u undoes"
            return False
        own = self.own
        note = self.note if self.note is not None or own is None else own.note
        case_id, rubric_id = self.current
        said = f"{SIGNS[expected]} {expected}: {case_id} by {rubric_id}" + (" with its note" if note else "")
        return self._put(expected, note, said) and self._go(self.place + 1, keep_message=True)

    def _put(self, expected: str, note: str | None, message: str) -> bool:
        assert self.current is not None
        try:
            before = self.kept.put(*self.current, expected, note)
        except StoreError as error:
            self.message = str(error)
            return False
        self._given.append(_Given(self.place, expected, before))
        self.message = self.kept.trouble or message
        return True

    def _undo(self) -> bool:
        if not self._given:
            self.message = "nothing was labelled that could be undone"
            return False
        given = self._given[-1]
        case_id, rubric_id = self.queue[given.place]
        try:
            self.kept.put_back(case_id, rubric_id, given.before)
        except StoreError as error:
            self.message = str(error)
            return False
        self._given.pop()
        self._go(given.place)
        again = f"it is {given.before.expected} again" if given.before else "it has no label of yours"
        self.message = self.kept.trouble or f"undone: {again}"
        return True

    def _go(self, place: int, *, keep_message: bool = False) -> bool:
        if not 0 <= place <= len(self.queue):
            self.message = "this is the first" if place < 0 else "this is the end"
            return False
        self.place, self.note, self.unfolded = place, None, False
        if not keep_message:
            self.message = ""
        return True

    def told(self) -> str:
        """What came of it, in one line."""
        given = self.given
        left = len(self.queue) - len(given)
        by = f" by {self.kept.reviewer}" if self.kept.reviewer else ""
        counts = [
            f"{list(given.values()).count(label)} {label}" for label in LABELS.values() if label in given.values()
        ]
        of = f" ({', '.join(counts)})" if counts else ""
        return f"{counted(len(given), 'check')} labelled{by}{of}, {left:,} left"
