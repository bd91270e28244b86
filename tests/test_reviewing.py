"""What of a run waits for a person, in which order, and whose label takes whose place."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from jeval.store.reviewing import StoredLabel, label_by, put_label, review_queue, take_back_label
from tests.stores import add_run, new_store, rubric

CASES = ("pear", "plum", "quince")
RUBRICS = [
    rubric("minor-one", severity="minor"),
    rubric("worst", severity="critical"),
    rubric("optional", required=False),
]
CHECKS = {
    ("pear", "minor-one"): "fail", ("pear", "worst"): "pass", ("pear", "optional"): "review",
    ("plum", "minor-one"): "review", ("plum", "worst"): "fail", ("plum", "optional"): "error",
    ("quince", "minor-one"): "pass", ("quince", "worst"): "review", ("quince", "optional"): "skipped",
}  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(new_store(tmp_path)) as connection:
        add_run(connection, "run-1", CHECKS, RUBRICS)
        yield connection


def waiting(store: sqlite3.Connection, *statuses: str, again: bool = False) -> list[tuple[str, str]]:
    queue = review_queue(store, 1, statuses or ("review", "fail"), again=again)
    return [queue[place] for place in range(len(queue))]


def test_reviews_come_first_then_critical_failures_then_others(store: sqlite3.Connection) -> None:
    assert waiting(store) == [
        ("quince", "worst"),
        ("plum", "minor-one"),
        ("pear", "optional"),
        ("plum", "worst"),
        ("pear", "minor-one"),
    ]


def test_statuses_narrow_it_and_bring_in_others(store: sqlite3.Connection) -> None:
    assert waiting(store, "fail") == [("plum", "worst"), ("pear", "minor-one")]
    assert waiting(store, "pass", "error") == [("plum", "optional"), ("pear", "worst"), ("quince", "minor-one")]
    assert waiting(store, "skipped") == [("quince", "optional")]


def test_checks_of_one_rubric_are_together_in_the_order_of_the_dataset(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with closing(new_store(tmp_path / "other")) as store:
        checks = {(case, name): "review" for case in CASES for name in ("b", "a")}
        add_run(store, "run-1", checks, [rubric("b"), rubric("a")])
        assert waiting(store) == [(case, name) for name in ("b", "a") for case in CASES]


def test_what_a_person_has_labelled_is_left_out_and_counted(store: sqlite3.Connection) -> None:
    put_label(store, "plum", "worst", "ann", StoredLabel("fail", None, "2026-01-01"))
    store.execute("INSERT INTO labels VALUES ('quince', 'worst', 'pass', 'synthetic', NULL, NULL, '2026-01-01')")
    assert ("plum", "worst") not in waiting(store) and ("quince", "worst") in waiting(store)
    assert review_queue(store, 1, ["fail"]).labelled == 1
    assert ("plum", "worst") in waiting(store, again=True)
    assert review_queue(store, 1, ["fail"], again=True).labelled == 0


def test_a_person_has_one_label_of_a_check_and_others_have_theirs(store: sqlite3.Connection) -> None:
    for reviewer, expected in (("ann", "fail"), ("bo", "pass"), (None, "review"), ("ann", "skipped")):
        put_label(store, "plum", "worst", reviewer, StoredLabel(expected, f"by {reviewer}", "2026-01-01"))
    found = {name: label_by(store, "plum", "worst", name) for name in ("ann", "bo", None, "cy")}
    assert {name: label and label.expected for name, label in found.items()} == {
        "ann": "skipped", "bo": "pass", None: "review", "cy": None,
    }  # fmt: skip
    take_back_label(store, "plum", "worst", "ann")
    assert label_by(store, "plum", "worst", "ann") is None
    assert label_by(store, "plum", "worst", "bo") == StoredLabel("pass", "by bo", "2026-01-01")
