"""jeval compare: what changed between two runs, whether they may be compared, and how sure it is."""

import argparse

from jeval.app.store_option import add_store, opened_store

__all__ = ["arguments", "main"]

_EPILOG = """\
A and B name runs by id, the beginning of an id, name, @last or @prev:  jeval compare @prev @last

A failure is new where the check passed or was for review before, and resolved where it passes now; one that is
for review now is newly for review. Exit codes: 0; 1 new failures of required rubrics, with --fail-on-new; 2
not comparable (a rubric changed its version or content, or a simulated run against a real one); 3 usage.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("baseline", metavar="A", help="the run before")
    parser.add_argument("candidate", metavar="B", help="the run after")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--fail-on-new", action="store_true", help="exit with 1 where B has new failures")
    parser.add_argument(
        "--html", metavar="FILE", help="also write a page, whole in itself; - for the page alone on stdout"
    )
    add_store(parser)


def main(args: argparse.Namespace) -> int:
    """Compare; the exit code."""
    import json
    import os
    import sys

    from jeval.app.comparison_text import print_comparison
    from jeval.app.output import HTML, output
    from jeval.app.painter import Painter
    from jeval.compare import compare
    from jeval.errors import ConfigError
    from jeval.store.alignment import align, run_facts
    from jeval.store.find import find_run

    page = output("--html", args.html, HTML) if args.html else None
    piped = page is not None and page.path is None
    if piped and args.json:
        raise ConfigError("--html -: the standard output is taken by --json; name a file")
    with opened_store(args) as (_, connection):
        baseline, candidate = find_run(connection, args.baseline), find_run(connection, args.candidate)
        alignment = align(connection, baseline, candidate)
        comparison = compare(run_facts(connection, baseline), run_facts(connection, candidate), alignment)
    if page is not None:
        from jeval.report.comparison_page import comparison_page

        page.write([comparison_page(comparison)])
    if args.json:
        print(json.dumps(comparison.as_dict(), ensure_ascii=False), flush=True)
    elif not piped:
        print_comparison(Painter(sys.stdout, os.environ), comparison)
    return comparison.exit_code(fail_on_new=args.fail_on_new)
