"""Runs from above, in a terminal: who judged what, critical failures first, counts and rates with their denominators.

`jeval run` ends with the same lines as `jeval show` begins with.
"""

from collections.abc import Iterable, Sequence

from jeval.app.check_lines import print_checks
from jeval.app.painter import COLOURS, SIMULATED, Painter, duration, folded, packed, plain
from jeval.counted import counted
from jeval.report.overview import STATUSES, Overview, ScoreLine, dollars
from jeval.store.told import Told

__all__ = ["print_head", "print_list", "print_told"]

# What a set is called that was named by its file.
_NAMELESS = (None, "file")


def print_list(painter: Painter, runs: Sequence[Overview]) -> None:
    """A list of runs: of each its name and state, then what it came to."""
    for run in runs:
        state = painter.paint(plain(_state(run), 150), "magenta")
        painter.line("  ".join(part for part in (_title(painter, run), state, _when(painter, run)) if part))
        counts = run.counts
        shown = "  ".join(painter.status(name, f"{counts[name]:,}") for name in STATUSES if sum(counts.values()))
        critical = painter.paint(f"{run.critical_failures:,} CRITICAL", "bold", "red") if run.critical_failures else ""
        scores = ", ".join(f"{plain(line.id, 30)} {_mean(line.mean)}" for line in run.scores[:3])
        more = f" and {counted(len(run.scores) - 3, 'more metric')}" if len(run.scores) > 3 else ""
        profile = "" if run.threshold_pass is None else f"{_profile(run)} {run.threshold_pass:g}/{run.threshold_fail:g}"
        judged = _judged(run) + (" " + painter.paint("simulated", "yellow") if run.simulated else "")
        what = f"{counted(run.evaluated, 'case')} of {plain(run.dataset, 30)}"
        _packed(painter, [what, profile, judged, shown, critical, scores + more, _cost(run)])


def _packed(painter: Painter, parts: Iterable[str]) -> None:
    for line in packed(parts, painter.width - 2):
        painter.line(f"  {line}")


def _note(painter: Painter, text: str) -> None:
    for line in folded(text, painter.width - 2):
        painter.line("  " + painter.paint(line, "yellow"))


def _title(painter: Painter, run: Overview) -> str:
    name = f" “{plain(run.name, 60)}”" if run.name else ""
    return painter.paint(f"{run.id}{name}", "bold")


def _state(run: Overview) -> str:
    """What is to know about how a run ended; nothing where it is complete."""
    if run.status == "complete":
        return ""
    if not run.ended:
        cases = counted(run.evaluated, "case") if run.cases is None else _part(run.evaluated, run.cases)
        return f"unfinished: {cases}; it is going on, or its process died"
    why = f": {plain(run.stopped_because)}" if run.stopped_because else ""
    left = "" if run.cases in (None, run.evaluated) else f", {_part(run.evaluated, run.cases or 0)}"
    return f"{run.status}{left}{why}"


def _part(done: int, cases: int) -> str:
    return f"{done:,} of {counted(cases, 'case')}"


def _when(painter: Painter, run: Overview) -> str:
    return painter.paint(f"{run.started_at[:10]} {run.started_at[11:16]} UTC", "bright_black")


def _profile(run: Overview) -> str:
    return plain(run.thresholds or "custom", 40)


def _judged(run: Overview) -> str:
    return f"{plain(run.judge, 40)} ({plain(run.model, 80)})"


def _cost(run: Overview) -> str:
    return dollars(run.cost_usd) if run.cost_usd is not None else ""


def _mean(mean: float | None) -> str:
    return "–" if mean is None else f"{mean:.3f}"


def print_told(painter: Painter, told: Told, warnings: Sequence[str] = ()) -> None:
    """A run from above, its critical failures first. `warnings` are what was said before it began."""
    run = told.run
    print_head(painter, told, warnings)
    _print_critical(painter, told)
    _print_counts(painter, run)
    _print_rubrics(painter, run)
    _print_scores(painter, told)
    _print_flips(painter, told)
    _print_incomplete(painter, told)


def print_head(painter: Painter, told: Told, warnings: Sequence[str] = ()) -> None:
    """What was judged by whom, what it took, and what to know before reading on."""
    run = told.run
    painter.line(f"run {_title(painter, run)}  {_when(painter, run)}")
    if state := _state(run):
        for line in folded(state, painter.width - 2):
            painter.line("  " + painter.paint(line, "magenta"))
    used = ((len(run.rubrics), "rubric", told.rubric_set), (len(run.scores), "metric", told.metric_set))
    sets = " + ".join(
        counted(number, noun) + (f" ({plain(name, 60)})" if name not in _NAMELESS else "")
        for number, noun, name in used
        if number
    )
    what = f"{counted(run.evaluated, 'case')} of {plain(run.dataset, 60)}" + (f" × {sets}" if sets else "")
    limits = f" (pass {run.threshold_pass:g}, fail {run.threshold_fail:g})" if run.threshold_pass is not None else ""
    _packed(painter, [what, f"thresholds {_profile(run)}{limits}"])
    _packed(painter, [f"judged by {_judged(run)}", *_effort(run)])
    _packed(painter, [f"{plain(str(key), 30)}={plain(str(value), 60)}" for key, value in run.tags.items()])
    if run.sweep_id:
        painter.line(f"  of the sweep {plain(run.sweep_id, 60)}")
    simulated = [f"{SIMULATED}; what it cannot know is for review"] if run.simulated else []
    several = [f"several model versions answered: {run.model}"] if ", " in run.model else []
    for note in (*simulated, *(f"warning: {warning}" for warning in (*warnings, *several))):
        _note(painter, note)


def _effort(run: Overview) -> list[str]:
    reused = f" (oldest {run.oldest_reused_at[:10]})" if run.oldest_reused_at else ""
    parts = [f"{run.asked:,} asked, {run.reused:,} reused{reused}"]
    if run.requests:
        parts.append(counted(run.requests, "request"))
    if run.input_tokens is not None:
        parts.append(f"{counted(run.input_tokens, 'token')} in")
    parts.append(_cost(run))
    if run.wall_s is not None:
        parts.append(duration(run.wall_s) if run.wall_s >= 1 else f"{run.wall_s:.2f}s")
    return parts


def _print_critical(painter: Painter, told: Told) -> None:
    run, total = told.run, told.run.critical_failures
    if not run.rubrics:
        return
    painter.line()
    if not total:
        _print_no_critical(painter, run)
        return
    painter.line(painter.paint(counted(total, "CRITICAL FAILURE", "CRITICAL FAILURES"), "bold", "red"))
    print_checks(painter, told.critical, told.answers, alike=True)
    if total > len(told.critical):
        all_of_them = f"jeval show {run.id} --status fail --severity critical --limit 0"
        painter.line(f"  … and {total - len(told.critical):,} more: {all_of_them}")


def _print_no_critical(painter: Painter, run: Overview) -> None:
    """No critical failure is good news only as far as critical checks were decided, by a judge that can tell."""
    critical = [line.counts for line in run.rubrics if line.severity == "critical"]
    decided = sum(counts["pass"] for counts in critical)
    undecided = sum(counts["review"] + counts["error"] for counts in critical)
    if decided:
        colour = "yellow" if run.simulated else "green"
        painter.line(painter.paint(f"no critical failures among {counted(decided, 'decided critical check')}", colour))
    elif not undecided:
        painter.line(painter.paint("no check of critical severity applied", "bright_black"))
    if undecided:
        text = counted(undecided, "critical check is", "critical checks are") + " undecided"
        painter.line(painter.paint(text, "yellow"))


def _print_counts(painter: Painter, run: Overview) -> None:
    counts, total = run.counts, sum(run.counts.values())
    if not total:
        return
    painter.line()
    shown = "   ".join(painter.status(status, f"{counts[status]:,} {status}") for status in STATUSES)
    painter.line(f"{painter.paint(counted(total, 'check'), 'bold')}   {shown}")
    rates = (
        ("pass rate", counts["pass"], run.decided, "decided"),
        ("decided", run.decided, run.applicable, "applicable"),
        ("for review", counts["review"], run.applicable, "applicable"),
    )
    for name, part, whole, noun in rates:
        share = f"{part / whole:>6.1%}  {part:,} of {whole:,} {noun}" if whole else f"  none  of 0 {noun}"
        painter.line(f"  {name:<10}  {share}")


def _print_rubrics(painter: Painter, run: Overview) -> None:
    """A table of the rubrics, those with most failures first."""
    if not run.rubrics:
        return
    painter.line()
    lines = sorted(run.rubrics, key=lambda line: -line.counts["fail"])
    names = [f"{line.id} {plain(line.version)}" for line in lines]
    marks = [line.severity + ("" if line.required else ", optional") for line in lines]
    wide, mark = max(map(len, names)), max(map(len, [*marks, "severity"]))
    columns = {
        status: 2 + max(len(status), *(len(f"{line.counts[status]:,}") for line in lines)) for status in STATUSES
    }
    head = f"  {'rubric':<{wide}}  {'severity':<{mark}}" + "".join(
        f"{name:>{column}}" for name, column in columns.items()
    )
    painter.line(painter.paint(head, "bright_black"))
    for name, severity, line in zip(names, marks, lines, strict=True):
        cells = ""
        for status, column in columns.items():
            number = line.counts[status]
            cell = f"{f'{number:,}' if number else '·':>{column}}"
            cells += painter.paint(cell, COLOURS[status] if number else "bright_black")
        painter.line(f"  {name:<{wide}}  {severity:<{mark}}{cells}")


def _print_scores(painter: Painter, told: Told) -> None:
    """The metrics. What a simulated judge makes of them has neither passed nor failed."""
    run = told.run
    if not run.scores:
        return
    painter.line()
    if run.simulated:
        _note(
            painter, "the offline judge cannot answer a metric's questions: these scores say nothing about the answers"
        )
    names = [f"{line.id} {plain(line.version)}" for line in run.scores]
    width = max(map(len, names))
    for name, line in zip(names, run.scores, strict=True):
        painter.line(f"  {name:<{width}}  {' · '.join(_score(line, run.simulated))}")
        if line.skipped and line.id in told.unscored:
            reason, number = told.unscored[line.id]
            of = f"{number:,}" if number == line.skipped else f"{number:,} of {line.skipped:,}"
            for text in folded(f"{of} not scored: {reason}", painter.width - 6):
                painter.line("      " + painter.paint(text, "bright_black"))


def _score(line: ScoreLine, simulated: bool) -> Iterable[str]:
    yield f"mean {_mean(line.mean)} of {line.scored:,} scored"
    yield "simulated" if simulated else f"{line.passed:,} passed"
    if line.skipped:
        yield f"{line.skipped:,} not scored"
    if line.errors:
        yield counted(line.errors, "error")


def _print_flips(painter: Painter, told: Told) -> None:
    if told.repeats == 1:
        return
    checks, total = sum(told.run.counts.values()), sum(number for _, _, number in told.flips)
    share = f"{total / checks:.1%} ({total:,} of {checks:,})" if checks else "none"
    painter.line()
    painter.line(f"  {share} checks change status by chance among {told.repeats} repeats")
    for rubric, status, number in told.flips[:10]:
        painter.line(f"    {rubric}: {number:,} counted as {status}")


def _print_incomplete(painter: Painter, told: Told) -> None:
    run = told.run
    if run.errors:
        painter.line()
        text = f"{run.errors:,} without a usable answer; run again to ask for them"
        painter.line(painter.paint(text + (":" if told.errors else ""), "magenta"))
        for kind, number, message in told.errors:
            painter.line(f"  {number:,} × {kind}: {plain(message or '', 150)}")
    left = (run.cases or 0) - run.evaluated
    if left > 0 and run.ended:
        left_over = counted(left, "case is", "cases are")
        painter.line(f"  {left_over} left; the same command goes on where this stopped")
