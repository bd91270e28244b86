"""Text to values: what JSON and YAML hold arrives unchanged, or is refused."""

import json
import math
from itertools import pairwise
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.app.parse import BadText, parse_json
from jeval.app.parse_yaml import parse_yaml

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",))),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def refusal(parse: Any, data: bytes) -> BadText:
    with pytest.raises(BadText) as caught:
        parse(data)
    assert caught.value.remedy
    return caught.value


@given(values)
def test_what_json_writes_is_read_back_unchanged(value: Any) -> None:
    assert parse_json(json.dumps(value).encode()) == value
    assert parse_json(json.dumps(value, ensure_ascii=False).encode()) == value


@given(values)
def test_yaml_reads_json_as_json_does(value: Any) -> None:
    # PyYAML refuses some characters that JSON may hold raw, so they are escaped here.
    text = json.dumps(value)
    if "\\ud" in text:
        return  # PyYAML does not join the two halves of an escaped character
    assert json.dumps(parse_yaml(text.encode())) == json.dumps(json.loads(text))


@given(st.binary(max_size=60))
def test_no_bytes_at_all_are_met_with_anything_but_a_value_or_a_refusal(data: bytes) -> None:
    for parse in (parse_json, parse_yaml):
        try:
            parse(data)
        except BadText as bad:
            assert bad.message and bad.remedy


@given(st.text(alphabet="!&*<>?|-:,[]{}#'\"%@` \n\tab01.~nyo", max_size=40))
def test_no_yaml_text_at_all_is_met_with_anything_but_a_value_or_a_refusal(text: str) -> None:
    try:
        parse_yaml(text.encode())
    except BadText as bad:
        assert bad.message and bad.remedy


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_json_numbers_that_no_float_holds_are_refused_with_what_was_written(text: str) -> None:
    assert refusal(parse_json, f'{{"a": {text}}}'.encode()).value == text


def test_a_json_key_written_twice_is_refused_by_name_at_any_depth() -> None:
    assert refusal(parse_json, b'{"a": [{"b": 1, "c": 2, "b": 1}]}').field == "b"
    assert parse_json(b'{"a": 1, "A": 2}') == {"a": 1, "A": 2}


@pytest.mark.parametrize("parse", [parse_json, parse_yaml])
@pytest.mark.parametrize("escape", [b"\\ud800", b"\\uDFFF", b"x\\ud83d y"])
def test_half_a_character_is_refused(parse: Any, escape: bytes) -> None:
    assert "lone surrogate" in refusal(parse, b'{"a": "' + escape + b'"}').message


def test_half_a_character_is_refused_in_yaml_s_long_escape_and_in_a_key() -> None:
    assert "lone surrogate" in refusal(parse_yaml, b'- "\\U0000D800"').message
    assert "lone surrogate" in refusal(parse_json, b'{"\\ud800": 1}').message


def test_a_character_escaped_in_two_halves_is_whole() -> None:
    assert parse_json(b'"\\ud83d\\ude00"') == "\N{GRINNING FACE}"


def test_nul_is_text_when_escaped_and_refused_when_raw() -> None:
    assert parse_json(b'{"a": "x\\u0000y"}') == {"a": "x\x00y"}
    assert "control character" in refusal(parse_json, b'{"a": "x\x00y"}').message
    refusal(parse_yaml, b'a: "x\x00y"')


def test_a_byte_order_mark_is_no_part_of_the_value() -> None:
    assert parse_json(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}
    assert parse_yaml(b"\xef\xbb\xbfa: 1") == {"a": 1}


def test_other_encodings_and_packed_files_are_called_by_their_name() -> None:
    for parse in (parse_json, parse_yaml):
        assert "UTF-16" in refusal(parse, '{"a": 1}'.encode("utf-16")).message
        assert "compressed" in refusal(parse, b"\x1f\x8b\x08\x00").message
        latin = refusal(parse, '{"a": "é"}'.encode("latin-1"))
        assert latin.message == "byte 8 is not UTF-8" and "UTF-8" in latin.remedy


def test_line_separators_of_unicode_are_ordinary_characters_of_a_text() -> None:
    assert parse_json('"a\u2028b\u2029c\x85d"'.encode()) == "a\u2028b\u2029c\x85d"


def test_a_number_of_five_thousand_digits_is_refused_rather_than_read_for_ever() -> None:
    for parse in (parse_json, parse_yaml):
        assert "digits" in refusal(parse, b'{"a": ' + b"9" * 5000 + b"}").message


@pytest.mark.parametrize("parse", [parse_json, parse_yaml])
def test_nesting_that_exhausts_the_stack_is_refused(parse: Any) -> None:
    assert "deep" in refusal(parse, b"[" * 20_000 + b"]" * 20_000).message


def test_yaml_that_names_what_it_is_a_part_of_is_refused() -> None:
    bad = refusal(parse_yaml, b"a: 1\nb: &b\n- *b\n")
    assert (bad.value, bad.line) == ("*b", 3)
    assert parse_yaml(b"a: &a [1]\nb: *a") == {"a": [1], "b": [1]}


def test_a_question_mark_may_end_a_text_inside_braces() -> None:
    assert parse_yaml(b"{score: Is it so?, levels: [no?, so so]}") == {"score": "Is it so?", "levels": ["no?", "so so"]}


def test_broken_json_is_placed_by_column_and_shown() -> None:
    bad = refusal(parse_json, b'{"a": 1,, "b": 2}')
    assert "column 9" in bad.message and ',, "b"' in (bad.value or "")


def test_a_list_on_the_only_line_is_told_to_become_lines() -> None:
    assert "one object a line" in refusal(parse_json, b'[{"a": 1},').remedy


@pytest.mark.parametrize("word", ["yes", "no", "on", "off", "y", "N", "Off", "YES"])
def test_an_unquoted_word_that_is_a_truth_value_to_some_is_refused_as_value_and_as_key(word: str) -> None:
    for text, line in ((f"a: 1\nb: {word}", 2), (f"{word}: 1", 1)):
        bad = refusal(parse_yaml, text.encode())
        assert (bad.value, bad.line) == (word, line)
        assert f'"{word}"' in bad.remedy
    assert parse_yaml(f'"{word}": "{word}"'.encode()) == {word: word}


def test_true_and_false_are_truth_values_however_they_are_cased() -> None:
    assert parse_yaml(b"[true, True, FALSE]") == [True, True, False]


def test_a_number_remembers_how_it_was_written() -> None:
    value = parse_yaml(b"version: 1.10")["version"]
    assert value == 1.1 and value.written == "1.10"


@pytest.mark.parametrize("text", ["007", "-007", "00.5"])
def test_a_number_with_a_leading_zero_is_refused_and_told_to_be_quoted(text: str) -> None:
    assert f'"{text}"' in refusal(parse_yaml, f"id: {text}".encode()).remedy


@pytest.mark.parametrize("text", ["2024-01-01", "0x1F", "1_000", "12:30:00", ".nan", ".inf", "0o17", "1.2.3"])
def test_whatever_else_other_readers_convert_stays_the_text_it_is(text: str) -> None:
    assert parse_yaml(f"a: {text}".encode()) == {"a": text}


@pytest.mark.parametrize("text", ["${HOME}", "???", "${oc.env:HOME}", "$${x}"])
def test_text_that_looks_like_an_interpolation_is_text(text: str) -> None:
    assert parse_yaml(f"- a: {text}".encode()) == [{"a": text}]


@pytest.mark.parametrize(
    "text",
    ["a: !!int x", "a: !!float .nan", "a: !!bool yes", "a: !!timestamp 2020-99-99", "a: !!binary aGk=",
     "a: !!set {b, c}", "a: !!python/object/apply:os.getcwd []", "a: !mine x"],
)  # fmt: skip
def test_a_tag_that_is_not_one_of_json_s_or_does_not_fit_is_refused_with_its_line(text: str) -> None:
    bad = refusal(parse_yaml, text.encode())
    assert bad.line == 1 and "tag" in bad.message


def test_a_yaml_key_written_twice_is_refused_with_its_line() -> None:
    bad = refusal(parse_yaml, b"a: 1\nb: 2\na: 3")
    assert (bad.field, bad.line) == ("a", 3)


def test_a_key_may_shadow_one_that_is_merged_in_but_not_one_beside_it() -> None:
    base = b"base: &base {b: 1, c: 1}\n"
    assert parse_yaml(base + b"mine:\n  <<: *base\n  b: 2")["mine"] == {"b": 2, "c": 1}
    assert refusal(parse_yaml, base + b"mine:\n  <<: *base\n  b: 2\n  b: 3").line == 5


def test_keys_that_are_no_texts_are_told_to_be_quoted() -> None:
    assert '"1"' in refusal(parse_yaml, b"1: a").remedy
    refusal(parse_yaml, b"? [a, b]\n: c")


def test_broken_yaml_is_placed_by_line() -> None:
    assert refusal(parse_yaml, b"a: 1\nb: [1, 2\nc: 3").line == 3
    assert refusal(parse_yaml, b"---\na: 1\n---\nb: 2").line == 3
    assert refusal(parse_yaml, b"a: &a [*a]").line == 1


def test_an_empty_yaml_file_is_nothing_and_an_empty_json_file_is_refused() -> None:
    assert parse_yaml(b"") is None
    refusal(parse_json, b"")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_survives_yaml(number: float) -> None:
    found = parse_yaml(f"a: {number!r}".encode())["a"]
    assert math.copysign(1, found) == math.copysign(1, number) and found == number


def test_json_nested_more_than_a_hundred_deep_is_refused_before_it_can_break_anything() -> None:
    with pytest.raises(BadText, match="nested more than 100 deep"):
        parse_json(b'{"a":' + b"[" * 300 + b"]" * 300 + b"}")


def test_json_of_many_small_objects_is_not_called_deep() -> None:
    assert len(parse_json(b"[" + b"{}," * 500 + b"{}]")) == 501


LAUGHS = b"a: &a [x, x, x, x, x, x, x, x, x]\n" + b"".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n".encode() for before, name in pairwise("abcdefghi")
)
MERGED = b"- &a {k: x}\n" + b"".join(
    f"- &{name} {{<<: [{', '.join([f'*{before}'] * 9)}]}}\n".encode() for before, name in pairwise("abcdefghi")
)
LONG = b"- &a " + b"x" * 100_000 + b"\n" + b"- *a\n" * 1_000


@pytest.mark.parametrize("data", [LAUGHS, MERGED, LONG])
def test_aliases_that_would_not_fit_into_memory_are_refused_at_once(data: bytes) -> None:
    began = process_time()
    bad = refusal(parse_yaml, data)
    assert bad.message == "repeats too much" and bad.line is not None
    assert process_time() - began < 2


def test_aliases_that_repeat_a_little_are_read() -> None:
    assert parse_yaml(b"- &a [x, z]\n- *a\n- [*a, *a]\n") == [["x", "z"], ["x", "z"], [["x", "z"]] * 2]


@pytest.mark.parametrize("text", [b"!!str {a: b}", b"x: !!int [1]", b"!!bool {a: 1}", b"- !!float [a]"])
def test_a_tag_of_a_text_on_a_list_or_an_object_is_refused(text: bytes) -> None:
    assert "tag" in refusal(parse_yaml, text).message
