"""Datasets and rubric files: read as a stream, every fault told with its place and remedy, all at once."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.app.files import read_cases, read_metrics, read_rubrics, scan
from jeval.app.selection import Selection
from jeval.errors import ConfigError, DataError, Problem
from tests.running import case, write_cases

ALL = Selection({})


def write(path: Path, *lines: str | bytes, end: bytes = b"\n") -> Path:
    path.write_bytes(end.join(line.encode() if isinstance(line, str) else line for line in lines))
    return path


def problems(path: Path) -> tuple[Problem, ...]:
    with pytest.raises(DataError) as caught:
        scan(path, ALL)
    assert all(problem.remedy and problem.message for problem in caught.value.problems)
    return caught.value.problems


def line(**more: Any) -> str:
    return json.dumps({"id": "a", "input": "i", "output": "o", **more})


def path_of(problem: Problem) -> str:
    return problem.place.rpartition(":")[0]


# Reading


def test_cases_come_in_the_order_of_the_file_and_twice_if_asked_for_twice(tmp_path: Path) -> None:
    found = scan(write_cases(tmp_path / "cases.jsonl", 7), ALL)
    ids = [f"case-{number:04d}" for number in range(7)]
    assert found.cases == 7
    assert [one.id for one in found] == ids
    assert [one.id for one in found] == ids


def test_a_byte_order_mark_and_windows_line_ends_change_nothing(tmp_path: Path) -> None:
    lines = [line(id="a"), line(id="b")]
    plain = scan(write(tmp_path / "plain", *lines), ALL)
    odd = scan(write(tmp_path / "odd", b"\xef\xbb\xbf" + lines[0].encode(), lines[1], b"", end=b"\r\n"), ALL)
    assert (odd.cases, odd.sha256) == (plain.cases, plain.sha256) == (2, plain.sha256)


def test_empty_lines_are_passed_over_and_still_counted_as_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "cases", "", line(), "  \t ", "broken", "")
    assert problems(path)[0].place == f"{path}:4"


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_only_a_line_feed_ends_a_line(tmp_path: Path, separator: str) -> None:
    text = f"one{separator}two"
    body = json.dumps({"id": "a", "input": text, "output": "o"}, ensure_ascii=ord(separator) < 32)
    (found,) = scan(write(tmp_path / "cases", body), ALL)
    assert found.input == text


def test_a_file_without_a_single_case_is_no_error(tmp_path: Path) -> None:
    for content in (b"", b"\n\n", b"\xef\xbb\xbf", b"\r\n"):
        (tmp_path / "cases").write_bytes(content)
        assert scan(tmp_path / "cases", ALL).cases == 0


def test_text_with_nul_and_control_characters_arrives_as_it_is(tmp_path: Path) -> None:
    text = "a\x00b\x1b[31mred\x07"
    (found,) = scan(write(tmp_path / "cases", line(input=text)), ALL)
    assert found.input == text


def test_keys_are_read_in_either_spelling(tmp_path: Path) -> None:
    event = {"id": "t", "name": "n", "status": "success"}
    camel = write(tmp_path / "camel", line(toolEvents=[event], expectedOutcome="x"))
    snake = write(tmp_path / "snake", line(tool_events=[event], expected_outcome="x"))
    assert scan(camel, ALL).sha256 == scan(snake, ALL).sha256


def test_a_file_that_cannot_be_read_is_a_config_error_naming_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.jsonl"):
        scan(tmp_path / "gone.jsonl", ALL)
    with pytest.raises(ConfigError, match="directory"):
        read_rubrics(tmp_path)


# Faults


def test_all_faults_of_a_file_are_told_at_once_in_the_order_of_its_lines(tmp_path: Path) -> None:
    path = write(
        tmp_path / "cases",
        line(imput="x"),
        line(id="ok"),
        '{"id": "b", "output": 3}',
        line(messages=[{"id": "m", "role": "usr", "content": "x"}]),
        "not json",
        line(id="two words"),
    )
    found = problems(path)
    assert [(p.place.rpartition(":")[2], p.field) for p in found] == [
        ("1", "imput"),
        ("3", "input"),
        ("3", "output"),
        ("4", "messages[0].role"),
        ("5", ""),
        ("6", "id"),
    ]
    assert "input" in found[0].remedy
    assert (found[2].value, found[2].remedy) == ("3", 'write it in quotes: "3"')
    assert "'user'" in found[3].remedy


def test_faults_beyond_fifty_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "cases", *[json.dumps({"id": "a", f"x{n}": 1}) for n in range(100)])
    with pytest.raises(DataError) as caught:
        scan(path, ALL)
    assert caught.value.total == 300
    assert len(caught.value.problems) <= 50 < caught.value.more


def test_one_fault_in_many_lines_is_told_once(tmp_path: Path) -> None:
    path = write(tmp_path / "cases", *["{}"] * 100)
    with pytest.raises(DataError) as caught:
        scan(path, ALL)
    told = str(caught.value).split("\n")
    places = ", ".join(f"{path}:{number}" for number in (2, 3, 4))
    assert told[0] == f"{path}:1: id is missing; add it (and 99 more alike: {places}, …)"
    assert (len(told), caught.value.total) == (3, 300)


def test_every_repeated_id_is_told_with_the_line_of_the_first(tmp_path: Path) -> None:
    path = write(tmp_path / "cases", line(id="a"), line(id="b"), line(id="a"), "", line(id="a"), line(id="b"))
    found = problems(path)
    assert [p.place.rpartition(":")[2] for p in found] == ["3", "5", "6"]
    assert [p.message for p in found] == [f"stands on line {n} already" for n in (1, 1, 2)]


def test_repeated_ids_are_told_beside_other_faults_and_outside_the_selection(tmp_path: Path) -> None:
    path = write(tmp_path / "cases", line(id="a"), line(id="a"), "{")
    with pytest.raises(DataError) as caught:
        scan(path, Selection({"split": "holdout"}))
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize(
    ("body", "field", "value", "remedy"),
    [
        ('{"id": 7, "input": "i", "output": "o"}', "id", "7", '"7"'),
        ('{"id": "a", "input": null, "output": "o"}', "input", "null", "text"),
        ('{"id": "a", "input": "i", "output": "o", "policy": true}', "policy", "true", "text"),
        ('{"id": "a", "input": "i", "output": "o", "metadata": []}', "metadata", "[]", "{"),
        ('{"id": "a", "input": "i", "output": "o", "context": {}}', "context", "{}", "["),
        ('{"id": "a", "input": "i", "output": "o", "expected": {"r": "pass"}}', "expected.r", "'pass'", "{"),
        ('{"id": "a", "input": "i", "output": "o", "metadata": {"n": NaN}}', "", "NaN", "null"),
        ('{"id": "a", "input": "i", "output": "o", "metadata": {"n": 1e999}}', "", "1e999", "1.8e308"),
        ('{"id": "a", "input": "\\ud83d", "output": "o"}', "", "\\ud83d", "whole"),
        ('{"id": "a", "id": "b", "input": "i", "output": "o"}', "id", None, "one of the two"),
        ('{"id": 007, "input": "i", "output": "o"}', "", "007", '"007"'),
        ("[1, 2]", "", "[1, 2]", "one case a line"),
        ("null", "", "null", "one case a line"),
    ],
)
def test_a_fault_names_the_field_the_value_and_the_remedy(
    tmp_path: Path, body: str, field: str, value: str | None, remedy: str
) -> None:
    (found,) = problems(write(tmp_path / "cases", body))
    assert (found.field, found.value) == (field, value)
    assert remedy in found.remedy
    assert "\n" not in str(found)


@pytest.mark.parametrize("bad", ["", " ", "-a", ".a", "a b", "a/b", "a\n", "é", "a" * 201, "a\x00", "<b>", "a\u202eb"])
def test_ids_that_are_no_ids_are_refused(tmp_path: Path, bad: str) -> None:
    (found,) = problems(write(tmp_path / "cases", line(id=bad)))
    assert found.field == "id"
    assert str(found).isprintable()


@pytest.mark.parametrize("good", ["a", "0", "007", "a" * 200, "A.b_c:d-e"])
def test_ids_that_are_ids_are_kept_as_texts(tmp_path: Path, good: str) -> None:
    (found,) = scan(write(tmp_path / "cases", line(id=good)), ALL)
    assert found.id == good


def test_the_caps_hold_to_the_character(tmp_path: Path) -> None:
    message = {"role": "user", "content": "x"}
    for field, at_most in (
        ("input", "x" * 200_000),
        ("policy", "x" * 100_000),
        ("messages", [{"id": f"m{i}", **message} for i in range(500)]),
        ("context", [{"id": f"c{i}", "content": "x"} for i in range(200)]),
        ("toolEvents", [{"id": f"t{i}", "name": "n", "status": "success"} for i in range(500)]),
    ):
        assert scan(write(tmp_path / "cases", line(**{field: at_most})), ALL).cases == 1
        more: Any = at_most + "x" if isinstance(at_most, str) else [*at_most, {**at_most[0], "id": "more"}]
        (found,) = problems(write(tmp_path / "cases", line(**{field: more})))
        assert f"{len(at_most):,}" in found.remedy and found.value is None


def test_a_value_is_shown_short_and_without_what_a_terminal_obeys(tmp_path: Path) -> None:
    (found,) = problems(write(tmp_path / "cases", line(id="\x1b[31m" + "x" * 500)))
    assert "\x1b" not in str(found) and len(found.value or "") <= 60


def test_a_comma_at_the_end_of_a_line_is_told_to_be_removed(tmp_path: Path) -> None:
    path = write(tmp_path / "cases", line(id="a") + ",", line(id="b") + " ,  ")
    assert [str(problem) for problem in problems(path)] == [
        f"{path}:{n}: ends with a comma; remove the comma at the end of the line" for n in (1, 2)
    ]


def test_a_line_that_breaks_off_is_placed_by_its_own_number_alone(tmp_path: Path) -> None:
    (found,) = problems(write(tmp_path / "cases", line(), '{"id": "b",', line(id="c")))
    assert found.place == f"{path_of(found)}:2" and "at its end" in found.message and "line" not in found.message


@pytest.mark.parametrize("content", ["{}\n{}\n".encode("utf-16"), b"\x1f\x8b\x08\x00abc\ndef"])
def test_a_file_that_is_no_text_is_told_once(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "cases").write_bytes(content)
    assert len(problems(tmp_path / "cases")) == 1


@given(st.binary(max_size=80))
def test_no_bytes_at_all_are_met_with_anything_but_cases_or_problems(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "cases").write_bytes(data)
    try:
        scan(tmp_path / "cases", ALL)
    except DataError as error:
        assert error.problems and all("\n" not in str(problem) for problem in error.problems)


@given(
    st.dictionaries(
        st.sampled_from(
            ["id", "input", "output", "messages", "context", "policy", "toolEvents", "metadata", "expected"]
        ),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["id", "role", "content", "status", "x"]), inner, max_size=3)
            ),
            max_leaves=6,
        ),
    )
)
def test_no_object_at_all_is_met_with_anything_but_a_case_or_problems(tmp_path: Path, body: Any) -> None:
    path = write(tmp_path / "cases", json.dumps(body))
    try:
        assert scan(path, ALL).cases == 1
    except DataError as error:
        assert all(problem.place == f"{path}:1" for problem in error.problems)


def test_a_file_in_another_form_is_one_problem(tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([case(1), case(2)], indent=1))
    (found,) = problems(path)
    assert found.place == str(path) and "write one case a line" in found.remedy


# Selection


def test_where_compares_metadata_as_the_command_line_can_write_it(tmp_path: Path) -> None:
    metadata = [{"n": 3}, {"n": "3"}, {"n": 4}, {}, {"n": True}, {"n": "TRUE"}, {"n": None}, None]
    path = write(tmp_path / "c", *[line(id=f"c{i}", metadata=m) for i, m in enumerate(metadata)])

    def ids(**where: Any) -> list[str]:
        return [one.id for one in scan(path, Selection(where))]

    assert ids(n=3) == ["c0", "c1"]
    assert ids(n="3") == ["c0", "c1"]
    assert ids(n="true") == ids(n=True) == ["c4", "c5"]
    assert ids(n=None) == ["c6"]
    assert ids(n=3, other=1) == []


def test_limit_takes_the_first_of_what_is_wanted(tmp_path: Path) -> None:
    path = write_cases(tmp_path / "c", [case(i, metadata={"even": i % 2 == 0}) for i in range(10)])
    found = scan(path, Selection({"even": True}, limit=3))
    assert [one.id for one in found] == ["case-0000", "case-0002", "case-0004"]
    assert found.cases == 3
    assert scan(path, Selection({}, limit=0)).cases == 0
    assert scan(path, Selection({}, limit=99)).cases == 10


def test_a_sample_does_not_depend_on_the_order_of_the_file(tmp_path: Path) -> None:
    cases = [case(i) for i in range(40)]
    forth = scan(write_cases(tmp_path / "forth", cases), Selection({}, sample=8, seed=3))
    back = scan(write_cases(tmp_path / "back", cases[::-1]), Selection({}, sample=8, seed=3))
    assert {one.id for one in forth} == {one.id for one in back}
    assert forth.cases == len(list(forth)) == 8


def test_another_seed_draws_another_sample_and_the_same_seed_the_same(tmp_path: Path) -> None:
    path = write_cases(tmp_path / "c", 40)
    draws = [tuple(one.id for one in scan(path, Selection({}, sample=8, seed=seed))) for seed in (1, 2, 1)]
    assert draws[0] == draws[2] != draws[1]


def test_a_smaller_sample_of_one_seed_is_part_of_a_larger_one(tmp_path: Path) -> None:
    path = write_cases(tmp_path / "c", 40)
    few, many = ({one.id for one in scan(path, Selection({}, sample=n))} for n in (5, 15))
    assert few < many


@pytest.mark.parametrize(("sample", "limit", "expected"), [(0, None, 0), (99, None, 6), (4, 2, 2), (2, 4, 2)])
def test_sample_and_limit_at_their_ends(tmp_path: Path, sample: int, limit: int | None, expected: int) -> None:
    found = scan(write_cases(tmp_path / "c", 6), Selection({}, sample=sample, limit=limit))
    assert found.cases == len(list(found)) == expected


@given(
    st.lists(st.sampled_from("abc"), max_size=12),
    st.sampled_from([None, "a"]),
    st.none() | st.integers(0, 13),
    st.none() | st.integers(0, 13),
    st.integers(0, 3),
)
def test_a_dataset_says_how_many_cases_it_will_give(
    tmp_path: Path, kinds: list[str], where: str | None, sample: int | None, limit: int | None, seed: int
) -> None:
    path = write_cases(tmp_path / "c", [case(i, metadata={"kind": kind}) for i, kind in enumerate(kinds)])
    selection = Selection({} if where is None else {"kind": where}, sample, seed, limit)
    found = scan(path, selection)
    wanted = [kind for kind in kinds if where in (None, kind)]
    expected = min(len(wanted), *(n for n in (sample, limit) if n is not None), len(kinds))
    assert found.cases == len(list(found)) == expected


# Identity


def test_labels_do_not_change_a_dataset_and_everything_else_does(tmp_path: Path) -> None:
    def sha(*cases: dict[str, Any]) -> str:
        return scan(write_cases(tmp_path / "c", cases), ALL).sha256

    plain = sha(case(1), case(2))
    assert sha(case(1, expected={"r": {"status": "pass"}}), case(2)) == plain
    changed = [
        sha(case(2), case(1)),
        sha(case(1)),
        sha(case(1), case(3)),
        sha(case(1, metadata={}), case(2)),
        sha(case(1, metadata={"a": 1}), case(2)),
        sha(case(1, policy="p"), case(2)),
        sha(case(1, toolEvents=[]), case(2)),
        sha(case(1, scenario="s"), case(2)),
    ]
    assert len({plain, *changed}) == len(changed) + 1


def test_only_the_selected_cases_make_a_dataset_s_identity(tmp_path: Path) -> None:
    long, short = write_cases(tmp_path / "long", 9), write_cases(tmp_path / "short", 4)
    assert scan(long, Selection({}, limit=4)).sha256 == scan(short, ALL).sha256
    assert scan(long, Selection({}, sample=99)).sha256 == scan(long, ALL).sha256


# Rubrics and metrics


RUBRIC = {"id": "r", "version": "1", "kind": "claim-support"}


def refused(path: Path) -> tuple[Problem, ...]:
    with pytest.raises(DataError) as caught:
        read_rubrics(path)
    return caught.value.problems


def test_rubrics_are_the_same_from_json_and_yaml_and_under_a_key(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps([RUBRIC]))
    (tmp_path / "r.yaml").write_text("- id: r\n  version: '1'\n  kind: claim-support\n")
    (tmp_path / "k.yml").write_text("rubrics:\n- {id: r, version: '1', kind: claim-support}\n")
    found = [read_rubrics(tmp_path / name)[0] for name in ("r.json", "r.yaml", "k.yml")]
    assert Counter(rubric.sha256 for rubric in found).most_common(1)[0][1] == 3


def test_an_empty_list_of_rubrics_is_fine(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("[]")
    assert read_rubrics(tmp_path / "r.yaml") == []


@pytest.mark.parametrize("text", ["", "null", "a: 1", "just text", "rubrics: 3", "{id: r, version: '1', kind: custom}"])
def test_a_file_that_holds_no_list_is_told_how_to_begin_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.yaml").write_text(text)
    (found,) = refused(tmp_path / "r.yaml")
    assert "list of rubrics" in found.message and "- id" in found.remedy


def test_an_unquoted_version_is_refused_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("- id: r\n  version: 1.10\n  kind: claim-support\n")
    (found,) = refused(tmp_path / "r.yaml")
    assert (found.field, found.value, found.remedy) == ("version", "1.10", 'write it in quotes: "1.10"')


def test_an_unquoted_id_of_007_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("- id: 007\n  version: '1'\n  kind: claim-support\n")
    (found,) = refused(tmp_path / "r.yaml")
    assert found.place == f"{tmp_path / 'r.yaml'}:1" and '"007"' in found.remedy


def test_all_faults_of_all_rubrics_are_told_at_once_and_by_name(tmp_path: Path) -> None:
    rubrics = [
        {**RUBRIC, "severty": "major"},
        {**RUBRIC, "id": "s", "kind": "claim"},
        {**RUBRIC, "id": "t", "version": 2, "thresholds": {"pass": 0.2, "fail": 0.2}},
        {**RUBRIC, "id": "s"},
        3,
    ]
    (tmp_path / "r.json").write_text(json.dumps(rubrics))
    found = refused(tmp_path / "r.json")
    texts = [str(problem) for problem in found]
    assert [text.partition(": ")[2].partition(":")[0] for text in texts] == [
        "rubric 1 (r)", "rubric 2 (s)", "rubric 3 (t)", "rubric 3 (t)", "rubric 4 (s)", "rubric 5",
    ]  # fmt: skip
    assert "severity" in texts[0] and "claim-support" in texts[1] and "rubric 2's already" in texts[4]
    assert any("exceed 1" in text for text in texts)


def test_rubric_text_that_looks_like_an_interpolation_is_text(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(
        "- {id: r, version: '1', kind: custom, criterion: 'Costs ${HOME} or ???',"
        " outcomes: {acceptable: '${oc.env:PATH}', unacceptable: no good}}"
    )
    (rubric,) = read_rubrics(tmp_path / "r.yaml")
    assert (rubric.criterion, rubric.outcomes.acceptable) == ("Costs ${HOME} or ???", "${oc.env:PATH}")


def test_broken_rubric_files_are_placed_by_line(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("- id: r\n  version: '1'\n kind: claim-support\n")
    (found,) = refused(tmp_path / "r.yaml")
    assert found.place.endswith("r.yaml:3") or found.place.endswith("r.yaml:2")
    (tmp_path / "r.json").write_text('[\n{"id": "r",\n}]')
    (found,) = refused(tmp_path / "r.json")
    assert found.place.endswith("r.json:3") and "line" not in found.message


def test_metrics_are_read_and_refused_like_rubrics(tmp_path: Path) -> None:
    metric = "- {id: m, version: '1', fields: [input, actual_output], questions: [{noul: It is so.}]}\n"
    (tmp_path / "m.yaml").write_text(metric)
    assert read_metrics(tmp_path / "m.yaml")[0].id == "m"
    (tmp_path / "m.yaml").write_text(metric.replace("'1'", "1.10").replace("noul", "nuol"))
    with pytest.raises(DataError) as caught:
        read_metrics(tmp_path / "m.yaml")
    assert {problem.field for problem in caught.value.problems} >= {"version"}


def test_cases_can_be_read_without_a_check_first_and_stop_at_the_first_fault(tmp_path: Path) -> None:
    path = write(tmp_path / "c", line(id="a"), "{}", line(id="b"))
    cases = read_cases(path)
    assert next(cases).id == "a"
    with pytest.raises(DataError):
        next(cases)


def test_a_dataset_knows_the_labels_and_the_metadata_of_what_is_selected(tmp_path: Path) -> None:
    label = {"status": "pass"}
    path = write(
        tmp_path / "cases",
        line(id="a", metadata={"split": "x", "topic": 1}, expected={"r": label, "s": label}),
        line(id="b", metadata={"split": "x"}, expected={"r": label}),
        line(id="c", metadata={"split": "y", "other": 1}, expected={"t": label}),
    )
    for selection in (Selection({"split": "x"}), Selection({"split": "x"}, sample=1)):
        found = scan(path, selection)
        assert (dict(found.labels), found.seen.keys) == ({"r": 2, "s": 1}, ["split", "topic"])


@pytest.mark.parametrize("kept", [0, 1, 300, 700, 10**9])
@pytest.mark.parametrize("choice", [{}, {"limit": 3}, {"sample": 4}, {"where": {"half": "a"}}])
def test_each_case_comes_once_and_in_order_however_much_of_the_file_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int, choice: dict[str, Any]
) -> None:
    rows = [case(number, metadata={"half": "ab"[number % 2]}) for number in range(9)]
    path = write_cases(tmp_path / "c.jsonl", rows)
    selection = Selection(**{"where": {}, **choice})
    monkeypatch.setattr("jeval.app.files.KEPT", 10**9)
    expected = [one.id for one in scan(path, selection)]
    monkeypatch.setattr("jeval.app.files.KEPT", kept)
    dataset = scan(path, selection)
    assert [one.id for one in dataset] == [one.id for one in dataset] == expected
    assert dataset.cases == len(expected)
    assert expected == sorted(expected)


def test_an_unquoted_word_hides_nothing_else_that_is_wrong_in_its_file(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(
        "- {id: r, version: '1', kind: claim-support, severity: high, description: no}\n"
        "- {id: s, version: '1', kind: claim-support, severity: 007, required: yes}\n"
        "- {id: t, version: 1.10, kind: claim-support, no: 3}\n"
    )
    texts = [str(problem).removeprefix(f"{tmp_path / 'r.yaml'}:") for problem in refused(tmp_path / "r.yaml")]
    assert [text.partition(" is ")[0].partition(" must")[0] for text in texts] == [
        "1: the unquoted word no",
        "2: a number with a leading zero (it",
        "2: the unquoted word yes",
        "3: the unquoted word no",
        " rubric 1 (r): severity",
        " rubric 3 (t): version",
        " rubric 3 (t): no",
    ]


def test_a_yaml_key_written_twice_is_told_beside_the_rest(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("- id: r\n  version: 1\n  id: s\n  kind: claim-support\n")
    found = refused(tmp_path / "r.yaml")
    assert [(p.place.rpartition(":")[2], p.field) for p in found] == [("3", "id"), (" rubric 1 (r)", "version")]
