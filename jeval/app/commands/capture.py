"""jeval capture: cases from recorded traces."""

import argparse
import re
import sys
from pathlib import Path
from typing import Any

from jeval.app.captured import Capture, Target, line_of
from jeval.app.painter import plain
from jeval.app.settings import json_text
from jeval.counted import counted
from jeval.errors import ConfigError
from jeval.fingerprint import compact
from jeval.imports.draft import Options
from jeval.imports.formats import FORMATS
from jeval.imports.generic import FIELDS
from jeval.problems import nearest

__all__ = ["arguments", "main"]

PREVIEWED = 2
# Of a case that is previewed: characters of a text and items of a list.
LONGEST_TEXT, MOST_ITEMS = 300, 6


def arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `jeval capture`."""
    parser.add_argument("file", metavar="FILE", help="JSONL, JSON, or for --format generic CSV and TSV too")
    parser.add_argument(
        "--format",
        choices=("auto", *FORMATS),
        default="auto",
        help="how FILE is written (default: look and see)",
    )
    parser.add_argument("-o", "--out", metavar="OUT", help="the dataset to write; - for stdout")
    parser.add_argument("--dry-run", action="store_true", help="show the first cases and the summary, write nothing")
    parser.add_argument("--force", action="store_true", help="write over OUT if it exists")
    parser.add_argument("--keep-going", action="store_true", help="leave out what cannot be captured (exit code 2)")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N records")
    parser.add_argument(
        "--map", action="append", default=[], metavar="FIELD=PATH",
        help=f"generic: where a field stands, as a dotted path ({', '.join(FIELDS)})",
    )  # fmt: skip
    parser.add_argument(
        "--answers",
        choices=("last", "each"),
        default="last",
        help="chat: a case for the last answer, or for each",
    )
    parser.add_argument(
        "--transcript", choices=("turns", "full"), default="turns",
        help="chat and traces: messages of user and assistant only, or system and tool messages too",
    )  # fmt: skip
    parser.add_argument("--tool-failure", metavar="REGEX", help="a tool's result that matches is a failure")
    parser.add_argument(
        "--tools-recorded",
        action="store_true",
        help="tool calls were recorded, so a trace without any had none",
    )
    parser.add_argument("--json", action="store_true", help="the summary as one JSON object")


def main(args: argparse.Namespace) -> int:
    """Capture; 0 all of it, 2 some was left out, 3 nothing written."""
    if args.out is None and not args.dry_run:
        raise ConfigError("-o: no file to write is named; write -o cases.jsonl, or look first with --dry-run")
    if args.limit is not None and args.limit < 1:
        raise ConfigError(f"--limit {args.limit}: is no number of records; write 1 or more")
    path = Path(args.file)
    if path.is_dir():
        raise ConfigError(f"{path} is a directory; name a file in it")
    if args.out is not None and args.out != "-" and Path(args.out).exists() and path.samefile(args.out):
        raise ConfigError(f"-o {args.out} is the file that is read; name another")
    options = _options(args)
    # Whoever maps fields means the only format that has them to map.
    capture = Capture(path, "generic" if options.fields else args.format, options, args.limit)
    if args.dry_run:
        _preview(capture, args.json)
    else:
        _write(capture, args)
    _summary(capture, args)
    return 2 if capture.left_out else 0


def _options(args: argparse.Namespace) -> Options:
    fields: dict[str, str] = {}
    for given in args.map:
        name, equals, where = given.partition("=")
        if not equals or not where:
            raise ConfigError(f"--map {given}: is no FIELD=PATH; write e.g. --map output=reply.text")
        if name not in FIELDS:
            close = nearest(name, FIELDS)
            hint = f"did you mean {close}? " if close else ""
            raise ConfigError(f"--map {given}: {name} cannot be mapped; {hint}there are: {', '.join(FIELDS)}")
        fields[name] = where
    if fields and args.format not in ("generic", "auto"):
        raise ConfigError(f"--map goes with --format generic, not with {args.format}; leave one of them out")
    failure = None
    if args.tool_failure is not None:
        try:
            failure = re.compile(args.tool_failure)
        except re.error as error:
            raise ConfigError(f"--tool-failure {args.tool_failure!r}: is no regular expression ({error})") from error
    return Options(args.answers, args.transcript, failure, args.tools_recorded, fields)


def _preview(capture: Capture, as_json: bool) -> None:
    import json

    for number, case in enumerate(capture):
        if number < PREVIEWED and not as_json:
            body = shortened(json.loads(line_of(case)))
            print(plain_lines(json.dumps(body, ensure_ascii=False, indent=2)))


def shortened(value: Any) -> Any:
    """A JSON value with the long texts and lists in it cut, each saying how much of it is not shown."""
    if isinstance(value, str) and len(value) > LONGEST_TEXT + 40:
        return f"{value[:LONGEST_TEXT]}… ({counted(len(value) - LONGEST_TEXT, 'character')} more)"
    if isinstance(value, list):
        more = len(value) - MOST_ITEMS
        shown = [shortened(item) for item in (value[:MOST_ITEMS] if more > 1 else value)]
        return [*shown, f"… ({more:,} more)"] if more > 1 else shown
    if isinstance(value, dict):
        return {key: shortened(item) for key, item in value.items()}
    return value


def plain_lines(text: str) -> str:
    """A text of several lines with nothing in it that a terminal would obey."""
    return "\n".join(plain(line) for line in text.split("\n"))


def _write(capture: Capture, args: argparse.Namespace) -> None:
    """Write the cases; where something cannot be captured and that is not allowed, leave nothing behind."""
    if args.out == "-":
        for case in capture:
            print(compact(case.model_dump(by_alias=True, exclude_none=True, mode="json")))
            if capture.left_out and not args.keep_going:
                break
        _refuse(capture, args)
        return
    target = Target(Path(args.out), force=args.force)
    try:
        for case in capture:
            target.write(line_of(case))
        _refuse(capture, args)
        target.keep()
    finally:
        target.drop()


def _refuse(capture: Capture, args: argparse.Namespace) -> None:
    if not args.keep_going:
        written = f"{counted(capture.cases, 'case')} before it written" if args.out == "-" and capture.cases else None
        capture.faults.check(written)
    if not capture.cases:
        raise ConfigError(f"{args.file} holds no case; check that it is the right file and --format {capture.format}")


def _summary(capture: Capture, args: argparse.Namespace) -> None:
    out = None if args.dry_run else args.out
    if args.json:
        print(json_text(capture.as_dict(out)), file=sys.stderr if out == "-" else sys.stdout)
        return
    found = ", found by looking" if capture.found else ""
    where = f" → {out}" if out else " (nothing written)"
    cases = f"{counted(capture.cases, 'case')} of {counted(capture.records, 'record')}"
    lines = [f"{cases} in {capture.path.name} (format {capture.format}{found}){where}"]
    if capture.fields:
        lines.append("  with " + " · ".join(f"{name} {count:,}" for name, count in capture.fields.most_common()))
    if capture.renamed:
        lines.append(f"  {capture.renamed:,} × id that occurred before, with a number added")
    lines += [f"  {count:,} × {note}" for note, count in capture.notes.most_common()]
    if capture.left_out:
        lines.append(f"  {capture.left_out:,} left out:")
        lines += [f"    {problem}" for problem in capture.faults.problems]
        lines += [f"    … and {capture.faults.more:,} more"] if capture.faults.more else []
    for line in lines:
        print(plain(line), file=sys.stderr)
