"""Runs from above, in a terminal: who judged what, counts and rates with their denominators."""

from collections.abc import Sequence

from jeval.app.painter import COLOURS, Painter, duration, plain
from jeval.counted import counted
from jeval.report.overview import STATUSES, CheckLine, Overview

__all__ = ["print_check", "print_counts", "print_head", "print_list", "print_rubrics", "print_scores"]


def print_list(painter: Painter, runs: Sequence[Overview]) -> None:
    """A list of runs, two lines each."""
    for run in runs:
        painter.line(_title(painter, run) + painter.paint(f"  {_when(run)}", "bright_black"))
        counts = run.counts
        shown = "  ".join(painter.status(name, f"{counts[name]:,}") for name in STATUSES if sum(counts.values()))
        critical = painter.paint(f"{run.critical_failures:,} CRITICAL", "bold", "red") if run.critical_failures else ""
        scores = ", ".join(f"{plain(line.id, 30)} {_mean(line.mean)}" for line in run.scores[:3])
        more = f" and {len(run.scores) - 3} more metrics" if len(run.scores) > 3 else ""
        parts = [
            f"{counted(run.evaluated, 'case')} of {plain(run.dataset, 30)}",
            _profile(run),
            _judged(painter, run),
            shown,
            critical,
            scores + more,
            _cost(run),
        ]
        painter.line("  " + " · ".join(part for part in parts if part))


def _title(painter: Painter, run: Overview) -> str:
    name = f" “{plain(run.name, 60)}”" if run.name else ""
    title = painter.paint(f"{run.id}{name}", "bold")
    state = _state(run)
    return f"{title}  {painter.paint(state, 'magenta')}" if state else title


def _state(run: Overview) -> str:
    """What is to know about how a run ended; nothing where it is complete."""
    if not run.ended:
        cases = counted(run.evaluated, "case") if run.cases is None else _part(run.evaluated, run.cases)
        return f"unfinished: {cases}; it is going on, or its process died"
    if run.status == "complete":
        return ""
    why = f": {plain(run.stopped_because, 100)}" if run.stopped_because else ""
    left = "" if run.cases in (None, run.evaluated) else f", {_part(run.evaluated, run.cases or 0)}"
    return f"{run.status}{left}{why}"


def _part(done: int, cases: int) -> str:
    return f"{done:,} of {counted(cases, 'case')}"


def _when(run: Overview) -> str:
    return f"{run.started_at[:10]} {run.started_at[11:16]} UTC"


def _profile(run: Overview) -> str:
    if run.threshold_pass is None or run.threshold_fail is None:
        return ""
    return f"{plain(run.thresholds or 'custom', 30)} {run.threshold_pass:g}/{run.threshold_fail:g}"


def _judged(painter: Painter, run: Overview) -> str:
    model = f"{plain(run.judge, 30)} ({plain(run.model, 60)})"
    return f"{model} {painter.paint('simulated', 'yellow')}" if run.simulated else model


def _cost(run: Overview) -> str:
    return f"${run.cost_usd:.4f}" if run.cost_usd is not None else ""


def _mean(mean: float | None) -> str:
    return "–" if mean is None else f"{mean:.3f}"


def print_head(painter: Painter, run: Overview) -> None:
    """What was judged by whom, and what it took."""
    painter.line(f"run {_title(painter, run)}")
    what = f"{counted(run.evaluated, 'case')} of {plain(run.dataset, 60)}"
    by = [(len(run.rubrics), "rubric"), (len(run.scores), "metric")]
    judged_by = " + ".join(counted(number, noun) for number, noun in by if number)
    what += f" × {judged_by}" if judged_by else ""
    painter.line(f"  {what} · thresholds {_profile(run) or 'unknown'}")
    painter.line(f"  judged by {_judged(painter, run)} · {_when(run)} · {_effort(run)}")
    tags = ", ".join(f"{plain(str(key), 30)}={plain(str(value), 60)}" for key, value in run.tags.items())
    if tags:
        painter.line(f"  {tags}")
    if run.sweep_id:
        painter.line(f"  of the sweep {plain(run.sweep_id, 60)}")


def _effort(run: Overview) -> str:
    reused = f" (oldest {run.oldest_reused_at[:10]})" if run.oldest_reused_at else ""
    parts = [f"{run.asked:,} asked, {run.reused:,} reused{reused}"]
    if run.requests:
        parts.append(counted(run.requests, "request"))
    if run.input_tokens is not None:
        parts.append(f"{counted(run.input_tokens, 'token')} in")
    parts.append(_cost(run))
    if run.wall_s is not None:
        parts.append(duration(run.wall_s) if run.wall_s >= 1 else f"{run.wall_s:.2f}s")
    return " · ".join(part for part in parts if part)


def print_counts(painter: Painter, run: Overview) -> None:
    """Checks by status, and the rates."""
    counts, total = run.counts, sum(run.counts.values())
    if not total:
        return
    shown = "   ".join(painter.status(status, f"{counts[status]:,} {status}") for status in STATUSES)
    painter.line()
    painter.line(f"{painter.paint(counted(total, 'check'), 'bold')}   {shown}")
    painter.line(
        f"  pass rate {_share(counts['pass'], run.decided)} decided"
        f" · decided {_share(run.decided, run.applicable)} applicable"
        f" · for review {_share(counts['review'], run.applicable)} applicable"
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%} ({part:,} of {whole:,})" if whole else "none"


def print_rubrics(painter: Painter, run: Overview) -> None:
    """A table of the rubrics, those with most failures first."""
    if not run.rubrics:
        return
    painter.line()
    lines = sorted(run.rubrics, key=lambda line: -line.counts["fail"])
    width = max(len(f"{line.id} {line.version}") for line in lines)
    head = f"  {'rubric':<{width}}  {'severity':<8}" + "".join(f"{status:>9}" for status in STATUSES)
    painter.line(painter.paint(head, "bright_black"))
    for line in lines:
        cells = ""
        for status in STATUSES:
            number = line.counts[status]
            cell = f"{number:>9,}" if number else f"{'·':>9}"
            cells += painter.paint(cell, COLOURS[status] if number else "bright_black")
        optional = "" if line.required else "  (optional)"
        painter.line(f"  {f'{line.id} {line.version}':<{width}}  {line.severity:<8}{cells}{optional}")


def print_scores(painter: Painter, run: Overview) -> None:
    """The metrics."""
    if not run.scores:
        return
    painter.line()
    width = max(len(f"{line.id} {line.version}") for line in run.scores)
    for line in run.scores:
        rest = f" · {line.skipped:,} not scored" if line.skipped else ""
        rest += f" · {counted(line.errors, 'error')}" if line.errors else ""
        scored = f"mean {_mean(line.mean)} of {line.scored:,} scored · {line.passed:,} passed"
        painter.line(f"  {f'{line.id} {line.version}':<{width}}  {scored}{rest}")


def print_check(painter: Painter, check: CheckLine, width: int = 160) -> None:
    """One check in two lines: what came of what, and why."""
    marks = [check.severity if check.severity == "critical" else "", "" if check.required else "optional"]
    mark = ", ".join(text for text in marks if text)
    status = painter.status(check.status, f"{check.status:<7}")
    head = f"{status}  {check.case_id}  {check.rubric_id} {check.rubric_version}"
    painter.line(f"  {head}" + (f" ({mark})" if mark else ""))
    painter.line(painter.paint(f"      {plain(check.reason, width)}", "bright_black"))
