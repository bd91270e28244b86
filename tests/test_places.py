"""Where things lie: the project, the store, the bundled files."""

from pathlib import Path

import pytest

from jeval.app.places import bundled_conf, locate, project_root, store_path
from jeval.errors import ConfigError


@pytest.mark.parametrize("mark", ["conf", "jeval.db", "pyproject.toml"])
def test_the_project_is_the_nearest_folder_with_a_conf_a_store_or_a_pyproject(tmp_path: Path, mark: str) -> None:
    deep = tmp_path / "project" / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "project" / mark).mkdir()
    assert project_root(deep) == tmp_path / "project"


def test_the_store_is_the_setting_else_the_variable_else_in_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "project"
    assert store_path(None, root) == root / "jeval.db"
    assert store_path("", root) == root / "jeval.db"
    monkeypatch.setenv("JEVAL_STORE", "runs/mine.db")
    assert store_path(None, root) == tmp_path / "runs" / "mine.db"
    assert store_path("other.db", root) == tmp_path / "other.db"
    assert store_path("/abs/x.db", root) == Path("/abs/x.db")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert store_path("~/x.db", root) == tmp_path / "x.db"


def test_a_file_is_looked_for_where_one_stands_then_in_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, root = tmp_path / "root" / "here", tmp_path / "root"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    (root / "c.jsonl").write_text("root")
    assert locate("c.jsonl", root, what="dataset.path").read_text() == "root"
    (here / "c.jsonl").write_text("here")
    assert locate("c.jsonl", root, what="dataset.path").read_text() == "here"


@pytest.mark.parametrize(
    "name",
    ["a b.jsonl", "it's.jsonl", 'q"q.jsonl', "a,b.jsonl", "(a)[b]{c}.jsonl", "${x}.jsonl", "é=ü.jsonl"],
)
def test_a_file_may_be_called_anything(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("")
    assert locate(str(tmp_path / name), tmp_path, what="dataset.path") == tmp_path / name


def test_a_file_that_is_not_there_or_is_a_folder_is_refused_by_setting_and_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"dataset\.path=gone\.jsonl: no such file"):
        locate("gone.jsonl", tmp_path / "p", what="dataset.path")
    with pytest.raises(ConfigError, match="directory"):
        locate(".", tmp_path, what="dataset.path")


def test_an_empty_path_is_told_to_name_a_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="name a file"):
        locate("", tmp_path, what="rubrics.path")


def test_bundled_files_are_found_from_anywhere_and_a_wrong_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert locate("bundled:datasets/clinic.jsonl", tmp_path, what="dataset.path").is_file()
    assert (bundled_conf() / "jeval_run.yaml").is_file()
    with pytest.raises(ConfigError, match="bundled"):
        locate("bundled:datasets/clinc.jsonl", tmp_path, what="dataset.path")


@pytest.mark.parametrize("path", ["x" * 300, "a\x00b", "~nobody-of-this-name/x"])
def test_a_name_that_no_file_can_have_is_refused_in_words(tmp_path: Path, path: str) -> None:
    with pytest.raises(ConfigError, match=r"dataset\.path="):
        locate(path, tmp_path, what="dataset.path")
