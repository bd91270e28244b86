"""A run about to begin: its files are read and checked, and what is wrong in several is told at once."""

import json
from pathlib import Path
from typing import Any

import pytest

from jeval.app.prepare import Prepared, judge_identity, make_judge, prepare
from jeval.app.settings import JudgeSettings, settings_of
from jeval.errors import ConfigError, DataError
from tests.running import RUBRICS, case, write_cases, write_rubrics

METRIC = {"id": "m", "version": "1", "fields": ["input"], "questions": [{"noul": "It is so."}]}


def prepared(folder: Path, *, dataset: Any = 3, rubrics: Any = RUBRICS, metrics: Any = None, **more: Any) -> Prepared:
    """Write the files and prepare a run on them."""
    write_cases(folder / "c.jsonl", dataset)
    (folder / "m.json").write_text(json.dumps(metrics or []))
    if rubrics is not None:
        write_rubrics(folder / "r.json", rubrics)
    config = {
        "dataset": {"name": "file", "path": str(folder / "c.jsonl"), **more.pop("dataset_settings", {})},
        "rubrics": {"name": "file", "path": None if rubrics is None else str(folder / "r.json")},
        "metrics": {"name": "file", "path": str(folder / "m.json") if metrics is not None else None},
        "thresholds": {"name": "default", "pass": 0.75, "fail": 0.5},
        "judge": {"name": "offline", "gateway": "offline"},
        "gate": {"name": "strict"},
        **more,
    }
    return prepare(settings_of(config), folder)


def test_a_prepared_run_knows_what_its_files_held(tmp_path: Path) -> None:
    found = prepared(tmp_path, metrics=[METRIC])
    assert found.dataset.cases == 3
    assert [rubric.id for rubric in found.rubrics] == ["support", "tone"]
    assert set(found.fingerprint["rubrics"]) == {"support", "tone"}
    assert found.fingerprint["dataset"] == found.dataset.sha256
    assert found.fingerprint["metrics"]["m"]["version"] == "1"


def test_faults_of_the_dataset_the_rubrics_and_the_metrics_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        prepared(tmp_path, dataset=[{"id": "a"}], rubrics=[{"id": "r"}], metrics=[{"id": "m", "version": "1"}])
    places = {problem.place.partition(":")[0].rpartition("/")[2] for problem in caught.value.problems}
    assert places == {"c.jsonl", "r.json", "m.json"}


def test_a_run_that_asks_nothing_is_refused(tmp_path: Path) -> None:
    for rubrics in (None, []):
        with pytest.raises(ConfigError, match=r"ask nothing; name a rubric set with rubrics=NAME"):
            prepared(tmp_path, rubrics=rubrics)
    assert prepared(tmp_path, rubrics=[], metrics=[METRIC]).metrics


def test_a_rubric_whose_thresholds_do_not_go_with_the_profile_is_refused_by_name(tmp_path: Path) -> None:
    rubric = {**RUBRICS[0], "thresholds": {"pass": 0.2}}
    with pytest.raises(ConfigError, match=r"rubric support: .*profile default.*give the rubric both"):
        prepared(tmp_path, rubrics=[rubric])


def test_a_profile_under_which_doubt_could_pass_or_fail_is_warned_of(tmp_path: Path) -> None:
    found = prepared(tmp_path, thresholds={"name": "x", "pass": 0.9, "fail": 0.3})
    assert any("insufficient" in warning for warning in found.warnings)
    assert not prepared(tmp_path).warnings


def test_an_empty_selection_is_warned_of(tmp_path: Path) -> None:
    found = prepared(tmp_path, dataset_settings={"where": {"split": "none"}})
    assert found.dataset.cases == 0 and any("no case" in warning for warning in found.warnings)


def test_one_id_in_two_rubric_files_is_refused(tmp_path: Path) -> None:
    write_rubrics(tmp_path / "more.json", [RUBRICS[0]])
    settings = prepared(tmp_path).settings
    paths = [str(tmp_path / "r.json"), str(tmp_path / "more.json")]
    both = settings.model_copy(update={"rubrics": settings.rubrics.model_copy(update={"path": paths})})
    with pytest.raises(ConfigError, match="support"):
        prepare(both, tmp_path)


def test_the_offline_judge_needs_nothing(tmp_path: Path) -> None:
    judge = make_judge(JudgeSettings(name="offline", gateway="offline"), {})
    assert judge.simulated and (judge.gateway, judge.model) == ("offline", "offline-1")


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (None, "is not set"),
        ("", "is empty"),
        ("a\nb", "line break"),
        ('a"b', "quote"),
        ("é", "ASCII"),
        ("a b", "space"),
    ],
)
def test_a_key_of_no_use_is_refused_by_the_name_of_its_variable_and_never_shown(key: str | None, words: str) -> None:
    settings = JudgeSettings(name="jev", gateway="jev", key_env="MY_KEY", timeout_s=1, budget_s=1)
    with pytest.raises(ConfigError) as caught:
        make_judge(settings, {} if key is None else {"MY_KEY": key})
    text = str(caught.value)
    assert "MY_KEY" in text and words in text
    assert not key or key not in text


def test_the_identity_of_a_judge_needs_no_key() -> None:
    settings = JudgeSettings(name="jev", gateway="jev", key_env="MY_KEY")
    assert judge_identity(settings, {}) == ("jev", "jev-latest")
    assert judge_identity(settings, {"TYPESAFE_DEFAULT_MODEL": "jev-1.14.0"}) == ("jev", "jev-1.14.0")


def test_a_dataset_that_has_not_been_touched_is_not_read_twice(tmp_path: Path) -> None:
    first = prepared(tmp_path)
    assert prepare(first.settings, tmp_path, known=first).dataset is first.dataset
    write_cases(tmp_path / "c.jsonl", [case(1)])
    assert prepare(first.settings, tmp_path, known=first).dataset.cases == 1


def test_labels_that_name_no_rubric_of_the_run_are_warned_of_once(tmp_path: Path) -> None:
    label = {"status": "pass"}
    cases = [{**case(n), "expected": {"suport": label, "tone": label, "zzz": label}} for n in range(3)]
    (warning,) = prepared(tmp_path, dataset=cases).warnings
    assert warning == ("dataset c.jsonl: 6 labels name no rubric of this run: suport (did you mean support?), zzz")
    (one,) = prepared(tmp_path, dataset=[{**case(1), "expected": {"zzz": label}}]).warnings
    assert "1 label names no rubric" in one
    assert not prepared(tmp_path, dataset=cases, rubrics=[], metrics=[METRIC]).warnings


def test_metadata_that_a_rubric_asks_for_and_no_case_has_is_warned_of(tmp_path: Path) -> None:
    rubric = {**RUBRICS[0], "applicability": {"onlyWhenMetadata": {"scenaro": "refund"}}}
    cases = [{**case(n), "metadata": {"scenario": "refund"}} for n in range(2)]
    (warning,) = prepared(tmp_path, dataset=cases, rubrics=[rubric]).warnings
    assert "rubric support: skipped for every case" in warning
    assert "no case has the metadata scenaro; did you mean scenario? the keys there are scenario" in warning
    rubric["applicability"] = {"onlyWhenMetadata": {"scenario": "none of them"}}
    (warning,) = prepared(tmp_path, dataset=cases, rubrics=[rubric]).warnings
    assert 'no case has scenario "none of them"; there is "refund"' in warning
    rubric["applicability"] = {"onlyWhenMetadata": {"scenario": ["none of them", "refund"]}}
    assert not prepared(tmp_path, dataset=cases, rubrics=[rubric]).warnings


def test_a_selection_by_metadata_that_no_case_has_says_what_there_is(tmp_path: Path) -> None:
    cases = [{**case(n), "metadata": {"split": f"s{n}"}} for n in range(9)]
    (warning,) = prepared(tmp_path, dataset=cases, dataset_settings={"where": {"split": "x"}}).warnings
    assert 'dataset.where.split=x: no case has that value; there are "s0", "s1", "s2", "s3", "s4" and 4 more' in warning
    (warning,) = prepared(tmp_path, dataset=cases, dataset_settings={"where": {"splt": "s1"}}).warnings
    assert "dataset.where.splt=s1: no case has that key; did you mean split? the keys there are split" in warning


def test_an_address_for_a_judge_that_asks_nobody_is_refused() -> None:
    settings = JudgeSettings.model_validate({"name": "offline", "gateway": "offline", "base_url": "http://127.0.0.1:1"})
    for refused in (lambda: make_judge(settings, {}), lambda: judge_identity(settings, {})):
        with pytest.raises(ConfigError, match="judge=offline asks nobody; say who is there: judge=local"):
            refused()
