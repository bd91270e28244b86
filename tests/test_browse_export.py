"""A run's checks as a file: all of them, or those that the filters leave, as the store's view has them."""

import csv
import io
import json
import sqlite3
from typing import Any

import pytest
from browsing import Browser, make_store

from jeval.browse.export import COLUMNS


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    return Browser(make_store(tmp_path_factory.mktemp("export"), 6))


def stored(browser: Browser, where: str = "1") -> list[dict[str, Any]]:
    connection = sqlite3.connect(browser.store)
    connection.row_factory = sqlite3.Row
    try:
        rows = connection.execute(
            f"SELECT * FROM checks WHERE run_id = ? AND {where} ORDER BY case_id, rubric_id",
            (browser.run_id("second"),),
        )
        return [dict(row) for row in rows]
    finally:
        connection.close()


def sent(browser: Browser, form: str, query: str = "") -> list[dict[str, Any]]:
    response = browser.get(f"/-/jeval/run/{browser.run_id('second')}/checks.{form}{query}")
    assert response.status_code == 200
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-disposition"].endswith(f'-checks.{form}"')
    rows = list(csv.DictReader(io.StringIO(response.text))) if form == "csv" else response.json()
    return sorted(rows, key=lambda row: (row["case_id"], row["rubric_id"]))


def test_json_is_the_view_with_its_json_as_json(browser: Browser) -> None:
    wanted = stored(browser)
    for row in wanted:
        row["probabilities"] = json.loads(row["probabilities"]) if row["probabilities"] else None
        row["evidence"] = json.loads(row["evidence"])
    assert sent(browser, "json") == wanted
    assert list(wanted[0]) == list(COLUMNS)


def test_csv_is_the_view_with_empty_cells_for_nulls(browser: Browser) -> None:
    as_text = [{name: "" if value is None else str(value) for name, value in row.items()} for row in stored(browser)]
    assert sent(browser, "csv") == as_text


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ("?status=fail", "status = 'fail'"),
        ("?rubric=polite&rubric=values", "rubric_id IN ('polite', 'values')"),
        ("?severity=critical&q=heliotrope", "severity = 'critical'"),
        ("?case=case-2", "case_id = 'case-2'"),
        ("?q=nowhere", "0"),
    ],
)
@pytest.mark.parametrize("form", ["csv", "json"])
def test_filters_narrow_it_as_they_narrow_the_list(browser: Browser, form: str, query: str, where: str) -> None:
    wanted = stored(browser, where)
    assert [row["reason"] for row in sent(browser, form, query)] == [row["reason"] for row in wanted]


def test_it_comes_in_steps_in_the_order_of_the_cases(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = browser.get(f"/-/jeval/run/{browser.run_id('second')}/checks.json").json()
    assert [row["case_id"] for row in whole] == [f"case-{i}" for i in range(6) for _ in range(3)]
    for step in (1, 5, 9, 18):
        monkeypatch.setattr("jeval.browse.export._STEP", step)
        assert browser.get("/-/jeval/run/second/checks.json").json() == whole
        lines = browser.get("/-/jeval/run/second/checks.csv").text
        assert len(list(csv.reader(io.StringIO(lines)))) == 19


def test_the_page_of_a_run_leads_to_what_it_shows(browser: Browser) -> None:
    run = browser.run_id("second")
    text = browser.get(f"/-/jeval/run/{run}?status=review").text
    assert f"/-/jeval/run/{run}/checks.csv?status=review" in text
    assert f"/-/jeval/run/{run}/checks.json?status=review" in text


def test_a_run_that_is_not_there_is_told_in_words(browser: Browser) -> None:
    response = browser.get("/-/jeval/run/nope/checks.csv")
    assert response.status_code == 404
    assert "The store holds no run nope." in response.text
    assert browser.get("/-/jeval/run/second/checks.xlsx").status_code == 404
