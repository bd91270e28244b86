"""Rules between fields, told together with faults of single fields as far as what they look at is sound."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from jeval.metric import Metric
from jeval.rubric import KINDS, Params, Rubric, RubricThresholds
from jeval.rules import Broken, Ruled


class Span(Ruled):
    first: int
    last: int = 3

    @classmethod
    def broken(cls, given: Any) -> Iterator[Broken]:
        if given.first is not None and given.first > given.last:
            yield ("first", "last"), "ends before it begins"
        if given.last == 13:
            yield ("last",), "ends at 13"


def faults(model: type[Ruled], data: Any) -> list[tuple[str, str]]:
    """(place, what is wrong) of each fault, in order."""
    with pytest.raises(ValidationError) as error:
        model.model_validate(data)
    return [(".".join(map(str, one["loc"])), one["msg"]) for one in error.value.errors()]


def rules(model: type[Ruled], data: Any) -> list[str]:
    return [text.removeprefix("Value error, ") for _, text in faults(model, data) if text.startswith("Value error")]


def test_all_broken_rules_are_told() -> None:
    assert rules(Span, {"first": 20, "last": 13}) == ["ends before it begins", "ends at 13"]


def test_a_rule_is_told_beside_a_fault_of_a_field_it_does_not_look_at() -> None:
    found = faults(Span, {"first": "x", "last": 13})
    assert [place for place, _ in found] == ["first", ""] and found[1][1] == "Value error, ends at 13"


def test_a_rule_about_a_faulty_or_missing_field_is_not_told() -> None:
    assert rules(Span, {"first": 5, "last": "x"}) == []
    assert rules(Span, {}) == []
    assert rules(Span, {"first": 20, "lst": 30}) == ["ends before it begins"]


def test_what_keeps_the_rules_is_made() -> None:
    assert Span(first=1) == Span.model_validate({"first": 1, "last": 3})


RUBRIC: dict[str, Any] = {"id": "r", "version": "1", "kind": "policy-compliance"}


def test_a_missing_criterion_is_told_beside_a_faulty_version() -> None:
    assert rules(Rubric, {**RUBRIC, "version": 1}) == ["kind policy-compliance needs a criterion"]


def test_all_that_a_kind_needs_is_told_at_once() -> None:
    assert rules(Rubric, {**RUBRIC, "kind": "tool-claim", "severity": "high"}) == [
        "kind tool-claim needs params.toolName",
        "kind tool-claim needs params.action",
    ]


def test_what_is_misspelt_is_not_told_to_be_missing_and_what_is_missing_beside_it_is() -> None:
    given = {**RUBRIC, "kind": "tool-claim", "params": {"toolname": "t", "readers": 7}}
    assert rules(Rubric, given) == ["kind tool-claim needs params.action"]
    assert rules(Rubric, {**RUBRIC, "criterium": "It is so."}) == []


def test_a_key_that_is_like_no_other_hides_no_rule() -> None:
    assert rules(Rubric, {**RUBRIC, "zzz": 1}) == ["kind policy-compliance needs a criterion"]
    assert "must exceed 1" in rules(RubricThresholds, {"pass": 0.2, "fail": 0.2, "zzz": 1})[0]


def test_a_metric_about_nothing_is_told_beside_its_other_faults() -> None:
    given = {"id": "m", "version": 2, "questions": [{"noul": "So?"}]}
    assert "it has neither" in rules(Metric, given)[0]
    assert rules(Metric, {**given, "fields": ["nothing"]}) == []
    assert "it has both" in rules(Metric, {**given, "fields": "all", "turns": ["role"]})[0]


@settings(deadline=None)
@given(
    kind=st.sampled_from([*KINDS, "x", None]),
    params=st.dictionaries(st.sampled_from([*Params.model_fields, "zz"]), st.sampled_from([1, 2, "x", "fail", None])),
    more=st.dictionaries(st.sampled_from(["criterion", "thresholds", "outcomes"]), st.sampled_from([0, "x", {}, []])),
)
def test_a_faulty_version_beside_them_hides_no_fault_and_adds_none(kind: Any, params: Any, more: Any) -> None:
    body = {**RUBRIC, "kind": kind, "params": params, **more}
    alone: list[tuple[str, str]] = []
    try:
        Rubric.model_validate(body)
    except ValidationError:
        alone = faults(Rubric, body)
    beside = faults(Rubric, {**body, "version": 1})
    assert [one for one in beside if one[0] != "version"] == alone
