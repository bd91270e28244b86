"""Chat messages as cases: policy, turns, tool events paired with results, the answer and what it answers."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.case import Case
from jeval.imports.chat import fits, read
from jeval.imports.draft import Draft, Options, Unfit, plain_id

SYSTEM = {"role": "system", "content": "Be brief."}
ASK = {"role": "user", "content": "Where is my parcel?"}
ANSWER = {"role": "assistant", "content": "At the depot."}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "track", "arguments": '{"id": 7}'}}],
}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": '{"place": "depot"}'}


def draft(record: Any, **options: Any) -> Draft:
    [found] = read(record, Options(**options))
    return found


def case(record: Any, **options: Any) -> Case:
    found = draft(record, **options)
    return Case.model_validate({**found.body, "id": found.settled_id("chat")})


def chat(*messages: Any, **others: Any) -> dict[str, Any]:
    return {"messages": list(messages), **others}


def test_the_last_answer_is_the_output_and_the_question_before_it_the_input() -> None:
    found = case(chat({"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}, ASK, ANSWER))
    assert (found.input, found.output) == ("Where is my parcel?", "At the depot.")
    assert [(m.role, m.content) for m in found.messages or ()] == [
        ("user", "Hello"),
        ("assistant", "Hi"),
        ("user", "Where is my parcel?"),
        ("assistant", "At the depot."),
    ]


def test_the_system_message_is_the_policy() -> None:
    found = case(chat(SYSTEM, {"role": "developer", "content": "Be kind."}, ASK, ANSWER))
    assert found.policy == "Be brief.\n\nBe kind."
    assert all(m.role != "system" for m in found.messages or ())


def test_a_tool_call_is_paired_with_its_result() -> None:
    found = case(chat(ASK, CALL, RESULT, ANSWER))
    [event] = found.tool_events or ()
    assert (event.id, event.name, event.status) == ("call_1", "track", "success")
    assert (event.input, event.output) == ({"id": 7}, {"place": "depot"})


def test_calls_whose_results_come_in_another_order_keep_the_order_of_the_calls() -> None:
    two = {
        "role": "assistant",
        "tool_calls": [
            {"id": "a", "function": {"name": "one", "arguments": "{}"}},
            {"id": "b", "function": {"name": "two", "arguments": "not json"}},
        ],
    }
    results = [{"role": "tool", "tool_call_id": i, "content": i.upper()} for i in ("b", "a")]
    events = case(chat(ASK, two, *results, ANSWER)).tool_events or ()
    assert [(e.id, e.name, e.input, e.output) for e in events] == [
        ("a", "one", {}, "A"),
        ("b", "two", "not json", "B"),
    ]


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("Error: no such flight", "failure"),
        ('{"error": "late"}', "failure"),
        ('{"error": null}', "success"),
        ("No error was found", "success"),
        ("[]", "success"),
        ("Transfer failed", "success"),
        ("", "success"),
    ],
)
def test_a_result_that_reads_like_an_error_is_a_failure_and_a_no_is_none(content: str, status: str) -> None:
    found = draft(chat(ASK, CALL, {**RESULT, "content": content}, ANSWER))
    [event] = found.body["toolEvents"]
    assert event["status"] == status
    assert any(note.startswith(f"tool {status}") for note in found.notes)


def test_what_the_trace_says_about_success_goes_before_how_it_reads() -> None:
    said = {**RESULT, "content": "Error-free", "is_error": False}
    assert case(chat(ASK, CALL, said, ANSWER)).tool_events[0].status == "success"  # type: ignore[index]
    said = {**RESULT, "content": "fine", "status": "error"}
    found = draft(chat(ASK, CALL, said, ANSWER))
    assert found.body["toolEvents"][0] | {"status": "failure", "error": "fine"} == found.body["toolEvents"][0]
    assert not found.notes


def test_a_pattern_of_ones_own_tells_failures() -> None:
    record = chat(ASK, CALL, {**RESULT, "content": "DENIED by desk"}, ANSWER)
    assert case(record, failure=re.compile("^DENIED")).tool_events[0].status == "failure"  # type: ignore[index]


def test_a_call_without_a_result_is_no_event_but_is_not_lost() -> None:
    found = draft(chat(ASK, CALL, ANSWER))
    assert found.body["toolEvents"] == []
    assert found.body["metadata"]["callsWithoutResult"] == [{"id": "call_1", "name": "track", "input": {"id": 7}}]
    assert "tool call without a result left out" in found.notes


def test_no_calls_means_no_log_unless_it_is_known_that_they_were_recorded() -> None:
    assert case(chat(ASK, ANSWER)).tool_events is None
    assert case(chat(ASK, ANSWER), recorded=True).tool_events == ()
    offered = chat(ASK, ANSWER, tools=[{"type": "function", "function": {"name": "track", "parameters": {}}}])
    found = case(offered)
    assert found.tool_events == () and (found.metadata or {})["tools"] == ["track"]


def test_other_keys_become_metadata_and_never_evidence() -> None:
    found = case(chat(ASK, ANSWER, id="c-1", reward=0.0, metadata={"split": "holdout"}))
    assert found.id == "c-1" and found.metadata == {"split": "holdout", "reward": 0.0}


def test_a_conversation_that_goes_on_after_the_answer_is_kept_whole() -> None:
    found = case(chat(ASK, ANSWER, {"role": "user", "content": "Thanks!"}, CALL, RESULT))
    assert found.output == "At the depot." and found.input == "Where is my parcel?"
    assert len(found.messages or ()) == 3 and len(found.tool_events or ()) == 1


def test_each_answer_can_be_a_case_of_its_own_that_ends_there() -> None:
    record = chat(
        ASK,
        CALL,
        RESULT,
        ANSWER,
        {"role": "user", "content": "And when?"},
        {"role": "assistant", "content": "Today."},
        id="c",
    )
    first, second = read(record, Options(answers="each"))
    assert (first.body["id"], first.body["output"], len(first.body["messages"])) == (
        "c:1",
        "At the depot.",
        2,
    )
    assert (second.body["id"], second.body["input"], second.body["output"]) == ("c:2", "And when?", "Today.")
    assert len(second.body["messages"]) == 4 and len(second.body["toolEvents"]) == 1


def test_a_full_transcript_keeps_system_and_tool_messages_in_their_order() -> None:
    found = case(chat(SYSTEM, ASK, CALL, RESULT, ANSWER), transcript="full")
    assert [(m.role, m.content) for m in found.messages or ()] == [
        ("system", "Be brief."),
        ("user", "Where is my parcel?"),
        ("assistant", '[calls track {"id": 7}]'),
        ("tool", '{"place": "depot"}'),
        ("assistant", "At the depot."),
    ]


def test_content_in_parts_is_one_text_and_what_is_no_text_leaves_a_mark() -> None:
    parts = [{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {"url": "x"}}]
    found = draft(chat({"role": "user", "content": parts}, ANSWER))
    assert found.body["input"] == "Look:\n[image_url left out]"
    assert found.notes == {"a part of type image_url left out, for a case holds text": 1}


def test_tool_use_blocks_are_calls_and_results_too() -> None:
    use = {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "u1", "name": "track", "input": {"id": 7}},
        ],
    }
    back = {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "u1",
                "content": [{"type": "text", "text": "lost"}],
                "is_error": True,
            },
        ],
    }
    found = case(chat(ASK, use, back, ANSWER))
    [event] = found.tool_events or ()
    assert (event.id, event.status, event.error, event.input) == ("u1", "failure", "lost", {"id": 7})
    assert [m.content for m in found.messages or ()] == ["Where is my parcel?", "I look.", "At the depot."]


def test_the_older_function_calls_are_paired_by_their_name() -> None:
    call = {"role": "assistant", "content": None, "function_call": {"name": "track", "arguments": "{}"}}
    result = {"role": "function", "name": "track", "content": "depot"}
    [event] = case(chat(ASK, call, result, ANSWER)).tool_events or ()
    assert (event.name, event.output, event.id) == ("track", "depot", "t1")


def test_a_logged_request_and_its_response_are_one_conversation() -> None:
    logged = {"request": {"messages": [ASK]}, "response": {"choices": [{"message": ANSWER}]}}
    assert case(logged).output == "At the depot."
    assert case([ASK, ANSWER]).output == "At the depot."


def test_a_refusal_is_an_answer() -> None:
    assert case(chat(ASK, {"role": "assistant", "content": None, "refusal": "No."})).output == "No."


@pytest.mark.parametrize(
    ("record", "field", "message"),
    [
        ({"text": "x"}, "messages", "holds no list of messages"),
        (chat(ASK), "messages", "no message of the assistant holds a text"),
        (chat(ASK, {"role": "narrator", "content": "x"}), "messages[1].role", "is no role"),
        (chat(ASK, {"role": "assistant", "content": 7}), "messages[1].content", "is neither text nor a list"),
    ],
)
def test_what_is_no_conversation_says_what_and_where(record: Any, field: str, message: str) -> None:
    with pytest.raises(Unfit) as raised:
        list(read(record, Options()))
    assert raised.value.field == field and message in raised.value.message


def test_a_chat_is_told_from_other_records() -> None:
    assert fits(chat(ASK)) and fits([ASK]) and not fits({"input": "x"}) and not fits("x") and not fits([])


words = st.text(min_size=1, max_size=20)
messages = st.lists(
    st.one_of(
        st.builds(lambda c: {"role": "user", "content": c}, words),
        st.builds(lambda c: {"role": "assistant", "content": c}, words),
        st.builds(lambda c: {"role": "system", "content": c}, words),
    ),
    max_size=8,
)


@given(messages)
def test_no_word_of_a_conversation_is_lost(said: list[dict[str, str]]) -> None:
    if not any(m["role"] == "assistant" and m["content"].strip() for m in said):
        return
    found = case(chat(*said))
    kept = [m.content for m in found.messages or ()]
    assert kept == [m["content"] for m in said if m["role"] != "system"]
    policy = [m["content"] for m in said if m["role"] == "system"]
    assert found.policy == ("\n\n".join(policy) if policy else None)


@given(st.text(max_size=300))
def test_an_id_made_of_any_text_is_a_valid_one_or_empty(text: str) -> None:
    made = plain_id(text)
    assert made == "" or Case(id=made, input="", output="").id == made


def test_a_record_without_an_id_gets_one_from_its_content_always_the_same() -> None:
    one, other = draft(chat(ASK, ANSWER)), draft(chat(ASK, {**ANSWER, "content": "Gone."}))
    assert one.settled_id("chat") == draft(chat(ASK, ANSWER)).settled_id("chat") != other.settled_id("chat")
    assert re.fullmatch(r"chat-[0-9a-f]{12}", one.settled_id("chat"))
    assert json.dumps(one.body)
