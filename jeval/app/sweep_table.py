"""The end of a sweep as people read it: one row a profile, then the checks that flip."""

import json
import sqlite3
from collections.abc import Sequence

from jeval.app.console import Painter, plain
from jeval.app.progress import COLOURS
from jeval.ruling import STATUSES
from jeval.store.sweeps import SweepRow, sweep_flips

__all__ = ["print_sweep"]

_SHOWN = 20
# Profiles whose flips are listed, evenly spaced where there are more; the table counts those of all.
_HELD = 8


def _labels(jobs: Sequence[SweepRow]) -> list[str]:
    """What tells the jobs apart: their overrides without those that all share."""
    each = [job.overrides.split(" ") if job.overrides else [] for job in jobs]
    shared = set(each[0]).intersection(*map(set, each[1:])) if len(each) > 1 else set()
    return [plain(" ".join(part for part in parts if part not in shared) or "(defaults)", 60) for parts in each]


def print_sweep(painter: Painter, connection: sqlite3.Connection, jobs: Sequence[SweepRow], missing: int) -> None:
    """Print the table of a sweep's jobs; `missing` jobs left no word."""
    if not jobs:
        painter.line(painter.paint("no job of the sweep left a run", "magenta"))
        return
    labels = _labels(jobs)
    width = max(len("profile"), *(len(label) for label in labels))
    painter.line()
    head = (
        f"  {'profile':<{width}}" + "".join(f"{status:>9}" for status in STATUSES) + f"{'critical':>10}{'flipped':>9}"
    )
    painter.line(painter.paint(head, "bold"))
    for job, label in zip(jobs, labels, strict=True):
        if job.counts is None:
            painter.line(f"  {label:<{width}}  " + painter.paint(f"failed: {plain(job.error or '', 100)}", "magenta"))
            continue
        cells = "".join(
            painter.paint(f"{n:>9,}", COLOURS[status] if n else "bright_black")
            for status, n in zip(STATUSES, job.counts, strict=True)
        )
        critical = painter.paint(f"{job.critical:>10,}", "red") if job.critical else f"{0:>10}"
        flipped = f"{job.flipped:>9,}" if job.run != jobs[0].run else f"{'–':>9}"
        error = painter.paint(f"  {plain(job.error, 80)}", "magenta") if job.error else ""
        painter.line(f"  {label:<{width}}{cells}{critical}{flipped}{error}")
    if missing:
        painter.line(painter.paint(f"  {missing} more job{'' if missing == 1 else 's'} died without a word", "magenta"))
    _print_flips(painter, connection, jobs, labels)


def _print_flips(
    painter: Painter, connection: sqlite3.Connection, jobs: Sequence[SweepRow], labels: Sequence[str]
) -> None:
    runs = {job.run: label for job, label in zip(jobs, labels, strict=True) if job.run is not None}
    order = list(runs)
    if len(order) < 2:
        return
    first = order[0]
    others = order[1:]
    if len(others) > _HELD:  # a look at each of many profiles takes longer than deciding it did
        others = [others[round(i * (len(others) - 1) / (_HELD - 1))] for i in range(_HELD)]
    rows = sweep_flips(connection, first, others, _SHOWN + 1)
    if not rows:
        painter.line("  no check flips against the first profile")
        return
    painter.line()
    painter.line(f"  checks that flip against {runs[first]}")
    for case_id, rubric_id, status, changes in rows[:_SHOWN]:
        became: dict[int, list[str]] = {}
        for run, code in json.loads(changes).items():
            became.setdefault(code, []).append(runs[int(run)])
        shown = "; ".join(
            f"{painter.status(STATUSES[code], STATUSES[code])} under {_few(names)}" for code, names in became.items()
        )
        painter.line(f"    {case_id} {rubric_id}: {STATUSES[status]} → {shown}")
    if len(rows) > _SHOWN:
        painter.line("    … and more: query check_rows, or `jeval compare` two of the runs")


def _few(names: Sequence[str]) -> str:
    if len(names) <= 3:
        return ", ".join(names)
    return f"{names[0]} … {names[-1]} ({len(names)} profiles)"
