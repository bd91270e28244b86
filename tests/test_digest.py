"""Fitting an overlong state into the judge's limit: earliest and latest kept, every cut visible and told."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.digest import BYTES_PER_TOKEN, digest, estimate_tokens
from jeval.fingerprint import compact
from jeval.plan import Planner
from tests.samples import case, rubric


def size(body: Any) -> int:
    return len(compact(body).encode())


def conversation(turns: int, length: int = 100) -> dict[str, Any]:
    """A state with a conversation of numbered turns."""
    return {
        "user_input": "Hello?",
        "assistant_response": "Hello.",
        "conversation": [
            {"id": f"m{number}", "role": "user", "content": f"turn {number} " + "x" * length}
            for number in range(1, turns + 1)
        ],
    }


def test_what_fits_is_left_as_it_is() -> None:
    body = conversation(20)
    assert digest(body, size(body)) == (body, ())


def test_the_earliest_and_the_latest_turns_stay_and_one_marker_stands_between() -> None:
    body = conversation(100)
    smaller, cut = digest(body, 3_000)
    turns = smaller["conversation"]
    markers = [place for place, turn in enumerate(turns) if "omitted" in turn]
    assert len(markers) == 1
    head, tail = turns[: markers[0]], turns[markers[0] + 1 :]
    assert head == body["conversation"][: len(head)]
    assert tail == body["conversation"][-len(tail) :]
    assert len(head) - len(tail) in (0, 1)
    gone = 100 - len(head) - len(tail)
    assert turns[markers[0]] == {"omitted": f"[… {gone} left out by the evaluator to fit the judge's limit …]"}
    assert cut == (f"conversation: items {len(head) + 1} to {100 - len(tail)} of 100 left out",)


def test_no_more_turns_go_than_must() -> None:
    body = conversation(60)
    smaller, _ = digest(body, 4_000)
    one_more = size(body["conversation"][30]) + 1
    assert 4_000 - one_more < size(smaller) <= 4_000


def test_all_else_stays_whole_where_turns_alone_make_the_room() -> None:
    body = {**conversation(100), "policy": "p" * 1_000}
    smaller, cut = digest(body, 4_000)
    assert {**smaller, "conversation": None} == {**body, "conversation": None}
    assert [note.split(":")[0] for note in cut] == ["conversation"]


def test_the_turns_of_a_conversational_metric_are_cut_alike() -> None:
    turns = [{"role": "user", "content": f"turn {number} " + "x" * 100} for number in range(100)]
    smaller, cut = digest({"turns": turns, "test_case": {"scenario": "A booking"}}, 3_000)
    assert smaller["turns"][0] == turns[0]
    assert smaller["turns"][-1] == turns[-1]
    assert sum("omitted" in turn for turn in smaller["turns"]) == 1
    assert cut[0].startswith("turns: items ")


def test_a_long_text_loses_its_middle_and_shows_where() -> None:
    text = "".join(f"{number:05}" for number in range(6_000))
    smaller, cut = digest({"policy": text}, 25_000)
    assert smaller["policy"].startswith(text[:10_000])
    assert smaller["policy"].endswith(text[-5_000:])
    assert smaller["policy"].count("[… 10,000 characters left out …]") == 1
    assert cut == ("policy: 10,000 of 30,000 characters left out",)


def test_a_text_is_cut_once_even_where_all_else_must_become_text() -> None:
    nested: Any = {"key": "x" * 90}
    for _ in range(3):
        nested = {f"key{number}": nested for number in range(6)}
    smaller, cut = digest({"policy": "p" * 5_000, "tool_events": [{"output": nested}]}, 2_000)
    assert smaller["policy"] == f"{'p' * 53}[… 4,920 characters left out …]{'p' * 27}"
    assert isinstance(smaller["tool_events"], str)
    assert sum(note.startswith("policy: ") for note in cut) == 1


def test_long_texts_are_cut_evenly_and_short_ones_not_at_all() -> None:
    body = {"policy": "p" * 40_000, "assistant_response": "r" * 40_000, "user_input": "i" * 5_000}
    smaller, cut = digest(body, 30_000)
    assert len(smaller["policy"]) == len(smaller["assistant_response"])
    assert smaller["user_input"] == body["user_input"]
    assert len(cut) == 2


def test_a_list_loses_its_middle_and_what_is_cut_behind_it_goes_by_its_own_place() -> None:
    passages = [{"id": f"c{number}", "content": "x" * (900 if number == 98 else 60)} for number in range(100)]
    smaller, cut = digest({"reference_material": passages}, 2_500)
    assert smaller["reference_material"][0] == passages[0]
    assert smaller["reference_material"][-1] == passages[-1]
    assert cut == (
        "reference_material: items 7 to 94 of 100 left out",
        "reference_material[98].content: 400 of 900 characters left out",
    )


def test_an_object_with_too_many_keys_keeps_the_first_and_says_so() -> None:
    output = {f"key{number}": "x" * 50 for number in range(3_000)}
    smaller, cut = digest({"tool_events": [{"id": "t", "output": output}]}, 20_000)
    kept = smaller["tool_events"][0]["output"]
    assert list(kept)[:3] == ["key0", "key1", "key2"]
    assert kept["omitted"] == f"[… {3_000 - len(kept) + 1:,} keys left out …]".replace(",", "")
    assert cut == (f"tool_events[0].output: {3_000 - len(kept) + 1} of 3000 keys left out",)


def test_what_was_cut_is_recorded_in_the_evidence_of_every_check() -> None:
    messages = [{"id": f"m{n}", "role": "user", "content": "x" * 150} for n in range(40)]
    plan = Planner([rubric("custom"), rubric("claim-support")], max_state_tokens=1_000).plan(case(messages=messages))
    for check in plan.checks:
        evidence = json.loads(check.evidence)
        assert evidence["cut"] == list(plan.asks[0].state.cut)
        assert evidence["cut"][0].startswith("conversation: items ")


def test_the_evidence_names_the_ids_that_were_shown_and_not_those_left_out() -> None:
    messages = [{"id": f"m{n}", "role": "user", "content": "x" * 150} for n in range(40)]
    plan = Planner([rubric("custom")], max_state_tokens=1_000).plan(case(messages=messages))
    shown = [turn["id"] for turn in json.loads(plan.asks[0].state.json)["conversation"] if "id" in turn]
    evidence = json.loads(plan.checks[0].evidence)
    assert evidence["messages"] == shown
    assert 4 <= len(shown) < 40
    assert evidence["context"] == ["c1"]


def test_a_state_that_fits_records_no_cut() -> None:
    assert "cut" not in json.loads(Planner([rubric("custom")]).plan(case()).checks[0].evidence)


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abc", 1), ("abcd", 2), ("üü", 2), ("😀", 2)])
def test_tokens_are_estimated_from_bytes_and_rounded_up(text: str, tokens: int) -> None:
    assert BYTES_PER_TOKEN == 3
    assert estimate_tokens(text) == tokens


# Laws

_TEXT = st.builds(
    lambda sign, length: sign * length,
    st.sampled_from(["x", "ü", "😀", '"', "\\", "\x00", "word "]),
    st.integers(0, 1_500),
)
_VALUE: st.SearchStrategy[Any] = st.recursive(
    _TEXT | st.none() | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.builds(lambda item, count: [item] * count, inner, st.integers(0, 15))
        | st.dictionaries(st.sampled_from("abcdef"), inner, max_size=6)
    ),
    max_leaves=6,
)
_TURN = st.fixed_dictionaries({"id": st.just("m"), "role": st.just("user"), "content": _TEXT})
_BODY = st.fixed_dictionaries(
    {"user_input": _TEXT, "assistant_response": _TEXT},
    optional={
        "conversation": st.lists(_TURN, min_size=1, max_size=30),
        "reference_material": _VALUE,
        "policy": _TEXT,
        "tool_events": _VALUE,
    },
)


@given(_BODY, st.integers(4_500, 40_000))
def test_a_digest_always_fits_keeps_every_field_and_is_the_same_every_time(body: dict[str, Any], room: int) -> None:
    before = copy.deepcopy(body)
    smaller, cut = digest(body, room)
    assert size(smaller) <= room
    assert list(smaller) == list(body)
    assert bool(cut) == (smaller != body)
    assert body == before
    assert digest(body, room) == (smaller, cut)


@given(_BODY, st.integers(-10, 1_500))
def test_a_room_too_small_for_anything_gives_the_severest_cut_and_no_error(body: dict[str, Any], room: int) -> None:
    smaller, cut = digest(body, room)
    assert size(smaller) <= max(room, 4_500)
    assert bool(cut) == (smaller != body)


@pytest.mark.parametrize("depth", [100, 500, 900])
def test_no_nesting_is_too_deep(depth: int) -> None:
    nested: Any = "x" * 100
    for _ in range(depth):
        nested = [nested]
    smaller, cut = digest({"user_input": "y" * 9_000, "tool_events": nested}, 4_500)
    assert size(smaller) <= 4_500
    assert any(note.endswith("nested too deeply, so it is shown as text") for note in cut)


def test_a_thousand_keys_as_long_as_texts_fit_too() -> None:
    body = {"tool_events": [{"output": {f"{number}" + "k" * 2_000: 1 for number in range(1_000)}}]}
    smaller, cut = digest(body, 4_500)
    assert size(smaller) <= 4_500
    assert cut
