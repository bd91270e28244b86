"""Finding values in a text, and telling when two are the same."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.values import Evidence, Value, find_values

PIECES = st.sampled_from(
    """€ $ £ 1 12 1,234.56 1.234,56 12% per cent EUR USD euros May 15 15th 2026 2026-05-15 15/05/2026 2 pm
    T14:00 14:00 p.m. noon half past two o'clock twenty-five days working week a an and to - or 1h30 ½
    NUL LINE""".split()
).map(lambda piece: {"NUL": "\0", "LINE": "\n"}.get(piece, piece))
TEXTS = st.one_of(st.text(), st.lists(PIECES).map(" ".join), st.lists(PIECES).map("".join))


def only(text: str) -> Value:
    (value,) = find_values(text)
    return value


def firm(text: str) -> list[str]:
    return [value.written for value in find_values(text) if not value.loose]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("€12.50", "12.50 EUR"),
        ("€12.50", "12,50 €"),
        ("12.5 euros", "EUR 12.50"),
        ("$1,234.56", "USD 1234.56"),
        ("1.234,56 €", "€1,234.56"),
        ("CHF 1'200", "1200 CHF"),
        ("1\u202f234,50\u00a0€", "€1234.50"),
        ("$5", "5 dollars"),
        ("$5", "CA$5"),
        ("50 cents", "$0.50"),
        ("£1.5k", "1500 pounds"),
        ("€2 million", "EUR 2,000,000"),
        ("twenty euros", "€20"),
        ("INR 1,00,000", "₹100000"),
        ("12%", "12 percent"),
        ("12.5 %", "12,5 per cent"),
        ("twelve percent", "12%"),
        ("2026-05-15", "15 May 2026"),
        ("May 15th, 2026", "the 15th of May 2026"),
        ("15/05/2026", "2026-05-15"),
        ("03/04/2026", "3 April 2026"),
        ("03/04/2026", "March 4, 2026"),
        ("15.05.2026", "15 May 2026"),
        ("May 15", "2026-05-15"),
        ("2026-05-15", "May 15"),
        ("Friday, 15 May", "15th of May"),
        ("May 2026", "2026-05-15"),
        ("27. März", "27 March"),
        ("den 21 maj", "2026-05-21"),
        ("14:00", "2 pm"),
        ("14:00", "2 p.m."),
        ("14:00:00", "2pm"),
        ("9:30", "09:30"),
        ("9:30", "21:30"),
        ("noon", "12 pm"),
        ("midnight", "12 am"),
        ("ten o'clock", "10:00"),
        ("half past two", "14:30"),
        ("quarter to three", "2:45 pm"),
        ("24 hours", "1 day"),
        ("45-minute", "45 min"),
        ("1.5 hours", "90 minutes"),
        ("an hour and a half", "90 minutes"),
        ("1 hour and 30 minutes", "90 min"),
        ("1h30", "1 h 30 min"),
        ("2½ hours", "150 minutes"),
        ("half an hour", "30 minutes"),
        ("two weeks", "14 days"),
        ("one year", "12 months"),
        ("5 business days", "five working days"),
        ("3–day", "3 days"),
        ("a day", "24 hours"),
    ],
)
def test_two_ways_of_writing_one_value_match(one: str, other: str) -> None:
    assert only(one).matches(only(other))
    assert only(other).matches(only(one)) or only(one).kind == "date"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("€12.50", "€12.05"),
        ("€12.50", "$12.50"),
        ("US$5", "CA$5"),
        ("12%", "€12"),
        ("12%", "1.2%"),
        ("15 May 2026", "15 May 2025"),
        ("15 May", "16 May"),
        ("15 May 2026", "May 2026"),
        ("14:00", "2 am"),
        ("02:00", "2 pm"),
        ("24 hours", "2 days"),
        ("30 days", "1 month"),
        ("5 working days", "5 days"),
        ("3 nights", "3 days"),
    ],
)
def test_different_values_do_not_match(one: str, other: str) -> None:
    assert not only(one).matches(only(other))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("It is €189.00; allow 5 working days.", ["€189.00", "5 working days"]),
        ("Thursday 12 March at 14:00", ["12 March", "14:00"]),
        ("2026-03-24T08:40", ["2026-03-24", "08:40"]),
        ("2026-05-15T14:00:00Z", ["2026-05-15", "14:00:00Z"]),
        ("€5–€10, or €10-20", ["€5", "€10", "€10", "€10-20"]),
        ("between 3 and 5 days", ["between 3 and 5 days", "5 days"]),
        ("2 to 4 pm", ["2 to 4 pm", "4 pm"]),
        ("5–7 May", ["5–7 May", "7 May"]),
        ("a 5-year-old with 20% off", ["5-year", "20%"]),
        ("within 24 hours, 24/7", ["24 hours"]),
    ],
)
def test_values_are_given_as_written(text: str, written: list[str]) -> None:
    assert firm(text) == written


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nothing here.",
        "Order 5521, part BF-2, 1.2 litres, version 1.2.10",
        "Ring 0800 555 0142 24/7.",
        "You may go; they march on. One day you will.".replace("One", "Some"),
        "30 may be enough",
        "twice a day",
        "within a year",
        "a second opinion",
        "31/02/2026",
        "99:99",
    ],
)
def test_what_is_no_value_needs_no_evidence(text: str) -> None:
    assert firm(text) == []


def test_both_ends_of_a_range_are_found() -> None:
    values = find_values("3 to 5 business days")
    assert values[0].matches(only("3 working days"))
    assert values[1].matches(only("5 working days"))


def test_a_value_over_a_line_end_is_evidence_but_needs_none() -> None:
    value = only("within 14\ndays")
    assert value.loose
    assert only("two weeks").matches(value)


def test_a_value_does_not_run_over_an_empty_line() -> None:
    assert find_values("Room 5\n\ndays open") == ()


def test_thousands_and_decimals_that_look_alike_are_both_meant() -> None:
    assert only("€1.234").matches(only("€1234"))
    assert only("€1.234").matches(only("€1.2340"))


@given(TEXTS)
def test_any_text_is_read_and_every_value_stands_in_it(text: str) -> None:
    for value in find_values(text):
        assert value.written in text
        assert value.readings
        assert all(reading[0] in ("price", "percentage", "date", "time", "duration") for reading in value.readings)


@given(TEXTS)
def test_every_value_matches_itself_and_its_own_text_holds_it(text: str) -> None:
    evidence = Evidence()
    evidence.add_text("> " + text)
    for value in find_values("> " + text):
        assert value.matches(value)
        assert evidence.holds(value)


@pytest.mark.parametrize(
    "piece", ["1 ", "1-", "12:", "€", "€1 ", "may ", "1,111", "twenty-", "a half ", "3 days ", "1\n "]
)
def test_a_very_long_text_of_one_piece_is_read_too(piece: str) -> None:
    find_values((piece * 200_000)[:50_000])


def held(body: object, text: str) -> bool:
    evidence = Evidence()
    evidence.add_json(body)
    return evidence.holds(only(text))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"amount": 12.5}, "€12.50"),
        ({"amount": "12.50"}, "$12.50"),
        ({"wait": 45}, "45 minutes"),
        ({"minutes": 90}, "1.5 hours"),
        ({"discount": 15}, "15%"),
        ({"discount": 0.15}, "15%"),
        ({"amount": -20}, "€20"),
        ([[{"at": "2026-03-24T08:40"}]], "24 March"),
        ([[{"at": "2026-03-24T08:40+01:00"}]], "8:40 am"),
        ({"2026-03-24": "free"}, "24 March 2026"),
        ({"result": json.dumps({"total": 64})}, "€64.00"),
        ({"months": 24}, "two years"),
    ],
)
def test_json_evidence_holds_values_and_bare_numbers(body: object, text: str) -> None:
    assert held(body, text)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"amount": 12}, "€12.50"),
        ({"flag": True}, "€1"),
        ({"hour": 14}, "14:00"),
        ({"day": 24}, "24 March"),
        ({"huge": 10**400, "float": 1e308}, "€5"),
        (["5", "days"], "6 days"),
    ],
)
def test_json_evidence_does_not_hold_what_is_not_there(body: object, text: str) -> None:
    assert not held(body, text)


def test_a_text_that_is_json_is_read_as_json() -> None:
    evidence = Evidence()
    evidence.add_text('{"price": 25}')
    assert evidence.holds(only("€25"))


@pytest.mark.parametrize("text", ["{", "[" * 100_000, '{"a": ' + "9" * 10_000 + "}", "[1,"])
def test_a_text_that_only_looks_like_json_is_read_as_text(text: str) -> None:
    evidence = Evidence()
    evidence.add_text(text)
    assert not evidence.holds(only("€25"))
