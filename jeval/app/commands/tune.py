"""jeval tune: thresholds that meet a target on labels, found in a run's stored answers."""

import argparse
from typing import TYPE_CHECKING

from jeval.app.store_option import add_store, opened_store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jeval.app.tuning import Tuning

__all__ = ["arguments", "main"]

_EPILOG = """\
Targets, several of which must all hold:
  precision=0.9         at least 0.9 of the checks that fail are labelled fail
  pass_precision=0.95   at least 0.95 of the checks that pass are labelled pass
  false_pass_rate=0.05  at most 0.05 of the judged checks labelled fail pass
  false_fail_rate=0.05  at most 0.05 of the judged checks labelled pass fail
  recall=0.9            at least 0.9 of the decided checks labelled fail do fail
  accuracy=0.9          at least 0.9 of the decided checks are as labelled

Nothing is asked and nothing paid: stored answers are decided again. Of the thresholds that are shown to meet the
targets, those that decide most win. What no target bounds becomes no laxer than it is.

  jeval tune @last --labels labels.jsonl --target precision=0.9 --target false_pass_rate=0.05 \\
    --where split=tuning -o conf/thresholds/tuned.yaml

Exit codes: 0 found; 1 no thresholds meet the targets; 2 no label is of a check that thresholds decide; 3 usage.
How it is made sure: docs/calibration.md
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    from jeval.app.labelled_run import add_labels

    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    add_labels(parser)
    parser.add_argument(
        "--target", metavar="MEASURE=LIMIT", action="append", required=True, help="what must hold, as below"
    )
    parser.add_argument(
        "--confidence", type=float, default=0.95, metavar="C", help="how sure it must be (default: 0.95)"
    )
    parser.add_argument("--rubric", metavar="ID", help="thresholds for this rubric alone")
    parser.add_argument("-o", "--out", metavar="FILE", help="write a profile: conf/thresholds/NAME.yaml")
    parser.add_argument("--force", action="store_true", help="write over FILE if it exists")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    add_store(parser)


def main(args: argparse.Namespace) -> int:
    """Look for thresholds; the exit code."""
    import json
    import os
    import sys

    from jeval.app.labelled_run import other_values, read_labelled
    from jeval.app.painter import Painter
    from jeval.app.tune_text import print_tuning
    from jeval.app.tuning import targets_of, tune
    from jeval.errors import ConfigError

    if not 0.5 <= args.confidence < 1:
        raise ConfigError(f"--confidence {args.confidence:g}: must be from 0.5 to below 1; write e.g. 0.95")
    targets = targets_of(args.target)
    name = _name(args.out)
    with opened_store(args) as (_, connection):
        read = read_labelled(connection, args, None if args.rubric is None else [args.rubric])
        elsewhere = other_values(connection, args.run, read.where)
    tuning = tune(read, targets, args.confidence, args.rubric)
    found = tuning.search.tuned is not None
    if found and name is not None:
        _write(args, name, tuning)
    steps = _next_steps(args, name, tuning, elsewhere) if found else []
    if args.json:
        body = {**tuning.as_dict(), "written": args.out if found else None, "next": steps}
        print(json.dumps(body, ensure_ascii=False), flush=True)
    else:
        print_tuning(Painter(sys.stdout, os.environ), tuning, args.out if found else None, steps)
    if not tuning.checks:
        return 2
    return 0 if found else 1


def _name(out: str | None) -> str | None:
    """The name of the profile that a file is to hold. Raises ConfigError where it can be none."""
    import re
    from pathlib import Path

    from jeval.errors import ConfigError

    if out is None:
        return None
    path = Path(out)
    if path.suffix != ".yaml" or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", path.stem):
        raise ConfigError(
            f"-o {out}: is no name of a profile; write conf/thresholds/NAME.yaml, the name of letters, digits, - and _"
        )
    return path.stem


def _write(args: argparse.Namespace, name: str, tuning: "Tuning") -> None:
    """Write the profile, whole or not at all. Raises ConfigError."""
    from datetime import UTC, datetime
    from pathlib import Path

    from jeval.app.captured import Target
    from jeval.app.profile_file import profile_lines
    from jeval.app.tune_text import origin_of

    path = Path(args.out)
    if path.parent.parts[-2:] == ("conf", "thresholds"):
        path.parent.mkdir(parents=True, exist_ok=True)
    file = Target(path, force=args.force)
    try:
        origin = origin_of(tuning, datetime.now(UTC).date().isoformat())
        for line in profile_lines(name, tuning.thresholds, origin, tuning.tuned_on):
            file.write(line)
        file.keep()
    finally:
        file.drop()


def _next_steps(
    args: argparse.Namespace, name: str | None, tuning: "Tuning", elsewhere: "Mapping[str, str]"
) -> list[str]:
    """The commands that confirm what was found on cases that were held out."""
    from pathlib import Path
    from shlex import quote

    from jeval.app.places import project_root
    from jeval.rubric import RubricThresholds

    read, found = tuning.read, tuning.thresholds
    profile = f"thresholds.name=tuned thresholds.pass={found.pass_:g} thresholds.fail={found.fail:g}"
    if name is not None and Path(args.out).resolve().parent == project_root() / "conf" / "thresholds":
        profile = f"thresholds={name}"
    benchmark = ["jeval benchmark @last"]
    if not elsewhere:
        benchmark.append("--labels LABELS-OF-OTHER-CASES.jsonl")
    elif args.labels:
        benchmark.append(f"--labels {quote(args.labels)}")
    benchmark += [f"--where {quote(f'{key}={value}')}" for key, value in elsewhere.items()]
    if args.rubric:
        benchmark.append(f"--rubric {quote(args.rubric)}")
    if args.store:
        benchmark.append(f"--store {quote(args.store)}")
    if not tuning.own and read.rubrics[0].thresholds != RubricThresholds():
        profile = "--accept-changes"  # what the rubric says would stand over any profile, so its file is to be changed
    store = f" store={quote(args.store)}" if args.store else ""
    return [f"jeval run --from-run {read.run.id} {profile}{store}", " ".join(benchmark)]
