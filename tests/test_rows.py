"""Results as rows: keys come from content, are small and do not change."""

from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from jeval.fingerprint import compact
from jeval.question import Answer
from jeval.ruling import Verdict
from jeval.store.rows import (
    Known,
    _answer,
    case_body,
    case_content,
    first_request_id,
    question_key,
    state_key,
)
from tests.samples import SECRET_LABEL, case


@given(st.binary(min_size=32, max_size=32))
def test_short_keys_fit_a_sqlite_integer_and_are_not_negative(sha: bytes) -> None:
    assert 0 <= question_key(sha.hex()) < 2**63
    assert 0 <= state_key(sha) < 2**63


@given(st.integers(1, 2**30), st.integers(1, 2**30))
def test_two_runs_never_share_a_request_id(a: int, b: int) -> None:
    assert first_request_id(a) < 2**63
    if a != b:
        first, second = sorted((first_request_id(a), first_request_id(b)))
        assert second - first >= 2**32


def test_a_case_is_stored_as_on_disk_without_its_labels() -> None:
    body = case_body(case())
    assert "toolEvents" in body and "expected" not in body and SECRET_LABEL not in str(body)


def test_a_case_s_hash_is_that_of_its_content() -> None:
    sha, body = case_content(case())
    assert case_content(case())[0] == sha and len(sha) == 32 and body.startswith("{")
    assert case_content(case(expected=None))[0] == sha
    assert case_content(case(output="Another."))[0] != sha


def test_what_is_known_is_told_new_once_and_again_only_after_it_was_forgotten() -> None:
    known = Known(limit=3)
    assert [known.first(key) for key in (1, 2, 1, 3, 4, 1)] == [True, True, False, True, True, True]


def test_texts_and_verdicts_have_one_key_each() -> None:
    known = Known()
    (a, new), (again, old), (b, _) = known.text("a"), known.text("a"), known.text("b")
    assert (new, old) == (True, False) and a == again != b
    verdicts = [
        Verdict("pass", "x", "r", "why"),
        Verdict("fail", "x", "r", "why"),
        Verdict("pass", None, "r", "why"),
    ]
    assert len({known.verdict(verdict)[0] for verdict in verdicts}) == 3


@given(
    st.dictionaries(st.text(st.characters(exclude_categories=("Cs",)), max_size=5), st.floats(0, 1), min_size=1),
    st.none() | st.floats(0, 1),
    st.none() | st.floats(0, 9),
)
def test_an_answer_survives_the_round_trip(probabilities: Any, confidence: float | None, score: float | None) -> None:
    answer = Answer(probabilities, confidence, score)
    assert Answer.restored(orjson.loads(_answer(compact(answer.probabilities), answer))) == answer
