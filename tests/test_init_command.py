"""jeval init: a project that works as it stands, and never a file written over."""

import io
import json
import os
import shlex
from pathlib import Path

import pytest
import yaml

from jeval.app.starter import starter_files
from jeval.case import Case
from tests.running import Ran, jeval, rows

FILES = sorted(starter_files())


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def everything(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def typed(ran: Ran) -> list[list[str]]:
    """The commands that it says to type next, as words."""
    _, _, after = ran.out.partition("next\n")
    return [shlex.split(line, comments=True) for line in after.splitlines()]


def test_what_it_says_to_type_works_in_the_new_folder_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = jeval("init", "my project")
    assert (ran.code, ran.err) == (0, "")
    (cd, folder), *commands = typed(ran)
    assert cd == "cd" and len(commands) == 3
    monkeypatch.chdir(folder)
    outputs = []
    for name, *words in commands:
        assert name == "jeval"
        monkeypatch.setattr("sys.stdin", io.StringIO("p\nq\n"))
        ran = jeval(*words)
        assert (ran.code, ran.err) == (0, ""), words
        outputs.append(ran.out)
    assert "1 CRITICAL FAILURE" in outputs[0] and "8 cases of boxoffice" in outputs[0]
    assert "1 check labelled by" in outputs[1]
    assert "checks that flip against thresholds=default" in outputs[2]
    assert len(rows(Path("jeval.db"), "SELECT 1 FROM runs")) == 3


def test_it_writes_its_files_and_says_which(tmp_path: Path) -> None:
    ran = jeval("init")
    assert sorted(everything(tmp_path)) == sorted([*FILES, ".gitignore"])
    for name in FILES:
        assert f"  ✓ {name}" in ran.out.splitlines()
    assert Path(".gitignore").read_text() == "jeval.db*\n"
    assert not any(words[0] == "cd" for words in typed(ran))


def test_a_file_that_is_there_stops_it_before_anything_is_written(tmp_path: Path) -> None:
    Path("conf/thresholds").mkdir(parents=True)
    Path("conf/thresholds/careful.yaml").write_text("mine")
    before = everything(tmp_path)
    ran = jeval("init")
    assert ran.code == 3 and ran.out == ""
    assert "conf/thresholds/careful.yaml is there already; nothing was written" in ran.err and "--missing" in ran.err
    assert everything(tmp_path) == before


def test_what_is_missing_is_added_and_the_rest_is_as_it_was(tmp_path: Path) -> None:
    Path("rubrics").mkdir()
    Path("rubrics/boxoffice.yaml").write_text("mine")
    ran = jeval("init", "--missing", "--json")
    assert ran.json["kept"] == ["rubrics/boxoffice.yaml"]
    assert sorted([*ran.json["written"], *ran.json["kept"]]) == FILES
    assert Path("rubrics/boxoffice.yaml").read_text() == "mine"
    before = everything(tmp_path)
    again = jeval("init", "--missing")
    assert again.code == 0 and f"  – {FILES[0]} was there and is as it was" in again.out.splitlines()
    assert everything(tmp_path) == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("*.pyc\n", "*.pyc\njeval.db*\n"),
        ("*.pyc", "*.pyc\njeval.db*\n"),
        ("jeval.db\n", "jeval.db\n"),
        ("jeval.db*\n", "jeval.db*\n"),
        ("# jeval.dbx\n", "# jeval.dbx\njeval.db*\n"),
    ],
)
def test_a_gitignore_gets_one_line_unless_it_has_it(before: str, after: str) -> None:
    Path(".gitignore").write_text(before)
    ran = jeval("init")
    assert Path(".gitignore").read_text() == after
    assert (".gitignore" in ran.out) is (before != after)


def test_where_it_cannot_be_written_it_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("file").write_text("x")
    Path("half").mkdir()
    Path("half/datasets").write_text("in the place of a folder")
    for folder in ("file", "half"):
        before = everything(tmp_path)
        ran = jeval("init", folder)
        assert ran.code == 3 and "nothing was written" in ran.err and ran.err.count("\n") == 1
        assert everything(tmp_path) == before and not Path("half/conf").exists()
    Path("links").mkdir()
    os.symlink(tmp_path / "nowhere", "links/conf")
    assert jeval("init", "links").code == 3 and not Path("nowhere").exists()
    assert jeval("init", "x" * 300).code == 3


def test_an_interruption_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("jeval.app.starter._ignore", interrupted)
    assert jeval("init", "new").code == 130
    assert list(tmp_path.iterdir()) == []


def test_the_workflow_is_yaml_whose_commands_are_jevals(monkeypatch: pytest.MonkeyPatch) -> None:
    assert jeval("init", "--ci", "github").code == 0
    workflow = yaml.safe_load(Path(".github/workflows/jeval.yml").read_text(encoding="utf-8"))
    commands = [step["run"].split() for step in workflow["jobs"]["evaluate"]["steps"] if "run" in step]
    run, report = (words[1:] for words in commands if words[0] == "jeval")
    assert "--ci" in run
    assert jeval(*[word for word in run if word != "--ci"], "--dry-run").code == 0
    assert jeval("run", "dataset=boxoffice").code == 0
    assert jeval(*report).code == 0 and Path("jeval.xml").is_file()
    ran = jeval("init", "other", "--ci", "gitlab")
    assert ran.code == 3 and "use github" in ran.err and not Path("other").exists()


def test_the_files_are_in_order() -> None:
    files = starter_files()
    cases = [Case.model_validate_json(line) for line in files["datasets/boxoffice.jsonl"].splitlines()]
    rubrics = {rubric["id"] for rubric in yaml.safe_load(files["rubrics/boxoffice.yaml"])}
    assert len({case.id for case in cases}) == len(cases) == 8
    for case in cases:
        assert set(case.expected or {}) == rubrics and (case.metadata or {})["split"] in ("tuning", "test")
    page = files["conf/README.md"].decode()
    for name in FILES:
        if name.startswith("conf/") and name.endswith(".yaml"):
            assert f"`{name.removeprefix('conf/')}`" in page, name


def test_doctor_finds_nothing_wrong_with_it() -> None:
    jeval("init")
    ran = jeval("doctor", "dataset=boxoffice", "thresholds=careful", "--json")
    about = [item for item in ran.json["items"] if item["section"] == "project"]
    assert {item["state"] for item in about} <= {"fine", "none"}
    assert json.dumps(about).count("boxoffice") >= 2


@pytest.mark.parametrize(("columns", "beside"), [("100", True), ("80", False)])
def test_no_line_is_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch, columns: str, beside: bool) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    lines = jeval("init", "new").out.splitlines()
    assert max(len(line) for line in lines[1:]) <= int(columns)
    assert any("jeval review @last" in line and "# label" in line for line in lines) is beside
