"""Sweeps: one judge's answers, many profiles."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.judging import judging, local
from tests.running import CHECKS, command, environment, jeval, jeval_process, project, rows
from tests.servers import answer

PROFILES = ["0.55", "0.65", "0.75", "0.85"]


def counts(store: Path, run_id: str) -> list[tuple[object, ...]]:
    return rows(store, "SELECT * FROM rubric_summary WHERE run_id = ? ORDER BY rubric_id", run_id)


def sweep(store: Path, *arguments: str) -> list[dict[str, object]]:
    ran = jeval("run", "-m", *arguments, "--json")
    assert ran.code == 0, ran.err
    return [json.loads(line) for line in ran.out.splitlines()]


def test_the_judge_is_asked_once_for_a_whole_sweep(tmp_path: Path) -> None:
    with judging() as server:
        objects = sweep(tmp_path, *project(tmp_path, 12), *local(server.url), f"thresholds.pass={','.join(PROFILES)}")
        assert len(server.bodies) == 12
    assert [o["requests"] for o in objects] == [12, 0, 0, 0]
    assert [o["thresholds"]["pass"] for o in objects] == [0.55, 0.65, 0.75, 0.85]  # type: ignore[index]
    assert [o["judgments"] for o in objects][1] == {"asked": 0, "reused": 24}


def test_a_sweeps_checks_equal_those_of_each_profile_run_alone_on_a_fresh_store(tmp_path: Path) -> None:
    with judging() as server:
        swept = sweep(tmp_path, *project(tmp_path, 15), *local(server.url), f"thresholds.pass={','.join(PROFILES)}")
        for value, whole in zip(PROFILES, swept, strict=True):
            alone = tmp_path / value
            alone.mkdir()
            ran = jeval("run", *project(alone, 15), *local(server.url), f"thresholds.pass={value}", "--json")
            assert ran.json["counts"] == whole["counts"]
            assert ran.json["critical_failures"] == whole["critical_failures"]
            one = rows(alone / "jeval.db", CHECKS, ran.json["run_id"])
            assert rows(tmp_path / "jeval.db", CHECKS, whole["run_id"]) == one
            for (_, *left), (_, *right) in zip(
                counts(tmp_path / "jeval.db", str(whole["run_id"])),
                counts(alone / "jeval.db", ran.json["run_id"]),
                strict=True,
            ):
                assert left == right


def test_the_end_of_a_sweep_shows_each_profile_and_which_checks_flip(tmp_path: Path) -> None:
    with judging() as server:
        ran = jeval("run", "-m", *project(tmp_path, 15), *local(server.url), "thresholds=default,lenient")
    assert "thresholds=default" in ran.out and "thresholds=lenient" in ran.out
    assert "checks that flip against thresholds=default" in ran.out
    assert " → " in ran.out


@pytest.mark.parametrize("columns", ["80", "100", "160"])
def test_the_end_of_a_sweep_names_every_run_and_ends_with_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    with judging() as server:
        ran = jeval("run", "-m", *project(tmp_path, 15), *local(server.url), "thresholds=default,lenient,strict")
    ids = [run for (run,) in rows(tmp_path / "jeval.db", "SELECT id FROM runs ORDER BY pk")]
    table = ran.out[ran.out.index(" critical") :]
    assert all(table.count(f"{run} ") for run in ids)
    assert all(len(line) <= int(columns) for line in table.splitlines() if "jeval compare" not in line)
    assert "simulated" not in table
    name, *words = shlex.split(ran.out.splitlines()[-1])
    assert name == "jeval"
    assert words[:2] == ["compare", ids[0]]
    assert jeval(*words).code == 0


def test_the_end_of_a_simulated_sweep_says_so(tmp_path: Path) -> None:
    ran = jeval("run", "-m", *project(tmp_path, 3), "thresholds=default,lenient")
    table = ran.out[ran.out.rindex("simulated: ") :]
    assert table.splitlines()[1].split()[:3] == ["profile", "run", "pass"]


def test_a_sweep_of_one_run_compares_nothing(tmp_path: Path) -> None:
    assert "jeval compare" not in jeval("run", "-m", *project(tmp_path, 3), "dataset.limit=1,-1").out


def test_metric_scores_are_the_same_in_every_profile(tmp_path: Path) -> None:
    metric = tmp_path / "metrics.yaml"
    metric.write_text("- {id: m, version: 1.0.0, fields: [actual_output], questions: [{noul: It names a price.}]}\n")
    with judging(
        (_nouls),
    ) as server:
        objects = sweep(
            tmp_path,
            *project(tmp_path, 4),
            *local(server.url),
            f"metrics.path={metric}",
            "thresholds.pass=0.6,0.8",
        )
    assert objects[0]["scores"] == objects[1]["scores"] != {}
    stored = rows(tmp_path / "jeval.db", "SELECT run_id, count(*) FROM scores GROUP BY run_id")
    assert [n for _, n in stored] == [4, 4]


async def _nouls(body: bytes, writer: object) -> None:
    from tests.servers import answer

    await answer(body, writer)  # type: ignore[arg-type]


def test_another_dataset_within_a_sweep_is_judged_for_itself(tmp_path: Path) -> None:
    overrides = project(tmp_path, 6)[1:]
    two = tmp_path / "two.jsonl"
    two.write_text("\n".join((tmp_path / "cases.jsonl").read_text().splitlines()[:2]) + "\n")
    with judging() as server:
        objects = sweep(tmp_path, f"dataset.path={tmp_path / 'cases.jsonl'},{two}", *overrides, *local(server.url))
        assert [o["cases"] for o in objects] == [6, 2]
        assert len(server.bodies) == 6


def test_a_job_that_fails_is_a_failure_and_does_not_stop_the_others(tmp_path: Path) -> None:
    ran = jeval("run", "-m", *project(tmp_path, 3), "dataset.limit=1,-1,2")
    assert ran.code == 3
    assert "dataset.limit=-1" in ran.err and "too small" in ran.err
    assert [n for (n,) in rows(tmp_path / "jeval.db", "SELECT cases FROM runs ORDER BY pk")] == [1, 2]


def test_a_sweep_exits_with_its_worst(tmp_path: Path) -> None:
    assert jeval("run", "-m", *project(tmp_path, 3), "dataset.limit=1,0").code == 2


def test_a_sweep_leaves_no_file_behind(tmp_path: Path) -> None:
    done = jeval_process("run", "-m", *project(tmp_path, 2), "thresholds=default,strict", cwd=tmp_path)
    assert done.code == 0, done.err
    left = {path.name for path in tmp_path.iterdir()} - {"jeval.db-wal", "jeval.db-shm"}
    assert left == {"cases.jsonl", "rubrics.json", "jeval.db"}


def test_one_more_profile_costs_the_store_less_than_150_bytes_a_check(tmp_path: Path) -> None:
    overrides = project(tmp_path, 300)
    store = tmp_path / "jeval.db"

    def used() -> int:
        return rows(store, "SELECT (SELECT page_count FROM pragma_page_count) * page_size FROM pragma_page_size")[0][0]

    with judging() as server:
        assert jeval("run", *overrides, *local(server.url)).code == 0
        before = used()
        sweep(
            tmp_path,
            *overrides,
            *local(server.url),
            f"thresholds.pass={','.join(f'0.{n}' for n in range(51, 71))}",
        )
    assert (used() - before) / (20 * 600) < 150


def test_an_incomplete_first_profile_lets_the_next_one_ask(tmp_path: Path) -> None:
    from tests.judging import every, hashed
    from tests.servers import reply

    with judging(every(4, reply(400, {"detail": "odd"}), hashed)) as server:
        ran = jeval("run", "-m", *project(tmp_path, 8), *local(server.url), "thresholds.pass=0.6,0.7", "--json")
    first, second = (json.loads(line) for line in ran.out.splitlines())
    assert first["counts"]["error"] > 0
    assert second["counts"]["error"] < first["counts"]["error"]
    assert ran.code == 2


@pytest.mark.slow
def test_a_failing_job_under_joblib_is_a_failure_and_does_not_stop_the_others(tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher", reason="hydra-joblib-launcher is not installed")
    arguments = [*project(tmp_path, 3), "hydra/launcher=joblib", "dataset.limit=1,-1,2"]
    done = jeval_process("run", "-m", *arguments, cwd=tmp_path, timeout=120)
    assert done.code == 3
    assert "too small" in done.out
    assert sorted(n for (n,) in rows(tmp_path / "jeval.db", "SELECT cases FROM runs")) == [1, 2]


@pytest.mark.slow
def test_eight_sweeps_at_once_into_one_store_lose_nothing(tmp_path: Path) -> None:
    overrides = project(tmp_path, 10)
    arguments = command("run", "-m", *overrides, "thresholds=default,strict,lenient", "--json")
    running = [
        subprocess.Popen(arguments, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(8)
    ]
    for process in running:
        out, err = process.communicate(timeout=180)
        assert process.returncode == 0, err.decode()
        assert len(out.splitlines()) == 3
    store = tmp_path / "jeval.db"
    assert rows(store, "SELECT count(*), count(DISTINCT sweep_id) FROM runs WHERE status = 'complete'") == [(24, 8)]
    assert rows(store, "SELECT DISTINCT n FROM (SELECT count(*) n FROM checks GROUP BY run_id)") == [(20,)]
    tallied = rows(store, "SELECT sum(n) FROM tallies")
    assert tallied == rows(store, "SELECT count(*) FROM check_rows")


def test_every_store_of_a_sweep_over_stores_has_its_checks(tmp_path: Path) -> None:
    overrides = [one for one in project(tmp_path, 3) if not one.startswith("store=")]
    stores = [tmp_path / "one.db", tmp_path / "two.db"]
    with judging() as server:
        named = ",".join(map(str, stores))
        ran = jeval("run", "-m", *overrides, *local(server.url), f"store={named}", "thresholds=default,strict")
    assert ran.code == 0, ran.err
    for store in stores:
        assert rows(store, "SELECT count(*) FROM checks GROUP BY run_id") == [(6,), (6,)]


def test_every_judge_of_a_sweep_over_addresses_is_asked_where_all_is_asked_afresh(tmp_path: Path) -> None:
    with judging() as one, judging(answer) as other:
        addresses = f"judge.base_url={one.url},{other.url}"
        ran = jeval("run", "-m", *project(tmp_path, 3), "judge=local", addresses, "judge.reuse=never")
        assert ran.code == 0, ran.err
        assert (len(one.bodies), len(other.bodies)) == (3, 3)
