"""A metric's result wherever it must be seen: at a run's end, in show, compare, gate, reports, browser and JSON.

Two runs of one judge that answers differently, and one of the offline judge, which cannot answer a metric.
"""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.browsing import Browser
from tests.judging import hashed_answer, judging, local
from tests.running import Ran, jeval, project, rows
from tests.servers import Act, head

METRICS: list[dict[str, Any]] = [
    {
        "id": "kind",
        "version": "1.2.0",
        "fields": ["input", "actual_output"],
        "threshold": 0.7,
        "questions": [
            {"noul": "actual_output is polite.", "weight": 2},
            {"score": "How kind is actual_output?", "levels": ["Rude", "Cold", "Kind"]},
            {"choice": "What of the thanks?", "options": {"given": 1.0, "left_out": 0.0, "none_due": None}},
        ],
    },
    {
        "id": "spotless",
        "version": "1.0.0",
        "fields": ["actual_output"],
        "strict": True,
        "questions": [{"noul": "actual_output holds no address."}, {"noul": "actual_output holds no number."}],
    },
]
PROBABLE = {"noul": 0.9, "score": (0.0, 0.1, 0.9), "choice": (0.25, 0.15, 0.6)}
DOUBTFUL = {"noul": 0.4, "score": (0.5, 0.3, 0.2), "choice": (0.3, 0.6, 0.1)}


def answering(answers: dict[str, Any]) -> Act:
    """A judge that gives the same answers to everything a metric asks."""

    def answer(question: dict[str, Any], state: Any) -> dict[str, Any]:
        kind = question["type"]
        if "test_case" not in state:
            return hashed_answer(question, state)
        if kind == "noul":
            return {"type": kind, "noul": answers[kind]}
        names = list(question["criteria"]) if kind == "choice" else [str(i) for i in range(len(question["criteria"]))]
        shares = dict(zip(names, answers[kind], strict=True))
        more = {"choice": max(shares, key=lambda name: shares[name])}
        if kind == "score":
            more = {"score": sum(int(name) * p for name, p in shares.items()), "legend": {}}
        return {"type": kind, "probabilities": shares, "confidence": 0.5, **more}

    async def act(body: bytes, writer: Any) -> None:
        request = json.loads(body)
        answers = {key: answer(question, request["state"]) for key, question in request["questions"].items()}
        content = json.dumps({"model": "jev-1.13.0", "answers": answers}).encode()
        writer.write(head(200, len(content)) + content)

    return act


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("metrics")
    (folder / "m.json").write_text(json.dumps(METRICS), encoding="utf-8")
    project(folder, 6)
    for name, answers in (("doubtful", DOUBTFUL), ("probable", PROBABLE)):
        with judging(answering(answers)) as server:
            ran = run(folder, *local(server.url), f"name={name}", "judge.reuse=never")
        assert ran.code == 0, ran.err
        (folder / f"{name}.txt").write_text(ran.out, encoding="utf-8")
    (folder / "simulated.txt").write_text(run(folder, "name=simulated").out, encoding="utf-8")
    return folder


def run(folder: Path, *overrides: str, rubrics: str = "none") -> Ran:
    chosen = ["rubrics=none"] if rubrics == "none" else [f"rubrics.path={folder / rubrics}"]
    named = [f"dataset.path={folder / 'cases.jsonl'}", f"metrics.path={folder / 'm.json'}"]
    return jeval("run", *named, *chosen, f"store={folder / 'jeval.db'}", *overrides)


def told(folder: Path, command: str, *arguments: str) -> Ran:
    return jeval(command, *arguments, "--store", str(folder / "jeval.db"))


class Pages(Browser):
    """The pages of a store, as text."""

    def text(self, path: str) -> str:
        found = self.get(path)
        assert found.status_code == 200
        return str(found.text)


def browser(folder: Path) -> Pages:
    return Pages(folder / "jeval.db")


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of the usual width."""
    monkeypatch.delenv("COLUMNS", raising=False)


# The end of a run, and show


def test_the_end_of_a_run_and_show_tell_mean_scored_and_passed(folder: Path) -> None:
    line = "kind 1.2.0      mean 0.917 of 6 scored · 6 passed\n  spotless 1.0.0  mean 1.000 of 6 scored · 6 passed"
    assert line in (folder / "probable.txt").read_text(encoding="utf-8")
    assert line in told(folder, "show", "probable").out
    assert "kind 0.917, spotless 1.000" in told(folder, "runs").out


def test_a_case_shows_type_weight_probabilities_value_and_what_applied(folder: Path) -> None:
    out = told(folder, "show", "probable", "case-0001").out
    for part in (
        "✓ 0.9167  kind 1.2.0 (threshold 0.7)\n",
        "because     0.9167 reaches the threshold 0.7. It is (2 × 0.9 + 0.95) / 3, over 2 of 3 questions.",
        "   1  0.9000 × 2  noul: actual_output is polite.\n                  true 0.9 · false 0.1\n",
        "   2  0.9500      score: How kind is actual_output?\n                  Rude 0 · Cold 0.1 · Kind 0.9\n",
        "   3     n/a      choice, does not apply: What of the thanks?\n",
        "                  none_due 0.6 · given 0.25 · left_out 0.15\n",
        "✓ 1.0000  spotless 1.0.0 (strict)\n",
        "   1  ✓ 0.9000  noul: actual_output holds no address.\n",
    ):
        assert part in out, out
    assert "   2  ✕ 0.4000  noul: actual_output holds no number." in told(folder, "show", "doubtful", "case-0001").out


def test_machines_get_the_same_of_a_run_and_of_a_case(folder: Path) -> None:
    found = {line["id"]: line for line in told(folder, "show", "doubtful", "--json").json["scores"]}
    assert (found["kind"]["scored"], found["kind"]["passed"], found["spotless"]["mean"]) == (6, 0, 0.0)
    [kind, spotless] = told(folder, "show", "doubtful", "case-0001", "--json").json["scores"]
    assert [row["applicable"] for row in kind["breakdown"]] == [True, True, True]
    assert [row["passed"] for row in spotless["breakdown"]] == [False, False]
    assert kind["breakdown"][0] | {"question": ""} == {
        "position": 1, "type": "noul", "question": "", "weight": 2.0, "probabilities": {"true": 0.4, "false": 0.6},
        "value": 0.4, "applicable": True, "passed": None, "confidence": pytest.approx(0.2),
    }  # fmt: skip
    assert kind["explanation"] is None


def test_the_json_of_a_run_holds_each_mean(folder: Path) -> None:
    with judging(answering(PROBABLE)) as server:
        ran = run(folder, *local(server.url), "--json")
    assert ran.json["scores"] == {"kind": pytest.approx(0.916666666667), "spotless": 1.0}


# Compare


def test_compare_tells_the_change_of_each_mean_with_its_interval(folder: Path) -> None:
    out = told(folder, "compare", "doubtful", "probable").out
    assert "no check, but scores, of 6 cases in both runs" in out and "nothing changed" not in out
    assert "kind 1.2.0: 0.371 → 0.917 (+0.546, 95% interval +0.546 to +0.546) over 6 cases" in out
    assert "spotless 1.0.0: 0.000 → 1.000 (+1.000, 95% interval +1.000 to +1.000) over 6 cases" in out


def test_compare_tells_machines_and_its_page_too(folder: Path) -> None:
    page = folder / "page.html"
    found = told(folder, "compare", "doubtful", "probable", "--json", "--html", str(page)).json
    kind = found["significance"]["scores"]["kind"]
    assert (kind["pairs"], kind["method"], kind["clear"]) == (6, "bootstrap", True)
    assert kind["low"] == kind["high"] == pytest.approx(kind["change"]) == pytest.approx(0.545833333334)
    html = page.read_text(encoding="utf-8")
    assert "No check, but scores, of 6 cases in both runs." in html
    assert "0.371 → 0.917 (+0.546, 95% interval" in html


def test_the_browser_compares_scores_where_runs_share_no_check(folder: Path) -> None:
    there = browser(folder)
    page = there.text(f"/-/jeval/compare?a={there.run_id('doubtful')}&b={there.run_id('probable')}")
    assert "no check in common" in page and "0.371 → 0.917 (+0.546, 95% interval" in page


def test_a_page_shows_the_scores_of_a_run_and_of_a_case(folder: Path) -> None:
    there = browser(folder)
    of_run = there.text(f"/-/jeval/run/{there.run_id('probable')}")
    assert "kind" in of_run and "100.0%" in of_run
    of_case = there.text(f"/-/jeval/case/{there.run_id('doubtful')}/case-0001")
    assert "✕ below" in of_case and "How kind is actual_output?" in of_case


# The gate


@pytest.mark.parametrize(
    ("least", "code", "reason"),
    [
        ("kind=0.9", 0, "✓ score kind 0.9167 ≥ 0.9 required"),
        ("kind=0.95", 1, "✕ score kind 0.9167 < 0.95 required"),
    ],
)
def test_the_gate_names_what_a_mean_lacks(folder: Path, least: str, code: int, reason: str) -> None:
    with judging(answering(PROBABLE)) as server:
        ran = run(folder, "--ci", *local(server.url), f"gate.min_scores.{least}")
    assert (ran.code, reason in ran.out) == (code, True), ran.out
    stored = rows(folder / "jeval.db", "SELECT exit_code, gate FROM runs ORDER BY pk DESC LIMIT 1")
    assert stored[0][0] == code and reason[2:] in stored[0][1]


# Reports


def report(folder: Path, name: str, flag: str) -> str:
    path = folder / {"-o": "report.html", "--markdown": "report.md", "--junit": "report.xml"}[flag]
    assert told(folder, "report", name, flag, str(path)).code == 0
    return path.read_text(encoding="utf-8")


def suites_of(junit: str) -> list[tuple[str, str]]:
    """Each metric's suites: its name and what became of its first test."""
    found = []
    for suite in ElementTree.fromstring(junit).iter("testsuite"):
        [first, *_] = suite.iter("testcase")
        found.append((suite.attrib["name"], first[0].tag if len(first) else "passed"))
    return found


def test_the_reports_tell_every_metric(folder: Path) -> None:
    assert "<code>kind</code> | 0.371 | 6 | 0 | 0 | 0 |" in report(folder, "doubtful", "--markdown")
    html = report(folder, "probable", "-o")
    assert "kind" in html and "spotless" in html and "of 6 scored" in html
    junit = report(folder, "doubtful", "--junit")
    assert suites_of(junit) == [("kind 1.2.0", "failure"), ("spotless 1.0.0", "failure")]
    assert 'message="0.3708 &lt; 0.7: 0.3708 stays below' in junit
    assert [outcome for _, outcome in suites_of(report(folder, "probable", "--junit"))] == ["passed", "passed"]


# A judge that cannot answer a metric's questions


def test_a_simulated_score_that_reaches_its_threshold_is_nowhere_called_passed(folder: Path) -> None:
    [(passed,)] = rows(
        folder / "jeval.db",
        "SELECT DISTINCT passed FROM scores JOIN runs ON runs.id = run_id"
        " WHERE metric_id = 'spotless' AND runs.name = 'simulated'",
    )
    assert passed == 1  # the equation stands
    end = (folder / "simulated.txt").read_text(encoding="utf-8")
    for out in (end, told(folder, "show", "simulated").out):
        assert "these scores say nothing about the answers" in out
        assert "spotless 1.0.0  mean 1.000 of 6 scored · simulated" in out
        assert "passed" not in out
    case = told(folder, "show", "simulated", "case-0001").out
    assert "~ 1.0000  spotless 1.0.0 (strict, simulated: it says nothing about the answer)" in case
    assert "✓" not in case and "✕" not in case


def test_no_report_and_no_page_of_a_simulated_run_has_a_tick_for_a_score(folder: Path) -> None:
    there = browser(folder)
    run_id = there.run_id("simulated")
    pages = [there.text(f"/-/jeval/run/{run_id}"), report(folder, "simulated", "-o")]
    assert all("simulated: it says nothing" in page and "100.0%" not in page for page in pages)
    case = there.text(f"/-/jeval/case/{run_id}/case-0001")
    assert "simulated: it says nothing about the answer" in case and "✓ reaches" not in case
    assert "<code>spotless</code> | 1.000 | 6 | – | 0 | 0 |" in report(folder, "simulated", "--markdown")
    junit = report(folder, "simulated", "--junit")
    assert {outcome for _, outcome in suites_of(junit)} == {"skipped"}
    root = ElementTree.fromstring(junit)
    assert (root.attrib["failures"], root.attrib["skipped"], root.attrib["tests"]) == ("0", "12", "12")
    assert "simulated: 1 says nothing about the answer" in junit


def test_a_simulated_mean_passes_no_gate_and_one_that_allows_it_says_what_it_is(folder: Path) -> None:
    ran = run(folder, "--ci", "gate.min_scores.spotless=0.8")
    assert ran.code == 2
    assert "✕ score spotless 1 is simulated and says nothing, at least 0.8 required" in ran.out
    ran = run(folder, "--ci", "gate.min_scores.spotless=0.8", "gate.allow_simulated=true")
    assert ran.code == 0
    assert "✓ score spotless 1 ≥ 0.8 required (simulated: it says nothing about the answers)" in ran.out


def test_comparing_simulated_runs_says_what_their_scores_are_worth(folder: Path) -> None:
    out = told(folder, "compare", "simulated", "simulated").out
    assert "metrics (simulated: such scores say nothing about the answers)" in out
