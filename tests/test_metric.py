"""What a metric may be, on disk and in Python."""

import json
import math
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from jeval.metric import Choice, Metric, Noul, Score

ON_DISK = """
- id: tool-faithfulness
  version: 1.0.0
  fields: [input, actual_output, tools_called]
  threshold: 0.5
  strict: false
  questions:
    - {noul: Every figure in actual_output appears in a tool's output., weight: 2}
    - score: How much of actual_output is grounded in tools_called?
      levels: [Fabricated, Partly grounded, Fully grounded]
    - choice: What did it do with what the tools did not return?
      options: {left_it_out: 1.0, hedged_it: 0.5, stated_it_as_fact: 0.0, nothing_missing: null}
"""


def metric(*questions: Any, **fields: Any) -> Metric:
    return Metric(**{"id": "m", "version": "1.0.0", "fields": ["actual_output"], "questions": questions, **fields})


def complaint(*questions: Any, **fields: Any) -> str:
    """Where the first complaint points and what it says."""
    with pytest.raises(ValidationError) as caught:
        metric(*questions, **fields)
    errors = caught.value.errors()
    return "; ".join(f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in errors)


def test_a_metric_that_sees_all_may_say_so_in_one_word() -> None:
    one, other = (metric({"noul": "It is so."}, fields=fields) for fields in ("all", ["all"]))
    assert one == other
    assert one.sees_all
    assert one.sha256 == other.sha256
    assert Metric.model_validate(one.definition()) == one
    assert one.warnings() == ()
    assert "all stands alone" in complaint({"noul": "It is so."}, fields=["input", "all"])


def test_a_metric_on_disk_is_the_metric_in_python() -> None:
    [read] = [Metric.model_validate(one) for one in yaml.safe_load(ON_DISK)]
    assert read == Metric(
        id="tool-faithfulness",
        version="1.0.0",
        fields=["input", "actual_output", "tools_called"],
        questions=[
            Noul("Every figure in actual_output appears in a tool's output.", weight=2),
            Score(
                "How much of actual_output is grounded in tools_called?",
                levels=["Fabricated", "Partly grounded", "Fully grounded"],
            ),
            Choice(
                "What did it do with what the tools did not return?",
                options={
                    "left_it_out": 1.0,
                    "hedged_it": 0.5,
                    "stated_it_as_fact": 0.0,
                    "nothing_missing": None,
                },
            ),
        ],
    )


def test_a_definition_reads_back_as_the_same_metric() -> None:
    [raw] = yaml.safe_load(ON_DISK)
    read = Metric.model_validate({**raw, "description": "Grounded in the tools."})
    again = Metric.model_validate(json.loads(json.dumps(read.definition())))
    assert again == read
    assert again.sha256 == read.sha256


def test_a_definition_keeps_the_options_that_do_not_apply() -> None:
    asked = metric(Choice("Which?", options={"a": 1, "b": 0, "none": None}))
    assert asked.definition()["questions"] == [{"choice": "Which?", "options": {"a": 1.0, "b": 0.0, "none": None}}]


def test_json_text_is_read_too() -> None:
    [raw] = yaml.safe_load(ON_DISK)
    assert Metric.model_validate_json(json.dumps(raw)) == Metric.model_validate(raw)


def test_a_question_takes_its_text_by_position_or_by_name() -> None:
    assert Noul("It is so.") == Noul(text="It is so.") == Noul.model_validate({"noul": "It is so."})
    assert Noul("It is so.", weight=2).weight == 2
    assert Score("How?", levels=("Bad", "Good")).levels == ("Bad", "Good")
    assert Choice("Which?", options={"a": 1, "b": None}).options == {"a": 1.0, "b": None}


def test_a_question_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Noul("It is so.").weight = 3  # type: ignore[misc]


def test_the_hash_covers_all_that_can_change_a_score() -> None:
    plain = metric(Noul("It is so."), Choice("Which?", options={"a": 1, "b": 0}))
    changed = [
        metric(Noul("It was so."), Choice("Which?", options={"a": 1, "b": 0})),
        metric(Noul("It is so.", weight=2), Choice("Which?", options={"a": 1, "b": 0})),
        metric(Noul("It is so."), Choice("Which?", options={"a": 1, "b": 0.5})),
        metric(Noul("It is so."), Choice("Which?", options={"b": 0, "a": 1})),
        metric(Choice("Which?", options={"a": 1, "b": 0}), Noul("It is so.")),
        metric(Noul("It is so."), Choice("Which?", options={"a": 1, "b": 0}), threshold=0.6),
        metric(Noul("It is so."), Choice("Which?", options={"a": 1, "b": 0}), strict=True),
        metric(Noul("It is so."), Choice("Which?", options={"a": 1, "b": 0}), fields=["input"]),
        metric(Noul("It is so.", true="Yes."), Choice("Which?", options={"a": 1, "b": 0})),
    ]
    assert len({one.sha256 for one in [plain, *changed]}) == len(changed) + 1


def test_the_description_is_not_hashed() -> None:
    plain, described = metric(Noul("It is so.")), metric(Noul("It is so."), description="For people.")
    assert described.sha256 == plain.sha256
    assert described.definition()["description"] == "For people."


@pytest.mark.parametrize("weight", [0, -1, math.inf, math.nan, True, "2", None])
def test_a_weight_is_a_finite_number_above_zero(weight: Any) -> None:
    assert "questions.0.weight" in complaint({"noul": "It is so.", "weight": weight})


def test_a_weight_of_infinity_written_in_yaml_is_refused() -> None:
    raw = yaml.safe_load("{noul: It is so., weight: .inf}")
    assert "finite" in complaint(raw)


@pytest.mark.parametrize("count", [0, 1, 11])
def test_a_score_has_2_to_10_levels(count: int) -> None:
    said = complaint({"score": "How?", "levels": [f"Level {i}" for i in range(count)]})
    assert said.startswith("questions.0.levels: ")
    assert f"2 to 10 levels, worst first; this one has {count}" in said


def test_10_levels_are_accepted() -> None:
    assert len(Score("How?", levels=[f"Level {i}" for i in range(10)]).levels) == 10


def test_levels_are_distinct_and_not_empty() -> None:
    assert "occurs twice" in complaint({"score": "How?", "levels": ["Bad", "Good", "Bad "]})
    assert "questions.0.levels.1" in complaint({"score": "How?", "levels": ["Bad", " "]})


def test_levels_that_are_numbers_are_refused_and_not_turned_into_text() -> None:
    assert "questions.0.levels.0" in complaint({"score": "How?", "levels": [1, 2, 3]})


def test_a_choice_has_2_to_255_options() -> None:
    def options(count: int) -> dict[str, float]:
        return {f"option {i}": i % 2 for i in range(count)}

    assert "2 to 255 options; this one has 1" in complaint({"choice": "Which?", "options": options(1)})
    assert "2 to 255 options; this one has 300" in complaint({"choice": "Which?", "options": options(300)})
    assert len(Choice("Which?", options=options(255)).options) == 255


@pytest.mark.parametrize("credit", [1.01, -0.01, math.nan, math.inf, "1", True])
def test_a_credit_is_a_number_from_0_to_1_or_null(credit: Any) -> None:
    assert "questions.0.options.a" in complaint({"choice": "Which?", "options": {"a": credit, "b": 0}})


def test_a_choice_needs_an_option_with_a_credit() -> None:
    said = complaint({"choice": "Which?", "options": {"a": None, "b": None}})
    assert "at least one option needs a credit" in said


def test_a_choice_may_give_every_credited_option_nothing() -> None:
    assert Choice("Which?", options={"a": 0, "b": None}).options["a"] == 0


@pytest.mark.parametrize("name", ["yes", "no", "on", "1"])
def test_an_option_that_yaml_takes_for_something_else_is_an_error(name: str) -> None:
    raw = yaml.safe_load(f"{{choice: Which one, options: {{{name}: 1.0, other: 0.0}}}}")
    assert "in quotes" in complaint(raw)


def test_an_option_has_a_name() -> None:
    assert "must not be empty" in complaint({"choice": "Which?", "options": {" ": 1, "b": 0}})


@pytest.mark.parametrize("text", ["", "  \n"])
def test_a_question_has_a_text(text: str) -> None:
    assert "must not be empty" in complaint({"noul": text})
    with pytest.raises(ValidationError):
        Noul(text)


def test_a_misspelt_key_is_refused() -> None:
    assert "questions.0.wieght" in complaint({"noul": "It is so.", "wieght": 2})
    assert "questions.0.levels" in complaint({"noul": "It is so.", "levels": ["Bad", "Good"]})


def test_a_question_is_of_exactly_one_type() -> None:
    assert "exactly one of the keys" in complaint({"noul": "It is so.", "score": "How?"})
    assert "this one has: nuol" in complaint({"nuol": "It is so."})
    assert "this one has: none" in complaint({})
    assert "not str" in complaint("It is so.")


def test_a_noul_may_say_what_true_and_false_mean() -> None:
    raw = yaml.safe_load('{noul: It is so., "true": All of it., "false": Some of it is not.}')
    assert metric(raw).questions == (Noul("It is so.", true="All of it.", false="Some of it is not."),)


def test_an_unquoted_true_is_an_error() -> None:
    assert "in quotes" in complaint(yaml.safe_load("{noul: It is so., true: All of it.}"))


def test_a_metric_asks_at_least_one_question() -> None:
    assert "at least one question" in complaint()


def test_every_wrong_question_is_told_at_once() -> None:
    said = complaint({"noul": ""}, {"noul": "It is so."}, {"score": "How?", "levels": ["Bad"]})
    assert "questions.0.noul" in said
    assert "questions.2.levels" in said


@pytest.mark.parametrize("threshold", [-0.1, 1.1, math.nan, "0.5", True])
def test_a_threshold_is_a_number_from_0_to_1(threshold: Any) -> None:
    assert complaint({"noul": "It is so."}, threshold=threshold).startswith("threshold: ")


def test_a_threshold_of_zero_is_zero() -> None:
    assert metric(Noul("It is so."), threshold=0).threshold == 0
    assert metric(Noul("It is so.")).threshold == 0.5


def test_strict_raises_the_threshold_to_1() -> None:
    strict = metric(Noul("It is so."), strict=True, threshold=0.3)
    assert strict.threshold == 1
    assert strict == metric(Noul("It is so."), strict=True)
    assert Metric.model_validate(strict.definition()) == strict


@pytest.mark.parametrize("version", [1.1, 1, None, ""])
def test_a_version_is_a_text(version: Any) -> None:
    assert complaint({"noul": "It is so."}, version=version).startswith("version: ")


def test_an_id_is_like_a_rubrics() -> None:
    assert complaint({"noul": "It is so."}, id="tool faithfulness").startswith("id: ")


def test_a_metric_is_about_one_exchange_or_about_a_conversation() -> None:
    assert "it has neither" in complaint({"noul": "It is so."}, fields=[])
    assert "it has both" in complaint({"noul": "It is so."}, turns=["content"])


def test_fields_are_the_ones_deepeval_has() -> None:
    said = complaint({"noul": "It is so."}, fields=["actualOutput"])
    assert "fields.0" in said and "'actual_output'" in said
    assert "turns.0" in complaint({"noul": "It is so."}, fields=[], turns=["input"])


def test_a_field_is_named_once() -> None:
    assert "input occurs twice" in complaint({"noul": "It is so."}, fields=["input", "input"])


def test_a_conversations_content_and_roles_are_always_seen() -> None:
    asked = metric(Noul("It is so."), fields=[], turns=["scenario"])
    assert asked.conversational
    assert asked.turns == ("scenario",)
    assert asked.seen == ("scenario", "content", "role")
    assert metric(Noul("It is so."), fields=[], turns=["role", "content"]).seen == ("role", "content")


def test_a_sound_metric_gives_no_warning() -> None:
    [raw] = yaml.safe_load(ON_DISK)
    assert Metric.model_validate(raw).warnings() == ()


def test_levels_that_look_best_first_give_a_warning() -> None:
    [warning] = metric(
        Noul("It is so."), Score("How?", levels=["Fully grounded", "Partly grounded", "Fabricated"])
    ).warnings()
    assert warning == (
        "m: question 2 has levels that look best first ('Fully grounded' … 'Fabricated'); they are read worst first"
    )


@pytest.mark.parametrize("field", ["expected_output", "expected_tools", "metadata", "tags", "mcp_servers"])
def test_a_field_that_no_case_holds_gives_a_warning(field: str) -> None:
    [warning] = metric(Noul("It is so."), fields=["input", field]).warnings()
    assert warning.startswith(f"m: no case holds {field}")


def test_a_question_asked_twice_gives_a_warning() -> None:
    asked = metric(Noul("It is so."), Noul("It was so."), Noul("It is so.", weight=2))
    assert "question 3 repeats question 1" in asked.warnings()[0]
    asked = metric(Score("How?", levels=["Bad", "Good"]), Score("How?", levels=["Wrong", "Right"]))
    assert asked.warnings() == ()


def test_a_choice_that_decides_nothing_gives_a_warning() -> None:
    flat = Choice("Which?", options={"a": 0.5, "b": 0.5, "none": None})
    assert "cannot change the score" in metric(flat).warnings()[0]


def test_a_choice_that_can_never_pass_strictly_gives_a_warning() -> None:
    asked = Choice("Which?", options={"a": 0.5, "b": 0})
    assert metric(asked).warnings() == ()
    assert "never passes strictly" in metric(asked, strict=True).warnings()[0]


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(question=json_values | st.fixed_dictionaries({"noul": json_values, "weight": json_values}))
def test_whatever_a_file_holds_is_read_or_refused_with_a_validation_error(question: Any) -> None:
    try:
        read = metric(question)
    except ValidationError:
        return
    assert metric(*read.definition()["questions"]) == read


def test_a_question_that_speaks_of_a_field_the_judge_does_not_see_is_warned_about() -> None:
    [warned] = metric({"noul": "actual_output keeps policy."}, fields="all").warnings()
    assert "question 1 speaks of actual_output, which the judge does not see" in warned
    assert "it sees assistant_response, conversation," in warned
    [warned] = metric({"noul": "assistant_response keeps policy."}, fields=["input", "actual_output"]).warnings()
    assert warned.endswith("speaks of assistant_response, which the judge does not see; it sees input, actual_output")
    assert metric({"noul": "The conversation keeps the policy."}, fields=["input"]).warnings() == ()
