"""jeval benchmark, as people and scripts run it."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.running import SHARED, jeval, quick, write_rubrics
from tests.told import RUN, Row, fair, rubric, told_run, write_labels

DATA = SHARED / "data" / "halueval-qa.jsonl"
HOSTILE = "\x1b[31mred\nline\u202e"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def give(connection: sqlite3.Connection, case_id: str, expected: str, reviewer: str | None = None, **more: Any) -> None:
    """Put a label into the store, as the review page does."""
    row = (case_id, more.get("rubric", "tone"), expected, more.get("source", "human"), reviewer, None, "2026-01-01")
    connection.execute("INSERT INTO labels VALUES (?, ?, ?, ?, ?, ?, ?)", row)


ROWS = [
    *fair(60),
    Row(0.1, "fail"),  # a false pass
    Row(0.9, "pass"),  # a false fail
    Row(0.4, "fail"),  # for review: no mistake
    Row(0.1, None),
]


def test_the_object_on_stdout_has_every_figure(tmp_path: Path) -> None:
    told_run(tmp_path, ROWS).close()
    ran = jeval("benchmark", "@last", "--labels", str(write_labels(tmp_path, ROWS)), "--json")
    assert (ran.code, ran.err) == (0, "")
    found = ran.json
    assert (found["run_id"], found["simulated"], found["thresholds"]["pass"]) == (RUN, False, 0.75)
    assert found["labels"]["from"].endswith("labels.jsonl") and found["labels"]["by_source"] == {"human": 63}
    (tone,) = found["rubrics"]
    assert (tone["checks"], tone["labelled"], tone["unlabelled"]) == (64, 63, 1)
    assert tone["confusion"]["pass"] == {"pass": 40, "fail": 1, "review": 0, "skipped": 0}
    assert tone["confusion"]["fail"] == {"pass": 1, "fail": 20, "review": 0, "skipped": 0}
    assert (tone["coverage"]["k"], tone["coverage"]["n"]) == (62, 63)
    assert (tone["accuracy"]["k"], tone["accuracy"]["n"]) == (60, 62)
    assert (tone["false_pass_rate"]["k"], tone["false_pass_rate"]["n"]) == (1, 22)
    assert (tone["precision"]["k"], tone["precision"]["n"]) == (20, 21)
    assert tone["recall"]["value"] == tone["f1"]["value"] == pytest.approx(20 / 21)
    assert tone["calibration"]["n"] == 63 and len(tone["calibration"]["bins"]) > 1
    assert [one["case_id"] for one in found["disagreements"]] == ["c060", "c061"]
    assert found["disagreements"][0]["probabilities"] == {
        "acceptable": 0.9, "unacceptable": 0.1, "insufficient_context": 0.0,
    }  # fmt: skip


def test_the_verdict_on_each_rubric_comes_before_every_figure(tmp_path: Path) -> None:
    rows = fair(180)
    told_run(tmp_path, rows, [rubric(), rubric("silence")]).close()
    ran = jeval("benchmark", "@last", "--labels", str(write_labels(tmp_path, rows)))
    assert ran.code == 0
    verdicts = re.findall(r"^  . (yes|no|unclear|unknown) +(\S+)", ran.out, re.M)
    assert verdicts == [("unknown", "silence"), ("yes", "tone")]
    assert "passed 0 of 60 labelled fail (at most 6%), wrong on 0 of 180 decided (at most 2%)" in " ".join(
        ran.out.split()
    )
    assert ran.out.index("CAN IT BE TRUSTED?") < ran.out.index("precision") < ran.out.index("no check disagrees")


def test_a_judge_that_lets_failures_pass_is_not_trusted(tmp_path: Path) -> None:
    rows = [Row(0.1, "fail") if i % 4 == 0 else Row(0.05, "pass") for i in range(80)]
    told_run(tmp_path, rows).close()
    ran = jeval("benchmark", "@last", "--labels", str(write_labels(tmp_path, rows)))
    assert "✕ no      tone  passed 20 of 20 labelled fail (100%), so surely over 10%" in ran.out
    assert "20 DISAGREEMENTS, worst first" in ran.out and "… and 10 more; --limit 0 shows all" in ran.out
    assert "✓ pass, labelled fail  c000  tone 1.0.0" in ran.out
    every = jeval("benchmark", "@last", "--labels", str(tmp_path / "labels.jsonl"), "--limit", "0")
    assert every.out.count("✓ pass, labelled fail") == 20


def test_without_a_file_the_labels_are_those_in_the_store_peoples_own_first(tmp_path: Path) -> None:
    with closing(told_run(tmp_path, [Row(0.1, None)] * 4)) as connection:
        give(connection, "c000", "pass", source="synthetic")
        give(connection, "c000", "fail", "ann")
        give(connection, "c001", "pass", source="synthetic")
        give(connection, "c002", "pass", "ann")
        give(connection, "c002", "fail", "bob")
        give(connection, "c003", "fail", "ann", rubric="elsewhere")
        give(connection, "of-another-run", "fail", "ann")
    found = jeval("benchmark", RUN, "--json").json
    (tone,) = found["rubrics"]
    assert (tone["labelled"], tone["disputed"]) == (2, 1)
    assert tone["confusion"]["pass"] == {"pass": 1, "fail": 1, "review": 0, "skipped": 0}
    assert found["labels"] == {
        "from": "the store", "sha256": found["labels"]["sha256"], "by_source": {"human": 1, "synthetic": 1},
    }  # fmt: skip
    assert found["labels_without_check"] == {"elsewhere": 1}
    assert "disputed" in [warning["field"] for warning in found["warnings"]]


def test_where_narrows_to_cases_by_their_metadata(tmp_path: Path) -> None:
    rows = [*fair(30), *fair(12, "holdout")]
    told_run(tmp_path, rows).close()
    labels = str(write_labels(tmp_path, rows))
    found = jeval("benchmark", "@last", "--labels", labels, "--where", "split=holdout", "--json").json
    assert (found["overall"]["checks"], found["overall"]["labelled"]) == (12, 12)
    assert found["where"] == {"split": "holdout"} and found["labels_without_check"] == {}
    told = jeval("benchmark", "@last", "--labels", labels, "--where", "split=holdout").out
    assert "cases with split=holdout" in told


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("splt=holdout", r"--where splt=holdout: no case of run .* has the metadata splt; did you mean split\?"),
        ("split=holdut", r"--where split=holdut: no case of run .* has that split; did you mean holdout\?"),
        ("split", r"--where split: is no KEY=VALUE; write e.g. --where split=holdout"),
    ],
)
def test_a_where_that_selects_nothing_says_what_there_is(tmp_path: Path, where: str, told: str) -> None:
    rows = [*fair(3), *fair(3, "holdout")]
    told_run(tmp_path, rows).close()
    ran = jeval("benchmark", "@last", "--labels", str(write_labels(tmp_path, rows)), "--where", where)
    assert (ran.code, ran.out) == (3, "") and re.search(told, ran.err)


def test_labels_and_checks_that_have_no_counterpart_are_counted_by_rubric(tmp_path: Path) -> None:
    rows = fair(30)
    told_run(tmp_path, rows, [rubric(), rubric("silence")]).close()
    more = [
        {"caseId": "gone", "rubricId": "tone", "expected": "pass"},
        {"caseId": "c001", "rubricId": "tome", "expected": "pass"},
    ]
    ran = jeval("benchmark", "@last", "--labels", str(write_labels(tmp_path, rows, "tone", *more)))
    assert "1 label of tone without a check: its cases are not in the run" in ran.out
    assert "1 label of tome without a check: the run has no such rubric" in ran.out
    assert "30 of 60 checks labelled" in ran.out


def test_a_label_of_a_metric_is_told_from_one_of_nothing(tmp_path: Path) -> None:
    rows = fair(30)
    connection = told_run(tmp_path, rows)
    with closing(connection):
        connection.execute("INSERT INTO metrics VALUES (1, 'warmth', '1.0.0', 'x', '{}')")
        connection.execute("INSERT INTO score_results VALUES (1, 'scored', 1.0, 1, 0, 0.5, 1.0, '', '[]')")
        connection.execute("INSERT INTO score_rows SELECT run, case_key, 1, 1 FROM run_cases")
    more = {"caseId": "c001", "rubricId": "warmth", "expected": "pass"}
    ran = jeval("benchmark", "@last", "--labels", str(write_labels(tmp_path, rows, "tone", more)))
    assert "1 label of warmth without a check: it is a metric, and only checks are held against labels" in ran.out


def test_one_rubric_can_be_looked_at_alone(tmp_path: Path) -> None:
    rows = fair(30)
    told_run(tmp_path, rows, [rubric(), rubric("silence")]).close()
    labels = str(write_labels(tmp_path, rows))
    found = jeval("benchmark", "@last", "--labels", labels, "--rubric", "tone", "--json").json
    assert [one["rubric_id"] for one in found["rubrics"]] == ["tone"] and found["overall"]["checks"] == 30
    ran = jeval("benchmark", "@last", "--labels", labels, "--rubric", "tome")
    assert ran.code == 3 and "--rubric tome: run" in ran.err and "did you mean tone?" in ran.err


def test_labels_of_nothing_in_the_run_are_an_incomplete_benchmark(tmp_path: Path) -> None:
    told_run(tmp_path, fair(3)).close()
    labels = write_labels(tmp_path, [], "tone", {"caseId": "gone", "rubricId": "tone", "expected": "pass"})
    ran = jeval("benchmark", "@last", "--labels", str(labels))
    assert ran.code == 2 and "no label that counts is of a check of this run" in ran.out
    assert jeval("benchmark", "@last", "--labels", str(labels), "--json").code == 2


def test_a_store_without_labels_says_where_to_give_some(tmp_path: Path) -> None:
    told_run(tmp_path, fair(3)).close()
    ran = jeval("benchmark", "@last")
    assert ran.code == 3 and "the store holds no label of its cases; give some in `jeval serve`" in ran.err
    empty = tmp_path / "none.jsonl"
    empty.touch()
    assert "none.jsonl: holds no label" in jeval("benchmark", "@last", "--labels", str(empty)).err


def test_faults_in_the_labels_are_told_by_line_and_nothing_else_is_said(tmp_path: Path) -> None:
    told_run(tmp_path, fair(3)).close()
    path = tmp_path / "l.jsonl"
    path.write_text('{"caseId": "c1", "rubricId": "tone", "expected": "ok"}\nnope\n')
    ran = jeval("benchmark", "@last", "--labels", str(path))
    assert (ran.code, ran.out) == (3, "")
    assert f"{path}:1: expected" in ran.err and f"{path}:2: is not JSON" in ran.err


def test_a_simulated_judge_is_told_first_and_never_shown_green(tmp_path: Path) -> None:
    rows = fair(180)
    told_run(tmp_path, rows, simulated=1).close()
    ran = jeval("benchmark", "@last", "--labels", str(write_labels(tmp_path, rows)))
    head = ran.out[: ran.out.index("CAN IT BE TRUSTED?")]
    assert "warning: a simulated judge decided: this says nothing about a real one" in head


def test_hostile_text_is_shown_as_text(tmp_path: Path) -> None:
    rows = [Row(0.1, "fail")]
    told_run(tmp_path, rows, name=HOSTILE, dataset=HOSTILE, model_served=HOSTILE).close()
    more = {"caseId": "c000", "rubricId": HOSTILE, "expected": "pass"}
    labels = write_labels(tmp_path, [], "tone", {
        "caseId": "c000", "rubricId": "tone", "expected": "fail", "reviewer": HOSTILE, "note": HOSTILE,
    })  # fmt: skip
    ran = jeval("benchmark", "@last", "--labels", str(labels))
    assert ran.code == 0 and "\x1b" not in ran.out and "\u202e" not in ran.out and "\\x1b[31mred\\nline" in ran.out
    assert jeval("benchmark", "@last", "--labels", str(write_labels(tmp_path, rows, "tone", more))).code == 3


@pytest.mark.parametrize("width", ["80", "100"])
def test_lines_are_no_wider_than_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: str) -> None:
    monkeypatch.setenv("COLUMNS", width)
    rows = [*ROWS, *fair(120)]
    names = [rubric("tone"), rubric("a-rubric-with-a-name-that-is-long-enough-to-be-in-the-way")]
    told_run(tmp_path, rows, names, name="a run").close()
    both = [json.loads(line) for line in write_labels(tmp_path, rows).read_text().splitlines()]
    more = [{**one, "rubricId": names[1].id, "note": "word " * 40} for one in both]
    ran = jeval("benchmark", "@last", "--labels", str(write_labels(tmp_path, rows, "tone", *more)), "--limit", "0")
    named = ("labels from", names[1].id)  # a path and a name are never cut where they say which
    assert [line for line in ran.out.splitlines() if len(line) > int(width) and not any(n in line for n in named)] == []


def test_thresholds_that_were_tuned_on_these_cases_are_told(tmp_path: Path) -> None:
    rows = [*fair(120), *fair(60, "holdout")]
    told_run(tmp_path, rows, thresholds="mine", threshold_pass=0.75, threshold_fail=0.9).close()
    labels = str(write_labels(tmp_path, rows))
    tuned = jeval(
        "tune", "@last", "--labels", labels, "--target", "precision=0.9", "--where", "split=tuning",
        "-o", "conf/thresholds/mine.yaml",
    )  # fmt: skip
    assert tuned.code == 0, tuned.err + tuned.out

    def warned(*more: str) -> list[str]:
        found = jeval("benchmark", "@last", "--labels", labels, "--store", str(tmp_path / "jeval.db"), "--json", *more)
        return [one["message"] for one in found.json["warnings"] if one["field"] == "tuned"]

    (all_of_them,) = warned()
    assert "cases with split=tuning, as 120 of these 180 cases are" in all_of_them
    (the_same,) = warned("--where", "split=tuning")
    assert "tuned on these very labels" in the_same
    assert warned("--where", "split=holdout") == []
    # Another profile of that name was not tuned, as far as anybody can tell.
    text = Path("conf/thresholds/mine.yaml").read_text()
    Path("conf/thresholds/mine.yaml").write_text(text.replace("pass: 0.75", "pass: 0.8"))
    assert warned() == []


@pytest.mark.skipif(not DATA.is_file(), reason="needs ../shared/data/halueval-qa.jsonl")
def test_real_questions_are_held_against_their_own_labels(tmp_path: Path) -> None:
    write_rubrics(tmp_path / "rubrics.json", [{
        "id": "claim-support", "version": "1.0.0", "kind": "claim-support", "params": {"uncoveredIs": "fail"},
    }])  # fmt: skip
    quick(f"dataset.path={DATA}", f"rubrics.path={tmp_path / 'rubrics.json'}", f"store={tmp_path / 'jeval.db'}")
    from_store = jeval("benchmark", "@last", "--json").json
    written = jeval("labels", str(DATA), "-o", "labels.jsonl")
    assert written.code == 0
    from_file = jeval("benchmark", "@last", "--labels", "labels.jsonl", "--json").json
    assert from_store["overall"] == from_file["overall"]
    assert from_file["overall"]["labelled"] == 300 and from_file["labels"]["by_source"] == {"imported": 300}
    assert [warning["field"] for warning in from_file["warnings"]] == ["simulated"]
    assert from_file["overall"]["kappa"]["value"] > 0.5
