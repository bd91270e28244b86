"""Checks that are not the same in some runs: found in two ways, and held against a plain look at every check."""

import sqlite3
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from jeval.browse.differing import Differences, differences, kinds_in, left, page_of
from jeval.browse.filters import Filters
from jeval.browse.kinds import by_status
from jeval.browse.narrowed import Narrowed
from jeval.browse.rows import every
from jeval.rubric import Rubric
from tests.stores import add_run, new_store, rubric

CASES, NAMES = ("a", "b", "c"), ("claim", "tone")
STATUSES = st.sampled_from(["pass", "fail", "review", "skipped", "error"])
WHOLE = st.fixed_dictionaries({(case, name): STATUSES for case in CASES for name in NAMES})
PART = st.dictionaries(st.sampled_from([(case, name) for case in CASES for name in NAMES]), STATUSES)
OTHER = rubric("tone", "2.0.0", criterion="About tone, anew.")


def stored(folder: Path, runs: list[Mapping[tuple[str, str], str]], rubrics: list[list[Rubric]]) -> sqlite3.Connection:
    connection = new_store(folder)
    for i, (checks, used) in enumerate(zip(runs, rubrics, strict=True)):
        add_run(connection, f"run-{i}", checks, used)
    return connection


def plain(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    connection.row_factory = None
    return every(connection, "SELECT * FROM runs ORDER BY pk")


def named(connection: sqlite3.Connection, found: Differences) -> dict[tuple[str, str], list[str | None]]:
    """{(case, rubric): its status in each run} of all that differs."""
    ids = dict(connection.execute("SELECT key, id FROM case_ids"))
    return {
        (ids[case], pattern.rubric_id): [verdict and verdict.status for verdict in pattern.verdicts]
        for pattern in found.patterns
        for case in pattern.cases
    }


def expected(runs: list[Mapping[tuple[str, str], str]]) -> dict[tuple[str, str], list[str | None]]:
    keys = {key for run in runs for key in run}
    sides = {key: [run.get(key) for run in runs] for key in keys}
    return {key: of for key, of in sides.items() if len({one for one in of if one is not None}) > 1}


@settings(max_examples=25)
@given(st.lists(WHOLE, min_size=1, max_size=4))
def test_runs_of_the_same_checks_are_looked_up_side_by_side(runs: list[Mapping[tuple[str, str], str]]):
    with tempfile.TemporaryDirectory() as folder:
        used = [rubric(name) for name in NAMES]
        connection = stored(Path(folder), runs, [used] * len(runs))
        assert named(connection, differences(connection, plain(connection), same_content=False)) == expected(runs)
        connection.close()


@settings(max_examples=25)
@given(st.lists(st.tuples(PART, st.booleans()), min_size=2, max_size=4))
def test_runs_of_other_cases_and_contents_are_compared_where_they_meet(
    runs: list[tuple[Mapping[tuple[str, str], str], bool]],
):
    with tempfile.TemporaryDirectory() as folder:
        checks = [run for run, _ in runs]
        rubrics = [[rubric("claim"), OTHER if anew else rubric("tone")] for _, anew in runs]
        connection = stored(Path(folder), checks, rubrics)
        assert named(connection, differences(connection, plain(connection), same_content=False)) == expected(checks)
        connection.close()


def test_a_rubric_of_another_content_is_another_in_a_comparison(tmp_path: Path):
    runs = [{("a", "tone"): "pass", ("a", "claim"): "pass"}, {("a", "tone"): "fail", ("a", "claim"): "fail"}]
    connection = stored(tmp_path, runs, [[rubric("claim"), rubric("tone")], [rubric("claim"), OTHER]])
    both = plain(connection)
    assert set(named(connection, differences(connection, both, same_content=True))) == {("a", "claim")}
    assert set(named(connection, differences(connection, both, same_content=False))) == {("a", "claim"), ("a", "tone")}


def test_a_run_that_goes_on_is_read_anew(tmp_path: Path):
    runs = [{("a", "tone"): "pass"}, {("a", "tone"): "pass"}]
    connection = stored(tmp_path, runs, [[rubric("tone")]] * 2)
    connection.execute("UPDATE runs SET finished_at = NULL WHERE id = 'run-1'")
    assert differences(connection, plain(connection), same_content=True).patterns == ()
    connection.execute("UPDATE check_rows SET status = 1 WHERE run = 2")
    assert len(differences(connection, plain(connection), same_content=True).patterns) == 1


def test_what_matches_in_several_runs_counts_once(tmp_path: Path):
    runs: list[Mapping[tuple[str, str], str]] = [
        {(case, "tone"): status for case in CASES} for status in ("fail", "pass", "fail")
    ]
    connection = stored(tmp_path, runs, [[rubric("tone")]] * 3)
    rows = plain(connection)
    found = differences(connection, rows, same_content=False)
    assert by_status(kinds_in(left(found, rows, Narrowed(connection, Filters())))) == {"fail": 3, "pass": 3}
    assert by_status(kinds_in(left(found, rows, Narrowed(connection, Filters(status=("fail",), case="b"))))) == {
        "fail": 1
    }
    assert left(found, rows, Narrowed(connection, Filters(status=("fail",))), side=1) == []


def test_a_page_may_begin_and_end_within_a_rank(tmp_path: Path):
    before = {(case, name): "pass" for case in CASES for name in NAMES}
    connection = stored(tmp_path, [before, dict.fromkeys(before, "fail")], [[rubric(name) for name in NAMES]] * 2)
    rows = plain(connection)
    found = differences(connection, rows, same_content=True)
    rest = left(found, rows, Narrowed(connection, Filters()))
    whole = page_of(rest, found.places, lambda pattern: pattern.rubric_id, 0, 100)
    assert [pattern.rubric_id for _, pattern in whole] == ["claim"] * 3 + ["tone"] * 3
    for size in (1, 2, 4):
        pages = [page_of(rest, found.places, lambda p: p.rubric_id, skip, size) for skip in range(0, 6, size)]
        assert [one for page in pages for one in page] == whole
