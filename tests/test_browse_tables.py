"""Datasette's own pages over a store: described, faceted, searchable, linked, and safe."""

import asyncio
import csv
import io
import re
import sqlite3
from collections import Counter
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from browsing import SCRIPT, Browser, Dangers, make_store

from jeval.browse.columns import COLUMNS
from jeval.browse.descriptions import database_metadata
from jeval.browse.links import Links
from jeval.browse.named import named_queries
from jeval.browse.shown import SHOWN
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
    titled = database_metadata(Links("/-/jeval", "s", "/s"))["tables"]
    for name in names:
        columns = {row[1] for row in connection.execute(f"PRAGMA table_info({name})")}
        assert columns == set(COLUMNS[name]), name
        assert set(SHOWN.get(name, ())) <= columns, name
        assert titled[name]["columns"] == COLUMNS[name]
        assert titled[name].get("hidden") or titled[name]["description"], name
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


def columns_of(text: str) -> list[str]:
    return re.findall(r'<th [^>]*data-column="(\w+)"', text)


def facets_of(text: str) -> dict[str, dict[str, int]]:
    """What the facets of a table's page say, by column."""
    found: dict[str, dict[str, int]] = {}
    for block in text.split('<div class="facet-info ')[1:]:
        counts = re.findall(r'<li><a href="[^"]*">([^<]*)</a> ([\d,]+)', block)
        column = re.search(r'data-column="(\w+)"', block)
        assert column
        found[column[1]] = {unescape(value): int(number.replace(",", "")) for value, number in counts}
    return found


def checks(browser: Browser, where: str = "1") -> list[dict[str, Any]]:
    connection = sqlite3.connect(browser.store)
    connection.row_factory = sqlite3.Row
    try:
        return [dict(row) for row in connection.execute(f"SELECT * FROM checks WHERE {where}")]
    finally:
        connection.close()


def test_checks_link_to_the_pages_of_their_run_case_and_rubric(browser: Browser):
    text = browser.get("/hostile/checks").text
    run = browser.run_id("second")
    assert f'href="/-/jeval/run/{run}"' in text
    assert f'href="/-/jeval/case/{run}/case-0"' in text
    assert 'href="/hostile/rubrics?id=polite&amp;version=2.1"' in text
    rubric = browser.get("/hostile/rubrics?id=polite&version=2.1").text
    assert "1 row " in rubric
    key = re.search(r'href="/hostile/rubrics/(\d+)">polite<', rubric)
    assert key
    row = browser.get(f"/hostile/rubrics/{key[1]}").text
    assert "assistant_response is polite." in row
    assert "The definition as JSON" in row


def test_a_table_shows_what_people_read_first_and_exports_everything(browser: Browser):
    text = browser.get("/hostile/checks").text
    assert columns_of(text) == list(SHOWN["checks"])
    assert f"{len(SHOWN['checks'])} of {len(COLUMNS['checks'])} columns." in text
    exports = re.search(r'This data as <a href="([^"]+)">json</a>, <a href="([^"]+)">CSV</a>', text)
    assert exports
    assert set(browser.get(unescape(exports[1])).json()["columns"]) == set(COLUMNS["checks"])
    rows = list(csv.DictReader(io.StringIO(browser.get(unescape(exports[2])).text)))
    assert set(rows[0]) == set(COLUMNS["checks"])
    assert len(rows) == len(checks(browser))


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("_cols=all", set(COLUMNS["checks"])),
        ("_col=rule&_col=case_id", {"rule", "case_id"}),
        ("_nocol=reason", set(SHOWN["checks"]) - {"reason"}),
        ("_nocol=evidence", set(SHOWN["checks"])),
        ("_cols=all&_nocol=evidence", set(COLUMNS["checks"]) - {"evidence"}),
        ("_cols=all&_sort=rule&status=review", set(COLUMNS["checks"])),
        ("_sort_desc=confidence", set(SHOWN["checks"])),
    ],
)
def test_a_choice_of_columns_in_the_address_is_followed(browser: Browser, query: str, columns: set[str]):
    response = browser.get(f"/hostile/checks?{query}")
    assert response.status_code == 200  # and leads nowhere else
    assert set(columns_of(response.text)) == columns


def test_all_columns_and_the_chosen_ones_lead_to_each_other_and_keep_the_filters(browser: Browser):
    link = r'href="([^"]+)">Show '
    page = browser.get("/hostile/checks?status=review&_nocol=reason").text
    everything = re.search(link, page)
    assert everything
    assert unescape(everything[1]) == "/hostile/checks?status=review&_cols=all"
    back = re.search(link, browser.get(unescape(everything[1])).text)
    assert back
    assert unescape(back[1]) == "/hostile/checks?status=review"


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ({}, "1"),
        ({"status": "review"}, "status = 'review'"),
        ({"rubric_id__startswith": "k", "severity": "critical"}, "rubric_id LIKE 'k%' AND severity = 'critical'"),
        ({"kind__in": "custom,tool-claim", "required": 1}, "kind IN ('custom', 'tool-claim') AND required = 1"),
        ({"status__not": "pass", "_sort": "case_id"}, "status <> 'pass'"),
        ({"case_id": "case-1"}, "case_id = 'case-1'"),
        ({"rule__contains": "claim", "status": "fail"}, "rule LIKE '%claim%' AND status = 'fail'"),
        ({"case_id": "nobody"}, "0"),
    ],
)
def test_facets_and_the_number_of_rows_are_of_what_the_filters_leave(
    browser: Browser, query: dict[str, Any], where: str
):
    rows = checks(browser, where)
    found = browser.get(f"/hostile/checks.json?{urlencode(query)}").json()
    assert found["filtered_table_rows_count"] == len(rows)
    for column in ("status", "rubric_id", "severity", "kind"):
        told = {one["value"]: one["count"] for one in found["facet_results"][column]["results"]}
        assert told == Counter(row[column] for row in rows), column
    text = browser.get(f"/hostile/checks?{urlencode(query)}").text
    said = re.search(r"<h3>([\d,]+) rows?", text)
    assert said and int(said[1]) == len(rows)


def test_a_facet_narrows_and_is_taken_away_again(browser: Browser):
    run = browser.run_id("second")
    text = browser.get(f"/hostile/checks?run_id={run}").text
    assert facets_of(text)["severity"] == {"critical": 4, "major": 4, "minor": 4}
    narrow = re.search(r'href="http://localhost([^"]+)">critical</a>', text)
    assert narrow
    narrowed = browser.get(unescape(narrow[1])).text
    assert "4 rows where" in narrowed
    remove = re.search(r'critical &middot; 4 <a href="http://localhost([^"]+)" class="cross"', narrowed)
    assert remove
    assert facets_of(browser.get(unescape(remove[1])).text)["severity"]["minor"] == 4


def test_a_null_is_counted_as_a_row_and_no_value_of_a_facet(browser: Browser):
    found = browser.get("/hostile/requests.json").json()
    connection = sqlite3.connect(browser.store)
    assert found["filtered_table_rows_count"] == connection.execute("SELECT count(*) FROM requests").fetchone()[0]
    connection.close()
    assert [one["value"] for one in found["facet_results"]["error_kind"]["results"]] == ["rate_limited"]


def test_what_counts_too_slowly_is_shown_without_a_number(browser: Browser, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("jeval.browse.tables.COUNT_LIMIT_MS", 1e-6)
    found = browser.get("/hostile/score_breakdown.json").json()
    assert found["filtered_table_rows_count"] is None
    assert found["rows"]
    assert browser.get("/hostile/score_breakdown").status_code == 200


def test_the_newest_run_s_checks_come_first(browser: Browser):
    ids = [row["run_id"] for row in browser.get("/hostile/checks.json?_shape=array&_size=max").json()]
    assert ids == sorted(ids, reverse=True)


def test_every_row_of_every_page_is_in_a_stream(browser: Browser):
    text = browser.get("/hostile/checks.csv?_stream=on").text
    rows = list(csv.DictReader(io.StringIO(text)))
    keys = {(row["run_id"], row["case_id"], row["rubric_id"]) for row in rows}
    assert len(rows) == len(keys) == len(checks(browser))


def test_a_case_without_a_run_beside_it_leads_to_the_latest_run_that_judged_it(browser: Browser):
    assert 'href="/-/jeval/find?case=case-0"' in browser.get("/hostile/labels").text
    link = re.search(r'href="(/-/jeval/find\?case=case-0[^"]*)"', browser.get("/hostile/cases").text)
    assert link and "content=" in link[1]
    for path in ("/-/jeval/find?case=case-0", unescape(link[1])):
        assert browser.get(path).headers["location"] == f"/-/jeval/case/{browser.run_id('second')}/case-0"
    missing = browser.get("/-/jeval/find?case=case-0&content=999999")
    assert missing.status_code == 404
    assert "judged this content of case case-0" in missing.text


def test_a_named_query_s_cases_lead_to_the_run_it_was_asked_about(browser: Browser):
    text = browser.get("/hostile/critical?run=first").text
    assert 'href="/-/jeval/case/first/case-1"' in text
    assert browser.get("/-/jeval/case/first/case-1").headers["location"].startswith("/-/jeval/case/")


def test_a_row_of_a_table_stands_upright_with_what_each_column_is(browser: Browser):
    text = browser.get("/hostile/runs/1").text
    assert re.search(r'<th scope="row">dataset_sha256</th><td>[0-9a-f]{64}</td><td class="what">Hash of all', text)
    assert f'href="/-/jeval/run/{browser.run_id("first")}"' in text
    assert browser.get("/hostile/runs/1.json?_shape=array").json()[0]["name"] == "first"
    assert browser.get("/hostile/runs/999").status_code == 404


def test_probabilities_read_as_a_line(browser: Browser):
    text = browser.get("/hostile/checks?rubric_id=polite").text
    assert re.search(r">acceptable 0\.\d+, unacceptable 0\.\d+, insufficient_context 0\.\d+<", text)


def test_the_store_s_first_page_says_what_each_table_is_and_hides_the_pieces(browser: Browser):
    text = browser.get("/hostile").text
    for name in ("runs", "checks", "cases", "scores", "rubrics", "labels", "critical_failures"):
        assert f'<dt><a href="/hostile/{name}">{name}</a></dt>' in text
    assert 'href="/-/jeval"' in text
    for name in ("check_rows", "findings", "verdicts", "tallies", "criteria", "case_search"):
        assert f">{name}<" not in text
        assert browser.get(f"/hostile/{name}").status_code == 200
    assert ">check_rows<" in browser.get("/hostile?_show_hidden=1").text


def test_long_and_hostile_text_is_whole_on_the_page_of_its_row(browser: Browser):
    connection = sqlite3.connect(browser.store)
    connection.execute("UPDATE runs SET config_yaml = config_yaml || ? WHERE name = 'first'", ("x" * 9_000 + SCRIPT,))
    connection.commit()
    connection.close()
    table = browser.get("/hostile/runs?_cols=all&name=first").text
    assert "characters)" in table
    assert "x" * 9_000 not in table
    row = browser.get("/hostile/runs/1").text
    assert "x" * 9_000 + "&lt;script&gt;" in row
    assert "<script>window" not in row


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


def test_a_named_query_s_page_has_its_first_rows_and_its_exports_all(browser: Browser, monkeypatch: pytest.MonkeyPatch):
    path = "/hostile/review{}?run=second"
    whole = browser.get(path.format(".json") + "&_shape=array").json()
    assert len(whole) == 4
    assert "first" not in browser.get(path.format("")).text.replace(">first<", "")
    monkeypatch.setattr("jeval.browse.tables.QUERY_ROWS", 3)
    text = browser.get(path.format("")).text
    assert "The first 3 rows; JSON and CSV have more." in text
    assert "returning more than 3 rows" in text
    assert re.findall(r'<td class="col-case_id">\s*<a [^>]*>([^<]+)', text) == [row["case_id"] for row in whole[:3]]
    assert browser.get(path.format(".json") + "&_shape=array").json() == whole
    assert len(browser.get(path.format(".csv")).text.splitlines()) >= 5


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
