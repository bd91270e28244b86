"""Which threshold decides about which option: so that a bar of a probability shows where it tips over."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from jeval.ruling import average

__all__ = ["Bar", "Part", "bars"]


class Bar(NamedTuple):
    """One option: its probability, the threshold its rule compares it with (None where none does), and what
    reaching that leads to."""

    option: str
    p: float
    mark: float | None
    leads_to: str | None
    leading: bool


class Part(NamedTuple):
    """One question's bars; `name` is "" where a check asks only one."""

    name: str
    bars: list[Bar]


def bars(
    kind: str,
    definition: Mapping[str, Any],
    probabilities: Any,
    threshold_pass: float | None,
    threshold_fail: float | None,
) -> list[Part]:
    """A check's probabilities as bars, one part a question; empty where nothing was asked."""
    if not isinstance(probabilities, Mapping) or not probabilities:
        return []
    own = definition.get("thresholds") or {}
    passes = own.get("pass", threshold_pass)
    fails = own.get("fail", threshold_fail)
    roles = _roles(kind, definition, passes, fails)
    nested = all(isinstance(value, Mapping) for value in probabilities.values())
    if not nested:
        return [Part("", _bars(probabilities, roles))]
    if set(probabilities) == {"reader1", "reader2"}:  # the rule compares their mean, so only that has marks
        first, second = probabilities["reader1"], probabilities["reader2"]
        mean = average(first, second) if first.keys() == second.keys() else {}
        readers = [Part(name, _bars(distribution, {})) for name, distribution in probabilities.items()]
        return [*readers, Part("mean", _bars(mean, roles))]
    return [Part(name, _bars(distribution, roles)) for name, distribution in probabilities.items()]


def _roles(
    kind: str, definition: Mapping[str, Any], passes: float | None, fails: float | None
) -> dict[str, tuple[float | None, str]]:
    if kind in ("policy-compliance", "custom"):
        return {"acceptable": (passes, "pass"), "unacceptable": (fails, "fail")}
    if kind == "claim-support":
        roles = {"supported": (passes, "pass"), "contradicted": (fails, "fail")}
        if (definition.get("params") or {}).get("uncoveredIs") == "fail":
            roles["not_covered"] = (fails, "fail")
        return roles
    established = (passes, "holds")
    if kind == "tool-claim":
        return dict.fromkeys(("claims_completed", "does_not_claim"), established)
    if kind == "escalation":
        return dict.fromkeys(("required", "not_required", "states_escalation", "does_not_state"), established)
    return {}


def _bars(distribution: Mapping[str, Any], roles: Mapping[str, tuple[float | None, str]]) -> list[Bar]:
    numbers = {option: float(p) for option, p in distribution.items() if isinstance(p, int | float)}
    top = max(numbers.values(), default=0.0)
    found = []
    for option, p in numbers.items():
        mark, leads_to = roles.get(option) or (None, None)
        found.append(Bar(option, p, mark, leads_to if mark is not None else None, p == top and p > 0))
    return found
