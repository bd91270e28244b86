"""A label with the check it is of, and what several labels of one check come to."""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from jeval.case import Id, Label, Text, _Model
from jeval.fingerprint import sha256

__all__ = ["SOURCES", "CheckKey", "CheckLabel", "Settled", "labels_sha256", "settle"]

# Whose word counts first: people's own, then what was brought along, then what was made up with the case.
SOURCES = ("human", "imported", "synthetic")

# A check's case id and rubric id.
CheckKey = tuple[str, str]


class CheckLabel(_Model):
    """The right status of one check, by whom: a line of a file of labels."""

    case_id: Id
    """The case it is of."""
    rubric_id: Id
    """The rubric it is of, whatever its version."""
    expected: Literal["pass", "fail", "review", "skipped"]
    """The status a careful person would give."""
    source: Literal["synthetic", "human", "imported"] = "human"
    """Where the label is from."""
    reviewer: Text | None = None
    """Who gave it."""
    note: Text | None = None
    """Why."""

    @classmethod
    def of(cls, case_id: str, rubric_id: str, label: Label) -> "CheckLabel":
        """A case's own label of one rubric."""
        return cls(
            case_id=case_id, rubric_id=rubric_id, expected=label.status,
            source=label.source, reviewer=label.reviewer, note=label.note,
        )  # fmt: skip

    @property
    def check(self) -> CheckKey:
        """Which check of a run it is of."""
        return self.case_id, self.rubric_id


class Settled(NamedTuple):
    """What the labels of one check come to: `label` is the first of those that count, None where these are not all
    of one mind; `given` are those that count."""

    label: CheckLabel | None
    given: tuple[CheckLabel, ...]


def settle(labels: Iterable[CheckLabel]) -> dict[CheckKey, Settled]:
    """One label a check, in the order in which the checks are met.

    Only labels of the best source a check has count: human before imported before synthetic. Where two of these
    disagree nobody is taken to be right.
    """
    by_check: dict[CheckKey, list[CheckLabel]] = {}
    for label in labels:
        by_check.setdefault(label.check, []).append(label)
    found = {}
    for check, all_of_it in by_check.items():
        best = min(SOURCES.index(label.source) for label in all_of_it)
        given = tuple(label for label in all_of_it if label.source == SOURCES[best])
        agreed = len({label.expected for label in given}) == 1
        found[check] = Settled(given[0] if agreed else None, given)
    return found


def labels_sha256(settled: Mapping[CheckKey, str]) -> str:
    """Hash of what labels say, by whomever and in whatever order: 64 hex digits."""
    return sha256(sorted([case_id, rubric_id, expected] for (case_id, rubric_id), expected in settled.items()))
