"""jeval review: what of a run needs a person, one check at a time, labelled by a key."""

import argparse
from contextlib import closing
from typing import TYPE_CHECKING

from jeval.app.store_option import add_store, existing_store
from jeval.counted import counted

if TYPE_CHECKING:
    import sqlite3

    from jeval.app.painter import Painter
    from jeval.app.review_session import Session

__all__ = ["arguments", "main"]

_STATUSES = ("review", "fail")
_KNOWN = ("review", "fail", "error", "pass", "skipped")
_LONGEST_NAME = 200

_EPILOG = """\
Checks for review come first, then critical failures, then other failures. What a person has labelled is left out, so
the same command goes on where it stopped. Each label is in the store at once.

  p pass   f fail   r review: it is unclear, and should be   s skipped: the rubric does not apply
  n note   a all of long texts   ↑ ↓ moves   space next   b back   u undo   q quit

Where the input is no terminal, each line of it begins with a key:  printf 'p\\nn too vague\\nf\\n' | jeval review @last
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument(
        "run", metavar="RUN", nargs="?", default="@last", help="id, beginning of one, name, @last, @prev"
    )
    parser.add_argument("--statuses", metavar="S,…", default=",".join(_STATUSES), help="only these (review,fail)")
    parser.add_argument("--labels", metavar="FILE", help="write the labels to this JSONL file too")
    parser.add_argument("--reviewer", metavar="NAME", help="whose they are ($JEVAL_REVIEWER, else the login name)")
    parser.add_argument("--again", action="store_true", help="also what a person has labelled already")
    add_store(parser)


def main(args: argparse.Namespace) -> int:
    """Review until somebody ends it."""
    import os
    import sqlite3
    import sys
    from pathlib import Path

    from jeval.app.kept_labels import KeptLabels
    from jeval.app.painter import Painter
    from jeval.app.review_session import Session
    from jeval.app.run_record import now
    from jeval.errors import ConfigError, StoreError
    from jeval.store.find import find_run
    from jeval.store.reviewing import review_queue

    statuses = [status.strip() for status in args.statuses.split(",") if status.strip()]
    for status in statuses:
        if status not in _KNOWN:
            raise ConfigError(f"--statuses {status}: there is none of that name; use {', '.join(_KNOWN)}")
    reviewer = _reviewer(args.reviewer)
    painter = Painter(sys.stdout, os.environ)
    path, connection = existing_store(args)
    with closing(connection):
        run = find_run(connection, args.run)
        file = Path(args.labels).expanduser() if args.labels else None
        kept = KeptLabels(connection, reviewer, file, now)
        queue = review_queue(connection, run["pk"], statuses, again=args.again)
        if not queue:
            _print_empty(painter, run["id"], statuses, queue.labelled)
            return 0
        session = Session(queue, kept)
        if queue.labelled:
            labelled = counted(queue.labelled, "check has", "checks have")
            session.message = f"{labelled} a person's label already; --again shows all"
        try:
            _review(session, connection, run, painter)
        except sqlite3.Error as error:
            raise StoreError(f"store {path} cannot be read: {error}; see `jeval doctor --store {path}`") from error
        finally:
            _print_told(painter, session, args)
    if kept.missed:
        of = counted(len(kept.missed), "check")
        raise ConfigError(
            f"--labels {args.labels}: what was said of {of} is not in it, for it could not be written; the store has it"
        )
    return 0


def _review(session: "Session", connection: "sqlite3.Connection", run: "sqlite3.Row", painter: "Painter") -> None:
    import os
    import sys
    from io import TextIOWrapper

    from jeval.app.review_screen import by_keys, by_lines
    from jeval.app.terminal import Terminal, usable

    if usable(sys.stdin, sys.stdout, os.environ):
        with Terminal(sys.stdin, sys.stdout) as terminal:
            by_keys(session, connection, run, terminal, painter)
    else:
        if isinstance(sys.stdin, TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")  # a letter that is none must not end a review
        by_lines(session, connection, run, sys.stdin, painter, 100)


def _reviewer(given: str | None) -> str | None:
    import os

    from jeval.app.reviewer import reviewer_name
    from jeval.errors import ConfigError

    name = (reviewer_name(os.environ) if given is None else given).strip()
    if given is not None and not name:
        raise ConfigError("--reviewer is empty; give a name, or leave it out")
    if len(name) > _LONGEST_NAME or not name.isprintable():
        raise ConfigError(f"--reviewer {name!r:.60}: is no name; use printable characters, at most {_LONGEST_NAME}")
    return name or None


def _print_empty(painter: "Painter", run_id: str, statuses: list[str], labelled: int) -> None:
    has = counted(labelled, "check has", "checks have")
    done = f"; {has} a person's label already, --again shows all" if labelled else ""
    painter.line(f"nothing of run {run_id} is left with status {' or '.join(statuses)}{done}")


def _print_told(painter: "Painter", session: "Session", args: argparse.Namespace) -> None:
    painter.line(session.told())
    if session.kept.file is not None and session.given and not session.kept.missed:
        painter.line(f"the labels are in {args.labels} too")
