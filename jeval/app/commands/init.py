"""jeval init: a project to begin with."""

import argparse

__all__ = ["arguments", "main"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = (
        "No file is ever written over. Where one is there already, nothing is written, unless with --missing."
    )
    parser.add_argument("folder", metavar="DIR", nargs="?", default=".", help="where (default: the working directory)")
    parser.add_argument("--ci", metavar="SERVICE", help="also a workflow that evaluates each pull request: github")
    parser.add_argument("--missing", action="store_true", help="write what is not there, and leave the rest as it is")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def main(args: argparse.Namespace) -> int:
    """Write the files and say what to type next. Raises ConfigError where some are there already."""
    import json
    import os
    import shlex
    import sys
    from pathlib import Path

    from jeval.app.painter import Painter, plain
    from jeval.app.starter import CI, NEXT, start_project, starter_files
    from jeval.errors import ConfigError

    if args.ci is not None and args.ci not in CI:
        raise ConfigError(f"--ci {args.ci}: there is none of that name; use {', '.join(CI)}")
    folder = Path(args.folder).expanduser()
    started = start_project(folder, starter_files(args.ci), missing=args.missing)
    here = folder.resolve() == Path.cwd().resolve()
    commands = ([] if here else [(f"cd {shlex.quote(str(folder))}", "")]) + list(NEXT)
    if args.json:
        body = {
            "folder": str(folder),
            "written": started.written,
            "kept": started.kept,
            "next": [c for c, _ in commands],
        }
        print(json.dumps(body, ensure_ascii=False), flush=True)
        return 0
    painter = Painter(sys.stdout, os.environ)
    painter.line(painter.paint(f"a project in {plain(str(folder.resolve()))}", "bold"))
    for name in started.written:
        painter.line(f"  {painter.paint('✓', 'green')} {name}")
    for name in started.kept:
        painter.line(f"  {painter.paint('–', 'bright_black')} {name} was there and is as it was")
    if started.ignored:
        painter.line(f"  {painter.paint('✓', 'green')} .gitignore leaves the store, jeval.db, out")
    painter.line()
    painter.line(painter.paint("next", "bold"))
    width = max(len(command) for command, _ in NEXT)
    beside = width + max(len(why) for _, why in NEXT) + 6 <= painter.width
    for command, why in commands:
        told = painter.paint(f"# {why}", "bright_black") if why else ""
        if told and not beside:
            painter.line(f"  {told}")
        painter.line(f"  {plain(command):<{width}}  {told}" if told and beside else f"  {plain(command)}")
    return 0
