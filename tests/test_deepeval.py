"""DeepEval's test cases and goldens as cases."""

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest

from jeval.case import Case
from jeval.imports.deepeval import fits, read
from jeval.imports.draft import Draft, Options, Unfit
from jeval.metric import Metric, Noul
from jeval.metric_state import metric_state

SINGLE = {
    "input": "Is it raining?",
    "actual_output": "It is.",
    "expected_output": "Yes.",
    "retrieval_context": ["It rains.", {"context": "It pours.", "source": "radar"}],
    "context": ["Rain all day."],
    "tools_called": [{"name": "forecast", "input_parameters": {"day": 1}, "output": {"rain": True}, "reasoning": "r"}],
    "expected_tools": [{"name": "forecast"}],
    "additional_metadata": {"split": "tuning"},
    "tags": ["weather"],
    "comments": None,
}
TURNS = {
    "turns": [
        {"role": "user", "content": "Hello"},
        {
            "role": "assistant",
            "content": "Hi",
            "tools_called": [{"name": "greet"}],
            "retrieval_context": ["P"],
        },
        {"role": "user", "content": "Rain?", "user_id": "u-1"},
        {"role": "assistant", "content": "Yes."},
    ],
    "scenario": "Asking about rain.",
    "expected_outcome": "Knows.",
    "chatbot_role": "A forecaster.",
    "name": "Rain talk",
}


def drafts(record: Any) -> list[Draft]:
    return list(read(record, Options()))


def case(record: Any) -> Case:
    [draft] = drafts(record)
    return Case.model_validate({**draft.body, "id": draft.settled_id("deepeval")})


def camel(record: dict[str, Any]) -> dict[str, Any]:
    def one(name: str) -> str:
        head, *rest = name.split("_")
        return head + "".join(part.title() for part in rest)

    return {one(key): value for key, value in record.items()}


def test_the_fields_of_a_test_case_find_their_places() -> None:
    found = case(SINGLE)
    assert (found.input, found.output) == ("Is it raining?", "It is.")
    assert [(c.id, c.content, c.source) for c in found.context or ()] == [
        ("retrieved-1", "It rains.", None),
        ("retrieved-2", "It pours.", "radar"),
        ("context-1", "Rain all day.", None),
    ]
    [event] = found.tool_events or ()
    assert (event.name, event.status, event.input, event.output) == (
        "forecast",
        "success",
        {"day": 1},
        {"rain": True},
    )


def test_what_no_judge_may_see_is_kept_in_the_metadata() -> None:
    assert case(SINGLE).metadata == {
        "split": "tuning",
        "deepeval": {
            "expected_output": "Yes.",
            "expected_tools": [{"name": "forecast"}],
            "tags": ["weather"],
            "tools_called": [{"reasoning": "r"}],
        },
    }


def test_camel_case_reads_the_same_as_snake_case() -> None:
    assert case(camel(SINGLE)) == case(SINGLE)
    assert case(camel(TURNS)) == case(TURNS)


def test_a_conversation_ends_with_the_answer_it_is_judged_by() -> None:
    found = case(TURNS)
    assert (found.id, found.input, found.output) == ("Rain-talk", "Rain?", "Yes.")
    assert [(m.role, m.content) for m in found.messages or ()] == [
        ("user", "Hello"),
        ("assistant", "Hi"),
        ("user", "Rain?"),
        ("assistant", "Yes."),
    ]
    assert (found.scenario, found.expected_outcome, found.chatbot_role) == (
        "Asking about rain.",
        "Knows.",
        "A forecaster.",
    )
    assert [event.name for event in found.tool_events or ()] == ["greet"]
    assert [passage.content for passage in found.context or ()] == ["P"]


def test_no_tool_list_is_no_log_and_an_empty_one_is() -> None:
    assert case({"input": "a", "actual_output": "b", "tools_called": None}).tool_events is None
    assert case({"input": "a", "actual_output": "b", "tools_called": []}).tool_events == ()


def test_a_datasets_jsonl_with_passages_in_one_text_is_read() -> None:
    found = case({"input": "a", "actual_output": "b", "context": "one|two", "retrieval_context": "one|two"})
    assert [passage.content for passage in found.context or ()] == ["one", "two"]


def test_turns_written_as_a_json_text_are_read() -> None:
    assert case({**TURNS, "turns": json.dumps(TURNS["turns"])}) == case(TURNS)


def test_a_file_of_a_test_run_holds_several() -> None:
    run = {"testCases": [camel(SINGLE)], "conversationalTestCases": [TURNS], "metricsScores": []}
    assert [draft.body["output"] for draft in drafts(run)] == ["It is.", "Yes."]


@pytest.mark.parametrize(
    ("record", "field", "message"),
    [
        ({"input": "a", "expected_output": "b"}, "actual_output", "is missing, so there is no answer"),
        ({"input": 7, "actual_output": "b"}, "input", "is not a text"),
        ({"scenario": "s"}, "turns", "are missing"),
        ({"turns": [{"role": "user", "content": "a"}]}, "turns", "hold no turn of the assistant"),
        ({"turns": [{"role": "bot", "content": "a"}]}, "turns[0].role", "is no role"),
        ({"turns": [{"role": "user"}]}, "turns[0].content", "is not a text"),
        ({"input": "a", "actual_output": "b", "context": [1]}, "context[0]", "is not a text"),
        ({"input": "a", "actual_output": "b", "tools_called": [{}]}, "tools_called[0]", "is no tool call"),
        ("text", "", "is not an object"),
    ],
)
def test_what_cannot_be_a_case_says_what_and_where(record: Any, field: str, message: str) -> None:
    with pytest.raises(Unfit) as raised:
        drafts(record)
    assert raised.value.field == field and message in raised.value.message


def test_test_cases_are_told_from_other_records() -> None:
    assert fits(SINGLE) and fits(camel(SINGLE)) and fits(TURNS) and fits({"goldens": []})
    assert not fits({"input": "a", "output": "b"}) and not fits([])


@pytest.mark.skipif(importlib.util.find_spec("deepeval") is None, reason="deepeval is not installed")
def test_what_deepeval_itself_writes_gives_a_metric_the_state_that_deepeval_gives_it(tmp_path: Any) -> None:
    os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"
    from deepeval.dataset import EvaluationDataset, Golden
    from deepeval.test_case import LLMTestCase, ToolCall

    calls = [ToolCall(name="t", input_parameters={"a": [1, None]}, output={"x": 1.5})]
    whole = LLMTestCase(input="q", actual_output="a", retrieval_context=["r"], tools_called=calls)
    metric = Metric(
        id="m",
        version="1",
        fields=["input", "actual_output", "retrieval_context", "tools_called"],
        questions=[Noul("It is so.")],
    )
    expected = {
        "input": "q",
        "actual_output": "a",
        "retrieval_context": ["r"],
        "tools_called": [{"name": "t", "type": "FUNCTION", "output": {"x": 1.5}, "input_parameters": {"a": [1, None]}}],
    }
    for by_alias in (True, False):
        state = metric_state(metric, case(whole.model_dump(mode="json", by_alias=by_alias)), 96_000).state
        assert state is not None and json.loads(state.json) == {"test_case": expected}
    golden = Golden(input="q", actual_output="a", retrieval_context=["r"], tools_called=calls)
    for kind in ("json", "jsonl"):
        path = EvaluationDataset(goldens=[golden]).save_as(kind, directory=str(tmp_path), file_name=kind)
        text = Path(path).read_text(encoding="utf-8")
        record = json.loads(text)[0] if kind == "json" else json.loads(text)
        state = metric_state(metric, case(record), 96_000).state
        assert state is not None and json.loads(state.json) == {"test_case": expected}
