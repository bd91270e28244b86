"""Two runs held against each other, in a terminal: warnings, what is new, what is gone, how sure it is."""

from collections.abc import Sequence

from jeval.app.painter import Painter, folded, packed, plain
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
        error = issue.severity == "error"
        text = f"✕ not comparable: {issue.message}" if error else f"warning: {issue.message}"
        _print_folded(painter, text, 2, "red" if error else "yellow")
    painter.line()
    _print_totals(painter, comparison)
    for category in CATEGORIES:
        _print_changes(painter, category, comparison.changes[category])
    _print_aside(painter, comparison)
    for name, lines in comparison.significance_text():
        painter.line()
        painter.line(painter.paint(plain(name), "bold"))
        for line in lines:
            _print_folded(painter, line, 2)


def _print_folded(painter: Painter, text: str, indent: int, *styles: str) -> None:
    for line in folded(text, painter.width - indent):
        painter.line(" " * indent + painter.paint(line, *styles) if styles else " " * indent + line)


def _print_runs(painter: Painter, comparison: Comparison) -> None:
    runs = {"baseline": comparison.baseline, "candidate": comparison.candidate}
    width = max(len(_name(run)) for run in runs.values())
    for label, run in runs.items():
        dataset, *more = _what(run)
        head = f"{label:<10}{painter.paint(f'{_name(run):<{width}}', 'bold')}  {dataset}"
        first, *rest = packed([head, *more], painter.width)
        painter.line(first)
        for line in rest:
            painter.line(" " * 10 + line)


def _name(run: RunFacts) -> str:
    return run.id + (f" “{plain(run.name, 40)}”" if run.name else "")


def _what(run: RunFacts) -> list[str]:
    profile = f"{run.threshold_pass}/{run.threshold_fail}"
    model = plain(", ".join(run.models_served) or run.model_asked, 60)
    simulated = " (simulated)" if run.simulated else ""
    return [plain(run.dataset, 40), f"{plain(run.thresholds or 'custom', 30)} {profile}", model + simulated]


def _print_totals(painter: Painter, comparison: Comparison) -> None:
    overlap = comparison.alignment.overlap
    cases = counted(overlap.cases, "case")
    if not overlap.checks and comparison.alignment.scores:  # nothing to count, but scores to compare
        painter.line(painter.paint(f"no check, but scores, of {cases} in both runs", "bold"))
        return
    parts = [f"{comparison.unchanged:,} unchanged"]
    for category in CATEGORIES:
        number = len(comparison.changes[category])
        if number:
            parts.append(painter.paint(f"{number:,} {_title(category, number)}", _TITLES[category][1]))
    if len(parts) == 1:
        parts.append(painter.paint("no check changed" if comparison.alignment.scores else "nothing changed", "green"))
    painter.line(painter.paint(f"{counted(overlap.checks, 'check')} of {cases} in both runs", "bold"))
    for line in packed(parts, painter.width - 2):
        painter.line(f"  {line}")


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
    failed = sum(change.undecided_failure for change in changes)
    loud = category == "new_failures"
    notes = [
        f"{critical:,} critical" if critical and loud else "",
        f"{optional:,} optional" if optional else "",
        f"{failed:,} failed before" if failed else "",
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
        "failed before" if change.undecided_failure else "",
        "changes by chance between repeats" if change.flips else "",
    ]
    mark = ", ".join(text for text in marks if text)
    head = f"{change.case_id}  {change.rubric_id} {plain(change.rubric_version)}" + (f" ({mark})" if mark else "")
    moved = f"{painter.status(change.before, change.before)} → {painter.status(change.after, change.after)}"
    painter.line(f"  {head}  {moved}")
    _print_folded(painter, plain(change.reason_after, 2 * painter.width), 6, "bright_black")


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
