"""What the judge sees: the evidence under fixed names, and never a label or metadata."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.case import Case
from jeval.plan import Planner
from jeval.rubric import KINDS
from jeval.state import State, build_state, state_of
from tests.samples import REFUSED, SECRET_LABEL, SECRET_METADATA, case, params, rubric

ROOM = 96_000


def seen(about: Case) -> dict[str, Any]:
    """The state of a case as the judge reads it."""
    body = json.loads(build_state(about, ROOM).json)
    assert isinstance(body, dict)
    return body


def test_every_field_goes_by_the_name_the_questions_use() -> None:
    assert seen(case(toolEvents=[REFUSED])) == {
        "user_input": "Can I come on Friday at nine?",
        "assistant_response": "You are booked for Friday at nine. Bring your card.",
        "conversation": [
            {"id": "m1", "role": "user", "content": "Can I come on Friday at nine?"},
            {
                "id": "m2",
                "role": "assistant",
                "content": "You are booked for Friday at nine. Bring your card.",
            },
        ],
        "reference_material": [
            {"id": "c1", "title": "Visits", "source": "handbook", "content": "Patients bring their card."}
        ],
        "policy": "Confirm a visit only after book_slot succeeded. Page a nurse for chest pain.",
        "tool_events": [{"id": "t2", "name": "book_slot", "status": "failure", "error": "SLOT_TAKEN"}],
    }


def test_the_names_of_the_fields_shown_are_recorded_in_their_order() -> None:
    assert build_state(case(), ROOM).fields == (
        "user_input",
        "assistant_response",
        "conversation",
        "reference_material",
        "policy",
        "tool_events",
    )


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("messages", "conversation"),
        ("context", "reference_material"),
        ("policy", "policy"),
        ("toolEvents", "tool_events"),
    ],
)
def test_absent_evidence_is_absent_from_the_state(field: str, name: str) -> None:
    assert name not in seen(case(**{field: None}))
    assert set(seen(case(**{field: None}))) == set(seen(case())) - {name}


@pytest.mark.parametrize(
    ("field", "name"), [("messages", "conversation"), ("context", "reference_material"), ("policy", "policy")]
)
def test_empty_evidence_is_absent_too(field: str, name: str) -> None:
    assert name not in seen(case(**{field: "" if field == "policy" else []}))


def test_an_empty_tool_log_is_evidence_that_no_tool_was_called() -> None:
    assert seen(case(toolEvents=[]))["tool_events"] == []


def test_what_a_tool_did_not_give_is_absent_and_what_is_false_or_empty_is_not() -> None:
    event = {"id": "t", "name": "n", "status": "success", "input": False, "output": {}, "error": ""}
    assert seen(case(toolEvents=[event]))["tool_events"] == [event]
    bare = {"id": "t", "name": "n", "status": "success"}
    assert seen(case(toolEvents=[bare]))["tool_events"] == [bare]


def test_an_empty_response_is_shown_as_empty() -> None:
    assert seen(case(output=""))["assistant_response"] == ""


def test_a_label_and_metadata_never_reach_the_judge() -> None:
    about = case()
    kinds = [rubric(kind) for kind in KINDS] + [
        rubric("claim-support", id="sentences", params={"granularity": "sentence"}),
        rubric("policy-compliance", id="twice", params={"readers": 2}),
        rubric("custom", id="tuning-only", applicability={"onlyWhenMetadata": {"note": SECRET_METADATA}}),
        rubric("tool-claim", id="exact", params=params("tool-claim", successWhen={"path": "status", "equals": 1})),
    ]
    asks = Planner(kinds).plan(about).asks
    sent = "".join(ask.state.json + "".join(q.wire for q in ask.questions.values()) for ask in asks)
    assert len(asks) == 1
    assert len(asks[0].questions) == 9
    for secret in (SECRET_LABEL, SECRET_METADATA, "expected", "metadata", '"split"', "booking-claim"):
        assert secret not in sent, secret


def test_a_digested_state_holds_no_label_and_no_metadata_either() -> None:
    state = build_state(case(policy="x" * 50_000), 4_000)
    assert state.cut
    assert SECRET_LABEL not in state.json
    assert SECRET_METADATA not in state.json


def test_what_is_for_conversational_metrics_only_is_not_shown_to_rubrics() -> None:
    told = case(scenario="zq-scenario", expectedOutcome="zq-outcome", chatbotRole="zq-role")
    assert "zq-" not in build_state(told, ROOM).json
    assert build_state(told, ROOM) == build_state(case(), ROOM)


def test_the_case_id_is_not_shown_so_equal_evidence_is_one_state() -> None:
    one, other = case(id="a", metadata={"split": "holdout"}, expected=None), case(id="b")
    assert build_state(one, ROOM) == build_state(other, ROOM)


@pytest.mark.parametrize(
    "change",
    [
        {"input": "Another question?"},
        {"output": "Another answer."},
        {"policy": "Another policy."},
        {"context": [{"id": "c2", "content": "Patients bring their card."}]},
        {"toolEvents": []},
        {"toolEvents": None},
        {"messages": None},
    ],
)
def test_other_evidence_is_another_state(change: dict[str, Any]) -> None:
    assert build_state(case(**change), ROOM).sha256 != build_state(case(), ROOM).sha256


def test_the_hash_is_that_of_the_bytes_sent() -> None:
    state = build_state(case(output="Zürich 😀"), ROOM)
    assert state.sha256 == hashlib.sha256(state.json.encode()).hexdigest()


def test_keys_stand_in_the_order_written_and_are_never_sorted() -> None:
    assert list(seen(case()))[:2] == ["user_input", "assistant_response"]
    state = state_of({"turns": [], "test_case": {"b": 1, "a": 2}}, ROOM)
    assert state == State(
        '{"turns":[],"test_case":{"b":1,"a":2}}',
        hashlib.sha256(b'{"turns":[],"test_case":{"b":1,"a":2}}').hexdigest(),
        ("turns", "test_case"),
    )


def test_a_state_that_fits_is_not_cut_and_one_byte_less_room_cuts_it() -> None:
    about = case(policy="ü" * 3_000)
    size = len(build_state(about, ROOM).json.encode())
    assert build_state(about, size).cut == ()
    assert build_state(about, size - 1).cut == ("policy: 1,000 of 3,000 characters left out",)


def test_a_cut_state_is_another_state_and_says_what_was_cut() -> None:
    about = case(output="x" * 30_000)
    whole, cut = build_state(about, ROOM), build_state(about, 9_000)
    assert cut.sha256 != whole.sha256
    assert cut.fields == whole.fields
    assert len(cut.json.encode()) <= 9_000
    assert cut.cut == ("assistant_response: 25,000 of 30,000 characters left out",)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_reaches_the_judge_unaltered(text: str) -> None:
    body = seen(case(input=text, output=text))
    assert (body["user_input"], body["assistant_response"]) == (text, text)
