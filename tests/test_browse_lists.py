"""Every list by every filter, through Datasette: what a page shows is held against the same filters in Python."""

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, quote, unquote_plus, urlsplit

import pytest
from browsing import EVIL, Browser, Dangers
from lists import MONDAY, TUESDAY, WORDS, Known, known, make_lists

from jeval.browse import check_list, compare_page, history_page, run_list, sweep_page
from jeval.browse.filters import Filters


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Browser:
    return Browser(make_lists(tmp_path_factory.mktemp("lists")))


CHANGED = {check for check in MONDAY if MONDAY[check][0] != TUESDAY[check][0]}
FILTERS = (
    "status=fail",
    "status=fail&status=error",
    "rubric=claim",
    "severity=minor",
    "severity=critical&severity=minor",
    "kind=claim-support",
    "outcome=unacceptable",
    "rule=claim-contradicted",
    "status=error&rule=timeout",
    "case=c4",
    "key=team",
    "key=team&value=blue",
    "slower=300",
    "faster=300",
    "slower=200&faster=500",
    *(f"q={word}" for _, word in WORDS.values()),
    "q=orchard",
    "status=fail&rubric=claim&key=team&value=red&slower=200",
    "status=review&q=sloe",
    "status=pass&kind=claim-support&faster=100",
)


class List:
    """A list: its address, what it shows as a set of names, and what the filters should leave there."""

    def __init__(
        self, path: str, shown: Callable[[str], set[Any]], left: Callable[[Callable[[Known], bool]], set[Any]]
    ) -> None:
        self.path, self.shown, self.left = path, shown, left

    def address(self, query: str) -> str:
        return f"{self.path}{'&' if '?' in self.path else '?'}{query}"


def checks_shown(text: str) -> set[Any]:
    return set(re.findall(r'/case/[^/]+/(\w+)#check-(\w+)" class="nowrap"', text))


def changes_shown(text: str) -> set[Any]:
    return set(re.findall(r'/case/[^/]+/(\w+)#check-(\w+)"><b>', text))


def flips_shown(text: str) -> set[Any]:
    return set(re.findall(r'<th scope="row">(\w+)</th><td>(\w+)', text))


def cases_shown(text: str) -> set[Any]:
    return set(re.findall(r'<th scope="row">(\w+)</th>', text))


def runs_shown(text: str) -> set[Any]:
    """Runs with how many of their checks are counted, none where that is none."""
    return set(re.findall(r'class="run-title" href="[^"]+">(\w+)<.*?nowrap">(\d+) of', text, re.S))


def profiles_shown(text: str) -> set[Any]:
    rows = re.findall(r'<td class="nowrap"><a href="[^"]+">(\w+)</a>(.*?)</tr>', text, re.S)
    return {(run, str(sum(map(int, re.findall(r">(\d+)(?:</a>)?</td>", cells)[:5])))) for run, cells in rows}


def left_to_review(text: str) -> set[Any]:
    found = re.search(r"([\d,]+) left without", text)
    assert found
    return {found[1]}


def counted(*runs: str, empty: bool = False) -> Callable[[Callable[[Known], bool]], set[Any]]:
    def left(takes: Callable[[Known], bool]) -> set[Any]:
        numbers = {run: sum(takes(check) for check in known(run)) for run in runs}
        return {(run, str(n)) for run, n in numbers.items() if n or empty}

    return left


def pairs(*runs: str, only: set[Any] | None = None) -> Callable[[Callable[[Known], bool]], set[Any]]:
    return lambda takes: {
        (one.case, one.rubric)
        for one in known(*runs)
        if takes(one) and (only is None or (one.case, one.rubric) in only)
    }


def waiting(takes: Callable[[Known], bool]) -> set[Any]:
    """Tuesday's errors wait for nobody unless they are asked for; the status filter asks."""
    return {str(sum(takes(one) for one in known("tuesday")))}


LISTS = {
    "runs": List("/-/jeval", runs_shown, counted("old", "monday", "tuesday")),
    "a run's checks": List("/-/jeval/run/2026-tuesday", checks_shown, pairs("tuesday")),
    "history": List("/-/jeval/history", cases_shown, lambda t: {one.case for one in known("tuesday") if t(one)}),
    "history, any run": List(
        "/-/jeval/history?match=any", cases_shown, lambda t: {one.case for one in known("monday", "tuesday") if t(one)}
    ),
    "changes": List("/-/jeval/compare?a=monday&b=tuesday", changes_shown, pairs("tuesday", only=CHANGED)),
    "changes, side A": List(
        "/-/jeval/compare?a=monday&b=tuesday&match=a", changes_shown, pairs("monday", only=CHANGED)
    ),
    "flips": List("/-/jeval/sweep/nights", flips_shown, pairs("monday", "tuesday", only=CHANGED)),
    "flips, one run": List("/-/jeval/sweep/nights?match=2026-monday", flips_shown, pairs("monday", only=CHANGED)),
    "profiles": List("/-/jeval/sweep/nights", profiles_shown, counted("monday", "tuesday", empty=True)),
}


@pytest.mark.parametrize("query", FILTERS)
@pytest.mark.parametrize("name", LISTS)
def test_every_list_is_narrowed_by_every_filter(browser: Browser, name: str, query: str):
    one = LISTS[name]
    response = browser.get(one.address(query))
    assert response.status_code == 200
    assert one.shown(response.text) == one.left(lambda check: check.matches(query))


@pytest.mark.parametrize("query", FILTERS)
def test_the_review_queue_is_narrowed_by_every_filter(browser: Browser, query: str):
    asked = {"review"} if "status=" not in query else {"review", "fail", "error", "pass", "skipped"}
    critical = [one for one in known("tuesday") if one.way[0] == "fail" and one.rubric == "claim"]
    those = [one for one in known("tuesday") if one.way[0] in asked]
    expected = {(one.case, one.rubric) for one in (*those, *critical) if one.matches(query)}
    text = browser.get(f"/-/jeval/review?run=tuesday&{query}").text
    assert left_to_review(text) == {str(len(expected))}
    seen = set()
    for skip in range(len(expected)):
        page = browser.get(f"/-/jeval/review?run=tuesday&{query}&skip={skip}").text
        seen.add(tuple(re.findall(r'name="(?:case_id|rubric_id)" value="([^"]+)"', page)[:2]))
    assert seen == expected


ABOUT_RUNS = {
    "name=TUES": {"tuesday"},
    "name=main": {"old"},
    "dataset=shop": {"old"},
    "judge=vercel": {"old"},
    "thresholds=strict": {"tuesday"},
    "simulated=yes": {"old"},
    "simulated=no": {"monday", "tuesday"},
    "state=complete": {"old", "monday", "tuesday"},
    "dataset=orchard&status=error": {"tuesday"},
    "dataset=shop&status=error": set(),
}


@pytest.mark.parametrize("query", ABOUT_RUNS)
def test_runs_are_narrowed_by_what_they_say_of_themselves(browser: Browser, query: str):
    text = browser.get(f"/-/jeval?{query}").text
    assert set(re.findall(r'class="run-title" href="[^"]+">(\w+)<', text)) == ABOUT_RUNS[query]


def test_history_shows_the_runs_its_address_asks_for(browser: Browser):
    across = lambda query: re.findall(r'<th class="run"><a href="[^"]+">(\w+)<', browser.get(query).text)  # noqa: E731
    assert across("/-/jeval/history") == ["monday", "tuesday"]
    assert across("/-/jeval/history?thresholds=strict") == ["tuesday"]
    assert across("/-/jeval/history?name=mon") == ["monday"]
    assert across("/-/jeval/history?dataset=shop&simulated=yes") == ["old"]


def test_a_cell_of_history_is_of_the_rubrics_that_are_asked_for(browser: Browser):
    text = browser.get("/-/jeval/history?rubric=tone").text
    row = text[text.index('<th scope="row">c6<') :].partition("</tr>")[0]
    assert re.findall(r'title="c6: (\w+)"', row) == ["fail", "pass"]


class Groups(HTMLParser):
    """The lines of a page's groups: how many, and where each leads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, int]] = []
        self._inside, self._href = False, ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "table":
            self._inside = "groups" in (given.get("class") or "")
        if self._inside and tag == "a":
            self._href = given.get("href") or ""

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "table"

    def handle_data(self, data: str) -> None:
        if self._href and data.strip():
            self.found.append((self._href, int(data)))
            self._href = ""


GROUPED: dict[str, tuple[str, Callable[[str], int]]] = {
    "runs": ("/-/jeval?rubric=claim&rubric=tone&rubric=facts", lambda text: sum(int(n) for _, n in runs_shown(text))),
    "a run's checks": ("/-/jeval/run/2026-tuesday", lambda text: len(checks_shown(text))),
    "history": ("/-/jeval/history", lambda text: len(cases_shown(text))),
    "history, any run": ("/-/jeval/history?match=any&status=fail", lambda text: len(cases_shown(text))),
    "changes": ("/-/jeval/compare?a=monday&b=tuesday", lambda text: len(changes_shown(text))),
    "new failures": ("/-/jeval/compare?a=monday&b=tuesday&change=new_failures", lambda text: len(changes_shown(text))),
    "changes, side A": ("/-/jeval/compare?a=monday&b=tuesday&match=a", lambda text: len(changes_shown(text))),
    "flips": ("/-/jeval/sweep/nights", lambda text: len(flips_shown(text))),
    "flips of some cases": ("/-/jeval/sweep/nights?key=team&value=red", lambda text: len(flips_shown(text))),
    "review": ("/-/jeval/review?run=tuesday", lambda text: int(left_to_review(text).pop())),
    "errors for review": ("/-/jeval/review?run=tuesday&queue=error", lambda text: int(left_to_review(text).pop())),
}


@pytest.mark.parametrize("name", GROUPED)
def test_failures_of_one_kind_are_one_line_that_leads_to_them_alone(browser: Browser, name: str):
    path, how_many = GROUPED[name]
    found = Groups(browser.get(path).text).found
    assert found
    assert len({href for href, _ in found}) == len(found)
    for href, n in found:
        asked = dict(parse_qsl(urlsplit(href).query))
        assert {"status", "rubric", "rule"} <= asked.keys()
        assert how_many(browser.get(href.partition("#")[0]).text) == n, href


def test_groups_hold_everything_that_needs_eyes_and_nothing_else(browser: Browser):
    found = Groups(browser.get("/-/jeval/run/2026-tuesday").text).found
    ways = {(way[0], rubric, way[1]) for (_, rubric), way in TUESDAY.items() if way[0] in ("fail", "error", "review")}
    asked = [dict(parse_qsl(urlsplit(href).query)) for href, _ in found]
    assert {(one["status"], one["rubric"], one["rule"]) for one in asked} == ways


class Form(HTMLParser):
    """What a browser sends when the page's form of filters is sent as it stands."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.pairs: list[tuple[str, str]] = []
        self._inside, self._select, self._options = False, "", []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._inside = given.get("class") == "filters"
        if not self._inside:
            return
        if tag == "input" and (given.get("type") != "checkbox" or "checked" in given):
            self.pairs.append((given["name"], given.get("value", "")))
        if tag == "select":
            self._select, self._options = given["name"], []
        if tag == "option" and self._select:
            self._options.append([given.get("value"), "selected" in given])

    def handle_data(self, data: str) -> None:
        if self._select and self._options and self._options[-1][0] is None:
            self._options[-1][0] = data

    def handle_endtag(self, tag: str) -> None:
        if tag == "select" and self._select:
            chosen = [value for value, selected in self._options if selected] or [self._options[0][0]]
            self.pairs.append((self._select, chosen[-1] or ""))
            self._select = ""
        if tag == "form":
            self._inside = False


PLACES: dict[str, tuple[str, tuple[str, ...]]] = {
    "runs": ("/-/jeval?name=2026&dataset=orchard&state=complete&sort=fail", run_list.ABOUT),
    "a run's checks": ("/-/jeval/run/2026-tuesday?sort=case", ()),
    "history": (
        "/-/jeval/history?dataset=orchard&thresholds=strict&match=any&changed=1&sort=worst",
        history_page.ABOUT,
    ),
    "changes": (
        "/-/jeval/compare?a=2026-monday&b=2026-tuesday&change=new_failures&match=a&sort=case",
        compare_page.ABOUT,
    ),
    "flips": ("/-/jeval/sweep/nights?match=2026-monday&profiles=fail&sort=rubric", sweep_page.ABOUT),
    "review": ("/-/jeval/review?run=2026-tuesday&queue=fail&sort=case", ("run", "queue")),
}
ALL_OF_THEM = (
    "status=fail&status=error&rubric=claim&rubric=tone&severity=critical&kind=tool-claim&kind=custom&outcome=unclear"
    "&rule=timeout&rule=nope&case=c1&key=team&value=red&slower=50&faster=2500.5&q=apricot+%22an+orchard%22"
)


@pytest.mark.parametrize("query", [ALL_OF_THEM, "status=nope&slower=0", "rubric=facts", ""])
@pytest.mark.parametrize("name", PLACES)
def test_a_form_sent_as_it_stands_asks_for_the_same(browser: Browser, name: str, query: str):
    path, about = PLACES[name]
    address = f"{path}&{query}&page=2"
    sent = Filters.read(Form(browser.get(address).text).pairs, about)
    assert sent == Filters.read(parse_qsl(urlsplit(f"{path}&{query}").query), about)


def links(text: str) -> Iterator[tuple[str, dict[str, list[str]]]]:
    for href in re.findall(r'<a[^>]* href="([^"]+)"', text):
        parts = urlsplit(href.replace("&amp;", "&"))
        found: dict[str, list[str]] = {}
        for name, value in parse_qsl(parts.query):
            found.setdefault(name, []).append(value)
        yield parts.path, found


@pytest.mark.parametrize("name", PLACES)
def test_a_filter_in_use_can_be_taken_away_alone(browser: Browser, name: str):
    path, about = PLACES[name]
    text = browser.get(f"{path}&status=fail&rubric=claim&key=team&value=red&slower=50").text
    chips = text[text.index('<ul class="chips"') :].partition("</ul>")[0]
    left = [Filters.read([(n, v) for n, vs in found.items() for v in vs], about) for _, found in links(chips)]
    whole = Filters.read(parse_qsl(urlsplit(path).query), about)
    assert [(len(one.chosen()), one.about, one.sort) for one in left] == [(3, whole.about, whole.sort)] * 4


SORTED: dict[str, tuple[str, Callable[[str], list[Any]], dict[str, list[Any]]]] = {
    "runs": (
        "/-/jeval?",
        lambda text: re.findall(r'class="run-title" href="[^"]+">(\w+)<', text),
        {
            "": ["tuesday", "monday", "old"],
            "oldest": ["old", "monday", "tuesday"],
            "name": ["monday", "old", "tuesday"],
            "fail": ["tuesday", "monday", "old"],
            "critical": ["tuesday", "monday", "old"],
            "review": ["monday", "tuesday", "old"],
            "error": ["tuesday", "monday", "old"],
            "checks": ["tuesday", "monday", "old"],
            "cost": ["tuesday", "monday", "old"],
        },
    ),
    "a run's checks": (
        "/-/jeval/run/2026-tuesday?q=orchard&status=fail&status=error&",
        lambda text: re.findall(r'/case/[^/]+/(\w+)#check-(\w+)" class="nowrap"', text),
        {
            "": [*((c, "claim") for c in ("c1", "c2", "c3")), ("c4", "tone"), ("c3", "facts"), ("c5", "tone")],
            "case": [*((c, "claim") for c in ("c1", "c2", "c3")), ("c3", "facts"), ("c4", "tone"), ("c5", "tone")],
            "rubric": [*((c, "claim") for c in ("c1", "c2", "c3")), ("c3", "facts"), ("c4", "tone"), ("c5", "tone")],
            "slowest": [
                ("c5", "tone"),
                ("c4", "tone"),
                ("c3", "claim"),
                ("c3", "facts"),
                ("c2", "claim"),
                ("c1", "claim"),
            ],
        },
    ),
    "history": (
        "/-/jeval/history?",
        lambda text: re.findall(r'<th scope="row">(\w+)</th>', text),
        {"": list(WORDS), "case": list(WORDS), "worst": ["c1", "c2", "c3", "c4", "c5", "c6"]},
    ),
    "changes": (
        "/-/jeval/compare?a=monday&b=tuesday&",
        lambda text: re.findall(r'/case/[^/]+/(\w+)#check-(\w+)"><b>', text),
        {
            "": [
                *(("c2", "claim"), ("c3", "claim"), ("c4", "tone"), ("c3", "facts"), ("c5", "tone"), ("c6", "claim")),
                *(("c6", "tone"), ("c1", "facts")),
            ],
            "case": [
                *(("c1", "facts"), ("c2", "claim"), ("c3", "claim"), ("c3", "facts"), ("c4", "tone"), ("c5", "tone")),
                *(("c6", "claim"), ("c6", "tone")),
            ],
            "rubric": [
                *(("c2", "claim"), ("c3", "claim"), ("c6", "claim"), ("c1", "facts"), ("c3", "facts")),
                *(("c4", "tone"), ("c5", "tone"), ("c6", "tone")),
            ],
        },
    ),
    "flips": (
        "/-/jeval/sweep/nights?",
        lambda text: re.findall(r'<th scope="row">(\w+)</th><td>(\w+)', text),
        {
            "": [
                *(("c2", "claim"), ("c3", "claim"), ("c1", "facts"), ("c3", "facts"), ("c4", "tone"), ("c5", "tone")),
                *(("c6", "claim"), ("c6", "tone")),
            ],
            "rubric": [
                *(("c2", "claim"), ("c3", "claim"), ("c6", "claim"), ("c1", "facts"), ("c3", "facts")),
                *(("c4", "tone"), ("c5", "tone"), ("c6", "tone")),
            ],
            "case": [
                *(("c1", "facts"), ("c2", "claim"), ("c3", "claim"), ("c3", "facts"), ("c4", "tone"), ("c5", "tone")),
                *(("c6", "claim"), ("c6", "tone")),
            ],
        },
    ),
}
PAGED = {"runs": run_list, "a run's checks": check_list, "history": history_page, "changes": compare_page}
PAGED |= {"flips": sweep_page}


@pytest.mark.parametrize(("name", "sort"), [(name, sort) for name, (_, _, sorts) in SORTED.items() for sort in sorts])
def test_an_order_holds_from_page_to_page(browser: Browser, monkeypatch: pytest.MonkeyPatch, name: str, sort: str):
    path, shown, sorts = SORTED[name]
    address = f"{path}sort={sort}"
    assert shown(browser.get(address).text) == sorts[sort]
    monkeypatch.setattr(PAGED[name], "PAGE", 2)
    seen, here = [], f"{path}sort={sort}"
    for _ in range(10):
        text = browser.get(here).text
        seen += shown(text)
        following = re.search(r'<a href="([^"#]+)[^"]*" data-key="n"', text)
        if following is None:
            break
        here = following[1].replace("&amp;", "&")
    assert seen == sorts[sort]
    assert len(seen) > 2


def test_the_queue_goes_by_case_where_it_is_asked_to(browser: Browser):
    seen = []
    for skip in range(8):
        text = browser.get(f"/-/jeval/review?run=tuesday&sort=case&skip={skip}").text
        seen.append(tuple(re.findall(r'name="(?:case_id|rubric_id)" value="([^"]+)"', text)[:2]))
    assert [case for case, _ in seen] == sorted(case for case, _ in seen)
    assert len(set(seen)) == 8


def test_a_label_leads_back_to_the_queue_it_was_given_in(browser: Browser):
    path = "/-/jeval/review?run=2026-tuesday&queue=fail&severity=critical&sort=case&skip=1"
    text = browser.get(path).text
    form = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', text[text.index('method="post"') :]))
    assert form["narrow"].replace("&amp;", "&") == "severity=critical&sort=case"
    assert (form["run"], form["queue"], form["skip"]) == ("2026-tuesday", "fail", "1")


UNKNOWN = {
    "status": ("nope", "There is no status “nope” here. There are: pass, fail, review, skipped, error."),
    "rubric": ("nope", "There is no rubric “nope” here. There are: claim, facts, tone."),
    "severity": ("nope", "There is no severity “nope” here. There are: critical, major, minor."),
    "kind": ("nope", "There is no kind “nope” here. There are: claim-support, custom, tool-claim."),
    "outcome": ("nope", "There is no outcome “nope” here. There are: acceptable, claims_completed, "),
    "rule": ("nope", "There is no rule or error “nope” here. There are: claim-con"),
    "sort": ("nope", "There is no order “nope” here. There "),
    "slower": ("soon", "slower: “soon” is no number of milliseconds, and narrows nothing."),
    "faster": ("-1", "faster: “-1” is no number of milliseconds"),
    "value": ("red", "The metadata value “red” narrows nothing without a key. There is only: team."),
    "case": ("nope", "There is no case “nope” here."),
    "key": ("nope", "No case here has metadata “nope”. There is only: team."),
    "key=team&value": ("green", "No case here has the metadata team “green”. There are: blue, red."),
    "statuss": ("fail", "There is no filter “statuss” here, so it narrows nothing. There are: "),
}


@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.parametrize("place", PLACES)
def test_what_is_not_there_is_named_with_what_there_is(browser: Browser, place: str, name: str):
    value, words = UNKNOWN[name]
    path = PLACES[place][0].replace("&change=new_failures&match=a", "").replace("&queue=fail", "")
    path = re.sub(r"&?sort=\w+", "", path)
    address = f"{path}{'' if path.endswith('?') else '&'}{name}={value}"
    response = browser.get(address)
    assert response.status_code == 200
    assert words in response.text


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/-/jeval?judge=nope", "There is no judge “nope” here. There are: jev, vercel."),
        ("/-/jeval?simulated=perhaps", "There is no value of simulated “perhaps” here. There are: no, yes."),
        ("/-/jeval?state=nope", "There is no state of a run “nope” here. There is only: complete."),
        ("/-/jeval/history?dataset=nope", "There is no dataset “nope” here. There are: orchard, shop."),
        ("/-/jeval/history?match=first", "There is no side to look at “first” here. There is only: any."),
        (
            "/-/jeval/compare?a=monday&b=tuesday&change=nope",
            "There is no change “nope” here. There are: new_failures,",
        ),
        ("/-/jeval/compare?a=monday&b=tuesday&match=c", "There is no side to look at “c” here. There is only: a."),
        ("/-/jeval/sweep/nights?match=nope", "“nope” here. There are: 2026-monday, 2026-tuesday."),
        ("/-/jeval/sweep/nights?profiles=nope", "There is no order of profiles “nope” here. There are: pass, fail,"),
        ("/-/jeval/review?run=tuesday&queue=nope", "There is no queue “nope” here. There are: review, critical,"),
        ("/-/jeval/run/2026-old?slower=1", "No request that these answers rest on has a measured latency."),
    ],
)
def test_so_it_is_with_what_only_one_list_has(browser: Browser, address: str, words: str):
    assert words in browser.get(address).text


@pytest.mark.parametrize("name", PLACES)
def test_the_store_of_an_address_is_no_filter(browser: Browser, name: str):
    assert "narrows nothing" not in browser.get(f"{PLACES[name][0]}&store=lists").text


@pytest.mark.parametrize("name", PLACES)
def test_nothing_of_an_address_runs_in_a_page(browser: Browser, name: str):
    path, about = PLACES[name]
    names = ("rubric", "severity", "kind", "outcome", "rule", "case", "key", "value", "slower", "faster", "q", "sort")
    everything = "&".join(f"{one}={quote(EVIL)}" for one in (*names, "status", EVIL[:20].replace("&", "")))
    for one in ("", *(name for name in about if name not in ("a", "b", "run"))):
        text = browser.get(f"{path}&{everything}" + (f"&{one}={quote(EVIL)}" if one else "")).text
        dangers = Dangers(text)
        assert dangers.found == []
        assert dangers.scripts == ["/-/jeval/assets/keys.js"]


def test_a_run_of_the_narrowed_list_leads_to_what_matched_there(browser: Browser):
    text = browser.get("/-/jeval?status=fail&rubric=claim&dataset=orchard").text
    href = re.search(r'class="run-title" href="([^"#]+)#checks">tuesday', text)
    assert href
    assert unquote_plus(href[1]).endswith("/run/2026-tuesday?status=fail&amp;rubric=claim")
    assert checks_shown(browser.get(href[1].replace("&amp;", "&")).text) == {(c, "claim") for c in ("c1", "c2", "c3")}
