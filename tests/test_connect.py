"""Opening a store: made, brought up to date, or refused in words."""

import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from jeval.errors import StoreError, StoreTooNew
from jeval.store.connect import connect, open_store
from jeval.store.schema import APPLICATION_ID, MIGRATIONS, VERSION
from tests.running import environment, rows


def schema(path: Path) -> list[tuple[str, str]]:
    return rows(path, "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name")


def refused(path: Path, *, create: bool = True) -> str:
    with pytest.raises(StoreError) as caught:
        open_store(path, create=create).close()
    text = str(caught.value)
    assert str(path)[:40] in text and "\n" not in text
    return text


def test_a_new_store_is_ours_in_the_current_version_and_in_wal_mode(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "jeval.db")) as connection:
        one = lambda sql: connection.execute(sql).fetchone()[0]  # noqa: E731
        assert one("PRAGMA application_id") == APPLICATION_ID
        assert one("PRAGMA user_version") == VERSION == len(MIGRATIONS)
        assert one("PRAGMA journal_mode") == "wal"
        assert one("PRAGMA foreign_keys") == 1
        assert one("PRAGMA synchronous") == 1


def test_opening_a_store_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "jeval.db"
    open_store(path).close()
    before = schema(path)
    open_store(path).close()
    assert schema(path) == before


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "jeval.db").touch()
    open_store(tmp_path / "jeval.db").close()
    assert schema(tmp_path / "jeval.db")


@pytest.mark.parametrize("name", ["a b.db", "it's.db", "a?mode=ro.db", "a#b.db", "100%.db", "ü.db", "a%20b.db"])
def test_a_store_may_be_called_anything(tmp_path: Path, name: str) -> None:
    open_store(tmp_path / name).close()
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".db"] == [name]


def test_a_store_of_a_newer_jeval_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "jeval.db"
    open_store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(StoreTooNew, match=rf"schema {VERSION + 1}, this jeval knows {VERSION}; upgrade jeval"):
        open_store(path)
    assert rows(path, "PRAGMA user_version") == [(VERSION + 1,)]


def test_somebody_else_s_sqlite_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE runs (id TEXT)")
    before = path.read_bytes()
    assert "something else" in refused(path)
    assert path.read_bytes() == before
    assert [name for name, _ in schema(path)] == ["runs"]


def test_somebody_else_s_versioned_sqlite_file_is_not_called_newer(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (id TEXT)")
        connection.execute("PRAGMA user_version = 99")
    assert "something else" in refused(path)


def test_a_file_that_is_no_sqlite_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database at all, but long enough to have a header " * 20)
    before = path.read_bytes()
    assert "cannot be used" in refused(path)
    assert path.read_bytes() == before


def test_a_damaged_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "jeval.db"
    open_store(path).close()
    data = bytearray(path.read_bytes())
    data[100:4096] = os.urandom(3996)
    path.write_bytes(data)
    refused(path)


def test_a_directory_a_missing_folder_and_a_missing_store_are_refused_with_the_remedy(tmp_path: Path) -> None:
    assert "directory; name a file" in refused(tmp_path)
    assert "does not exist; make it" in refused(tmp_path / "gone" / "jeval.db")
    assert "jeval run" in refused(tmp_path / "jeval.db", create=False)
    assert not (tmp_path / "jeval.db").exists()


def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    refused(tmp_path / ("x" * 300))


@contextmanager
def powerless() -> Iterator[None]:
    """As somebody who may not write everything."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_a_store_that_may_not_be_written_is_refused() -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "jeval.db"
        open_store(path).close()
        path.chmod(0o444)
        path.parent.chmod(0o555)
        try:
            with powerless():
                assert "readonly" in refused(path)
        finally:
            path.parent.chmod(0o755)


def test_a_reader_changes_nothing_and_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.Error):
        connect(tmp_path / "gone.db", read_only=True)
    assert not (tmp_path / "gone.db").exists()
    open_store(tmp_path / "jeval.db").close()
    with (
        closing(connect(tmp_path / "jeval.db", read_only=True)) as reader,
        pytest.raises(sqlite3.OperationalError),
    ):
        reader.execute("DELETE FROM runs")


def test_eight_processes_may_open_a_new_store_at_once(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from jeval.store.connect import open_store\n"
        "time.sleep(max(0, float(sys.argv[2]) - time.time()))\n"
        "c = open_store(Path(sys.argv[1])); print(c.execute('PRAGMA user_version').fetchone()[0])"
    )
    at = str(time.time() + 1.5)
    path = tmp_path / "jeval.db"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path), at],
            env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(8)
    ]  # fmt: skip
    ended = [process.communicate(timeout=60) for process in started]
    assert [err for _, err in ended] == [""] * 8
    assert [out.strip() for out, _ in ended] == [str(VERSION)] * 8
    other = tmp_path / "other.db"
    open_store(other).close()
    assert schema(path) == schema(other)


def test_a_migration_that_fails_leaves_the_store_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "jeval.db"
    broken = (("first", "CREATE TABLE a (x); INSERT INTO nowhere VALUES (1);"),)
    monkeypatch.setattr("jeval.store.connect.MIGRATIONS", broken)
    refused(path)
    assert schema(path) == [] and rows(path, "PRAGMA user_version") == [(0,)]


def test_an_older_store_is_brought_up_to_date_and_keeps_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "jeval.db"
    with closing(open_store(path)) as connection:
        connection.execute("INSERT INTO case_ids (id) VALUES ('kept')")
    later = (*MIGRATIONS, ("a note", "CREATE TABLE notes (x, y TEXT);"))
    monkeypatch.setattr("jeval.store.connect.MIGRATIONS", later)
    monkeypatch.setattr("jeval.store.connect.VERSION", len(later))
    open_store(path).close()
    assert rows(path, "SELECT id FROM case_ids") == [("kept",)]
    assert "notes" in [name for name, _ in schema(path)]
    assert rows(path, "PRAGMA user_version") == [(len(later),)]


def test_a_writer_waits_for_another_instead_of_failing(tmp_path: Path) -> None:
    path = tmp_path / "jeval.db"
    with closing(open_store(path)) as first, closing(open_store(path)) as second:
        first.execute("BEGIN IMMEDIATE")
        threading.Timer(0.3, lambda: first.execute("COMMIT")).start()
        second.execute("BEGIN IMMEDIATE")
        second.execute("COMMIT")
