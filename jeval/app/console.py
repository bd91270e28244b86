"""What people read after a run: critical failures first, then counts and rates, each with its denominator."""

import sqlite3
import sys
from typing import Any

from jeval.app.outcome import Outcome
from jeval.app.painter import COLOURS, Painter, duration, plain
from jeval.app.prepare import Prepared
from jeval.counted import counted
from jeval.ruling import STATUSES
from jeval.store.told import critical_failures, request_errors
from jeval.summary import Summary

__all__ = ["Painter", "outcome_json", "plain", "print_outcome"]


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%} ({part:,} of {whole:,})" if whole else "none"


def print_outcome(painter: Painter, prepared: Prepared, outcome: Outcome, connection: sqlite3.Connection) -> None:
    """The summary of a run."""
    settings = prepared.settings
    head = f"run {outcome.run_id}" + (f" “{plain(outcome.name, 60)}”" if outcome.name else "")
    painter.line(painter.paint(head, "bold"))
    what = " + ".join(
        part
        for part in (
            f"{counted(len(prepared.rubrics), 'rubric')} ({plain(settings.rubrics.name, 60)})"
            if prepared.rubrics
            else "",
            f"{counted(len(prepared.metrics), 'metric')} ({plain(settings.metrics.name, 60)})"
            if prepared.metrics
            else "",
        )
        if part
    )
    limits = settings.thresholds
    profile = f"thresholds {plain(limits.name, 60)} (pass {limits.pass_:g}, fail {limits.fail:g})"
    of = plain(prepared.dataset.path.name, 60)
    painter.line(f"  {counted(outcome.summary.cases, 'case')} of {of} × {what} · {profile}")
    judged = " + ".join(outcome.models) or settings.judge.model or settings.judge.name
    painter.line(f"  judged by {plain(settings.judge.name, 40)} ({plain(judged, 80)}) · {_effort(outcome)}")
    if outcome.simulated:
        note = "simulated: the offline judge compares words, it understands nothing; what it cannot know is for review"
        painter.line("  " + painter.paint(note, "yellow"))
    if outcome.stopped_because:
        painter.line("  " + painter.paint(f"stopped: {plain(outcome.stopped_because)}", "magenta"))
    for warning in prepared.warnings:
        painter.line("  " + painter.paint(f"warning: {plain(warning)}", "yellow"))
    if len(outcome.models) > 1:
        painter.line(
            "  "
            + painter.paint(f"warning: several model versions answered: {plain(', '.join(outcome.models))}", "yellow")
        )
    painter.line()
    _print_critical(painter, outcome, connection)
    _print_counts(painter, outcome.summary)
    _print_rubrics(painter, outcome.summary)
    _print_scores(painter, outcome.summary, simulated=outcome.simulated)
    _print_flips(painter, prepared, outcome)
    _print_incomplete(painter, outcome, connection)


def _effort(outcome: Outcome) -> str:
    parts = [f"{outcome.asked:,} asked, {outcome.reused:,} reused"]
    if outcome.oldest_reused:
        parts[0] += f" (oldest {outcome.oldest_reused[:10]})"
    if outcome.requests:
        parts.append(counted(outcome.requests, "request"))
    if outcome.input_tokens is not None:
        parts.append(f"{counted(outcome.input_tokens, 'token')} in")
    if outcome.cost_usd is not None:
        parts.append(f"${outcome.cost_usd:.4f}")
    parts.append(duration(outcome.wall_s) if outcome.wall_s >= 1 else f"{outcome.wall_s:.2f}s")
    return " · ".join(parts)


def _print_critical(painter: Painter, outcome: Outcome, connection: sqlite3.Connection) -> None:
    total = outcome.summary.critical_failures
    if not total:
        _print_no_critical(painter, outcome.summary)
        return
    painter.line(painter.paint(counted(total, "CRITICAL FAILURE", "CRITICAL FAILURES"), "bold", "red"))
    rows = critical_failures(connection, outcome.run_id, 10)
    for case_id, rubric_id, version, reason in rows:
        painter.line(f"  {painter.status('fail', case_id)}  {rubric_id} {plain(version)}: {plain(reason, 150)}")
    if total > 10:
        painter.line(f"  … and {total - 10:,} more: jeval show {outcome.run_id} --status fail --severity critical")


def _print_no_critical(painter: Painter, summary: Summary) -> None:
    """No critical failure is good news only as far as critical checks were decided."""
    critical = [tally.counts for tally in summary.rubrics.values() if tally.rubric.severity == "critical"]
    decided = sum(counts["pass"] for counts in critical)
    undecided = sum(counts["review"] + counts["error"] for counts in critical)
    if decided:
        painter.line(painter.paint(f"no critical failures among {counted(decided, 'decided critical check')}", "green"))
    elif not undecided:
        painter.line(painter.paint("no check of critical severity applied", "bright_black"))
    if undecided:
        painter.line(
            painter.paint(counted(undecided, "critical check is", "critical checks are") + " undecided", "yellow")
        )


def _print_counts(painter: Painter, summary: Summary) -> None:
    if not summary.checks:
        return
    counts = summary.counts
    shown = "   ".join(painter.status(status, f"{counts[status]:,} {status}") for status in STATUSES)
    painter.line()
    painter.line(f"{painter.paint(counted(summary.checks, 'check'), 'bold')}   {shown}")
    painter.line(
        f"  pass rate {_share(counts['pass'], summary.decided)} decided"
        f" · decided {_share(summary.decided, summary.applicable)} applicable"
        f" · for review {_share(counts['review'], summary.applicable)} applicable"
    )


def _print_rubrics(painter: Painter, summary: Summary) -> None:
    if not summary.rubrics:
        return
    painter.line()
    tallies = sorted(summary.rubrics.values(), key=lambda t: -t.counts["fail"])
    names = {t.rubric.id: f"{t.rubric.id} {plain(t.rubric.version)}" for t in tallies}
    width = max(map(len, names.values()))
    painter.line(f"  {'rubric':<{width}}  {'severity':<8}" + "".join(f"{status:>9}" for status in STATUSES))
    for tally in tallies:
        optional = "" if tally.rubric.required else "  (optional)"
        cells = ""
        for status in STATUSES:
            cell = f"{tally.counts[status]:>9,}" if tally.counts[status] else f"{'·':>9}"
            cells += painter.paint(cell, COLOURS[status] if tally.counts[status] else "bright_black")
        painter.line(f"  {names[tally.rubric.id]:<{width}}  {tally.rubric.severity:<8}{cells}{optional}")


def _print_scores(painter: Painter, summary: Summary, *, simulated: bool) -> None:
    if not summary.scores:
        return
    painter.line()
    if simulated:
        note = "the offline judge cannot answer a metric's questions: these scores say nothing about the answers"
        painter.line("  " + painter.paint(note, "yellow"))
    width = max(len(name) for name in summary.scores)
    for name, score in summary.scores.items():
        mean = f"{score.mean:.3f}" if score.mean is not None else "–"
        rest = f" · {score.skipped:,} not scored" if score.skipped else ""
        rest += f" · {counted(score.errors, 'error')}" if score.errors else ""
        painter.line(f"  {name:<{width}}  mean {mean} of {score.scored:,} scored · {score.passed:,} passed{rest}")


def _print_flips(painter: Painter, prepared: Prepared, outcome: Outcome) -> None:
    repeats = prepared.settings.judge.repeat
    if repeats == 1:
        return
    total = sum(outcome.flips.values())
    painter.line()
    painter.line(f"  {_share(total, outcome.summary.checks)} checks change status by chance among {repeats} repeats")
    for (rubric, status), number in outcome.flips.most_common(10):
        painter.line(f"    {rubric}: {number:,} counted as {status}")


def _print_incomplete(painter: Painter, outcome: Outcome, connection: sqlite3.Connection) -> None:
    errors = outcome.summary.errors
    if errors:
        painter.line()
        painter.line(painter.paint(f"{errors:,} without a usable answer; run again to ask for them:", "magenta"))
        rows = request_errors(connection, outcome.run_id)
        for kind, number, message in rows:
            painter.line(f"  {number:,} × {kind}: {plain(message or '', 150)}")
    if outcome.left and outcome.status != "complete":
        left = counted(outcome.left, "case is", "cases are")
        painter.line(f"  {left} left; the same command goes on where this stopped")


def outcome_json(prepared: Prepared, outcome: Outcome, store: str) -> dict[str, Any]:
    """The run as a machine reads it."""
    summary, settings = outcome.summary, prepared.settings
    return {
        "run_id": outcome.run_id,
        "name": outcome.name,
        "status": "complete" if outcome.status == "complete" else "incomplete",
        "exit_code": outcome.exit_code,
        "cases": summary.cases,
        "checks": summary.checks,
        "counts": dict(summary.counts),
        "critical_failures": summary.critical_failures,
        "scores": {name: score.mean for name, score in summary.scores.items()},
        "thresholds": {"pass": settings.thresholds.pass_, "fail": settings.thresholds.fail},
        "judge": settings.judge.name,
        "model": ", ".join(outcome.models) or settings.judge.model,
        "simulated": outcome.simulated,
        "requests": outcome.requests,
        "judgments": {"asked": outcome.asked, "reused": outcome.reused},
        "usage": {"input_tokens": outcome.input_tokens, "output_tokens": outcome.output_tokens},
        "cost_usd": outcome.cost_usd,
        "wall_s": round(outcome.wall_s, 3),
        "store": store,
        "gate": outcome.gate,
    }


def stderr_painter(environ: Any) -> Painter:
    """A painter for messages beside the result."""
    return Painter(sys.stderr, environ)
