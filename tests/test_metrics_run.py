"""Metrics through a whole run: the bytes that leave, as a server reads them, and what the store holds."""

import asyncio
import json
import os
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from jeval.store.scores import case_scores, run_scores
from tests.running import case, jeval, project, quick
from tests.servers import Server, answer, serving

ROOT = Path(__file__).resolve().parent.parent

METRICS = """
- id: first
  version: "1.0.0"
  fields: [input, actual_output]
  threshold: 0.8125
  questions:
    - {noul: actual_output greets the user., weight: 7.0625}
    - score: How much of input is answered?
      levels: [Nothing, Something, Everything]
    - choice: What became of the question?
      options: {answered: 1.0, put_off: 0.4375, dropped: 0.0, no_question: null}
- id: second
  version: "1.0.0"
  fields: [input, actual_output]
  strict: true
  questions:
    - noul: actual_output names a day.
- id: narrow
  version: "2.1.0"
  fields: [actual_output]
  questions:
    - noul: actual_output is one sentence.
- id: whole
  version: "1.0.0"
  turns: [content, role, scenario]
  questions:
    - noul: The assistant answers every turn.
- id: all-of-it
  version: "1.0.0"
  fields: all
  questions:
    - noul: assistant_response keeps policy and is kind.
- id: of-tools
  version: "1.0.0"
  fields: [input, tools_called]
  questions:
    - noul: A tool was called.
"""

RUBRICS = """
- id: kind-words
  version: "1.0.0"
  kind: custom
  criterion: assistant_response is kind.
  outcomes: {acceptable: It is., unacceptable: It is not.}
- id: keeps-policy
  version: "1.0.0"
  kind: policy-compliance
  criterion: assistant_response keeps policy.
"""

CASE = {
    "id": "case-1",
    "input": "INPUT-SEEN",
    "output": "OUTPUT-SEEN",
    "policy": "POLICY-SEEN",
    "scenario": "SCENARIO-SEEN",
    "expectedOutcome": "OUTCOME-HIDDEN",
    "messages": [
        {"id": "m1", "role": "user", "content": "TURN-SEEN"},
        {"id": "m2", "role": "assistant", "content": "OUTPUT-SEEN"},
    ],
    "metadata": {"secret": "METADATA-HIDDEN"},
    "expected": {"kind-words": {"status": "pass", "note": "LABEL-HIDDEN"}},
}


async def _jeval(folder: Path, *arguments: str) -> tuple[int, str]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "jeval.app.cli", *arguments, cwd=folder, env=environ,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode is not None
    return process.returncode, out.decode() + err.decode()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Server, sqlite3.Connection, str]:
    folder = tmp_path_factory.mktemp("project")
    (folder / "metrics.yaml").write_text(METRICS, encoding="utf-8")
    (folder / "rubrics.yaml").write_text(RUBRICS, encoding="utf-8")
    (folder / "cases.jsonl").write_text(json.dumps(CASE) + "\n", encoding="utf-8")

    async def whole() -> tuple[Server, str]:
        async with serving(answer) as server:
            code, text = await _jeval(
                folder, "run", "judge=local", f"judge.base_url={server.url}", "dataset.path=cases.jsonl",
                "rubrics.path=rubrics.yaml", "metrics.path=metrics.yaml", "store=jeval.db",
            )  # fmt: skip
            assert code == 0, text
            return server, text

    server, text = asyncio.run(whole())
    connection = sqlite3.connect(folder / "jeval.db")
    connection.row_factory = sqlite3.Row
    return server, connection, text


def requests(server: Server) -> list[dict[str, Any]]:
    return [json.loads(body) for body in server.bodies]


def about(server: Server, state: dict[str, Any]) -> dict[str, Any]:
    """The questions of the one request about this state."""
    [found] = [request for request in requests(server) if request["state"] == state]
    questions: dict[str, Any] = found["questions"]
    return questions


def texts(questions: dict[str, Any]) -> list[str]:
    return [question["instructions"].split("\n\n", 1)[1] for question in questions.values()]


def test_each_state_is_sent_once_with_all_the_questions_about_it(run: Any) -> None:
    server, _, _ = run
    assert len(server.bodies) == 4
    exchange = about(server, {"test_case": {"input": "INPUT-SEEN", "actual_output": "OUTPUT-SEEN"}})
    assert texts(exchange) == [
        "actual_output greets the user.",
        "How much of input is answered?",
        "What became of the question?",
        "actual_output names a day.",
    ]


def test_the_questions_of_all_rubrics_share_one_request_with_those_of_a_metric_that_sees_all(run: Any) -> None:
    server, _, _ = run
    [asked] = [r["questions"] for r in requests(server) if "user_input" in r["state"]]
    assert len(asked) == 3
    assert texts(asked)[-1] == "assistant_response keeps policy and is kind."


def test_a_metric_restricted_to_a_field_gets_a_request_with_that_field_alone(run: Any) -> None:
    server, _, _ = run
    [body] = [body for body in server.bodies if b"is one sentence" in body]
    assert json.loads(body)["state"] == {"test_case": {"actual_output": "OUTPUT-SEEN"}}
    assert b"INPUT-SEEN" not in body and b"POLICY-SEEN" not in body and b"SCENARIO-SEEN" not in body


def test_a_conversational_metric_sees_the_turns_and_what_it_names(run: Any) -> None:
    server, _, _ = run
    turns = [{"content": "TURN-SEEN", "role": "user"}, {"content": "OUTPUT-SEEN", "role": "assistant"}]
    asked = about(server, {"turns": turns, "test_case": {"scenario": "SCENARIO-SEEN"}})
    assert texts(asked) == ["The assistant answers every turn."]


def test_no_byte_of_a_weight_a_credit_a_threshold_or_an_id_leaves(run: Any) -> None:
    server, _, _ = run
    for body in server.bodies:
        for hidden in (b"7.0625", b"0.4375", b"0.8125", b"weight", b"credit", b"strict", b"threshold"):
            assert hidden not in body
        for hidden in (b"first", b"second", b"narrow", b"2.1.0", b"case-1", b"HIDDEN"):
            assert hidden not in body


def test_options_and_levels_are_sent_in_the_authors_order_without_what_they_earn(run: Any) -> None:
    server, _, _ = run
    questions = about(server, {"test_case": {"input": "INPUT-SEEN", "actual_output": "OUTPUT-SEEN"}}).values()
    by_type = {question["type"]: question for question in questions}
    assert list(by_type["choice"]["criteria"].items()) == [
        ("answered", None), ("put_off", None), ("dropped", None), ("no_question", None),
    ]  # fmt: skip
    assert by_type["score"]["criteria"] == ["Nothing", "Something", "Everything"]


SCORES = "run_id case_id metric_id metric_version score passed strict threshold confidence reason".split()
BREAKDOWN = (
    "run_id case_id metric_id position type question weight probabilities value applicable passed confidence"
).split()


def test_the_store_holds_every_score_under_the_names_of_the_contract(run: Any) -> None:
    _, connection, _ = run
    rows = {row["metric_id"]: row for row in connection.execute(f"SELECT {', '.join(SCORES)} FROM scores")}
    assert set(rows) == {"first", "second", "narrow", "whole", "all-of-it", "of-tools"}
    assert rows["all-of-it"]["score"] == pytest.approx(0.9)
    # noul 0.9 of weight 7.0625; level (0·0.9 + 1·0.05 + 2·0.05) / 2; credit over what is credited
    credit = (0.9 * 1 + 0.0333 * 0.4375) / (0.9 + 2 * 0.0333)
    expected = (7.0625 * 0.9 + 0.075 + credit) / 9.0625
    first = rows["first"]
    assert first["score"] == pytest.approx(expected, abs=1e-11)
    assert (first["case_id"], first["metric_version"], first["threshold"]) == ("case-1", "1.0.0", 0.8125)
    assert (first["passed"], first["strict"]) == (1, 0)
    assert first["confidence"] == pytest.approx(0.8)
    assert first["reason"].startswith(f"{expected:.4f} reaches the threshold 0.8125. It is (7.0625 × 0.9 + ")
    second = rows["second"]
    assert (second["score"], second["passed"], second["strict"], second["threshold"]) == (1.0, 1, 1, 1.0)
    missing = rows["of-tools"]
    assert (missing["score"], missing["passed"], missing["confidence"]) == (None, None, None)
    assert "tools_called" in missing["reason"]


def test_the_store_holds_one_row_of_the_breakdown_for_each_question(run: Any) -> None:
    _, connection, _ = run
    rows = connection.execute(
        f"SELECT {', '.join(BREAKDOWN)} FROM score_breakdown WHERE metric_id = 'first' ORDER BY position"
    ).fetchall()
    assert [(row["position"], row["type"], row["weight"]) for row in rows] == [
        (1, "noul", 7.0625), (2, "score", 1.0), (3, "choice", 1.0),
    ]  # fmt: skip
    assert json.loads(rows[0]["probabilities"]) == {"true": 0.9, "false": 0.1}
    assert json.loads(rows[1]["probabilities"]) == {"Nothing": 0.9, "Something": 0.05, "Everything": 0.05}
    assert rows[1]["value"] == pytest.approx(0.075)
    assert [row["applicable"] for row in rows] == [1, 1, 1]
    assert [row["passed"] for row in rows] == [None, None, None]
    assert [row["confidence"] for row in rows] == [0.8, 0.85, 0.85]
    strict = connection.execute("SELECT passed FROM score_breakdown WHERE metric_id = 'second'").fetchall()
    assert [row["passed"] for row in strict] == [1]


def test_the_summary_shows_each_metrics_mean_and_who_was_not_scored(run: Any) -> None:
    _, _, text = run
    assert "second" in text and "mean 1.000 of 1 scored" in text
    assert "1 not scored" in text


def test_a_metric_that_scored_no_case_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    metric = {"id": "m", "version": "1", "fields": ["input", "retrieval_context"], "questions": [{"noul": "So."}]}
    (tmp_path / "m.json").write_text(json.dumps([metric]))
    cases = [{key: value for key, value in case(i).items() if key != "context"} for i in range(3)]
    ran = quick(*project(tmp_path, cases), f"metrics.path={tmp_path}/m.json")
    lines = [line.strip() for line in ran.out.splitlines()]
    at = lines.index("m 1  mean – of 0 scored · simulated · 3 not scored")
    why = "3 not scored: the case does not hold retrieval_context, which the metric asks for"
    assert " ".join(lines[at + 1 : at + 3]).startswith(why)
    assert why in " ".join(jeval("show", "--store", str(tmp_path / "jeval.db")).out.split())


def test_the_scores_of_a_case_and_of_a_run_are_read_back(run: Any) -> None:
    _, connection, _ = run
    [run_id, pk] = connection.execute("SELECT id, pk FROM runs").fetchone()
    [key] = connection.execute("SELECT key FROM case_ids WHERE id = 'case-1'").fetchone()
    found = case_scores(connection, pk, key)
    assert [score["metric_id"] for score in found] == ["all-of-it", "first", "narrow", "of-tools", "second", "whole"]
    assert [row["position"] for row in found[1]["breakdown"]] == [1, 2, 3]
    assert found[0]["passed"] is True and found[0]["explanation"] is None
    assert (found[3]["status"], found[3]["score"], found[3]["breakdown"]) == ("skipped", None, [])
    assert case_scores(connection, pk, key + 1) == []
    assert {row[0]: row[3] for row in run_scores(connection, run_id)}["of-tools"] is None
