"""What a case may hold: every field, its caps, its ids, and both ways to write its keys."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from jeval.case import POLICY_CAP, TEXT_CAP, Case, ContextItem, Label, Message, ToolEvent

LEAST: dict[str, Any] = {"id": "case-17", "input": "Book me for Thursday.", "output": "All set."}

FULL: dict[str, Any] = {
    **LEAST,
    "messages": [{"id": "m1", "role": "user", "content": "Book me for Thursday."}],
    "context": [{"id": "c1", "content": "Open on Thursdays.", "title": "Hours", "source": "site"}],
    "policy": "Confirm only after book_slot succeeded.",
    "toolEvents": [
        {
            "id": "t1",
            "name": "book_slot",
            "status": "failure",
            "input": {"day": 4},
            "output": None,
            "error": "FULL",
        }
    ],
    "metadata": {"split": "tuning"},
    "expected": {"booking-claim": {"status": "fail", "source": "synthetic"}},
    "scenario": "A booking",
    "expectedOutcome": "A slot is booked",
    "chatbotRole": "Receptionist",
}

_SNAKE = {"toolEvents": "tool_events", "expectedOutcome": "expected_outcome", "chatbotRole": "chatbot_role"}


def faults(**changes: Any) -> list[tuple[str, str]]:
    """(dotted place, type) of every fault in a case with these changes."""
    with pytest.raises(ValidationError) as caught:
        Case.model_validate({**FULL, **changes})
    return [(".".join(map(str, fault["loc"])), fault["type"]) for fault in caught.value.errors()]


def test_a_case_needs_no_more_than_an_id_an_input_and_an_output() -> None:
    case = Case.model_validate(LEAST)
    assert (case.id, case.input, case.output) == ("case-17", "Book me for Thursday.", "All set.")
    absent = ("messages", "context", "policy", "tool_events", "metadata", "expected", "scenario")
    assert all(getattr(case, name) is None for name in absent)


@pytest.mark.parametrize("name", ["id", "input", "output"])
def test_a_case_without_one_of_them_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="Field required"):
        Case.model_validate({key: value for key, value in LEAST.items() if key != name})


def test_every_field_of_a_case_is_read() -> None:
    case = Case.model_validate(FULL)
    assert case.messages == (Message(id="m1", role="user", content="Book me for Thursday."),)
    assert case.context == (ContextItem(id="c1", content="Open on Thursdays.", title="Hours", source="site"),)
    assert case.tool_events == (
        ToolEvent(id="t1", name="book_slot", status="failure", input={"day": 4}, output=None, error="FULL"),
    )
    assert case.expected == {"booking-claim": Label(status="fail", source="synthetic")}
    assert (case.policy, case.metadata) == (FULL["policy"], FULL["metadata"])
    assert (case.scenario, case.expected_outcome, case.chatbot_role) == (
        "A booking",
        "A slot is booked",
        "Receptionist",
    )


def test_camel_case_and_snake_case_are_the_same_case() -> None:
    assert Case.model_validate({_SNAKE.get(key, key): value for key, value in FULL.items()}) == (
        Case.model_validate(FULL)
    )


def test_a_case_is_written_in_camel_case_and_reads_back_as_itself() -> None:
    case = Case.model_validate(FULL)
    written = case.model_dump(by_alias=True, mode="json")
    assert {"toolEvents", "expectedOutcome", "chatbotRole"} <= set(written)
    assert Case.model_validate(written) == case


@pytest.mark.parametrize("name", ["tool_event", "toolevents", "reference", "Input"])
def test_an_unknown_key_is_an_error(name: str) -> None:
    assert faults(**{name: "x"}) == [(name, "extra_forbidden")]


def test_an_unknown_key_inside_an_item_is_an_error_too() -> None:
    event = {"id": "t1", "name": "book_slot", "status": "success", "result": "ok"}
    assert faults(toolEvents=[event]) == [("toolEvents.0.result", "extra_forbidden")]


@pytest.mark.parametrize("name", ["a", "7", "case-17", "A.b_c:d-e", "x" * 200])
def test_an_id_of_letters_digits_and_four_signs_is_taken(name: str) -> None:
    assert Case.model_validate({**LEAST, "id": name}).id == name


@pytest.mark.parametrize(
    "name", ["", "-a", ".a", "_a", ":a", "a b", "a/b", "a\n", "ä", "a\u200b", "x" * 201, 7, 0.7, True, None]
)
def test_any_other_id_is_refused(name: Any) -> None:
    assert [place for place, _ in faults(id=name)] == ["id"]


@pytest.mark.parametrize("name", ["input", "output", "policy", "scenario", "expectedOutcome", "chatbotRole"])
@pytest.mark.parametrize("value", [7, 1.5, True, ["x"], {"text": "x"}, b"x", "half \ud800"])
def test_what_is_no_text_is_never_made_one(name: str, value: Any) -> None:
    assert [place for place, _ in faults(**{name: value})] == [name]


@pytest.mark.parametrize(("name", "cap"), [("input", TEXT_CAP), ("output", TEXT_CAP), ("policy", POLICY_CAP)])
def test_a_text_may_be_as_long_as_its_cap_and_no_longer(name: str, cap: int) -> None:
    assert len(getattr(Case.model_validate({**FULL, name: "x" * cap}), name)) == cap
    assert faults(**{name: "x" * (cap + 1)}) == [(name, "string_too_long")]


def test_the_caps_are_200_000_characters_and_100_000_for_a_policy() -> None:
    assert (TEXT_CAP, POLICY_CAP) == (200_000, 100_000)


@pytest.mark.parametrize("name", ["messages", "context"])
def test_an_items_text_is_capped_like_any_other(name: str) -> None:
    item = {**FULL[name][0], "content": "x" * (TEXT_CAP + 1)}
    assert faults(**{name: [item]}) == [(f"{name}.0.content", "string_too_long")]


@pytest.mark.parametrize(("name", "cap"), [("messages", 500), ("toolEvents", 500), ("context", 200)])
def test_a_list_may_hold_as_many_items_as_its_cap_and_no_more(name: str, cap: int) -> None:
    items = [{**FULL[name][0], "id": f"i{number}"} for number in range(cap + 1)]
    kept = getattr(Case.model_validate({**FULL, name: items[:cap]}), _SNAKE.get(name, name))
    assert len(kept) == cap
    assert faults(**{name: items}) == [(name, "too_long")]


@pytest.mark.parametrize("name", ["messages", "context", "toolEvents"])
def test_two_items_of_one_list_cannot_share_an_id(name: str) -> None:
    item = FULL[name][0]
    with pytest.raises(ValidationError, match=f"the id '{item['id']}' occurs twice in this list"):
        Case.model_validate({**FULL, name: [item, item]})


@pytest.mark.parametrize("name", ["messages", "context", "toolEvents"])
def test_an_item_needs_an_id_that_is_text(name: str) -> None:
    item = FULL[name][0]
    for bad in ({**item, "id": 7}, {**item, "id": ""}, {key: item[key] for key in item if key != "id"}):
        assert [place for place, _ in faults(**{name: [bad]})] == [f"{name}.0.id"]


@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool"])
def test_a_message_is_of_one_of_four_roles(role: str) -> None:
    assert Message.model_validate({"id": "m", "role": role, "content": ""}).role == role


@pytest.mark.parametrize(
    ("name", "item", "place"),
    [
        ("messages", {"id": "m", "role": "developer", "content": ""}, "messages.0.role"),
        ("toolEvents", {"id": "t", "name": "n", "status": "ok"}, "toolEvents.0.status"),
        ("toolEvents", {"id": "t", "name": "n", "status": True}, "toolEvents.0.status"),
        ("toolEvents", {"id": "t", "name": "", "status": "success"}, "toolEvents.0.name"),
    ],
)
def test_a_role_or_a_status_beyond_those_there_are_is_refused(name: str, item: Any, place: str) -> None:
    assert [where for where, _ in faults(**{name: [item]})] == [place]


@pytest.mark.parametrize("value", [None, True, 0, 1.5, "text", [1, [2]], {"a": {"b": None}}])
def test_a_tools_input_output_and_error_are_any_json(value: Any) -> None:
    event = ToolEvent.model_validate(
        {"id": "t", "name": "n", "status": "success", "input": value, "output": value, "error": value}
    )
    assert (event.input, event.output, event.error) == (value, value, value)


def test_an_empty_tool_log_and_a_missing_one_are_two_things() -> None:
    assert Case.model_validate({**LEAST, "toolEvents": []}).tool_events == ()
    assert Case.model_validate(LEAST).tool_events is None


@pytest.mark.parametrize("status", ["pass", "fail", "review", "skipped"])
@pytest.mark.parametrize("source", ["synthetic", "human", "imported"])
def test_a_label_is_a_status_and_where_it_is_from(status: str, source: str) -> None:
    label = Label.model_validate({"status": status, "source": source, "reviewer": "ada", "note": "clear"})
    assert (label.status, label.source, label.reviewer, label.note) == (status, source, "ada", "clear")


@pytest.mark.parametrize("label", [{"status": "error"}, {"status": "ok"}, {}, {"status": "pass", "source": "model"}])
def test_a_label_of_any_other_status_or_source_is_refused(label: dict[str, Any]) -> None:
    assert all(place.startswith("expected.r.") for place, _ in faults(expected={"r": label}))


def test_every_fault_of_a_case_is_told_and_not_the_first_only() -> None:
    assert [place for place, _ in faults(id="a b", input=7, policy=[], colour="red")] == [
        "id",
        "input",
        "policy",
        "colour",
    ]


def test_a_case_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Case.model_validate(LEAST).output = "Something else."  # type: ignore[misc]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_no_text_is_altered_on_its_way_in(text: str) -> None:
    case = Case.model_validate({**LEAST, "input": text, "output": text, "policy": text})
    assert case.input == case.output == case.policy == text


def test_an_id_that_occurs_twice_is_told_beside_other_faults_of_its_list() -> None:
    items = [{"id": "m", "role": "usr", "content": "x"}, {"id": "m", "role": "user", "content": "y"}]
    with pytest.raises(ValidationError) as error:
        Case.model_validate({"id": "a", "input": "i", "output": "o", "messages": items})
    assert [one["loc"] for one in error.value.errors()] == [("messages", 0, "role"), ("messages",)]
    assert "the id 'm' occurs twice" in str(error.value)
