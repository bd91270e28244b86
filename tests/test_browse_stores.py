"""Several stores in one Datasette: every link and form says which one it is about, and nothing is mixed up."""

import asyncio
import re
import shutil
import sqlite3
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from browsing import make_store
from datasette.app import Datasette
from datasette.plugins import pm
from hypothesis import given
from hypothesis import strategies as st

from jeval.browse import plugin
from jeval.browse.carried import carry, with_store


class Twins:
    """A Datasette over two stores that hold runs and cases of the same ids; `right` has a rubric, a run and a case's
    text of its own."""

    def __init__(self, folder: Path) -> None:
        left = make_store(folder, 4).rename(folder / "left.db")
        self.right = folder / "right.db"
        shutil.copy(left, self.right)
        connection = sqlite3.connect(self.right)
        connection.execute("UPDATE runs SET name = 'rightly' WHERE name = 'second'")
        connection.execute("UPDATE rubrics SET id = 'only-right' WHERE id = 'polite'")
        connection.execute("UPDATE case_rows SET body = json_set(body, '$.input', 'asked at the right')")
        connection.commit()
        self.run = connection.execute("SELECT id FROM runs WHERE name = 'rightly'").fetchone()[0]
        self.before = connection.execute("SELECT id FROM runs WHERE name = 'first'").fetchone()[0]
        connection.close()
        if not pm.is_registered(plugin):
            pm.register(plugin, name="jeval")
        metadata = {"plugins": {"jeval": {"labels": True}}}
        self.datasette = Datasette([str(left), str(self.right)], metadata=metadata)
        asyncio.run(self.datasette.invoke_startup())

    def get(self, path: str, **options: Any) -> Any:
        return asyncio.run(self.datasette.client.get(path, **options))

    def post(self, path: str, **options: Any) -> Any:
        return asyncio.run(self.datasette.client.post(path, **options))

    def labels(self, name: str) -> list[tuple[str, str]]:
        connection = sqlite3.connect(self.right.with_name(f"{name}.db"))
        try:
            return connection.execute("SELECT rubric_id, expected FROM labels WHERE source = 'human'").fetchall()
        finally:
            connection.close()


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Twins:
    return Twins(tmp_path_factory.mktemp("twins"))


class Targets(HTMLParser):
    """Where a page's links lead, and its forms with the hidden fields they send."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forms: list[tuple[str, str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "form":
            self.forms.append((given.get("method", "get"), given["action"], {}))
        if tag == "input" and given.get("type") == "hidden":
            self.forms[-1][2][given["name"]] = given.get("value", "")


def pages(twins: Twins) -> list[str]:
    both = f"a={twins.before}&b={twins.run}"
    return [
        "/-/jeval?store=right",
        f"/-/jeval/run/{twins.run}?store=right",
        f"/-/jeval/run/{twins.run}?store=right&status=review&q=heliotrope",
        f"/-/jeval/case/{twins.run}/case-1?store=right",
        f"/-/jeval/compare?{both}&store=right",
        "/-/jeval/history?store=right",
        f"/-/jeval/review?run={twins.run}&store=right",
        "/-/jeval/sweep/sweep-1?store=right",
        "/-/jeval/run/nope?store=right",
    ]


@pytest.mark.parametrize("number", range(9))
def test_every_link_and_form_of_a_page_says_which_store_it_is_about(twins: Twins, number: int) -> None:
    text = twins.get(pages(twins)[number]).text
    found = Targets(text)
    ours = [link for link in found.links if urlsplit(link).path.startswith("/-/jeval")]
    assert len(ours) >= 5
    others = [link for link in ours if parse_qs(urlsplit(link).query).get("store") != ["right"]]
    assert others == ["/-/jeval?store=left"]  # the way to the other store
    for method, action, hidden in found.forms:
        said = hidden.get("store") if method == "get" else parse_qs(urlsplit(action).query).get("store", [""])[0]
        assert said == "right", action
    assert [link for link in found.links if link.startswith("/left")] == []


def test_a_page_is_of_its_store_though_the_ids_are_the_same(twins: Twins) -> None:
    path = f"/-/jeval/run/{twins.run}"
    left, right = twins.get(f"{path}?store=left").text, twins.get(f"{path}?store=right").text
    assert ">polite<" in left and "only-right" not in left
    assert ">only-right<" in right and ">polite<" not in right
    case = f"/-/jeval/case/{twins.run}/case-1"
    assert "asked at the right" not in twins.get(f"{case}?store=left").text
    assert "asked at the right" in twins.get(f"{case}?store=right").text
    compare = f"/-/jeval/compare?a={twins.before}&b={twins.run}"
    assert "only-right" not in twins.get(compare + "&store=left").text
    assert "only-right" in twins.get(compare + "&store=right").text


def test_without_a_name_the_first_store_is_meant_and_said(twins: Twins) -> None:
    text = twins.get(f"/-/jeval/run/{twins.run}").text
    assert ">polite<" in text
    assert f"/-/jeval/case/{twins.run}/case-1?store=left#check-" in text


def test_a_name_of_a_run_leads_on_within_its_store(twins: Twins) -> None:
    found = twins.get("/-/jeval/run/rightly?store=right&status=fail", follow_redirects=False)
    assert found.headers["location"] == f"/-/jeval/run/{twins.run}?store=right&status=fail"
    found = twins.get("/-/jeval/case/@last/case-2?store=right", follow_redirects=False)
    assert found.headers["location"] == f"/-/jeval/case/{twins.run}/case-2?store=right"
    found = twins.get("/-/jeval/find?case=case-2&store=right", follow_redirects=False)
    assert found.headers["location"] == f"/-/jeval/case/{twins.run}/case-2?store=right"


def test_a_label_goes_into_the_store_it_was_given_in_and_leads_back_there(twins: Twins) -> None:
    page = twins.get(f"/-/jeval/review?run={twins.run}&queue=review&store=right")
    form = next(form for form in Targets(page.text).forms if form[0] == "post")
    token = page.cookies["ds_csrftoken"]
    assert form[2]["csrftoken"] == token
    posted = twins.post(form[1], data=form[2] | {"expected": "pass"}, cookies={"ds_csrftoken": token})
    assert posted.status_code == 303
    assert "store=right" in posted.headers["location"]
    assert twins.labels("left") == []
    assert twins.labels("right") == [(form[2]["rubric_id"], "pass")]


@pytest.mark.parametrize("name", ["left", "right"])
def test_the_tables_of_a_store_lead_to_its_own_pages(twins: Twins, name: str) -> None:
    text = twins.get(f"/{name}/checks?run_id={twins.run}").text
    assert f'href="/-/jeval/run/{twins.run}?store={name}"' in text
    assert f'href="/-/jeval/case/{twins.run}/case-0?store={name}"' in text
    assert f'href="/-/jeval?store={name}"' in twins.get(f"/{name}").text
    menu = re.findall(r'href="(/-/jeval\?store=\w+)">Runs, review, history of (\w+)<', twins.get("/").text)
    assert menu == [("/-/jeval?store=left", "left"), ("/-/jeval?store=right", "right")]


def test_who_may_see_one_store_of_two_is_shown_that_one_and_told_of_no_other(twins: Twins) -> None:
    closed = {"databases": {"left": {"allow": {"id": "root"}}}}
    datasette = Datasette([str(twins.right.with_name("left.db")), str(twins.right)], metadata=closed)

    async def ask(path: str) -> Any:
        return await datasette.client.get(path)

    text = asyncio.run(ask("/-/jeval")).text
    assert "rightly" in text
    assert "left" not in re.sub(r"\d+ left", "", text)
    assert asyncio.run(ask("/-/jeval?store=left")).status_code == 403
    assert "left" not in asyncio.run(ask("/-/jeval?store=nope")).text


def test_with_one_store_addresses_stay_short(twins: Twins) -> None:
    datasette = Datasette([str(twins.right)])

    async def ask(path: str) -> str:
        return (await datasette.client.get(path)).text

    for path in (f"/-/jeval/run/{twins.run}", "/right/checks"):
        links = Targets(asyncio.run(ask(path))).links
        assert links and not [link for link in links if "store=" in link]


@given(st.text("ab/?&#=% é", max_size=12), st.text("ab&=\"'<é ", min_size=1, max_size=6))
def test_the_store_is_said_once_and_nothing_else_of_an_address_changes(tail: str, store: str) -> None:
    url = f"/-/jeval{tail}"
    made = with_store(url, store)
    assert parse_qs(urlsplit(made).query)["store"] == [store]
    assert with_store(made, store) == made
    before, after = urlsplit(url), urlsplit(made)
    assert (before.path, before.fragment) == (after.path, after.fragment)
    kept = parse_qs(after.query)
    del kept["store"]
    assert kept == parse_qs(before.query)


def test_only_links_to_pages_are_completed() -> None:
    html = (
        '<a href="/-/jeval">1</a><a class="x" href="/-/jeval/run/a?b=1&amp;c=2#d">2</a><a href="/-/jevalish">3</a>'
        '<a href="#top">4</a><a href="/-/jeval/assets/x.css">5</a><a href="/db/runs">6</a><a href="?q=1">7</a>'
        '<form method="get" action="/-/jeval/compare"></form><form method="post" action="/-/jeval/review"></form>'
        "&lt;a href=&#34;/-/jeval&#34;&gt;"
    )
    made = carry(html, "/-/jeval", 'a"b')
    links = Targets(made).links
    assert links[:2] == ["/-/jeval?store=a%22b", "/-/jeval/run/a?b=1&c=2&store=a%22b#d"]
    assert links[2:4] == ["/-/jevalish", "#top"]
    assert links[4:] == ["/-/jeval/assets/x.css?store=a%22b", "/db/runs", "?q=1"]
    forms = Targets(made).forms
    assert forms[0] == ("get", "/-/jeval/compare", {"store": 'a"b'})
    assert forms[1][:2] == ("post", "/-/jeval/review?store=a%22b")
    assert "&lt;a href=&#34;/-/jeval&#34;&gt;" in made
    assert unescape(carry(made, "/-/jeval", 'a"b')).count("/-/jeval?store=") == 1
