"""DeepEval's metric objects become ours. Tests with stand-ins run everywhere, the others where it is."""

import importlib.util
import os
import subprocess
import sys
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jeval import Choice, Metric, Noul, Score, metrics_from_deepeval
from jeval.errors import ConfigError

ROOT = Path(__file__).resolve().parent.parent

needs_deepeval = pytest.mark.skipif(
    importlib.util.find_spec("deepeval") is None or importlib.util.find_spec("typesafe_sdk") is None,
    reason="deepeval and typesafe-sdk are not installed",
)


class Field(Enum):
    INPUT = "input"
    ACTUAL_OUTPUT = "actual_output"
    TOOLS_CALLED = "tools_called"


class JevEval:
    """Has the attributes of DeepEval's class of this name."""

    def __init__(self, name: str, questions: list[Any], **changes: Any) -> None:
        self.name, self.questions = name, questions
        self.evaluation_params: list[Any] | None = [Field.INPUT, Field.ACTUAL_OUTPUT, Field.TOOLS_CALLED]
        self.threshold, self.strict_mode = 0.5, False
        vars(self).update(changes)


class ConversationalJevEval(JevEval):
    pass


def noul(text: str = "It is so.", weight: float = 1.0, **meanings: Any) -> SimpleNamespace:
    return SimpleNamespace(type="noul", statement=text, weight=weight, **{"true": None, "false": None, **meanings})


SCORE = SimpleNamespace(type="score", question="How much?", levels=["None", "All"], weight=0.5)
CHOICE = SimpleNamespace(type="choice", question="Which?", options={"a": 1, "b": 0.5, "c": None}, weight=3)


def test_questions_weights_credits_and_fields_are_taken_over() -> None:
    metric = metrics_from_deepeval(JevEval("Tool Faithfulness", [noul(weight=2), SCORE, CHOICE], threshold=0.7))
    assert metric == Metric(
        id="tool-faithfulness",
        version="1.0.0",
        description="Taken over from DeepEval's Tool Faithfulness.",
        fields=["input", "actual_output", "tools_called"],
        threshold=0.7,
        questions=[
            Noul("It is so.", weight=2),
            Score("How much?", levels=["None", "All"], weight=0.5),
            Choice("Which?", options={"a": 1.0, "b": 0.5, "c": None}, weight=3),
        ],
    )


def test_a_conversational_one_sees_turns() -> None:
    metric = metrics_from_deepeval(ConversationalJevEval("m", [noul()], evaluation_params=["role", "scenario"]))
    assert metric.turns == ("role", "scenario") and metric.conversational


def test_strict_mode_is_taken_over() -> None:
    metric = metrics_from_deepeval(JevEval("m", [noul()], strict_mode=True, threshold=1))
    assert (metric.strict, metric.threshold) == (True, 1.0)


def test_the_meanings_of_a_noul_are_taken_over() -> None:
    metric = metrics_from_deepeval(JevEval("m", [noul(true="It holds.")]))
    assert metric.questions == (Noul("It is so.", true="It holds."),)


def test_several_become_a_list_of_several() -> None:
    metrics = metrics_from_deepeval([JevEval("One", [noul()]), JevEval("Two", [noul()])], version="3")
    assert [(metric.id, metric.version) for metric in metrics] == [("one", "3"), ("two", "3")]


@pytest.mark.parametrize(
    ("name", "id"),
    [("Tool Faithfulness", "tool-faithfulness"), ("  Ärger & Lob!  ", "rger-lob"), ("a.b:c_d-e", "a.b:c_d-e"),
     ("x" * 300, "x" * 200)],
)  # fmt: skip
def test_an_id_is_made_of_the_name(name: str, id: str) -> None:
    assert metrics_from_deepeval(JevEval(name, [noul()])).id == id


def test_a_name_of_which_no_id_can_be_made_needs_one() -> None:
    with pytest.raises(ConfigError, match=r"'天気': no id can be made of its name; give one with id="):
        metrics_from_deepeval(JevEval("天気", [noul()]))
    assert metrics_from_deepeval(JevEval("天気", [noul()]), id="weather").id == "weather"


def test_a_metric_that_reads_a_trace_is_refused() -> None:
    with pytest.raises(ConfigError, match="has no evaluation_params, so it reads a trace"):
        metrics_from_deepeval(JevEval("m", [noul()], evaluation_params=None))


def test_another_kind_of_metric_is_refused() -> None:
    with pytest.raises(ConfigError, match="SimpleNamespace is no JevEval or ConversationalJevEval"):
        metrics_from_deepeval(SimpleNamespace(name="m"))


def test_what_is_accepted_there_and_refused_here_says_which_question_and_why() -> None:
    many = SimpleNamespace(type="choice", question="?", options={f"o{i}": 1.0 for i in range(300)}, weight=1)
    with pytest.raises(ConfigError, match=r"metric 'm', question 2 cannot be taken over: options: .*2 to 255"):
        metrics_from_deepeval(JevEval("m", [noul(), many]))
    with pytest.raises(ConfigError, match=r"question 1 cannot be taken over: weight: .*finite"):
        metrics_from_deepeval(JevEval("m", [noul(weight=float("inf"))]))


def test_deepeval_is_imported_by_nothing_here() -> None:
    code = (
        "import sys, jeval; [getattr(jeval, name) for name in jeval.__all__];"
        "sys.exit('deepeval' in {name.split('.')[0] for name in sys.modules})"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@needs_deepeval
def test_real_objects_of_deepeval_are_taken_over() -> None:
    os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"
    from deepeval.metrics import ConversationalJevEval as RealTurns
    from deepeval.metrics import JevEval as Real
    from deepeval.metrics import jev_eval
    from deepeval.models.system_one import TypeSafeModel
    from deepeval.test_case import MultiTurnParams, SingleTurnParams

    model = TypeSafeModel(api_key="not-a-key", base_url="http://127.0.0.1:9", compression=False)
    questions = [
        jev_eval.Noul("It is so.", weight=2, true="It holds."),
        jev_eval.Score("How much?", levels=["None", "All"]),
        jev_eval.Choice("Which?", options={"a": 1.0, "b": None}),
    ]
    expected = (
        Noul("It is so.", weight=2, true="It holds."),
        Score("How much?", levels=["None", "All"]),
        Choice("Which?", options={"a": 1.0, "b": None}),
    )
    fields = [SingleTurnParams.INPUT, SingleTurnParams.TOOLS_CALLED]
    metric = metrics_from_deepeval(Real("Of Tools", fields, questions, model, strict_mode=True))
    assert (metric.id, metric.fields, metric.strict) == ("of-tools", ("input", "tools_called"), True)
    assert metric.questions == expected
    turns = metrics_from_deepeval(RealTurns("Of Turns", [MultiTurnParams.SCENARIO], questions, model, threshold=0.8))
    assert turns.turns == ("scenario", "content", "role") and turns.threshold == 0.8
    assert turns.questions == expected
