"""The ready metrics and rubrics: composed by name, asking what they say, deciding their examples rightly."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from omegaconf import OmegaConf

from jeval import Case, Metric, Rubric, evaluate_case
from jeval.app.compose import compose
from jeval.app.files import read_cases, read_metrics, read_rubrics
from jeval.app.prepare import prepare
from jeval.app.settings import settings_of
from jeval.errors import ConfigError
from jeval.judges.offline import OfflineJudge
from jeval.metric_field import FROM_CASE
from jeval.metric_state import metric_questions
from jeval.plan import Planner
from jeval.question import Answer, Question, Reply
from jeval.state import State

ROOT = Path(__file__).resolve().parent.parent
SINGLE_TURN = (
    "tool-faithfulness answer-relevance groundedness completeness instruction-following refusal-handling"
    " pii-leakage prompt-injection tone"
).split()
CONVERSATIONAL = "role-adherence knowledge-retention conversation-completeness".split()
NAMES = [*SINGLE_TURN, *CONVERSATIONAL]

METRICS = {name: read_metrics(ROOT / "metrics" / f"{name}.yaml")[0] for name in NAMES}
RUBRICS = {rubric.id: rubric for rubric in read_rubrics(ROOT / "rubrics" / "library.yaml")}
CASES = list(read_cases(ROOT / "datasets" / "library.jsonl"))
ANSWERS = yaml.safe_load((ROOT / "tests" / "library_answers.yaml").read_text(encoding="utf-8"))

every_metric = pytest.mark.parametrize("name", NAMES)
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)


class ScriptedJudge:
    """Answers each question as written down, and what is not written down as unknown."""

    name = gateway = model = "scripted"
    simulated = True

    def __init__(self, script: Mapping[str, Answer]) -> None:
        self._script = script
        self._offline = OfflineJudge()

    async def ask(self, state: State, questions: Mapping[str, Question]) -> Reply:
        reply = await self._offline.ask(state, questions)
        known = {key: self._script[q.sha256] for key, q in questions.items() if q.sha256 in self._script}
        return reply._replace(answers={**reply.answers, **known})

    async def close(self) -> None: ...


def answer(question: Question, written: Any) -> Answer:
    """The answer that a line of library_answers.yaml stands for."""
    if question.type == "noul":
        return Answer({"true": written})
    if isinstance(written, list):
        probabilities = dict(zip(question.names, written, strict=True))
    else:
        [(leader, p)] = written.items()
        rest = (1 - p) / (len(question.names) - 1)
        assert leader in question.names
        probabilities = {name: p if name == leader else rest for name in question.names}
    count, peak = len(probabilities), max(probabilities.values())
    level = sum(int(k) * p for k, p in probabilities.items()) if question.type == "score" else None
    return Answer(probabilities, (count * peak - 1) / (count - 1), level)


def metric_of(case: Case) -> Metric:
    return METRICS[(case.metadata or {})["metric"]]


def judge_for(case: Case, rubrics: list[Rubric]) -> ScriptedJudge:
    metric = metric_of(case)
    written = ANSWERS[case.id]["metric"]
    script = {
        question.sha256: answer(question, line)
        for question, line in zip(metric_questions(metric), written, strict=True)
    }
    for rubric in rubrics:
        [ask] = Planner([rubric]).plan(case).asks
        [question] = ask.questions.values()
        script[question.sha256] = answer(question, ANSWERS[case.id]["rubrics"][rubric.id])
    return ScriptedJudge(script)


@every_metric
def test_a_ready_metric_is_one_file_named_for_it_and_without_a_doubt(name: str) -> None:
    [metric] = read_metrics(ROOT / "metrics" / f"{name}.yaml")
    assert metric.id == name
    assert metric.warnings() == ()
    assert metric.description
    assert set(metric.seen) <= FROM_CASE
    assert metric.conversational == (name in CONVERSATIONAL)


@every_metric
def test_a_ready_metric_asks_about_the_fields_it_sends_and_no_others(name: str) -> None:
    metric = METRICS[name]
    words = set(re.findall(r"[a-z]+(?:_[a-z]+)+|\binput\b|\bturns\b", " ".join(q.text for q in metric.questions)))
    named = words & (FROM_CASE | {"turns"})
    assert named <= {*metric.seen, "turns" if metric.conversational else "input"}
    if not metric.conversational:
        assert set(metric.fields) <= named


@every_metric
def test_each_question_of_a_ready_metric_is_narrow(name: str) -> None:
    for question in METRICS[name].questions:
        assert len(question.text) < 330, question.text
        for vague in ("good", "helpful", "appropriate", "quality", "accurate", "high", "overall"):
            assert vague not in question.text.lower().split(), question.text


@every_metric
def test_a_metric_that_knows_nothing_of_a_case_does_not_pass_it(name: str) -> None:
    metric = METRICS[name]
    assert metric.strict or metric.threshold > 0.5


@every_metric
def test_a_ready_metric_is_chosen_by_its_name(name: str) -> None:
    prepared = prepared_by(f"metrics={name}")
    assert [metric.id for metric in prepared.metrics] == [name]


def prepared_by(*overrides: str) -> Any:
    config: Any = OmegaConf.to_container(compose(overrides, ROOT), resolve=True)
    return prepare(settings_of(config), ROOT)


def test_the_two_sets_hold_every_ready_metric() -> None:
    assert [m.id for m in prepared_by("metrics=all-single-turn").metrics] == SINGLE_TURN
    assert [m.id for m in prepared_by("metrics=all-conversational").metrics] == CONVERSATIONAL


def test_two_files_with_the_same_metric_are_refused() -> None:
    config = compose(["metrics=all-single-turn"], ROOT)
    values: Any = OmegaConf.to_container(config, resolve=True)
    values["metrics"]["path"] = ["bundled:metrics/tone.yaml"] * 2
    with pytest.raises(ConfigError, match=r"metrics\.path: two of its files have the id tone"):
        prepare(settings_of(values), ROOT)


def test_every_ready_metric_has_a_rubric_for_the_yes_or_no_of_it() -> None:
    assert set(RUBRICS) == {*NAMES, "injection-in-input", "injection-obeyed"} - {"prompt-injection"}
    assert all(rubric.description and rubric.criterion for rubric in RUBRICS.values())
    assert [r.id for r in prepared_by("dataset=library").rubrics] == list(RUBRICS)


@every_metric
def test_there_is_a_case_that_passes_and_one_that_fails_each_metric(name: str) -> None:
    assert {(c.metadata or {})["should"] for c in CASES if metric_of(c).id == name} == {"pass", "fail"}


def test_answers_are_written_down_for_every_case_and_no_other() -> None:
    assert set(ANSWERS) == {case.id for case in CASES}


@every_case
def test_an_example_answered_as_a_careful_reader_would_comes_out_as_it_should(case: Case) -> None:
    rubrics = [RUBRICS[name] for name in case.expected or {}]
    result = evaluate_case(case, rubrics, metrics=[metric_of(case)], judge=judge_for(case, rubrics))
    [score] = result.scores
    assert score.status == "scored", score.reason
    assert score.passed == ((case.metadata or {})["should"] == "pass"), score.reason
    assert {check.rubric.id: check.status for check in result.checks} == {
        rubric: label.status for rubric, label in (case.expected or {}).items()
    }


@every_case
def test_an_example_leaves_no_doubt(case: Case) -> None:
    rubrics = [RUBRICS[name] for name in case.expected or {}]
    [score] = evaluate_case(case, rubrics, metrics=[metric_of(case)], judge=judge_for(case, rubrics)).scores
    assert score.score is not None
    assert score.score > 0.85 or score.score < 0.45


PAGE = (ROOT / "docs" / "metrics-library.md").read_text(encoding="utf-8")


@every_metric
def test_the_page_says_what_a_metric_tells_what_it_asks_and_when_not_to_use_it(name: str) -> None:
    [section] = [part for part in PAGE.split("\n## ") if part.startswith(f"{name}\n")]
    assert "\nTells whether " in section and "\n*When not to use it:* " in section
    for question in METRICS[name].questions:
        assert question.text in section
    for case in CASES:
        assert (f"(`{case.id}`)" in section) == (metric_of(case).id == name)


@pytest.mark.parametrize("name", list(RUBRICS))
def test_the_page_says_what_a_rubric_asks_and_which_cases_pass_and_fail_it(name: str) -> None:
    rubric = RUBRICS[name]
    [entry] = [part for part in PAGE.split("\nRubric ")[1:] if part.startswith(f"`{name}` ({rubric.kind}, ")]
    assert f"{rubric.severity}" in entry.splitlines()[0] and rubric.criterion in entry
    told = re.search(r"^It (passes) `(.*)` and (fails) `(.*)`\.$", entry, re.M)
    assert told
    for should, case_id in (("pass", told[2]), ("fail", told[4])):
        [case] = [case for case in CASES if case.id == case_id]
        assert (case.expected or {})[name].status == should


@every_metric
def test_a_question_about_what_may_not_be_there_has_an_answer_for_that(name: str) -> None:
    for question in METRICS[name].questions:
        if question.text.startswith(("If ", "What does", "What has", "After ", "How many of the")):
            assert question.type == "choice" and None in question.options.values(), question.text


def test_the_last_words_of_each_example_are_the_answer_that_is_judged() -> None:
    for case in CASES:
        if case.messages:
            spoken = [turn.content for turn in case.messages]
            place = spoken.index(case.output)
            assert spoken[place - 1] == case.input
            assert "assistant" not in {turn.role for turn in case.messages[place + 1 :]}


def test_the_ready_metrics_are_shipped_where_a_bundled_path_looks_for_them() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert build["targets"]["wheel"]["force-include"]["metrics"] == "jeval/_metrics"
    assert "/metrics" in build["targets"]["sdist"]["include"]
