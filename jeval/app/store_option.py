"""The option every command but `run` shares: which store, and a run in it."""

import argparse
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from jeval.app.places import project_root, store_path
from jeval.errors import ConfigError
from jeval.store.connect import open_store

__all__ = ["add_limit", "add_store", "existing_store", "limit_of", "opened_store"]


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add --store."""
    parser.add_argument(
        "--store", metavar="FILE", help="the store (default: $JEVAL_STORE, else jeval.db in the project)"
    )


def existing_store(args: argparse.Namespace) -> tuple[Path, sqlite3.Connection]:
    """The store named by --store, opened. Raises StoreError where there is none."""
    path = store_path(args.store, project_root())
    return path, open_store(path, create=False)


@contextmanager
def opened_store(args: argparse.Namespace) -> Iterator[tuple[Path, sqlite3.Connection]]:
    """The store named by --store and its path, closed at the end. Raises StoreError where there is none."""
    path, connection = existing_store(args)
    with closing(connection):
        yield path, connection


def add_limit(parser: argparse.ArgumentParser, number: int) -> None:
    """Add --limit, of so many unless told."""
    parser.add_argument("--limit", type=int, default=number, metavar="N", help=f"at most so many ({number}; 0: all)")


def limit_of(args: argparse.Namespace) -> int | None:
    """How many --limit lets through, None for all. Raises ConfigError where it is negative."""
    if args.limit < 0:
        raise ConfigError(f"--limit {args.limit}: must not be negative; use 0 for all")
    return args.limit or None
