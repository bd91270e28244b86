"""The report is one file that runs nothing and asks nobody, whatever the cases say."""

import base64
import hashlib
import re
import sqlite3
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from browsing import Dangers, make_store

from jeval.app.cli import main
from jeval.browse.report import html_report
from jeval.browse.rows import NotHere


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
