"""Saying what a run would ask, without asking."""

import json
from pathlib import Path

import pytest

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
    assert "cost under $0.0001" in ran.out


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["judge=jev", "judge.usd_per_million_input=100"], "cost $0.0"),
        (["judge=jev", "judge.usd_per_million_input=0"], "no cost: judge jev is free"),
        (["judge=local"], "no cost known: judge local has no price; set judge.usd_per_million_input"),
        (["judge=jev", "dataset.limit=0"], "no cost: nothing is left to ask"),
        (["judge=offline"], "no cost: the offline judge is free"),
    ],
)
def test_what_costs_nothing_or_is_not_known_is_no_nought(tmp_path: Path, overrides: list[str], said: str) -> None:
    ran = jeval("estimate", *project(tmp_path, 2), *overrides)
    assert ran.code == 0, ran.err
    assert f"  {said}" in ran.out
    assert "$0.0000" not in ran.out


def test_a_warning_of_a_metric_names_it_once(tmp_path: Path) -> None:
    metric = {"id": "z", "version": "1", "fields": ["actual_output"], "questions": [{"noul": "So."}, {"noul": "So."}]}
    (tmp_path / "m.json").write_text(json.dumps([metric]))
    ran = jeval("estimate", *project(tmp_path, 2), f"metrics.path={tmp_path}/m.json")
    assert "warning: metric z: question 2 repeats question 1" in ran.out


def test_repeats_are_counted(tmp_path: Path) -> None:
    found = jeval("estimate", *project(tmp_path, 2), "judge=jev", "judge.repeat=3", "--json").json
    assert found["requests"] == 6
