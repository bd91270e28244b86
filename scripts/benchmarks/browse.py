"""How long the pages take on a large store: prints one line a page, in milliseconds (median and worst of
five).

Makes two runs of 16,700 cases × 6 rubrics, about 100,000 checks each, with the offline judge, in a temporary
folder; or takes a store: `python scripts/benchmarks/browse.py STORE`.
"""

import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent.parent
CASES = 16_700
TIMES = 5
sys.path.insert(0, str(ROOT))


def make_store(folder: Path) -> Path:
    """Two runs of one large dataset, whose answers differ a little."""
    from jeval.app.cli import main

    seeds = [json.loads(line) for line in (ROOT / "datasets" / "clinic.jsonl").read_text(encoding="utf-8").splitlines()]
    dataset, store = folder / "large.jsonl", folder / "large.db"
    with dataset.open("w", encoding="utf-8") as file:
        for i in range(CASES):
            seed = seeds[i % len(seeds)]
            case = seed | {"id": f"case-{i:05}", "input": f"{seed['input']} My reference is {i}."}
            file.write(json.dumps(case, ensure_ascii=False) + "\n")
    for profile in ("default", "strict"):
        main(["run", f"dataset.path={dataset}", "rubrics=clinic", f"thresholds={profile}", f"store={store}"])
    return store


async def measure(store: Path) -> None:
    """Ask for each page several times."""
    from jeval.browse.screen import warm
    from jeval.browse.server import make_datasette
    from jeval.browse.tending import tend

    warm()  # as `jeval serve` does while it starts
    datasette = make_datasette(store)
    await datasette.invoke_startup()
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
    run = f"/-/jeval/run/{b}"
    pages = {
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
        "compare": f"/-/jeval/compare?a={a}&b={b}",
        "compare, one rule": f"/-/jeval/compare?a={a}&b={b}&rule=value-missing",
        "history": "/-/jeval/history",
        "history, failures": "/-/jeval/history?status=fail",
        "history, only what changed": "/-/jeval/history?changed=1",
        "review": f"/-/jeval/review?run={b}",
        "review, search": f"/-/jeval/review?run={b}&q=appointment",
    }
    for name, path in pages.items():
        took, size = [], 0
        for _ in range(TIMES):
            begun = time.perf_counter()
            response = await datasette.client.get(path)
            took.append((time.perf_counter() - begun) * 1000)
            size = len(response.content)
            if response.status_code != 200:
                sys.exit(f"{path}: status {response.status_code}")
        print(f"{name:32} median {statistics.median(took):6.0f} ms   worst {max(took):6.0f} ms   {size / 1000:6.0f} kB")


def main() -> None:
    if len(sys.argv) > 1:
        asyncio.run(measure(Path(sys.argv[1])))
        return
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(make_store(Path(folder))))


if __name__ == "__main__":
    main()
