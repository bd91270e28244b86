"""jeval runs: what was judged by whom, newest first."""

from pathlib import Path

import pytest

from tests.judging import judging
from tests.running import jeval, jeval_process, project
from tests.stores import add_run, new_store, rubric

KEYS = {
    "run_id",
    "name",
    "status",
    "exit_code",
    "cases",
    "checks",
    "counts",
    "critical_failures",
    "scores",
    "thresholds",
    "judge",
    "model",
    "simulated",
    "requests",
    "judgments",
    "usage",
    "cost_usd",
    "wall_s",
}


def store_of(tmp_path: Path) -> list[str]:
    return ["--store", str(tmp_path / "jeval.db")]


def test_the_newest_run_comes_first_with_counts_judge_and_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = new_store(tmp_path)
    used = [rubric("booking", severity="critical")]
    add_run(connection, "run-1", {("a", "booking"): "pass"}, used, name="monday", simulated=1, judge="offline")
    add_run(connection, "run-2", {("a", "booking"): "fail", ("b", "booking"): "review"}, used, cost_usd=0.0123)
    monkeypatch.setenv("COLUMNS", "120")
    out = jeval("runs", *store_of(tmp_path)).out
    head, first, *second = out.splitlines()
    assert head == "run-2  2026-01-01 00:00 UTC"
    assert first.startswith("  2 cases of orchard · default 0.75/0.5 · jev (jev-1.13.0) · ✓ 0  ✕ 1  ? 1")
    assert first.endswith(" – 0  ! 0 · 1 CRITICAL · $0.0123")
    assert second == [
        "run-1 “monday”  2026-01-01 00:00 UTC",
        "  1 case of orchard · default 0.75/0.5 · offline (jev-1.13.0) simulated · ✓ 1  ✕ 0  ? 0  – 0  ! 0",
    ]


def test_an_unfinished_run_says_so(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    add_run(
        connection,
        "dead",
        {("a", "tone"): "pass"},
        status="running",
        finished_at=None,
        exit_code=None,
        cases=9,
    )
    add_run(
        connection,
        "cut",
        {("a", "tone"): "pass"},
        status="incomplete",
        cases=9,
        stopped_because="the money\x1b[2J",
    )
    out = jeval("runs", *store_of(tmp_path)).out
    assert "dead  unfinished: 1 of 9 cases; it is going on, or its process died" in out
    assert "cut  incomplete, 1 of 9 cases: the money\\x1b[2J" in out


def test_machines_get_the_names_that_run_json_uses(tmp_path: Path) -> None:
    with judging() as server:
        ran = jeval("run", *project(tmp_path, 3), "judge=local", f"judge.base_url={server.url}", "--json", "name=x")
    (found,) = jeval("runs", "--json", *store_of(tmp_path)).json
    assert found.keys() >= KEYS
    same = KEYS - {"thresholds", "judgments", "wall_s"}
    assert {key: found[key] for key in same} == {key: ran.json[key] for key in same}
    assert found["judgments"]["asked"] == ran.json["judgments"]["asked"]
    assert found["thresholds"] == {"name": "default", **ran.json["thresholds"]}


def test_scores_of_runs_without_rubrics_are_shown(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    scores = {("a", "m"): 0.5, ("b", "m"): 1.0, ("a", "n"): None}
    add_run(connection, "r", {}, [], scores=scores)
    assert "m 0.750, n –" in jeval("runs", *store_of(tmp_path)).out
    assert jeval("runs", "--json", *store_of(tmp_path)).json[0]["scores"] == {"m": 0.75, "n": None}


def test_the_limit_is_said_and_0_is_none(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    for number in range(25):
        add_run(connection, f"run-{number:02d}", {("a", "tone"): "pass"})
    assert "… and 5 older ones; --limit 0 shows all" in jeval("runs", *store_of(tmp_path)).out
    assert len(jeval("runs", "--json", "--limit", "0", *store_of(tmp_path)).json) == 25
    assert [run["run_id"] for run in jeval("runs", "--json", "--limit", "2", *store_of(tmp_path)).json] == [
        "run-24",
        "run-23",
    ]
    refused = jeval("runs", "--limit", "-1", *store_of(tmp_path))
    assert refused.code == 3
    assert "--limit -1: must not be negative" in refused.err


def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    new_store(tmp_path).close()
    ran = jeval("runs", *store_of(tmp_path))
    assert ran.code == 0
    assert "make one with `jeval run`" in ran.out
    assert jeval("runs", "--json", *store_of(tmp_path)).json == []


def test_help_is_there(tmp_path: Path) -> None:
    ran = jeval_process("runs", "--help", cwd=tmp_path)
    assert ran.code == 0
    assert "--limit" in ran.out
