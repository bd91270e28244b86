"""jeval report: a run as HTML, Markdown or JUnit."""

import argparse
import sqlite3
import sys
from collections.abc import Iterable
from datetime import UTC, datetime

from jeval.app.output import HTML, JUNIT, MARKDOWN, output
from jeval.app.store_option import add_store, existing_store
from jeval.store.find import find_run

__all__ = ["arguments", "main"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("run", metavar="RUN", help="an id, the beginning of one, a name, @last or @prev")
    parser.add_argument("-o", "--output", metavar="FILE", help="one self-contained HTML file")
    parser.add_argument("--markdown", metavar="FILE", help="Markdown, for a pull request")
    parser.add_argument("--junit", metavar="FILE", help="JUnit XML, for a CI server")
    parser.epilog = "Without a format the HTML goes to jeval-RUN.html. FILE - is the standard output."
    add_store(parser)


def main(args: argparse.Namespace) -> int:
    """Write what is asked for. Raises NotFound, ConfigError where a file cannot be written."""
    _, connection = existing_store(args)
    try:
        run = find_run(connection, args.run)
        html = args.output
        if not (args.output or args.markdown or args.junit):
            html = f"jeval-{run['id']}.html"
        wanted = (
            ("-o", html, HTML, _html),
            ("--markdown", args.markdown, MARKDOWN, _markdown),
            ("--junit", args.junit, JUNIT, _junit),
        )
        # All are looked at before the first is written.
        places = [(output(option, name, endings), made) for option, name, endings, made in wanted if name]
        for place, made in places:
            place.write(made(connection, run))
            if place.path is not None:
                print(f"wrote {place.name}", file=sys.stderr)
    finally:
        connection.close()
    return 0


def _html(connection: sqlite3.Connection, run: sqlite3.Row) -> Iterable[str]:
    from jeval.browse.report import html_report

    yield html_report(connection, run["id"], made_at=datetime.now(UTC).isoformat(timespec="seconds"))


def _markdown(connection: sqlite3.Connection, run: sqlite3.Row) -> Iterable[str]:
    from jeval.report.gated import stored_gate
    from jeval.report.github import LISTED, github_summary
    from jeval.store.reading import CheckFilter, read_checks, read_overview
    from jeval.store.told import answers_of

    failed = list(read_checks(connection, run["pk"], CheckFilter(statuses=("fail",)), LISTED + 1))
    gate = stored_gate(run["gate"], run["exit_code"])
    verdict, name = (gate.verdict, gate.name) if gate else (None, "")
    answers = answers_of(connection, run["pk"], failed[:LISTED])
    yield github_summary(read_overview(connection, run), verdict, failed, gate=name, answers=answers)


def _junit(connection: sqlite3.Connection, run: sqlite3.Row) -> Iterable[str]:
    from jeval.report.gated import stored_gate
    from jeval.report.junit import junit
    from jeval.store.reading import read_overview, read_scores, read_suites

    overview = read_overview(connection, run)
    gate = stored_gate(run["gate"], run["exit_code"])
    scores = ((line, read_scores(connection, run["pk"], line.id)) for line in overview.scores)
    reviews_fail = gate is not None and gate.reviews_fail
    return junit(overview, read_suites(connection, run["pk"], overview), scores, reviews_fail=reviews_fail)
