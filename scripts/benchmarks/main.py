"""Measures the product as a user runs it: whole processes, start-up and store included.

Every figure stands beside a floor or a limit measured in the same sitting, for machines differ and drift.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple
from urllib.request import urlopen

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CONCURRENCY = 64
LATENCY_S = 0.05
WORDS = (
    "the clinic opens at nine on weekdays and patients bring their card to the desk where a nurse takes notes "
    "while the assistant answers questions about fees visits records and the ways a booking can be changed"
).split()
RUBRICS = [
    {"id": "policy", "version": "1.0.0", "kind": "policy-compliance", "severity": "critical",
     "criterion": "Only fees."},
    {"id": "support", "version": "1.0.0", "kind": "claim-support"},
    {"id": "booking", "version": "1.0.0", "kind": "tool-claim", "severity": "critical",
     "params": {"toolName": "book", "action": "booking the visit"}},
    {"id": "polite", "version": "1.0.0", "kind": "custom", "criterion": "It is polite.",
     "outcomes": {"acceptable": "polite", "unacceptable": "rude"}},
    {"id": "short", "version": "1.0.0", "kind": "custom", "severity": "minor", "criterion": "It is short.",
     "outcomes": {"acceptable": "short", "unacceptable": "long"}},
]  # fmt: skip
METRIC = """- id: four
  version: 1.0.0
  fields: [input, actual_output]
  questions:
    - {noul: It answers the question., weight: 2}
    - {noul: It is brief.}
    - {score: How helpful is it?, levels: [Useless, Partly helpful, Helpful]}
    - {choice: How does it end?, options: {offer: 1.0, farewell: 0.5, nothing: 0.0, not_a_message: null}}
"""


class Took(NamedTuple):
    """One process: seconds of wall and CPU time, MB of memory at its peak."""

    wall: float
    cpu: float
    mb: float
    out: str


def run(*arguments: str, cwd: Path) -> Took:
    """Run a process and take its measure. `wait4` counts this child alone."""
    started = time.perf_counter()
    process = subprocess.Popen(arguments, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    out = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 2):
        raise SystemExit(f"{' '.join(arguments)}: exit {process.returncode}")
    scale = 1024 if sys.platform != "darwin" else 1024 * 1024
    return Took(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / scale, out)


def jeval(*arguments: str, cwd: Path) -> Took:
    return run(sys.executable, "-m", "jeval.app.cli", *arguments, cwd=cwd)


@contextmanager
def judge(latency_ms: float) -> Iterator[str]:
    """A judge's address, for as long as the block lasts."""
    server = subprocess.Popen(
        [sys.executable, str(HERE / "judge_server.py"), "--latency-ms", str(latency_ms)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait(10)


def write_cases(path: Path, number: int) -> None:
    drawn = random.Random(1)

    def text(words: int) -> str:
        return " ".join(drawn.choice(WORDS) for _ in range(words))

    with path.open("w") as file:
        for i in range(number):
            case = {
                "id": f"bench-{i}", "input": text(20), "output": text(60),
                "context": [{"id": "k1", "content": text(80)}],
                "policy": text(40),
                "toolEvents": [{"id": "t1", "name": "book", "status": "success", "output": {"status": "confirmed"}}],
                "metadata": {"scenario": "bench"},
            }  # fmt: skip
            file.write(json.dumps(case) + "\n")


def overrides(folder: Path, url: str, number: int) -> list[str]:
    return [
        f"dataset.path={folder / f'{number}.jsonl'}", f"rubrics.path={folder / 'rubrics.json'}", "judge=local",
        f"judge.base_url={url}", f"judge.concurrency={CONCURRENCY}", f"store={folder / 'bench.db'}",
    ]  # fmt: skip


def fresh(folder: Path) -> None:
    for path in folder.glob("bench.db*"):
        path.unlink()


def size(store: Path) -> int:
    return sum(path.stat().st_size for path in store.parent.glob(store.name + "*"))


def run_speed(folder: Path, number: int, times: int) -> None:
    """`jeval run` over HTTP beside the floor, in turn."""
    limit = number * LATENCY_S / CONCURRENCY
    floors, runs = [], []
    with judge(LATENCY_S * 1000) as url:
        for _ in range(times):
            floors.append(
                float(run(sys.executable, str(HERE / "floor.py"), url, str(number), str(CONCURRENCY), cwd=ROOT).out)
            )
            fresh(folder)
            runs.append(jeval("run", *overrides(folder, url, number), cwd=folder))
    wall, least = median(t.wall for t in runs), median(floors)
    cpu = median(t.cpu for t in runs) / number * 1000
    print(
        f"run, {number:,} cases of 5 questions: {wall:.2f} s = {wall / limit:.2f} × the limit of {limit:.2f} s"
        f" (floor {least:.2f} s = {least / limit:.2f} ×; run / floor {wall / least:.2f})"
        f"; {cpu:.2f} ms of CPU a case; {max(t.mb for t in runs):.0f} MB"
    )


def small_run(folder: Path) -> None:
    run_speed(folder, 2_000, 5)


def large_run(folder: Path) -> None:
    run_speed(folder, 10_000, 3)


def sweep(folder: Path) -> None:
    """Fifty profiles over 10,000 cases of five checks."""
    number, profiles = 10_000, 50
    with judge(0) as url:
        fresh(folder)
        jeval("run", *overrides(folder, url, number), cwd=folder)
        before = size(folder / "bench.db")
        values = [f"{0.51 + 0.009 * i:.3f}" for i in range(profiles)]
        one = jeval("run", "-m", *overrides(folder, url, number), f"thresholds.pass={values[0]}", cwd=folder)
        took = jeval("run", "-m", *overrides(folder, url, number), f"thresholds.pass={','.join(values)}", cwd=folder)
        grown = size(folder / "bench.db") - before
        with urlopen(f"{url}/stats") as response:
            asked = json.load(response)["requests"]
    each = (took.wall - one.wall) / (profiles - 1)
    print(
        f"sweep, {profiles} profiles × {number:,} cases × 5 checks: {took.wall:.1f} s, {each:.2f} s a profile after the"
        f" first; {asked - number} requests after the first run;"
        f" {grown / ((profiles + 1) * number * 5):.0f} bytes a check; {took.mb:.0f} MB"
    )


def metrics_cost(folder: Path) -> None:
    """What a metric of four questions adds to a run: in the rubrics' request, and in one of its own. In turn."""
    number = 10_000
    (folder / "own.yaml").write_text(METRIC)
    (folder / "shared.yaml").write_text(METRIC.replace("[input, actual_output]", "all"))
    took: dict[str, list[float]] = {"": [], "shared": [], "own": []}
    with judge(0) as url:
        for _ in range(5):
            for which, cpu in took.items():
                fresh(folder)
                extra = [f"metrics.path={folder / f'{which}.yaml'}"] if which else []
                cpu.append(jeval("run", *overrides(folder, url, number), *extra, cwd=folder).cpu)
    shared, own = (
        median(with_it - without for with_it, without in zip(took[which], took[""], strict=True)) / number * 1000
        for which in ("shared", "own")
    )
    print(
        f"metric of 4 questions: {shared:.2f} ms of CPU a case more where it sees all, as the rubrics do; "
        f"{own:.2f} ms about fields of its own, its own request included; "
        f"the run without it {median(took['']) / number * 1000:.2f} ms"
    )


def startup(folder: Path) -> None:
    """How long people wait for help."""
    floor = median(run(sys.executable, "-c", "pass", cwd=folder).wall for _ in range(9))
    for arguments in (["--help"], ["compare", "--help"], ["runs", "--help"], ["show", "--help"]):
        took = median(jeval(*arguments, cwd=folder).wall for _ in range(9))
        print(f"jeval {' '.join(arguments)}: {took * 1000:.0f} ms (an empty Python: {floor * 1000:.0f} ms)")


def other(name: str) -> Callable[[Path], None]:
    """A benchmark that is a script of its own."""

    def measure(folder: Path) -> None:
        print(run(sys.executable, str(HERE / f"{name}.py"), cwd=ROOT).out.rstrip())

    return measure


BENCHMARKS: dict[str, Callable[[Path], None]] = {
    "startup": startup,
    "small-run": small_run,
    "large-run": large_run,
    "sweep": sweep,
    "metric": metrics_cost,
    "compare": other("compare"),
    "browse": other("browse"),
}


def main() -> None:
    names: list[Any] = sys.argv[1:] or list(BENCHMARKS)
    if names == ["--list"]:
        print("\n".join(BENCHMARKS))
        return
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        raise SystemExit(f"{unknown[0]}: no such benchmark; there are: {', '.join(BENCHMARKS)}")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rubrics.json").write_text(json.dumps(RUBRICS))
        for number in (2_000, 10_000):
            write_cases(folder / f"{number}.jsonl", number)
        for benchmark in names:
            BENCHMARKS[benchmark](folder)


if __name__ == "__main__":
    main()
