"""The option every command but `run` shares: which store, and a run in it."""

import argparse
import sqlite3
from pathlib import Path

from jeval.app.places import project_root, store_path
from jeval.store.connect import open_store

__all__ = ["add_store", "existing_store"]


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add --store."""
    parser.add_argument(
        "--store", metavar="FILE", help="the store (default: $JEVAL_STORE, else jeval.db in the project)"
    )


def existing_store(args: argparse.Namespace) -> tuple[Path, sqlite3.Connection]:
    """The store named by --store, opened. Raises StoreError where there is none."""
    path = store_path(args.store, project_root())
    return path, open_store(path, create=False)
