"""Labels: one queue, one key each, and nobody writes one without this server's token."""

import re
import sqlite3
from typing import Any
from urllib.parse import urlencode

import pytest
from browsing import EVIL, Browser, make_store

FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.fixture
def browser(tmp_path) -> Browser:
    return Browser(make_store(tmp_path, 3), reviewer="Ada")


def labels(browser: Browser) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(browser.store)
    try:
        return connection.execute(
            "SELECT case_id, rubric_id, expected, reviewer, note FROM labels WHERE source = 'human' ORDER BY 1, 2"
        ).fetchall()
    finally:
        connection.close()


def token(browser: Browser, path: str = "/-/jeval/review?run=second") -> tuple[str, str]:
    """The page's token and the cookie that came with it."""
    response = browser.get(path)
    found = re.search(r'name="csrftoken" value="([^"]+)"', response.text)
    assert found, "the page has a token"
    return found[1], response.cookies["ds_csrftoken"]


def send(browser: Browser, *, cookie: str | None, headers: dict[str, str] | None = None, **fields: str) -> Any:
    body = {"case_id": "case-1", "rubric_id": "polite", "expected": "fail", "run": "second", **fields}
    cookies = {"ds_csrftoken": cookie} if cookie else None
    all_headers = FORM | (headers or {})
    return browser.post("/-/jeval/review", content=urlencode(body), headers=all_headers, cookies=cookies)


def test_a_label_is_written_with_reviewer_note_and_time_and_the_next_check_follows(browser: Browser):
    form, cookie = token(browser)
    response = send(browser, cookie=cookie, csrftoken=form, reviewer="Ada", note=EVIL)
    assert response.status_code == 303
    assert response.headers["location"].startswith("/-/jeval/review?run=second&done=case-1&of=polite&as=fail")
    assert labels(browser) == [("case-1", "polite", "fail", "Ada", EVIL.strip())]
    assert "Labelled" in browser.get(response.headers["location"]).text


def test_a_second_label_of_the_same_person_replaces_the_first(browser: Browser):
    form, cookie = token(browser)
    send(browser, cookie=cookie, csrftoken=form, reviewer="Ada", expected="fail")
    send(browser, cookie=cookie, csrftoken=form, reviewer="Ada", expected="pass")
    send(browser, cookie=cookie, csrftoken=form, reviewer="Bo", expected="review")
    assert [(label[2], label[3]) for label in labels(browser)] == [("pass", "Ada"), ("review", "Bo")]


def test_a_labelled_check_leaves_the_queue_and_can_still_be_opened(browser: Browser):
    before = left(browser)
    form, cookie = token(browser)
    send(browser, cookie=cookie, csrftoken=form)
    assert left(browser) == before - 1
    page = browser.get("/-/jeval/review?run=second&case=case-1&check=polite").text
    assert "label" in page
    assert "already given" in page


def left(browser: Browser) -> int:
    found = re.search(r"([\d,]+) left without", browser.get("/-/jeval/review?run=second").text)
    assert found
    return int(found[1])


def test_the_queue_is_walked_to_its_end_and_each_check_comes_once(browser: Browser):
    seen = []
    for skip in range(left(browser)):
        page = browser.get(f"/-/jeval/review?run=second&skip={skip}").text
        seen.append(re.findall(r'name="(?:case_id|rubric_id)" value="([^"]+)"', page)[:2])
    assert len({tuple(one) for one in seen}) == len(seen) > 1


def test_reviews_come_before_critical_failures(browser: Browser):
    page = browser.get("/-/jeval/review?run=second").text
    assert '<span class="st review chip">' in page
    last = browser.get(f"/-/jeval/review?run=second&skip={left(browser) - 1}").text
    assert '<span class="st fail chip">' in last


def test_an_empty_queue_says_so(browser: Browser):
    assert "Nothing is left in this queue" in browser.get("/-/jeval/review?run=second&queue=error").text


def test_every_label_has_a_key_of_its_own(browser: Browser):
    page = browser.get("/-/jeval/review?run=second").text
    keys = re.findall(r'data-key="(.)"', page)
    assert {"p", "f", "r", "s", "n", "m"} <= set(keys)
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("cookie", "form", "headers"),
    [
        (None, None, {}),
        (None, "right", {}),
        ("right", None, {}),
        ("right", "wrong", {}),
        ("wrong", "wrong", {}),
        ("right", "right", {"origin": "http://evil.example"}),
        ("right", "right", {"origin": "null"}),
        ("right", "right", {"sec-fetch-site": "cross-site"}),
        ("right", "right", {"sec-fetch-site": "same-site"}),
        (None, "right", {"authorization": "Bearer x"}),
    ],
)
def test_without_token_or_from_another_site_nothing_is_written(browser: Browser, cookie, form, headers):
    right, right_cookie = token(browser)
    fields = {} if form is None else {"csrftoken": right if form == "right" else "wrong"}
    given = None if cookie is None else right_cookie if cookie == "right" else "wrong"
    response = send(browser, cookie=given, headers=headers, **fields)
    assert response.status_code == 403
    assert labels(browser) == []


def test_a_label_from_our_own_page_is_taken(browser: Browser):
    form, cookie = token(browser)
    headers = {"origin": "http://localhost", "sec-fetch-site": "same-origin"}
    assert send(browser, cookie=cookie, csrftoken=form, headers=headers).status_code == 303


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"expected": "error"}, "A label is one of"),
        ({"expected": ""}, "A label is one of"),
        ({"case_id": "nope"}, "holds no case"),
        ({"rubric_id": "nope"}, "holds no rubric"),
        ({"note": "x" * 10_001}, "at most 10,000"),
    ],
)
def test_what_is_no_label_is_refused_in_words(browser: Browser, fields, words):
    form, cookie = token(browser)
    response = send(browser, cookie=cookie, csrftoken=form, **fields)
    assert response.status_code == 400
    assert words in response.text
    assert labels(browser) == []


def test_where_labels_are_off_the_page_says_so_and_takes_none(browser: Browser):
    reader = Browser(browser.store, labels=False)
    page = reader.get("/-/jeval/review?run=second")
    assert "Labels are off" in page.text
    assert 'method="post"' not in page.text
    form, cookie = token(browser)
    assert send(reader, cookie=cookie, csrftoken=form).status_code == 403
    assert labels(browser) == []
