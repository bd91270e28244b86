"""Hostile text is shown as itself and is nothing else."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from jeval.report.escape import (
    code,
    command_data,
    command_property,
    markdown,
    visible,
    xml_attribute,
    xml_text,
)
from tests.reports import HOSTILE

texts = st.text(st.characters(codec=None), max_size=60) | st.text(
    "ab1 .:/@#|`*_[]()<>&!\\~-+=\"'\n\r\t\x1b%{}^$,;?", max_size=40
)


@given(texts)
@example(HOSTILE)
def test_what_is_visible_prints_on_one_line_and_turns_no_direction(text: str) -> None:
    found = visible(text)
    assert found.isprintable()
    assert not re.search("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", found)
    assert visible(found) == found


def test_what_is_visible_already_stays_as_it_is() -> None:
    assert visible("Größe 3 → 日本 🍐") == "Größe 3 → 日本 🍐"


@given(texts)
@example(HOSTILE)
def test_xml_holds_the_text_and_nothing_more(text: str) -> None:
    document = f'<a b="{xml_attribute(text)}">{xml_text(text)}</a>'.encode()
    element = ElementTree.fromstring(document)
    assert list(element) == []
    assert (element.text or "") == element.attrib["b"]
    if all(c in "\n\t" or c.isprintable() for c in text):
        assert (element.text or "") == text


class _Rendered(HTMLParser):
    """The tags and the text of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.words += data


@given(texts)
@example(HOSTILE)
def test_markdown_renders_the_text_and_no_markup(text: str) -> None:
    render = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render
    plain = _Rendered(render(f"x{markdown(text)}x"))
    assert plain.tags == ["p"]
    assert " ".join(plain.words.split()) == " ".join(f"x{visible(text)}x".split())
    cell = _Rendered(render(f"| a | b |\n|---|---|\n| x{markdown(text)}x | {code('y')} |\n"))
    assert cell.tags == ["table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td", "code"]


@pytest.mark.parametrize("text", ["http://evil.invalid", "www.evil.invalid", "@someone", "#12", "a@b.invalid"])
def test_nothing_that_github_links_stands_in_markdown_as_it_is(text: str) -> None:
    found = markdown(text)
    assert not re.search(r"://|www\.|@\w|#\d+$|\w@\w", found)
    assert "@b" not in re.sub("&#64;", "@", found)


def test_numbers_stay_readable_in_markdown() -> None:
    for text in ("failures 3 (1.5%), p(x) 0.8 ≥ fail 0.5", "20260101-000000-ab", "tone 1.0.0"):
        assert markdown(text) == text
    assert markdown("- a -- b") == "&#45; a &#45;&#45; b"


def test_no_code_is_made_of_nothing() -> None:
    assert code("") == ""
    assert code("a|b") == "<code>a&#124;b</code>"


def test_what_markdown_does_not_interpret_is_read_as_plain_text() -> None:
    for text in ("p(claims_completed) 0.9", "status = 3, and/or more", "tone: it is rude", "snake_case_name"):
        assert markdown(text) == text
    assert markdown("_a_ b__c") == "&#95;a&#95; b&#95;&#95;c"
    assert markdown("http://x :smile: ==") == "http&#58;&#47;&#47;x &#58;smile: &#61;&#61;"


@given(texts)
@example(HOSTILE)
def test_a_workflow_command_stays_one_line_and_one_command(text: str) -> None:
    data, prop = command_data(text), command_property(text)
    assert data.isprintable()
    assert "%0A" not in command_data("%0A")
    assert not re.search("[:,]", prop)
    undone = data.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
    assert undone == visible(text, keep="\r\n")
