"""The state of a list is its address: read, written and read again it is the same."""

from urllib.parse import parse_qsl

from hypothesis import given
from hypothesis import strategies as st

from jeval.browse.filters import Filters, where

WORDS = st.text(min_size=1, max_size=20).map(str.strip).filter(bool)
ABOUT = ("dataset", "match")
STATES = st.dictionaries(st.sampled_from(ABOUT), WORDS).map(lambda of: tuple((n, of[n]) for n in ABOUT if n in of))
LISTS = st.lists(WORDS, max_size=3, unique=True).map(tuple)


@given(
    st.builds(
        Filters,
        status=st.lists(st.sampled_from(["pass", "fail", "review", "skipped", "error"]), unique=True).map(tuple),
        rubric=LISTS,
        severity=LISTS,
        kind=LISTS,
        outcome=LISTS,
        rule=LISTS,
        case=WORDS | st.just(""),
        key=WORDS | st.just(""),
        value=WORDS | st.just(""),
        slower=st.integers(0, 100_000).map(float) | st.none(),
        faster=st.integers(0, 100_000).map(float) | st.none(),
        q=WORDS | st.just(""),
        sort=WORDS | st.just(""),
        about=STATES,
        page=st.integers(1, 1000),
    )
)
def test_filters_survive_their_address(filters: Filters):
    query = filters.query(page=filters.page)
    assert Filters.read(parse_qsl(query.removeprefix("?"), keep_blank_values=True), ABOUT) == filters


@given(st.lists(st.tuples(st.text(max_size=10), st.text(max_size=30)), max_size=10))
def test_no_address_is_refused(pairs: list[tuple[str, str]]):
    filters = Filters.read(pairs)
    where(filters, 1, [])


def test_what_is_unreadable_narrows_nothing_but_is_told():
    filters = Filters.read([("slower", "fast"), ("page", "-1"), ("faster", "nan"), ("statuss", "fail")])
    assert filters == Filters()
    assert not filters.active
    assert filters.unread == (("slower", "fast"), ("faster", "nan"))
    assert filters.strangers == ("statuss",)
    assert filters.written("slower") == "fast"


def test_an_unknown_status_matches_nothing():
    assert "c.status IN ()" in where(Filters.read([("status", "fine")]), 1, []).sql
    assert "c.status IN (1)" in where(Filters.read([("status", "fine"), ("status", "fail")]), 1, []).sql


def test_a_change_of_filters_starts_at_the_first_page():
    assert Filters(page=7).query(status="fail") == "?status=fail"


def test_a_page_alone_narrows_nothing():
    assert not Filters(page=3).active


def test_values_are_bound_never_written_into_the_sql():
    found = where(Filters(rule=("x'; DROP TABLE runs",), outcome=('"',)), 1, [], [1, 2])
    assert "DROP" not in found.sql
    assert "x'; DROP TABLE runs" in found.params.values()


def test_a_rubric_filter_that_matches_none_finds_nothing():
    assert "c.rubric IN ()" in where(Filters(rubric=("nope",)), 1, []).sql
