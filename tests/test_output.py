"""What a command writes is whole or not there, and never stands in the place of something else."""

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from jeval.app.captured import Target
from jeval.app.output import HTML, output
from jeval.errors import ConfigError
from tests.running import jeval
from tests.stores import add_run, new_store

REPORT = ("report", "run-1")
COMPARE = ("compare", "run-1", "run-2")


@pytest.fixture(autouse=True)
def _two_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(new_store(tmp_path)) as connection:
        for name in ("run-1", "run-2"):
            add_run(connection, name, {("pear", "sweet"): "pass"})
    Path("cases.jsonl").write_text(
        '{"id": "a", "input": "x", "output": "y", "expected": {"sweet": {"status": "pass"}}}\n'
    )


COMMANDS = [
    (*REPORT, "-o"),
    (*REPORT, "--markdown"),
    (*REPORT, "--junit"),
    (*COMPARE, "--html"),
    ("labels", "cases.jsonl", "--force", "-o"),
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ["jeval.db", "jeval.db-wal", "link.html"])
def test_no_command_writes_over_a_store(command: tuple[str, ...], name: str) -> None:
    Path("link.html").symlink_to("jeval.db")
    before = Path("jeval.db").read_bytes()
    ran = jeval(*command, name)
    assert ran.code == 3 and f"{name}: is a SQLite database, which would be lost; name another file" in ran.err
    assert Path("jeval.db").read_bytes() == before


def test_what_capture_and_tune_write_line_by_line_is_never_written_over_a_store_either() -> None:
    before = Path("jeval.db").read_bytes()
    with pytest.raises(ConfigError, match="is a SQLite database, which would be lost"):
        Target(Path("jeval.db"), force=True)
    assert Path("jeval.db").read_bytes() == before


def test_a_database_that_is_still_all_in_its_log_is_one() -> None:
    Path("young.html-wal").touch()
    with pytest.raises(ConfigError, match="is a SQLite database"):
        output("-o", "young.html", HTML)


@pytest.mark.parametrize("command", COMMANDS[:-1])
def test_no_report_is_written_over_a_file_of_another_kind(command: tuple[str, ...]) -> None:
    before = Path("cases.jsonl").read_bytes()
    ran = jeval(*command, "cases.jsonl")
    assert ran.code == 3 and f"{command[-1]} cases.jsonl: is there and ends in none of" in ran.err
    assert Path("cases.jsonl").read_bytes() == before


def test_nothing_is_written_where_one_of_several_is_refused() -> None:
    assert jeval(*REPORT, "-o", "fine.html", "--markdown", "cases.jsonl").code == 3
    assert not Path("fine.html").exists()


def test_a_report_of_before_is_written_anew_under_its_own_rights() -> None:
    Path("old.HTM").write_text("old")
    Path("old.HTM").chmod(0o640)
    assert jeval(*REPORT, "-o", "old.HTM").code == 0
    assert Path("old.HTM").read_text().startswith("<!doctype html>")
    assert stat.S_IMODE(Path("old.HTM").stat().st_mode) == 0o640


@pytest.mark.parametrize("there", [True, False])
def test_a_file_that_is_new_or_empty_may_have_any_name(there: bool) -> None:
    if there:
        Path("summary").touch()  # as a CI server's place for a summary is
    assert jeval(*REPORT, "--markdown", "summary").code == 0
    assert Path("summary").read_text().startswith("## ")


def test_what_fails_midway_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    def pieces() -> Iterator[str]:
        yield "half"
        raise OSError(28, "No space left on device")

    Path("old.html").write_text("old")
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(ConfigError, match=r"-o old.html: cannot be written \(No space left on device\); make room"):
        output("-o", "old.html", HTML).write(pieces())
    assert Path("old.html").read_text() == "old" and sorted(os.listdir(tmp_path)) == before


def test_a_link_stays_a_link() -> None:
    Path("real.html").write_text("old")
    Path("link.html").symlink_to("real.html")
    output("-o", "link.html", HTML).write(["new"])
    assert Path("link.html").is_symlink() and Path("real.html").read_text() == "new"


def test_a_device_is_written_to_and_stays_one() -> None:
    output("-o", os.devnull, HTML).write(["gone"])
    assert not Path(os.devnull).is_file()


def test_the_home_of_nobody_is_a_plain_name() -> None:
    assert jeval(*REPORT, "-o", "~nobody-of-that-name.html").code == 0
    assert Path("~nobody-of-that-name.html").exists()


@pytest.mark.parametrize("name", ["a\0b.html", "x" * 300 + ".html", "gone/a.html"])
def test_a_name_that_cannot_be_one_is_an_error_in_one_line(name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be written"):
        output("-o", name, HTML)


def test_a_dash_gives_the_page_of_a_comparison_alone() -> None:
    ran = jeval(*COMPARE, "--html", "-")
    assert ran.code == 0 and ran.out.lower().startswith("<!doctype html>") and ran.out.rstrip().endswith("</html>")
    assert not Path("-").exists()
    assert "--html -: the standard output is taken by --json" in jeval(*COMPARE, "--html", "-", "--json").err


def test_a_store_is_still_one_after_all_that() -> None:
    with closing(sqlite3.connect("jeval.db")) as connection:
        assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
