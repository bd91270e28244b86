"""The command line: finds the command, lets it run, turns errors into one line and an exit code.

Nothing heavy is imported before the command is known, so that `--help` answers at once.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from io import TextIOWrapper

from jeval import __version__
from jeval.errors import DataError, JevalError

__all__ = ["main"]

# command: (module with `arguments(parser)` and `main(args) -> exit code`, what it does)
COMMANDS = {
    "init": ("jeval.app.commands.init", "start a project: a conf/, a dataset and rubrics to edit"),
    "run": ("jeval.app.commands.run", "evaluate a dataset and store every check"),
    "compare": ("jeval.app.commands.compare", "say what changed between two runs"),
    "benchmark": ("jeval.app.commands.benchmark", "hold a run's checks against labels"),
    "tune": ("jeval.app.commands.tune", "find thresholds that meet a target on labels"),
    "review": ("jeval.app.commands.review", "label what is unclear, in the terminal"),
    "report": ("jeval.app.commands.report", "write a run as HTML, Markdown or JUnit"),
    "serve": ("jeval.app.commands.serve", "browse the store in Datasette"),
    "estimate": ("jeval.app.commands.estimate", "say what a run would ask and cost"),
    "capture": ("jeval.app.commands.capture", "make cases from recorded traces"),
    "labels": ("jeval.app.commands.labels", "write a dataset's labels to a file"),
    "runs": ("jeval.app.commands.runs", "list the runs in the store"),
    "show": ("jeval.app.commands.show", "show a run, or one case of it"),
    "doctor": ("jeval.app.commands.doctor", "check the installation, the keys and the store"),
    "merge": ("jeval.app.commands.merge", "bring several stores into one"),
}

# What a command has not done when the files it was given are refused.
_UNDONE = {
    "run": "nothing was asked",
    "estimate": "nothing was asked",
    "capture": "nothing was written",
    "labels": "nothing was written",
    "report": "nothing was written",
    "tune": "nothing was written",
    "merge": "nothing was written",
}


def _available() -> dict[str, tuple[str, str]]:
    return {name: entry for name, entry in COMMANDS.items() if find_spec(entry[0]) is not None}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="jeval",
        description="Know when an AI's answers are wrong: evaluate recorded outputs by rubrics and metrics.",
        epilog="Exit codes: 0 fine, 1 quality gate failed, 2 incomplete, 3 usage or config error, 130 interrupted.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"jeval {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, (_, about) in _available().items():
        commands.add_parser(name, help=about, add_help=False)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a sign must not end a run
    if not arguments or arguments[0] not in COMMANDS or find_spec(COMMANDS[arguments[0]][0]) is None:
        return _top_level(arguments)
    module_name, about = COMMANDS[arguments[0]]
    try:
        module = import_module(module_name)
        if hasattr(module, "raw"):  # takes its arguments as they are, for they are Hydra's
            return int(module.raw(arguments[1:]))
        parser = argparse.ArgumentParser(prog=f"jeval {arguments[0]}", description=f"{about[:1].upper()}{about[1:]}.")
        module.arguments(parser)
        return int(module.main(parser.parse_args(arguments[1:])))
    except SystemExit as ended:  # of argparse, ours or Hydra's: help was shown, or a flag is none
        return 0 if not ended.code else 3
    except JevalError as error:
        return _fail(error, arguments[0])
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        from jeval.app.painter import hush

        hush(sys.stdout)
        return 0
    except Exception as error:  # exit code 1 would tell CI that quality is at fault
        return _unforeseen(error)


def _top_level(arguments: list[str]) -> int:
    parser = _parser()
    if not arguments:
        parser.print_help()
        return 3
    if not arguments[0].startswith("-"):
        from difflib import get_close_matches

        close = get_close_matches(arguments[0], known := _available(), n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        print(f"jeval: {arguments[0]!r} is no command; {hint}there are: {', '.join(known)}", file=sys.stderr)
        return 3
    try:
        parser.parse_args(arguments)
    except SystemExit as ended:
        return 0 if not ended.code else 3
    return 0


def _unforeseen(error: Exception) -> int:
    """Tell of what no part foresaw: a file or a store that fails in the middle in one line, else the whole trace."""
    import sqlite3
    import traceback

    if isinstance(error, sqlite3.Error):
        print(f"jeval: the store failed: {error}; `jeval doctor` looks at it", file=sys.stderr)
    elif isinstance(error, OSError | UnicodeError):
        print(f"jeval: {type(error).__name__}: {error}; check that file, its folder and the disk", file=sys.stderr)
    else:
        traceback.print_exc()
        print("jeval: a mistake of jeval's own; please report what is above", file=sys.stderr)
    return 3


def _fail(error: JevalError, command: str = "run") -> int:
    from jeval.app.console import plain

    if isinstance(error, DataError):
        for line in str(error).split("\n"):
            print(plain(line), file=sys.stderr)
        undone = error.undone or _UNDONE.get(command, "nothing was done")
        print(f"jeval: {error.total:,} problem{'' if error.total == 1 else 's'}; {undone}", file=sys.stderr)
    else:
        print(f"jeval: {plain(str(error))}", file=sys.stderr)
    return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
