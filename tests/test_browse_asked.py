"""What a judge was asked, taken out of the instruction as it was sent."""

from hypothesis import given
from hypothesis import strategies as st

from jeval.browse.asked import Asked, asked
from jeval.preamble import PREAMBLE

words = st.text("ab [].\n", max_size=30)


def sent(text: str) -> str:
    return f"{PREAMBLE}\n\n{text}"


def test_a_single_question_is_shown_without_the_preamble() -> None:
    assert asked(sent("Is it polite?"), [""]) == [Asked("", "Is it polite?")]


def test_where_nothing_was_asked_there_is_nothing() -> None:
    assert asked(None, []) == []


@given(st.dictionaries(st.sampled_from(["required", "stated", "s1", "s2", "s10"]), words, min_size=2))
def test_each_of_several_questions_is_found_whatever_it_says(texts: dict[str, str]) -> None:
    criterion = "\n\n".join(f"[{name}] {sent(text)}" for name, text in texts.items())
    assert asked(criterion, [*texts, "mean"]) == [Asked(name, text.strip()) for name, text in texts.items()]


@given(words)
def test_what_was_put_together_otherwise_is_shown_whole(text: str) -> None:
    assert asked(text, ["required", "stated"]) == [Asked("", text.strip())]
