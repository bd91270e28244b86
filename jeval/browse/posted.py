"""Whether a label may be written: only from a page of this server, by somebody who was given its token."""

from collections.abc import Mapping
from secrets import compare_digest
from typing import Any

__all__ = ["foreign", "refusal"]


def foreign(headers: Mapping[str, str], own: str) -> bool:
    """Whether a request that changes something comes from another site than `own` (scheme://host:port)."""
    origin = headers.get("origin")
    if origin is not None:
        return origin != own
    return headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")


def refusal(request: Any, posted: Mapping[str, str], allowed: bool) -> str | None:
    """Why this label is refused, or None.

    Datasette lets a request without cookies through without a token, for it has nobody to protect then;
    here a token is
    wanted always.
    """
    if not allowed:
        return "Labels are off on this server. Use `jeval serve`, or set plugins → jeval → labels to true."
    if foreign(request.headers, f"{request.scheme}://{request.host}"):
        return "This label was sent by a page of another site."
    token, cookie = posted.get("csrftoken", ""), request.cookies.get("ds_csrftoken", "")
    if not cookie or not compare_digest(token.encode(), cookie.encode()) or request.scope["csrftoken"]() != cookie:
        return "This label came without this server's token. Open the review page again and label from there."
    return None
