"""The kind that asks no judge: every value of the response must stand in the evidence."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.case import Case
from jeval.kinds.grounded_values import GroundedValues
from jeval.rubric import Rubric, Thresholds
from jeval.ruling import Verdict

KIND = GroundedValues(Rubric(id="values", version="1", kind="grounded-values"))
DATASETS = Path(__file__).parent.parent / "datasets"


def verdict(output: str, input: str = "When, and how much?", **evidence: Any) -> Verdict:
    planned = KIND.plan(Case.model_validate({"id": "c", "input": input, "output": output, **evidence}))
    assert isinstance(planned, Verdict)
    return planned


def context(*texts: str) -> list[dict[str, str]]:
    return [{"id": f"k{i}", "content": text} for i, text in enumerate(texts)]


def event(**fields: Any) -> list[dict[str, Any]]:
    return [{"id": "t1", "name": "look_up", "status": "success", **fields}]


def test_a_response_whose_values_all_occur_passes() -> None:
    found = verdict("It costs €12.50 and takes 1 day.", context=context("Price: 12.50 EUR.", "Ready in 24 hours."))
    assert found == (
        "pass",
        "grounded",
        "values-grounded",
        "all 2 values in the response occur in the evidence",
    )


def test_a_missing_value_fails_and_is_named_as_written() -> None:
    found = verdict("It costs €12.50 and takes 2 days.", context=context("Price: 12.50 EUR. Ready in 24 hours."))
    assert found[:3] == ("fail", "ungrounded", "value-missing")
    assert found.reason == "1 of 2 values occurs nowhere in the evidence: 2 days"


def test_at_most_five_missing_values_are_named() -> None:
    found = verdict("€1, €2, €3, €4, €5, €6, €7.", context=context("Free of charge."))
    assert found.reason.endswith("nowhere in the evidence: €1, €2, €3, €4, €5, … and 2 more")
    assert found.reason.startswith("7 of 7 values")


def test_a_value_named_twice_counts_once() -> None:
    assert "1 of 1 value " in verdict("€9, I said €9.", policy="Be polite.").reason


def test_a_response_without_values_is_skipped() -> None:
    assert verdict("Gladly!", context=context("€5"))[:3] == ("skipped", None, "no-values")


def test_values_with_no_evidence_at_all_are_for_review() -> None:
    assert verdict("It costs €5.")[:3] == ("review", None, "missing-evidence")
    assert verdict("It costs €5.", input="Is it €5?", context=[])[:3] == ("review", None, "missing-evidence")


def test_an_empty_tool_log_is_evidence() -> None:
    assert verdict("It costs €5.", toolEvents=[]).status == "fail"


@pytest.mark.parametrize(
    "evidence",
    [
        {"context": context("A ticket is €5.")},
        {"context": [{"id": "k", "title": "Tickets, €5", "content": "See there."}]},
        {"context": context('{"price": 5}')},
        {"policy": "Charge 5 EUR."},
        {"toolEvents": event(input={"price": "€5"})},
        {"toolEvents": event(output={"items": [{"price": 5}]})},
        {"toolEvents": event(output='{"price": 5.0}')},
        {"toolEvents": event(error="only €5 left")},
        {"toolEvents": [], "input": "Is it 5 euros?"},
    ],
)
def test_a_value_may_stand_in_any_evidence(evidence: dict[str, Any]) -> None:
    assert verdict("It costs €5.", **evidence).status == "pass"


def test_expected_metadata_and_earlier_messages_are_no_evidence() -> None:
    found = verdict(
        "It costs €5.",
        policy="Be polite.",
        metadata={"price": "€5"},
        messages=[{"id": "m", "role": "assistant", "content": "It is €5."}],
    )
    assert found.status == "fail"


def test_a_date_and_time_from_a_tool_ground_the_answer_in_words() -> None:
    log = event(output={"slot": "2026-03-12T14:00:00Z", "minutes": 45})
    assert verdict("Thursday, March 12th at 2 p.m., for 45 minutes.", toolEvents=log).status == "pass"
    assert verdict("Thursday, March 12th at 3 p.m., for 45 minutes.", toolEvents=log).status == "fail"


def test_a_range_is_named_whole_where_one_end_is_missing() -> None:
    found = verdict("Allow 3 to 5 working days.", policy="Refunds take 5 working days.")
    assert found.reason == "1 of 2 values occurs nowhere in the evidence: 3 to 5 working days"


def test_nothing_is_ever_left_to_decide() -> None:
    with pytest.raises(TypeError):
        KIND.decide(None, {}, Thresholds())


@given(st.text(max_size=200), st.text(max_size=200))
def test_every_case_is_settled_with_a_reason_on_one_line(output: str, passage: str) -> None:
    found = verdict(output, context=context(passage))
    assert found.status in ("pass", "fail", "skipped")
    assert len(found.reason.splitlines()) == 1


@given(st.text(alphabet="€$%0123456789:.,- Maypmdays", max_size=80))
def test_a_response_that_repeats_its_evidence_never_fails(text: str) -> None:
    assert verdict(text, context=context(text)).status in ("pass", "skipped")


@pytest.mark.parametrize("name", ["clinic", "manual", "shop"])
def test_the_bundled_labels_agree(name: str) -> None:
    for line in (DATASETS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        case = Case.model_validate(json.loads(line))
        labels = [label for rubric, label in (case.expected or {}).items() if rubric.endswith("-values")]
        if labels:
            planned = KIND.plan(case)
            assert isinstance(planned, Verdict)
            assert (case.id, planned.status) == (case.id, labels[0].status)
