"""Reading another store: as it stands at one moment, and its file is the same afterwards."""

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from jeval.errors import StoreError, StoreTooNew
from jeval.store.connect import open_store
from jeval.store.reader import open_reader, open_snapshot
from jeval.store.schema import VERSION
from tests.stores import add_run, new_store


def store(folder: Path) -> Path:
    """A store with one run, closed."""
    with closing(new_store(folder)) as connection:
        add_run(connection, "run-1", {("pear", "tone"): "pass"})
    return folder / "jeval.db"


def older(path: Path) -> Path:
    """The store as the first version of the schema had it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("DROP VIEW explanations; DROP TABLE explanation_rows; PRAGMA user_version = 1;")
    return path


def everything(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_reading_leaves_every_byte_and_makes_no_file(tmp_path: Path) -> None:
    path = store(tmp_path)
    before = everything(tmp_path)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with closing(open_snapshot(path, scratch)) as reader:
        assert reader.execute("SELECT id FROM runs").fetchall() == [("run-1",)]
    assert everything(tmp_path) == before


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    with closing(open_reader(store(tmp_path))) as reader, pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.execute("DELETE FROM runs")


def test_what_a_writer_has_in_its_log_is_read_and_stays_there(tmp_path: Path) -> None:
    path = store(tmp_path)
    with closing(open_store(path)) as writer:
        add_run(writer, "run-2", {("pear", "tone"): "fail"})
        before = path.read_bytes()
        with closing(open_snapshot(path, tmp_path)) as reader:
            assert reader.execute("SELECT count(*) FROM runs").fetchone() == (2,)
        assert path.read_bytes() == before
        assert writer.execute("SELECT count(*) FROM runs").fetchone() == (2,)


def test_a_snapshot_stands_still_while_others_write(tmp_path: Path) -> None:
    path = store(tmp_path)
    with closing(open_store(path)) as writer, closing(open_snapshot(path, tmp_path)) as reader:
        add_run(writer, "run-2", {("pear", "tone"): "fail"})
        assert reader.execute("SELECT count(*) FROM runs").fetchone() == (1,)


def test_an_older_store_is_migrated_as_a_copy(tmp_path: Path) -> None:
    path = older(store(tmp_path))
    before, scratch = path.read_bytes(), tmp_path / "scratch"
    scratch.mkdir()
    with closing(open_snapshot(path, scratch)) as reader:
        assert reader.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert reader.execute("SELECT count(*) FROM explanations").fetchone() == (0,)
        assert reader.execute("SELECT id FROM runs").fetchall() == [("run-1",)]
    assert path.read_bytes() == before


def test_a_store_of_a_newer_jeval_is_refused(tmp_path: Path) -> None:
    path = store(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(StoreTooNew, match="upgrade jeval"):
        open_snapshot(path, tmp_path)


def test_what_is_no_store_is_refused_in_words(tmp_path: Path) -> None:
    foreign, text = tmp_path / "theirs.db", tmp_path / "notes.txt"
    with closing(sqlite3.connect(foreign)) as connection:
        connection.execute("CREATE TABLE runs (id)")
    text.write_text("No database at all, but more than the header of one would take. " * 20)
    for path, words in (
        (foreign, "something else"),
        (text, "file is not a database"),
        (tmp_path, "is a directory"),
        (tmp_path / "gone.db", "does not exist"),
    ):
        with pytest.raises(StoreError, match=words) as caught:
            open_snapshot(path, tmp_path)
        assert str(path) in str(caught.value)
    assert not (tmp_path / "gone.db").exists()


def test_a_damaged_store_is_refused_in_words(tmp_path: Path) -> None:
    path = store(tmp_path)
    data = bytearray(path.read_bytes())
    data[120:4096] = bytes(3976)
    path.write_bytes(data)
    with pytest.raises(StoreError, match="cannot be read") as caught:
        open_snapshot(path, tmp_path).close()
    assert str(path) in str(caught.value)


def test_a_store_in_a_folder_that_may_not_be_written_is_read_all_the_same() -> None:
    with tempfile.TemporaryDirectory() as name:
        path = store(Path(name))
        path.chmod(0o444)
        path.parent.chmod(0o555)
        root = os.geteuid() == 0
        try:
            if root:
                os.seteuid(65534)
            with closing(open_snapshot(path, path.parent)) as reader:
                assert reader.execute("SELECT id FROM runs").fetchall() == [("run-1",)]
        finally:
            if root:
                os.seteuid(0)
            path.parent.chmod(0o755)
