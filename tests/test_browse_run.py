"""The page of a run: the gate's verdict, its configuration beside the one before, the commands that do it again."""

import json
import re
import shlex
import sqlite3
from html import unescape
from pathlib import Path

import pytest
from browsing import Browser, write_dataset
from hypothesis import given
from hypothesis import strategies as st

from jeval.app.cli import main
from jeval.browse.again import command
from jeval.browse.run_page import config_lines, difference
from tests.judging import judging, local
from tests.running import jeval, project

lines = st.lists(st.sampled_from(["judge:", "  name: a", "  name: b", "gate:", "  max: 0", "x: 1"]), max_size=12)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """One case and one check: `before`, then `gated` under a stricter gate; `let` is let through."""
    folder: Path = tmp_path_factory.mktemp("run")
    dataset, rubrics = write_dataset(folder, 2)
    common = [f"dataset.path={dataset}", f"rubrics.path={rubrics}", "dataset.limit=1", f"store={folder / 'run.db'}"]
    main(["run", *common, "name=before"])
    main(["run", "--ci", *common, "name=gated", "thresholds=strict"])
    main(["run", "--ci", "gate=off", *common, "name=let", "gate.allow_simulated=true"])
    return Browser(folder / "run.db")


def page(browser: Browser, name: str) -> str:
    return browser.get(f"/-/jeval/run/{browser.run_id(name)}").text


def test_the_gate_s_verdict_is_shown_with_what_does_not_hold_first(browser: Browser) -> None:
    text = unescape(page(browser, "gated"))
    assert re.search(r"<b>Gate strict not passed: incomplete</b> <span[^>]*>exit code 2<", text)
    broken, holding = text.split("rules hold</summary>")
    assert "✕</span> simulated judge, none allowed" in broken
    assert "✓</span> errors 0, none allowed" in holding
    assert "Gate off passed" in page(browser, "let")
    assert "Gate" not in page(browser, "before").replace("gate", "")


def test_one_of_a_thing_is_told_as_one(browser: Browser) -> None:
    text = page(browser, "before")
    assert "1 case<" in text
    assert not re.search(r"\b1 (cases|checks|runs|requests|errors|failures)\b", text)


def test_the_whole_configuration_is_marked_where_it_differs_from_the_run_before(browser: Browser) -> None:
    text = unescape(page(browser, "gated"))
    whole = text[text.index("The whole configuration, marked") :]
    assert re.search(r'<div class="minus">- +pass: 0.75</div>', whole)
    assert re.search(r'<div class="plus">\+ +pass: 0.9</div>', whole)
    assert re.search(r'<div class="">  +dataset:</div>', whole)


def test_the_commands_name_the_store_where_the_run_s_own_did(browser: Browser) -> None:
    text = unescape(page(browser, "before"))
    exact = re.search(r'<code id="exact">([^<]+)</code>', text)
    assert exact
    assert exact[1] == f"jeval run --from-run {browser.run_id('before')} store={browser.store}"
    arguments = exact[1].split()[1:]
    assert main(arguments) in (0, 2)
    connection = sqlite3.connect(browser.store)
    asked = connection.execute("SELECT judgments_asked FROM runs ORDER BY pk DESC LIMIT 1").fetchone()
    connection.close()
    assert asked == (0,)


@pytest.mark.parametrize(
    ("override", "typed"),
    [
        ("judge.base_url='http://127.0.0.1:1'", "judge.base_url=http://127.0.0.1:1"),
        ("dataset.path='my cases.jsonl'", "'dataset.path=my cases.jsonl'"),
        ("++judge.model='a'", "++judge.model=a"),
        ("thresholds.pass=0.9", "thresholds.pass=0.9"),
        ("tags.note='1'", """"tags.note='1'\""""),
        ("tags.note='two words'", """"tags.note='two words'\""""),
        ("tags.note='True'", """"tags.note='True'\""""),
        ("name='null'", """"name='null'\""""),
        ("judge.gateway='local'", "judge.gateway=local"),
        ("tags.note='it is $HOME'", """'tags.note='"'"'it is $HOME'"'"''"""),
        (r"name='a\'b'", r"""'name='"'"'a\'"'"'b'"'"''"""),
        ("rubrics.path='[a]'", """"rubrics.path='[a]'\""""),
    ],
)
def test_overrides_stand_as_they_are_typed_where_that_means_the_same(override: str, typed: str) -> None:
    assert command({"id": "r", "overrides": json.dumps([override])})["again"] == f"jeval run {typed}"


@given(st.text(st.characters(exclude_characters="\x00", codec="utf-8"), max_size=20))
def test_a_shell_reads_the_override_that_the_run_had(text: str) -> None:
    override = f"tags.x='{text}'"
    shown = command({"id": "r", "overrides": json.dumps([override])})["again"]
    assert shlex.split(shown)[2] in (override, f"tags.x={text}")


def test_a_judge_of_ours_is_chosen_by_its_name(tmp_path: Path) -> None:
    overrides = project(tmp_path, 1)
    with judging() as server:
        assert jeval("run", *overrides, *local(server.url)).code == 0
        assert jeval("run", "--from-run", "@last", overrides[-1], "thresholds.pass=0.8").code == 0
        connection = sqlite3.connect(tmp_path / "jeval.db")
        connection.row_factory = sqlite3.Row
        run = connection.execute("SELECT * FROM runs ORDER BY pk DESC").fetchone()
        again = command(dict(run))["again"]
        assert " judge=local " in again
        assert "judge.name" not in again and "judge.gateway" not in again and "offline" not in again
        assert jeval(*shlex.split(again)[1:]).code == 0
    configs = [row[0] for row in connection.execute("SELECT config_yaml FROM runs ORDER BY pk DESC LIMIT 2")]
    connection.close()
    assert configs[0] == configs[1]


@given(lines, lines)
def test_the_marked_configuration_holds_both(before: list[str], after: list[str]) -> None:
    marked = config_lines({"config_yaml": "\n".join(before)}, {"config_yaml": "\n".join(after)})
    assert [line for sign, line in marked if sign in " +"] == after
    assert [line for sign, line in marked if sign in " -"] == before
    differs = difference({"config_yaml": "\n".join(before)}, {"config_yaml": "\n".join(after)})
    assert [pair for pair in differs if pair[0] != "@"] == [pair for pair in marked if pair[0] != " "]
    assert (before == after) == (differs == [])


def test_a_first_run_has_its_configuration_without_marks() -> None:
    assert config_lines(None, {"config_yaml": "a: 1\nb: 2"}) == [(" ", "a: 1"), (" ", "b: 2")]
