"""Files of labels: read whole, with all that is wrong told at once."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.app.label_files import label_line, read_labels
from jeval.confusion import LABELS
from jeval.errors import ConfigError, DataError
from jeval.label import SOURCES, CheckLabel

ids = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,12}", fullmatch=True)
authors = st.none() | st.text(max_size=9)
labels = st.tuples(ids, ids, st.sampled_from(LABELS), st.sampled_from(SOURCES), authors, authors).map(
    lambda row: CheckLabel.model_validate(
        dict(zip(("caseId", "rubricId", "expected", "source", "reviewer", "note"), row, strict=True))
    )
)


def line(**more: Any) -> dict[str, Any]:
    return {"caseId": "c1", "rubricId": "r", "expected": "pass", **more}


def written(folder: Path, *lines: Any) -> Path:
    path = folder / "labels.jsonl"
    text = "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(DataError) as raised:
        read_labels(path)
    return [str(problem).replace(str(path), "F") for problem in raised.value.problems]


@given(st.lists(labels, max_size=12, unique_by=lambda one: (one.check, one.source, one.reviewer)))
def test_what_is_written_is_read_again(tmp_path_factory: Any, given_labels: list[CheckLabel]) -> None:
    path = tmp_path_factory.mktemp("labels") / "labels.jsonl"
    path.write_text("".join(label_line(one) + "\n" for one in given_labels), encoding="utf-8")
    assert read_labels(path) == given_labels


def test_a_line_has_all_its_keys_and_what_is_unknown_is_null() -> None:
    label = CheckLabel(case_id="c1", rubric_id="r", expected="fail")
    assert label_line(label) == (
        '{"caseId":"c1","rubricId":"r","expected":"fail","source":"human","reviewer":null,"note":null}'
    )


def test_names_in_snake_case_blank_lines_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, "\ufeff" + json.dumps({"case_id": "c1", "rubric_id": "r", "expected": "fail"}), "", line())
    # The second says otherwise than the first, both by nobody in particular.
    (found,) = problems(path)
    assert found.startswith("F:3: expected is not what nobody in particular said of this check on line 1, fail")
    assert found.endswith("(it is 'pass'); keep one of the two, or name each reviewer")


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        line(expected="error"),
        line(caseId="a b"),
        line(rubric="r"),
        "[1]",
        '{"caseId": ',
        line(),
        {"caseId": "c2"},
    )
    found = problems(path)
    assert [one.split(" ")[0] for one in found] == ["F:1:", "F:2:", "F:3:", "F:4:", "F:5:", "F:7:", "F:7:"]
    assert "use 'pass', 'fail', 'review' or 'skipped'" in found[0] and "it is 'error'" in found[0]
    assert "caseId is no valid id" in found[1]
    assert "rubric is not a known key; did you mean rubricId?" in found[2]
    assert "is not an object" in found[3] and '"expected": "pass"' in found[3]
    assert "is not JSON" in found[4]
    assert "rubricId is missing" in found[5] and "expected is missing" in found[6]


def test_of_many_problems_the_first_are_told_and_the_rest_counted(tmp_path: Path) -> None:
    path = written(tmp_path, *[line(expected=f"x{n}", caseId=f"c{n}") for n in range(70)])
    with pytest.raises(DataError) as raised:
        read_labels(path)
    assert (len(raised.value.problems), raised.value.more) == (50, 20)


def test_a_case_is_told_from_a_label(tmp_path: Path) -> None:
    (found,) = problems(written(tmp_path, {"id": "c1", "input": "q", "output": "a", "expected": {}}))
    assert "is a case, not a label" in found and "jeval labels CASES.jsonl -o labels.jsonl" in found


def test_one_author_has_one_opinion_and_two_have_two(tmp_path: Path) -> None:
    twice = written(tmp_path, line(reviewer="ann"), line(reviewer="ann", note="again"))
    assert len(read_labels(twice)) == 1
    both = written(tmp_path, line(reviewer="ann"), line(reviewer="bob", expected="fail"), line(source="synthetic"))
    assert len(read_labels(both)) == 3
    (found,) = problems(written(tmp_path, line(reviewer="ann"), line(reviewer="ann", expected="fail")))
    assert "is not what ann said of this check on line 1, pass" in found


def test_a_file_of_another_sort_is_named(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_bytes("\ufeff{}\n{}\n".encode("utf-16"))
    assert problems(path) == ["F:1: the file is UTF-16; save it as UTF-8"]


def test_a_file_that_cannot_be_read_is_told_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"--labels .*absent\.jsonl cannot be read: .*; check the path"):
        read_labels(tmp_path / "absent.jsonl")


def test_an_empty_file_holds_no_label(tmp_path: Path) -> None:
    assert read_labels(written(tmp_path)) == []
