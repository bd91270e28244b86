"""Hostile text made harmless for what it goes into. Nothing is dropped: what cannot stand is an escape."""

import re

__all__ = ["code", "command_data", "command_property", "markdown", "visible", "xml_attribute", "xml_text"]

# Characters that turn the reading direction around: printable to Python, treacherous to people.
_BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

# What XML 1.0 cannot hold, not even as a character reference. Half characters are no UTF-8 either.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# All but letters, digits and what means nothing to Markdown, HTML or GitHub wherever it stands. An underscore or a
# slash within a word is no markup either, nor is a colon that ends a word, or an equals sign on its own.
_MARKUP = re.compile(
    r"""[^\w ,;%?()'".…≥≤→×:/=-]|(?<![^\W_])_|_(?![^\W_])|(?<!\d)\.|\.(?!\d)|(?<!\w)-|-(?!\w)"""
    r"""|(?<!\w)/|/(?!\w)|(?<!\w):|:(?! )|(?<! )=|=(?! )"""
)


def visible(text: str, *, keep: str = "") -> str:
    """The text, with every character that does not print or turns the direction as an escape like \\x1b."""
    if text.isprintable() and not _BIDI.intersection(text):
        return text
    return "".join(
        c if (c.isprintable() and c not in _BIDI) or c in keep else c.encode("unicode_escape").decode() for c in text
    )


def xml_text(text: str) -> str:
    """The text as the content of an XML element; line breaks and tabs stay."""
    safe = _NOT_XML.sub(lambda found: found[0].encode("unicode_escape").decode(), text).replace("\r", "\\r")
    return safe.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def xml_attribute(text: str) -> str:
    """The text as the value of an XML attribute in double quotes."""
    return xml_text(text).replace('"', "&quot;").replace("\n", "&#10;").replace("\t", "&#9;")


def markdown(text: str) -> str:
    """The text as itself in GitHub's Markdown, on one line, in a table too: no markup, link, mention or HTML.

    Character references are never markup, so everything that could be is written as one. Addresses are found
    after those are read, so an empty comment parts them.
    """
    return _MARKUP.sub(_reference, visible(text))


def _reference(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};" + ("<!---->" if found[0] == "@" else "")


def code(text: str) -> str:
    """The text in fixed width. GitHub makes no mentions or issue links of what stands in code."""
    return f"<code>{markdown(text)}</code>" if text else ""


def command_data(text: str) -> str:
    """The text as the message of a workflow command: on one line, and no command of its own."""
    safe = visible(text, keep="\r\n")
    return safe.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def command_property(text: str) -> str:
    """The text as a property of a workflow command."""
    return command_data(text).replace(":", "%3A").replace(",", "%2C")
