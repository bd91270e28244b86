"""Writing a run: each case whole or not at all, shared pieces once, counts that add up."""

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jeval.case import Case
from jeval.errors import JudgeError, StoreError
from jeval.metric import Metric
from jeval.question import Answer, Question
from jeval.result import CaseResult
from jeval.ruling import STATUSES
from jeval.store.connect import open_store
from jeval.store.runs import begin_run
from jeval.store.writer import ResultWriter
from tests.judges import ScriptedJudge, leaning
from tests.running import judged, run_row
from tests.samples import case, cases, rubric

KINDS = ("policy-compliance", "claim-support", "tool-claim", "escalation", "custom")
RUBRICS = [rubric(kind) for kind in KINDS]
METRIC = Metric.model_validate(
    {"id": "polite", "version": "1", "fields": ["actual_output"], "questions": [{"noul": "It is polite."}]}
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_store(tmp_path / "jeval.db")) as connection:
        yield connection


def count(store: sqlite3.Connection, table: str) -> int:
    return int(store.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def stored_checks(store: sqlite3.Connection, run_id: str = "run-1") -> dict[tuple[str, str], dict[str, Any]]:
    cursor = store.execute("SELECT * FROM checks WHERE run_id = ?", (run_id,))
    names = [column[0] for column in cursor.description]
    found = [dict(zip(names, row, strict=True)) for row in cursor]
    return {(row["case_id"], row["rubric_id"]): row for row in found}


def as_stored(result: CaseResult) -> dict[tuple[str, str], dict[str, Any]]:
    found = {}
    for check in result.checks:
        row = {"run_id": "run-1", **check.as_dict(), "required": int(check.rubric.required)}
        row["probabilities"] = None if check.probabilities is None else dict(check.probabilities)
        found[check.case_id, check.rubric.id] = row
    return found


def test_a_check_survives_the_round_trip_whatever_its_kind(store: sqlite3.Connection) -> None:
    results = judged(store, cases(3), RUBRICS)
    found = stored_checks(store)
    for row in found.values():
        row["probabilities"] = None if row["probabilities"] is None else json.loads(row["probabilities"])
    expected = {key: row for result in results for key, row in as_stored(result).items()}
    assert found == expected
    assert len(found) == 3 * len(RUBRICS)


texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


@settings(max_examples=25)
@given(texts, texts, texts, st.floats(0, 1), st.dictionaries(texts, st.integers() | texts, max_size=3))
def test_any_text_survives_the_round_trip(
    tmp_path: Path, text: str, policy: str, criterion: str, p: float, metadata: dict[str, Any]
) -> None:
    one = case(input=text, output=text, policy=policy or "p", metadata=metadata)
    rubrics = [
        rubric("custom", criterion=f"x{criterion}", outcomes={"acceptable": f"a{text}", "unacceptable": "b"}),
        rubric("policy-compliance"),
    ]
    judge = ScriptedJudge(lambda question: leaning(question, question.names[0], p))
    path = tmp_path / "jeval.db"
    path.unlink(missing_ok=True)
    with closing(open_store(path)) as store:
        (result,) = judged(store, [one], rubrics, judge)
        found = stored_checks(store)
        body, shown = store.execute("SELECT body, input FROM cases").fetchone()
    path.unlink()
    assert Case.model_validate(json.loads(body)) == one.model_copy(update={"expected": None})
    assert shown == text
    for key, row in as_stored(result).items():
        stored = {**found[key], "probabilities": json.loads(found[key]["probabilities"])}
        assert stored == row


@given(st.lists(st.lists(st.sampled_from([0.0, 0.3, 0.6, 0.9]), min_size=2, max_size=2), max_size=9), st.data())
def test_counts_add_up(tmp_path: Path, leanings: list[list[float]], data: st.DataObject) -> None:
    rubrics = [rubric("custom", id="a", severity="critical"), rubric("claim-support", id="b")]
    failing = data.draw(st.sets(st.integers(0, len(leanings))))
    script = iter([p for pair in leanings for p in pair] + [0.5] * 40)
    failures = [JudgeError("timeout", "late") if i in failing else None for i in range(len(leanings))]
    judge = ScriptedJudge(lambda q: leaning(q, q.names[0], next(script)), failures=failures)  # type: ignore[arg-type]
    path = tmp_path / "jeval.db"
    path.unlink(missing_ok=True)
    with closing(open_store(path)) as store:
        results = judged(store, cases(len(leanings)), rubrics, judge)
        tallies = store.execute("SELECT rubric, status, n FROM tallies ORDER BY 1, 2").fetchall()
        counted = store.execute(
            "SELECT rubric, status, count(*) FROM check_rows GROUP BY 1, 2 ORDER BY 1, 2"
        ).fetchall()
        summary = store.execute("SELECT pass, fail, review, skipped, error, critical_failures FROM run_summary")
        found = summary.fetchone()
    path.unlink()
    assert tallies == counted
    statuses = [check.status for result in results for check in result.checks]
    assert list(found[:5]) == [statuses.count(status) for status in STATUSES]
    assert found[5] == sum(check.critical_failure for result in results for check in result.checks)


def test_what_runs_share_stands_once(store: sqlite3.Connection) -> None:
    judged(store, cases(4), RUBRICS)
    tables = ("case_rows", "case_ids", "rubrics", "criteria", "questions", "findings", "verdicts", "judges")
    once = {table: count(store, table) for table in tables}
    judged(store, cases(4), RUBRICS, run_id="run-2")
    assert {table: count(store, table) for table in tables} == once
    assert once["case_rows"] == 4 and once["rubrics"] == len(RUBRICS)
    assert count(store, "check_rows") == 2 * 4 * len(RUBRICS)


def test_a_changed_case_is_stored_beside_the_old_one_and_each_run_keeps_its_own(
    store: sqlite3.Connection,
) -> None:
    judged(store, [case(output="Old.")], RUBRICS)
    judged(store, [case(output="New.")], RUBRICS, run_id="run-2")
    assert count(store, "case_ids") == 1 and count(store, "case_rows") == 2
    found = store.execute(
        "SELECT runs.id, json_extract(r.body, '$.output') FROM run_cases c JOIN runs ON runs.pk = c.run"
        " JOIN case_rows r ON r.pk = c.content ORDER BY 1"
    ).fetchall()
    assert found == [("run-1", "Old."), ("run-2", "New.")]


def test_labels_are_kept_apart_from_cases_and_the_last_word_of_one_author_counts(
    store: sqlite3.Connection,
) -> None:
    def labelled(status: str, **more: Any) -> Case:
        return case(expected={"custom": {"status": status, "source": "human", **more}})

    judged(store, [labelled("pass", reviewer="ann")], [rubric("custom")])
    judged(store, [labelled("fail", reviewer="ann", note="seen again")], [rubric("custom")], run_id="run-2")
    judged(store, [labelled("review", reviewer="bob")], [rubric("custom")], run_id="run-3")
    found = store.execute(
        "SELECT case_id, rubric_id, expected, reviewer, note FROM labels ORDER BY reviewer"
    ).fetchall()
    assert found == [
        ("case-1", "custom", "fail", "ann", "seen again"),
        ("case-1", "custom", "review", "bob", None),
    ]
    assert count(store, "case_rows") == 1
    assert "expected" not in store.execute("SELECT body FROM cases").fetchone()[0]


def test_a_request_and_its_judgments_are_stored_as_they_came(store: sqlite3.Connection) -> None:
    judged(store, [case()], [rubric("custom"), rubric("escalation")])
    request = store.execute(
        "SELECT run_id, case_id, model_served, latency_ms, attempts, input_tokens, output_tokens, cost_usd,"
        " error_kind, request_id FROM requests"
    ).fetchall()
    assert request == [("run-1", "case-1", "scripted-1.0", 12.5, 1, 101, 0, 0.001, None, "request-1")]
    judgments = store.execute(
        "SELECT judge, gateway, model_asked, model_served, repeat, answer FROM judgments"
    ).fetchall()
    assert len(judgments) == 3
    assert {row[:5] for row in judgments} == {("scripted", "here", "scripted-1", "scripted-1.0", 0)}
    assert all(set(json.loads(row[5])) == {"probabilities", "confidence"} for row in judgments)


def test_a_failed_request_is_stored_with_its_kind_and_its_checks_are_errors(
    store: sqlite3.Connection,
) -> None:
    judge = ScriptedJudge(failures=[JudgeError("overloaded", "529: busy", attempts=5, latency_ms=9.0)])
    judged(store, [case()], [rubric("custom")], judge)
    assert store.execute("SELECT error_kind, attempts, latency_ms FROM requests").fetchall() == [("overloaded", 5, 9.0)]
    ((status, outcome, reason),) = store.execute("SELECT status, outcome, reason FROM checks").fetchall()
    assert (status, outcome) == ("error", None) and "overloaded" in reason
    assert count(store, "judgments") == 0


def test_metric_scores_and_their_breakdown_are_stored(store: sqlite3.Connection) -> None:
    judged(store, [case()], [], metrics=[METRIC])
    assert store.execute("SELECT metric_id, score, passed, strict, threshold FROM scores").fetchall() == [
        ("polite", 0.9, 1, 0, 0.5)
    ]
    found = store.execute(
        "SELECT case_id, metric_id, position, type, question, weight, value, applicable, passed,"
        " probabilities FROM score_breakdown"
    ).fetchall()
    ((*head, probabilities),) = found
    assert head[:2] == ["case-1", "polite"] and head[3:] == ["noul", "It is polite.", 1.0, 0.9, 1, None]
    assert json.loads(probabilities)["true"] == 0.9


def test_checks_that_differ_between_repeats_are_noted(store: sqlite3.Connection) -> None:
    answers = iter([0.9, 0.1, 0.9])

    def script(question: Question) -> Answer:
        p = next(answers)
        return Answer({name: p if i == 0 else (1 - p) if i == 1 else 0.0 for i, name in enumerate(question.names)})

    judged(store, [case()], [rubric("custom")], ScriptedJudge(script), repeat=3)
    ((statuses,),) = store.execute("SELECT statuses FROM repeat_flips").fetchall()
    assert json.loads(statuses) == ["pass", "fail", "pass"]
    assert store.execute("SELECT repeat, count(*) FROM judgments GROUP BY 1").fetchall() == [
        (0, 1),
        (1, 1),
        (2, 1),
    ]


def failing(store: sqlite3.Connection, table: str) -> None:
    """From here on nothing can be inserted into a table."""
    raising = "BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
    store.execute(f"CREATE TEMP TRIGGER full BEFORE INSERT ON main.{table} {raising}")


@pytest.mark.parametrize("table", ["run_cases", "findings", "check_rows", "judgment_rows", "tallies"])
def test_a_case_that_cannot_be_written_leaves_nothing_and_what_was_written_stays(
    store: sqlite3.Connection, table: str
) -> None:
    judged(store, cases(2), RUBRICS)
    tables = ("run_cases", "check_rows", "findings", "request_rows", "judgment_rows", "case_rows", "tallies")
    before = {name: count(store, name) for name in tables}
    failing(store, table)
    with pytest.raises((StoreError, ExceptionGroup)) as caught:
        judged(store, [case(id="late", input="Another?")], RUBRICS, run_id="run-2")
    error: BaseException = caught.value
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    assert "disk is full" in str(error) and "run again" in str(error)
    assert {name: count(store, name) for name in tables} == before


def test_a_writer_that_failed_takes_nothing_more(store: sqlite3.Connection) -> None:
    keys = begin_run(store, run_row(), [], [])
    failing(store, "run_cases")

    async def write() -> None:
        writer = ResultWriter(store, keys, lambda: "now")
        writer.put((0, case(), CaseResult("case-1", ())))
        await asyncio.sleep(0)
        store.execute("DROP TRIGGER full")
        with pytest.raises(StoreError):
            writer.put((1, case(id="b"), CaseResult("b", ())))
        with pytest.raises(StoreError):
            writer.close()

    asyncio.run(write())
    assert count(store, "run_cases") == 0


def test_a_case_is_durable_by_the_next_turn_of_the_loop(store: sqlite3.Connection, tmp_path: Path) -> None:
    keys = begin_run(store, run_row(), [], [])

    async def write() -> int:
        writer = ResultWriter(store, keys, lambda: "now")
        writer.put((0, case(), CaseResult("case-1", ())))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        with closing(sqlite3.connect(tmp_path / "jeval.db")) as other:
            return int(other.execute("SELECT count(*) FROM run_cases").fetchone()[0])

    assert asyncio.run(write()) == 1


def test_a_full_batch_is_written_at_once(store: sqlite3.Connection) -> None:
    keys = begin_run(store, run_row(), [], [])

    async def write() -> int:
        writer = ResultWriter(store, keys, lambda: "now")
        for i in range(64):
            writer.put((i, case(id=f"c{i}"), CaseResult(f"c{i}", ())))
        return count(store, "run_cases")

    assert asyncio.run(write()) == 64
