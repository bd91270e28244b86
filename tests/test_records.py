"""The records of a file, whatever way they stand in it, each with its place."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.app.records import records_of
from jeval.errors import ConfigError, Problem


def read(folder: Path, name: str, data: str | bytes) -> list[tuple[str, Any]]:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return [(place.removeprefix(f"{folder}/"), value) for place, value in records_of(path)]


ONE, TWO = {"a": [1, {"b": "}\n{"}]}, {"a": None}


def test_objects_printed_one_after_the_other_are_records_placed_by_their_first_line(tmp_path: Path) -> None:
    printed = f"\n{json.dumps(ONE, indent=2)}\n\n\n{json.dumps(TWO, indent=2)}{json.dumps(ONE)}\n"
    lines = printed.splitlines()
    found = read(tmp_path, "spans.json", printed)
    assert [value for _, value in found] == [ONE, TWO, ONE]
    assert [place for place, _ in found] == ["spans.json:2", "spans.json:12", "spans.json:14"]
    assert lines[1] == lines[11] == "{" and lines[13] == f"}}{json.dumps(ONE)}"


def test_a_byte_order_mark_before_printed_objects_is_none_of_them(tmp_path: Path) -> None:
    printed = "\n".join(json.dumps(one, indent=1) for one in (ONE, TWO))
    assert [value for _, value in read(tmp_path, "x.json", b"\xef\xbb\xbf" + printed.encode())] == [ONE, TWO]


@pytest.mark.parametrize("data", ['{\n"a": 1}\n{"a": 2', '{\n"a": 1}\nwords', '{\n"a": 1', "{\n\xff".encode("latin-1")])
def test_a_file_that_is_not_json_throughout_is_one_fault(data: str | bytes, tmp_path: Path) -> None:
    [(place, problem)] = read(tmp_path, "x.json", data)
    assert isinstance(problem, Problem) and place.startswith("x.json") and problem.remedy


def test_a_value_that_json_does_not_know_is_told_in_the_object_it_stands_in(tmp_path: Path) -> None:
    found = read(tmp_path, "x.json", '{\n"a": 1}\n{"a":\nNaN}\n{"a": 2}')
    assert [value for _, value in found if not isinstance(value, Problem)] == [{"a": 1}, {"a": 2}]
    [place] = [place for place, value in found if isinstance(value, Problem)]
    assert place.startswith("x.json:3")


def test_a_cell_may_hold_a_whole_conversation(tmp_path: Path) -> None:
    cell = "x" * 200_000
    [(_, row)] = read(tmp_path, "x.csv", f"a,b\n{cell},\n")
    assert row == {"a": cell}


def test_a_row_with_too_many_cells_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    found = read(tmp_path, "x.tsv", "a\tb\n1\t2\t3\n4\t5\n")
    assert [place for place, _ in found] == ["x.tsv:2", "x.tsv:3"]
    assert isinstance(found[0][1], Problem) and found[1][1] == {"a": "4", "b": "5"}


def test_a_file_that_is_not_there_is_one_line_with_its_remedy(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none.json cannot be read: .*; check the path and its permissions"):
        list(records_of(tmp_path / "none.json"))


values = st.none() | st.integers() | st.text()


@given(records=st.lists(st.dictionaries(st.text(max_size=4), values, min_size=1), min_size=2))
def test_records_are_the_same_a_line_each_as_a_list_and_printed(
    records: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("records", numbered=True)
    ways = {
        "a.jsonl": "\n".join(map(json.dumps, records)),
        "b.json": json.dumps(records),
        "c.json": "\n".join(json.dumps(one, indent=2) for one in records),
    }
    for name, text in ways.items():
        assert [value for _, value in read(folder, name, text)] == records
