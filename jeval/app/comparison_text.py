"""Two runs held against each other, in a terminal: warnings, what is new, what is gone, how sure it is."""

from collections.abc import Sequence

from jeval.app.painter import Painter, plain
from jeval.comparability import RunFacts
from jeval.compare import CATEGORIES, Category, Change, Comparison
from jeval.counted import counted

__all__ = ["print_comparison"]

# How many changes of a list are shown; --json has them all.
_SHOWN = {"new_failures": 25}
_SHOWN_ELSE = 10

_TITLES: dict[Category, tuple[str, str]] = {
    "new_failures": ("new failure", "red"),
    "resolved_failures": ("resolved failure", "green"),
    "new_reviews": ("newly for review", "yellow"),
    "new_errors": ("new error", "magenta"),
    "other_changes": ("other change", "bright_black"),
}


def print_comparison(painter: Painter, comparison: Comparison) -> None:
    """Write it for people."""
    _print_runs(painter, comparison)
    for issue in comparison.issues:
        if issue.severity == "error":
            painter.line("  " + painter.paint(f"✕ not comparable: {plain(issue.message)}", "red"))
        else:
            painter.line("  " + painter.paint(f"warning: {plain(issue.message)}", "yellow"))
    painter.line()
    painter.line(_totals(painter, comparison))
    for category in CATEGORIES:
        _print_changes(painter, category, comparison.changes[category])
    _print_aside(painter, comparison)
    for name, lines in comparison.significance_text():
        painter.line()
        painter.line(painter.paint(plain(name), "bold"))
        for line in lines:
            painter.line(f"  {plain(line)}")


def _print_runs(painter: Painter, comparison: Comparison) -> None:
    a, b = comparison.baseline, comparison.candidate
    heads = [_name(run) for run in (a, b)]
    width = max(len(head) for head in heads)
    for label, head, run in zip(("baseline", "candidate"), heads, (a, b), strict=True):
        painter.line(f"{label:<10}{painter.paint(f'{head:<{width}}', 'bold')}  {_what(run)}")


def _name(run: RunFacts) -> str:
    return run.id + (f" “{plain(run.name, 40)}”" if run.name else "")


def _what(run: RunFacts) -> str:
    profile = f"{run.threshold_pass}/{run.threshold_fail}"
    model = ", ".join(run.models_served) or run.model_asked
    parts = [plain(run.dataset, 40), f"{plain(run.thresholds or 'custom', 30)} {profile}", plain(model, 60)]
    return " · ".join(parts) + (" (simulated)" if run.simulated else "")


def _totals(painter: Painter, comparison: Comparison) -> str:
    overlap = comparison.alignment.overlap
    checks, cases = counted(overlap.checks, "check"), counted(overlap.cases, "case")
    head = painter.paint(f"{checks} of {cases} in both runs", "bold")
    parts = [f"{comparison.unchanged:,} unchanged"]
    for category in CATEGORIES:
        number = len(comparison.changes[category])
        if number:
            parts.append(painter.paint(f"{number:,} {_title(category, number)}", _TITLES[category][1]))
    if len(parts) == 1:
        parts.append(painter.paint("nothing changed", "green"))
    return f"{head}\n  " + " · ".join(parts)


def _title(category: Category, number: int) -> str:
    title = _TITLES[category][0]
    return title if number == 1 or category == "new_reviews" else f"{title}s"


def _print_changes(painter: Painter, category: Category, changes: Sequence[Change]) -> None:
    if not changes:
        return
    shown = changes[: _SHOWN.get(category, _SHOWN_ELSE)]
    colour = _TITLES[category][1]
    title = f"{len(changes):,} {_title(category, len(changes))}"
    critical = sum(change.severity == "critical" for change in changes)
    optional = sum(not change.required for change in changes)
    loud = category == "new_failures"
    notes = [
        f"{critical:,} critical" if critical and loud else "",
        f"{optional:,} optional" if optional else "",
    ]
    aside = ", ".join(note for note in notes if note)
    painter.line()
    painter.line(painter.paint(title.upper() if loud else title, "bold", colour) + (f" ({aside})" if aside else ""))
    for change in shown:
        _print_change(painter, change)
    if len(changes) > len(shown):
        painter.line(f"  … and {len(changes) - len(shown):,} more; --json lists them all")


def _print_change(painter: Painter, change: Change) -> None:
    marks = [
        "critical" if change.severity == "critical" else "",
        "" if change.required else "optional",
        "changes by chance between repeats" if change.flips else "",
    ]
    mark = ", ".join(text for text in marks if text)
    head = f"{change.case_id}  {change.rubric_id} {change.rubric_version}" + (f" ({mark})" if mark else "")
    moved = f"{painter.status(change.before, change.before)} → {painter.status(change.after, change.after)}"
    painter.line(f"  {head}  {moved}")
    painter.line(painter.paint(f"      {plain(change.reason_after, 160)}", "bright_black"))


def _print_aside(painter: Painter, comparison: Comparison) -> None:
    """What a gate would want to know and the lists do not say."""
    unseen = sum(change.after == "fail" for change in comparison.changes["other_changes"])
    if unseen:
        painter.line()
        text = f"fail now without a verdict before (skipped, error), so not counted as new: {unseen:,}"
        painter.line(painter.paint(text, "yellow"))
    flips = sum(change.flips for change in comparison.changes["new_failures"])
    if flips:
        painter.line()
        text = f"new failures that change by chance when the same judge is asked again: {flips:,}"
        painter.line(painter.paint(text, "yellow"))
