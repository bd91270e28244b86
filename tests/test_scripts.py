"""The set-up that scripts/demo and scripts/test share, on machines that lack something."""

import importlib.util
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from jeval.app.cli import COMMANDS

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on this machine")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A repository that holds the set-up alone, and a PATH with the basic commands and no Python."""
    for folder in ("repo/scripts", "bin", "home"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(SCRIPTS / "_setup.sh", tmp_path / "repo" / "scripts")
    (tmp_path / "repo" / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    for name in ("bash", "cat", "dirname", "flock", "ls", "mkdir", "rm", "sed"):
        found = shutil.which(name)
        if found:
            (tmp_path / "bin" / name).symlink_to(found)
    return tmp_path


def add_python(machine: Path, name: str, body: str) -> None:
    """A stand-in for an interpreter: a shell script. `$3` is the code it was asked to run with -I -c."""
    path = machine / "bin" / name
    path.write_text(f"#!{shutil.which('bash')}\n{body}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def set_up(machine: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", "set -euo pipefail; . scripts/_setup.sh; setup dev"],
        cwd=machine / "repo",
        env={"PATH": str(machine / "bin"), "HOME": str(machine / "home"), **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


PRETEND = """
case "$3" in
  *_base_executable*) printf '%s\\n' "$0" VERSION AGE ;;
  *ensurepip*) exit STATUS ;;
  *) exit 1 ;;
esac
"""


def pretend(version: str, *, age: str = "new", venv: bool = True) -> str:
    return PRETEND.replace("VERSION", version).replace("AGE", age).replace("STATUS", "0" if venv else "1")


@pytest.mark.parametrize("script", sorted(p.name for p in SCRIPTS.iterdir() if p.is_file() and p.suffix in {"", ".sh"}))
def test_every_shell_script_parses(script):
    first = (SCRIPTS / script).read_text(encoding="utf-8").partition("\n")[0]
    if "python" in first:
        pytest.skip("a Python script")
    assert subprocess.run(["bash", "-n", str(SCRIPTS / script)], check=False).returncode == 0


def test_a_machine_without_python_is_told_what_is_needed(machine):
    done = set_up(machine)
    assert done.returncode != 0
    assert "needs Python 3.11 or newer and found none on PATH" in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_old_python_is_named_with_its_version(machine):
    add_python(machine, "python3", pretend("3.9", age="old"))
    done = set_up(machine)
    assert done.returncode != 0
    assert f"too old: {machine}/bin/python3 (3.9)" in done.stderr


def test_a_shim_that_points_nowhere_is_passed_over(machine):
    add_python(machine, "python3", "echo 'no such version' >&2; exit 127")
    add_python(machine, "python3.12", pretend("3.12", venv=False))
    assert "apt-get install python3.12-venv" in set_up(machine).stderr


def test_a_python_without_venv_is_told_which_package_brings_it(machine):
    add_python(machine, "python3", pretend("3.11", venv=False))
    done = set_up(machine)
    assert done.returncode != 0
    assert "apt-get install python3.11-venv" in done.stderr


def test_a_failed_set_up_shows_its_log_and_is_not_taken_for_done(machine):
    add_python(machine, "python3", pretend("3.11").replace("*) exit 1", "*) echo 'the disk is full'; exit 1"))
    for _ in range(2):
        done = set_up(machine)
        assert done.returncode != 0
        assert "the disk is full" in done.stderr
        assert "setup.log" in done.stderr


def test_an_environment_that_is_not_ours_is_left_alone(machine):
    add_python(machine, "python3", pretend("3.11"))
    precious = machine / "repo" / ".venv" / "notes.txt"
    precious.parent.mkdir()
    precious.write_text("mine", encoding="utf-8")
    done = set_up(machine)
    assert done.returncode != 0
    assert "was not made by these scripts" in done.stderr
    assert precious.read_text(encoding="utf-8") == "mine"


def test_a_named_interpreter_is_the_only_one_tried(machine):
    add_python(machine, "python3", pretend("3.11"))
    add_python(machine, "mine", pretend("3.10", age="old"))
    assert "too old: " + os.fspath(machine / "bin" / "mine") in set_up(machine, JEVAL_PYTHON="mine").stderr


def test_the_demo_suggests_only_commands_that_exist():
    suggested = re.findall(r"^  jeval (\w+)", (SCRIPTS / "demo").read_text(encoding="utf-8"), re.MULTILINE)
    assert suggested
    for name in suggested:
        assert name in COMMANDS and importlib.util.find_spec(COMMANDS[name][0]), name


def test_the_contributors_map_names_only_files_that_exist():
    page = (SCRIPTS.parent / "docs" / "contributing.md").read_text(encoding="utf-8")
    table = page.partition("## To change X")[2].partition("\n## ")[0]
    named = re.findall(r"`((?:conf|datasets|docs|jeval|metrics|rubrics|scripts|tests)/[\w./-]*)`", table)
    assert len(named) > 30
    assert [path for path in named if not (SCRIPTS.parent / path).exists()] == []
