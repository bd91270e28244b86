"""jeval review without a terminal: a key a line, each label in the store at once, and in a file where one is named."""

import io
import json
import re
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from jeval.app.kept_labels import KeptLabels
from jeval.app.label_files import read_labels
from jeval.app.painter import Painter
from jeval.app.review_text import Block, case_blocks, laid_out
from jeval.preamble import PREAMBLE
from jeval.report.overview import CheckLine
from jeval.store.connect import open_store
from tests.running import Ran, case, jeval, quick, rows, write_cases, write_rubrics
from tests.stores import add_run, new_store, rubric

CHECKS = {
    ("pear", "sweet"): "review", ("plum", "sweet"): "fail", ("quince", "sweet"): "pass", ("medlar", "sweet"): "review",
}  # fmt: skip
QUEUE = ["pear", "medlar", "plum"]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with one run of four checks, three of which wait."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JEVAL_REVIEWER", "ann")
    with closing(new_store(tmp_path)) as connection:
        add_run(connection, "run-1", CHECKS, [rubric("sweet")])
    return tmp_path / "jeval.db"


@pytest.fixture
def review(store: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Review with these lines as the input."""

    def run(lines: str, *arguments: str) -> Ran:
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        return jeval("review", *arguments)

    return run


def labels(store: Path) -> list[tuple[Any, ...]]:
    return rows(store, "SELECT case_id, expected, source, reviewer, note FROM labels ORDER BY labelled_at, rowid")


def test_a_key_labels_and_the_next_check_follows(review: Any, store: Path) -> None:
    ran = review("p\nf\nr\n", "@last")
    assert (ran.code, ran.err) == (0, "")
    assert labels(store) == [
        ("pear", "pass", "human", "ann", None),
        ("medlar", "fail", "human", "ann", None),
        ("plum", "review", "human", "ann", None),
    ]
    assert [line for line in ran.out.splitlines() if line in QUEUE] == QUEUE
    assert "1 of 3 · 0 labelled · run run-1" in ran.out and "end of 3 · 3 labelled" in ran.out
    assert ran.out.endswith("3 checks labelled by ann (1 pass, 1 fail, 1 review), 0 left\n")


def test_it_shows_the_case_the_criterion_and_what_was_answered(review: Any) -> None:
    out = review("q\n").out
    for text in (
        "user  How long do pears keep?",
        "answer  Pears keep until March.",
        "sweet 1.0.0 (custom, major)",
        "asked  About sweet.",
        "? review  it was review [rule a-rule]",
        "acceptable    0.6    ━━━━━━━━━━━━",
    ):
        assert text in out, text


def test_each_label_is_there_at_once_and_the_same_command_goes_on(review: Any, store: Path) -> None:
    review("s\n")  # the input ends
    assert labels(store) == [("pear", "skipped", "human", "ann", None)]
    ran = review("\n\n\n")
    assert "1 check has a person's label already; --again shows all" in ran.out
    assert [line for line in ran.out.splitlines() if line in QUEUE] == ["medlar", "plum"]
    again = review("q\n", "--again")
    assert "you labelled it – skipped" in again.out and "1 of 3" in again.out


def test_a_note_goes_with_the_label_it_comes_before_or_after(review: Any, store: Path) -> None:
    ran = review("n  too   vague \np\nf\nb\nnote it is not\nq\n")
    assert labels(store) == [
        ("pear", "pass", "human", "ann", "too   vague"),
        ("medlar", "fail", "human", "ann", "it is not"),
    ]
    assert "the note goes with the label" in ran.out and "noted with your fail" in ran.out
    assert "you labelled it ✕ fail" in ran.out


def test_a_note_is_kept_where_the_label_changes_and_goes_where_it_is_emptied(review: Any, store: Path) -> None:
    review("n odd\np\nb\nf\nq\n")
    assert labels(store) == [("pear", "fail", "human", "ann", "odd")]
    review("n\nq\n", "--again")
    assert labels(store) == [("pear", "fail", "human", "ann", None)]


def test_a_note_for_a_check_that_gets_no_label_is_for_no_other(review: Any, store: Path) -> None:
    review("n for pear\n\np\nq\n")
    assert labels(store) == [("medlar", "pass", "human", "ann", None)]


def test_undo_takes_back_label_after_label_and_goes_there(review: Any, store: Path) -> None:
    ran = review("p\nf\nu\nu\nu\n")
    assert labels(store) == []
    assert "undone: it has no label of yours" in ran.out and "nothing was labelled that could be undone" in ran.out
    assert [line for line in ran.out.splitlines() if line in QUEUE] == ["pear", "medlar", "plum", "medlar", "pear"]


def test_undo_brings_back_the_label_that_was_there_before(review: Any, store: Path) -> None:
    review("n first\np\nq\n")
    before = rows(store, "SELECT * FROM labels")
    ran = review("f\nu\nq\n", "--again")
    assert "undone: it is pass again" in ran.out
    assert rows(store, "SELECT * FROM labels") == before


def test_one_may_go_on_and_back_to_both_ends(review: Any, store: Path) -> None:
    ran = review("b\n\nnext\n\n\np\nback\nq\n")
    assert "this is the first" in ran.out and "this is the end" in ran.out
    assert "there is nothing to label here" in ran.out
    assert labels(store) == []


def test_statuses_and_reviewer_are_what_was_said(review: Any, store: Path) -> None:
    review("p\n", "run-1", "--statuses", "fail,pass", "--reviewer", "Bö ")
    assert labels(store) == [("plum", "pass", "human", "Bö", None)]


def test_nothing_left_is_said_and_is_no_error(review: Any, store: Path) -> None:
    review("p\np\np\n")
    ran = review("")
    assert ran.code == 0
    assert ran.out == (
        "nothing of run run-1 is left with status review or fail; 3 checks have a person's label already, --again"
        " shows all\n"
    )


def test_what_is_no_key_is_said_and_does_nothing(review: Any, store: Path) -> None:
    ran = review("x\nyes\npf\nq\n")
    assert ran.code == 0 and labels(store) == []
    assert all(f"{key} is no key here" in ran.out for key in ("x", "yes", "pf"))


def test_an_input_without_end_and_without_sense_is_left(review: Any, store: Path) -> None:
    ran = review("y\n" * 1000)
    assert ran.code == 3 and "20 lines in a row are no use here, the last is 'y'" in ran.err
    assert labels(store) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--statuses", "fail,bad"], "--statuses bad: there is none of that name; use review, fail"),
        (["--reviewer", " "], "--reviewer is empty"),
        (["--reviewer", "x\x1b[31m"], "is no name"),
        (["--labels", "."], "is a directory"),
        (["--labels", "nowhere/l.jsonl"], "its folder does not exist"),
        (["nope"], "no run of that id"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(review: Any, arguments: list[str], words: str) -> None:
    ran = review("p\n", *arguments)
    assert ran.code == 3 and words in ran.err and ran.err.count("\n") == 1 and "\x1b" not in ran.err


# The file of labels.


def lines(file: Path) -> list[tuple[str, str, str | None]]:
    found = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [(label["caseId"], label["expected"], label["note"]) for label in found]


def test_labels_are_appended_to_a_file_that_benchmark_reads(review: Any, tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    theirs = '{"caseId": "pear", "rubricId": "sweet", "expected": "fail", "reviewer": "bo"}'
    file.write_text(theirs)  # without a line's end
    ran = review("n “so”\np\nf\n", "--labels", "labels.jsonl")
    assert "the labels are in labels.jsonl too" in ran.out
    assert file.read_text(encoding="utf-8").splitlines()[0] == theirs
    assert [(label.case_id, label.expected, label.reviewer, label.note) for label in read_labels(file)] == [
        ("pear", "fail", "bo", None),
        ("pear", "pass", "ann", "“so”"),
        ("medlar", "fail", "ann", None),
    ]


def test_a_changed_or_undone_label_is_changed_in_the_file(review: Any, tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    review("p\nb\nf\nr\nu\n", "--labels", str(file))
    assert lines(file) == [("pear", "fail", None)]
    file.chmod(0o640)
    review("p\nu\nn odd\n", "--labels", str(file), "--again")
    assert lines(file) == [("pear", "fail", "odd")]
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["jeval.db", "labels.jsonl"]


def test_a_file_that_holds_something_else_is_refused_and_left(review: Any, store: Path, tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text("no label\n")
    ran = review("p\n", "--labels", str(file))
    assert ran.code == 3 and "labels.jsonl:1" in ran.err
    assert file.read_text() == "no label\n" and labels(store) == []


def test_a_file_that_cannot_be_written_any_more_costs_no_label(
    review: Any, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(KeptLabels, "_write", full)
    ran = review("p\n", "--labels", str(tmp_path / "labels.jsonl"))
    assert "this is in the store, but not in the file (No space left on device)" in ran.out
    assert ran.code == 3 and "what was said of 1 check is not in it" in ran.err and "too" not in ran.out
    assert labels(store) == [("pear", "pass", "human", "ann", None)]


def test_a_store_that_cannot_be_written_costs_no_review(review: Any, store: Path) -> None:
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("CREATE TRIGGER full BEFORE INSERT ON labels BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
    ran = review("p\nq\n")
    assert ran.code == 0 and "nothing was labelled: the store cannot be written (disk is full); try again" in ran.out
    assert ran.out.endswith("0 checks labelled by ann, 3 left\n")


# What is shown.


def test_hostile_text_is_shown_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("n \x1b[2Jgone\u202e\np\nb\nq\n"))
    evil = "\x1b]0;title\x07\x1b[31mred\u202eback\x9b2J\r"
    rubrics = [{"id": "tone", "version": "1.0.0", "kind": "custom", "criterion": f"Polite {evil}",
                "outcomes": {"acceptable": "a", "unacceptable": "b"}}]  # fmt: skip
    messages = [{"id": "m", "role": "user", "content": evil}]
    events = [{"id": evil[:9], "name": evil[:9], "status": "failure", "error": {evil: evil}}]
    context = [{"id": evil[:9], "title": evil, "content": evil}]
    evidence = {"messages": messages, "policy": evil, "toolEvents": events, "context": context, "metadata": {"k": evil}}
    write_cases(tmp_path / "c.jsonl", [case(1, input=evil, output=evil, **evidence)])
    write_rubrics(tmp_path / "r.json", rubrics)
    assert quick("dataset.path=c.jsonl", "rubrics.path=r.json", f"name={evil}").code == 0
    out = jeval("review", "--reviewer", "ann").out
    assert not {character for character in out if not character.isprintable()} - {"\n"}
    assert "\u202e" not in out and "\\x1b[31mred\\u202eback\\x9b2J" in out and "pass: \\x1b[2Jgone\\u202e" in out


def check(criterion: str, **more: Any) -> CheckLine:
    fields: dict[str, Any] = {
        "case_id": "c", "rubric_id": "tone", "rubric_version": "1.0.0", "kind": "custom", "severity": "major",
        "required": True, "status": "review", "outcome": None, "probabilities": {"a": 0.6, "b": 0.4},
        "confidence": None, "reason": "undecided", "rule": "none", "criterion": criterion, "evidence": {},
    }  # fmt: skip
    return CheckLine(**{**fields, **more})


def shown(blocks: list[Block], about: CheckLine, width: int = 80, height: int | None = None) -> tuple[list[str], bool]:
    return laid_out(Painter(io.StringIO(), {}), blocks, about, width=width, height=height)


def test_long_texts_are_folded_to_the_screen_and_shown_whole_on_demand() -> None:
    policy = "\n".join(f"rule {number}" for number in range(100))
    blocks = [Block("user", "Hello?"), Block("answer", "Hello.", main=True), Block("policy", policy)]
    about = check(f"{PREAMBLE}\n\nIs it polite?")
    lines, folded = shown(blocks, about, height=20)
    assert folded and len(lines) <= 20
    assert any(re.search(r"rule \d …$", line) for line in lines) and not any("untrusted" in line for line in lines)
    lines, folded = shown(blocks, about)
    assert not folded and sum("rule" in line for line in lines) >= 100
    text = " ".join(line.strip() for line in lines)
    assert "untrusted data to be evaluated" in text and "Is it polite?" in text


def test_the_answer_and_the_criterion_are_folded_last() -> None:
    long = "\n".join(f"line {number}" for number in range(9))
    lines, _ = shown([Block("answer", long, main=True), Block("policy", long)], check(long), height=10)
    text = "\n".join(lines)
    answer, _, rest = text.partition("policy")
    assert "line 3" in answer and "line 1" not in rest.partition("asked")[0]
    assert "line 8" in rest


def test_a_conversation_is_read_from_top_to_bottom_and_its_last_turn_once() -> None:
    said = [("user", "One?"), ("assistant", "One."), ("user", "Two?"), ("assistant", "Two.")]
    body = {
        "input": "Two?",
        "output": "Two.",
        "messages": [{"id": str(i), "role": role, "content": text} for i, (role, text) in enumerate(said)],
        "toolEvents": [],
        "context": [{"id": "k", "title": "Card", "content": "A text."}],
        "metadata": {"split": "tuning"},
    }
    assert [(block.name, block.text) for block in case_blocks(body)] == [
        ("user", "One?"), ("assistant", "One."), ("user", "Two?"), ("answer", "Two."),
        ("reference", "[k] Card\nA text."), ("tools", "none was called"),
        ("metadata", '{"split": "tuning"} (not sent)'),
    ]  # fmt: skip


def test_several_questions_and_very_many_options_have_their_lines() -> None:
    parts = {"required": {"yes": 0.7, "no": 0.3}, "stated": {"yes": 0.1, "no": 0.9}}
    lines, _ = shown([], check("x", probabilities=parts))
    assert any(line.startswith("   required  yes  0.7") for line in lines)
    options = {f"option {number}": 0.01 for number in range(100)}
    lines, folded = shown([], check("x", probabilities=options), height=20)
    assert folded and len(lines) <= 20
    assert len(shown([], check("x", probabilities=options))[0]) > 100
    assert shown([], check("x", probabilities=None))[0][-1].endswith("undecided [rule none]")


def test_a_text_beyond_all_measure_is_cut_and_says_where_it_is_whole() -> None:
    lines, _ = shown([Block("user", "x" * 60_000)], check("x"))
    assert any("10,000 more characters: jeval show RUN CASE --json" in line for line in lines)


def test_a_store_of_another_run_is_found_by_its_flag(review: Any, store: Path, tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "other.db")) as connection:
        add_run(connection, "run-2", {("fig", "sweet"): "review"}, [rubric("sweet")])
    assert "1 of 1 · 0 labelled · run run-2" in review("q\n", "--store", "other.db").out
