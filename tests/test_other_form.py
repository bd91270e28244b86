"""A file meant as a dataset and written otherwise: told once, with what makes a dataset of it."""

import json
from pathlib import Path

import pytest

from jeval.app.other_form import other_form
from tests.running import case

LIST = [case(1), case(2), case(3)]
LINES = "\n".join(map(json.dumps, LIST))


@pytest.mark.parametrize(
    ("name", "content", "message", "remedy"),
    [
        ("c.json", json.dumps(LIST), "is one JSON list", "jq -c '.[]'"),
        ("c.json", json.dumps(LIST, indent=2), "is one JSON list", "jq -c '.[]'"),
        ("c.jsonl", "[\n" + LINES.replace("\n", ",\n") + "\n]", "is one JSON list", "without brackets and commas"),
        ("c.jsonl", "[" + LINES.replace("\n", ",\n") + "]", "is one JSON list", "without brackets and commas"),
        ("c.json", json.dumps(case(1), indent=2), "is JSON over several lines", "jq -c ."),
        ("c.jsonl", "\n".join(json.dumps(c, indent=2) for c in LIST), "is JSON over several lines", "jq -c ."),
        ("c.json", json.dumps({"cases": LIST}, indent=2), "is JSON over several lines", "one case a line"),
        ("c.csv", "id,input,output\na,b,c\n", "looks like a table", "c.csv -o cases.jsonl` makes cases"),
        ("c.csv", "Frage?,Antwort!\na,b\n", "looks like a table", "c.csv -o"),
        ("c.tsv", "id\tinput\na\tb\n", "looks like a table", "c.tsv -o"),
        ("c.txt", '"id";"input"\n"a";"b"\n', "looks like a table", "name it c.csv, and `jeval capture"),
        ("c.yaml", "- id: a\n  input: b\n", "is not JSONL", "one case a line"),
        ("c.txt", "Hello.\nGoodbye.\n", "is not JSONL", "one case a line"),
        ("c.jsonl", "\ufeff\n\n[\n{}\n]", "is one JSON list", "one case a line"),
    ],
)
def test_a_file_in_another_form_is_told_so_once(
    tmp_path: Path, name: str, content: str, message: str, remedy: str
) -> None:
    path = tmp_path / name
    path.write_text(content)
    found = other_form(path)
    assert found is not None and found.place == str(path)
    assert message in found.message and remedy in found.remedy
    assert str(found).isprintable()


@pytest.mark.parametrize(
    "content",
    [LINES, "", "\n", LINES[5:], '{"id": "a",\n' + LINES, "broken\n" + LINES, "[1]\n" + LINES, "null", "{", "[1"],
)
def test_faults_of_single_lines_are_left_to_be_told_line_by_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "c.jsonl").write_text(content)
    assert other_form(tmp_path / "c.jsonl") is None


def test_a_name_with_a_space_can_be_typed_as_it_is_told(tmp_path: Path) -> None:
    path = tmp_path / "my cases.csv"
    path.write_text("id,input,output\n")
    found = other_form(path)
    assert found is not None and f"jeval capture '{path}' -o cases.jsonl" in found.remedy


MESSAGES = [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]
RECORDS = {
    "chat": {"id": "c", "messages": MESSAGES, "metadata": {"reward": 1}},
    "langfuse": {"id": "t", "name": "n", "input": "Q", "output": "A", "sessionId": "s", "userId": "u"},
    "langwatch": {"trace_id": "t", "input": {"value": "Q"}, "output": {"value": "A"}},
    "otel": {"resourceSpans": []},
    "deepeval": {"input": "Q", "actualOutput": "A", "retrievalContext": ["x"]},
    "generic": {"question": "Q", "answer": "A"},
}


@pytest.mark.parametrize("format", RECORDS)
def test_records_that_a_capture_takes_are_told_once_with_its_command(tmp_path: Path, format: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join([json.dumps(RECORDS[format])] * 3))
    found = other_form(path)
    assert found is not None and f"records of the format {format}, not cases" in found.message
    assert f"`jeval capture {path} -o captured.jsonl`" in found.remedy  # never over the file that is read


@pytest.mark.parametrize(
    "first",
    [
        {"id": "a", "input": "Q", "output": "A", "messages": MESSAGES},
        {"id": "a", "input": "Q", "output": "A", "metdata": {}},
        {"id": "a", "imput": "Q", "output": "A"},
        {"id": 7, "input": "Q", "output": "A", "expected": {}},
    ],
)
def test_a_case_with_a_fault_is_taken_for_no_other_format(tmp_path: Path, first: object) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(json.dumps(first))
    assert other_form(path) is None


def test_one_foreign_record_before_cases_is_a_fault_of_its_line(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(json.dumps(RECORDS["chat"]) + "\n" + LINES)
    assert other_form(path) is None
