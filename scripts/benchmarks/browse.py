"""How long the pages take on a large store: prints one line a page, in milliseconds.

Each page is asked for by a process that has just started, and then again and again by one that goes on: the first
look, the median and the worst of five.

Makes two runs of 16,700 cases × 6 rubrics and a metric, about 100,000 checks each, in a temporary folder, with a
judge on this machine that answers everything differently; or takes a store:
`python scripts/benchmarks/browse.py STORE`.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CASES = 16_700
TIMES = 5
sys.path.insert(0, str(ROOT))


def make_store(folder: Path) -> Path:
    """Two runs of one large dataset, whose answers differ a little."""
    from main import judge

    from jeval.app.cli import main

    seeds = [json.loads(line) for line in (ROOT / "datasets" / "clinic.jsonl").read_text(encoding="utf-8").splitlines()]
    dataset, store = folder / "large.jsonl", folder / "large.db"
    with dataset.open("w", encoding="utf-8") as file:
        for i in range(CASES):
            seed = seeds[i % len(seeds)]
            case = seed | {"id": f"case-{i:05}", "input": f"{seed['input']} My reference is {i}."}
            file.write(json.dumps(case, ensure_ascii=False) + "\n")
    common = [f"dataset.path={dataset}", "rubrics=clinic", "metrics=answer-relevance", f"store={store}", "judge=local"]
    with judge(1) as url:
        for profile in ("default", "strict"):
            main(["run", *common, f"judge.base_url={url}", f"thresholds={profile}", "judge.reuse=never"])
    return store


def pages(name: str, a: str, b: str) -> dict[str, str]:
    """What is asked for: of the database `name`, about the runs `a` and, the later, `b`."""
    run, both = f"/-/jeval/run/{b}", f"a={a}&b={b}"
    return {
        "runs": "/-/jeval",
        "runs, failures of one rubric": "/-/jeval?status=fail&rubric=booking-claim",
        "runs, one metadata value": "/-/jeval?key=scenario&value=booking",
        "run": run,
        "run, page 500": f"{run}?page=500",
        "run, failures": f"{run}?status=fail",
        "run, one rubric for review": f"{run}?status=review&rubric=no-dosing",
        "run, one rule": f"{run}?rule=value-missing",
        "run, one metadata value": f"{run}?key=scenario&value=booking",
        "run, slower than 1 ms": f"{run}?slower=1",
        "run, search": f"{run}?q=appointment",
        "run, search for one case": f"{run}?q=reference+12345",
        "run, slowest first": f"{run}?sort=slowest",
        "case": f"/-/jeval/case/{b}/case-00002",
        "compare": f"/-/jeval/compare?{both}",
        "compare, one rule": f"/-/jeval/compare?{both}&rule=value-missing",
        "history": "/-/jeval/history",
        "history, failures": "/-/jeval/history?status=fail",
        "history, only what changed": "/-/jeval/history?changed=1",
        "review": f"/-/jeval/review?run={b}",
        "review, search": f"/-/jeval/review?run={b}&q=appointment",
        "tables": f"/{name}",
        "table of checks": f"/{name}/checks",
        "table of checks, one run": f"/{name}/checks?run_id={b}",
        "table of checks, one outcome": f"/{name}/checks?outcome=acceptable",
        "table of scores": f"/{name}/scores",
        "table of score questions": f"/{name}/score_breakdown",
        "table of judgments": f"/{name}/judgments",
        "table of requests": f"/{name}/requests",
        "table of cases, search": f"/{name}/cases?_search=appointment",
        "table of labels": f"/{name}/labels",
        "query compare": f"/{name}/compare?run_a={a}&run_b={b}",
        "query critical": f"/{name}/critical?run={b}",
        "query review": f"/{name}/review?run={b}",
        "query against_labels": f"/{name}/against_labels?run={b}",
    }


async def opened(store: Path) -> Any:
    """Datasette as `jeval serve` starts it."""
    from jeval.browse.screen import warm
    from jeval.browse.server import make_datasette

    warm()
    datasette = make_datasette(store)
    await datasette.invoke_startup()
    return datasette


async def ask(datasette: Any, path: str) -> tuple[float, int]:
    """Milliseconds and bytes of one page."""
    begun = time.perf_counter()
    response = await datasette.client.get(path)
    took = (time.perf_counter() - begun) * 1000
    if response.status_code != 200:
        sys.exit(f"{path}: status {response.status_code}")
    return took, len(response.content)


def first_look(store: Path, path: str) -> float:
    """Milliseconds of a page asked for by a process that has just started, the median of three."""
    command = [sys.executable, __file__, str(store), path]
    looks = [subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout for _ in range(3)]
    return statistics.median(map(float, looks))


async def measure(store: Path) -> None:
    """Ask for each page several times."""
    from jeval.browse.tending import tend

    datasette = await opened(store)
    begun = time.perf_counter()
    indexed = await tend(datasette.databases[store.stem])
    print(
        f"indexed {indexed:,} cases in {time.perf_counter() - begun:.1f} s; the store has"
        f" {store.stat().st_size / 1e6:.0f} MB"
    )
    runs = (await datasette.client.get(f"/{store.stem}/runs.json?_shape=array&_sort_desc=started_at")).json()
    b, a = runs[0]["id"], runs[1]["id"]
    checks = (await datasette.client.get(f"/{store.stem}/run_summary.json?_shape=array&run_id={quote(b)}")).json()[0]
    print(f"{sum(checks[s] for s in ('pass', 'fail', 'review', 'skipped', 'error')):,} checks in the run")
    for name, path in pages(store.stem, a, b).items():
        first = first_look(store, path)
        took, sizes = zip(*[await ask(datasette, path) for _ in range(TIMES)], strict=True)
        print(
            f"{name:32} first look {first:6.0f} ms   median {statistics.median(took):6.0f} ms"
            f"   worst {max(took):6.0f} ms   {sizes[0] / 1000:6.0f} kB"
        )
    for form in ("csv", "json"):
        took, size = await ask(datasette, f"/-/jeval/run/{b}/checks.{form}")
        print(f"all checks as {form:18} {took / 1000:.1f} s, {size / 1e6:.0f} MB")


async def once(store: Path, path: str) -> None:
    """Ask for one page, and print what it took."""
    datasette = await opened(store)
    print((await ask(datasette, path))[0])


def main() -> None:
    if len(sys.argv) > 2:
        asyncio.run(once(Path(sys.argv[1]), sys.argv[2]))
    elif len(sys.argv) > 1:
        asyncio.run(measure(Path(sys.argv[1])))
    else:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(measure(make_store(Path(folder))))


if __name__ == "__main__":
    main()
