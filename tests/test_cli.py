"""The command line: it finds the command, answers at once, turns every error into a line and an exit code."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from jeval import __version__
from jeval.app import cli
from jeval.app.cli import COMMANDS
from jeval.errors import ConfigError, DataError, JudgeRefused, NotFound, Problem
from tests.running import environment, jeval


def test_without_a_command_it_shows_what_there_is() -> None:
    ran = jeval()
    assert ran.code == 3 and "run" in ran.out and "Exit codes" in ran.out


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_is_no_error(flag: str) -> None:
    ran = jeval(flag)
    assert ran.code == 0 and "evaluate a dataset" in ran.out


def test_the_version_is_told() -> None:
    assert jeval("--version").out.strip() == f"jeval {__version__}"


def test_a_mistyped_command_names_the_nearest() -> None:
    ran = jeval("rnu")
    assert ran.code == 3 and ran.out == ""
    assert "'rnu' is no command; did you mean run?" in ran.err and ran.err.count("\n") == 1


def test_a_flag_that_is_none_is_a_usage_error() -> None:
    assert jeval("--nope").code == 3
    assert jeval("estimate", "--nope").code == 3


@pytest.mark.parametrize(
    ("error", "code"),
    [(ConfigError("x: y"), 3), (NotFound("run x: no run"), 3), (JudgeRefused("auth", "bad key"), 2)],
)
def test_an_error_is_one_line_and_its_own_exit_code(
    monkeypatch: pytest.MonkeyPatch, error: Exception, code: int
) -> None:
    def fails(arguments: list[str]) -> int:
        raise error

    monkeypatch.setattr("jeval.app.commands.run.raw", fails)
    ran = jeval("run")
    assert ran.code == code and ran.out == ""
    assert ran.err == f"jeval: {error}\n"


def test_the_text_of_an_error_is_shown_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(arguments: list[str]) -> int:
        raise ConfigError("name=\x1b[31mred\nfake line\u202e: no")

    monkeypatch.setattr("jeval.app.commands.run.raw", fails)
    assert jeval("run").err == "jeval: name=\\x1b[31mred\\nfake line\\u202e: no\n"


def test_problems_in_files_are_a_line_each_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(arguments: list[str]) -> int:
        problem = Problem("c.jsonl:3", "id", "7", "must be text", "quote it")
        raise DataError([problem, problem], more=5)

    monkeypatch.setattr("jeval.app.commands.run.raw", fails)
    ran = jeval("run")
    lines = ran.err.splitlines()
    assert ran.code == 3
    assert lines[0] == lines[1] == "c.jsonl:3: id must be text (it is 7); quote it"
    assert "5 more" in lines[2] and lines[3] == "jeval: 7 problems; nothing was asked"


def test_an_interruption_has_its_own_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(arguments: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("jeval.app.commands.run.raw", interrupted)
    ran = jeval("run")
    assert (ran.code, ran.err) == (130, "interrupted\n")


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (ZeroDivisionError("oh"), "ZeroDivisionError: oh\njeval: a mistake of jeval's own"),
        (sqlite3.DatabaseError("malformed"), "jeval: the store failed: malformed; `jeval doctor` looks at it"),
        (OSError(28, "No space left on device"), "No space left on device; check that file"),
    ],
)
def test_what_nobody_foresaw_is_told_and_is_no_failure_of_quality(
    monkeypatch: pytest.MonkeyPatch, fault: Exception, said: str
) -> None:
    def broken(arguments: list[str]) -> int:
        raise fault

    monkeypatch.setattr("jeval.app.commands.run.raw", broken)
    ran = jeval("run")
    assert ran.code == 3 and said in ran.err


def test_every_command_that_is_there_can_be_loaded_and_shows_its_help() -> None:
    for name in cli._available():
        ran = jeval(name, "--help")
        assert ran.code == 0 and name in ran.out, name
    assert set(cli._available()) <= set(COMMANDS)


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from jeval.app.cli import main; main(['--help'])\n"
        "heavy = set('hydra omegaconf pydantic httpx aiohttp datasette rich tenacity yaml sqlite3'.split())\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, timeout=60)
    assert done.stderr.strip() == "[]"


def test_a_terminal_that_lacks_our_signs_gets_escapes_and_no_error(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "jeval.app.cli", "run", "dataset.limit=1", f"store={tmp_path}/x.db"],
        env=environment(PYTHONIOENCODING="ascii"), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "\\u2713" in done.stdout
