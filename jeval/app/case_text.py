"""One case in a terminal: the evidence, then each check with what was asked, answered and made of it by code.

Every text is shown as text, line by line.
"""

import json
from collections.abc import Mapping
from typing import Any

from jeval.app.painter import SIMULATED, Painter, folded, plain, titled
from jeval.app.score_text import score_lines
from jeval.counted import counted
from jeval.report.overview import CheckLine

__all__ = ["print_case"]

# Long texts are cut for people; --json has them whole.
_LINES = 40
_BAR = 20


def print_case(painter: Painter, found: Mapping[str, Any]) -> None:
    """Write what `read_case` found."""
    width = painter.width
    painter.line(painter.paint(f"case {found['case_id']}", "bold") + f" of run {found['run_id']}")
    if found["simulated"]:
        painter.line(painter.paint(SIMULATED, "yellow"))
    _print_evidence(painter, found["case"], width)
    for check in found["checks"]:
        _print_check(painter, check, found, width)
    for line in score_lines(painter, found["scores"], width=width, simulated=found["simulated"]):
        painter.line(line)
    _print_requests(painter, found["requests"])


def _print_evidence(painter: Painter, case: Mapping[str, Any], width: int) -> None:
    for key in ("chatbotRole", "scenario", "input", "output", "expectedOutcome", "policy"):
        if case.get(key) is not None:
            _block(painter, key, case[key], width)
    for message in case.get("messages", ()):
        _block(
            painter,
            f"message {message.get('id', '')} {message.get('role', '')}",
            message.get("content"),
            width,
        )
    for item in case.get("context", ()):
        title = f" “{item['title']}”" if item.get("title") else ""
        _block(painter, f"context {item.get('id', '')}{title}", item.get("content"), width)
    events = case.get("toolEvents")
    if events == []:
        _block(painter, "tool events", "none: no tool was called", width)
    for event in events or ():
        head = f"tool event {event.get('id', '')} {event.get('name', '')} {event.get('status', '')}"
        rest = {key: event[key] for key in ("input", "output", "error") if event.get(key) is not None}
        _block(painter, head, "\n".join(f"{key}: {_json(value)}" for key, value in rest.items()), width)
    if case.get("metadata"):
        _block(painter, "metadata (never sent)", _json(case["metadata"]), width)


def _block(painter: Painter, title: str, value: Any, width: int) -> None:
    """A titled text, every line of it plain."""
    painter.line()
    painter.line(painter.paint(plain(title.strip(), width), "bold"))
    _lines(painter, value if isinstance(value, str) else _json(value), width, "  ")


def _lines(painter: Painter, text: str, width: int, indent: str, *styles: str) -> None:
    lines: list[str] = []
    for line in text.split("\n"):
        lines += folded(line.replace("\t", "    "), width - len(indent))
    for line in lines[:_LINES]:
        painter.line(indent + painter.paint(line, *styles) if styles else indent + line)
    if len(lines) > _LINES:
        painter.line(f"{indent}… and {len(lines) - _LINES:,} more lines; --json has them all")


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _print_check(painter: Painter, check: CheckLine, found: Mapping[str, Any], width: int) -> None:
    marks = f"{check.kind}, {check.severity}" + ("" if check.required else ", optional")
    painter.line()
    head = painter.status(check.status, check.status.upper())
    name = painter.paint(f"{check.rubric_id} {plain(check.rubric_version)}", "bold")
    painter.line(f"{head}  {name} ({marks})")
    rows: list[tuple[str, str]] = [("because", f"{check.reason} [rule {check.rule}]")]
    if check.outcome is not None:
        rows.append(("outcome", check.outcome))
    limits = found["thresholds"].get(check.rubric_id)
    if limits and check.probabilities is not None:
        own = ", the rubric's own" if limits["own"] else ""
        rows.append(("thresholds", f"pass {limits['pass']:g}, fail {limits['fail']:g}{own}"))
    if check.confidence is not None:
        rows.append(("confidence", f"{check.confidence:g}, the provider's statistic: no accuracy, and not used"))
    if check.evidence:
        rows.append(("shown", _shown(check.evidence)))
    rows += [("label", _label(label, check)) for label in found["labels"] if label["rubric_id"] == check.rubric_id]
    if check.rubric_id in found["repeats"]:
        rows.append(("repeats", ", ".join(found["repeats"][check.rubric_id]) + ": it changes by chance"))
    for name, text in rows:
        for line in titled(name, text, width):
            painter.line(line)
    _print_probabilities(painter, check.probabilities)
    if check.criterion is not None:
        painter.line("  asked")
        _lines(painter, check.criterion, width, "    ", "bright_black")


def _shown(evidence: Mapping[str, Any]) -> str:
    """The fields and ids that the judge was shown, and what code noted of them."""
    fields = [", ".join(evidence["fields"])] if evidence.get("fields") else []
    more = [f"{key} {_json(value)}" for key, value in evidence.items() if key != "fields"]
    return "; ".join(fields + more)


def _label(label: Mapping[str, Any], check: CheckLine) -> str:
    by = f" by {label['reviewer']}" if label["reviewer"] else ""
    note = f": {label['note']}" if label["note"] else ""
    agrees = "agrees" if label["expected"] == check.status else f"DISAGREES, it expects {label['expected']}"
    return f"{label['source']}{by} {agrees}{note}"


def _print_probabilities(painter: Painter, probabilities: Mapping[str, Any] | None) -> None:
    if not probabilities:
        return
    parts = probabilities if isinstance(next(iter(probabilities.values())), Mapping) else {"": probabilities}
    width = max(len(plain(name)) for part in parts.values() for name in part)
    for part, distribution in parts.items():
        if part:
            painter.line(f"  {plain(part)}")
        top = max(distribution.values())
        for name, p in distribution.items():
            bar = "━" * round(p * _BAR)
            style = "cyan" if p == top else "bright_black"
            painter.line(f"    {plain(name):<{width}}  {p:<6.4g} {painter.paint(bar, style)}".rstrip())


def _print_requests(painter: Painter, requests: list[dict[str, Any]]) -> None:
    if not requests:
        return
    painter.line()
    painter.line(painter.paint("requests", "bold"))
    for request in requests:
        parts = [
            request["asked_at"][:19],
            plain(request["model_served"] or "no model answered", 60),
            "from an earlier run" if request["reused"] else "",
            f"{request['latency_ms']:.0f} ms" if request["latency_ms"] is not None else "",
            f"{request['attempts']} attempts" if request["attempts"] > 1 else "",
            f"repeat {request['repeat']}" if request["repeat"] else "",
            f"{counted(request['input_tokens'], 'token')} in" if request["input_tokens"] is not None else "",
            f"{request['error_kind']}: {plain(request['error_message'] or '', 120)}" if request["error_kind"] else "",
        ]
        painter.line("  " + " · ".join(part for part in parts if part))
