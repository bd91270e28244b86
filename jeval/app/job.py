"""One job of `jeval run`: from a composed configuration to a stored run and an exit code.

A job never exits and, in a sweep, never raises: Hydra would stop the jobs after it. What became of it is in the
store, where the sweep's parent finds it even when the job ran in another process.
"""

import os
import sqlite3
import sys
import traceback
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jeval.app.compose import conf_file
from jeval.app.console import outcome_json, print_outcome
from jeval.app.estimate import estimate, print_estimate
from jeval.app.outcome import Outcome
from jeval.app.painter import Painter, flush
from jeval.app.places import store_path
from jeval.app.prepare import Prepared, judge_identity, make_judge, prepare
from jeval.app.progress import Progress, make_progress
from jeval.app.reproduce import Original, changes_since
from jeval.app.run import Redecide, execute, new_run_id, now
from jeval.app.settings import JudgeSettings, RunSettings, json_text, settings_of
from jeval.app.sweep import Memory, memory_key
from jeval.errors import ConfigError, JevalError, StoreError
from jeval.store.connect import open_store
from jeval.store.find import find_run
from jeval.store.sweeps import record_job

__all__ = ["Job", "RunOptions"]


@dataclass(frozen=True)
class RunOptions:
    """The flags of `jeval run` that are not Hydra's."""

    ci: bool = False
    json: bool = False
    dry_run: bool = False
    from_run: str | None = None
    accept_changes: bool = False


@dataclass
class Job:
    """What Hydra calls, once or once for each job of a sweep. `sweep_id` is None outside a sweep."""

    options: RunOptions
    root: Path
    original: Original | None = None
    sweep_id: str | None = None
    codes: list[int] = field(default_factory=list)
    memory: Memory | None = None
    last: tuple[Prepared, Path] | None = None
    failure: Exception | None = None
    changed: bool = False

    def __call__(self, config: Any) -> None:
        """Run one job."""
        from hydra.core.hydra_config import HydraConfig

        hydra = HydraConfig.get()
        # Where there is a +, we put it there.
        overrides = [override.lstrip("+") for override in hydra.overrides.task]
        if self.sweep_id is None:
            try:
                self.codes.append(self._run(config, overrides, None))
            except Exception as failure:
                self.failure = failure  # raised again outside of Hydra, which would print it in its own words
            return
        position = int(hydra.job.num)
        code, error = 3, "the job died"
        try:
            code, error = self._run(config, overrides, (self.sweep_id, position)), ""
        except JevalError as failure:
            code, error = failure.exit_code, str(failure)
        except Exception as failure:
            traceback.print_exc()
            code, error = 3, f"{type(failure).__name__}: {failure}"
        finally:
            if error:
                print(f"jeval: job {position + 1} ({' '.join(overrides)}): {error}", file=sys.stderr)
            self.codes.append(code)
            self._record(config, position, overrides, code, error or None)
        if code == 130:
            raise KeyboardInterrupt  # whoever interrupts a job means the sweep

    def _record(self, config: Any, position: int, overrides: list[str], code: int, error: str | None) -> None:
        """Leave word of the job for the sweep's parent. Without a usable store there is none, which says enough."""
        if self.options.dry_run:
            return
        with suppress(JevalError, sqlite3.Error):
            setting = config.get("store") if hasattr(config, "get") else None
            with closing(open_store(store_path(setting, self.root))) as connection:
                record_job(connection, self.sweep_id or "", position, " ".join(overrides), code, error)

    def _run(self, config: Any, overrides: list[str], sweep: tuple[str, int] | None) -> int:
        settings = _settings(config, self.root)
        prepared = prepare(settings, self.root, known=self.last[0] if self.last else None)
        self._check_original(prepared)
        if self.options.ci:
            _refuse_unknown_scores(prepared)
        path = store_path(settings.store, self.root)
        if self.options.dry_run:
            return self._dry_run(prepared, path)
        with closing(open_store(path)) as connection:
            # Looked up before the run, so that @last is the one before it and a wrong name costs nothing.
            named = settings.gate.baseline if self.options.ci else None
            baseline = find_run(connection, named) if named else None
            try:
                outcome = self._execute(prepared, connection, path, overrides, sweep)
            except sqlite3.Error as error:
                remedy = "check its permissions and who else writes it"
                raise StoreError(f"store {path} cannot be written: {error}; {remedy}") from error
            self.last = (prepared, path)
            code = self._tell(prepared, outcome, connection, path, baseline, quiet=sweep is not None)
            self._explain(prepared, outcome, connection)
            return code

    def _execute(
        self,
        prepared: Prepared,
        connection: sqlite3.Connection,
        path: Path,
        overrides: list[str],
        sweep: tuple[str, int] | None,
    ) -> Outcome:
        settings = prepared.settings.judge
        replay = self._replay(settings, judge_identity(settings, os.environ))
        judge = make_judge(settings, os.environ, asks=replay is None and settings.reuse != "only")
        redecide: Redecide | None = None
        if sweep is not None and settings.repeat == 1:
            key = memory_key(prepared, judge.gateway, judge.model, path)
            if self.memory is None or not self.memory.serves(key):
                self.memory = Memory(key, prepared)
            redecide = self.memory
        return execute(
            prepared,
            connection,
            judge,
            _progress(sweep),
            run_id=new_run_id(),
            overrides=overrides,
            replay=replay,
            sweep=sweep,
            root=self.root,
            redecide=redecide,
        )

    def _explain(self, prepared: Prepared, outcome: Outcome, connection: sqlite3.Connection) -> None:
        """Have the scores put into prose, where that is wanted. It comes last, so that it can change nothing."""
        settings = prepared.settings
        if settings.explain.base_url is None:
            return
        from jeval.app.explained import explain_run

        explain_run(
            connection,
            outcome.run_id,
            prepared.metrics,
            settings.explain,
            os.environ,
            simulated=settings.judge.gateway == "offline",
            max_state_tokens=settings.judge.max_state_tokens,
            now=now,
        )

    def _replay(self, settings: JudgeSettings, judge: tuple[str, str]) -> int | None:
        """The run whose judgments are used and nothing else, where one complete run is reproduced with its judge."""
        if self.original is None or not self.original.complete or self.changed:
            return None
        then = self.original.config.get("judge")
        asked = settings.identity()
        alike = isinstance(then, Mapping) and all(then.get(key) == value for key, value in asked.items())
        return self.original.run if alike and self.original.judge == judge else None

    def _check_original(self, prepared: Prepared) -> None:
        if self.original is None:
            return
        changes = changes_since(self.original.config, prepared.fingerprint)
        self.changed = bool(changes)
        if changes and not self.options.accept_changes:
            name = self.original.run_id or self.options.from_run
            # The store refuses two contents of one version, accepted or not.
            edited = any(change.endswith("its content") for change in changes)
            accept = "give what was edited a new version and accept that" if edited else "accept it"
            raise ConfigError(
                f"--from-run {name}: {'; '.join(changes)}; restore the files, or {accept} with --accept-changes"
            )

    def _dry_run(self, prepared: Prepared, path: Path) -> int:
        judge = judge_identity(prepared.settings.judge, os.environ)
        if path.exists():
            with closing(open_store(path)) as connection:
                found = estimate(prepared, judge, connection)
        else:
            found = estimate(prepared, judge, None)
        if self.options.json:
            print(json_text(found.as_dict()), flush=True)
        else:
            print_estimate(Painter(sys.stdout, os.environ), prepared, found)
        return 0

    def _tell(
        self,
        prepared: Prepared,
        outcome: Outcome,
        connection: sqlite3.Connection,
        path: Path,
        baseline: sqlite3.Row | None,
        *,
        quiet: bool,
    ) -> int:
        painter = Painter(sys.stderr if self.options.json else sys.stdout, os.environ)
        if not quiet:
            print_outcome(painter, prepared, outcome, connection)
        if self.options.ci and outcome.exit_code != 130:
            from jeval.app.ci import gate_run

            outcome.exit_code = gate_run(painter, prepared, outcome, connection, baseline=baseline, quiet=quiet)
        if self.options.json:
            Painter(sys.stdout, {}).line(json_text(outcome_json(prepared, outcome, str(path))))
        flush(sys.stdout)  # a reader that has gone away must not change the exit code
        return outcome.exit_code


def _refuse_unknown_scores(prepared: Prepared) -> None:
    """A gate that asks for the score of a metric the run has not can never hold: told before anything is asked."""
    known = [metric.id for metric in prepared.metrics]
    for name in prepared.settings.gate.min_scores:
        if name not in known:
            there = f"there are: {', '.join(known)}" if known else "it has none; choose some with metrics=NAME"
            raise ConfigError(f"gate.min_scores.{name}: the run has no such metric; {there}")


def _progress(sweep: tuple[str, int] | None) -> Progress:
    # Only the first job of a sweep asks; the others are over before a line could be read.
    return make_progress() if sweep is None or sweep[1] == 0 else Progress()


def _settings(config: Any, root: Path) -> RunSettings:
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        values: Any = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        key = str(getattr(error, "full_key", None) or "a setting")
        group = key.partition(".")[0]
        remedy = f"name a file with {key}=FILE, or choose {group}=NAME" if key.endswith(".path") else f"set {key}=VALUE"
        raise ConfigError(f"{key}: is not set; {remedy} (see `jeval run --help`)") from error
    return settings_of(values, lambda field: conf_file(field, root))
