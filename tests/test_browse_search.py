"""Search finds words in every part of a case, indexed or not."""

import sqlite3
from pathlib import Path

import pytest
from browsing import hostile_case
from hypothesis import given
from hypothesis import strategies as st

from jeval.browse.chosen import chosen_cases
from jeval.browse.filters import Filters
from jeval.browse.search import behind, fill, indexed, match_text
from jeval.fingerprint import canonical
from jeval.store.connect import open_store


@pytest.fixture
def store(tmp_path: Path):
    connection = open_store(tmp_path / "s.db")
    connection.execute(
        "INSERT INTO runs (pk, id, started_at, dataset, judge, gateway, model_asked,"
        " config_yaml, config_sha256,"
        " jeval_version, python_version) VALUES (1, 'r', '', 'd', 'j', 'g', 'm', '', '', '', '')"
    )
    for i in range(4):
        add_case(connection, i, hostile_case(i))
    yield connection
    connection.close()


def add_case(connection: sqlite3.Connection, number: int, body: dict) -> None:
    key = number + 1
    connection.execute("INSERT INTO case_ids VALUES (?, ?)", (key, body["id"]))
    connection.execute("INSERT INTO case_rows VALUES (?, ?, ?, ?)", (key, key, bytes([number]), canonical(body)))
    connection.execute("INSERT INTO run_cases VALUES (1, ?, ?, ?, NULL)", (number, key, key))


def found(connection: sqlite3.Connection, **filters: str) -> list[int]:
    return sorted(chosen_cases(connection, 1, Filters.read(list(filters.items()))) or [])


def everything(connection: sqlite3.Connection) -> None:
    while fill(connection, 2):
        pass


@pytest.mark.parametrize("word", ["heliotrope", "periwinkle", "chartreuse", "Book", "completed"])
@pytest.mark.parametrize("is_indexed", [True, False])
def test_words_are_found_in_messages_references_and_tool_events(store, word, is_indexed):
    if is_indexed:
        everything(store)
    assert found(store, q=word) == [1, 2, 3, 4]


def test_a_case_that_came_after_the_index_is_found_too(store):
    everything(store)
    assert not behind(store)
    add_case(store, 9, {"id": "late", "input": "vermilion", "output": "x", "metadata": {"team": "green"}})
    assert behind(store)
    assert found(store, q="vermilion") == [10]
    assert found(store, key="team", value="green") == [10]


def test_the_index_is_filled_step_by_step(store):
    assert indexed(store) is None
    assert fill(store, 3) == 3
    assert indexed(store) == 3
    assert fill(store, 3) == 1
    assert fill(store, 3) == 0


@pytest.mark.parametrize("is_indexed", [True, False])
def test_metadata_is_matched_exactly_and_truth_in_words(store, is_indexed):
    if is_indexed:
        everything(store)
    assert found(store, key="team", value="blue") == [1, 4]
    assert found(store, key="vip", value="true") == [1, 2, 3, 4]
    assert found(store, key="team") == [1, 2, 3, 4]
    assert found(store, key="team", value="BLUE") == []


def test_words_must_all_occur_and_quotes_hold_them_together(store):
    everything(store)
    assert found(store, q="table heliotrope") == [1, 2, 3, 4]
    assert found(store, q='"heliotrope table"') == []
    assert found(store, q="helio*") == [1, 2, 3, 4]
    assert found(store, q="helio") == []


def test_words_must_all_occur_where_nothing_is_indexed_too(store):
    assert found(store, q="table heliotrope") == [1, 2, 3, 4]
    assert found(store, q="table vermilion") == []
    assert found(store, q='"heliotrope table"') == []
    assert found(store, q="helio*") == [1, 2, 3, 4]


def test_filters_on_cases_hold_together(store):
    everything(store)
    assert found(store, key="team", value="red", q="heliotrope", case="case-1") == [2]


def test_no_filter_on_cases_is_no_list():
    assert chosen_cases(sqlite3.connect(":memory:"), 1, Filters(status=("fail",))) is None


@given(st.text(max_size=60))
def test_whatever_people_type_is_a_query_fts_understands(text: str):
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(a)")
    query = match_text(text)
    if query:
        connection.execute("SELECT * FROM t WHERE t MATCH ?", (query,)).fetchall()
    connection.close()
