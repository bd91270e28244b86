"""Text made safe to look at: what would be obeyed or hidden is written out instead.

Control characters, and those that turn the reading direction around, become visible signs. Markup is not this
module's matter: the templates escape it.
"""

import re
from typing import Any

from markupsafe import Markup

__all__ = ["finalize", "hides", "visible"]

# Line feed and tab are layout. All other controls, direction marks, separators and invisible
# operators are shown; the joiners U+200C and U+200D stay, for scripts and emoji need them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def _sign(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)  # Unicode has a picture of each
    return "\u2421" if code == 0x7F else f"\u27e8U+{code:04X}\u27e9"


def visible(text: str) -> str:
    """The text with everything unseen written out: ESC as a picture, a direction mark by its code."""
    if text.isprintable():  # quick, and true of most texts of one line
        return text
    return _UNSEEN.sub(_sign, text.replace("\r\n", "\n"))


def hides(text: str) -> bool:
    """Whether the text holds something that cannot be seen."""
    return not text.isprintable() and _UNSEEN.search(text) is not None


def finalize(value: Any) -> Any:
    """What every `{{ … }}` of a template passes through before it is escaped."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value)
    return "" if value is None else value
