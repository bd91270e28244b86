"""jeval run: compose, prepare, judge, store, tell; once, or once for each job of a sweep."""

import logging
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack, closing
from tempfile import TemporaryDirectory

from jeval.app.compose import count_jobs, overrides_of, run_hydra
from jeval.app.places import project_root, store_path
from jeval.errors import ConfigError
from jeval.problems import nearest

__all__ = ["raw"]

# Flags that Hydra understands and we pass on.
_HYDRA_FLAGS = (
    "-m", "--multirun", "-h", "--help", "--hydra-help", "-c", "--cfg", "-i", "--info", "--resolve", "-p", "--package",
    "--config-dir", "-cd", "-sc", "--shell-completion", "--version", "-r", "--run", "-er", "--experimental-rerun",
)  # fmt: skip
_OURS = {"--ci": "ci", "--json": "json", "--dry-run": "dry_run", "--accept-changes": "accept_changes"}


def split_flags(arguments: Sequence[str]) -> tuple[dict[str, object], list[str]]:
    """Our flags by name, and what is left for Hydra. Raises ConfigError for a flag that is neither's."""
    ours: dict[str, object] = {}
    rest: list[str] = []
    waiting = iter(arguments)
    for argument in waiting:
        flag, equals, value = argument.partition("=")
        if argument in _OURS:
            ours[_OURS[argument]] = True
        elif flag == "--from-run":
            name = value if equals else next(waiting, None)
            if not name:
                raise ConfigError("--from-run: names no run; write --from-run RUN, e.g. --from-run @last")
            ours["from_run"] = name
        elif argument.startswith("-") and flag not in _HYDRA_FLAGS:
            close = nearest(flag, [*_OURS, "--from-run", "--multirun", "--cfg", "--info", "--help"])
            hint = f"did you mean {close}? " if close else ""
            raise ConfigError(f"{argument}: there is no such flag; {hint}see `jeval run --help`")
        else:
            rest.append(argument)
    return ours, rest


def _value(arguments: Sequence[str], key: str) -> str | None:
    """The last plain value given for a key, or None."""
    found = [argument.partition("=")[2] for argument in arguments if argument.partition("=")[0] == key]
    return found[-1].strip("'\"") if found else None


def raw(arguments: Sequence[str]) -> int:
    """Run it, or sweep; the exit code, of a sweep its worst."""
    flags, rest = split_flags(arguments)
    sweep = any(flag in rest for flag in ("-m", "--multirun"))
    root = project_root()
    overrides = overrides_of(rest, sweep=sweep)
    if any(
        flag in rest for flag in ("-h", "--help", "--hydra-help", "-c", "--cfg", "-i", "--info", "-sc", "--version")
    ):
        # What is shown goes through a log, which would tell of a reader that has gone away once for each line.
        logging.raiseExceptions = False
        run_hydra(lambda config: None, overrides, root)
        return 0
    # Only now what is heavy: flags and overrides are in order.
    from jeval.app.job import Job, RunOptions
    from jeval.app.reproduce import original, overrides_from
    from jeval.app.run import new_run_id
    from jeval.store.connect import open_store

    options = RunOptions(**flags)  # type: ignore[arg-type]
    job = Job(options, root)
    path = store_path(_value(rest, "store"), root)
    if options.from_run:
        with ExitStack() as stack:
            connection = stack.enter_context(closing(open_store(path, create=False))) if path.exists() else None
            job.original = original(options.from_run, connection)
            if connection is not None:  # its files are named as they were from the project that the store lies in
                job.root = project_root(path.parent)
        overrides = [*overrides_from(job.original.config, overrides), *overrides]
    if not sweep:
        run_hydra(job, overrides, root)
        if job.failure is not None:
            raise job.failure
        return max(job.codes, default=0)
    job.sweep_id = new_run_id()
    expected = count_jobs(overrides)
    # Hydra leaves a multirun.yaml in the sweep's folder; nobody asked for it.
    with TemporaryDirectory(prefix="jeval-sweep-") as folder:
        run_hydra(job, [*overrides, f"hydra.sweep.dir='{folder}'"], root)
    if options.dry_run:
        return max(job.codes, default=3)
    return _conclude_sweep(job.sweep_id, job.codes, expected, path, json=options.json)


def _conclude_sweep(sweep_id: str, codes: Sequence[int], expected: int | None, path: object, *, json: bool) -> int:
    """Print the sweep's table; the worst exit code, a job that left no word counting as a failure."""
    from pathlib import Path

    from jeval.app.console import Painter
    from jeval.app.sweep_table import print_sweep
    from jeval.store.connect import open_store
    from jeval.store.sweeps import sweep_jobs

    store = Path(str(path))
    if not store.exists():
        return max(codes, default=3)
    with closing(open_store(store, create=False)) as connection:
        jobs = sweep_jobs(connection, sweep_id)
        missing = max(0, (expected or len(jobs)) - len(jobs))
        print_sweep(Painter(sys.stderr if json else sys.stdout, os.environ), connection, jobs, missing, store)
    worst = max([*codes, *(job.exit_code for job in jobs)], default=3)
    return max(worst, 3) if missing else worst
