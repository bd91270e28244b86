"""Labels of one check by several people and sources, and what they come to."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from jeval.case import Label
from jeval.confusion import LABELS
from jeval.label import SOURCES, CheckLabel, labels_sha256, settle


def label(expected: str, source: str = "human", reviewer: str | None = None, case: str = "c1") -> CheckLabel:
    body = {"caseId": case, "rubricId": "r", "expected": expected, "source": source, "reviewer": reviewer}
    return CheckLabel.model_validate(body)


labels = st.lists(
    st.builds(label, st.sampled_from(LABELS), st.sampled_from(SOURCES), st.sampled_from([None, "ann", "bob"])),
    min_size=1,
    max_size=6,
)


def test_people_go_before_what_was_brought_along_and_that_before_what_was_made_up() -> None:
    found = settle([label("pass", "synthetic"), label("review", "imported"), label("fail")])
    assert found["c1", "r"].label == label("fail")
    found = settle([label("pass", "synthetic"), label("review", "imported")])
    assert found["c1", "r"].label == label("review", "imported")


def test_where_two_people_disagree_nobody_is_right() -> None:
    ann, bob = label("pass", reviewer="ann"), label("fail", reviewer="bob")
    found = settle([ann, bob, label("pass", "synthetic")])["c1", "r"]
    assert found.label is None
    assert found.given == (ann, bob)


def test_a_disagreement_with_a_lesser_source_is_none() -> None:
    assert settle([label("pass", reviewer="ann"), label("fail", "imported")])["c1", "r"].label is not None


@given(labels, st.integers(0, 99))
def test_the_order_of_labels_changes_no_verdict(given_labels: list[CheckLabel], seed: int) -> None:
    mixed = given_labels[:]
    random.Random(seed).shuffle(mixed)
    one, other = settle(given_labels)["c1", "r"], settle(mixed)["c1", "r"]
    assert (one.label and one.label.expected) == (other.label and other.label.expected)


@given(labels)
def test_only_the_best_source_counts(given_labels: list[CheckLabel]) -> None:
    found = settle(given_labels)["c1", "r"]
    best = min(SOURCES.index(one.source) for one in given_labels)
    assert {one.source for one in found.given} == {SOURCES[best]}
    assert (found.label is None) == (len({one.expected for one in found.given}) > 1)


def test_checks_come_in_the_order_they_are_met() -> None:
    assert list(settle([label("pass", case="c2"), label("pass", case="c1")])) == [("c2", "r"), ("c1", "r")]


def test_a_cases_own_label_is_one_of_these() -> None:
    own = Label(status="fail", source="synthetic", reviewer="ann", note="so")
    found = CheckLabel.of("c1", "r", own)
    assert (found.check, found.expected, found.source, found.reviewer, found.note) == (
        ("c1", "r"), "fail", "synthetic", "ann", "so",
    )  # fmt: skip


def test_a_label_may_say_what_a_cases_own_may_say() -> None:
    schema = Label.model_json_schema()["properties"]
    ours = CheckLabel.model_json_schema()["properties"]
    assert ours["expected"]["enum"] == schema["status"]["enum"] == list(LABELS)
    assert ours["source"]["enum"] == schema["source"]["enum"]
    assert set(ours["source"]["enum"]) == set(SOURCES)


@pytest.mark.parametrize("body", [{"expected": "error"}, {"source": "judge"}, {"caseId": "a b"}, {"labelledAt": "x"}])
def test_anything_else_is_refused(body: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        CheckLabel.model_validate({"caseId": "c1", "rubricId": "r", "expected": "pass", **body})


def test_the_hash_is_of_what_they_say_and_of_nothing_else() -> None:
    one = labels_sha256({("c1", "r"): "pass", ("c2", "r"): "fail"})
    assert one == labels_sha256({("c2", "r"): "fail", ("c1", "r"): "pass"})
    assert one != labels_sha256({("c1", "r"): "pass", ("c2", "r"): "pass"})
    assert len(one) == 64
