"""Settings: ranges and types are checked, and the hash of a run knows what can change a check."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.app.settings import RunSettings, json_text, settings_of
from jeval.errors import ConfigError


def config(**more: Any) -> dict[str, Any]:
    """A whole configuration; keys like `judge__repeat` replace one value."""
    found: dict[str, Any] = {
        "dataset": {"name": "clinic", "path": "bundled:datasets/clinic.jsonl"},
        "rubrics": {"name": "clinic", "path": "bundled:rubrics/clinic.yaml"},
        "metrics": {"name": "none", "path": None},
        "thresholds": {"name": "default", "pass": 0.75, "fail": 0.5},
        "judge": {"name": "offline", "gateway": "offline"},
        "gate": {"name": "strict"},
    }
    for key, value in more.items():
        group, _, name = key.partition("__")
        if name:
            found[group] = {**found[group], name: value}
        else:
            found[group] = value
    return found


def refusal(**more: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        settings_of(config(**more))
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("key", "value", "remedy"),
    [
        ("thresholds__pass", 1.5, "at most 1"),
        ("thresholds__pass", -0.1, "at least 0"),
        ("thresholds__pass", "0.8x", "number"),
        ("thresholds__fail", None, "number"),
        ("thresholds__fail", True, "number"),
        ("thresholds__pass", float("nan"), "number"),
        ("dataset__limit", -1, "at least 0"),
        ("dataset__limit", 1.5, "whole number"),
        ("dataset__limit", True, "whole number"),
        ("dataset__sample", "ten", "whole number"),
        ("dataset__seed", False, "whole number"),
        ("dataset__where", "split", "{"),
        ("judge__concurrency", 0, "at least 1"),
        ("judge__concurrency", True, "whole number"),
        ("judge__timeout_s", 0, "more than 0"),
        ("judge__timeout_s", float("inf"), "number"),
        ("judge__max_attempts", 0, "at least 1"),
        ("judge__max_usd", -1, "at least 0"),
        ("judge__max_usd", float("nan"), "number"),
        ("judge__repeat", 0, "at least 1"),
        ("judge__repeat", 2.5, "whole number"),
        ("judge__max_state_tokens", 10, "at least 500"),
        ("judge__reuse", "sometimes", "'always', 'never' or 'only'"),
        ("gate__max_review_rate", 30, "at most 1"),
        ("gate__min_scores", {"m": 1.2}, "at most 1"),
        ("gate__max_failures", -1, "at least 0"),
        ("tags", ["x"], "{"),
    ],
)
def test_a_value_out_of_range_is_refused_with_its_name_its_value_and_the_remedy(
    key: str, value: Any, remedy: str
) -> None:
    text = refusal(**{key: value})
    assert text.startswith(key.replace("__", "."))
    assert remedy in text


@pytest.mark.parametrize(("pass_", "fail"), [(0.5, 0.5), (0.3, 0.6), (0, 0), (1, 0)])
def test_thresholds_that_could_fire_together_are_refused(pass_: float, fail: float) -> None:
    text = refusal(thresholds={"name": "x", "pass": pass_, "fail": fail})
    assert f"pass {pass_:g} + fail {fail:g} must exceed 1" in text


@given(st.integers(0, 100), st.integers(0, 100))
def test_a_profile_is_accepted_exactly_where_its_two_rules_exclude_each_other(a: int, b: int) -> None:
    profile = {"name": "x", "pass": a / 100, "fail": b / 100}
    if a / 100 + b / 100 > 1:
        found = settings_of(config(thresholds=profile)).thresholds
        assert (found.pass_, found.fail) == (a / 100, b / 100)
    else:
        refusal(thresholds=profile)


@pytest.mark.parametrize("group", ["dataset", "rubrics", "metrics", "thresholds", "judge", "gate"])
@pytest.mark.parametrize("value", [None, [], ["a", "b"], "x", 3])
def test_a_group_that_is_none_is_refused_by_name(group: str, value: Any) -> None:
    text = refusal(**{group: value})
    assert text.startswith(group) and f"{group}=NAME" in text


def test_an_unknown_setting_names_the_nearest() -> None:
    assert "did you mean base_url?" in refusal(judge__base_ulr="x")
    assert "did you mean tags?" in refusal(tgas={})


def test_a_fault_says_which_file_its_value_comes_from_where_it_comes_from_one() -> None:
    with pytest.raises(ConfigError, match=r"^thresholds\.pass=1\.5 \(from thresholds\.pass's file\): is too large"):
        settings_of(config(thresholds__pass=1.5), lambda field: f"{field}'s file")


def test_several_faults_are_counted() -> None:
    assert "(and 1 more)" in refusal(judge__repeat=0, judge__concurrency=0)


@pytest.mark.parametrize(("name", "kept"), [(123, "123"), ("a b", "a b"), ("", ""), (None, None)])
def test_a_name_is_a_text_whatever_it_looks_like(name: Any, kept: Any) -> None:
    assert settings_of(config(name=name)).name == kept


def test_a_threshold_of_zero_is_zero() -> None:
    found = settings_of(config(thresholds={"name": "x", "pass": 1, "fail": 0.0001})).thresholds
    assert (found.pass_, found.fail) == (1, 0.0001)


def sha(settings: RunSettings, model: str = "m") -> str:
    return settings.sha256({"dataset": "d", "rubrics": {}, "metrics": {}}, "g", model)


def test_the_hash_of_a_run_ignores_names_places_and_speed() -> None:
    plain = sha(settings_of(config()))
    for more in (
        {"name": "x"},
        {"tags": {"a": 1}},
        {"store": "other.db"},
        {"dataset__path": "elsewhere.jsonl"},
        {"judge__concurrency": 3},
        {"judge__max_usd": 1.0},
        {"judge__key_env": "KEY"},
        {"thresholds__name": "mine"},
        {"gate__max_failures": 3},
    ):
        assert sha(settings_of(config(**more))) == plain, more


def test_the_hash_of_a_run_knows_all_that_can_change_a_check() -> None:
    settings = settings_of(config())
    found = {
        sha(settings),
        sha(settings, "another model"),
        settings.sha256({"dataset": "other", "rubrics": {}, "metrics": {}}, "g", "m"),
        settings.sha256({"dataset": "d", "rubrics": {}, "metrics": {}}, "other", "m"),
        sha(settings_of(config(thresholds__pass=0.8))),
        sha(settings_of(config(judge__repeat=2))),
        sha(settings_of(config(judge__max_state_tokens=900))),
    }
    assert len(found) == 7


def test_a_saved_configuration_is_whole_but_for_the_store() -> None:
    saved = settings_of(config(store="x.db", tags={"a": [1, None]})).saved({"dataset": "d"})
    assert "store" not in saved and saved["fingerprint"] == {"dataset": "d"}
    assert saved["tags"] == {"a": [1, None]} and saved["thresholds"]["pass"] == 0.75
    assert settings_of(saved).saved({"dataset": "d"}) == saved


def test_json_for_people_keeps_their_letters_and_the_order_of_keys() -> None:
    assert json_text({"b": "é", "a": None}) == '{"b": "é", "a": null}'
