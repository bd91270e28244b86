"""Datasette's own pages over a store: described, faceted, searchable, linked, and safe."""

import asyncio
import sqlite3

import pytest
from browsing import Browser, Dangers, make_store

from jeval.browse.columns import COLUMNS
from jeval.browse.named import named_queries
from jeval.browse.tending import tend
from jeval.store.connect import open_store


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Browser:
    found = Browser(make_store(tmp_path_factory.mktemp("tables"), 4))
    asyncio.run(tend(found.datasette.databases["hostile"]))
    return found


def test_every_column_of_every_table_and_view_is_described(tmp_path):
    connection = open_store(tmp_path / "s.db")
    names = [
        row[0]
        for row in connection.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
        )
    ]
    for name in names:
        columns = {row[1] for row in connection.execute(f"PRAGMA table_info({name})")}
        assert columns == set(COLUMNS[name]), name
    connection.close()


@pytest.mark.parametrize(
    "table",
    "runs checks cases scores score_breakdown judgments requests rubrics labels run_summary rubric_summary"
    " critical_failures criteria questions".split(),
)
def test_hostile_text_in_a_table_is_shown_and_never_run(browser: Browser, table: str):
    response = browser.get(f"/hostile/{table}")
    assert response.status_code == 200
    assert "<script>window" not in response.text
    assert "\u202e" not in response.text
    assert "\x1b" not in response.text
    assert not [danger for danger in Dangers(response.text).found if "=javascript:" in danger or " on" in danger]


def test_checks_are_faceted_and_link_to_their_pages(browser: Browser):
    text = browser.get("/hostile/checks").text
    for facet in ("status", "rubric_id", "severity", "kind"):
        assert f'data-column="{facet}"' in text
    run = browser.run_id("second")
    assert f'href="/-/jeval/run/{run}"' in text
    assert f'href="/-/jeval/case/{run}/case-0"' in text
    assert "The stable name of the rule" in text


def test_cases_are_searched_in_every_part(browser: Browser):
    for word in ("heliotrope", "periwinkle", "chartreuse"):
        rows = browser.get(f"/hostile/cases.json?_shape=array&_search={word}").json()
        assert len(rows) == 4, word
    assert browser.get("/hostile/cases.json?_shape=array&_search=nowhere").json() == []


def test_runs_stand_newest_first(browser: Browser):
    names = [row["name"] for row in browser.get("/hostile/runs.json?_shape=array").json()]
    assert names[:2] == ["second", "first"]


def test_named_queries_take_runs_by_id_name_and_place(browser: Browser):
    first, second = browser.run_id("first"), browser.run_id("second")
    asked = [("first", "second"), (first, second), ("@prev", "@last"), (first[:-1], second[:-1])]
    answers = [browser.get(f"/hostile/compare.json?_shape=array&run_a={a}&run_b={b}").json() for a, b in asked]
    assert all(answer == answers[0] for answer in answers)
    critical = browser.get("/hostile/critical.json?_shape=array&run=@last").json()
    assert {row["rubric_id"] for row in critical} == {"kept-promise"}
    assert browser.get("/hostile/critical.json?_shape=array&run=").json() == []
    assert browser.get("/hostile/flips.json?_shape=array&run_a=first&run_b=second").status_code == 200
    assert browser.get("/hostile/critical.csv?run=@last").headers["content-type"].startswith("text/plain")


def test_every_named_query_runs(browser: Browser):
    connection = sqlite3.connect(browser.store)
    for name, query in named_queries().items():
        connection.execute(query["sql"], dict.fromkeys(query["params"], "@last")).fetchall()
        assert browser.get(f"/hostile/{name}").status_code == 200
    connection.close()


def test_sql_of_ones_own_is_off(browser: Browser):
    assert browser.get("/hostile?sql=select+1").status_code == 403
    assert browser.get("/hostile.json?sql=select+1").status_code == 403
    assert browser.get("/hostile/checks.json?_where=1").status_code == 403


def test_nothing_else_can_be_written(browser: Browser):
    connection = browser.datasette.databases["hostile"].connect()
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM runs")
    connection.close()


def test_the_store_file_cannot_be_taken_whole(browser: Browser):
    assert browser.get("/hostile.db").status_code == 403
