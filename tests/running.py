"""The product as people run it: its command line, in this process or its own, and a judge on 127.0.0.1."""

import asyncio
import contextlib
import hashlib
import io
import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from jeval.app.cli import main
from jeval.case import Case
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
from tests.servers import Act, Server, head, serving

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
    keys = begin_run(connection, run_row(run_id), list(rubrics), list(metrics))
    results: dict[int, CaseResult] = {}

    async def run() -> None:
        evaluator = Evaluator(
            Planner(list(rubrics), list(metrics)),
            judge or ScriptedJudge(),
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


def hashed_answer(question: Mapping[str, Any], state: Any) -> dict[str, Any]:
    """An answer that depends on the question and the state alone, rounded as the live API rounds."""
    text = json.dumps([question, state], sort_keys=True)
    digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
    kind, criteria = question["type"], question.get("criteria") or {}
    if kind == "noul":
        return {"type": kind, "noul": round(digest[0] / 255, 2)}
    names = list(criteria) if kind == "choice" else [str(level) for level in range(len(criteria))]
    weights = [(digest[i] + 1) ** 3 for i in range(len(names))]
    shares = [round(weight / sum(weights), 2) for weight in weights]
    answer = {"type": kind, "probabilities": dict(zip(names, shares, strict=True)), "confidence": 0.5}
    if kind == "choice":
        return answer | {"choice": names[shares.index(max(shares))]}
    return answer | {"score": sum(i * share for i, share in enumerate(shares)), "legend": {}}


async def hashed(body: bytes, writer: asyncio.StreamWriter) -> None:
    """A good reply whose answers differ from case to case and never from call to call."""
    request = json.loads(body)
    answers = {
        key: hashed_answer(question, request["state"]) for key, question in request["questions"].items()
    }
    usage = {"input_tokens": len(body) // 4, "output_tokens": 7 * len(answers)}
    content = json.dumps({"model": "jev-1.13.0", "answers": answers, "usage": usage}).encode()
    writer.write(head(200, len(content), {"x-typesafe-request-id": "req_1"}) + content)


def after(seconds: float, act: Act) -> Act:
    """An act that takes its time."""

    async def slow(body: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        await act(body, writer)

    return slow


def every(number: int, act: Act, otherwise: Act) -> Act:
    """`act` for the first and then every so many requests, `otherwise` for those between."""
    seen = 0

    async def mixed(body: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal seen
        seen += 1
        await (act if seen % number == 1 else otherwise)(body, writer)

    return mixed


@contextlib.contextmanager
def judging(*acts: Act) -> Iterator[Server]:
    """A judge's server in a thread of its own, for as long as the block lasts."""
    started, loop_of = threading.Event(), {}
    found: dict[str, Any] = {}

    async def serve() -> None:
        async with serving(*acts or (hashed,)) as server:
            loop_of["stop"] = asyncio.Event()
            loop_of["loop"] = asyncio.get_running_loop()
            found["server"] = server
            started.set()
            await loop_of["stop"].wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    assert started.wait(10)
    try:
        yield found["server"]
    finally:
        loop_of["loop"].call_soon_threadsafe(loop_of["stop"].set)
        thread.join(10)


def local(url: str, *more: str) -> list[str]:
    """The overrides that make a server the judge."""
    return ["judge=local", f"judge.base_url={url}", *more]


def wait_until(true: Callable[[], bool], seconds: float = 20) -> bool:
    """Whether it became true in that time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if true():
            return True
        time.sleep(0.01)
    return true()
