"""Canonical JSON and hashes: what is equal gets one fingerprint, what differs gets another."""

import hashlib
import json
import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.fingerprint import canonical, compact, compact_finite, key63, sha256, sha256_text

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=12,
)


def reordered(value: Any, seed: int) -> Any:
    """The same JSON value with the keys of every object in another order."""
    if isinstance(value, dict):
        keys = list(value)
        random.Random(seed).shuffle(keys)
        return {key: reordered(value[key], seed) for key in keys}
    if isinstance(value, list):
        return [reordered(item, seed) for item in value]
    return value


@given(JSON, st.integers(0, 99))
def test_a_fingerprint_ignores_key_order(value: Any, seed: int) -> None:
    assert canonical(reordered(value, seed)) == canonical(value)
    assert sha256(reordered(value, seed)) == sha256(value)


def test_a_fingerprint_heeds_the_order_of_a_list() -> None:
    assert sha256([1, 2]) != sha256([2, 1])
    assert sha256({"a": [[1], [2]]}) != sha256({"a": [[2], [1]]})


@given(JSON)
def test_canonical_and_compact_text_read_back_as_the_value(value: Any) -> None:
    assert json.loads(canonical(value)) == value
    assert json.loads(compact(value)) == value


@given(JSON, JSON)
def test_values_that_differ_have_fingerprints_that_differ(one: Any, other: Any) -> None:
    if canonical(one) != canonical(other):
        assert sha256(one) != sha256(other)


def test_true_one_and_one_point_zero_are_three_fingerprints() -> None:
    assert len({sha256(True), sha256(1), sha256(1.0), sha256("1")}) == 4


def test_compact_text_keeps_keys_in_the_order_written() -> None:
    assert compact({"b": 1, "a": [True, None]}) == '{"b":1,"a":[true,null]}'
    assert canonical({"b": 1, "a": [True, None]}) == '{"a":[true,null],"b":1}'


def test_text_beyond_ascii_is_written_as_it_is() -> None:
    assert canonical("Zürich 😀") == compact("Zürich 😀") == '"Zürich 😀"'


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_json_number_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        canonical({"p": number})
    with pytest.raises(ValueError, match="JSON"):
        compact([number])


def test_the_hash_is_that_of_the_canonical_text_in_utf8() -> None:
    value = {"b": "ü", "a": 1}
    assert sha256(value) == hashlib.sha256('{"a":1,"b":"ü"}'.encode()).hexdigest()
    assert sha256_text("ü") == hashlib.sha256("ü".encode()).hexdigest()


@given(_TEXT)
def test_a_key_fits_a_signed_column_of_64_bits(text: str) -> None:
    assert 0 <= key63(text) < 2**63
    assert key63(text) == key63(text)


def test_keys_of_many_texts_differ() -> None:
    assert len({key63(str(number)) for number in range(20_000)}) == 20_000


@pytest.mark.parametrize("value", [2**70, -(2**64), "half \ud800"], ids=["above", "below", "half-a-character"])
def test_what_the_fast_encoder_refuses_is_written_all_the_same(value: Any) -> None:
    assert json.loads(canonical({"b": value, "a": 1})) == {"a": 1, "b": value}
    assert canonical({"b": value, "a": 1}) == canonical({"a": 1, "b": value})
    assert compact({"b": value, "a": 1}).startswith('{"b":')


def test_deep_nesting_has_a_fingerprint_too() -> None:
    value: Any = 1
    for _ in range(400):
        value = [value]
    assert canonical(value) == "[" * 400 + "1" + "]" * 400
    assert len(sha256(value)) == 64


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_what_is_no_json_number_is_refused_beside_a_null_and_a_big_integer(number: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        canonical([None, {"p": [number]}])
    with pytest.raises(ValueError, match="JSON"):
        canonical([2**70, number])


@given(st.dictionaries(_TEXT, st.floats(0, 1) | st.none() | _TEXT, max_size=5))
def test_text_of_what_is_known_to_be_finite_is_the_same(value: dict[str, Any]) -> None:
    assert compact_finite(value) == compact(value)
