"""What a metric sends: its questions, and of a case the fields it names and nothing else."""

import json
from typing import Any

import pytest

from jeval.case import Case
from jeval.metric import Choice, Metric, Noul, Score
from jeval.metric_state import MetricState, metric_questions, metric_state
from jeval.preamble import PREAMBLE

ROOM = 96_000
CASE = Case.model_validate(
    {
        "id": "weather",
        "input": "What's the weather in Lyon?",
        "output": "18°C and sunny.",
        "context": [{"id": "c1", "content": "Lyon is a city.", "title": "Cities", "source": "atlas"}],
        "policy": "SENTINEL-POLICY",
        "toolEvents": [
            {
                "id": "t1",
                "name": "get_weather",
                "status": "success",
                "input": {"city": "Lyon"},
                "output": {"temp_c": 18, "wind": None},
            },
            {"id": "t2", "name": "get_wind", "status": "failure", "error": "TIMEOUT"},
        ],
        "messages": [
            {"id": "m1", "role": "system", "content": "SENTINEL-SYSTEM"},
            {"id": "m2", "role": "user", "content": "What's the weather in Lyon?"},
            {"id": "m3", "role": "tool", "content": "SENTINEL-TOOL"},
            {"id": "m4", "role": "assistant", "content": "18°C and sunny."},
        ],
        "metadata": {"split": "SENTINEL-METADATA"},
        "expected": {"some-rubric": {"status": "pass", "note": "SENTINEL-LABEL"}},
        "scenario": "A traveller asks.",
        "expectedOutcome": "The weather is told.",
        "chatbotRole": "A weather service.",
    }
)


def about(*names: str, case: Case = CASE, room: int = ROOM, conversation: bool = False) -> MetricState:
    which = "turns" if conversation else "fields"
    metric = Metric(id="m", version="1", questions=[Noul("It is so.")], **{which: names})
    return metric_state(metric, case, room)


def body(seen: MetricState) -> dict[str, Any]:
    assert seen.state is not None, seen.reason
    found = json.loads(seen.state.json)
    assert isinstance(found, dict)
    return found


def without(**fields: Any) -> Case:
    return CASE.model_copy(update=fields)


def test_a_single_turn_state_holds_the_chosen_fields_in_the_chosen_order() -> None:
    state = body(about("actual_output", "input"))
    assert state == {"test_case": {"actual_output": "18°C and sunny.", "input": "What's the weather in Lyon?"}}
    assert list(state["test_case"]) == ["actual_output", "input"]


def test_a_metric_that_sees_all_sees_what_rubrics_see() -> None:
    state = body(about("all"))
    assert list(state) == [
        "user_input", "assistant_response", "conversation", "reference_material", "policy", "tool_events"
    ]  # fmt: skip
    assert "SENTINEL-LABEL" not in str(state)
    assert "SENTINEL-METADATA" not in str(state)


def test_context_is_the_texts_of_the_passages() -> None:
    assert body(about("context", "retrieval_context")) == {
        "test_case": {"context": ["Lyon is a city."], "retrieval_context": ["Lyon is a city."]}
    }


def test_tool_events_become_deepevals_tool_calls_and_failures_stay_failures() -> None:
    assert body(about("tools_called")) == {
        "test_case": {
            "tools_called": [
                {
                    "name": "get_weather",
                    "type": "FUNCTION",
                    "output": {"temp_c": 18, "wind": None},
                    "input_parameters": {"city": "Lyon"},
                },
                {"name": "get_wind", "type": "FUNCTION", "status": "failure", "error": "TIMEOUT"},
            ]
        }
    }


def test_an_empty_tool_log_is_evidence_and_a_missing_one_is_not() -> None:
    assert body(about("tools_called", case=without(tool_events=()))) == {"test_case": {"tools_called": []}}
    assert about("tools_called", case=without(tool_events=None)).state is None


def test_an_empty_answer_is_still_an_answer() -> None:
    assert body(about("actual_output", case=without(output=""))) == {"test_case": {"actual_output": ""}}


@pytest.mark.parametrize("context", [None, ()])
def test_no_passage_is_no_context(context: Any) -> None:
    seen = about("input", "retrieval_context", case=without(context=context))
    assert seen == MetricState(None, "the case does not hold retrieval_context, which the metric asks for")


def test_half_a_state_is_never_sent_and_the_reason_names_all_that_is_missing() -> None:
    seen = about("input", "context", "tools_called", case=without(context=None, tool_events=None))
    assert seen.state is None
    assert seen.reason == "the case does not hold context and tools_called, which the metric asks for"


@pytest.mark.parametrize(
    ("field", "why"),
    [
        ("expected_output", "labels and reference answers never reach the judge"),
        ("expected_tools", "labels and expectations never reach the judge"),
        ("metadata", "metadata never reaches the judge"),
        ("tags", "cases hold no tags"),
    ],
)
def test_what_must_not_reach_a_judge_is_not_sent_even_when_named(field: str, why: str) -> None:
    seen = about("input", field)
    assert seen.state is None
    assert field in seen.reason and why in seen.reason


@pytest.mark.parametrize("field", ["mcp_servers", "mcp_tools_called"])
def test_what_no_case_holds_is_missing(field: str) -> None:
    assert about(field).reason == f"the case does not hold {field}, which the metric asks for"


def test_a_conversation_is_its_turns() -> None:
    seen = about("role", "content", conversation=True)
    assert body(seen) == {
        "turns": [
            {"role": "user", "content": "What's the weather in Lyon?"},
            {"role": "assistant", "content": "18°C and sunny."},
        ]
    }


def test_a_conversation_may_show_what_it_is_about() -> None:
    state = body(about("content", "role", "scenario", "expected_outcome", "chatbot_role", conversation=True))
    assert list(state) == ["turns", "test_case"]
    assert list(state["turns"][0]) == ["content", "role"]
    assert state["test_case"] == {
        "scenario": "A traveller asks.",
        "expected_outcome": "The weather is told.",
        "chatbot_role": "A weather service.",
    }


def test_content_and_role_are_sent_even_where_the_metric_names_neither() -> None:
    assert list(body(about("scenario", conversation=True))["turns"][0]) == ["content", "role"]


def test_messages_that_are_no_turns_are_left_out_and_it_is_said() -> None:
    seen = about("content", conversation=True)
    assert seen.state is not None
    assert seen.state.cut == ("turns: 2 system and tool messages left out, for turns are a user's or an assistant's",)
    assert CASE.messages is not None
    seen = about("content", case=without(messages=CASE.messages[1:3]), conversation=True)
    assert seen.state is not None
    assert seen.state.cut[0].startswith("turns: 1 system or tool message left out")
    seen = about("content", case=without(messages=CASE.messages[1:2]), conversation=True)
    assert seen.state is not None
    assert seen.state.cut == ()


def test_evidence_that_a_case_does_not_tie_to_turns_stands_beside_them() -> None:
    state = body(about("content", "tools_called", "retrieval_context", conversation=True))
    assert [call["name"] for call in state["test_case"]["tools_called"]] == ["get_weather", "get_wind"]
    assert state["test_case"]["retrieval_context"] == ["Lyon is a city."]


@pytest.mark.parametrize("messages", [None, (), CASE.messages[:1] if CASE.messages else ()])
def test_a_case_without_turns_is_no_conversation(messages: Any) -> None:
    seen = about("content", case=without(messages=messages), conversation=True)
    assert seen == MetricState(None, "the case does not hold messages, which the metric asks for")


def test_a_missing_scenario_is_named() -> None:
    seen = about("scenario", case=without(scenario=None), conversation=True)
    assert seen.reason == "the case does not hold scenario, which the metric asks for"


def test_only_the_chosen_fields_are_in_the_text_that_is_sent() -> None:
    seen = [
        about("input", "actual_output", "context", "retrieval_context", "tools_called"),
        about("content", "scenario", "expected_outcome", "chatbot_role", "tools_called", conversation=True),
    ]
    for one in seen:
        assert one.state is not None
        assert "SENTINEL" not in one.state.json
    narrow = about("input").state
    assert narrow is not None
    assert narrow.json == '{"test_case":{"input":"What\'s the weather in Lyon?"}}'


def test_a_long_state_is_cut_to_the_room_and_it_is_said() -> None:
    seen = about("input", "actual_output", case=without(output="word " * 10_000), room=9_000)
    assert seen.state is not None
    assert len(seen.state.json.encode()) <= 9_000
    assert "test_case.actual_output" in seen.state.cut[0]


def test_a_long_conversation_keeps_its_first_and_last_turns() -> None:
    assert CASE.messages is not None
    user, answer = CASE.messages[1], CASE.messages[3]
    turns = [one.model_copy(update={"id": f"m{i}"}) for i, one in enumerate([user, answer] * 200)]
    seen = about("content", "role", case=without(messages=tuple(turns)), room=4_000, conversation=True)
    state = body(seen)
    assert state["turns"][0]["role"] == "user"
    assert state["turns"][-1]["role"] == "assistant"
    assert any("omitted" in turn for turn in state["turns"])
    assert seen.state is not None and seen.state.cut[0].startswith("turns: items ")


def test_questions_begin_with_the_preamble_and_keep_the_text() -> None:
    metric = Metric(
        id="m",
        version="1",
        fields=["input"],
        questions=[
            Noul("It is so.", weight=3),
            Noul("It was so.", true="All of it."),
            Score("How?", levels=["Bad", "Fair", "Good"]),
            Choice("Which?", options={"b": 1.0, "a": 0.25, "none": None}),
        ],
    )
    sent = [json.loads(question.wire) for question in metric_questions(metric)]
    assert all(
        one.pop("instructions") == f"{PREAMBLE}\n\n{asked.text}"
        for one, asked in zip(sent, metric.questions, strict=True)
    )
    assert sent == [
        {"type": "noul"},
        {"type": "noul", "criteria": {"true": "All of it.", "false": None}},
        {"type": "score", "criteria": ["Bad", "Fair", "Good"]},
        {"type": "choice", "criteria": {"b": None, "a": None, "none": None}},
    ]
    assert list(sent[3]["criteria"]) == ["b", "a", "none"]


def test_weights_and_credits_are_in_no_question() -> None:
    def questions(weight: float, credit: float) -> Any:
        options = {"a": credit, "b": 0.0, "none": None}
        asked = [Noul("It is so.", weight=weight), Choice("Which?", options=options, weight=weight)]
        return metric_questions(Metric(id="m", version="1", fields=["input"], questions=asked))

    assert questions(1, 1) == questions(7.25, 0.375)
    assert "7.25" not in questions(7.25, 0.375)[1].wire and "0.375" not in questions(7.25, 0.375)[1].wire
