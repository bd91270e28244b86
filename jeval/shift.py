"""What other thresholds would change, on labelled checks."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from jeval.confusion import Confusion
from jeval.labelled import LabelledCheck
from jeval.rubric import Rubric, Thresholds

__all__ = ["Shift", "rules_of", "shift"]


class Shift(NamedTuple):
    """Statuses against labels before and after, of all checks and by rubric id, and how often each status became
    which other. `unlike` counts checks whose stored status is not what the thresholds before make of it now."""

    before: Confusion
    after: Confusion
    by_rubric: Mapping[str, tuple[Confusion, Confusion]]
    changes: Mapping[tuple[str, str], int]
    unlike: int


def rules_of(rubrics: Iterable[Rubric], profile: Thresholds, *, own: bool) -> dict[str, Thresholds]:
    """What decides, by rubric id: the profile, with a rubric's own thresholds over it if `own`.

    Raises ValueError where a rubric's own cannot go with it.
    """
    return {rubric.id: rubric.effective(profile) if own else profile for rubric in rubrics}


def shift(checks: Sequence[LabelledCheck], before: Mapping[str, Thresholds], after: Mapping[str, Thresholds]) -> Shift:
    """What changes where `after` decides instead of `before`, both by rubric id. Every check has answers."""
    rows = [
        (check, check.status_at(before[check.rubric.id]), check.status_at(after[check.rubric.id])) for check in checks
    ]

    def tables(rubric_id: str | None) -> tuple[Confusion, Confusion]:
        those = [row for row in rows if rubric_id in (None, row[0].rubric.id)]
        old = Confusion.of((then, check.expected) for check, then, _ in those)
        return old, Confusion.of((now, check.expected) for check, _, now in those)

    names = dict.fromkeys(check.rubric.id for check in checks)
    return Shift(
        *tables(None),
        by_rubric={name: tables(name) for name in names},
        changes=Counter((then, now) for _, then, now in rows if then != now),
        unlike=sum(check.status != then for check, then, _ in rows),
    )
