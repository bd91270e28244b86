"""How long comparing two large runs takes, and finding a run's critical failures.

Builds a store of two runs over the same cases with plain SQL (a few seconds) and prints the best wall and
processor time that the commands' own functions took. `python scripts/benchmarks/compare.py [CHECKS]`.
"""

import contextlib
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from jeval.compare import compare  # noqa: E402
from jeval.store.alignment import align, run_facts  # noqa: E402
from jeval.store.connect import open_store  # noqa: E402
from jeval.store.find import find_run  # noqa: E402

RUBRICS = 5
CHANGED = 2  # of a hundred checks
CRITICAL = 200  # critical failures of each run

_RUN = """
INSERT INTO runs (id, started_at, finished_at, status, dataset, dataset_sha256, cases, threshold_pass,
  threshold_fail, judge, gateway, model_asked, config_yaml, config_sha256, jeval_version, python_version)
VALUES (?, ?, '2026-01-02', 'complete', 'orchard', 'd', ?, 0.75, 0.5, 'jev', 'jev', 'jev-1', '', '', '0', '3')
"""

_NUMBERS = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :cases)"

# Eight checks of ten pass, one fails, one is for review; in the second run some move on by one status.
_CHECKS = """
INSERT INTO check_rows
SELECT :run, key, pk, status, status = 1 AND pk = 1 AND key % (:cases / :critical) = 7, 1, status + 1 FROM (
  SELECT key, rubrics.pk AS pk,
    CASE WHEN :run = 2 AND (key * 7919 + rubrics.pk * 104729) % 100 < :changed THEN (key + 1) % 3
      WHEN (key * 31 + rubrics.pk) % 10 < 8 THEN 0
      WHEN (key * 31 + rubrics.pk) % 10 = 8 THEN 1 ELSE 2 END AS status
  FROM case_ids CROSS JOIN rubrics ORDER BY key, rubrics.pk
)
"""


def build(folder: Path, checks: int) -> sqlite3.Connection:
    """A store with two runs of so many checks, called before and after."""
    connection = open_store(folder / "jeval.db")
    numbers = {"cases": checks // RUBRICS, "changed": CHANGED, "critical": CRITICAL}
    execute = connection.execute
    execute("PRAGMA foreign_keys = OFF")
    execute("BEGIN")
    for run, name in enumerate(("before", "after"), start=1):
        execute(_RUN, (name, f"2026-01-01T00:00:0{run}.000Z", numbers["cases"]))
    for pk in range(1, RUBRICS + 1):
        severity = "critical" if pk == 1 else "major"
        row = (pk, f"rubric-{pk}", "1.0.0", "a" * 64, "custom", severity, int(pk < RUBRICS), "{}")
        execute("INSERT INTO rubrics VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        for run in (1, 2):
            execute("INSERT INTO run_rubrics VALUES (?, ?, ?)", (run, pk, pk))
    for status in range(3):
        execute(
            "INSERT INTO verdicts VALUES (?, ?, 'unacceptable', 'a-rule', 'p 0.5 ≥ fail 0.5')",
            (status + 1, status),
        )
    execute(f"{_NUMBERS} INSERT INTO case_ids SELECT n, 'case-' || n FROM numbers", numbers)
    execute("INSERT INTO case_rows SELECT key, key, zeroblob(32), '{}' FROM case_ids")
    execute("INSERT INTO findings SELECT key, 1, NULL, NULL, NULL, '{}' FROM case_ids")
    for run in (1, 2):
        execute("INSERT INTO run_cases SELECT ?, key, key, key, NULL FROM case_ids", (run,))
        execute(_CHECKS, {**numbers, "run": run})
        execute(
            "INSERT INTO tallies SELECT run, rubric, status, count(*) FROM check_rows"
            " WHERE run = ? GROUP BY rubric, status",
            (run,),
        )
    execute("COMMIT")
    return connection


def measure(what: Callable[[], Any], tries: int = 5) -> tuple[float, float, Any]:
    """The best wall and processor seconds of several tries, and what came of the last."""
    walls, processors, result = [], [], None
    for _ in range(tries):
        wall, processor = time.perf_counter(), time.process_time()
        result = what()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return min(walls), min(processors), result


def main(checks: int = 500_000) -> list[tuple[str, float, float, str]]:
    """(what, wall seconds, processor seconds, what was found), as also printed."""
    figures = []
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.closing(build(Path(folder), checks)) as connection,
    ):

        def both() -> Any:
            a, b = find_run(connection, "before"), find_run(connection, "after")
            return compare(run_facts(connection, a), run_facts(connection, b), align(connection, a, b)).as_dict()

        def critical() -> Any:
            return connection.execute("SELECT * FROM critical_failures WHERE run_id = 'after'").fetchall()

        wall, processor, found = measure(both)
        said = f"{found['unchanged']:,} unchanged, {len(found['new_failures']):,} new failures"
        figures.append((f"compare two runs of {checks:,} checks", wall, processor, said))
        wall, processor, found = measure(critical)
        figures.append((f"critical failures of a run of {checks:,}", wall, processor, f"{len(found):,} found"))
    for name, wall, processor, said in figures:
        print(f"{name:<44} {1000 * wall:8.1f} ms  ({1000 * processor:.1f} ms of processor; {said})")
    return figures


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:2]))
