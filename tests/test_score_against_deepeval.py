"""The same metrics, cases and answers through DeepEval's JevEval and through here.

DeepEval and its client are real; the judge is a server on 127.0.0.1. Skipped where they are not installed:
`pip install deepeval==4.3.1 typesafe-sdk`.
"""

import importlib.util
import json
import math
import os
import random
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from jeval.case import Case
from jeval.metric import Choice, Metric, MetricQuestion, Noul, Score
from jeval.metric_state import metric_questions, metric_state
from jeval.preamble import PREAMBLE
from jeval.question import Answer, check_answer
from jeval.score import MetricResult, score_metric

if importlib.util.find_spec("deepeval") is None:
    pytest.skip("deepeval is not installed", allow_module_level=True)
pytest.importorskip("typesafe_sdk", reason="typesafe-sdk, which DeepEval asks through, is not installed")
os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"

from deepeval.metrics import ConversationalJevEval, JevEval
from deepeval.metrics import jev_eval as original
from deepeval.metrics.jev_eval.utils import aggregate, outcomes_from_answers
from deepeval.models.system_one import (
    ChoiceAnswer,
    NoulAnswer,
    SystemOneAnswers,
    TypeSafeModel,
)
from deepeval.test_case import (
    ConversationalTestCase,
    LLMTestCase,
    MultiTurnParams,
    SingleTurnParams,
    ToolCall,
    Turn,
)

METRICS = 200
CONVERSATIONS = 40
FIELDS = ("input", "actual_output", "context", "retrieval_context", "tools_called")
WORDS = "grounded figure tool answer reports every polite refund order late “quoted” naïve 18°C".split()


class JudgeServer(ThreadingHTTPServer):
    """Answers the next request with `answers`, in order, and keeps what it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[dict[str, Any]] = []
        self.received: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: JudgeServer

    def do_POST(self) -> None:
        self.server.received.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        answers = {f"q_{i}": answer for i, answer in enumerate(self.server.answers)}
        usage = {"input_tokens": 10, "output_tokens": 1}
        body = json.dumps({"model": "jev-1.13.0", "answers": answers, "usage": usage}).encode()
        self.send_response(200 if self.path == "/v1/systemone" else 404)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Quiet."""


@pytest.fixture(scope="module")
def server() -> Iterator[JudgeServer]:
    with JudgeServer() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join(5)


@pytest.fixture(scope="module")
def model(server: JudgeServer) -> Any:
    return TypeSafeModel(api_key="not-a-key", base_url=server.url, compression=False)


# What is compared


class Maker:
    """Random metrics, cases and answers, the same on every machine."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randint(2, 9)))

    def shares(self, count: int) -> list[float]:
        """A distribution in whole hundredths, often with ties and zeros, as live answers are."""
        cuts = sorted(self.random.choices(range(0, 101, self.random.choice([1, 5, 10])), k=count - 1))
        return [(high - low) / 100 for low, high in zip([0, *cuts], [*cuts, 100], strict=True)]

    def question(self) -> MetricQuestion:
        weight = self.random.choice([1, 1, 2, 0.5, round(self.random.uniform(0.01, 20), 3)])
        kind = self.random.randrange(3)
        if kind == 0:
            told = {"true": self.text()} if self.random.random() < 0.2 else {}
            return Noul(self.text(), weight=weight, **told)
        if kind == 1:
            levels = [f"{i} {self.text()}" for i in range(self.random.randint(2, 10))]
            return Score(self.text(), levels=levels, weight=weight)
        names = [f"option_{i}" for i in range(self.random.randint(2, 7))]
        some = [0.0, 0.5, 1.0, round(self.random.random(), 2), None]
        credits = [self.random.choice(some) for _ in names]
        credits[self.random.randrange(len(names))] = 1.0
        return Choice(self.text(), options=dict(zip(names, credits, strict=True)), weight=weight)

    def metric(self, **fields: Any) -> Metric:
        questions = [self.question() for _ in range(self.random.randint(1, 6))]
        threshold, strict = round(self.random.random(), 2), self.random.random() < 0.4
        return Metric(id="m", version="1", questions=questions, threshold=threshold, strict=strict, **fields)

    def answer(self, question: MetricQuestion) -> dict[str, Any]:
        """An answer in the form of the wire."""
        if isinstance(question, Noul):
            return {"type": "noul", "noul": self.random.randint(0, 100) / 100}
        names = list(question.levels if isinstance(question, Score) else question.options)
        shares = self.shares(len(names))
        confidence = round(max(0.0, (len(names) * max(shares) - 1) / (len(names) - 1)), 2)
        if isinstance(question, Choice):
            probabilities = dict(zip(names, shares, strict=True))
            leader = max(probabilities, key=probabilities.__getitem__)
            return {
                "type": "choice",
                "choice": leader,
                "probabilities": probabilities,
                "confidence": confidence,
            }
        return {
            "type": "score",
            "score": round(sum(i * p for i, p in enumerate(shares)), 2),
            "legend": {str(i): name for i, name in enumerate(names)},
            "probabilities": {str(i): p for i, p in enumerate(shares)},
            "confidence": confidence,
        }

    def case(self) -> Case:
        tools = [
            {
                "id": f"t{i}",
                "name": f"tool_{i}",
                "status": "success",
                "input": {"query": self.text(), "limit": i, "after": None},
                "output": {"found": [1, 2.5, None, {"ok": True}], "text": self.text()},
            }
            for i in range(self.random.randint(1, 3))
        ]
        context = [{"id": f"c{i}", "content": self.text()} for i in range(self.random.randint(1, 3))]
        turns = [
            {"id": f"m{i}", "role": ("user", "assistant")[i % 2], "content": self.text()}
            for i in range(self.random.randint(1, 8))
        ]
        return Case.model_validate(
            {
                "id": "c",
                "input": self.text(),
                "output": self.text(),
                "context": context,
                "toolEvents": tools,
                "messages": turns,
                "scenario": self.text(),
                "expectedOutcome": self.text(),
                "chatbotRole": self.text(),
            }
        )


def theirs(question: MetricQuestion) -> Any:
    if isinstance(question, Noul):
        return original.Noul(question.text, weight=question.weight, true=question.true, false=question.false)
    if isinstance(question, Score):
        return original.Score(question.text, levels=list(question.levels), weight=question.weight)
    return original.Choice(question.text, options=dict(question.options), weight=question.weight)


def their_case(case: Case) -> Any:
    return LLMTestCase(
        input=case.input,
        actual_output=case.output,
        context=[item.content for item in case.context or ()],
        retrieval_context=[item.content for item in case.context or ()],
        tools_called=[
            ToolCall(name=event.name, input_parameters=event.input, output=event.output)
            for event in case.tool_events or ()
        ],
    )


def their_conversation(case: Case) -> Any:
    return ConversationalTestCase(
        turns=[Turn(role=m.role, content=m.content) for m in case.messages or ()],
        scenario=case.scenario,
        expected_outcome=case.expected_outcome,
        chatbot_role=case.chatbot_role,
        context=[item.content for item in case.context or ()],
    )


def assert_same_request(sent: dict[str, Any], metric: Metric, case: Case) -> None:
    """State for state and question for question, but for the preamble; the order of keys included."""
    state = metric_state(metric, case, 96_000).state
    assert state is not None
    assert state.json == json.dumps(sent["state"], ensure_ascii=False, separators=(",", ":"))
    ours = [json.loads(question.wire) for question in metric_questions(metric)]
    for question in ours:
        assert question["instructions"].startswith(PREAMBLE + "\n\n")
        question["instructions"] = question["instructions"].removeprefix(PREAMBLE + "\n\n")
    assert list(sent["questions"]) == [f"q_{i}" for i in range(len(ours))]
    assert json.dumps(list(sent["questions"].values()), sort_keys=False) == json.dumps(ours, sort_keys=False)


def tied_for_first(question: MetricQuestion, answer: dict[str, Any]) -> bool:
    """Whether strict mode meets a tie, which DeepEval decides by the order of options."""
    if isinstance(question, Noul):
        return False
    shares = answer["probabilities"]
    if isinstance(question, Choice):
        shares = {name: p for name, p in shares.items() if question.options[name] is not None}
    return list(shares.values()).count(max(shares.values())) > 1


def at_one_half(question: MetricQuestion, answer: dict[str, Any]) -> bool:
    """Whether options without a credit hold a half in decimals, which DeepEval may miss by a hair."""
    if not isinstance(question, Choice):
        return False
    elsewhere = math.fsum(answer["probabilities"][name] for name, c in question.options.items() if c is None)
    return abs(elsewhere - 0.5) < 1e-9


def ours(metric: Metric, wire: list[dict[str, Any]]) -> MetricResult:
    answers = [check_answer(q, raw) for q, raw in zip(metric_questions(metric), wire, strict=True)]
    result = score_metric(metric, answers)
    assert result.status == "scored", result.reason
    return result


def assert_same_result(theirs: Any, metric: Metric, wire: list[dict[str, Any]]) -> bool:
    """Compare all that is comparable; False where strict mode met a tie, so that the score may differ."""
    result = ours(metric, wire)
    assert result.threshold == theirs.threshold
    assert result.confidence == pytest.approx(theirs.confidence, abs=1e-9)
    tie = metric.strict and any(tied_for_first(q, a) for q, a in zip(metric.questions, wire, strict=True))
    for row, outcome in zip(result.breakdown, theirs.score_breakdown, strict=True):
        assert (row.type, row.question, row.weight) == (
            outcome["type"],
            outcome["question"],
            outcome["weight"],
        )
        assert row.applicable == outcome["applicable"]
        assert row.value == (None if outcome["value"] is None else pytest.approx(outcome["value"], abs=1e-9))
        assert row.probabilities == pytest.approx(outcome["probabilities"], abs=1e-9)
        assert row.confidence == pytest.approx(outcome["confidence"], abs=1e-9)
        if not tie:
            assert row.passed == outcome["passed"]
        elif row.passed:  # a tie never passes here, and nothing else differs
            assert outcome["passed"]
    if tie:
        return False
    assert result.score == pytest.approx(theirs.score, abs=1e-9)
    assert result.passed == theirs.success
    return True


def test_200_metrics_ask_the_same_and_score_the_same(server: JudgeServer, model: Any) -> None:
    make, compared = Maker(4301), 0
    for _ in range(METRICS):
        fields = make.random.sample(FIELDS, k=make.random.randint(1, len(FIELDS)))
        metric, case = make.metric(fields=fields), make.case()
        server.answers = [make.answer(question) for question in metric.questions]
        judged = JevEval(
            name="m",
            evaluation_params=[SingleTurnParams(field) for field in fields],
            questions=[theirs(question) for question in metric.questions],
            system_one_model=model,
            include_reason=False,
            threshold=metric.threshold,
            strict_mode=metric.strict,
            async_mode=False,
        )
        judged.measure(their_case(case), _show_indicator=False)
        assert_same_request(server.received[-1], metric, case)
        if not any(at_one_half(q, a) for q, a in zip(metric.questions, server.answers, strict=True)):
            compared += assert_same_result(judged, metric, server.answers)
    assert compared >= 0.75 * METRICS


def test_conversational_metrics_ask_the_same_and_score_the_same(server: JudgeServer, model: Any) -> None:
    make, compared = Maker(4302), 0
    names = ("role", "content", "scenario", "expected_outcome", "chatbot_role", "context")
    for _ in range(CONVERSATIONS):
        turns = make.random.sample(names, k=make.random.randint(1, len(names)))
        metric, case = make.metric(turns=turns), make.case()
        server.answers = [make.answer(question) for question in metric.questions]
        judged = ConversationalJevEval(
            name="m",
            evaluation_params=[MultiTurnParams(name) for name in turns],
            questions=[theirs(question) for question in metric.questions],
            system_one_model=model,
            include_reason=False,
            threshold=metric.threshold,
            strict_mode=metric.strict,
            async_mode=False,
        )
        judged.measure(their_conversation(case), _show_indicator=False)
        assert_same_request(server.received[-1], metric, case)
        if not any(at_one_half(q, a) for q, a in zip(metric.questions, server.answers, strict=True)):
            compared += assert_same_result(judged, metric, server.answers)
    assert compared >= 0.7 * CONVERSATIONS


# What is not copied: each line shows what the original does, so that the list in docs/metrics.md stays true.


def their_score(question: Any, **answers: Any) -> float:
    return float(aggregate(outcomes_from_answers([question], SystemOneAnswers(**answers))))


def our_status(question: MetricQuestion, answer: Answer) -> str:
    return score_metric(Metric(id="m", version="1", fields=["input"], questions=[question]), [answer]).status


def test_a_credited_option_missing_from_an_answer_is_0_there_and_an_error_here() -> None:
    options = {"good": 1.0, "bad": 0.0}
    answer = ChoiceAnswer(choice="bad", probabilities={"bad": 0.4}, confidence=0.0)
    assert their_score(original.Choice("Which?", options=options), choices={"q_0": answer}) == 0
    assert our_status(Choice("Which?", options=options), Answer({"bad": 0.4}, 0.0)) == "error"


@pytest.mark.parametrize("p", [1.7, math.nan])
def test_an_impossible_probability_is_a_score_there_and_an_error_here(p: float) -> None:
    found = their_score(original.Noul("It is so."), nouls={"q_0": NoulAnswer(probability=p)})
    assert found == 1.7 or math.isnan(found)
    assert our_status(Noul("It is so."), Answer({"true": p})) == "error"


def test_an_infinite_weight_and_300_options_are_accepted_there_and_refused_here() -> None:
    options = {f"option {i}": 1.0 for i in range(300)}
    assert math.isinf(original.Noul("It is so.", weight=math.inf).weight)
    assert len(original.Choice("Which?", options=options).options) == 300
    with pytest.raises(ValueError, match="finite"):
        Noul("It is so.", weight=math.inf)
    with pytest.raises(ValueError, match="2 to 255 options"):
        Choice("Which?", options=options)


@pytest.mark.parametrize("options", [{"good": 1.0, "bad": 0.0}, {"bad": 0.0, "good": 1.0}])
def test_a_tie_in_strict_mode_is_decided_by_order_there_and_no_pass_here(options: dict[str, Any]) -> None:
    from deepeval.metrics.jev_eval.utils import passes_strictly

    question = original.Choice("Which?", options=options)
    answer = ChoiceAnswer(choice="good", probabilities=dict.fromkeys(options, 0.5), confidence=0.0)
    [outcome] = outcomes_from_answers([question], SystemOneAnswers(choices={"q_0": answer}))
    assert passes_strictly(question, outcome) is (next(iter(options)) == "good")
    metric = Metric(id="m", version="1", fields=["input"], questions=[Choice("Which?", options=options)], strict=True)
    assert score_metric(metric, [Answer(dict.fromkeys(options, 0.5), 0.0)]).score == 0


def test_an_empty_tool_log_is_left_out_there_and_evidence_here(server: JudgeServer, model: Any) -> None:
    server.answers = [{"type": "noul", "noul": 1.0}]
    fields = [SingleTurnParams.ACTUAL_OUTPUT, SingleTurnParams.TOOLS_CALLED]
    judged = JevEval("m", fields, [original.Noul("It is so.")], model, include_reason=False, async_mode=False)
    judged.measure(LLMTestCase(input="?", actual_output="!", tools_called=[]), _show_indicator=False)
    assert server.received[-1]["state"] == {"test_case": {"actual_output": "!"}}
    metric = Metric(id="m", version="1", fields=["actual_output", "tools_called"], questions=[Noul("It is so.")])
    state = metric_state(metric, Case(id="c", input="?", output="!", tool_events=()), 96_000).state
    assert state is not None
    assert state.json == '{"test_case":{"actual_output":"!","tools_called":[]}}'
