"""Where a Datasette has several stores, every link and form of a page says which one the page is about.

Pages are made for one store and know nothing of others: what leads to another page is completed here, once it is
HTML, so that no link can be forgotten. Data cannot look like a tag in it, for templates escape it.
"""

import re
from html import escape, unescape
from urllib.parse import parse_qsl, quote

__all__ = ["carry", "with_store"]

_TAG = re.compile(r"<(?:a|form)\b[^>]*>")
_TARGET = re.compile(r'(?<=\s)(href|action)="([^"]*)"')


def with_store(url: str, store: str) -> str:
    """The address with `store` in its query, unless it names one already."""
    address, hash_, fragment = url.partition("#")
    path, _, query = address.partition("?")
    if any(name == "store" for name, _ in parse_qsl(query, keep_blank_values=True)):
        return url
    said = f"store={quote(store, safe='')}"
    return f"{path}?{query}&{said}{hash_}{fragment}" if query else f"{path}?{said}{hash_}{fragment}"


def carry(html: str, base: str, store: str) -> str:
    """The page with the store in every link and form that leads to a page at or beneath `base`."""

    def completed(tag: re.Match[str]) -> str:
        found = _TARGET.search(tag[0])
        url = unescape(found[2]) if found else ""
        if found is None or not _is_page(url, base):
            return tag[0]
        if tag[0].startswith("<form") and 'method="post"' not in tag[0]:
            # A browser drops the query of such a form's address.
            return f'{tag[0]}<input type="hidden" name="store" value="{escape(store)}">'
        begin, end = found.span(2)
        return tag[0][:begin] + escape(with_store(url, store)) + tag[0][end:]

    return _TAG.sub(completed, html)


def _is_page(url: str, base: str) -> bool:
    return url.startswith(base) and url[len(base) : len(base) + 1] in ("", "/", "?", "#")
