"""faults.py: what a refusal says, and what it must not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.errors import JudgeError
from jeval.judges.faults import LONGEST_MESSAGE, Sent, one_line, refusal, retry_after

NOW = 1_790_000_000.0  # Mon, 21 Sep 2026 14:13:20 GMT
SECRET = "the patient Orla Finch was born on 3 March and her number is 5521"
KEY = "ts_live_9f8e7d6c5b4a"
SENT = Sent(
    json.dumps({"model": "jev-latest", "state": {"user_input": SECRET}}).encode(),
    KEY,
    "TYPESAFE_API_KEY",
    "jev-latest",
)


def refuse(status, body=b"", headers=None):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return refusal(status, headers or {}, content, SENT, NOW)


# Kinds


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (408, "timeout"),
        (429, "rate_limited"),
        (500, "server_error"),
        (502, "server_error"),
        (503, "server_error"),
        (504, "server_error"),
        (524, "server_error"),
        (529, "overloaded"),
        (200, "malformed"),
        (204, "malformed"),
    ],
)
def test_what_may_pass_by_itself_is_tried_again(status, kind):
    failure = refuse(status, {"detail": "not now"})
    assert (failure.kind, failure.transient, failure.refused) == (kind, True, False)


@pytest.mark.parametrize("status", [400, 406, 409, 415, 418, 422, 425])
def test_a_request_that_is_wrong_concerns_its_case_only(status):
    failure = refuse(status, {"detail": "unknown question type 'x'"})
    assert (failure.kind, failure.transient, failure.refused) == ("bad_request", False, False)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, "auth"),
        (402, "payment"),
        (403, "forbidden"),
        (404, "not_found"),
        (405, "not_found"),
        (407, "proxy"),
    ],
)
def test_what_every_request_would_meet_is_a_refusal(status, kind):
    failure = refuse(status, {"detail": "no"})
    assert (failure.kind, failure.transient, failure.refused) == (kind, False, True)


def test_a_missing_key_is_named_by_its_variable():
    failure = refuse(403, {"detail": {"error_type": "authentication_error", "message": "missing API key"}})
    assert failure.kind == "auth" and failure.refused
    assert failure.message == "403: authentication_error: missing API key; check the key in TYPESAFE_API_KEY"


@pytest.mark.parametrize(
    ("status", "detail"),
    [
        (400, "unknown model: jev-9"),
        (400, {"error_type": "model_not_found", "message": "pick another"}),
        (404, "The model `jev-9` does not exist"),
        (422, "Model jev-9 is not supported"),
        (400, {"error_type": "api_usage_error", "message": "Invalid model name"}),
    ],
)
def test_an_unknown_model_is_a_refusal_that_names_the_model_asked(status, detail):
    failure = refuse(status, {"detail": detail})
    assert failure.kind == "unknown_model" and failure.refused
    assert "it was asked for jev-latest; set judge.model" in failure.message


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"detail": {"error_type": "max_tokens_exceeded"}}),
        (413, b""),
        (422, {"detail": "the input is too long for this model"}),
        (400, {"detail": "state exceeds the token limit"}),
    ],
)
def test_an_input_too_large_concerns_its_case_only(status, body):
    failure = refuse(status, body)
    assert failure.kind == "too_large" and not failure.refused and not failure.transient
    assert "judge.max_state_tokens" in failure.message


def test_a_redirect_is_not_followed_and_says_where_it_points():
    failure = refuse(307, b"", {"location": "https://user:pw@eu.example.com/v1/systemone?token=abc"})
    assert failure.kind == "redirect" and failure.refused
    assert failure.message == ("307, which points to https://eu.example.com/v1/systemone; set judge.base_url to that")


def test_an_error_inside_a_200_counts_by_its_own_code():
    assert refuse(200, {"error": {"code": 429, "message": "slow down"}}).kind == "rate_limited"
    assert refuse(200, {"error": {"code": True, "message": "?"}}).kind == "malformed"


# Shapes


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ({"detail": "something is wrong"}, "something is wrong"),
        (
            {"detail": {"error_type": "api_usage_error", "message": "wrong type"}},
            "api_usage_error: wrong type",
        ),
        ({"detail": {"error_type": "odd_thing"}}, "odd_thing"),
        (
            {
                "detail": [
                    {
                        "loc": ["body", "questions", 0],
                        "msg": "Field required",
                        "type": "missing",
                        "input": SECRET,
                    }
                ]
            },
            "body.questions.0 Field required",
        ),
        (
            {"message": "verify first", "error_type": "customer_verification_required"},
            "customer_verification_required: verify first",
        ),
        ({"error": {"code": 400, "message": "bad choice"}}, "bad choice"),
        ({"error": "not valid"}, "not valid"),
        (b"upstream said no", "upstream said no"),
        (b"<html><title>Bad Gateway</title></html>", "an HTML page"),
        (b'{"detail": "cut', ""),
        (b"", ""),
        ({"detail": 7}, ""),
        ({}, ""),
        ([1], ""),
    ],
)
def test_the_message_is_found_where_each_shape_keeps_it(body, shown):
    assert refuse(400, body).message == (f"400: {shown}" if shown else "400")


def test_of_many_schema_problems_the_first_three_are_shown():
    problems = [{"loc": ["body", i], "msg": "wrong"} for i in range(5)]
    assert refuse(422, {"detail": problems}).message == ("422: body.0 wrong, body.1 wrong, body.2 wrong and 2 more")


# What a message never holds


def test_input_and_context_are_not_repeated():
    problem = {
        "loc": ["body"],
        "msg": "wrong",
        "type": "x",
        "input": {"state": SECRET},
        "ctx": {"given": SECRET},
    }
    assert refuse(422, {"detail": [problem]}).message == "422: body wrong"


@pytest.mark.parametrize(
    "body",
    [
        {"detail": f"cannot read {SECRET} here"},
        {"detail": {"error_type": "x", "message": SECRET}},
        {"detail": [{"loc": [SECRET], "msg": f"bad value: {SECRET}"}]},
        {"error": {"code": 400, "message": f"{SECRET}{SECRET}"}},
        SECRET.encode(),
    ],
)
def test_what_the_request_held_is_cut_out(body):
    message = refuse(400, body).message
    assert "[…]" in message
    assert not any(SECRET[i : i + 20] in message for i in range(len(SECRET) - 19))


@pytest.mark.parametrize("shown", [KEY, KEY[:14], f"x{KEY[2:]}"])
def test_the_key_or_most_of_it_is_cut_out(shown):
    message = refuse(401, {"detail": f"bad key {shown}!"}).message
    assert shown not in message and "[…]" in message


def test_escapes_are_shown_as_text_and_in_one_line():
    message = refuse(400, {"detail": "\x1b[31mred\x1b[0m\nsecond\u2028third \u202eback\x00"}).message
    assert message == "400: \\x1b[31mred\\x1b[0m second third \\u202eback\\x00"


def test_a_long_message_is_shortened():
    message = refuse(400, {"detail": "word " * 10_000}).message
    assert len(message) < 200 and message.endswith("…")


@given(content=st.binary(max_size=300), status=st.integers(100, 599))
def test_no_body_breaks_it(content, status):
    failure = refuse(status, content)
    assert len(failure.message) <= LONGEST_MESSAGE and failure.message.isprintable()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["detail", "error", "message", "error_type", "loc", "msg", "code", "type"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(body=json_values, status=st.sampled_from([200, 302, 400, 403, 404, 422, 429, 500]))
def test_no_shape_breaks_it(body, status):
    failure = refuse(status, body)
    assert len(failure.message) <= LONGEST_MESSAGE and failure.message.isprintable()
    assert isinstance(JudgeError(failure.kind, failure.message), JudgeError)


@given(before=st.text(max_size=30), after=st.text(max_size=30), start=st.integers(0, 20))
def test_a_run_of_the_request_never_survives_whatever_surrounds_it(before, after, start):
    copied = SECRET[start : start + 40]
    assert copied not in one_line(before + copied + after, SENT)


# How long to wait


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "60"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "3"}, 3.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after-ms": "-5"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "tomorrow"}, None),
        ({"retry-after": "Mon, 21 Sep 2026 14:13:30 GMT"}, 10.0),
        ({"retry-after": "Mon, 21 Sep 2026 14:13:10 GMT"}, 0.0),
        ({"retry-after": "Mon, 21 Sep 2026 14:13:30 GMT", "date": "Mon, 21 Sep 2026 14:13:26 GMT"}, 4.0),
        ({"retry-after": "Mon, 99 Sep 2026 14:13:30 GMT"}, None),
    ],
)
def test_the_wait_a_reply_asks_for(headers, seconds):
    assert retry_after(headers, NOW) == seconds


def test_a_wait_belongs_to_refusals_that_pass_by_themselves():
    assert refuse(429, b"", {"retry-after": "7"}).retry_after_s == 7.0
    assert refuse(401, b"", {"retry-after": "7"}).retry_after_s is None


@given(value=st.text(max_size=40))
def test_no_wait_breaks_it(value):
    seconds = retry_after({"retry-after": value, "retry-after-ms": value, "date": value}, NOW)
    assert seconds is None or seconds >= 0
