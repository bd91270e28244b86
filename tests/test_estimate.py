"""Saying what a run would ask, without asking."""

from pathlib import Path

from tests.judging import judging, local
from tests.running import jeval, project


def test_a_dry_run_asks_nothing_and_stores_nothing(tmp_path: Path) -> None:
    with judging() as server:
        ran = jeval("run", "--dry-run", *project(tmp_path, 5), *local(server.url))
        assert server.bodies == []
    assert ran.code == 0
    assert "5 requests with 10 questions" in ran.out
    assert not (tmp_path / "jeval.db").exists()


def test_the_estimate_counts_what_the_run_then_asks(tmp_path: Path) -> None:
    overrides = project(tmp_path, 5)
    with judging() as server:
        estimate = jeval("estimate", *overrides, *local(server.url), "--json").json
        run = jeval("run", *overrides, *local(server.url), "--json").json
        again = jeval("estimate", *overrides, *local(server.url), "--json").json
    assert (estimate["requests"], estimate["questions"]) == (run["requests"], run["judgments"]["asked"])
    assert (again["requests"], again["stored"]) == (0, 10)


def test_the_estimated_tokens_are_near_those_used(tmp_path: Path) -> None:
    overrides = project(tmp_path, 5)
    with judging() as server:
        estimate = jeval("estimate", *overrides, *local(server.url), "--json").json["input_tokens"]
        used = jeval("run", *overrides, *local(server.url), "--json").json["usage"]["input_tokens"]
    assert abs(estimate - used) < 0.15 * used


def test_a_price_needs_no_key(tmp_path: Path) -> None:
    ran = jeval("estimate", *project(tmp_path, 2), "judge=jev")
    assert ran.code == 0, ran.err
    assert "cost $0.0000" in ran.out


def test_repeats_are_counted(tmp_path: Path) -> None:
    found = jeval("estimate", *project(tmp_path, 2), "judge=jev", "judge.repeat=3", "--json").json
    assert found["requests"] == 6
