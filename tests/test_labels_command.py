"""jeval labels: a dataset's labels, or those of a run's cases in the store, as a file."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from jeval.app.label_files import read_labels
from tests.running import case, jeval, quick, write_cases, write_rubrics
from tests.told import RUN, Row, told_run

KEYS = ["caseId", "rubricId", "expected", "source", "reviewer", "note"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def labelled_cases(folder: Path) -> Path:
    """Three cases: one with two labels, one with one, one with none."""
    first = {
        "tone": {"status": "fail", "source": "human", "reviewer": "ann", "note": "rude"},
        "support": {"status": "pass"},
    }
    second = {"tone": {"status": "skipped", "source": "synthetic"}}
    return write_cases(
        folder / "cases.jsonl",
        [
            case(1, expected=first, metadata={"split": "tuning"}),
            case(2, expected=second, metadata={"split": "holdout"}),
            case(3),
        ],
    )


def test_the_labels_of_a_bundled_dataset_are_written_by_its_name(tmp_path: Path) -> None:
    ran = jeval("labels", "clinic", "-o", "labels.jsonl")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("204 labels of 34 cases → labels.jsonl · 74 pass 34 fail 14 review 82 skipped")
    found = lines(Path("labels.jsonl").read_text(encoding="utf-8"))
    assert len(found) == 204 and all(list(line) == KEYS for line in found)
    assert found[0] == {
        "caseId": "clinic-001", "rubricId": "booking-policy", "expected": "pass", "source": "synthetic",
        "reviewer": None, "note": None,
    }  # fmt: skip
    assert len(read_labels(Path("labels.jsonl"))) == 204


def test_those_of_a_file_go_to_stdout_unless_told_otherwise(tmp_path: Path) -> None:
    path = labelled_cases(tmp_path)
    for name in (str(path), f"dataset.path={path}"):
        ran = jeval("labels", name)
        assert [(one["caseId"], one["rubricId"], one["expected"]) for one in lines(ran.out)] == [
            ("case-0001", "tone", "fail"),
            ("case-0001", "support", "pass"),
            ("case-0002", "tone", "skipped"),
        ]
        assert ran.err == "3 labels of 2 cases · 1 pass 1 fail 1 skipped · 2 human 1 synthetic\n"
    first = lines(jeval("labels", str(path), "-o", "-").out)[0]
    assert (first["source"], first["reviewer"], first["note"]) == ("human", "ann", "rude")


def test_metadata_and_source_choose_among_them(tmp_path: Path) -> None:
    path = str(labelled_cases(tmp_path))
    assert [one["caseId"] for one in lines(jeval("labels", path, "--where", "split=holdout").out)] == ["case-0002"]
    assert [one["source"] for one in lines(jeval("labels", path, "--source", "synthetic").out)] == ["synthetic"]
    nothing = jeval("labels", path, "--where", "split=other")
    assert nothing.code == 3 and "--where split=other: selects no case" in nothing.err
    wrong = jeval("labels", path, "--source", "people")
    assert wrong.code == 3 and "--source people: is no source of labels; there are: human" in wrong.err


def test_a_projects_own_dataset_is_named_too_and_selects_what_it_selects(tmp_path: Path) -> None:
    labelled_cases(tmp_path)
    folder = tmp_path / "conf" / "dataset"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text("name: mine\npath: cases.jsonl\nwhere: {split: tuning}\n")
    for name in ("mine", "dataset=mine"):
        assert {one["caseId"] for one in lines(jeval("labels", name).out)} == {"case-0001"}


def test_a_file_that_is_there_is_not_written_over_unless_that_is_meant(tmp_path: Path) -> None:
    path = str(labelled_cases(tmp_path))
    Path("out.jsonl").write_text("mine\n")
    ran = jeval("labels", path, "-o", "out.jsonl")
    assert ran.code == 3 and "-o out.jsonl exists; name another file, or write over it with --force" in ran.err
    assert Path("out.jsonl").read_text() == "mine\n"
    assert jeval("labels", path, "-o", "out.jsonl", "--force").code == 0
    assert len(read_labels(Path("out.jsonl"))) == 3


def test_faults_in_the_dataset_are_told_and_nothing_is_written(tmp_path: Path) -> None:
    path = labelled_cases(tmp_path)
    path.write_text(path.read_text() + '{"id": "x"}\n{"id": "y", "input": 1, "output": "a"}\n')
    ran = jeval("labels", str(path), "-o", "out.jsonl")
    assert ran.code == 3 and f"{path}:4: input is missing" in ran.err and f"{path}:5: input must be text" in ran.err
    assert not Path("out.jsonl").exists()


def store_with_labels(folder: Path) -> None:
    with closing(told_run(folder, [Row(0.1, None), Row(0.1, None, "holdout")])) as connection:
        connection.executemany(
            "INSERT INTO labels VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                ("c001", "tone", "pass", "synthetic", None, None, "2026-01-01"),
                ("c000", "tone", "fail", "human", "ann", "rude", "2026-01-02"),
                ("c000", "tone", "pass", "human", "bob", None, "2026-01-03"),
                ("other", "tone", "pass", "human", "ann", None, "2026-01-03"),
            ],
        )


def test_of_a_run_all_labels_are_written_that_the_store_has_of_its_cases(tmp_path: Path) -> None:
    store_with_labels(tmp_path)
    for name in ("@last", RUN):
        found = lines(jeval("labels", name).out)
        assert [(one["caseId"], one["source"], one["reviewer"]) for one in found] == [
            ("c000", "human", "bob"), ("c000", "human", "ann"), ("c001", "synthetic", None),
        ]  # fmt: skip
    assert [one["note"] for one in lines(jeval("labels", "@last", "--source", "human").out)] == [None, "rude"]
    assert [one["caseId"] for one in lines(jeval("labels", "@last", "--where", "split=holdout").out)] == ["c001"]
    assert jeval("labels", "@last", "--reviewed").code == 3


def test_what_reviewers_said_stands_beside_a_datasets_own_labels(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases.jsonl", [case(1, expected={"tone": {"status": "pass", "source": "synthetic"}})])
    write_rubrics(tmp_path / "rubrics.json")
    quick("dataset.path=cases.jsonl", "rubrics.path=rubrics.json", "store=jeval.db")
    with closing(sqlite3.connect("jeval.db")) as connection, connection:
        connection.execute("INSERT INTO labels VALUES ('case-0001', 'tone', 'fail', 'human', 'ann', NULL, 'now')")
    found = lines(jeval("labels", "cases.jsonl", "--reviewed").out)
    assert [(one["expected"], one["source"]) for one in found] == [("pass", "synthetic"), ("fail", "human")]
    assert [one["expected"] for one in lines(jeval("labels", "cases.jsonl").out)] == ["pass"]
    held = jeval("benchmark", "@last", "--labels", _written(jeval("labels", "cases.jsonl", "--reviewed").out), "--json")
    assert held.json["labels"]["by_source"] == {"human": 1}


def _written(text: str) -> str:
    Path("l.jsonl").write_text(text, encoding="utf-8")
    return "l.jsonl"


def test_what_is_nothing_of_the_sort_is_told_with_what_there_is(tmp_path: Path) -> None:
    told = "nope: is no file of cases, no dataset (there are: clinic, library, manual, shop) and no run in the store"
    ran = jeval("labels", "nope")
    assert (ran.code, ran.out) == (3, "") and told in ran.err
    store_with_labels(tmp_path)
    assert told in jeval("labels", "nope").err
    assert "gone.jsonl: no such file" in jeval("labels", "gone.jsonl").err
    assert "@prev" in jeval("labels", "@prev").err


def test_a_dataset_without_labels_says_how_to_come_by_some(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases.jsonl", 2)
    ran = jeval("labels", "cases.jsonl", "-o", "out.jsonl")
    assert ran.code == 3 and "there is no label to write; give its cases `expected`" in ran.err
    assert not Path("out.jsonl").exists()
