"""Telling GitHub of a run that a workflow made: the step's summary and annotations."""

import sqlite3
import sys
from collections.abc import Mapping
from typing import TextIO

from jeval.gate import GateVerdict
from jeval.report.github import LISTED, github_annotations, github_summary
from jeval.store.find import find_run
from jeval.store.reading import CheckFilter, read_checks, read_overview
from jeval.store.told import answers_of

__all__ = ["tell_github"]


def tell_github(
    connection: sqlite3.Connection,
    run_id: str,
    verdict: GateVerdict,
    environ: Mapping[str, str],
    stream: TextIO | None = None,
) -> None:
    """Append the run to the step's summary and print annotations, to stderr unless told: stdout may be JSON.

    A summary that cannot be written is said and changes nothing else.
    """
    out = sys.stderr if stream is None else stream
    run = find_run(connection, run_id)
    overview = read_overview(connection, run)
    failures = list(read_checks(connection, run["pk"], CheckFilter(statuses=("fail",)), LISTED))
    for line in github_annotations(verdict, failures):
        print(line, file=out)
    path = environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    answers = answers_of(connection, run["pk"], failures)
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(github_summary(overview, verdict, failures, answers=answers))
    except OSError as error:
        print(
            f"GITHUB_STEP_SUMMARY={path} cannot be written: {error.strerror}; the run goes on without it",
            file=out,
        )
