"""Messages in the forms in which recorders write them: the same conversation out of every one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.case import Case
from jeval.imports.chat import read
from jeval.imports.draft import Draft, Options
from jeval.imports.messages import message_list, message_of
from jeval.imports.transcript import steps

POLICY, ASK, ANSWER = "Be brief.", "Where is my parcel 7?", "It waits at the depot."
ARGUMENTS, RESULT = {"id": 7}, {"place": "depot"}


def lc(name: str, **kwargs: Any) -> dict[str, Any]:
    """A message as LangChain serialises it."""
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": kwargs}


FORMS: dict[str, list[Any]] = {
    "langchain": [
        {"type": "system", "content": POLICY},
        {"type": "human", "content": ASK},
        {"type": "ai", "content": "", "tool_calls": [{"id": "c1", "name": "track", "args": ARGUMENTS}]},
        {"type": "tool", "content": json.dumps(RESULT), "tool_call_id": "c1", "status": "success"},
        {"type": "ai", "content": ANSWER, "tool_calls": []},
    ],
    "langchain, serialised": [
        lc("SystemMessage", content=POLICY),
        lc("HumanMessage", content=ASK, type="human"),
        lc("AIMessageChunk", content="", tool_calls=[{"id": "c1", "name": "track", "args": ARGUMENTS}]),
        lc("ToolMessage", content=json.dumps(RESULT), tool_call_id="c1", status="success"),
        lc("AIMessage", content=ANSWER),
    ],
    "responses": [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": POLICY}]},
        {"role": "user", "content": [{"type": "input_text", "text": ASK}]},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "track", "arguments": '{"id": 7}'},
        {"type": "function_call_output", "call_id": "c1", "output": json.dumps(RESULT)},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]},
    ],
    "gemini": [
        {"role": "system", "parts": [{"text": POLICY}]},
        {"role": "user", "parts": [{"text": ASK}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "track", "args": ARGUMENTS}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "track", "response": RESULT}}]},
        {"role": "model", "parts": [{"text": ANSWER}]},
    ],
    "bedrock": [
        {"role": "system", "content": [{"text": POLICY}]},
        {"role": "user", "content": [{"text": ASK}]},
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "Look."}}},
                {"toolUse": {"toolUseId": "c1", "name": "track", "input": ARGUMENTS}},
            ],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "c1", "status": "success", "content": [{"json": RESULT}]}}],
        },
        {"role": "assistant", "content": [{"text": ANSWER}]},
    ],
    "anthropic": [
        {"role": "system", "content": POLICY},
        {"role": "user", "content": ASK},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Look."},
                {"type": "tool_use", "id": "c1", "name": "track", "input": ARGUMENTS},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": [{"type": "text", "text": json.dumps(RESULT)}],
                }
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
    ],
    "ai sdk": [
        {"role": "system", "content": POLICY},
        {"role": "user", "content": [{"type": "text", "text": ASK}]},
        {
            "role": "assistant",
            "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "track", "input": ARGUMENTS}],
        },
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "c1",
                    "toolName": "track",
                    "output": {"type": "json", "value": RESULT},
                }
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
    ],
}


def draft(messages: Any) -> Draft:
    [found] = read({"id": "c", "messages": messages}, Options())
    return found


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_conversation_its_policy_and_its_calls(form: str) -> None:
    found = draft(FORMS[form])
    case = Case.model_validate(found.body)
    assert (case.policy, case.input, case.output) == (POLICY, ASK, ANSWER)
    assert [(turn.role, turn.content) for turn in case.messages or ()] == [("user", ASK), ("assistant", ANSWER)]
    [event] = case.tool_events or ()
    assert (event.id, event.name, event.status, event.input, event.output) == (
        "c1",
        "track",
        "success",
        ARGUMENTS,
        RESULT,
    )


@pytest.mark.parametrize("form", ["responses", "bedrock", "anthropic"])
def test_what_a_model_thought_is_left_out_and_said_so(form: str) -> None:
    found = draft(FORMS[form])
    assert "Look." not in json.dumps(found.body)
    assert found.notes["what a model thought and did not say left out"] == 1


@pytest.mark.parametrize("wrapped", [
    FORMS["anthropic"],
    [FORMS["anthropic"]],
    {"messages": FORMS["anthropic"]},
    {"system": POLICY, "messages": FORMS["anthropic"][1:], "max_tokens": 5},
    json.dumps(FORMS["anthropic"]),
    json.dumps({"messages": FORMS["anthropic"]}),
    {"messages": json.dumps(FORMS["anthropic"])},
])  # fmt: skip
def test_a_list_of_messages_is_found_in_what_stands_around_it(wrapped: Any) -> None:
    assert message_list(wrapped) == FORMS["anthropic"]


@pytest.mark.parametrize("value", [
    None, "", "Where?", [], {}, [1], ["user"], [{"content": "x"}], [{"role": ""}], {"messages": []},
    {"messages": "x"}, [{"role": "user"}, 7], [{"type": "human"}], [{"lc": 1, "kwargs": {"content": "x"}}],
    [{"type": ["human"], "content": "x"}], [{"lc": 1, "id": [7], "kwargs": {}}],
])  # fmt: skip
def test_what_is_no_list_of_messages_is_none(value: Any) -> None:
    assert message_list(value) is None


def test_a_generation_holds_its_message() -> None:
    assert message_of({"text": "x", "message": lc("AIMessage", content="x")}) == {"content": "x", "role": "assistant"}


def test_a_call_that_stands_among_the_parts_and_beside_them_is_one_call() -> None:
    message = {
        "type": "ai",
        "content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "c1", "name": "t", "input": {}}],
        "tool_calls": [{"id": "c1", "name": "t", "args": {}}, {"id": "c2", "name": "t", "args": {}}],
    }
    found = list(steps([message_of(message)], Draft({})))
    assert [(step.kind, step.call_id) for step in found] == [("say", None), ("call", "c1"), ("call", "c2")]


def test_parts_that_were_written_as_json_in_a_text_are_parts() -> None:
    parts = [{"type": "text", "text": ASK}, {"type": "image_url", "image_url": {"url": "x"}}]
    found = draft([{"role": "user", "content": json.dumps(parts)}, {"role": "assistant", "content": ANSWER}])
    assert found.body["input"] == f"{ASK}\n[image_url left out]"


@pytest.mark.parametrize("text", ['[{"type": "car", "text": "x"}]', "[1, 2]", "[]", '{"type": "text"}', "[x"])
def test_json_that_a_user_wrote_stays_what_it_is(text: str) -> None:
    assert draft([{"role": "user", "content": text}, {"role": "assistant", "content": ANSWER}]).body["input"] == text


@pytest.mark.parametrize("result", [
    {"type": "tool_result", "tool_use_id": "c1", "content": "no route", "is_error": True},
    {"type": "tool-result", "toolCallId": "c1", "output": {"type": "error-text", "value": "no route"}},
    {"toolResult": {"toolUseId": "c1", "status": "error", "content": [{"text": "no route"}]}},
])  # fmt: skip
def test_an_error_that_a_form_has_a_sign_for_is_a_failed_call(result: dict[str, Any]) -> None:
    call = {"role": "assistant", "tool_calls": [{"id": "c1", "name": "t", "args": {}}]}
    found = draft([{"role": "user", "content": ASK}, call, {"role": "user", "content": [result]},
                   {"role": "assistant", "content": ANSWER}])  # fmt: skip
    [event] = found.body["toolEvents"]
    assert (event["status"], event["error"]) == ("failure", "no route")
    assert found.notes == {}


def test_what_was_said_as_sound_is_read_from_its_transcript() -> None:
    sound = {"type": "input_audio", "input_audio": {"data": "AAAA"}, "transcript": ASK}
    found = draft([{"role": "user", "content": [sound]}, {"role": "assistant", "content": ANSWER}])
    assert found.body["input"] == ASK


def test_what_a_recorder_put_between_the_messages_is_left_out_and_said_so() -> None:
    found = draft([{"role": "user", "content": ASK}, {"role": "guardrail", "content": "fine"},
                   {"role": "assistant", "content": ANSWER}])  # fmt: skip
    assert len(found.body["messages"]) == 2
    assert found.notes == {"message of the role guardrail left out": 1}


@given(st.recursive(
    st.none() | st.text(max_size=3) | st.sampled_from(["human", "ai", "user", "function_call", "reasoning"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["role", "type", "content", "message", "messages", "kwargs", "lc", "id"]), inner),
    max_leaves=12,
))  # fmt: skip
def test_whatever_a_value_is_its_messages_have_roles_or_there_are_none(value: Any) -> None:
    found = message_list(value)
    assert found is None or (found and all("role" in message for message in found))
