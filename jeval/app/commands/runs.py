"""jeval runs: the runs of a store, newest first."""

import argparse

from jeval.app.store_option import add_limit, add_store, limit_of, opened_store

__all__ = ["arguments", "main"]

_LIMIT = 20


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--json", action="store_true", help="a JSON list on stdout, a run each")
    add_limit(parser, _LIMIT)
    add_store(parser)


def main(args: argparse.Namespace) -> int:
    """List them."""
    import json
    import os
    import sys

    from jeval.app.overview_text import print_list
    from jeval.app.painter import Painter
    from jeval.store.reading import count_runs, read_runs

    limit = limit_of(args)
    with opened_store(args) as (path, connection):
        runs = read_runs(connection, limit)
        total = count_runs(connection)
    if args.json:
        print(json.dumps([run.as_dict() for run in runs], ensure_ascii=False), flush=True)
        return 0
    painter = Painter(sys.stdout, os.environ)
    print_list(painter, runs)
    if not total:
        painter.line(f"no runs in {path}; make one with `jeval run`")
    elif total > len(runs):
        painter.line(f"… and {total - len(runs):,} older ones; --limit 0 shows all")
    return 0
