"""The end of a sweep as people read it: one row a profile, then the checks that flip."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from jeval.app.painter import SIMULATED, Painter, packed, plain
from jeval.app.places import project_root, store_path
from jeval.app.progress import COLOURS
from jeval.ruling import STATUSES
from jeval.store.sweeps import SweepRow, sweep_flips

__all__ = ["print_sweep"]

_SHOWN = 20
_HEADS = (*STATUSES, "critical", "flipped")
# Profiles whose flips are listed, evenly spaced where there are more; the table counts those of all.
_HELD = 8


def _labels(jobs: Sequence[SweepRow]) -> list[str]:
    """What tells the jobs apart: their overrides without those that all share."""
    each = [job.overrides.split(" ") if job.overrides else [] for job in jobs]
    shared = set(each[0]).intersection(*map(set, each[1:])) if len(each) > 1 else set()
    return [plain(" ".join(part for part in parts if part not in shared) or "(defaults)", 60) for parts in each]


def print_sweep(
    painter: Painter, connection: sqlite3.Connection, jobs: Sequence[SweepRow], missing: int, store: Path
) -> None:
    """Print the table of a sweep's jobs; `missing` jobs left no word. `store` is where their runs are."""
    if not jobs:
        painter.line(painter.paint("no job of the sweep left a run", "magenta"))
        return
    labels = _labels(jobs)
    painter.line()
    if any(job.simulated for job in jobs):
        painter.line(painter.paint(f"  {SIMULATED}", "yellow"))
    _print_table(painter, jobs, labels)
    if missing:
        painter.line(painter.paint(f"  {missing} more job{'' if missing == 1 else 's'} died without a word", "magenta"))
    _print_flips(painter, connection, jobs, labels)
    _print_what_next(painter, jobs, store)


def _print_table(painter: Painter, jobs: Sequence[SweepRow], labels: Sequence[str]) -> None:
    """A row a profile: its name, its run, its counts; on two lines where a terminal is too narrow for one."""
    cells = [_cells(job, job.run == jobs[0].run) for job in jobs]
    columns = [2 + max(map(len, column)) for column in zip(_HEADS, *filter(None, cells), strict=True)]
    width = max(len("profile"), *map(len, labels))
    run = max(len("run"), *(len(job.run_id or "") for job in jobs))
    whole = 2 + width + 2 + run + sum(columns) <= painter.width
    heads = "".join(f"{name:>{column}}" for name, column in zip(_HEADS, columns, strict=True))
    before = f"{'profile':<{width}}  " if whole else ""
    painter.line(painter.paint(f"  {before}{'run':<{run}}{heads}", "bold"))
    for job, label, texts in zip(jobs, labels, cells, strict=True):
        mark = painter.paint(f"  {plain(job.error, 100)}", "magenta") if job.error else ""
        if texts is None:
            failed = painter.paint(f"failed: {plain(job.error or '', 100)}", "magenta")
            painter.line(f"  {label:<{width}}  {failed}" if whole else f"  {label}  {failed}")
            continue
        if not whole:
            painter.line(f"  {label}{mark}")
        row = "".join(
            painter.paint(f"{text:>{column}}", *_styles(name, text))
            for name, text, column in zip(_HEADS, texts, columns, strict=True)
        )
        painter.line(f"  {f'{label:<{width}}  ' if whole else ''}{job.run_id or '':<{run}}{row}{mark if whole else ''}")


def _cells(job: SweepRow, first: bool) -> list[str] | None:
    """What stands in a job's columns; None where it left no run."""
    if job.counts is None:
        return None
    return [f"{n:,}" for n in (*job.counts, job.critical or 0)] + ["–" if first else f"{job.flipped:,}"]


def _styles(name: str, text: str) -> list[str]:
    if name in COLOURS:
        return ["bright_black" if text == "0" else COLOURS[name]]
    return ["red"] if name == "critical" and text != "0" else []


def _print_what_next(painter: Painter, jobs: Sequence[SweepRow], store: Path) -> None:
    """A command that shows how the first run differs from the one most unlike it, to be typed as it stands."""
    made = [job for job in jobs if job.run_id is not None]
    if len(made) < 2:
        return
    first, most = made[0], max(made[1:], key=lambda job: job.flipped or 0)
    command = f"jeval compare {first.run_id} {most.run_id}"
    if store.resolve() != store_path(None, project_root()).resolve():
        command += f" --store {quote(str(store))}"
    painter.line()
    painter.line("two of the runs side by side, with reasons:")
    painter.line(f"  {plain(command)}")


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
        shown = [
            f"→ {painter.status(STATUSES[code], STATUSES[code])} under {_few(names)}" for code, names in became.items()
        ]
        first_line, *more = packed([f"{case_id} {rubric_id}: {STATUSES[status]}", *shown], painter.width - 6)
        painter.line(f"    {first_line}".replace(" · →", " →"))
        for line in more:
            painter.line(f"      {line}".replace(" · →", " →"))
    if len(rows) > _SHOWN:
        painter.line("    … and more")


def _few(names: Sequence[str]) -> str:
    if len(names) <= 3:
        return ", ".join(names)
    return f"{names[0]} … {names[-1]} ({len(names)} profiles)"
