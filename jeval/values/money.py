"""Prices and percentages."""

import re
from collections.abc import Iterator

from jeval.values.numbers import DIGITS, GAP, NUMBER, RANGE, Found, Text, amounts, blank, matches
from jeval.values.value import Reading

__all__ = ["CODES", "SIGN", "percentages", "prices"]

_DOLLARS = ("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN")
_CROWNS = ("SEK", "NOK", "DKK", "ISK", "CZK")
CODES = (
    "USD EUR GBP JPY CNY INR CHF SEK NOK DKK PLN CZK HUF RON BGN CAD AUD NZD SGD HKD MXN KRW BRL ZAR ILS AED "
    "SAR THB RUB UAH VND ISK"
).split()
# What each sign may stand for: a bare $ is any dollar, so it agrees with CA$ and with AUD.
_SIGNS = {
    "US$": ("USD",), "CA$": ("CAD",), "C$": ("CAD",), "AU$": ("AUD",), "A$": ("AUD",), "NZ$": ("NZD",),
    "S$": ("SGD",), "HK$": ("HKD",), "R$": ("BRL",), "$": _DOLLARS, "€": ("EUR",), "£": ("GBP",),
    "¥": ("JPY", "CNY"), "₹": ("INR",), "₩": ("KRW",), "₽": ("RUB",), "₪": ("ILS",), "₫": ("VND",),
    "฿": ("THB",),
}  # fmt: skip
# Singular word: its currencies, and how many of it make one unit of them.
_NAMES: dict[str, tuple[tuple[str, ...], int]] = {
    "euro": (("EUR",), 1), "dollar": (_DOLLARS, 1), "buck": (_DOLLARS, 1), "pound": (("GBP",), 1),
    "quid": (("GBP",), 1), "franc": (("CHF",), 1), "yen": (("JPY",), 1), "yuan": (("CNY",), 1),
    "rupee": (("INR",), 1), "zloty": (("PLN",), 1), "zł": (("PLN",), 1), "kč": (("CZK",), 1),
    "kr": (_CROWNS, 1),
    "kronor": (_CROWNS, 1), "kroner": (_CROWNS, 1), "krona": (_CROWNS, 1), "krone": (_CROWNS, 1),
    "cent": ((*_DOLLARS, "EUR"), 100), "pence": (("GBP",), 100),
}  # fmt: skip
_SCALES = {"k": 1000, "thousand": 1000, "m": 10**6, "million": 10**6, "bn": 10**9, "billion": 10**9}

SIGN = "|".join(map(re.escape, sorted(_SIGNS, key=len, reverse=True)))
_CODE = rf"{'|'.join(CODES)}|(?:eur|usd|gbp|chf)\b"
_NAME = rf"(?i:{'|'.join(sorted(_NAMES, key=len, reverse=True))})"
_SCALE = r"(?P<scale>(?i:k|m|bn| thousand| million| billion)\b)?"
# A sign set apart from the number after it must not belong to the number before it: "12 € 13 people".
_BEFORE = re.compile(
    rf"(?:(?P<sign>{SIGN})|(?<!\d)(?<!\d )(?:(?P<apart>{SIGN}) |\b(?P<code>{_CODE}) ?))"
    rf"(?P<number>{DIGITS}){_SCALE}(?:-(?P<upper>{DIGITS})(?![\w%-]))?"
)
_AFTER = re.compile(
    rf"(?:(?P<lower>{NUMBER}){RANGE})?(?P<number>{NUMBER}){_SCALE}{GAP}-?"
    rf"(?:(?P<sign>{SIGN})|(?P<code>{_CODE})\b|(?i:(?:US|Canadian|Australian) )?(?P<name>{_NAME})[sS]?\b)"
)
_PERCENT = re.compile(
    rf"(?:(?P<lower>{NUMBER})%?{RANGE})?(?P<number>{NUMBER}){GAP}-?"
    r"(?i:%|(?:per ?cent|pct|percentage points?)\b)"
)

_NAME_WORDS = frozenset((*_NAMES, *(f"{name}s" for name in _NAMES)))
_PER_CENT_WORDS = frozenset(("percent", "cent", "pct", "percentage"))


def prices(text: Text) -> Iterator[Found]:
    """Every price whose currency stands before its number, then every one whose currency follows."""
    taken: list[tuple[int, int]] = []
    for found in matches(_BEFORE, text.plain, text.currencies):
        sign = found["sign"] or found["apart"]
        currencies = _SIGNS[sign] if sign else (found["code"].upper(),)
        taken.append(found.span())
        end = found.end("scale") if found["scale"] else found.end("number")
        yield Found(found.start(), end, _prices(found["number"], found["scale"], currencies))
        if found["upper"]:
            readings = _prices(found["upper"], None, currencies)
            yield Found(*found.span("upper"), readings, shown=found.span())
    if not text.currencies and text.vocabulary.isdisjoint(_NAME_WORDS):
        return
    for found in matches(_AFTER, blank(text.plain, taken), text.numbers):
        per_unit = 1
        if found["name"]:
            currencies, per_unit = _NAMES[found["name"].lower()]
        else:
            currencies = _SIGNS[found["sign"]] if found["sign"] else (found["code"].upper(),)
        if found["lower"]:
            readings = _prices(found["lower"], found["scale"], currencies, per_unit)
            yield Found(*found.span("lower"), readings, shown=found.span())
        yield Found(found.start("number"), found.end(), _prices(found["number"], found["scale"], currencies, per_unit))


def _prices(number: str, scale: str | None, currencies: tuple[str, ...], per_unit: int = 1) -> frozenset[Reading]:
    factor = _SCALES[scale.strip().lower()] if scale else 1
    return frozenset(("price", code, amount * factor / per_unit) for amount in amounts(number) for code in currencies)


def percentages(text: Text) -> Iterator[Found]:
    """Every percentage; both ends of "10-20%"."""
    if "%" not in text.plain and text.vocabulary.isdisjoint(_PER_CENT_WORDS):
        return
    for found in matches(_PERCENT, text.plain, text.numbers):
        if found["lower"]:
            yield Found(*found.span("lower"), _percentages(found["lower"]), shown=found.span())
        yield Found(found.start("number"), found.end(), _percentages(found["number"]))


def _percentages(number: str) -> frozenset[Reading]:
    return frozenset(("percentage", amount) for amount in amounts(number))
