"""Runs in the store: begun, finished, found by name; a version means one content for ever."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from jeval.errors import ConfigError, NotFound
from jeval.store.connect import open_store
from jeval.store.runs import begin_run, find_run, finish_run, served_models
from tests.judges import ScriptedJudge
from tests.running import judged, run_row
from tests.samples import case, rubric


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_store(tmp_path / "jeval.db")) as connection:
        yield connection


def test_a_run_is_there_from_its_beginning_and_unfinished_until_its_end(store: sqlite3.Connection) -> None:
    keys = begin_run(store, run_row(name="first"), [rubric("custom")], [])
    assert store.execute("SELECT id, name, status, exit_code, finished_at FROM runs").fetchone() == (
        "run-1", "first", "running", None, None,
    )  # fmt: skip
    finish_run(store, keys.run, {"status": "complete", "exit_code": 0, "finished_at": "then"})
    assert store.execute("SELECT status, exit_code, finished_at FROM runs").fetchone() == (
        "complete",
        0,
        "then",
    )


def test_an_edited_rubric_of_the_same_version_is_refused_with_the_remedy(store: sqlite3.Connection) -> None:
    begin_run(store, run_row(), [rubric("custom")], [])
    edited = rubric("custom", criterion="The tone is warm.")
    with pytest.raises(ConfigError, match=r"rubric custom 1\.0\.0 .*give the edited rubric a new version"):
        begin_run(store, run_row("run-2"), [edited], [])
    assert store.execute("SELECT count(*) FROM runs").fetchone() == (1,)
    assert not store.in_transaction


def test_a_new_version_and_another_description_are_no_edit(store: sqlite3.Connection) -> None:
    begin_run(store, run_row(), [rubric("custom")], [])
    begin_run(store, run_row("run-2"), [rubric("custom", version="1.0.1", criterion="The tone is warm.")], [])
    begin_run(store, run_row("run-3"), [rubric("custom", description="For people.")], [])
    assert store.execute("SELECT count(*) FROM rubrics").fetchone() == (2,)


def test_whatever_else_of_a_rubric_changes_needs_a_version(store: sqlite3.Connection) -> None:
    begin_run(store, run_row(), [rubric("custom")], [])
    for number, more in enumerate(
        (
            {"severity": "critical"},
            {"required": False},
            {"thresholds": {"pass": 0.9}},
            {"params": {"readers": 2}},
        )
    ):
        with pytest.raises(ConfigError, match="new version"):
            begin_run(store, run_row(f"more-{number}"), [rubric("custom", **more)], [])


def test_a_run_is_found_by_its_id_a_unique_beginning_its_name_and_its_place(
    store: sqlite3.Connection,
) -> None:
    for number, name in enumerate(("nightly", "other", "nightly"), 1):
        begin_run(store, run_row(f"2026010{number}-x", name=name, started_at=f"2026-01-0{number}"), [], [])
    found = {
        name: find_run(store, name)["id"] for name in ("20260101-x", "20260102", "other", "nightly", "@last", "@prev")
    }
    assert found == {
        "20260101-x": "20260101-x",
        "20260102": "20260102-x",
        "other": "20260102-x",
        "nightly": "20260103-x",
        "@last": "20260103-x",
        "@prev": "20260102-x",
    }


@pytest.mark.parametrize("name", ["2026", "nope", "", "%", "_", "@first", "20260101-x' OR 1=1 --"])
def test_a_run_that_is_not_one_is_refused_with_the_remedy(store: sqlite3.Connection, name: str) -> None:
    begin_run(store, run_row("20260101-x"), [], [])
    begin_run(store, run_row("20260102-x"), [], [])
    with pytest.raises(NotFound, match=r"jeval runs|write more"):
        find_run(store, name)


def test_in_an_empty_store_there_is_no_last_run(store: sqlite3.Connection) -> None:
    for name in ("@last", "@prev", "x"):
        with pytest.raises(NotFound, match="jeval runs"):
            find_run(store, name)


def test_a_run_knows_every_model_version_it_rests_on_reused_ones_too(store: sqlite3.Connection) -> None:
    class Newer(ScriptedJudge):
        async def ask(self, state, questions):  # type: ignore[no-untyped-def]
            return (await super().ask(state, questions))._replace(model="scripted-1.1")

    judged(store, [case()], [rubric("custom")])
    judged(store, [case(), case(id="b", output="More.")], [rubric("custom")], Newer(), run_id="run-2")
    assert served_models(store, 1) == ["scripted-1.0"]
    assert served_models(store, 2) == ["scripted-1.0", "scripted-1.1"]
