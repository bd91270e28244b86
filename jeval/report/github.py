"""A run on GitHub: the summary of a workflow's step, and annotations.

Text from cases, rubrics and judges is data there too: it can make no link, mention, HTML or workflow command.
"""

from collections.abc import Mapping, Sequence

from jeval.counted import counted
from jeval.gate import GateVerdict
from jeval.report.escape import code, command_data, command_property, markdown
from jeval.report.gated import gate_word
from jeval.report.overview import STATUSES, CheckLine, Overview, dollars

__all__ = ["ANNOTATIONS", "LISTED", "github_annotations", "github_summary"]

# GitHub shows this many errors of a step and drops the rest.
ANNOTATIONS = 10

# A page people still read; GitHub's own limit is 1 MiB a step.
LISTED = 25
_WIDTH, _ANSWER = 300, 160


def github_summary(
    overview: Overview,
    verdict: GateVerdict | None,
    failures: Sequence[CheckLine] = (),
    *,
    gate: str = "",
    answers: Mapping[str, str] | None = None,
) -> str:
    """The run as GitHub's Markdown; `failures` are the failed checks to list, what matters most first. `gate` is the
    name of the gate that gave the verdict, `answers` the beginnings of what was answered, by case id."""
    name = f" {code(overview.name)}" if overview.name else ""
    lines = [f"## {_headline(overview, verdict)}", "", f"Run {code(overview.id)}{name}: {_what(overview)}"]
    if overview.simulated:
        lines += [
            "",
            "**Simulated**: the offline judge compares words; these are no findings about the answers.",
        ]
    if verdict is not None:
        lines += ["", f"| | {f'gate {code(gate)}' if gate else 'gate'} |", "|---|---|"]
        broken_first = sorted(verdict.reasons, key=lambda reason: reason.holds)
        lines += [f"| {'✓' if reason.holds else '✕'} | {markdown(reason.text)} |" for reason in broken_first]
    if overview.rubrics:
        lines += ["", *_rubric_table(overview)]
    if overview.scores:
        lines += [
            "",
            "| metric | mean | scored | passed | not scored | errors |",
            "|---|--:|--:|--:|--:|--:|",
        ]
        for score in overview.scores:
            mean = "–" if score.mean is None else f"{score.mean:.3f}"
            passed = "–" if overview.simulated else score.passed
            cells = (code(score.id), mean, score.scored, passed, score.skipped, score.errors)
            lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    lines += _failure_table(overview, failures, answers or {})
    return "\n".join(lines) + "\n"


def _headline(overview: Overview, verdict: GateVerdict | None) -> str:
    head = "jeval" if verdict is None else f"jeval: gate {gate_word(verdict.exit_code)}"
    number = overview.critical_failures
    critical = counted(number, "critical failure") if number else "no critical failures"
    return f"{head}, {critical}"


def _what(overview: Overview) -> str:
    profile = overview.thresholds or "custom"
    limits = f"pass {overview.threshold_pass}, fail {overview.threshold_fail}"
    judged = f"judged by {markdown(overview.judge)} ({code(overview.model)})"
    cost = f", {dollars(overview.cost_usd)}" if overview.cost_usd is not None else ""
    cases = f"{counted(overview.evaluated, 'case')} of {code(overview.dataset)}"
    return f"{cases}, thresholds {markdown(profile)} ({limits}), {judged}{cost}"


def _rubric_table(overview: Overview) -> list[str]:
    lines = ["| rubric | severity | " + " | ".join(STATUSES) + " |", "|---|---|" + "--:|" * len(STATUSES)]
    for rubric in overview.rubrics:
        optional = "" if rubric.required else ", optional"
        counts = " | ".join(f"{rubric.counts[status]:,}" for status in STATUSES)
        lines.append(f"| {code(f'{rubric.id} {rubric.version}')} | {rubric.severity}{optional} | {counts} |")
    totals = " | ".join(f"**{overview.counts[status]:,}**" for status in STATUSES)
    return [*lines, f"| **all** | | {totals} |"]


def _failure_table(overview: Overview, failures: Sequence[CheckLine], answers: Mapping[str, str]) -> list[str]:
    if not failures:
        return []
    more_head, more_rule = (" answer |", "---|") if answers else ("", "")
    lines = ["", f"| failed case | rubric | severity | why |{more_head}", f"|---|---|---|---|{more_rule}"]
    for check in failures[:LISTED]:
        why = code(_cut(check.reason, _WIDTH))
        row = f"| {code(check.case_id)} | {code(check.rubric_id)} | {check.severity} | {why} |"
        answer = " ".join(answers.get(check.case_id, "").split())
        lines.append(row + (f" {markdown(_cut(answer, _ANSWER))} |" if answers else ""))
    more = overview.counts["fail"] - min(len(failures), LISTED)
    return [*lines, "", f"… and {counted(more, 'more failure')}."] if more > 0 else lines


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def github_annotations(verdict: GateVerdict, failures: Sequence[CheckLine] = ()) -> list[str]:
    """Workflow commands, a line each: the broken rules, then failures as far as GitHub shows them.

    Failures are errors where the gate counts them, warnings where it lets them pass.
    """
    counted = any(reason.rule in ("max_failures", "max_critical_failures") for reason in verdict.broken)
    lines = [f"::error title=jeval gate::{command_data(reason.text)}" for reason in verdict.broken]
    for check in failures[: max(0, ANNOTATIONS - len(lines))]:
        title = command_property(f"{check.severity}: {check.rubric_id} {check.rubric_version}")
        level = "error" if check.required and counted else "warning"
        lines.append(f"::{level} title={title}::{command_data(f'{check.case_id}: {check.reason}')}")
    return lines[:ANNOTATIONS]
