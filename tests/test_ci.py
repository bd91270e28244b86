"""`jeval run --ci`: the gate decides the exit code."""

import json
from pathlib import Path

from tests.judging import judging, local
from tests.running import jeval, project, rows
from tests.servers import answer, reply


def test_a_simulated_judge_cannot_pass_the_strict_gate(tmp_path: Path) -> None:
    ran = jeval("run", "--ci", *project(tmp_path, 2))
    assert ran.code == 2
    assert "simulated judge, none allowed" in ran.out


def test_all_passing_checks_of_a_real_judge_pass_the_strict_gate(tmp_path: Path) -> None:
    with judging(answer) as server:
        ran = jeval("run", "--ci", *project(tmp_path, 3), *local(server.url), "--json")
    assert (ran.code, ran.json["exit_code"]) == (0, 0)
    assert "gate strict passed" in ran.err


def test_failures_beyond_the_limit_fail_the_gate_with_number_and_limit(tmp_path: Path) -> None:
    with judging() as server:
        ran = jeval("run", "--ci", *project(tmp_path, 8), *local(server.url), "gate=lenient", "gate.maxFailures=1")
    assert ran.code == 1
    failures = rows(tmp_path / "jeval.db", 'SELECT "fail" FROM run_summary')[0][0]
    assert f"failures {failures} > 1 allowed" in ran.out


def test_without_ci_the_gate_has_no_say(tmp_path: Path) -> None:
    with judging() as server:
        assert jeval("run", *project(tmp_path, 8), *local(server.url), "gate.maxFailures=0").code == 0


def test_a_baselines_failures_are_excused(tmp_path: Path) -> None:
    overrides = [*project(tmp_path, 8), "gate=off", "gate.max_failures=0", "gate.baseline=@last"]
    with judging() as server:
        assert jeval("run", *overrides, *local(server.url)).code == 0
        ran = jeval("run", "--ci", *overrides, *local(server.url))
    assert ran.code == 0, ran.out
    assert "in the baseline" in ran.out


def test_an_unknown_baseline_costs_no_request(tmp_path: Path) -> None:
    with judging() as server:
        ran = jeval("run", "--ci", *project(tmp_path, 2), *local(server.url), "gate.baseline=nope")
        assert server.bodies == []
    assert ran.code == 3
    assert "run nope" in ran.err


def test_an_unknown_metric_of_the_gate_costs_no_request(tmp_path: Path) -> None:
    wanted = [*project(tmp_path, 2), "gate.min_scores.tono=0.5"]
    with judging() as server:
        wrong = jeval("run", "--ci", *wanted, *local(server.url), "metrics=tone")
        none = jeval("run", "--ci", *wanted, *local(server.url))
        assert server.bodies == []
    assert (wrong.code, none.code) == (3, 3)
    assert "gate.min_scores.tono: the run has no such metric; there are: tone" in wrong.err
    assert "it has none; choose some with metrics=NAME" in none.err


def test_the_gates_verdict_and_exit_code_are_stored_with_the_run(tmp_path: Path) -> None:
    assert jeval("run", "--ci", *project(tmp_path, 2)).code == 2
    code, gate = rows(tmp_path / "jeval.db", "SELECT exit_code, gate FROM runs")[0]
    assert code == 2
    broken = [rule["rule"] for rule in json.loads(gate)["rules"] if not rule["holds"]]
    assert "allow_simulated" in broken


def test_a_sweep_under_a_gate_exits_with_its_worst(tmp_path: Path) -> None:
    with judging() as server:
        overrides = [*project(tmp_path, 8), *local(server.url), "gate=off", "gate.max_failures=0"]
        assert jeval("run", "--ci", "-m", *overrides, "thresholds.fail=0.5,0.99", "thresholds.pass=0.99").code == 1
        assert jeval("run", "--ci", "-m", *overrides, "thresholds.fail=0.99,1.0").code == 0


def test_an_empty_dataset_cannot_pass(tmp_path: Path) -> None:
    ran = jeval("run", "--ci", *project(tmp_path, []), "gate.allow_simulated=true")
    assert ran.code == 2
    assert "cases 0, at least 1 required" in ran.out


def test_the_json_tells_the_gates_verdict(tmp_path: Path) -> None:
    ran = jeval("run", "--ci", *project(tmp_path, 2), "--json")
    assert ran.json["gate"]["passed"] is False
    assert any("simulated judge" in text for text in ran.json["gate"]["broken"])
    assert jeval("run", *project(tmp_path, 2), "--json").json["gate"] is None


def test_a_run_without_one_evaluated_check_or_score_cannot_pass(tmp_path: Path) -> None:
    optional = [{"id": "o", "version": "1", "kind": "custom", "required": False, "criterion": "It is so.",
                 "outcomes": {"acceptable": "a", "unacceptable": "u"}}]  # fmt: skip
    overrides = project(tmp_path, 2)
    (tmp_path / "rubrics.json").write_text(json.dumps(optional))
    with judging(reply(200, b"<html>")) as server:
        ran = jeval("run", "--ci", *overrides, *local(server.url), "judge.max_attempts=1")
    assert ran.code == 2 and "nothing was evaluated" in ran.out, ran.out
