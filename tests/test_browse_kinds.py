"""The kinds of a run: few rows that say the same as its checks, whatever filters ask."""

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lists import RUBRICS, RUNS, make_lists

from jeval.browse.chosen import some_cases
from jeval.browse.filters import STATUSES, Filters, where
from jeval.browse.kinds import by_status, groups, kinds_left, kinds_of
from jeval.browse.narrowed import Narrowed
from jeval.browse.rows import every, rubrics_of


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> sqlite3.Connection:
    return sqlite3.connect(make_lists(tmp_path_factory.mktemp("kinds")))


WAYS = {way for run in RUNS.values() for way in run.values()}


def some(values: list[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from([*values, "nope"]), max_size=3, unique=True).map(tuple)


FILTERS = st.builds(
    Filters,
    status=some(list(STATUSES)),
    rubric=some(list(RUBRICS)),
    severity=some(["critical", "major", "minor"]),
    kind=some(["tool-claim", "custom"]),
    outcome=some(sorted({outcome for _, _, outcome in WAYS if outcome})),
    rule=some(sorted({rule for _, rule, _ in WAYS})),
    key=st.sampled_from(["", "", "team"]),
    value=st.sampled_from(["", "red"]),
    slower=st.sampled_from([None, None, 300.0]),
)


@given(FILTERS)
def test_kinds_tallies_and_checks_agree_on_what_filters_leave(store: sqlite3.Connection, filters: Filters):
    runs = every(store, "SELECT * FROM runs ORDER BY pk")
    counts = Narrowed(store, filters).counts(runs)
    for run in runs:
        rubrics = rubrics_of(store, run["pk"])
        cases = some_cases(store, run["pk"], filters)
        these = where(filters, run["pk"], rubrics, cases)
        sql = f"SELECT c.status, count(*) FROM check_rows c WHERE {these.sql} GROUP BY c.status"
        plain = {STATUSES[code]: n for code, n in store.execute(sql, these.params)}
        assert by_status(kinds_left(store, run, rubrics, filters, cases)) == plain
        summed = {s: sum(of[s] for of in counts[run["pk"]].values()) for s in STATUSES}
        assert {status: n for status, n in summed.items() if n} == plain


def test_the_kinds_of_a_finished_run_are_kept_and_those_of_another_store_are_its_own(tmp_path: Path):
    stores = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        stores.append(sqlite3.connect(make_lists(tmp_path / name), isolation_level=None))
    stores[1].execute("DELETE FROM check_rows WHERE rubric = (SELECT pk FROM rubrics WHERE id = 'tone')")
    found = [kinds_of(one, every(one, "SELECT * FROM runs WHERE name = 'tuesday'")[0]) for one in stores]
    assert [sum(kind.n for kind in kinds) for kinds in found] == [18, 12]
    again = kinds_of(stores[0], every(stores[0], "SELECT * FROM runs WHERE name = 'tuesday'")[0])
    assert again is found[0]


def test_what_fails_stands_first_then_errors_and_reviews_and_the_largest_of_each(store: sqlite3.Connection):
    run = every(store, "SELECT * FROM runs WHERE name = 'tuesday'")[0]
    rubrics = {row["pk"]: row for row in rubrics_of(store, run["pk"])}
    lines = [
        (row["status"], row["rubric"]["id"], row["rule"], row["n"]) for row in groups(kinds_of(store, run), rubrics)
    ]
    assert lines[:2] == [("fail", "claim", "claim-contradicted", 3), ("fail", "tone", "fail-threshold", 1)]
    assert sorted(lines[2:4]) == [("error", "facts", "timeout", 1), ("error", "tone", "rate_limited", 1)]
    assert lines[4:] == [("review", "claim", "unclear-claim", 1), ("review", "facts", "insufficient-leads", 4)]


def test_the_outcomes_of_a_group_are_those_in_it(store: sqlite3.Connection):
    run = every(store, "SELECT * FROM runs WHERE name = 'tuesday'")[0]
    rows = groups(kinds_of(store, run), {row["pk"]: row for row in rubrics_of(store, run["pk"])})
    assert {row["rule"]: row["outcomes"] for row in rows}["timeout"] == []
    assert {row["rule"]: row["outcomes"] for row in rows}["fail-threshold"] == ["unacceptable"]
