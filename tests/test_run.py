"""One run from settings to exit code: what stops it early, what it counts, how it always ends its row."""

import asyncio
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from jeval.app.outcome import Outcome
from jeval.app.prepare import Prepared, prepare
from jeval.app.progress import Progress
from jeval.app.run import execute, new_run_id
from jeval.app.run_record import now
from jeval.app.settings import settings_of
from jeval.errors import JudgeError, JudgeRefused
from jeval.question import Question, Reply
from jeval.state import State
from jeval.store.connect import open_store
from tests.judges import ScriptedJudge
from tests.running import write_cases, write_rubrics


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_store(tmp_path / "jeval.db")) as connection:
        yield connection


def prepared(folder: Path, cases: int = 6, **judge: Any) -> Prepared:
    """A run of that many cases about to begin, one request at a time."""
    settings = {
        "dataset": {"name": "file", "path": str(write_cases(folder / "c.jsonl", cases))},
        "rubrics": {"name": "file", "path": str(write_rubrics(folder / "r.json"))},
        "metrics": {"name": "none"},
        "thresholds": {"name": "default", "pass": 0.75, "fail": 0.5},
        "judge": {"name": "scripted", "gateway": "here", "concurrency": 1, **judge},
        "gate": {"name": "off"},
    }
    return prepare(settings_of(settings), folder)


def run(store: sqlite3.Connection, about: Prepared, judge: Any = None, run_id: str = "r") -> Outcome:
    return execute(about, store, judge or ScriptedJudge(), Progress(), run_id=run_id, overrides=[])


def row(store: sqlite3.Connection, run_id: str = "r") -> dict[str, Any]:
    cursor = store.execute("SELECT * FROM runs WHERE id = ?", (run_id,))
    return dict(zip([column[0] for column in cursor.description], cursor.fetchone(), strict=True))


def test_the_progress_goes_on_while_no_case_ends(
    store: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jeval.app.run._TICK_S", 0.001)

    class Patient(Progress):
        seen = 0

        def advance(self, state: Any) -> None:
            self.seen += state.summary.cases == 0

    class Slow(ScriptedJudge):
        async def ask(self, state: State, questions: Mapping[str, Question]) -> Reply:
            for _ in range(10_000):
                if progress.seen >= 3:
                    break
                await asyncio.sleep(0.001)
            return await super().ask(state, questions)

    progress = Patient()
    outcome = execute(prepared(tmp_path, 1), store, Slow(), progress, run_id="r", overrides=[])
    assert outcome.status == "complete" and progress.seen >= 3


def test_a_complete_run_counts_what_it_took_and_ends_its_row(store: sqlite3.Connection, tmp_path: Path) -> None:
    judge = ScriptedJudge()
    outcome = run(store, prepared(tmp_path), judge)
    assert (outcome.status, outcome.exit_code, outcome.left, outcome.stopped_because) == (
        "complete",
        0,
        0,
        None,
    )
    assert (outcome.summary.cases, outcome.summary.checks) == (6, 12)
    assert (outcome.requests, outcome.asked, outcome.reused) == (6, 12, 0)
    assert outcome.input_tokens == sum(range(101, 107)) and outcome.output_tokens == 0
    assert outcome.cost_usd == pytest.approx(0.006)
    found = row(store)
    assert (found["status"], found["exit_code"], found["requests"], found["judgments_asked"]) == (
        "complete",
        0,
        6,
        12,
    )
    assert found["model_served"] == "scripted-1.0" and found["simulated"] == 0
    assert found["started_at"] <= found["finished_at"] and found["wall_s"] >= 0
    assert judge.closed


def test_a_case_without_an_answer_makes_a_run_incomplete_and_stops_nothing(
    store: sqlite3.Connection, tmp_path: Path
) -> None:
    outcome = run(store, prepared(tmp_path), ScriptedJudge(failures=[None, JudgeError("timeout", "late")]))
    assert (outcome.status, outcome.exit_code, outcome.summary.cases) == ("incomplete", 2, 6)
    assert outcome.summary.errors == 2 and outcome.left == 0


def test_a_refusal_ends_the_run_and_keeps_what_was_answered(store: sqlite3.Connection, tmp_path: Path) -> None:
    judge = ScriptedJudge(failures=[None, None, JudgeRefused("auth", "bad key")])
    outcome = run(store, prepared(tmp_path), judge)
    assert (outcome.status, outcome.exit_code, outcome.left) == ("incomplete", 2, 4)
    assert outcome.stopped_because == "auth: bad key" and len(judge.requests) == 3
    assert row(store)["left_unasked"] == 4 and row(store)["stopped_because"] == "auth: bad key"
    assert store.execute("SELECT count(*) FROM run_cases").fetchone() == (2,)
    assert judge.closed


def test_an_empty_dataset_is_incomplete(store: sqlite3.Connection, tmp_path: Path) -> None:
    outcome = run(store, prepared(tmp_path, 0))
    assert (outcome.status, outcome.exit_code) == ("incomplete", 2)


def test_the_budget_is_measured_and_stops_before_the_next_case(store: sqlite3.Connection, tmp_path: Path) -> None:
    outcome = run(store, prepared(tmp_path, max_usd=0.002), judge := ScriptedJudge())
    assert len(judge.requests) == 2 and outcome.exit_code == 2 and outcome.left == 4
    assert "judge.max_usd=0.002 is reached" in str(outcome.stopped_because)
    assert run(store, prepared(tmp_path, max_usd=1.0), run_id="again").exit_code == 0


def test_a_budget_of_nothing_asks_no_more_than_once(store: sqlite3.Connection, tmp_path: Path) -> None:
    outcome = run(store, prepared(tmp_path, max_usd=0.0), judge := ScriptedJudge())
    assert len(judge.requests) <= 1 and outcome.exit_code == 2


def test_reused_judgments_cost_nothing_of_the_budget(store: sqlite3.Connection, tmp_path: Path) -> None:
    run(store, prepared(tmp_path))
    outcome = run(store, prepared(tmp_path, max_usd=0.001), run_id="again")
    assert outcome.exit_code == 0 and outcome.cost_usd is None and outcome.reused == 12


def test_a_judge_that_cannot_be_reached_a_hundred_times_in_a_row_is_given_up(
    store: sqlite3.Connection, tmp_path: Path
) -> None:
    lost = [JudgeError("connection", "cannot connect") for _ in range(300)]
    outcome = run(store, prepared(tmp_path, 150), judge := ScriptedJudge(failures=lost))  # type: ignore[arg-type]
    assert len(judge.requests) == 100 and outcome.left == 50 and outcome.exit_code == 2
    assert "cannot be reached (cannot connect)" in str(outcome.stopped_because)


def test_one_answer_between_failures_keeps_the_run_going(store: sqlite3.Connection, tmp_path: Path) -> None:
    failures = [None if i % 60 == 59 else JudgeError("timeout", "late") for i in range(150)]
    outcome = run(store, prepared(tmp_path, 150), ScriptedJudge(failures=failures))  # type: ignore[arg-type]
    assert outcome.left == 0 and outcome.summary.cases == 150


def test_a_run_ends_its_row_even_when_our_own_code_fails(store: sqlite3.Connection, tmp_path: Path) -> None:
    judge = ScriptedJudge(failures=[None, ZeroDivisionError("ours")])
    with pytest.raises(ZeroDivisionError):
        run(store, prepared(tmp_path), judge)
    found = row(store)
    assert found["status"] == "incomplete" and found["exit_code"] == 3 and found["finished_at"]
    assert judge.closed


def test_an_interruption_leaves_a_run_that_says_so(store: sqlite3.Connection, tmp_path: Path) -> None:
    class Interrupting(ScriptedJudge):
        async def ask(self, state: State, questions: Mapping[str, Question]) -> Reply:
            if len(self.requests) == 3:
                raise KeyboardInterrupt
            return await super().ask(state, questions)

    outcome = run(store, prepared(tmp_path), Interrupting())
    assert (outcome.status, outcome.exit_code, outcome.left) == ("interrupted", 130, 3)
    assert row(store)["status"] == "interrupted" and row(store)["exit_code"] == 130


def test_no_more_is_under_way_at_once_than_was_allowed(store: sqlite3.Connection, tmp_path: Path) -> None:
    class Slow(ScriptedJudge):
        async def ask(self, state: State, questions: Mapping[str, Question]) -> Reply:
            reply = await super().ask(state, questions)
            await asyncio.sleep(0)
            return reply

    for allowed in (1, 3):
        judge = Slow()
        run(store, prepared(tmp_path, 12, concurrency=allowed, reuse="never"), judge, run_id=f"at-{allowed}")
        assert judge.most_at_once == allowed


def test_cases_keep_their_place_in_the_dataset_whatever_order_they_end_in(
    store: sqlite3.Connection, tmp_path: Path
) -> None:
    run(store, prepared(tmp_path, 9, concurrency=4))
    places = store.execute(
        "SELECT case_ids.id FROM run_cases c JOIN case_ids ON case_ids.key = c.case_key ORDER BY position"
    ).fetchall()
    assert [place[0] for place in places] == [f"case-{i:04d}" for i in range(9)]


def test_run_ids_are_unique_and_sort_by_time_and_times_are_utc() -> None:
    ids = {new_run_id() for _ in range(200)}
    assert len(ids) == 200
    assert all(len(run_id) == 22 for run_id in ids)
    assert now().endswith("Z") and len(now()) == 24


def test_unknown_is_none_and_known_zero_is_zero(store: sqlite3.Connection, tmp_path: Path) -> None:
    class Silent(ScriptedJudge):
        async def ask(self, state: State, questions: Mapping[str, Question]) -> Reply:
            return (await super().ask(state, questions))._replace(input_tokens=None, cost_usd=None)

    outcome = run(store, prepared(tmp_path), Silent())
    assert outcome.input_tokens is None and outcome.cost_usd is None and outcome.output_tokens == 0
    assert row(store)["cost_usd"] is None and row(store)["output_tokens"] == 0
