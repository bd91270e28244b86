"""Every page, through Datasette: what it says, that hostile text is shown and never run, and clear words
where
something is missing."""

import json
import re
import sqlite3
from pathlib import Path
from urllib.parse import quote

import pytest
from browsing import SCRIPT, Browser, Dangers, make_store

from jeval.app.cli import main
from jeval.browse.screen import environment
from jeval.store.connect import open_store
from tests.stores import add_run, new_store, rubric


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Browser:
    return Browser(make_store(tmp_path_factory.mktemp("store")), reviewer="Ada <b>")


@pytest.fixture(scope="module")
def empty(tmp_path_factory) -> Browser:
    path = tmp_path_factory.mktemp("empty") / "empty.db"
    open_store(path).close()
    return Browser(path)


def pages(browser: Browser) -> dict[str, str]:
    first, second, broken = (browser.run_id(name) for name in ("first", "second", "broken"))
    evil = quote(SCRIPT, safe="")
    one = f"run={second}&case=case-1&check=polite&done={evil}&of={evil}&as={evil}"
    return {
        "runs": "/-/jeval",
        "runs searched": f"/-/jeval?q={quote(SCRIPT)}",
        "run": f"/-/jeval/run/{second}",
        "run searched": f"/-/jeval/run/{second}?q={evil}&key={evil}&value={evil}",
        "run filtered": f"/-/jeval/run/{second}?status=fail&rubric={evil}&rule={evil}&outcome={evil}",
        "run that never ended": f"/-/jeval/run/{broken}",
        "case": f"/-/jeval/case/{second}/case-1",
        "case with errors": f"/-/jeval/case/{broken}/case-0",
        "compare, nothing chosen": "/-/jeval/compare",
        "compare": f"/-/jeval/compare?a={first}&b={second}",
        "compare with the broken": f"/-/jeval/compare?a={broken}&b={second}",
        "history": "/-/jeval/history",
        "history, what changed": "/-/jeval/history?changed=1",
        "review": f"/-/jeval/review?run={second}",
        "review of one check": f"/-/jeval/review?{one}",
        "sweep": "/-/jeval/sweep/sweep-1",
        "no such run": f"/-/jeval/run/{quote(SCRIPT, safe='')}",
        "no such page": f"/-/jeval/{quote(SCRIPT)}",
    }


PAGES = (
    "runs", "runs searched", "run", "run searched", "run filtered", "run that never ended", "case",
    "case with errors", "compare, nothing chosen", "compare", "compare with the broken", "history",
    "history, what changed", "review", "review of one check", "sweep", "no such run", "no such page",
)  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_hostile_text_is_shown_and_never_run(browser: Browser, page: str):
    response = browser.get(pages(browser)[page])
    assert response.status_code == (404 if page.startswith("no such") else 200)
    text = response.text
    dangers = Dangers(text)
    assert dangers.scripts == ["/-/jeval/assets/keys.js"]
    assert dangers.found == []
    assert response.headers["content-security-policy"].startswith(
        "default-src 'none'; script-src 'self'; style-src 'self'"
    )
    assert "access-control-allow-origin" not in response.headers


def test_hostile_text_can_be_read_on_the_page_of_its_case(browser: Browser):
    text = browser.get(pages(browser)["case"]).text
    assert "&lt;script&gt;window.owned=1&lt;/script&gt;" in text
    assert "\u241b[31mred" in text
    assert "\u27e8U+202E\u27e9esrever" in text
    assert "javascript:alert(1)" in text


def test_runs_stand_newest_first_with_counts_and_denominators(browser: Browser):
    text = browser.get("/-/jeval").text
    assert text.index(">second<") < text.index(">first<") < text.index("broken")
    assert "18 checks" in text
    assert re.search(r"\d\.\d% \(\d+ of \d+\)", text)
    assert "simulated" in text
    assert "$0.2500" in text


def test_the_newest_run_is_offered_to_be_compared_with_the_one_before_over_the_same_cases(tmp_path: Path):
    store = tmp_path / "jeval.db"
    for dataset in ("shop", "manual", "shop"):
        assert main(["run", f"dataset={dataset}", f"rubrics={dataset}", f"store={store}", f"name={dataset}"]) == 0
    there = Browser(store)
    first, _, last = [row[0] for row in sqlite3.connect(store).execute("SELECT id FROM runs ORDER BY pk")]
    page = there.get("/-/jeval").text
    assert set(re.findall(r'name="([ab])" value="([^"]+)"[^>]* checked', page)) == {("a", first), ("b", last)}


def test_runs_are_filtered_by_what_the_address_says(browser: Browser):
    text = browser.get("/-/jeval?thresholds=strict&name=second").text
    assert ">second<" in text
    assert ">first<" not in text


def test_a_run_says_what_failed_and_how_to_do_it_again(browser: Browser):
    run = browser.run_id("second")
    text = browser.get(f"/-/jeval/run/{run}").text
    assert "critical failure" in text
    assert f"jeval run --from-run {run}" in text
    assert "thresholds=strict" in text
    assert "What differs" in text or "what differs" in text
    assert re.search(r"decided</li>", text)
    assert "warmth" in text  # the metric


def test_a_run_is_found_by_name_beginning_and_place(browser: Browser):
    run = browser.run_id("second")
    for name in ("second", "@last", run[:-2]):
        response = browser.get(f"/-/jeval/run/{name}?status=fail")
        assert response.status_code == 302
        assert response.headers["location"] == f"/-/jeval/run/{run}?status=fail"


def test_failures_of_one_kind_read_as_one_line(browser: Browser):
    text = browser.get(f"/-/jeval/run/{browser.run_id('first')}").text
    groups = text[text.index("What went wrong") : text.index("<h2>Rubrics")]
    assert groups.count("kept-promise") <= 3
    assert re.search(r"rule=[\w-]+#checks\"><b>\d+</b>", groups)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("status=error", 0),
        ("rubric=kept-promise", 6),
        ("severity=critical&severity=minor", 12),
        ("kind=grounded-values", 6),
        ("key=team&value=blue", 6),
        ("q=periwinkle&rubric=polite", 6),
        ("q=nowhere", 0),
        ("case=case-2", 3),
        ("faster=103&kind=custom", 3),
        ("slower=104", 9),
        ("slower=1000000000", 0),
    ],
)
def test_a_list_is_narrowed_by_each_filter(browser: Browser, query: str, expected: int):
    text = browser.get(f"/-/jeval/run/{browser.run_id('first')}?{query}").text
    assert f"{expected} of 18 checks" in text
    if not expected:
        assert "No check matches all of this" in text


def test_a_page_beyond_the_last_shows_the_last(browser: Browser):
    assert "case-0" in browser.get(f"/-/jeval/run/{browser.run_id('first')}?page=999").text


def test_a_run_that_never_ended_says_so(browser: Browser):
    text = browser.get(f"/-/jeval/run/{browser.run_id('broken')}").text
    assert "1 of 6 cases so far" in text
    assert "rate_limited" in text


def test_a_case_shows_bars_with_their_thresholds_and_links_to_its_passages(browser: Browser):
    text = browser.get(f"/-/jeval/case/{browser.run_id('second')}/case-1").text
    assert "holds from 0.9" in text  # the strict profile, for an established claim
    assert 'href="#toolEvents-0"' in text
    assert 'id="toolEvents-0"' in text
    assert "criterion as sent" in text
    assert "The same case in other runs" in text
    assert "next case" in text


def test_a_case_without_any_request_says_why(browser: Browser):
    text = browser.get(f"/-/jeval/case/{browser.run_id('second')}/case-1").text
    assert "This run asked nothing about this case" in text


def test_compare_puts_what_became_worse_first(browser: Browser):
    text = browser.get(pages(browser)["compare"]).text
    assert "checks in both" in text
    assert "thresholds: pass 0.75, fail 0.5 against pass 0.9, fail 0.3" in text
    assert "thresholds=strict" in text or "strict" in text


def test_a_failure_that_is_now_for_review_is_shown_as_such(tmp_path: Path):
    connection = new_store(tmp_path)
    add_run(connection, "a", {("fig", "tone"): "fail"})
    add_run(connection, "b", {("fig", "tone"): "review"})
    connection.close()
    page = Browser(tmp_path / "jeval.db").get("/-/jeval/compare?a=a&b=b").text
    assert '<b class="zero">0</b>failures resolved' in page
    assert '<b class="review">1</b>newly for review' in page
    assert ">failed before</span>" in page


def test_compare_of_a_run_with_itself_changes_nothing(browser: Browser):
    run = browser.run_id("first")
    assert "Nothing changed." in browser.get(f"/-/jeval/compare?a={run}&b={run}").text


def test_history_shows_one_cell_for_each_case_and_run(browser: Browser):
    text = browser.get("/-/jeval/history").text
    assert text.count('<th scope="row">') == 6
    assert text.count('<td class="cell') == 18


def test_a_sweep_shows_a_column_for_each_run(browser: Browser):
    text = browser.get("/-/jeval/sweep/sweep-1").text
    assert "Sweep of 2 runs" in text
    assert text.count("compare with the first run") == 1


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/-/jeval/run/nope", "The store holds no run nope."),
        ("/-/jeval/case/@last/nope", "No run in this store judged a case nope."),
        ("/-/jeval/case/nope/case-1", "The store holds no run nope."),
        ("/-/jeval/sweep/nope", "The store holds no sweep nope."),
        ("/-/jeval/compare?a=nope&b=@last", "The store holds no run nope."),
        ("/-/jeval/review?run=nope", "The store holds no run nope."),
        ("/-/jeval/what/ever", "There is no page"),
        ("/-/jeval?store=other", "The stores here are hostile."),
    ],
)
def test_what_is_not_there_is_said_in_clear_words(browser: Browser, path: str, words: str):
    response = browser.get(path)
    assert response.status_code == 404
    assert words in response.text
    assert "Traceback" not in response.text


@pytest.mark.parametrize("path", ["/-/jeval", "/-/jeval/compare", "/-/jeval/history", "/-/jeval/review"])
def test_an_empty_store_has_pages_that_say_so(empty: Browser, path: str):
    response = empty.get(path)
    assert response.status_code == 200
    assert "no run yet" in response.text


def test_a_database_that_is_no_store_is_not_taken_for_one(tmp_path: Path):
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE checks (a)")
    connection.close()
    browser = Browser(path)
    response = browser.get("/-/jeval")
    assert response.status_code == 404
    assert "No database here is a store" in response.text
    assert browser.get("/other/compare").status_code == 404
    assert browser.get("/other/checks").status_code == 200


def test_a_run_of_metrics_only_has_a_page(tmp_path: Path):
    metrics = tmp_path / "metrics.yaml"
    metrics.write_text(
        "- id: warmth\n  version: 1.0.0\n  fields: [input, actual_output]\n  questions:\n"
        "    - {noul: actual_output is warm., weight: 1}\n    - score: How warm?\n      levels:"
        " [Cold, Warm]\n",
        encoding="utf-8",
    )
    dataset = tmp_path / "d.jsonl"
    dataset.write_text(json.dumps({"id": "a", "input": "x", "output": "y"}) + "\n", encoding="utf-8")
    store = tmp_path / "m.db"
    main(["run", f"dataset.path={dataset}", "rubrics=none", f"metrics.path={metrics}", f"store={store}"])
    browser = Browser(store)
    run = browser.get("/-/jeval/run/@last").headers["location"]
    assert "warmth" in browser.get(run).text
    case = browser.get(run.replace("/run/", "/case/") + "/a").text
    assert "actual_output is warm." in case
    assert "No rubric was applied" in case


def test_a_run_of_metrics_only_is_listed_with_its_means_and_says_why_cases_have_no_score(tmp_path: Path):
    connection = new_store(tmp_path)
    add_run(connection, "m", {}, scores={("a", "warmth"): 0.25, ("b", "warmth"): 0.75}, metrics="warm")
    add_run(connection, "c", {("a", "tone"): "pass"})
    connection.close()
    page = Browser(tmp_path / "jeval.db").get("/-/jeval").text
    assert re.search(r"warmth <b>0\.5</b>", page)
    assert "0 checks" not in page
    assert "1 check" in page
    metrics, dataset, store = tmp_path / "m.yaml", tmp_path / "d.jsonl", tmp_path / "n.db"
    metrics.write_text("- {id: m, version: '1', fields: [retrieval_context], questions: [{noul: So.}]}\n", "utf-8")
    dataset.write_text(json.dumps({"id": "a", "input": "x", "output": "y"}) + "\n", "utf-8")
    main(["run", f"dataset.path={dataset}", "rubrics=none", f"metrics.path={metrics}", f"store={store}"])
    browser = Browser(store)
    run = browser.get("/-/jeval/run/@last").headers["location"]
    assert "the case does not hold retrieval_context" in browser.get(run).text


def test_a_critical_failure_shows_the_beginning_of_its_answer(tmp_path: Path):
    connection = new_store(tmp_path)
    contents = {"a": SCRIPT + "word " * 100}
    add_run(connection, "r", {("a", "tone"): "fail"}, [rubric("tone", severity="critical")], contents=contents)
    connection.close()
    page = Browser(tmp_path / "jeval.db").get("/-/jeval/run/r").text
    assert "“&lt;script" in page and "…”</span>" in page
    assert SCRIPT not in page


def test_assets_are_served_and_nothing_else(browser: Browser):
    assert browser.get("/-/jeval/assets/style.css").headers["content-type"].startswith("text/css")
    assert browser.get("/-/jeval/assets/keys.js").headers["content-type"].startswith("text/javascript")
    assert browser.get("/-/jeval/assets/..%2Fplugin.py").status_code == 404
    assert browser.get("/-/jeval/assets/plugin.py").status_code == 404


def test_every_template_escapes():
    env = environment()
    assert env.autoescape is True
    for name in env.list_templates():
        source = env.loader.get_source(env, name)[0]  # type: ignore[union-attr]
        assert "|safe" not in source.replace(" ", ""), name
        assert "autoescape" not in source, name
        assert not re.search(r"<script>|\son\w+=|style=\"", source), name


def test_history_compare_and_review_are_narrowed_too(browser: Browser):
    first, second = browser.run_id("first"), browser.run_id("second")
    history = browser.get("/-/jeval/history?key=team&value=blue").text
    assert history.count('<th scope="row">') == 2
    assert browser.get("/-/jeval/history?q=nowhere").text.count('<th scope="row">') == 0
    both = f"a={first}&b={second}"
    assert "No change matches." in browser.get(f"/-/jeval/compare?{both}&q=nowhere").text
    assert "0 changes" in browser.get(f"/-/jeval/compare?{both}&severity=major&status=fail").text
    whole = left(browser, f"run={second}")
    critical = left(browser, f"run={second}&severity=critical")
    assert 0 < critical < whole
    assert left(browser, f"run={second}&case=case-1&rubric=polite") == 1
    assert left(browser, f"run={second}&q=nowhere") == 0


def left(browser: Browser, query: str) -> int:
    found = re.search(r"([\d,]+) left without", browser.get(f"/-/jeval/review?{query}").text)
    assert found
    return int(found[1])


def test_a_label_keeps_the_filters_of_its_queue(browser: Browser):
    page = browser.get("/-/jeval/review?run=second&severity=minor&q=heliotrope").text
    assert 'name="narrow" value="severity=minor&amp;q=heliotrope"' in page
