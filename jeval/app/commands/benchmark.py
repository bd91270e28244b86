"""jeval benchmark: a run's checks held against labels, and whether the judge can be trusted with what."""

import argparse
from typing import TYPE_CHECKING

from jeval.app.store_option import add_limit, add_store, limit_of, opened_store

if TYPE_CHECKING:
    from jeval.app.labelled_run import LabelledRun

__all__ = ["arguments", "main"]

_LIMIT = 10

_EPILOG = """\
Labels come from a file (JSONL of caseId, rubricId, expected, source, reviewer, note; `jeval labels` writes one) or
from the store, where `jeval serve` keeps what people say. Of one check a person's label counts before an imported
or a synthetic one; where people disagree, the check is left out. A review is undecided and never wrong, an error or
a skipped check is not judged.

  jeval benchmark @last --labels labels.jsonl
  jeval benchmark @last --where split=holdout --rubric booking-claim

Exit codes: 0; 2 no label is of any check of the run; 3 usage. What the figures mean: docs/calibration.md
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    from jeval.app.labelled_run import add_labels

    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    add_labels(parser)
    parser.add_argument("--rubric", metavar="ID,…", help="only these rubrics")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    add_limit(parser, _LIMIT)
    add_store(parser)


def main(args: argparse.Namespace) -> int:
    """Hold the run against labels; the exit code."""
    import json
    import os
    import sys

    from jeval.app.benchmark_text import print_benchmark
    from jeval.app.labelled_run import names_of, read_labelled
    from jeval.app.painter import Painter
    from jeval.benchmark import benchmark

    limit = limit_of(args)
    with opened_store(args) as (_, connection):
        read = read_labelled(connection, args, names_of(args.rubric))
    found = benchmark(read.run, read.rubrics, read.checks, read.totals, read.labels, tuned=_tuned(read))
    if args.json:
        print(json.dumps({**found.as_dict(limit), "where": dict(read.where)}, ensure_ascii=False), flush=True)
    else:
        print_benchmark(Painter(sys.stdout, os.environ), found, read.where, limit)
    return 0 if read.checks else 2


def _tuned(read: "LabelledRun") -> str | None:
    """A line on the run's thresholds having been tuned on these cases, as far as their profile tells."""
    from jeval.app.places import project_root
    from jeval.app.profile_file import tuned_on
    from jeval.app.selection import Selection
    from jeval.counted import counted

    run = read.run
    tuned = tuned_on(project_root(), run.thresholds, run.threshold_pass, run.threshold_fail)
    labelled = {check.case_id for check in read.checks}
    if tuned is None or not labelled:
        return None
    profile = f"the thresholds {run.thresholds} were tuned on"
    if tuned.labels_sha256 == read.labels.sha256:
        return f"{profile} these very labels, so the figures flatter them; confirm on cases that were held out"
    if not tuned.where:
        return (
            f"{profile} {counted(tuned.cases, 'labelled case')}, none held out; where these are the same, the "
            "figures flatter them"
        )
    alike = sum(Selection(tuned.where).matches(read.metadata[case_id]) for case_id in labelled)
    if not alike:
        return None
    where = ", ".join(f"{key}={value}" for key, value in tuned.where.items())
    return (
        f"{profile} cases with {where}, as {alike:,} of these {counted(len(labelled), 'case')} are, so the figures "
        "flatter them; look at the others alone with --where"
    )
