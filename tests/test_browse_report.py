"""The report is one file that runs nothing and asks nobody, whatever the cases say."""

import base64
import hashlib
import json
import re
import sqlite3
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from browsing import Dangers, make_store, write_dataset

from jeval.app.cli import main
from jeval.browse.report import html_report
from jeval.browse.rows import NotHere
from jeval.report.gated import stored_gate


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    return make_store(tmp_path_factory.mktemp("report"))


def report(store: Path, run: str) -> str:
    connection = sqlite3.connect(store)
    try:
        return html_report(connection, run, made_at="2026-01-02T03:04:05+00:00")
    finally:
        connection.close()


@pytest.mark.parametrize("run", ["first", "second", "29990101-000000-broken"])
def test_nothing_in_it_runs_or_leads_elsewhere(store: Path, run: str):
    text = report(store, run)
    dangers = Dangers(text)
    assert dangers.scripts == []
    assert dangers.found == []
    assert "<link" not in text
    assert "url(" not in text
    assert "@import" not in text


def test_its_policy_allows_its_own_style_and_nothing_else(store: Path):
    text = report(store, "first")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    style = re.search(r"<style>(.*?)</style>", text, re.S)
    assert policy and style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    wanted = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert policy[1].replace("&#39;", "'") == wanted


def test_it_tells_what_failed_and_shows_the_case(store: Path):
    text = report(store, "second")
    assert "critical failure" in text
    assert "Your table is booked" in text
    assert "&lt;script&gt;" in text
    assert "jeval run --from-run" in text
    assert "2026-01-02 03:04 UTC" in text


def test_a_run_that_is_not_there_is_an_error(store: Path):
    with pytest.raises(NotHere, match="holds no run nope"):
        report(store, "nope")


def test_the_command_writes_every_format(store: Path, tmp_path: Path, capsys):
    html, markdown, junit = (tmp_path / name for name in ("r.html", "r.md", "r.xml"))
    command = ["report", "second", "--store", str(store), "-o", str(html), "--markdown", str(markdown)]
    assert main([*command, "--junit", str(junit)]) == 0
    assert html.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "<script>" not in markdown.read_text(encoding="utf-8")
    suites = ElementTree.parse(junit).getroot()
    assert suites.get("tests") == "24"  # 18 checks and 6 scores
    assert capsys.readouterr().err.count("wrote ") == 3


@pytest.fixture(scope="module")
def gated(tmp_path_factory) -> Path:
    """A store with a run that its gate stopped, and one that it let through."""
    folder = tmp_path_factory.mktemp("gated")
    dataset, rubrics = write_dataset(folder, 2)
    common = ["run", "--ci", f"dataset.path={dataset}", f"rubrics.path={rubrics}", f"store={folder / 'gated.db'}"]
    assert main([*common, "name=stopped", "gate.allow_simulated=true"]) == 1
    assert main([*common, "name=let", "gate=off", "gate.allow_simulated=true"]) == 0
    return folder / "gated.db"


def markdown(store: Path, run: str, capsys) -> str:
    capsys.readouterr()
    assert main(["report", run, "--store", str(store), "--markdown", "-"]) == 0
    return capsys.readouterr().out


def test_the_gate_s_verdict_and_its_broken_rules_are_in_the_markdown(gated: Path, capsys):
    text = markdown(gated, "stopped", capsys)
    assert text.startswith("## jeval: gate failed, 1 critical failure\n")
    rules = text[text.index("| | gate <code>strict</code> |") :].split("\n\n")[0].splitlines()[2:]
    signs = [rule[2] for rule in rules]
    assert signs == sorted(signs, reverse=True)  # ✕ before ✓
    assert rules[0] == "| ✕ | failures 1 &#62; 0 allowed |"
    assert markdown(gated, "let", capsys).startswith("## jeval: gate passed, 1 critical failure\n")


def test_the_gate_s_verdict_and_its_broken_rules_are_in_the_html(gated: Path):
    text = report(gated, "stopped")
    assert "<b>Gate strict failed</b>" in text
    assert re.search(r"✕</span> critical failures 1 &gt; 0 allowed", text)
    assert "<b>Gate off passed</b>" in report(gated, "let")


def test_a_run_without_a_gate_has_no_verdict(store: Path, capsys):
    text = markdown(store, "second", capsys)
    assert text.startswith("## jeval, ")
    assert "gate" not in text
    assert "Gate" not in report(store, "second")


def test_what_a_gate_stopped_for_reviews_is_red_in_junit_too(gated: Path, tmp_path: Path):
    for run, failures in (("stopped", "3"), ("let", "1")):  # the failure, and two reviews
        junit = tmp_path / f"{run}.xml"
        assert main(["report", run, "--store", str(gated), "--junit", str(junit)]) == 0
        assert ElementTree.parse(junit).getroot().get("failures") == failures


@pytest.mark.parametrize("kept", ["", "not json", "[]", "null", '{"name": 1}', '{"name": "x", "rules": [{}]}'])
def test_what_is_no_verdict_is_taken_for_none(kept: str):
    assert stored_gate(kept, 0) is None


def test_a_verdict_without_a_code_is_what_its_broken_rules_lead_to():
    rules = [{"rule": "a", "holds": holds, "text": "t", "exit_code": code} for holds, code in ((True, 1), (False, 2))]
    gate = stored_gate(json.dumps({"name": "strict", "rules": rules}), None)
    assert gate is not None
    assert (gate.verdict.exit_code, gate.passed, gate.word) == (2, False, "not passed: incomplete")
    assert [rule.rule for rule in gate.holding] == ["a"]


def test_one_of_a_thing_is_told_as_one(tmp_path: Path, capsys):
    dataset, rubrics = write_dataset(tmp_path, 1)
    assert main(["run", f"dataset.path={dataset}", f"rubrics.path={rubrics}", f"store={tmp_path / 'one.db'}"]) in (0, 2)
    for text in (report(tmp_path / "one.db", "@last"), markdown(tmp_path / "one.db", "@last", capsys)):
        assert "1 case" in text
        assert not re.search(r"\b1 (cases|checks|failures|errors|critical failures)\b", text)


def test_without_a_format_the_html_is_named_after_the_run(store: Path, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["report", "second", "--store", str(store)]) == 0
    assert len(list(tmp_path.glob("jeval-*.html"))) == 1


def test_a_dash_writes_to_the_standard_output(store: Path, capsys):
    assert main(["report", "second", "--store", str(store), "--markdown", "-"]) == 0
    assert capsys.readouterr().out.startswith("## ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nope"], "no run of that id"),
        (["second", "-o", "/nowhere/at/all.html"], "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(store: Path, arguments: list[str], words: str, capsys):
    assert main(["report", *arguments, "--store", str(store)]) == 3
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
