"""A run of the store and the labels it is held against: what `benchmark` and `tune` begin with."""

import argparse
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jeval.app.label_files import read_labels
from jeval.app.painter import plain
from jeval.app.selection import Selection
from jeval.benchmark import LabelFacts
from jeval.case import Case
from jeval.comparability import RunFacts
from jeval.errors import ConfigError, NotFound
from jeval.kinds import RubricKind, kind_of
from jeval.label import CheckKey, Settled, labels_sha256, settle
from jeval.labelled import LabelledCheck, labelled_check
from jeval.problems import nearest
from jeval.rubric import Rubric
from jeval.store.alignment import run_facts
from jeval.store.find import find_run
from jeval.store.labels import (
    StoredCheck,
    case_metadata,
    cases_of,
    checks_of,
    count_checks,
    labels_of_run,
    rubrics_of,
)

__all__ = [
    "LabelledRun",
    "add_labels",
    "add_where",
    "names_of",
    "other_values",
    "read_labelled",
    "split_cases",
    "where_of",
]


class LabelledRun(NamedTuple):
    """A run, its rubrics that are looked at, their checks that have a label that counts, and the labels.

    `totals` counts checks with and without a label, by rubric id; `metadata` is that of each labelled case.
    """

    run: RunFacts
    rubrics: list[Rubric]
    checks: list[LabelledCheck]
    totals: Mapping[str, int]
    labels: LabelFacts
    where: Mapping[str, str]
    metadata: Mapping[str, Mapping[str, Any]]


def add_labels(parser: argparse.ArgumentParser) -> None:
    """Add RUN and the options that say which labels and which checks."""
    parser.add_argument("run", metavar="RUN", help="an id, the beginning of one, a name, @last or @prev")
    parser.add_argument(
        "--labels", metavar="FILE", help="JSONL of labels (default: those in the store, people's own first)"
    )
    add_where(parser)


def add_where(parser: argparse.ArgumentParser) -> None:
    """Add --where."""
    parser.add_argument(
        "--where", metavar="KEY=VALUE", action="append", default=[],
        help="only cases with this in their metadata, such as split=holdout",
    )  # fmt: skip


def where_of(args: argparse.Namespace) -> dict[str, str]:
    """What --where asks for. Raises ConfigError."""
    found: dict[str, str] = {}
    for given in args.where:
        key, equals, value = given.partition("=")
        if not key or not equals:
            raise ConfigError(f"--where {given}: is no KEY=VALUE; write e.g. --where split=holdout")
        if found.setdefault(key, value) != value:
            raise ConfigError(f"--where {given}: {key} is {found[key]} already; name each key once")
    return found


def names_of(given: str | None) -> list[str] | None:
    """The names in a list with commas, None where none is given."""
    return None if given is None else [name.strip() for name in given.split(",") if name.strip()]


def read_labelled(
    connection: sqlite3.Connection, args: argparse.Namespace, only: Sequence[str] | None = None
) -> LabelledRun:
    """The run and labels that the arguments name, of the rubrics `only` names or of all.

    Raises NotFound, ConfigError, and DataError for a file of labels with faults in it.
    """
    row = find_run(connection, args.run)
    run, where = row["pk"], where_of(args)
    rubrics = _chosen([Rubric.model_validate(body) for body in rubrics_of(connection, run)], only, row["id"])
    given = read_labels(Path(args.labels).expanduser()) if args.labels else list(labels_of_run(connection, run))
    if not given:
        raise NotFound(_none(args, row["id"]))
    selected, outside = split_cases(connection, run, where, row["id"])
    names = {rubric.id for rubric in rubrics}
    settled = settle(label for label in given if only is None or label.rubric_id in names)
    wanted = [case_id for case_id in dict.fromkeys(case_id for case_id, _ in settled) if case_id not in outside]
    found, metadata = _checks(connection, run, rubrics, settled, wanted)
    stray = Counter(
        rubric_id for case_id, rubric_id in settled if (case_id, rubric_id) not in found and case_id not in outside
    )
    totals = count_checks(connection, run, selected)
    here = {key: one for key, one in settled.items() if key in found}
    said = {key: one.label.expected for key, one in here.items() if one.label is not None}
    return LabelledRun(
        run_facts(connection, row),
        rubrics,
        [check for check in found.values() if check is not None],
        {rubric.id: totals.get(rubric.id, 0) for rubric in rubrics},
        LabelFacts(args.labels or "the store", labels_sha256(said), here, dict(stray)),
        where,
        metadata,
    )


def other_values(connection: sqlite3.Connection, name: str, where: Mapping[str, str]) -> dict[str, str]:
    """For each key of `where` the value that most of a run's other cases have, where they have one: those held out."""
    found: dict[str, str] = {}
    if not where:
        return found
    rows = [metadata for _, metadata in case_metadata(connection, find_run(connection, name)["pk"])]
    for key, value in where.items():
        others = Counter(
            str(values[key]) for values in rows if key in values and not Selection({key: value}).matches(values)
        )
        if others:
            found[key] = others.most_common(1)[0][0]
    return found


def _none(args: argparse.Namespace, run_id: str) -> str:
    if args.labels:
        return f"--labels {args.labels}: holds no label; write one a line, or export some with `jeval labels`"
    return (
        f"run {run_id}: the store holds no label of its cases; give some in `jeval serve` (Review), "
        "or name a file with --labels"
    )


def _chosen(rubrics: list[Rubric], only: Sequence[str] | None, run_id: str) -> list[Rubric]:
    if only is None:
        return rubrics
    known = [rubric.id for rubric in rubrics]
    for name in only:
        if name not in known:
            raise NotFound(f"--rubric {name}: run {run_id} has no such rubric; {_meant(name, known)}")
    return [rubric for rubric in rubrics if rubric.id in only]


def _meant(name: str, known: Iterable[str]) -> str:
    names = list(known)
    close = nearest(name, names)
    return f"did you mean {plain(close, 60)}?" if close else f"there are: {plain(', '.join(names), 200) or 'none'}"


def split_cases(
    connection: sqlite3.Connection, run: int, where: Mapping[str, str], run_id: str
) -> tuple[list[str] | None, set[str]]:
    """The run's cases that `where` selects, None for all, and those that it does not. Raises NotFound for none."""
    if not where:
        return None, set()
    metadata = dict(case_metadata(connection, run))
    wanted = Selection(where)
    cases = [case_id for case_id, values in metadata.items() if wanted.matches(values)]
    if cases:
        return cases, metadata.keys() - set(cases)
    for key, value in where.items():
        having = [values[key] for values in metadata.values() if key in values]
        if not having:
            keys = dict.fromkeys(key for values in metadata.values() for key in values)
            raise NotFound(
                f"--where {key}={value}: no case of run {run_id} has the metadata {key}; {_meant(key, keys)}"
            )
        if not any(Selection({key: value}).matches({key: one}) for one in having):
            known = dict.fromkeys(map(str, having))
            raise NotFound(f"--where {key}={value}: no case of run {run_id} has that {key}; {_meant(value, known)}")
    raise NotFound(f"--where: no case of run {run_id} has all of that; leave out one of the conditions")


def _checks(
    connection: sqlite3.Connection,
    run: int,
    rubrics: Iterable[Rubric],
    settled: Mapping[CheckKey, Settled],
    wanted: Sequence[str],
) -> tuple[dict[CheckKey, LabelledCheck | None], dict[str, Mapping[str, Any]]]:
    """The run's checks of these cases that labels are of, None where the labels disagree; and the cases' metadata.

    Cases are read one at a time, for of each only what deciding needs is kept.
    """
    kinds: dict[str, RubricKind] = {rubric.id: kind_of(rubric) for rubric in rubrics}
    stored: dict[str, list[StoredCheck]] = {}
    for check in checks_of(connection, run, wanted):
        if (check.case_id, check.rubric_id) in settled:
            stored.setdefault(check.case_id, []).append(check)
    found: dict[CheckKey, LabelledCheck | None] = {}
    metadata: dict[str, Mapping[str, Any]] = {}
    for case_id, body in cases_of(connection, run, wanted):
        case = Case.model_validate(body)
        metadata[case_id] = case.metadata or {}
        for check in stored.get(case_id, ()):
            key = (case_id, check.rubric_id)
            label, kind = settled[key].label, kinds[check.rubric_id]
            found[key] = None
            if label is not None:
                found[key] = labelled_check(kind, case, label, check.status, check.reason, check.probabilities)
    return found, metadata
