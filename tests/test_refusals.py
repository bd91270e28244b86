"""What Hydra refuses: told in one line, with what to type instead."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from jeval.app.compose import compose
from jeval.app.refusals import in_words
from jeval.errors import ConfigError


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(root: Path, *arguments: str) -> str:
    with pytest.raises(ConfigError) as caught:
        compose(arguments, root)
    text = str(caught.value)
    assert "\n" not in text and "+" not in text and "Ambiguous" not in text
    return text


@pytest.mark.parametrize("argument", ["thresholds.pass=0.6,0.7", "dataset.limit=1,2", "judge.repeat=range(1,3)"])
def test_several_values_without_a_sweep_are_told_of_the_flag(root: Path, argument: str) -> None:
    assert refusal(root, argument) == f"{argument}: one value is needed; to sweep over several add -m"


@pytest.mark.parametrize("argument", ["metrics=groundedness,tone", "metrics=[groundedness,tone]"])
def test_several_metrics_are_told_how_to_be_used_at_once(root: Path, argument: str) -> None:
    text = refusal(root, argument)
    assert "-m" in text and "conf/metrics/NAME.yaml" in text and "'metrics.path=[A.yaml,B.yaml]'" in text


@pytest.mark.parametrize(
    ("file", "typed"),
    [
        ("cases.jsonl", ["dataset.path=cases.jsonl"]),
        ("my cases.jsonl", ["'dataset.path=my cases.jsonl'"]),
        ("mine.json", ["dataset.path=mine.json", "rubrics.path=mine.json"]),
        ("mine.yaml", ["rubrics.path=mine.yaml", "metrics.path=mine.yaml"]),
        ("there", ["dataset.path=there"]),
    ],
)
def test_the_bare_name_of_a_file_is_told_the_setting_it_is_for(root: Path, file: str, typed: list[str]) -> None:
    (root / "there").touch()
    text = refusal(root, file)
    assert text.startswith(f"{file}: is no override; write ")
    assert all(one in text and shlex.split(one) for one in typed)


def test_a_file_named_as_an_option_is_told_its_setting(root: Path) -> None:
    assert refusal(root, "dataset=data/c.jsonl").endswith("name a file with dataset.path=data/c.jsonl")


def test_a_word_that_is_no_file_is_told_how_an_override_looks(root: Path) -> None:
    assert "write KEY=VALUE" in refusal(root, "nothing")


def test_rubrics_that_a_dataset_would_bring_are_not_blamed_on_what_nobody_typed(root: Path) -> None:
    (root / "conf" / "dataset").mkdir(parents=True)
    (root / "conf" / "dataset" / "g2.yaml").write_text("name: g2\npath: g2.jsonl\n")
    text = refusal(root, "dataset=g2")
    assert text.startswith("dataset=g2: there are no rubrics g2, and a dataset brings those of its own name")
    assert "add rubrics=NAME, there are: clinic, " in text and "rubrics.path=FILE" in text
    assert refusal(root, "dataset=g2", "rubrics=g3").startswith("rubrics=g3: there is no such option")


def test_what_is_not_hydra_s_is_left_as_it_is() -> None:
    error: Any = KeyError("x")
    assert in_words(error) is error
