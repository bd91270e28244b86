"""jeval show: a run with what wants a look, or one case of it with its evidence and checks."""

import argparse
import sqlite3
from typing import TYPE_CHECKING

from jeval.app.store_option import add_limit, add_store, limit_of, opened_store
from jeval.counted import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jeval.app.painter import Painter
    from jeval.report.overview import CheckLine
    from jeval.store.reading import CheckFilter
    from jeval.store.told import Told

__all__ = ["arguments", "main"]

_LIMIT = 30
_WANTED = ("fail", "error", "review")
_SEVERITIES = ("critical", "major", "minor")
_KINDS = ("policy-compliance", "claim-support", "tool-claim", "escalation", "custom", "grounded-values")

_EPILOG = """\
Without a case: the run's summary, then its checks that want a look (failures, errors, reviews), critical ones
first. Filters take several values with commas between:

  jeval show @last --status fail --severity critical
  jeval show @last --rubric booking-claim --status pass,review --limit 0
  jeval show @last case-17
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument(
        "run", metavar="RUN", nargs="?", default="@last", help="id, beginning of one, name, @last, @prev"
    )
    parser.add_argument("case", metavar="CASE", nargs="?", help="a case's id")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--status", metavar="S,…", help="only checks of these statuses")
    parser.add_argument("--rubric", metavar="ID,…", help="only checks by these rubrics")
    parser.add_argument("--severity", metavar="S,…", help="only checks of these severities")
    parser.add_argument("--kind", metavar="K,…", help="only checks by rubrics of these kinds")
    add_limit(parser, _LIMIT)
    add_store(parser)


def main(args: argparse.Namespace) -> int:
    """Show it."""
    from jeval.store.find import find_run

    limit = limit_of(args)
    with opened_store(args) as (_, connection):
        run = find_run(connection, args.run)
        if args.case is None:
            _show_run(connection, run, args, limit)
        else:
            _show_case(connection, run, args)
    return 0


def _show_case(connection: sqlite3.Connection, run: sqlite3.Row, args: argparse.Namespace) -> None:
    import json
    import os
    import sys

    from jeval.app.case_text import print_case
    from jeval.app.painter import Painter
    from jeval.store.case_reading import read_case

    found = read_case(connection, run, args.case)
    wanted = _filter(args, list(found["thresholds"]))
    found["checks"] = [check for check in found["checks"] if wanted.lets_through(check)]
    if args.json:
        checks = [check.as_dict() for check in found["checks"]]
        print(json.dumps({**found, "checks": checks}, ensure_ascii=False), flush=True)
    else:
        print_case(Painter(sys.stdout, os.environ), found)


def _show_run(connection: sqlite3.Connection, run: sqlite3.Row, args: argparse.Namespace, limit: int | None) -> None:
    import json
    import os
    import sys

    from jeval.app.painter import Painter
    from jeval.store.reading import CheckFilter, read_checks
    from jeval.store.told import answers_of, read_told

    told = read_told(connection, run, limit)
    overview = told.run
    given = _filter(args, [line.id for line in overview.rubrics])
    wanted = CheckFilter(_WANTED) if given == CheckFilter() else given
    total = wanted.count(overview)
    checks = list(read_checks(connection, run["pk"], wanted, limit))
    if args.json:
        body = {
            "run": overview.as_dict(),
            "rubrics": [{**line._asdict(), "counts": dict(line.counts)} for line in overview.rubrics],
            "scores": [line._asdict() for line in overview.scores],
            "checks_matching": total,
            "checks": [check.as_dict() for check in checks],
        }
        print(json.dumps(body, ensure_ascii=False), flush=True)
        return
    painter = Painter(sys.stdout, os.environ)
    if given == wanted:
        _print_chosen(painter, told, checks, total, answers_of(connection, run["pk"], checks))
    else:
        others = checks[overview.critical_failures :]
        _print_all(painter, told, others, total, answers_of(connection, run["pk"], others))


def _print_chosen(
    painter: "Painter", told: "Told", checks: "list[CheckLine]", total: int, answers: "Mapping[str, str]"
) -> None:
    """The checks that were asked for and nothing else."""
    from jeval.app.check_lines import print_checks
    from jeval.app.overview_text import print_head

    print_head(painter, told)
    painter.line()
    painter.line(painter.paint(f"{total:,} of {counted(sum(told.run.counts.values()), 'check')}", "bold"))
    print_checks(painter, checks, answers)
    _print_rest(painter, total - len(checks))


def _print_all(
    painter: "Painter", told: "Told", others: "list[CheckLine]", total: int, answers: "Mapping[str, str]"
) -> None:
    """What the end of the run told, then what else wants a look: the worst come first, so the critical failures were
    at the beginning, and are told already."""
    from jeval.app.check_lines import print_checks
    from jeval.app.overview_text import print_told

    print_told(painter, told)
    number = told.run.critical_failures
    if total > number:
        painter.line()
        painter.line(painter.paint(f"{total - number:,} {'more ' if number else ''}want a look", "bold"))
    print_checks(painter, others, answers)
    _print_rest(painter, total - number - len(others))


def _print_rest(painter: "Painter", number: int) -> None:
    if number > 0:
        painter.line(f"  … and {number:,} more; --limit 0 shows all, --status and --rubric choose")


def _filter(args: argparse.Namespace, rubrics: "Sequence[str]") -> "CheckFilter":
    """What the flags ask for. Raises ConfigError for a value there is not."""
    from jeval.report.overview import STATUSES
    from jeval.store.reading import CheckFilter

    return CheckFilter(
        statuses=_values("--status", args.status, STATUSES),
        rubrics=_values("--rubric", args.rubric, rubrics),
        severities=_values("--severity", args.severity, _SEVERITIES),
        kinds=_values("--kind", args.kind, _KINDS),
    )


def _values(flag: str, given: str | None, known: "Sequence[str]") -> tuple[str, ...]:
    from jeval.errors import ConfigError

    values = tuple(dict.fromkeys(value.strip() for value in (given or "").split(",") if value.strip()))
    for value in values:
        if value not in known:
            raise ConfigError(f"{flag} {value}: there is none of that name; use {', '.join(known) or 'nothing'}")
    return values
