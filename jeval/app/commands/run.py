"""jeval run: compose, prepare, judge, store, tell."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jeval.app.compose import overrides_of, run_hydra
from jeval.app.faults import nearest
from jeval.app.places import project_root, store_path
from jeval.errors import ConfigError, JevalError

__all__ = ["RunOptions", "raw"]


@dataclass(frozen=True)
class RunOptions:
    """The flags of `jeval run` that are not Hydra's."""

    ci: bool = False
    json: bool = False
    dry_run: bool = False
    from_run: str | None = None


# Flags that Hydra understands and we pass on.
_HYDRA_FLAGS = (
    "-m", "--multirun", "-h", "--help", "--hydra-help", "-c", "--cfg", "-i", "--info", "--resolve", "-p", "--package",
    "--config-dir", "-cd", "-sc", "--shell-completion", "--version", "-r", "--run", "-er", "--experimental-rerun",
)  # fmt: skip


def split_flags(arguments: Sequence[str]) -> tuple[RunOptions, list[str]]:
    """Our flags, and what is left for Hydra. Raises ConfigError for a flag that is neither's."""
    ci = json = dry_run = False
    from_run: str | None = None
    rest: list[str] = []
    waiting = iter(arguments)
    for argument in waiting:
        flag, equals, value = argument.partition("=")
        if argument == "--ci":
            ci = True
        elif argument == "--json":
            json = True
        elif argument == "--dry-run":
            dry_run = True
        elif flag == "--from-run":
            from_run = value if equals else next(waiting, None)
            if not from_run:
                raise ConfigError("--from-run: names no run; write --from-run RUN, e.g. --from-run @last")
        elif argument.startswith("-") and flag not in _HYDRA_FLAGS:
            close = nearest(flag, ["--ci", "--json", "--dry-run", "--from-run", "--multirun", "--cfg", "--info", "--help"])
            raise ConfigError(f"{argument}: there is no such flag; {f'did you mean {close}? ' if close else ''}see `jeval run --help`")
        else:
            rest.append(argument)
    return RunOptions(ci, json, dry_run, from_run), rest


def raw(arguments: Sequence[str]) -> int:
    """Run it, or sweep; the exit code, of a sweep its worst."""
    options, rest = split_flags(arguments)
    sweep = any(flag in rest for flag in ("-m", "--multirun"))
    root = project_root()
    given = [argument for argument in rest if "=" in argument and not argument.startswith("-")]
    codes: list[int] = []

    def job(config: Any) -> None:
        codes.append(_job(config, options, given, root))

    run_hydra(job, overrides_of(rest, sweep=sweep), root)
    if not codes:  # --help, --cfg and --info call no job
        return 0
    return max(codes)


def _job(config: Any, options: RunOptions, given: list[str], root: Path) -> int:
    """One job, which never raises: in a sweep that would stop the others."""
    from jeval.app.cli import _fail

    try:
        return _run(config, options, given, root)
    except JevalError as error:
        return _fail(error)


def _run(config: Any, options: RunOptions, given: list[str], root: Path) -> int:
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    from jeval.app.console import Painter, outcome_json, print_outcome
    from jeval.app.prepare import prepare
    from jeval.app.progress import make_progress
    from jeval.app.run import execute, new_run_id
    from jeval.app.settings import json_text, settings_of
    from jeval.store.connect import open_store

    try:
        values: Any = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        raise ConfigError(_missing(error)) from error
    settings = settings_of(values)
    prepared = prepare(settings, root)
    path = store_path(settings.store, root)
    connection = open_store(path)
    try:
        progress = make_progress()
        outcome = execute(prepared, connection, progress, run_id=new_run_id(), overrides=given, root=root)
        print_outcome(Painter(sys.stderr if options.json else sys.stdout, os.environ), prepared, outcome, connection)
        if options.json:
            print(json_text(outcome_json(prepared, outcome, str(path))), flush=True)
    finally:
        connection.close()
    return outcome.exit_code


def _missing(error: Exception) -> str:
    key = getattr(error, "full_key", None) or "a setting"
    group = str(key).partition(".")[0]
    remedy = f"name a file with {key}=FILE, or choose {group}=NAME" if str(key).endswith(".path") else f"set {key}=VALUE"
    return f"{key}: is not set; {remedy} (see `jeval run --help`)"
