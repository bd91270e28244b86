"""Stored judgments: asked once, reused for ever, never taken for another state, question, judge or repeat."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from jeval.errors import JudgeError
from jeval.question import choice
from jeval.store.connect import open_store
from jeval.store.recall import StoredJudgments
from tests.judges import ScriptedJudge, leaning
from tests.running import judged
from tests.samples import case, cases, rubric

CUSTOM, SUPPORT = rubric("custom"), rubric("claim-support")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_store(tmp_path / "jeval.db")) as connection:
        yield connection


def statuses(store: sqlite3.Connection, run_id: str) -> list[tuple[str, str]]:
    return store.execute(
        "SELECT case_id, status FROM checks WHERE run_id = ? ORDER BY 1, rubric_id", (run_id,)
    ).fetchall()


def judgments(store: sqlite3.Connection) -> int:
    return int(store.execute("SELECT count(*) FROM judgments").fetchone()[0])


def test_a_second_run_asks_nothing_and_says_what_it_reused_and_how_old_it_is(
    store: sqlite3.Connection,
) -> None:
    first = judged(store, cases(3), [CUSTOM, SUPPORT])
    judge = ScriptedJudge()
    second = judged(store, cases(3), [CUSTOM, SUPPORT], judge, run_id="run-2")
    assert judge.requests == []
    assert [(r.asked, r.reused) for r in first] == [(2, 0)] * 3
    assert [(r.asked, r.reused) for r in second] == [(0, 2)] * 3
    assert [r.checks for r in second] == [r.checks for r in first]
    assert statuses(store, "run-2") == statuses(store, "run-1")
    assert judgments(store) == 6


def test_only_what_is_new_is_asked(store: sqlite3.Connection) -> None:
    judged(store, cases(2), [CUSTOM])
    judge = ScriptedJudge()
    found = judged(store, cases(3), [CUSTOM, SUPPORT], judge, run_id="run-2")
    assert [(r.asked, r.reused) for r in found] == [(1, 1), (1, 1), (2, 0)]
    assert [len(request.questions) for request in judge.requests] == [1, 1, 2]


def test_an_edited_rubric_re_asks_its_own_questions_only(store: sqlite3.Connection) -> None:
    judged(store, [case()], [CUSTOM, SUPPORT])
    judge = ScriptedJudge()
    edited = rubric("custom", version="2.0.0", criterion="The tone is warm.")
    judged(store, [case()], [edited, SUPPORT], judge, run_id="run-2")
    (question,) = judge.questions
    assert "warm" in question.instructions


def test_a_judgment_belongs_to_the_state_and_not_to_the_case_or_the_rubric(store: sqlite3.Connection) -> None:
    judged(store, [case(id="a")], [CUSTOM])
    judge = ScriptedJudge()
    renamed = rubric("custom", id="other-name", severity="critical", thresholds={"pass": 0.95, "fail": 0.9})
    judged(store, [case(id="b", metadata={"x": 1})], [renamed], judge, run_id="run-2")
    assert judge.requests == []


def test_another_state_is_asked_for_itself(store: sqlite3.Connection) -> None:
    judged(store, [case()], [CUSTOM])
    judge = ScriptedJudge()
    judged(store, [case(output="Another answer.")], [CUSTOM], judge, run_id="run-2")
    assert len(judge.requests) == 1


@pytest.mark.parametrize(("attribute", "asked"), [("gateway", 1), ("model", 1), ("name", 0)])
def test_a_judge_is_its_gateway_and_its_model_and_not_its_name(
    store: sqlite3.Connection, attribute: str, asked: int
) -> None:
    judged(store, [case()], [CUSTOM])
    judge = ScriptedJudge()
    setattr(judge, attribute, "another")
    judged(store, [case()], [CUSTOM], judge, run_id="run-2")
    assert len(judge.requests) == asked


def test_an_empty_tool_log_is_another_state_than_none(store: sqlite3.Connection) -> None:
    judged(store, [case(toolEvents=None)], [CUSTOM])
    judge = ScriptedJudge()
    judged(store, [case(toolEvents=[])], [CUSTOM], judge, run_id="run-2")
    assert len(judge.requests) == 1


def test_never_asks_afresh_and_keeps_both_and_the_latest_counts(store: sqlite3.Connection) -> None:
    judged(store, [case()], [CUSTOM], ScriptedJudge(lambda q: leaning(q, q.names[0])))
    judged(
        store,
        [case()],
        [CUSTOM],
        ScriptedJudge(lambda q: leaning(q, q.names[1])),
        run_id="run-2",
        reuse=False,
    )
    judged(store, [case()], [CUSTOM], run_id="run-3")
    assert judgments(store) == 2
    assert [statuses(store, f"run-{i}")[0][1] for i in (1, 2, 3)] == ["pass", "fail", "fail"]


def test_only_never_asks_and_says_what_is_missing(store: sqlite3.Connection) -> None:
    judged(store, [case()], [CUSTOM])
    judge = ScriptedJudge()
    judged(store, [case()], [CUSTOM, SUPPORT], judge, run_id="run-2", ask=False)
    assert judge.requests == []
    found = dict(store.execute("SELECT rubric_id, status FROM checks WHERE run_id = 'run-2'").fetchall())
    assert found == {"custom": "pass", "claim-support": "error"}
    (reason,) = store.execute("SELECT reason FROM checks WHERE status = 'error'").fetchone()
    assert "no judgment is stored" in reason and "judge.reuse" in reason


def test_a_run_can_be_decided_again_from_its_own_judgments_although_newer_ones_exist(
    store: sqlite3.Connection,
) -> None:
    judged(store, [case()], [CUSTOM], ScriptedJudge(lambda q: leaning(q, q.names[0])))
    judged(
        store,
        [case()],
        [CUSTOM],
        ScriptedJudge(lambda q: leaning(q, q.names[1])),
        run_id="run-2",
        reuse=False,
    )
    judged(store, [case()], [CUSTOM], run_id="run-3", of_run=1, ask=False)
    judged(store, [case()], [CUSTOM], run_id="run-4", of_run=2, ask=False)
    judged(store, [case()], [CUSTOM], run_id="run-5", of_run=3, ask=False)
    assert [statuses(store, f"run-{i}")[0][1] for i in (3, 4, 5)] == ["pass", "fail", "pass"]


def test_repeats_are_reused_each_for_itself(store: sqlite3.Connection) -> None:
    judge = ScriptedJudge()
    judged(store, [case()], [CUSTOM], judge, repeat=2)
    more = ScriptedJudge()
    (found,) = judged(store, [case()], [CUSTOM], more, run_id="run-2", repeat=3)
    assert (len(judge.requests), len(more.requests)) == (2, 1)
    assert (found.asked, found.reused) == (1, 2)


def test_a_failed_request_leaves_nothing_to_reuse(store: sqlite3.Connection) -> None:
    judged(store, [case()], [CUSTOM], ScriptedJudge(failures=[JudgeError("timeout", "late")]))
    judge = ScriptedJudge()
    judged(store, [case()], [CUSTOM], judge, run_id="run-2")
    assert len(judge.requests) == 1
    assert [statuses(store, f"run-{i}")[0][1] for i in (1, 2)] == ["error", "pass"]


def test_cases_with_one_state_are_asked_once_even_at_the_same_time(store: sqlite3.Connection) -> None:
    judge = ScriptedJudge()
    found = judged(store, [case(id=f"c{i}") for i in range(6)], [CUSTOM], judge)
    assert len(judge.requests) == 1
    assert sum(r.asked for r in found) == 1 and sum(r.reused for r in found) == 5
    assert {status for _, status in statuses(store, "run-1")} == {"pass"}
    sources = store.execute("SELECT DISTINCT s.value FROM run_cases, json_each(run_cases.sources) s").fetchall()
    assert sources == store.execute("SELECT id FROM request_rows").fetchall()


def test_states_whose_short_keys_collide_are_told_apart(store: sqlite3.Connection) -> None:
    judged(store, [case()], [CUSTOM])
    (state,) = store.execute("SELECT state FROM request_rows").fetchone()
    other = bytes(state[:8]).hex() + "0" * 48
    recall = StoredJudgments(store, 1)
    question = choice("q", {"a": None, "b": None})
    assert recall(other, {question.sha256: question}, 0).answers == {}


def test_reuse_tells_the_time_of_the_oldest_judgment_it_used(store: sqlite3.Connection) -> None:
    judged(store, [case()], [CUSTOM])
    judged(store, [case()], [CUSTOM, SUPPORT], run_id="run-2")
    (state,) = store.execute("SELECT DISTINCT state FROM request_rows").fetchone()
    shas = [row[0] for row in store.execute("SELECT sha256 FROM questions ORDER BY rowid")]
    recall = StoredJudgments(store, 1)
    question = choice("q", {"a": None})
    assert recall(state.hex(), dict.fromkeys(shas, question), 0).oldest == "2026-01-01T00:00:00.000Z"
    younger = store.execute(
        "SELECT q.sha256 FROM judgment_rows j JOIN questions q ON q.id = j.question JOIN request_rows r"
        " ON r.id = j.request WHERE r.run = 2"
    ).fetchone()[0]
    assert recall(state.hex(), {younger: question}, 0).oldest == "2026-01-02T00:00:00.000Z"
