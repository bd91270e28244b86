"""The named queries, in Python and in plain sqlite3, and the plans that keep them fast."""

import shutil
import sqlite3
import subprocess
from itertools import product
from pathlib import Path

import pytest

from jeval.compare import CATEGORIES, category
from jeval.ruling import STATUSES
from jeval.store.queries import QUERIES, status_name
from jeval.store.status import STATUS_NAMES
from tests.stores import add_run, new_store, rubric

SINGULAR = {
    "new_failures": "new_failure",
    "resolved_failures": "resolved_failure",
    "new_reviews": "new_review",
    "new_errors": "new_error",
    "other_changes": "other_change",
}
RUNS = {"run": "b", "run_a": "a", "run_b": "b"}


@pytest.fixture
def connection(tmp_path: Path) -> sqlite3.Connection:
    """Two runs with a case for every change of status."""
    connection = new_store(tmp_path)
    pairs = list(product(STATUSES, STATUSES))
    used = [rubric("booking", severity="critical")]
    for run, side in (("a", 0), ("b", 1)):
        checks = {(f"{pair[0]}-{pair[1]}", "booking"): pair[side] for pair in pairs}
        add_run(connection, run, checks, used, flips=[("pass-fail", "booking")] if run == "b" else [])
    row = ("pass-fail", "booking", "pass", "human", "ana", "it is fine", "2026-01-01")
    connection.execute("INSERT INTO labels VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    return connection


def parameters(name: str) -> dict[str, str]:
    return {key: RUNS[key] for key in QUERIES[name].parameters}


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_takes_its_parameters_and_finds_something(connection: sqlite3.Connection, name: str) -> None:
    rows = connection.execute(QUERIES[name].sql, parameters(name)).fetchall()
    assert rows
    assert QUERIES[name].name == name
    assert all(f":{key}" in QUERIES[name].sql for key in QUERIES[name].parameters)


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="there is no sqlite3 command here")
@pytest.mark.parametrize("name", QUERIES)
def test_the_sqlite3_command_finds_the_same(connection: sqlite3.Connection, tmp_path: Path, name: str) -> None:
    expected = connection.execute(QUERIES[name].sql, parameters(name)).fetchall()
    script = "".join(f".parameter set :{key} \"'{value}'\"\n" for key, value in parameters(name).items())
    done = subprocess.run(
        ["sqlite3", "-batch", "-separator", "\x1f", str(tmp_path / "jeval.db")],
        input=f"{script}{QUERIES[name].sql};\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    lines = ["\x1f".join("" if value is None else str(value) for value in row) for row in expected]
    assert done.stdout.splitlines() == lines


def test_changes_are_sorted_into_the_lists_that_compare_uses(connection: sqlite3.Connection) -> None:
    cursor = connection.execute(QUERIES["compare"].sql, parameters("compare"))
    names = [column[0] for column in cursor.description]
    rows = [dict(zip(names, row, strict=True)) for row in cursor]
    assert len(rows) == len(STATUSES) * (len(STATUSES) - 1)
    for row in rows:
        assert row["change"] == SINGULAR[category(row["before"], row["after"])]
    order = [SINGULAR[name] for name in CATEGORIES]
    assert [row["change"] for row in rows] == sorted((row["change"] for row in rows), key=order.index)
    assert [row["case_id"] for row in rows if row["flips"]] == ["pass-fail"]


def test_flips_are_changes_between_pass_and_fail(connection: sqlite3.Connection) -> None:
    rows = connection.execute(QUERIES["flips"].sql, parameters("flips")).fetchall()
    assert {row[0] for row in rows} == {"pass-fail", "fail-pass"}


def test_critical_failures_come_with_what_was_answered(connection: sqlite3.Connection) -> None:
    rows = connection.execute(QUERIES["critical"].sql, {"run": "b"}).fetchall()
    assert {row[0] for row in rows} == {f"{status}-fail" for status in STATUSES}
    assert {row[-1] for row in rows} == {"Pears keep until March."}


def test_only_checks_that_disagree_with_a_label_are_listed(connection: sqlite3.Connection) -> None:
    rows = connection.execute(QUERIES["against_labels"].sql, {"run": "b"}).fetchall()
    assert [row[:4] for row in rows] == [("pass-fail", "booking", "fail", "pass")]
    assert connection.execute(QUERIES["against_labels"].sql, {"run": "a"}).fetchall() == []


def test_status_names_in_sql_are_those_of_the_code(connection: sqlite3.Connection) -> None:
    for code, name in enumerate(STATUS_NAMES):
        assert connection.execute(f"SELECT {status_name('?')}", (code,)).fetchone()[0] == name


def plan(connection: sqlite3.Connection, sql: str, **values: str) -> str:
    return "\n".join(str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values))


@pytest.mark.parametrize("name", ["compare", "flips"])
def test_two_runs_are_joined_by_the_primary_key_whatever_the_statistics(
    connection: sqlite3.Connection, name: str
) -> None:
    for analysed in (False, True):
        if analysed:
            connection.execute("ANALYZE")
        found = plan(connection, QUERIES[name].sql, **parameters(name))
        assert "SEARCH a USING PRIMARY KEY (run=?)" in found
        assert "SEARCH b USING PRIMARY KEY (run=? AND case_key=? AND rubric=?)" in found
        assert found.index("SEARCH a ") < found.index("SEARCH b ")


def test_critical_failures_are_found_without_reading_the_run(connection: sqlite3.Connection) -> None:
    sql = "SELECT * FROM critical_failures WHERE run_id = :run"
    assert "USING COVERING INDEX critical_check_rows (run=? AND critical=?)" in plan(connection, sql, run="b")
    assert "COVERING INDEX critical_check_rows" in plan(connection, QUERIES["critical"].sql, run="b")
