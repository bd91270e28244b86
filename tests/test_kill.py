"""A run killed at twenty random moments ends like one that was never disturbed."""

import random
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from tests.judging import after, hashed, judging, local
from tests.running import RUBRICS, checks_of, command, environment, project, quick, rows, wait_until

CASES = 600
KILLS = 20
CONCURRENCY = 4


def whole(store: Path) -> int:
    """Check that the store holds whole cases only and that its counts add up; how many judgments it holds."""
    assert rows(store, "PRAGMA integrity_check") == [("ok",)]
    assert rows(store, "PRAGMA foreign_key_check") == []
    halves = rows(
        store,
        "SELECT c.run, c.case_key FROM run_cases c"
        " LEFT JOIN check_rows k ON k.run = c.run AND k.case_key = c.case_key"
        " GROUP BY 1, 2 HAVING count(k.rubric) <> ?",
        len(RUBRICS),
    )
    assert halves == []
    cases = "(SELECT run, case_key FROM run_cases)"
    strays = f"SELECT count(*) FROM check_rows WHERE (run, case_key) NOT IN {cases}"
    assert rows(store, strays) == [(0,)]
    tallies = rows(store, "SELECT run, rubric, status, n FROM tallies ORDER BY 1, 2, 3")
    assert tallies == rows(
        store, "SELECT run, rubric, status, count(*) FROM check_rows GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    )
    # Every judgment that a stored case rests on is there.
    lost = (
        "SELECT count(*) FROM run_cases, json_each(run_cases.sources) s"
        " WHERE s.value NOT IN (SELECT id FROM request_rows)"
    )
    assert rows(store, lost) == [(0,)]
    return int(rows(store, "SELECT count(*) FROM judgments")[0][0])


@pytest.mark.slow
def test_a_run_killed_at_twenty_random_moments_ends_like_one_that_was_never_disturbed(tmp_path: Path) -> None:
    chance = random.Random(20)
    arguments = project(tmp_path, CASES)
    store = tmp_path / "jeval.db"
    judgments = 0
    with judging(after(0.03, hashed)) as server:
        asking = [*arguments, *local(server.url, f"judge.concurrency={CONCURRENCY}")]
        for kill in range(KILLS):
            before = len(server.bodies)
            process = subprocess.Popen(
                command("run", *asking),
                env=environment(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            if kill % 4:  # most while it asks, some whenever it may be
                wait_until(lambda: len(server.bodies) > before or process.poll() is not None)  # noqa: B023
                time.sleep(chance.uniform(0, 0.35))
            else:
                time.sleep(chance.uniform(0.05, 1.5))
            process.send_signal(chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
            process.wait(30)
            try:
                found = whole(store)
            except sqlite3.OperationalError:  # killed before there was a store
                continue
            assert found >= judgments
            judgments = found
        assert judgments > 0
        last = quick(*arguments, *local(server.url), "--json")
    assert last.code == 0 and last.json["cases"] == CASES
    assert last.json["judgments"] == {"asked": 2 * CASES - judgments, "reused": judgments}
    assert len(set(server.bodies)) == CASES
    assert len(server.bodies) <= CASES + KILLS * CONCURRENCY
    assert whole(store) == 2 * CASES
    calm = tmp_path / "calm"
    calm.mkdir()
    with judging(hashed) as server:
        quick(*project(calm, CASES), *local(server.url))
    assert checks_of(store) == checks_of(calm / "jeval.db")
    assert len(checks_of(store)) == len(RUBRICS) * CASES
