"""A threshold profile that was tuned: the YAML file it is written to, and what such a file says of its origin."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jeval.app.painter import plain
from jeval.errors import JevalError
from jeval.fingerprint import compact
from jeval.rubric import Thresholds

__all__ = ["TunedOn", "profile_lines", "tuned_on"]

_MARK = "# tuned on: "


class TunedOn(NamedTuple):
    """What a profile was tuned on: how many cases with labels, where in the metadata, and the labels' hash."""

    cases: int
    labels_sha256: str
    where: Mapping[str, str]


def profile_lines(name: str, thresholds: Thresholds, origin: Sequence[str], tuned: TunedOn) -> list[str]:
    """The profile as lines of a file of `conf/thresholds/`; `origin` says where it comes from."""
    return [
        *(f"# {plain(line)}" for line in origin),
        _MARK + compact(tuned._asdict()),
        f"name: {name}",
        f"pass: {thresholds.pass_!r}",
        f"fail: {thresholds.fail!r}",
    ]


def tuned_on(root: Path, name: str | None, pass_: float | None, fail: float | None) -> TunedOn | None:
    """What the project's profile of this name was tuned on; None where it was not, or has other thresholds now."""
    if not name or Path(name).name != name:
        return None
    try:
        text = (root / "conf" / "thresholds" / f"{name}.yaml").read_text(encoding="utf-8")
    except (OSError, ValueError):  # not there, no text, or no name of a file
        return None
    marks = [line.removeprefix(_MARK) for line in text.splitlines() if line.startswith(_MARK)]
    return _read(marks[0], text, pass_, fail) if len(marks) == 1 else None


def _read(mark: str, text: str, pass_: float | None, fail: float | None) -> TunedOn | None:
    from jeval.app.parse import BadText, parse_json
    from jeval.app.parse_yaml import parse_yaml

    try:
        found: Any = parse_json(mark.encode())
        profile: Any = parse_yaml(text.encode())
        if (profile["pass"], profile["fail"]) != (pass_, fail):
            return None
        return TunedOn(int(found["cases"]), str(found["labels_sha256"]), dict(found["where"]))
    except (BadText, JevalError, KeyError, TypeError, ValueError):  # edited by hand: it says nothing then
        return None
