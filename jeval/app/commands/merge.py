"""jeval merge: several stores into one."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jeval.app.painter import Painter
    from jeval.store.merge import Merged, MergedStore

__all__ = ["arguments", "main"]

# Characters of a store's name in a table.
_WIDEST = 50

_EPILOG = """\
Of CI's shards, of several machines, of colleagues:  jeval merge shard-*.db -o all.db

Runs keep their ids, checks, judgments and scores. A run that is there already is not doubled; of two labels by the
same person on the same check the later stands. The stores are only read, and what is merged into is changed as a
whole or not at all. What any of them had judged is not asked again by a run over the merged store.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("stores", metavar="STORE", nargs="+", help="a store to take everything from")
    parser.add_argument(
        "-o", "--output", metavar="STORE", required=True, help="the store to merge into; made where there is none"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def main(args: argparse.Namespace) -> int:
    """Merge them. Raises StoreError where one is no store, or a run is another one elsewhere."""
    import json
    import os
    import sys
    from pathlib import Path

    from jeval.app.painter import Painter
    from jeval.store.merge import merge_stores

    merged = merge_stores([Path(name).expanduser() for name in args.stores], Path(args.output).expanduser())
    if args.json:
        print(json.dumps(_as_dict(merged), ensure_ascii=False), flush=True)
        return 0
    painter = Painter(sys.stdout, os.environ)
    for line in _lines(painter, merged):
        painter.line(line)
    return 0


def _as_dict(merged: "Merged") -> dict[str, object]:
    return {
        "store": str(merged.target),
        "created": merged.created,
        "runs": merged.runs,
        "stores": [
            {
                "store": str(store.path),
                "runs_added": store.brought,
                "runs_completed": store.completed,
                "runs_known": store.known,
                "judgments_added": store.judgments,
                "labels_added": store.labels,
            }
            for store in merged.stores
        ],
        "changed_versions": merged.changed,
    }


def _lines(painter: "Painter", merged: "Merged") -> "Iterator[str]":
    from jeval.app.painter import folded, plain
    from jeval.counted import counted

    width = max(len(plain(str(store.path), _WIDEST)) for store in merged.stores)
    for store in merged.stores:
        sign = painter.paint("✓", "green") if _brought(store) else painter.paint("–", "bright_black")
        yield f"  {sign} {plain(str(store.path), _WIDEST):<{width}}  {_told(store)}"
    for what in merged.changed:
        warning = f"warning: {what} has several contents now; runs by one cannot be compared with others"
        yield from ("  " + painter.paint(line, "yellow") for line in folded(warning, painter.width - 2))
    made = "made" if merged.created else "changed" if any(map(_brought, merged.stores)) else "unchanged"
    yield f"{painter.paint(plain(str(merged.target)), 'bold')} {made}: {counted(merged.runs, 'run')}"


def _brought(store: "MergedStore") -> bool:
    return bool(store.brought or store.completed or store.labels)


def _told(store: "MergedStore") -> str:
    from jeval.counted import counted

    if store.itself:
        return "is the store that is merged into"
    parts = [
        counted(len(store.brought), "run") if store.brought else "",
        counted(store.judgments, "judgment") if store.judgments else "",
        counted(store.labels, "label") if store.labels else "",
        f"{counted(len(store.completed), 'run')} completed" if store.completed else "",
    ]
    told = " · ".join(part for part in parts if part) or "nothing new"
    known = counted(len(store.known), "run was", "runs were")
    return f"{told} ({known} there already)" if store.known else told
