"""jeval merge: what it says of each store, as lines and as JSON, and that a merged store is used like any other."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.judging import judging, local
from tests.running import case, checks_of, jeval, project, quick, rows


@pytest.fixture
def shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two stores of one run each, with a case in both."""
    monkeypatch.chdir(tmp_path)
    arguments = project(tmp_path, 4)[:2]
    assert quick(*arguments, "store=a.db", "dataset.limit=2").code == 0
    assert quick(*arguments, "store=b.db").code == 0
    return arguments


def test_each_store_has_its_line_and_then_the_whole(shards: list[str]) -> None:
    ran = jeval("merge", "a.db", "b.db", "-o", "all.db")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "  ✓ a.db  1 run · 4 judgments",
        "  ✓ b.db  1 run · 8 judgments",
        "all.db made: 2 runs",
    ]
    again = jeval("merge", "a.db", "all.db", "-o", "all.db")
    assert again.out.splitlines() == [
        "  – a.db    nothing new (1 run was there already)",
        "  – all.db  is the store that is merged into",
        "all.db unchanged: 2 runs",
    ]


def test_json_names_the_runs_of_each_store(shards: list[str]) -> None:
    ran = jeval("merge", "a.db", "b.db", "a.db", "-o", "all.db", "--json")
    first, second, third = ran.json["stores"]
    ids = [run for name in ("a.db", "b.db") for (run,) in rows(Path(name), "SELECT id FROM runs")]
    assert [first["runs_added"], second["runs_added"], third["runs_added"]] == [ids[:1], ids[1:], []]
    assert third["runs_known"] == ids[:1]
    assert {key: ran.json[key] for key in ("store", "created", "runs", "changed_versions")} == {
        "store": "all.db",
        "created": True,
        "runs": 2,
        "changed_versions": [],
    }


def test_a_merged_store_answers_a_run_and_is_shown_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    parts = ["first", "first", "second", "third"]
    arguments = project(tmp_path, [case(n, metadata={"part": part}) for n, part in enumerate(parts)])[:2]
    with judging() as server:
        judge = local(server.url, "--json")
        quick(*arguments, *judge, "store=a.db", "dataset.where.part=first")
        quick(*arguments, *judge, "store=b.db", "dataset.where.part=second")
        assert jeval("merge", "a.db", "b.db", "-o", "all.db").code == 0
        ran = quick(*arguments, *judge, "store=all.db")
        fresh = quick(*arguments, *judge, "store=fresh.db")
    assert ran.json["judgments"] == {"asked": 2, "reused": 6}
    assert fresh.json["judgments"] == {"asked": 8, "reused": 0}
    assert checks_of(Path("all.db")) == checks_of(Path("fresh.db"))
    assert jeval("show", "@last", "--store", "all.db").code == 0
    assert jeval("compare", "@prev", "@last", "--store", "all.db").code in (0, 2)


def test_two_contents_of_one_version_are_warned_of(shards: list[str]) -> None:
    with closing(sqlite3.connect("b.db")) as connection, connection:
        connection.execute("UPDATE rubrics SET sha256 = 'other' WHERE id = 'tone'")
    ran = jeval("merge", "a.db", "b.db", "-o", "all.db")
    assert "warning: rubric tone 1.0.0 has several contents now" in ran.out


def test_a_refusal_is_one_line_and_exit_code_3(shards: list[str], tmp_path: Path) -> None:
    hostile = tmp_path / "x\x1b[31m.db"
    hostile.write_text("no store " * 200)
    ran = jeval("merge", "a.db", str(hostile), "-o", "all.db")
    assert (ran.code, ran.out) == (3, "") and ran.err.count("\n") == 1
    assert "\x1b" not in ran.err and "x\\x1b[31m.db cannot be read: file is not a database" in ran.err
    assert not Path("all.db").exists()
    assert jeval("merge", "a.db").code == 3
    assert jeval("merge", "-o", "all.db").code == 3
