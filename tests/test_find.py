"""A run by its name."""

from pathlib import Path

import pytest

from jeval.errors import NotFound
from jeval.store.find import find_run
from tests.stores import add_run, new_store


def test_a_run_is_found_by_id_beginning_name_and_age(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    for run, name in (("2026-aa", "monday"), ("2026-ab", None), ("2027-c", "monday")):
        add_run(connection, run, {}, [], name=name)
    found = {name: find_run(connection, name)["id"] for name in ("2026-aa", "2026-ab", "2027", "@last", "@prev")}
    assert found == {
        "2026-aa": "2026-aa",
        "2026-ab": "2026-ab",
        "2027": "2027-c",
        "@last": "2027-c",
        "@prev": "2026-ab",
    }
    assert find_run(connection, "monday")["id"] == "2027-c"  # the latest of that name


def test_an_id_counts_before_a_name_and_a_name_before_a_beginning(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    add_run(connection, "x", {}, [])
    add_run(connection, "y", {}, [], name="x")
    add_run(connection, "monday-1", {}, [], name="z")
    add_run(connection, "w", {}, [], name="monday")
    assert find_run(connection, "x")["id"] == "x"
    assert find_run(connection, "monday")["id"] == "w"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("2026", "several runs begin so (2026-a, 2026-b); write more of the id"),
        ("friday", "no run of that id, beginning or name; see `jeval runs`"),
        ("", "no run of that id"),
        ("%", "no run of that id"),
        ("2026_a", "no run of that id"),
    ],
)
def test_what_names_no_run_or_several_is_an_error(tmp_path: Path, name: str, said: str) -> None:
    connection = new_store(tmp_path)
    add_run(connection, "2026-a", {}, [])
    add_run(connection, "2026-b", {}, [])
    with pytest.raises(NotFound) as error:
        find_run(connection, name)
    assert said in str(error.value)


def test_the_last_run_of_an_empty_store_is_none(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    with pytest.raises(NotFound, match="the store holds 0 runs"):
        find_run(connection, "@last")
    add_run(connection, "a", {}, [])
    with pytest.raises(NotFound, match="the store holds 1 run;"):
        find_run(connection, "@prev")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("halu-ofline", "did you mean halu-offline? see"),
        ("HALU-Offline", "did you mean halu-offline?"),
        ("offline", "did you mean halu-offline?"),
        ("2026-12-01-abcd", "did you mean 2026-12-01-abce?"),
        ("@lst", "did you mean @last?"),
        ("nightly", "did you mean nightly-4 or nightly-3 or nightly-2? see"),
    ],
)
def test_a_name_that_is_almost_one_is_told_which(tmp_path: Path, typed: str, meant: str) -> None:
    connection = new_store(tmp_path)
    add_run(connection, "2026-12-01-abce", {}, [], name="halu-offline")
    for number in (4, 3, 2, 1):
        add_run(connection, f"x{number}", {}, [], name=f"nightly-{number}")
    with pytest.raises(NotFound) as error:
        find_run(connection, typed)
    assert meant in str(error.value)
