"""Reproducing a run: the same configuration, the same judgments, the same checks."""

import json
from pathlib import Path

import pytest
import yaml

from tests.judging import judging, local
from tests.running import checks_of, jeval, last_run, project, rows, write_cases, write_rubrics


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def store_of(folder: Path) -> str:
    return f"store={folder / 'jeval.db'}"


def test_a_reproduced_run_has_the_same_checks_and_asks_nothing(tmp_path: Path) -> None:
    with judging() as server:
        assert jeval("run", *project(tmp_path, 8), *local(server.url), "thresholds.pass=0.6").code == 0
        before, asked = checks_of(tmp_path / "jeval.db"), len(server.bodies)
        ran = jeval("run", "--from-run", "@last", store_of(tmp_path), "--json")
        assert len(server.bodies) == asked
    assert ran.json["requests"] == 0
    assert ran.json["thresholds"]["pass"] == 0.6
    assert checks_of(tmp_path / "jeval.db") == before


def test_who_asks_nothing_needs_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", "k")
    overrides = project(tmp_path, 3)
    with judging() as server:
        gate = [*local(server.url), "judge.key_env=JUDGE_KEY"]
        assert jeval("run", *overrides, *gate).code == 0
        before = checks_of(tmp_path / "jeval.db")
        monkeypatch.delenv("JUDGE_KEY")
        assert jeval("run", "--from-run", "@last", store_of(tmp_path)).code == 0
        assert checks_of(tmp_path / "jeval.db") == before
        assert jeval("run", *overrides, *gate, "judge.reuse=only").code == 0
        refused = jeval("run", *overrides, *gate)
    assert refused.code == 3 and "JUDGE_KEY is not set" in refused.err


def test_a_run_is_reproduced_although_the_same_was_asked_afresh_since(tmp_path: Path) -> None:
    from tests.judging import hashed
    from tests.servers import answer

    overrides = project(tmp_path, 3)
    with judging(hashed, hashed, hashed, answer) as server:
        assert jeval("run", *overrides, *local(server.url)).code == 0
        first, before = last_run(tmp_path / "jeval.db"), checks_of(tmp_path / "jeval.db")
        assert jeval("run", *overrides, *local(server.url), "judge.reuse=never").code == 0
        assert checks_of(tmp_path / "jeval.db") != before
        assert jeval("run", "--from-run", first, store_of(tmp_path)).code == 0
    assert checks_of(tmp_path / "jeval.db") == before


def test_a_run_that_asked_everything_afresh_is_reproduced_without_asking(tmp_path: Path) -> None:
    with judging() as server:
        assert jeval("run", *project(tmp_path, 3), *local(server.url), "judge.reuse=never").code == 0
        before, asked = checks_of(tmp_path / "jeval.db"), len(server.bodies)
        assert jeval("run", "--from-run", "@last", store_of(tmp_path)).code == 0
        assert len(server.bodies) == asked
    assert checks_of(tmp_path / "jeval.db") == before


def test_a_name_stays_with_the_run_it_was_given_to(tmp_path: Path) -> None:
    assert jeval("run", *project(tmp_path, 2), "name=before", "tags.branch=b").code == 0
    assert jeval("run", "--from-run", "before", "thresholds=strict", store_of(tmp_path)).code == 0
    assert jeval("run", "--from-run", "before", "name=after", store_of(tmp_path)).code == 0
    assert rows(tmp_path / "jeval.db", "SELECT name, tags, thresholds FROM runs ORDER BY pk") == [
        ("before", '{"branch": "b"}', "default"),
        (None, '{"branch": "b"}', "strict"),
        ("after", '{"branch": "b"}', "default"),
    ]


def test_the_saved_yaml_and_the_data_alone_give_the_same_config_hash_elsewhere(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    assert jeval("run", *project(here, 4), "thresholds=strict", "name=night run", "tags.branch=a b").code == 0
    saved = rows(here / "jeval.db", "SELECT config_yaml, config_sha256 FROM runs")[0]
    (there / "saved.yaml").write_text(saved[0])
    write_cases(there / "moved.jsonl", 4)
    write_rubrics(there / "moved.json")
    ran = jeval(
        "run", "--from-run", str(there / "saved.yaml"), f"dataset.path={there / 'moved.jsonl'}",
        f"rubrics.path={there / 'moved.json'}", store_of(there),
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert rows(there / "jeval.db", "SELECT config_sha256, name, tags, thresholds FROM runs") == [
        (saved[1], "night run", '{"branch": "a b"}', "strict")
    ]


def test_the_saved_configuration_has_no_machine_path_in_its_hash_and_no_store(tmp_path: Path) -> None:
    assert jeval("run", *project(tmp_path, 1)).code == 0
    config = yaml.safe_load(rows(tmp_path / "jeval.db", "SELECT config_yaml FROM runs")[0][0])
    assert "store" not in config
    assert config["fingerprint"]["dataset"] == rows(tmp_path / "jeval.db", "SELECT dataset_sha256 FROM runs")[0][0]


def test_a_changed_dataset_stops_a_reproduction_and_says_so(tmp_path: Path) -> None:
    assert jeval("run", *project(tmp_path, 4)).code == 0
    write_cases(tmp_path / "cases.jsonl", 5)
    ran = jeval("run", "--from-run", "@last", store_of(tmp_path))
    assert ran.code == 3
    assert "the dataset changed" in ran.err and "--accept-changes" in ran.err
    assert len(ran.err.strip().splitlines()) == 1


def test_a_changed_rubric_stops_a_reproduction_and_is_named(tmp_path: Path) -> None:
    overrides = project(tmp_path, 2)
    assert jeval("run", *overrides).code == 0
    body = json.loads((tmp_path / "rubrics.json").read_text())
    body[1]["version"], body[1]["criterion"] = "2.0.0", "The response is kind."
    write_rubrics(tmp_path / "rubrics.json", body)
    ran = jeval("run", "--from-run", "@last", store_of(tmp_path))
    assert ran.code == 3
    assert "rubric tone changed: version 1.0.0 then, 2.0.0 now" in ran.err


def test_changes_can_be_accepted_and_then_only_the_new_is_asked(tmp_path: Path) -> None:
    with judging() as server:
        assert jeval("run", *project(tmp_path, 4), *local(server.url)).code == 0
        write_cases(tmp_path / "cases.jsonl", 5)
        ran = jeval("run", "--from-run", "@last", "--accept-changes", store_of(tmp_path), "--json")
    assert ran.code == 0, ran.err
    assert (ran.json["cases"], ran.json["requests"]) == (5, 1)


def test_relabelling_is_no_change(tmp_path: Path) -> None:
    from tests.running import case

    overrides = project(tmp_path, [case(1)])
    assert jeval("run", *overrides).code == 0
    write_cases(tmp_path / "cases.jsonl", [case(1, expected={"tone": {"status": "pass", "source": "human"}})])
    assert jeval("run", "--from-run", "@last", store_of(tmp_path)).code == 0


def test_overrides_change_a_reproduced_configuration(tmp_path: Path) -> None:
    assert jeval("run", *project(tmp_path, 4), "thresholds.pass=0.6", "dataset.limit=3").code == 0
    ran = jeval("run", "--from-run", "@last", store_of(tmp_path), "thresholds=strict", "--json")
    assert ran.json["thresholds"] == {"pass": 0.9, "fail": 0.3}
    assert ran.json["cases"] == 3


def test_odd_texts_survive_the_way_through_a_saved_configuration(tmp_path: Path) -> None:
    odd = 'it\'s a \\ "name", {with} [all] = $HOME ${now} #1'
    assert jeval("run", *project(tmp_path, 1), f"tags.said={odd}").code == 0
    assert jeval("run", "--from-run", "@last", store_of(tmp_path)).code == 0
    assert rows(tmp_path / "jeval.db", "SELECT DISTINCT tags ->> '$.said' FROM runs") == [(odd,)]


def test_an_unknown_run_names_the_remedy(tmp_path: Path) -> None:
    assert jeval("run", *project(tmp_path, 1)).code == 0
    ran = jeval("run", "--from-run", "nope", store_of(tmp_path))
    assert ran.code == 3
    assert "nope" in ran.err and "jeval runs" in ran.err


def test_an_incomplete_run_is_gone_on_with(tmp_path: Path) -> None:
    from tests.judging import hashed
    from tests.servers import reply

    with judging(reply(400, {"detail": "odd"}), hashed) as server:
        assert jeval("run", *project(tmp_path, 4), *local(server.url, "judge.concurrency=1")).code == 2
        ran = jeval("run", "--from-run", "@last", store_of(tmp_path), "--json")
    assert (ran.code, ran.json["requests"]) == (0, 1)


def test_a_run_is_reproduced_from_any_folder_by_the_project_its_store_lies_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    project(home, 2)
    monkeypatch.chdir(home)
    assert jeval("run", "dataset.path=cases.jsonl", "rubrics.path=rubrics.json").code == 0
    monkeypatch.chdir(elsewhere)
    ran = jeval("run", "--from-run", "@last", store_of(home))
    assert ran.code == 0, ran.err
