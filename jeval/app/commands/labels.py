"""jeval labels: the labels of a dataset, or those of a run's cases in the store, as a file."""

import argparse
from typing import TYPE_CHECKING

from jeval.app.store_option import add_store, existing_store, opened_store

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from jeval.label import CheckLabel

__all__ = ["arguments", "main"]

_EPILOG = """\
DATASET is a name that `dataset=` takes, or a JSONL file of cases, whose `expected` are written. With --reviewed the
labels that people gave to these cases in the store stand beside them. A run (@last, an id, a name) gives all labels
that the store has of its cases, by whomever.

  jeval labels clinic -o labels.jsonl
  jeval labels cases.jsonl --where split=holdout
  jeval labels @last --source human -o labels.jsonl

A line: {"caseId", "rubricId", "expected", "source", "reviewer", "note"}. Of one check several labels may stand
there, one for each author.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    from jeval.app.labelled_run import add_where
    from jeval.label import SOURCES

    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("dataset", metavar="DATASET", help="a dataset's name, a JSONL file, or a run")
    parser.add_argument("-o", "--out", metavar="FILE", default="-", help="the file to write (default: stdout)")
    parser.add_argument("--force", action="store_true", help="write over FILE if it exists")
    parser.add_argument("--reviewed", action="store_true", help="with people's labels of the cases from the store")
    parser.add_argument("--source", metavar="S,…", help=f"only labels from there: {', '.join(SOURCES)}")
    add_where(parser)
    add_store(parser)


def main(args: argparse.Namespace) -> int:
    """Write them; the exit code."""
    from jeval.app.label_files import label_line
    from jeval.errors import ConfigError

    wanted = _sources(args.source)
    labels = [label for label in _labels(args) if label.source in wanted]
    if not labels:
        remedy = "give its cases `expected`, or label a run in `jeval serve`"
        of = f" from {args.source}" if args.source else ""
        raise ConfigError(f"{args.dataset}: there is no label{of} to write; {remedy}")
    _write(args, map(label_line, labels))
    _tell(args, labels)
    return 0


def _sources(given: str | None) -> "Sequence[str]":
    from jeval.app.labelled_run import names_of
    from jeval.errors import ConfigError
    from jeval.label import SOURCES

    names = names_of(given) or SOURCES
    for name in names:
        if name not in SOURCES:
            raise ConfigError(f"--source {name}: is no source of labels; there are: {', '.join(SOURCES)}")
    return names


def _labels(args: argparse.Namespace) -> "list[CheckLabel]":
    """The labels of what was named: a run where it begins with @, else a file, a dataset's name, or a run."""
    from jeval.app.labelled_run import where_of
    from jeval.app.named_dataset import named_dataset
    from jeval.app.places import project_root
    from jeval.errors import ConfigError
    from jeval.label import CheckLabel
    from jeval.store.labels import reviewed

    name = args.dataset.removeprefix("dataset.path=").removeprefix("dataset=")
    where = where_of(args)
    dataset = None if name.startswith("@") else named_dataset(name, project_root(), where)
    if dataset is None:
        return _of_run(args, name, where)
    if where and not dataset.cases:
        raise ConfigError(f"--where {' '.join(args.where)}: selects no case of {name}; check the key and the value")
    cases = list(dataset)
    labels = [CheckLabel.of(case.id, *one) for case in cases for one in (case.expected or {}).items()]
    if args.reviewed:
        with opened_store(args) as (_, connection):
            labels += reviewed(connection, [case.id for case in cases])
    return labels


def _of_run(args: argparse.Namespace, name: str, where: "Mapping[str, str]") -> "list[CheckLabel]":
    """The labels that the store has of a run's cases."""
    from contextlib import closing

    from jeval.app.labelled_run import split_cases
    from jeval.errors import ConfigError
    from jeval.store.labels import labels_of_run

    connection, run = _found(args, name)
    with closing(connection):
        if args.reviewed:
            raise ConfigError("--reviewed goes with a dataset; a run has all its labels: choose with --source human")
        _, outside = split_cases(connection, run["pk"], where, run["id"])
        return [label for label in labels_of_run(connection, run["pk"]) if label.case_id not in outside]


def _found(args: argparse.Namespace, name: str) -> "tuple[sqlite3.Connection, sqlite3.Row]":
    """The store and the run of this name. Raises ConfigError where nothing at all is called so."""
    from jeval.app.named_dataset import dataset_names
    from jeval.app.places import project_root
    from jeval.errors import ConfigError, NotFound, StoreError
    from jeval.store.find import find_run

    connection = None
    try:
        _, connection = existing_store(args)
        return connection, find_run(connection, name)
    except (NotFound, StoreError) as error:
        if connection is not None:
            connection.close()
        if name.startswith("@"):
            raise
        known = ", ".join(dataset_names(project_root()))
        raise ConfigError(
            f"{name}: is no file of cases, no dataset (there are: {known}) and no run in the store; "
            "name a .jsonl file, a dataset, or @last"
        ) from error


def _write(args: argparse.Namespace, lines: "Iterable[str]") -> None:
    """Write the lines, to a file whole or not at all. Raises ConfigError where it cannot be."""
    from jeval.app.output import output
    from jeval.errors import ConfigError

    place = output("-o", args.out)
    if place.path is not None and place.path.exists() and not args.force:
        raise ConfigError(f"-o {args.out} exists; name another file, or write over it with --force")
    place.write(f"{line}\n" for line in lines)


def _tell(args: argparse.Namespace, labels: "Sequence[CheckLabel]") -> None:
    """What was written, for people, beside it."""
    import sys
    from collections import Counter

    from jeval.app.painter import plain
    from jeval.confusion import LABELS
    from jeval.counted import counted
    from jeval.label import SOURCES

    said: Counter[str] = Counter(label.expected for label in labels)
    sources: Counter[str] = Counter(label.source for label in labels)
    cases = counted(len({label.case_id for label in labels}), "case")
    where = "" if args.out == "-" else f" → {plain(args.out)}"
    parts = [
        f"{counted(len(labels), 'label')} of {cases}{where}",
        " ".join(f"{said[name]:,} {name}" for name in LABELS if said[name]),
        " ".join(f"{sources[name]:,} {name}" for name in SOURCES if sources[name]),
    ]
    print(" · ".join(parts), file=sys.stderr)
