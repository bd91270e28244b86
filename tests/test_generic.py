"""Records with keys of their own as cases, found by name or by a mapping."""

from typing import Any

import pytest

from jeval.case import Case
from jeval.imports.draft import Options, Unfit
from jeval.imports.generic import FIELDS, fits, read


def case(record: Any, **fields: str) -> Case:
    [draft] = read(record, Options(fields=fields))
    return Case.model_validate({**draft.body, "id": draft.settled_id("generic")})


def test_common_names_are_found_without_a_mapping() -> None:
    found = case({"question": "Q", "answer": "A", "contexts": ["one", "two"], "system_prompt": "P", "topic": "t"})
    assert (found.input, found.output, found.policy) == ("Q", "A", "P")
    assert [passage.content for passage in found.context or ()] == ["one", "two"]
    assert found.metadata == {"topic": "t"}


def test_a_mapping_reaches_into_objects_and_lists() -> None:
    record = {"log": {"turns": [{"said": "Q"}], "reply": {"text": "A"}}, "row.id": "r-1"}
    found = case(record, input="log.turns.0.said", output="log.reply.text", id="row.id")
    assert (found.id, found.input, found.output) == ("r-1", "Q", "A")


def test_a_mapped_field_is_looked_for_nowhere_else() -> None:
    with pytest.raises(Unfit) as raised:
        case({"question": "Q", "answer": "A"}, output="reply")
    assert raised.value.message == "is not found: nothing stands at reply"


def test_numbers_become_texts_and_objects_are_refused() -> None:
    assert case({"input": 7, "output": 0.5}).output == "0.5"
    with pytest.raises(Unfit, match="is no text, so it cannot be the output"):
        case({"input": "Q", "output": {"text": "A"}})


def test_an_empty_answer_is_an_answer() -> None:
    assert case({"input": "Q", "output": ""}).output == ""


def test_passages_may_be_texts_objects_or_a_json_text() -> None:
    found = case({"input": "Q", "output": "A", "documents": [{"page_content": "one", "source": "s"}, "two"]})
    assert [(p.content, p.source) for p in found.context or ()] == [("one", "s"), ("two", None)]
    assert len(case({"input": "Q", "output": "A", "context": '["one", "two"]'}).context or ()) == 2
    assert len(case({"input": "Q", "output": "A", "context": "just one"}).context or ()) == 1
    with pytest.raises(Unfit, match="is a passage without a text"):
        case({"input": "Q", "output": "A", "context": [{"score": 1}]})


def test_messages_and_tool_events_are_read_in_their_common_forms() -> None:
    events = [{"id": "t1", "name": "x", "status": "failure", "error": "E"}]
    found = case({"input": "Q", "output": "A", "history": [{"role": "user", "content": "Q"}], "toolEvents": events})
    assert (found.messages or ())[0].content == "Q"
    assert (found.tool_events or ())[0].status == "failure"
    called = case({"input": "Q", "output": "A", "tools_called": [{"name": "x", "output": "Error: no"}]})
    assert (called.tool_events or ())[0].status == "failure"


def test_a_record_without_an_answer_says_where_it_was_looked_for_and_how_to_say_it() -> None:
    with pytest.raises(Unfit) as raised:
        case({"question": "Q", "verdict": "A"})
    assert "none of its names is there (output, answer" in raised.value.message
    assert raised.value.remedy == "say where it is with --map output=PATH"


def test_a_record_needs_both_sides_to_look_like_a_case() -> None:
    assert fits({"prompt": "Q", "completion": "A"}) and not fits({"prompt": "Q"}) and not fits([])


def test_every_field_that_can_be_mapped_is_one_of_a_case() -> None:
    names = {field.alias or name for name, field in Case.model_fields.items()}
    assert set(FIELDS) <= names
