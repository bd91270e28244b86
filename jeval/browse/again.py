"""The commands that do a run again, as one types them."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["command"]

# Values of these keys are put in quotes by `jeval run`, so that nobody has to.
_QUOTED = re.compile(r"((?:[+\w.-]+\.)?(?:path|base_url|model|name|store)|gate\.baseline)='([^'\\$\[\"][^'\\$]*)'")
# A word needs no quotes at any key, unless it is one that stands for something else.
_WORD = re.compile(r"([+\w.-]+)='((?!(?:null|true|false|nan|inf)')[A-Za-z][\w.-]*)'", re.IGNORECASE)
# What a shell reads as it stands between double quotes.
_SAFE = re.compile(r"[^\"$`\\!]*")

# The judges that jeval comes with, and all that describes one.
_JUDGES = frozenset({"jev", "local", "nanogpt", "openai", "openrouter", "vercel"})
_OF_A_JUDGE = frozenset(
    f"judge.{key}"
    for key in (
        "name", "gateway", "protocol", "base_url", "path", "model", "key_env", "concurrency", "timeout_s",
        "max_attempts", "budget_s", "usd_per_million_input", "usd_per_million_output", "structured", "temperature",
        "reuse", "repeat", "max_usd", "max_state_tokens",
    )
)  # fmt: skip


def command(run: Mapping[str, Any]) -> dict[str, str]:
    """The commands that do the run again: exactly as saved, and from what was given on its command line. Both name
    the store where the run's own command did."""
    overrides = _by_name([_typed(str(one)) for one in json.loads(run["overrides"] or "[]")])
    stores = [one for one in overrides if one.startswith("store=")][-1:]
    return {
        "exact": " ".join(["jeval run --from-run", run["id"], *map(_shell, stores)]),
        "again": " ".join(["jeval run", *map(_shell, overrides)]),
    }


def _typed(override: str) -> str:
    """An override as one types it."""
    quoted = _QUOTED.fullmatch(override)
    if quoted is None or quoted[2] == "null":
        quoted = _WORD.fullmatch(override)
    return override if quoted is None else f"{quoted[1]}={quoted[2]}"


def _by_name(overrides: Sequence[str]) -> list[str]:
    """The overrides with the judge chosen by its name, where it is spelled out in full upon another and is one of
    ours: whatever the option of that name says is then overridden, so it means the same."""
    given = dict(one.split("=", 1) for one in overrides if "=" in one)
    name = given.get("judge.name")
    spelled = given.get("judge") == "offline" and given.keys() >= _OF_A_JUDGE
    if not spelled or name not in _JUDGES or given["judge.gateway"] != name:
        return list(overrides)
    chosen = (f"judge={name}" if one == "judge=offline" else one for one in overrides)
    return [one for one in chosen if not one.startswith(("judge.name=", "judge.gateway="))]


def _shell(text: str) -> str:
    """A word of a shell's command line, quoted where it must be and as plainly as may be."""
    return f'"{text}"' if "'" in text and _SAFE.fullmatch(text) else shlex.quote(text)
