"""Pages from templates: every value is made visible, then escaped, before it reaches a page."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from jeval.browse import svg
from jeval.browse.visible import finalize, visible
from jeval.counted import counted
from jeval.report.overview import dollars

__all__ = ["ASSETS", "environment", "render", "warm"]

HERE = Path(__file__).resolve().parent
ASSETS = HERE / "assets"

SIGNS = {"pass": "✓", "fail": "✕", "review": "?", "skipped": "–", "error": "!"}


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates' environment: escaping on for every file, undefined names an error."""
    env = Environment(
        loader=FileSystemLoader(HERE / "screens"),
        autoescape=True,
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.globals |= {"SIGNS": SIGNS, "svg": svg, "STATUSES": tuple(SIGNS), "counted": counted}
    env.filters |= {
        "share": share,
        "n": lambda value: "–" if value is None else f"{value:,}",
        "p": probability,
        "when": when,
        "seg": lambda text: quote(str(text), safe=""),
        "pretty": pretty,
        "clip": clip,
        "usd": lambda value: "–" if value is None else dollars(value) if value < 1 else f"${value:,.2f}",
        "secs": duration,
        "words": lambda text: str(text).replace("_", " "),
    }
    return env


def render(template: str, values: Mapping[str, Any]) -> str:
    """The page."""
    return environment().get_template(template).render(**values)


def warm() -> None:
    """Compile every template, so that no first visitor waits for it."""
    env = environment()
    for name in env.list_templates():
        env.get_template(name)


def share(part: int | None, whole: int | None) -> str:
    """A rate with its denominator, as in "62.5% (5 of 8)"."""
    if not whole or part is None:
        return "–"
    return f"{part / whole:.1%} ({part:,} of {whole:,})"


def probability(value: Any) -> str:
    """A number from 0 to 1 with up to three decimals."""
    if not isinstance(value, int | float):
        return "–"
    return f"{value:.3f}".rstrip("0").rstrip(".") if value else "0"


def duration(seconds: float | None) -> str:
    """Seconds as people say them."""
    if seconds is None:
        return "–"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def when(text: str | None) -> str:
    """A stored time to the minute, with its zone."""
    if not text:
        return "–"
    try:
        time = datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC)
    except ValueError:
        return text
    return f"{time:%Y-%m-%d %H:%M} UTC"


def pretty(value: Any) -> str:
    """A JSON value for people: texts as they are, the rest indented."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def clip(text: Any, width: int = 160) -> str:
    """The beginning of a text on one line, its unseen characters written out."""
    flat = visible(" ".join(str(text).split()))
    return flat if len(flat) <= width else flat[: width - 1] + "…"
