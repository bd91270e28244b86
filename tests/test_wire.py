"""wire.py: the bytes of a request, the answers in a reply."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.errors import MalformedAnswer
from jeval.judges.wire import _KEPT, RequestBody, read_reply
from jeval.question import choice, noul, score
from jeval.state import State, state_of

STATE = state_of({"user_input": "Are you open?", "assistant_response": "Yes, until six."}, 10_000)
FIT = choice("Is it fine?", {"zebra": "it is", "apple": None, "mango": "cannot tell"})
TRUE = noul("Every figure occurs.")
LEVEL = score("How good?", ("Bad", "Fair", "Good"))

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


def good(**change):
    body = {
        "model": "jev-1.13.0",
        "answers": {
            "a": {
                "type": "choice",
                "choice": "zebra",
                "confidence": 0.7,
                "probabilities": {"zebra": 0.8, "apple": 0.15, "mango": 0.05},
            },
            "b": {"type": "noul", "noul": 0.25},
        },
        "usage": {"input_tokens": 2000, "output_tokens": 14},
    }
    return body | change


def read(body, questions=None, request_id=None, price=None):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return read_reply(content, questions or {"a": FIT, "b": TRUE}, request_id=request_id, usd_per_million_input=price)


# Requests


def test_a_request_is_model_state_and_questions_in_this_order():
    body = RequestBody("jev-latest").build(STATE, {"a": FIT})
    assert body.decode() == f'{{"model":"jev-latest","state":{STATE.json},"questions":{{"a":{FIT.wire}}}}}'


def test_the_state_is_sent_as_it_was_written():
    odd = State('{"b" : 1,  "a":[ ]}', "0" * 64, ("b", "a"))
    assert b'"state":{"b" : 1,  "a":[ ]},' in RequestBody("m").build(odd, {"a": FIT})


def test_options_and_questions_keep_the_order_they_were_given_in():
    body = json.loads(RequestBody("m").build(STATE, {"z": FIT, "a": TRUE}))
    assert list(body["questions"]) == ["z", "a"]
    assert list(body["questions"]["z"]["criteria"]) == ["zebra", "apple", "mango"]


def test_equal_keys_with_other_questions_are_not_confused():
    request = RequestBody("m")
    first = request.build(STATE, {"a": FIT})
    assert request.build(STATE, {"a": TRUE}) != first
    assert request.build(STATE, {"a": FIT}) == first


def test_questions_asked_once_do_not_pile_up():
    request = RequestBody("m")
    for number in range(2 * _KEPT):
        request.build(STATE, {"a": noul(f"Number {number}?")})
    assert len(request._questions) == _KEPT


def test_a_lone_surrogate_becomes_an_escape_that_json_understands():
    body = RequestBody("m").build(State('{"user_input":"\ud800"}', "0" * 64, ("user_input",)), {"a": TRUE})
    assert json.loads(body)["state"] == {"user_input": "\ud800"}


@given(
    model=texts,
    state=st.dictionaries(texts, texts, min_size=1),
    keys=st.lists(texts, unique=True, min_size=1),
)
def test_whatever_is_asked_arrives(model, state, keys):
    body = RequestBody(model).build(state_of(state, 10**6), {key: noul(f"Is it {key}?") for key in keys})
    assert json.loads(body) == {
        "model": model,
        "state": state,
        "questions": {key: {"type": "noul", "instructions": f"Is it {key}?"} for key in keys},
    }


# Replies


def test_every_answer_is_found_under_its_key():
    reply = read(good())
    assert list(reply.answers) == ["a", "b"]
    assert reply.answers["a"].probabilities == {"zebra": 0.8, "apple": 0.15, "mango": 0.05}
    assert reply.answers["a"].confidence == 0.7
    assert reply.answers["b"].probabilities == {"true": 0.25}


def test_the_model_tokens_and_request_id_are_the_judges_own():
    reply = read(good(id="gen-1"), request_id="req_7")
    assert (reply.model, reply.input_tokens, reply.output_tokens) == ("jev-1.13.0", 2000, 14)
    assert reply.request_id == "req_7"
    assert read(good(id="gen-1")).request_id == "gen-1"
    assert read(good(id=7)).request_id is None


def test_a_stated_cost_counts_before_the_price():
    usage = {"input_tokens": 2000, "output_tokens": 14, "cost": 0.0125}
    assert read(good(usage=usage), price=0.042).cost_usd == 0.0125


def test_the_price_makes_a_cost_of_input_tokens():
    assert read(good(), price=0.042).cost_usd == pytest.approx(2000 * 0.042 / 1e6)


def test_what_the_judge_does_not_say_is_unknown_and_not_nothing():
    reply = read(good(usage=None), price=0.042)
    assert (reply.input_tokens, reply.output_tokens, reply.cost_usd) == (None, None, None)
    assert read(good(), price=None).cost_usd is None


@pytest.mark.parametrize("value", [-1, True, "12", None, [], 1e300])
def test_tokens_that_are_no_count_are_unknown(value):
    reply = read(good(usage={"input_tokens": value, "output_tokens": value, "cost": None}), price=1.0)
    assert (reply.input_tokens, reply.output_tokens, reply.cost_usd) == (None, None, None)


def test_zero_tokens_are_zero():
    assert read(good(usage={"input_tokens": 0, "output_tokens": 0}), price=1.0).cost_usd == 0.0


def test_answers_to_other_questions_are_ignored():
    body = good()
    body["answers"]["c"] = {"type": "choice"}
    assert list(read(body).answers) == ["a", "b"]


def test_a_name_with_control_characters_is_kept_without_them():
    assert read(good(model="jev\x1b[31m-1")).model == "jev[31m-1"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"<html><body>Welcome</body></html>", "an HTML page"),
        (json.dumps(good()).encode()[:90], "broken or cut-off JSON"),
        (b"OK", "text"),
        (b'{"model": "m", "answers": {"a": {"noul": NaN}}}', "broken or cut-off JSON"),
        (b'{"model": "m", "answers": {"a": {"noul": Infinity}}}', "broken or cut-off JSON"),
        (b"[1]", "not a JSON object"),
        (b"null", "not a JSON object"),
        (b"\xff\xfe{}", "not a JSON object"),
        (b"[" * 100_000, "not a JSON object"),
        (b'{"model": ' + b"9" * 5000 + b"}", "not a JSON object"),
        (b'{"model": "m"}', "no answers"),
        (b'{"model": "m", "answers": []}', "no answers"),
    ],
)
def test_a_reply_of_another_kind_is_malformed(content, message):
    with pytest.raises(MalformedAnswer, match=message):
        read(content)


@pytest.mark.parametrize("model", [None, "", "  ", 7, ["jev"]])
def test_a_reply_that_names_no_model_is_malformed(model):
    with pytest.raises(MalformedAnswer, match="which model"):
        read(good(model=model))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "answer to a: the answer is NoneType"),
        ({"type": "noul", "noul": 0.5}, "asked a choice"),
        ({"probabilities": {"zebra": 1.0, "apple": 0.0}}, "'mango' is missing"),
        ({"probabilities": {"zebra": 7.5, "apple": 0.0, "mango": 0.0}}, "outside 0 to 1"),
        ({"probabilities": {"zebra": None, "apple": 0.0, "mango": 0.0}}, "not a number"),
        ({"probabilities": {"zebra": 0.5, "apple": 0.0, "mango": 0.0}}, "sum to 0.5"),
    ],
)
def test_an_answer_that_does_not_fit_its_question_is_malformed(answer, message):
    with pytest.raises(MalformedAnswer, match=message):
        read(good(answers={"a": answer}), {"a": FIT})


def test_a_missing_answer_is_malformed():
    with pytest.raises(MalformedAnswer, match="answer to b is missing"):
        read(good(answers={"a": good()["answers"]["a"]}))


def test_a_score_keeps_the_judges_own_level():
    answer = {
        "type": "score",
        "score": 1.4,
        "probabilities": {"0": 0.1, "1": 0.4, "2": 0.5},
        "confidence": 0.3,
    }
    assert read(good(answers={"s": answer}), {"s": LEVEL}).answers["s"].score == 1.4
