"""docs/configuration.md: its examples, written down as they stand there, run as it says."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from jeval.app.settings import RunSettings
from tests.running import ROOT, jeval

PAGE = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
# A file's name begins the line of prose that its text follows.
FILES = re.findall(r"^`([\w.-]+(?:/[\w.-]+)+)`.*?\n\n```(?:yaml|json)\n(.*?)```", PAGE, re.M | re.S)
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.S) for line in block.splitlines()]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project of the page, with a folder deep inside it as the working directory."""
    for name, text in FILES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    deep = tmp_path / "notes" / "drafts"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    return tmp_path


def test_the_page_has_an_example_of_each_group() -> None:
    groups = {Path(name).parts[1] for name, _ in FILES if name.startswith("conf/")}
    assert groups == {"dataset", "rubrics", "metrics", "thresholds", "judge", "gate"}
    assert len(COMMANDS) == 6


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_of_the_page_ends_as_it_says(project: Path, line: str) -> None:
    command, _, comment = line.partition("#")
    said = re.search(r"exit code (\d)", comment)
    ran = jeval(*shlex.split(command)[1:], *([] if "--dry-run" in command else ["--json"]))
    assert ran.code == (int(said[1]) if said else 0), ran.err
    assert (project / "jeval.db").exists() == ("--dry-run" not in command)


def test_the_rubrics_named_like_the_dataset_are_those_that_are_used(project: Path) -> None:
    body = jeval("run", "dataset=support", "--json").json
    assert (body["cases"], body["checks"], body["counts"]["fail"]) == (2, 4, 1)
    assert jeval("run", "dataset=support", "dataset.where.split=train", "--json").json["cases"] == 1


def test_an_option_of_a_projects_own_is_composed_with_what_it_leaves_out(project: Path) -> None:
    ran = jeval("run", "dataset=support", "gate=nightly", "judge=ours", "--cfg", "job")
    config = yaml.safe_load(ran.out)
    assert (config["gate"]["max_failures"], config["gate"]["max_critical_failures"]) == (1, 0)
    assert config["judge"]["model"] == "ours-2"


def test_every_setting_has_a_row() -> None:
    for group, field in RunSettings.model_fields.items():
        inner = getattr(field.annotation, "model_fields", {})
        for name, one in inner.items():
            assert f"| `{group}.{one.serialization_alias or name}` |" in PAGE
