"""The schema: every guaranteed table, view and column is there, and means what it says."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from jeval.ruling import STATUSES
from jeval.store.connect import open_store
from jeval.store.schema import MIGRATIONS
from jeval.store.status import STATUS_CODES, STATUS_NAMES
from tests.stores import add_run, rubric

GUARANTEED = {
    "runs": "id name started_at finished_at status exit_code dataset dataset_sha256 cases thresholds"
    " threshold_pass threshold_fail judge gateway model_asked model_served simulated config_yaml"
    " config_sha256 overrides jeval_version git_commit requests judgments_asked judgments_reused input_tokens"
    " output_tokens cost_usd sweep_id",
    "checks": "run_id case_id rubric_id rubric_version kind severity required status outcome probabilities"
    " confidence reason rule criterion evidence",
    "scores": "run_id case_id metric_id metric_version score passed strict threshold confidence reason",
    "score_breakdown": "run_id case_id metric_id position type question weight probabilities value applicable"
    " passed confidence",
    "judgments": "judge gateway model_asked model_served state_sha256 question_sha256 repeat answer asked_at"
    " request_id",
    "requests": "run_id case_id model_served latency_ms attempts input_tokens output_tokens error_kind",
    "cases": "case_sha256 id input output body",
    "rubrics": "id version sha256 kind severity required definition",
    "labels": "case_id rubric_id expected source reviewer note labelled_at",
    "run_summary": "run_id pass fail review skipped error pass_rate_decided decided_coverage review_rate"
    " critical_failures",
    "critical_failures": "run_id case_id rubric_id rubric_version reason",
    "rubric_summary": "run_id rubric_id rubric_version pass fail review skipped error",
}  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_store(tmp_path / "jeval.db")) as connection:
        yield connection


@pytest.mark.parametrize("name", GUARANTEED)
def test_every_guaranteed_column_is_there(store: sqlite3.Connection, name: str) -> None:
    columns = {row[1] for row in store.execute(f"PRAGMA table_xinfo({name})")}
    assert set(GUARANTEED[name].split()) <= columns


def test_every_table_is_strict(store: sqlite3.Connection) -> None:
    tables = store.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").fetchall()
    assert tables and all("STRICT" in sql for _, sql in tables)


def test_the_codes_of_statuses_are_those_of_the_product() -> None:
    assert STATUS_NAMES == STATUSES and list(STATUS_CODES.values()) == [0, 1, 2, 3, 4]


def test_migrations_have_distinct_names() -> None:
    names = [name for name, _ in MIGRATIONS]
    assert len(set(names)) == len(names)


def test_a_summary_counts_each_status_and_names_its_denominators(store: sqlite3.Connection) -> None:
    statuses = ["pass"] * 3 + ["fail"] * 2 + ["review"] * 4 + ["skipped"] * 5 + ["error"]
    rubrics = [rubric("a", severity="critical")]
    add_run(store, "r1", {(f"c{i}", "a"): status for i, status in enumerate(statuses)}, rubrics)
    found = store.execute(
        "SELECT pass, fail, review, skipped, error, pass_rate_decided, decided_coverage, review_rate,"
        " critical_failures FROM run_summary WHERE run_id = 'r1'"
    ).fetchone()
    assert found == (3, 2, 4, 5, 1, pytest.approx(3 / 5), pytest.approx(5 / 10), pytest.approx(4 / 10), 2)
    assert store.execute("SELECT count(*) FROM critical_failures WHERE run_id = 'r1'").fetchone() == (2,)
    assert store.execute("SELECT count(*) FROM checks WHERE run_id = 'r1'").fetchone() == (len(statuses),)


def test_a_rate_over_nothing_is_null_and_a_run_without_checks_counts_zero(store: sqlite3.Connection) -> None:
    add_run(store, "r1", {("c", "a"): "skipped"})
    add_run(store, "r2", {})
    rates = "SELECT pass_rate_decided, decided_coverage, review_rate FROM run_summary WHERE run_id = ?"
    assert store.execute(rates, ("r1",)).fetchone() == (None, None, None)
    counts = "SELECT pass, fail, review, skipped, error, critical_failures FROM run_summary WHERE run_id = ?"
    assert store.execute(counts, ("r2",)).fetchone() == (0, 0, 0, 0, 0, 0)


def test_rubrics_are_summed_up_one_by_one(store: sqlite3.Connection) -> None:
    add_run(store, "r1", {("c1", "a"): "pass", ("c2", "a"): "fail", ("c1", "b"): "error", ("c2", "b"): "pass"})
    found = store.execute("SELECT rubric_id, pass, fail, error FROM rubric_summary ORDER BY 1").fetchall()
    assert found == [("a", 1, 1, 0), ("b", 1, 0, 1)]


@pytest.mark.parametrize(
    "twice",
    [
        ("questions", (1, "s", "body"), (1, "t", "body")),
        ("criteria", (1, "one"), (1, "two")),
        ("verdicts", (1, 0, None, "rule", "reason"), (1, 0, None, "rule", "other")),
        ("verdicts", (1, 0, "x", "rule", "reason"), (1, 0, None, "rule", "reason")),
        (
            "score_results",
            (1, "scored", 0.5, 1, 0, 0.5, None, "r", "[]"),
            (1, "scored", None, 1, 0, 0.5, None, "r", "[]"),
        ),
    ],
)
def test_two_contents_under_one_key_are_refused_and_the_same_twice_is_not(
    store: sqlite3.Connection, twice: tuple[str, tuple[object, ...], tuple[object, ...]]
) -> None:
    table, first, second = twice
    sql = f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(first))})"
    store.execute(sql, first)
    store.execute(sql, first)
    with pytest.raises(sqlite3.IntegrityError, match="two contents under one key"):
        store.execute(sql, second)


def test_rows_refer_to_what_is_there(store: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        store.execute("INSERT INTO run_cases VALUES (1, 0, 1, 1, NULL)")
    with pytest.raises(sqlite3.IntegrityError):
        store.execute("INSERT INTO judgment_rows VALUES (1, 1, '{}')")


@pytest.mark.parametrize("view", ["checks", "scores", "requests", "critical_failures"])
def test_the_newest_rows_come_first_without_a_sort(store: sqlite3.Connection, view: str) -> None:
    plan = store.execute(f"EXPLAIN QUERY PLAN SELECT * FROM {view} ORDER BY run_id DESC LIMIT 50").fetchall()
    assert not [step for *_, step in plan if "TEMP B-TREE" in step]


def test_the_checks_of_a_case_are_looked_up_and_not_searched_for(store: sqlite3.Connection) -> None:
    plan = store.execute("EXPLAIN QUERY PLAN SELECT * FROM checks WHERE case_id = 'x'").fetchall()
    assert "SEARCH c USING PRIMARY KEY (run=? AND case_key=?)" in [step for *_, step in plan]


def test_a_later_form_of_a_view_has_the_columns_and_rows_of_the_first(store: sqlite3.Connection) -> None:
    add_run(store, "r1", {("c1", "a"): "pass", ("c2", "a"): "fail"}, [rubric("a", severity="critical")])
    add_run(store, "r2", {("c1", "b"): "review"}, scores={("c1", "m"): 0.5})
    first = sqlite3.connect(":memory:", isolation_level=None)
    first.executescript("".join(sql for _, sql in MIGRATIONS[:2]))
    for view in ("checks", "scores", "requests", "critical_failures"):
        sql = first.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (view,)).fetchone()[0]
        store.execute(sql.replace(f"CREATE VIEW {view}", f"CREATE TEMP VIEW first_{view}"))
        of_first, of_later = store.execute(f"SELECT * FROM first_{view}"), store.execute(f"SELECT * FROM {view}")
        assert [column[0] for column in of_first.description] == [column[0] for column in of_later.description]
        assert sorted(map(repr, of_first)) == sorted(map(repr, of_later))
    first.close()
