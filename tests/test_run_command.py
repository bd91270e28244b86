"""`jeval run`: flags, overrides, the project's conf, exit codes, and what is left on the run's row."""

import json
import os
from pathlib import Path

import pytest
import yaml

from jeval.app.commands.run import split_flags
from jeval.errors import ConfigError
from tests.judging import hashed, judging, local
from tests.running import RUBRICS, case, jeval, jeval_process, project, quick, rows, write_cases, write_rubrics


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# Flags


def test_our_flags_are_taken_and_hydra_s_are_passed_on_wherever_they_stand() -> None:
    ours, rest = split_flags(["a=1", "--ci", "-m", "--json", "--from-run", "x", "--cfg", "job", "--dry-run", "b=2"])
    assert ours == {"ci": True, "json": True, "from_run": "x", "dry_run": True}
    assert rest == ["a=1", "-m", "--cfg", "job", "b=2"]
    assert split_flags(["--from-run=@last"])[0] == {"from_run": "@last"}


@pytest.mark.parametrize(("flag", "meant"), [("--jsn", "--json"), ("--dry", "--dry-run"), ("--form-run", "--from-run")])
def test_a_mistyped_flag_names_the_nearest(flag: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=f"{flag}: there is no such flag; did you mean {meant}"):
        split_flags([flag])


def test_a_flag_that_lacks_its_value_is_refused() -> None:
    for arguments in (["--from-run"], ["--from-run="]):
        with pytest.raises(ConfigError, match="names no run"):
            split_flags(arguments)


# The bundled data


def test_it_works_without_a_word_and_puts_its_store_into_the_project(folder: Path) -> None:
    ran = jeval("run")
    assert ran.code == 0 and "clinic" in ran.out
    assert (folder / "jeval.db").is_file()
    assert sorted(path.name for path in folder.iterdir() if not path.name.startswith("jeval.db")) == []


@pytest.mark.parametrize("name", ["clinic", "shop", "manual"])
def test_every_bundled_dataset_runs_with_its_own_rubrics(name: str) -> None:
    ran = jeval("run", f"dataset={name}", "--json")
    assert ran.code == 0 and ran.json["cases"] > 10 and ran.json["counts"]["error"] == 0


def test_a_fault_in_a_file_of_the_project_s_conf_names_the_file_unless_the_value_was_typed(folder: Path) -> None:
    (folder / "conf" / "thresholds").mkdir(parents=True)
    (folder / "conf" / "thresholds" / "mine.yaml").write_text("name: mine\npass: 1.5\nfail: 0.5\n")
    ran = jeval("run", "thresholds=mine")
    assert ran.code == 3
    assert ran.err.startswith("jeval: thresholds.pass=1.5 (from conf/thresholds/mine.yaml): is too large")
    for typed in (["thresholds=mine", "thresholds.pass=2"], ["thresholds.pass=2"]):
        assert jeval("run", *typed).err.startswith("jeval: thresholds.pass=2: is too large")


# Selection


def test_cases_are_chosen_by_metadata_sample_seed_and_limit(folder: Path) -> None:
    cases = [case(i, metadata={"split": "holdout" if i % 2 else "tuning", "n": i}) for i in range(20)]
    arguments = project(folder, cases)

    def chosen(*more: str) -> list[str]:
        ran = quick(*arguments, *more, "--json")
        run = ran.json["run_id"]
        return [
            row[0]
            for row in rows(folder / "jeval.db", "SELECT DISTINCT case_id FROM checks WHERE run_id = ? ORDER BY 1", run)
        ]

    assert len(chosen("dataset.where.split=holdout")) == 10
    assert chosen("dataset.where.n=7") == ["case-0007"]
    assert chosen("dataset.limit=2") == ["case-0000", "case-0001"]
    assert len(chosen("dataset.sample=5")) == 5
    assert chosen("dataset.sample=5", "dataset.seed=1") == chosen("dataset.sample=5", "dataset.seed=1")
    assert chosen("dataset.sample=5", "dataset.seed=1") != chosen("dataset.sample=5", "dataset.seed=2")
    assert set(chosen("dataset.where.split=tuning", "dataset.sample=4")) <= set(chosen("dataset.where.split=tuning"))


# Refusals: one line, exit code 3, nothing stored


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dataset=clnic"], ["did you mean dataset=clinic?"]),
        (["thresholds=nope"], ["default, lenient, strict"]),
        (["thresholds=[strict,default]"], ["-m thresholds="]),
        (["judge=jevv"], ["judge=jev"]),
        (["dataset.pth=x"], ["did you mean dataset.path?"]),
        (["thresholds.pass=2"], ["thresholds.pass=2", "at most 1"]),
        (["thresholds.pass=0.4", "thresholds.fail=0.4"], ["must exceed 1"]),
        (["judge.concurrency=0"], ["at least 1"]),
        (["dataset.limit=x"], ["whole number"]),
        (["dataset.path=cases.jsonl"], ["rubrics.path", "rubrics.path=FILE", "rubrics=NAME"]),
        (["dataset.path=gone.jsonl", "rubrics=clinic"], ["gone.jsonl", "no such file"]),
        (["rubrics.path=gone.yaml"], ["rubrics.path=gone.yaml"]),
        (["rubrics=none"], ["ask nothing"]),
        (["store=."], ["directory"]),
        (["store=gone/x.db"], ["does not exist; make it"]),
        (["--from-run", "nope"], ["nope"]),
        (["judge=jev"], ["TYPESAFE_API_KEY"]),
        (["judge=local", "judge.base_url=ftp://x"], ["judge.base_url"]),
        (["name='open"], ["is no override"]),
        (["dataset"], ["dataset"]),
        (["--nope"], ["there is no such flag"]),
    ],
)
def test_what_cannot_run_is_refused_in_one_line(folder: Path, arguments: list[str], words: list[str]) -> None:
    write_cases(folder / "cases.jsonl", 1)
    ran = jeval("run", *arguments)
    assert ran.code == 3 and ran.out == ""
    assert ran.err.count("\n") == 1 and ran.err.startswith("jeval: "), ran.err
    assert all(word in ran.err for word in words), ran.err
    assert not (folder / "jeval.db").exists() or rows(folder / "jeval.db", "SELECT count(*) FROM runs") == [(0,)]


def test_an_edited_rubric_of_the_same_version_is_refused_by_the_store(folder: Path) -> None:
    arguments = project(folder, 1)
    jeval("run", *arguments)
    write_rubrics(folder / "rubrics.json", [{**RUBRICS[1], "criterion": "The response is rude."}])
    ran = jeval("run", *arguments)
    assert ran.code == 3 and "give the edited rubric a new version" in ran.err
    write_rubrics(folder / "rubrics.json", [{**RUBRICS[1], "criterion": "It is rude.", "version": "1.0.1"}])
    assert jeval("run", *arguments).code == 0


# Reuse


def test_judgments_are_reused_asked_afresh_or_never_asked_for(folder: Path) -> None:
    arguments = project(folder, 3)
    with judging() as server:
        asking = [*arguments, *local(server.url)]
        only = quick(*asking, "judge.reuse=only", "--json")
        assert only.code == 2 and only.json["counts"]["error"] == 6 and server.bodies == []
        first = quick(*asking, "--json")
        again = quick(*asking, "--json")
        assert len(server.bodies) == 3
        afresh = quick(*asking, "judge.reuse=never", "--json")
        assert len(server.bodies) == 6
        kept = quick(*asking, "judge.reuse=only", "--json")
        assert len(server.bodies) == 6
    assert [r.code for r in (first, again, afresh, kept)] == [0, 0, 0, 0]
    assert [r.json["judgments"] for r in (first, again, afresh, kept)] == [
        {"asked": 6, "reused": 0},
        {"asked": 0, "reused": 6},
        {"asked": 6, "reused": 0},
        {"asked": 0, "reused": 6},
    ]
    assert rows(folder / "jeval.db", "SELECT count(*) FROM judgments") == [(12,)]


def test_another_profile_asks_nothing_more(folder: Path) -> None:
    arguments = project(folder, 5)
    with judging() as server:
        quick(*arguments, *local(server.url))
        strict = quick(*arguments, *local(server.url), "thresholds.pass=0.9", "thresholds.fail=0.3", "--json")
        assert len(server.bodies) == 5
    assert strict.json["requests"] == 0 and strict.json["thresholds"] == {"pass": 0.9, "fail": 0.3}


# Where things go


def test_the_store_is_the_override_else_the_variable_else_the_project_s(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JEVAL_STORE", str(folder / "by-variable.db"))
    assert jeval("run", "dataset.limit=1", "--json").json["store"] == str(folder / "by-variable.db")
    found = jeval("run", "dataset.limit=1", "store=by override.db", "--json").json["store"]
    assert found == str(folder / "by override.db")
    assert not (folder / "jeval.db").exists()


def test_from_a_subfolder_the_project_s_store_and_conf_are_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "conf" / "thresholds").mkdir(parents=True)
    (folder / "conf" / "thresholds" / "mine.yaml").write_text("name: mine\npass: 0.8\nfail: 0.6\n")
    (folder / "deep").mkdir()
    monkeypatch.chdir(folder / "deep")
    ran = jeval("run", "thresholds=mine", "dataset.limit=1", "--json")
    assert ran.json["thresholds"] == {"pass": 0.8, "fail": 0.6} and ran.json["store"] == str(folder / "jeval.db")


def test_a_project_s_own_groups_run_beside_ours_and_name_their_files_from_the_project(folder: Path) -> None:
    for group, text in (
        ("dataset", "name: orchard\npath: data/orchard.jsonl\n"),
        ("rubrics", "name: orchard\npath: data/orchard.json\n"),
        ("thresholds", "name: strict\npass: 0.99\nfail: 0.2\n"),
    ):
        (folder / "conf" / group).mkdir(parents=True)
        (folder / "conf" / group / ("strict.yaml" if group == "thresholds" else "orchard.yaml")).write_text(text)
    (folder / "data").mkdir()
    write_cases(folder / "data" / "orchard.jsonl", 3)
    write_rubrics(folder / "data" / "orchard.json")
    ran = jeval("run", "dataset=orchard", "thresholds=strict", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["cases"] == 3 and ran.json["thresholds"] == {"pass": 0.99, "fail": 0.2}
    assert rows(folder / "jeval.db", "SELECT dataset, rubrics, thresholds FROM runs") == [
        ("orchard", "orchard", "strict")
    ]


def test_json_is_all_of_stdout_and_the_text_for_people_goes_to_stderr(folder: Path) -> None:
    done = jeval_process("run", *project(folder, 3), "--json", cwd=folder)
    assert done.code == 0
    assert json.loads(done.out)["cases"] == 3 and done.out.count("\n") == 1
    assert "3 cases of cases.jsonl" in done.err


def test_a_dry_run_asks_and_stores_nothing(folder: Path) -> None:
    with judging() as server:
        ran = jeval("run", *project(folder, 3), *local(server.url), "--dry-run", "--json")
        assert server.bodies == []
    assert ran.code == 0 and json.loads(ran.out)
    assert not (folder / "jeval.db").exists()


@pytest.mark.parametrize(
    "arguments", [["--cfg", "job"], ["--cfg"], ["--info"], ["--info", "config"], ["--help"], ["--hydra-help"]]
)
def test_hydra_s_own_flags_work_and_run_nothing(folder: Path, arguments: list[str]) -> None:
    before = [] if arguments == ["--hydra-help"] else ["thresholds=strict"]
    ran = jeval("run", *before, *arguments)
    assert ran.code == 0 and ran.out
    if arguments[0] == "--cfg":
        shown = yaml.safe_load(ran.out)
        assert shown["thresholds"] == {"name": "strict", "pass": 0.9, "fail": 0.3} and "hydra" not in shown
    assert not (folder / "jeval.db").exists()


def test_nothing_but_the_store_is_left_behind(folder: Path) -> None:
    before = set(os.listdir(folder))
    jeval("run", "dataset.limit=1")
    jeval("run", "dataset.limit=1", "-m", "thresholds=default,strict")
    assert set(os.listdir(folder)) - before <= {"jeval.db", "jeval.db-wal", "jeval.db-shm"}


# The run's row


def test_a_run_s_row_tells_what_it_was(folder: Path) -> None:
    (folder / ".git" / "refs" / "heads").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "refs" / "heads" / "main").write_text("c0ffee" * 6 + "beef\n")
    arguments = project(folder, 2)
    jeval("run", *arguments, "name=a, b: ${x}", "tags.team=orchard", "tags.try=3", "thresholds.pass=0.8")
    (row,) = rows(
        folder / "jeval.db",
        "SELECT name, tags, overrides, git_commit, threshold_pass, dataset, gateway, model_asked, simulated,"
        " status, exit_code, started_at, finished_at, cases FROM runs",
    )
    (
        name,
        tags,
        overrides,
        commit,
        pass_,
        dataset,
        gateway,
        model,
        simulated,
        status,
        code,
        began,
        ended,
        cases,
    ) = row
    assert name == "a, b: ${x}" and json.loads(tags) == {"team": "orchard", "try": 3}
    assert commit == "c0ffee" * 6 + "beef" and pass_ == 0.8
    assert (dataset, gateway, model, simulated, status, code, cases) == (
        "cases.jsonl",
        "offline",
        "offline-1",
        1,
        "complete",
        0,
        2,
    )
    assert began.endswith("Z") and began <= ended
    assert {"tags.team=orchard", "tags.try=3", "thresholds.pass=0.8"} <= set(json.loads(overrides))


def test_the_saved_configuration_is_yaml_with_hashes_and_without_secrets(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret-1")
    with judging(hashed) as server:
        jeval("run", *project(folder, 1), *local(server.url, "judge.key_env=MY_KEY"))
    (text, sha) = rows(folder / "jeval.db", "SELECT config_yaml, config_sha256 FROM runs")[0]
    saved = yaml.safe_load(text)
    assert saved["judge"]["key_env"] == "MY_KEY" and "sk-secret-1" not in text
    assert set(saved["fingerprint"]["rubrics"]) == {"support", "tone"} and len(saved["fingerprint"]["dataset"]) == 64
    assert saved["thresholds"]["pass"] == 0.75 and len(sha) == 64 and "store" not in saved
