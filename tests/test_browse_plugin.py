"""The plugin in somebody's own Datasette: pages for stores, nothing for other databases, no labels."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from browsing import make_store
from datasette.app import Datasette
from datasette.plugins import pm

from jeval.browse import plugin

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def registered() -> None:
    """As the entry point does where jeval is installed; a Datasette asks its plugins when it is made."""
    if not pm.is_registered(plugin):
        pm.register(plugin, name="jeval")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return make_store(tmp_path, 2)


def ask(datasette: Datasette, path: str) -> Any:
    async def inner() -> Any:
        await datasette.invoke_startup()
        return await datasette.client.get(path, follow_redirects=True)

    return asyncio.run(inner())


def test_the_pages_stand_beside_other_databases(store: Path, tmp_path: Path):
    other = tmp_path / "other.db"
    sqlite3.connect(other).execute("CREATE TABLE runs (id)").connection.close()
    files = [str(other), str(store)]
    assert ">second<" in ask(Datasette(files), "/-/jeval").text
    assert "One row a run" in ask(Datasette(files), "/hostile/runs").text
    assert "One row a run" not in ask(Datasette(files), "/other/runs").text


def test_labels_are_off_unless_turned_on(store: Path):
    assert "Labels are off" in ask(Datasette([str(store)]), "/-/jeval/review?run=second").text
    on = {"plugins": {"jeval": {"labels": True, "reviewer": "Sam"}}}
    page = ask(Datasette([str(store)], metadata=on), "/-/jeval/review?run=second").text
    assert 'value="Sam"' in page


def test_ones_own_metadata_stands_above_ours_and_leaves_ours_as_it_was(store: Path):
    own = {"databases": {"hostile": {"tables": {"runs": {"title": "My runs", "columns": {"id": "mine"}}}}}}
    text = ask(Datasette([str(store)], metadata=own), "/hostile/runs").text
    assert "My runs" in text
    assert "<dd>mine</dd>" in text
    assert "<dd>mine</dd>" not in ask(Datasette([str(store)]), "/hostile/runs").text


def test_who_may_not_see_the_database_sees_no_page_of_it(store: Path):
    closed = {"databases": {"hostile": {"allow": {"id": "root"}}}}
    assert ask(Datasette([str(store)], metadata=closed), "/-/jeval").status_code == 403
    assert ask(Datasette([str(store)], metadata=closed), "/-/jeval/run/second").status_code == 403


def test_a_store_that_may_not_be_written_is_still_browsed_and_searched(store: Path):
    datasette = Datasette([], immutables=[str(store)])
    assert ">second<" in ask(datasette, "/-/jeval").text
    assert "3 of 6 checks" not in ask(Datasette([], immutables=[str(store)]), "/-/jeval/run/second").text
    assert "6 of 6 checks" in ask(Datasette([], immutables=[str(store)]), "/-/jeval/run/second?q=heliotrope").text


def test_pages_of_several_stores_are_told_apart_by_name(store: Path, tmp_path: Path):
    folder = tmp_path / "more"
    folder.mkdir()
    second = make_store(folder, 1).rename(folder / "another.db")
    files = [str(store), str(second)]
    assert "(another)" in ask(Datasette(files), "/-/jeval?store=another").text
    assert "(hostile)" in ask(Datasette(files), "/-/jeval").text


def test_a_store_of_any_name_has_its_tables_and_pages(store: Path):
    odd = store.rename(store.with_name("år 2026.v1-x.db"))
    datasette = Datasette([str(odd)])
    text = ask(datasette, datasette.urls.table("år 2026.v1-x", "checks")).text
    assert "8 of 15 columns" in text
    assert ">second<" in ask(datasette, "/-/jeval").text
    assert "jeval-row" in ask(datasette, f"{datasette.urls.table('år 2026.v1-x', 'runs')}/1").text


def test_tables_of_other_databases_stay_as_datasette_shows_them(store: Path, tmp_path: Path):
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE checks (run_id, evidence)")
    connection.execute("INSERT INTO checks VALUES ('r', 'e')")
    connection.commit()
    connection.close()
    text = ask(Datasette([str(other), str(store)]), "/other/checks").text
    assert 'data-column="evidence"' in text
    assert "/-/jeval/run/r" not in text
    assert "tables.css" not in text


def test_the_entry_point_names_the_plugin():
    found = [point.value for point in entry_points(group="datasette") if point.name == "jeval"]
    if not found:
        pytest.skip("jeval is not installed here, only imported")
    assert found[0] == "jeval.browse.plugin"


@pytest.mark.parametrize("first", ["datasette.app", "datasette.plugins", "jeval.browse.server", "jeval.browse.plugin"])
def test_datasette_loads_the_plugin_by_its_entry_point_whatever_is_imported_first(tmp_path, first):
    info = tmp_path / "somebody-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: somebody\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[datasette]\njeval = jeval.browse.plugin\n")
    code = f"import {first}, datasette.app, datasette.plugins as p; print('jeval' in dict(p.pm.list_name_plugin()))"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ran.returncode, ran.stdout.strip()) == (0, "True"), ran.stderr
