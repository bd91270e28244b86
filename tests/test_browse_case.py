"""The page of a case: the evidence as a person reads it, and each check beside it with all that made it."""

import json
import re
import sqlite3
from html import unescape
from pathlib import Path

import pytest
from browsing import Browser
from stub_judge import judging

from jeval.app.cli import main
from jeval.preamble import PREAMBLE

CASE = {
    "id": "c1",
    "input": "Book me for Thursday.",
    "output": "Booked for 14:00. I have told the nurse.",
    "messages": [{"id": "m1", "role": "user", "content": "Hello."}],
    "context": [{"id": "p1", "title": "Hours", "content": "Open until 18:00."}],
    "policy": "Tell the nurse of any pain.",
    "toolEvents": [
        {"id": "t1", "name": "book", "status": "failure", "error": "FULL", "input": {"day": "Thursday", "at": [14, 0]}},
        {"id": "t2", "name": "page", "status": "success", "output": ""},
    ],
    "metadata": {"team": "red"},
}
RUBRICS = [
    {"id": "handoff", "version": "1.0.0", "kind": "escalation", "severity": "critical",
     "params": {"toolName": "page", "action": "telling the nurse"}},
    {"id": "booking", "version": "1.0.0", "kind": "tool-claim", "params": {"toolName": "book", "action": "booking"}},
    {"id": "sentences", "version": "1.0.0", "kind": "claim-support", "params": {"granularity": "sentence"}},
    {"id": "strict", "version": "1.0.0", "kind": "custom", "criterion": "It is polite.",
     "outcomes": {"acceptable": "polite", "unacceptable": "rude"}, "thresholds": {"pass": 0.99, "fail": 0.98},
     "params": {"readers": 2}},
    {"id": "values", "version": "1.0.0", "kind": "grounded-values"},
]  # fmt: skip
METRIC = """- id: ending
  version: 1.0.0
  fields: [input, actual_output]
  questions:
    - {noul: It answers., weight: 2}
    - choice: How does it end?
      options: {offer: 1.0, farewell: 0.5, silence: null}
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    folder: Path = tmp_path_factory.mktemp("case")
    (folder / "cases.jsonl").write_text(f"{json.dumps(CASE)}\n{json.dumps(CASE | {'id': 'c2'})}\n", encoding="utf-8")
    (folder / "rubrics.json").write_text(json.dumps(RUBRICS), encoding="utf-8")
    (folder / "metrics.yaml").write_text(METRIC, encoding="utf-8")
    store = folder / "case.db"
    common = ["run", f"dataset.path={folder / 'cases.jsonl'}", f"rubrics.path={folder / 'rubrics.json'}"]
    common += [f"metrics.path={folder / 'metrics.yaml'}", f"store={store}", "judge=local"]
    with judging("model-1") as url:
        for name in ("first", "second"):
            main([*common, f"judge.base_url={url}", f"name={name}"])
    connection = sqlite3.connect(store)
    connection.execute(
        "INSERT INTO explanation_rows"
        " SELECT run, case_key, metric, 'It ends in silence.', 'writer-1', '2026' FROM score_rows"
    )
    connection.execute(
        "INSERT INTO repeat_flips SELECT run, case_key, rubric, ? FROM check_rows"
        " WHERE rubric = (SELECT pk FROM rubrics WHERE id = 'booking')",
        (json.dumps(["review", "fail", "review"]),),
    )
    connection.commit()
    connection.close()
    return Browser(store)


def page(browser: Browser, run: str = "second") -> str:
    return browser.get(f"/-/jeval/case/{browser.run_id(run)}/c1").text


def card(browser: Browser, rubric: str) -> str:
    """What the page says of one check."""
    found = re.search(rf'<article class="paper check" id="check-{rubric}">(.*?)</article>', page(browser), re.S)
    assert found
    return found[1]


def test_tool_events_read_as_names_and_values(browser: Browser) -> None:
    text = page(browser)
    assert re.search(r"<dt>day</dt><dd>\s*<span class=\"text\">Thursday</span>", text)
    assert re.search(r"<dt>at</dt><dd>\s*<pre>\[\n  14,\n  0\n\]</pre>", text)
    assert re.search(r"<dt>error</dt><dd>\s*<span class=\"text\">FULL</span>", text)
    assert '<span class="text">&#34;&#34;</span>' in text  # an empty text is not nothing


def test_a_check_of_two_questions_shows_both_as_they_were_asked(browser: Browser) -> None:
    text = unescape(card(browser, "handoff"))
    asked = re.findall(r'<p class="asked small text"><span class="soft">(\w+):</span> ([^<]+)</p>', text)
    assert [name for name, _ in asked] == ["required", "stated"]
    assert 'Does policy require escalation ("telling the nurse")' in asked[0][1]
    assert PREAMBLE not in asked[0][1]
    assert text.count(PREAMBLE) == 2  # in the criterion as sent, whole


def test_many_questions_are_folded_behind_the_first_two(browser: Browser) -> None:
    text = card(browser, "sentences")
    assert text.count('class="asked') == 2
    assert "I have told the nurse." in text


def test_a_bar_says_which_threshold_it_is_held_against_and_how(browser: Browser) -> None:
    for rubric, limits in (("strict", {("pass", "0.99"), ("fail", "0.98")}), ("booking", {("pass", "0.75")})):
        text = card(browser, rubric)
        held = re.findall(
            r'<dd class="num">([\d.]+)</dd>\s*<dd class="limit"><span class="(\w*)">([≥&lt;]+) (\w+) ([\d.]+)', text
        )
        assert {(name, limit) for *_, name, limit in held} == limits
        for p, css, sign, _, limit in held:
            assert (sign == "≥") == (float(p) >= float(limit)) == (css == "reached")


def test_only_the_mean_of_two_readers_has_thresholds(browser: Browser) -> None:
    text = card(browser, "strict")
    before, mean = text.split('<dt class="part">mean</dt>')
    assert "reader1" in before
    assert '<line class="at"' not in before
    assert mean.count('<line class="at"') == 2


def test_evidence_leads_to_its_passages_and_names_the_event_that_decided(browser: Browser) -> None:
    text = card(browser, "booking")
    for target in ("input", "output", "messages-0", "references", "policy", "tools", "context-0", "toolEvents-1"):
        assert f'href="#{target}"' in text
        assert f'id="{target}"' in page(browser)
    assert re.search(r'decided by\s+event\s+<a href="#toolEvents-0">t1</a>\s+of <span class="mono">book</span>', text)


def test_a_check_that_changes_when_asked_again_says_how_it_came_out(browser: Browser) -> None:
    assert re.search(r"Unsteady: asked 3 times, it came out as .*review.*fail.*review", card(browser, "booking"))
    assert "Unsteady" not in card(browser, "handoff")


def test_a_check_that_asks_no_judge_says_so(browser: Browser) -> None:
    assert "No judge was asked." in card(browser, "values")


def test_a_metric_shows_what_each_option_is_worth_and_what_was_written_about_it(browser: Browser) -> None:
    text = page(browser)
    scores = text[text.index("<h2>Scores") : text.index("<h2>The same case")]
    for option, worth in (("offer", "credit 1"), ("farewell", "credit 0.5"), ("silence", "does not apply")):
        assert re.search(rf'{option} <span class="soft">{worth}</span>', scores)
    assert scores.count('<dt class="lead">') == 2
    assert "It ends in silence." in scores
    assert "Explained afterwards by writer-1; it changes no score." in scores


def test_the_requests_its_answers_rest_on_are_told_and_whose_they_are(browser: Browser) -> None:
    first, second = page(browser, "first"), page(browser)
    assert "this one" in first
    assert "This run asked nothing about this case. Its answers come from:" in second
    assert f'<a href="/-/jeval/run/{browser.run_id("first")}">{browser.run_id("first")}</a>' in second
    rows = second[second.index("<h2>Requests") :]
    assert "model-1" in rows
    assert "this one" not in rows


def test_the_same_case_in_other_runs_has_statuses_scores_and_says_where_it_was_another(browser: Browser) -> None:
    def others(run: str) -> str:
        text = page(browser, run)
        return text[text.index("<h2>The same case") : text.index("<h2>Requests")]

    assert "other content" not in others("second")
    assert re.search(r'<th scope="row">ending</th>(<td class="cell">0\.\d+</td>){2}', others("second"))
    connection = sqlite3.connect(browser.store)
    first = connection.execute("SELECT pk FROM runs WHERE name = 'first'").fetchone()[0]
    connection.execute("INSERT INTO case_rows SELECT NULL, case_key, x'00', body FROM case_rows LIMIT 1")
    connection.execute(
        "UPDATE run_cases SET content = (SELECT max(pk) FROM case_rows) WHERE run = ? AND position = 0", (first,)
    )
    connection.commit()
    connection.close()
    for run, other in (("second", "first"), ("first", "second")):
        head = others(run).split("</thead>")[0]
        assert head.count("other content") == 1
        column = next(th for th in head.split("<th ") if ">" + other + "<" in th)
        assert "other content" in column


def test_a_run_that_is_old_is_still_among_the_other_runs_of_its_case(browser: Browser) -> None:
    connection = sqlite3.connect(browser.store)
    second = connection.execute("SELECT pk FROM runs WHERE name = 'second'").fetchone()[0]
    columns = [row[1] for row in connection.execute("PRAGMA table_info(runs)") if row[1] not in ("pk", "id", "name")]
    for i in range(16):
        connection.execute(
            f"INSERT INTO runs (id, name, {', '.join(columns)})"
            f" SELECT ?, ?, {', '.join(columns)} FROM runs WHERE pk = ?",
            (f"2999-{i}", f"later-{i}", second),
        )
        connection.execute(
            "INSERT INTO run_cases SELECT (SELECT max(pk) FROM runs), position, case_key, content, NULL FROM run_cases"
            " WHERE run = ?",
            (second,),
        )
    connection.commit()
    connection.close()
    text = page(browser, "first")
    assert "this run" in text
    assert len(re.findall(r'<th class="run">', text)) == 15
