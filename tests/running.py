"""The product as people run it: its command line, in this process or its own, and a judge on 127.0.0.1."""

import asyncio
import contextlib
import copy
import functools
import io
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf

from jeval.app.cli import _fail, main
from jeval.app.compose import compose
from jeval.app.job import Job, RunOptions
from jeval.case import Case
from jeval.errors import JevalError
from jeval.evaluate import evaluate_all
from jeval.evaluator import Evaluator
from jeval.metric import Metric
from jeval.plan import Planner
from jeval.question import Judge
from jeval.result import CaseResult
from jeval.rubric import Rubric, Thresholds
from jeval.store.recall import StoredJudgments
from jeval.store.rows import first_request_id
from jeval.store.runs import begin_run
from jeval.store.writer import ResultWriter
from tests.judges import ScriptedJudge

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"

RUBRICS: list[dict[str, Any]] = [
    {"id": "support", "version": "1.0.0", "kind": "claim-support", "severity": "critical"},
    {
        "id": "tone",
        "version": "1.0.0",
        "kind": "custom",
        "criterion": "The response is polite.",
        "outcomes": {"acceptable": "It is polite.", "unacceptable": "It is rude."},
    },
]


@dataclass
class Ran:
    """What one call of the command line came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        return json.loads(self.out)


def jeval(*arguments: str) -> Ran:
    """Run the command line in this process, in its working directory."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(arguments))
    return Ran(code, out.getvalue(), err.getvalue())


@functools.cache
def _composed(judge: str) -> Any:
    return compose([f"judge={judge}", "dataset.path=x", "rubrics.path=x"], ROOT)


def quick(*arguments: str) -> Ran:
    """As `jeval("run", …)`, without Hydra's composing, which takes longer than all the rest.

    For `--json`, plain overrides and the judges offline and local only.
    """
    given = dict(argument.split("=", 1) for argument in arguments if argument != "--json")
    config = copy.deepcopy(_composed(given.pop("judge", "offline")))
    for key, value in given.items():
        text = key.endswith(("path", "base_url")) or key in ("store", "name")
        OmegaConf.update(config, key, value if text else yaml.safe_load(value), force_add=True)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = Job(RunOptions(json="--json" in arguments), Path.cwd())._run(config, [], None)
        except JevalError as error:
            code = _fail(error)
    return Ran(code, out.getvalue(), err.getvalue())


def command(*arguments: str) -> list[str]:
    """The command line for a process of its own."""
    return [sys.executable, "-m", "jeval.app.cli", *arguments]


def environment(**more: str) -> dict[str, str]:
    """This environment, with the package importable from anywhere."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **more}


def jeval_process(*arguments: str, cwd: Path, timeout: float = 60, **env: str) -> Ran:
    """Run the command line in a process of its own."""
    done = subprocess.run(
        command(*arguments), cwd=cwd, env=environment(**env), capture_output=True, text=True, timeout=timeout
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def case(number: int, **more: Any) -> dict[str, Any]:
    """A small case about nothing that exists."""
    return {
        "id": f"case-{number:04d}",
        "input": f"What does ticket {number} cost?",
        "output": f"Ticket {number} costs {number} crowns.",
        "context": [{"id": "k", "content": f"Ticket {number} costs {number} crowns at the booth."}],
        **more,
    }


def write_cases(path: Path, cases: int | Sequence[Mapping[str, Any]]) -> Path:
    """A dataset file of that many cases, or of these."""
    rows = [case(number) for number in range(cases)] if isinstance(cases, int) else cases
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def write_rubrics(path: Path, rubrics: Sequence[Mapping[str, Any]] = RUBRICS) -> Path:
    """A rubrics file of these."""
    path.write_text(json.dumps(list(rubrics), ensure_ascii=False), encoding="utf-8")
    return path


def project(folder: Path, cases: int | Sequence[Mapping[str, Any]] = 5) -> list[str]:
    """Write cases and rubrics into a folder; the overrides that name them."""
    write_cases(folder / "cases.jsonl", cases)
    write_rubrics(folder / "rubrics.json")
    return [
        f"dataset.path={folder / 'cases.jsonl'}",
        f"rubrics.path={folder / 'rubrics.json'}",
        f"store={folder / 'jeval.db'}",
    ]


def rows(store: Path, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """What a query finds in a store."""
    with contextlib.closing(sqlite3.connect(store, timeout=30)) as connection:
        return connection.execute(sql, parameters).fetchall()


def run_row(run_id: str = "run-1", **more: Any) -> dict[str, Any]:
    """The columns a run's row cannot do without."""
    return {
        "id": run_id,
        "started_at": "2026-01-01T00:00:00.000Z",
        "dataset": "orchard",
        "judge": "scripted",
        "gateway": "here",
        "model_asked": "scripted-1",
        "config_yaml": "",
        "config_sha256": "",
        "jeval_version": "0",
        "python_version": "3",
        **more,
    }


def judged(
    connection: sqlite3.Connection,
    cases: Sequence[Case],
    rubrics: Sequence[Rubric],
    judge: Judge | None = None,
    *,
    metrics: Sequence[Metric] = (),
    run_id: str = "run-1",
    thresholds: Thresholds | None = None,
    repeat: int = 1,
    reuse: bool = True,
    ask: bool = True,
    of_run: int | None = None,
) -> list[CaseResult]:
    """Judge cases and store them as a run of this id; what became of each, in the order of the cases."""
    judge = judge or ScriptedJudge()
    row = run_row(run_id, judge=judge.name, gateway=judge.gateway, model_asked=judge.model)
    keys = begin_run(connection, row, list(rubrics), list(metrics))
    results: dict[int, CaseResult] = {}

    async def run() -> None:
        evaluator = Evaluator(
            Planner(list(rubrics), list(metrics)),
            judge,
            thresholds or Thresholds(),
            recall=StoredJudgments(connection, keys.judge, of_run) if reuse else None,
            ask=ask,
            repeat=repeat,
            next_id=count(first_request_id(keys.run)).__next__,
            now=lambda: f"2026-01-0{keys.run}T00:00:00.000Z",
        )
        writer = ResultWriter(connection, keys, lambda: "2026-01-01T00:00:00.000Z")

        async def sink(position: int, case: Case, result: CaseResult) -> None:
            results[position] = result
            writer.put((position, case, result))

        await evaluate_all(evaluator, cases, sink, concurrency=4)
        writer.close()

    asyncio.run(run())
    return [results[position] for position in sorted(results)]


# What two runs must agree on, whatever happened on the way.
CHECKS = (
    "SELECT case_id, rubric_id, rubric_version, status, outcome, probabilities, confidence, reason, rule,"
    " criterion, evidence FROM checks WHERE run_id = ? ORDER BY case_id, rubric_id"
)


def last_run(store: Path) -> str:
    """The id of the run begun last."""
    return str(rows(store, "SELECT id FROM runs ORDER BY pk DESC LIMIT 1")[0][0])


def checks_of(store: Path, run_id: str | None = None) -> list[tuple[Any, ...]]:
    """All checks of a run, the last one unless named, in a fixed order."""
    return rows(store, CHECKS, run_id or last_run(store))


def wait_until(true: Callable[[], bool], seconds: float = 20) -> bool:
    """Whether it became true in that time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if true():
            return True
        time.sleep(0.01)
    return true()
