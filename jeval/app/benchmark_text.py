"""A run held against labels, in a terminal: first whether the judge can be trusted with what, then the figures."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jeval.app.painter import COLOURS, SIGNS, Painter, folded, packed, plain, size
from jeval.benchmark import Benchmark, RubricBenchmark
from jeval.calibration import Calibration
from jeval.comparability import RunFacts
from jeval.confusion import LABELS
from jeval.counted import counted
from jeval.labelled import LabelledCheck
from jeval.proportion import Proportion
from jeval.ruling import STATUSES
from jeval.trust import LIMIT, trust

__all__ = ["print_benchmark", "print_labels_of", "print_run_of", "print_warnings", "share_text"]

# What is shown of each level, the worst first.
_LEVELS = {"no": ("✕", "red"), "unclear": ("?", "yellow"), "unknown": ("–", "bright_black"), "yes": ("✓", "green")}

# Said at the top, for who misses them believes what follows.
_GRAVE = ("simulated", "tuned", "status")

# A name of a rubric has so many columns at least, whatever stands beside it, and at most.
_NARROW, _WIDE = 12, 40
_BAR = 20


def print_benchmark(painter: Painter, found: Benchmark, where: Mapping[str, str], limit: int | None) -> None:
    """Write it for people, with at most `limit` disagreements, None for all."""
    print_run_of(painter, found.run)
    covered = f"{found.overall.confusion.n():,} of {counted(found.overall.checks, 'check')} labelled"
    print_labels_of(painter, found.labels.where_from, covered, where, found.by_source)
    print_warnings(painter, [c.message for c in found.cautions if c.field in _GRAVE])
    if not found.overall.confusion.n():
        _print_nothing(painter, found)
        return
    _print_trust(painter, found)
    print_warnings(painter, [c.message for c in found.cautions if c.field not in _GRAVE])
    _print_strays(painter, found)
    labelled = [one for one in found.rubrics if one.confusion.n()]
    lines = [*labelled, found.overall] if len(labelled) > 1 else labelled
    _print_decisions(painter, lines)
    _print_fails(painter, lines)
    _print_table(painter, lines)
    _print_calibration(painter, found.overall.calibration)
    _print_disagreements(painter, found.disagreements, limit)


def print_run_of(painter: Painter, run: RunFacts) -> None:
    """Which run it is."""
    name = f" “{plain(run.name, 60)}”" if run.name else ""
    painter.line(f"run {painter.paint(f'{run.id}{name}', 'bold')}")
    limits = f" (pass {run.threshold_pass:g}, fail {run.threshold_fail:g})" if run.threshold_pass is not None else ""
    parts = [
        plain(run.dataset, 60),
        f"thresholds {plain(run.thresholds or 'custom', 40)}{limits}",
        f"judged by {plain(', '.join(run.models_served) or run.model_asked, 80)}",
    ]
    _print_packed(painter, parts)


def print_labels_of(
    painter: Painter, where_from: str, covered: str, where: Mapping[str, str], by_source: Mapping[str, int]
) -> None:
    """Which labels, how much they cover, and whose they are."""
    words = {"human": "by people", "imported": "imported", "synthetic": "synthetic"}
    sources = [f"{n:,} {words[source]}" for source, n in by_source.items()]
    cases = [f"cases with {plain(key, 40)}={plain(value, 60)}" for key, value in where.items()]
    _print_packed(painter, [f"labels from {plain(where_from, 80)}", *cases, covered, *sources])


def _print_packed(painter: Painter, parts: Iterable[str]) -> None:
    for line in packed(parts, painter.width - 2):
        painter.line(f"  {line}")


def print_warnings(painter: Painter, messages: Iterable[str]) -> None:
    """What to know before believing what follows."""
    for message in messages:
        first, *rest = folded(f"warning: {message}", painter.width - 2)
        painter.line("  " + painter.paint(first, "yellow"))
        for line in rest:
            painter.line("    " + painter.paint(line, "yellow"))


def _print_nothing(painter: Painter, found: Benchmark) -> None:
    painter.line()
    painter.line(painter.paint("no label that counts is of a check of this run", "bold", "magenta"))
    _print_strays(painter, found)


def _print_strays(painter: Painter, found: Benchmark) -> None:
    """Labels that meet no check, by rubric."""
    known = {one.rubric.id: one.checks for one in found.rubrics if one.rubric is not None}
    metrics = {metric.id for metric in found.run.metrics}
    for name, number in found.labels.stray.items():
        why = "the run has no such rubric"
        if known.get(name):
            why = "its cases are not in the run"
        elif name in metrics:
            why = "it is a metric, and only checks are held against labels"
        painter.line(f"  {counted(number, 'label')} of {plain(name, 60)} without a check: {why}")


def _print_trust(painter: Painter, found: Benchmark) -> None:
    """One line a rubric, the worst first."""
    painter.line()
    limit = f"{LIMIT:.0%}"
    painter.line(painter.paint("CAN IT BE TRUSTED?", "bold"))
    asked = f"yes: surely at most {limit} of what is labelled fail passes, and at most {limit} of decisions are wrong"
    for line in folded(asked, painter.width - 2):
        painter.line("  " + painter.paint(line, "bright_black"))
    levels = list(_LEVELS)
    judged = [(trust(one.confusion), one.rubric) for one in found.rubrics if one.rubric is not None]
    judged.sort(key=lambda pair: levels.index(pair[0].level))
    width = min(_name_width(painter, 50), max(len(rubric.id) for _, rubric in judged))
    for (level, why), rubric in judged:
        sign, colour = _LEVELS[level]
        if found.run.simulated and level == "yes":
            colour = "yellow"
        head = f"{sign} {level:<8}{plain(rubric.id, width):<{width}}  "
        first, *rest = folded(why, painter.width - 2 - len(head))
        painter.line(f"  {painter.paint(head, colour)}{first}")
        for line in rest:
            painter.line(" " * (2 + len(head)) + line)
    painter.line()


def share_text(share: Proportion) -> str:
    """A share with its interval, in percent: `86% 65-95`."""
    bounds = share.interval()
    if share.rate is None or bounds is None:
        return "·"
    return f"{share.rate:.0%} {100 * bounds[0]:.0f}–{100 * bounds[1]:.0f}"


def _print_decisions(painter: Painter, lines: Sequence[RubricBenchmark]) -> None:
    rows = []
    for line in lines:
        table = line.confusion
        decided = table.decided.rate
        rows.append(
            [
                f"{table.n():,}/{line.checks:,}",
                "·" if decided is None else f"{decided:.0%}",
                *(share_text(table.share(name)) for name in ("false_pass_rate", "false_fail_rate", "accuracy")),
            ]
        )
    heads = ["labelled", "decided", "false passes", "false fails", "right"]
    _print_rows(painter, "decisions", lines, heads, rows)


def _print_fails(painter: Painter, lines: Sequence[RubricBenchmark]) -> None:
    rows = []
    for line in lines:
        f1, bounds = line.confusion.f1
        kappa = line.confusion.agreement.kappa
        f1_text = "·" if f1 is None or bounds is None else f"{f1:.2f} {bounds[0]:.2f}–{bounds[1]:.2f}"
        fit = line.calibration
        rows.append(
            [
                share_text(line.confusion.share("precision")),
                share_text(line.confusion.share("recall")),
                f1_text,
                "·" if kappa is None else f"{kappa:.2f}".replace("-", "\u2212"),
                f"{fit.brier:.3f}" if fit else "·",
                f"{fit.ece:.3f}" if fit else "·",
            ]
        )
    _print_rows(painter, "fails", lines, ["precision", "recall", "F1", "kappa", "Brier", "ECE"], rows)


def _print_rows(
    painter: Painter, title: str, lines: Sequence[RubricBenchmark], heads: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """A table with a line for each rubric and one for all of them."""
    columns = [2 + max(size(row[i]) for row in (heads, *rows)) for i in range(len(heads))]
    names = _names(painter, lines, sum(columns))
    width = max(len(title), *map(len, names))
    painter.line()
    head = f"  {title:<{width}}" + "".join(f"{text:>{columns[i]}}" for i, text in enumerate(heads))
    painter.line(painter.paint(head, "bright_black"))
    for name, row in zip(names, rows, strict=True):
        painter.line(f"  {name:<{width}}" + "".join(f"{text:>{columns[i]}}" for i, text in enumerate(row)))


def _name_width(painter: Painter, beside: int) -> int:
    """The columns there are for a name, where so many are needed beside it."""
    return max(_NARROW, min(_WIDE, painter.width - 2 - beside))


def _names(painter: Painter, lines: Sequence[RubricBenchmark], beside: int) -> list[str]:
    width = _name_width(painter, beside)
    return ["all" if line.rubric is None else plain(line.rubric.id, width) for line in lines]


def _print_table(painter: Painter, lines: Sequence[RubricBenchmark]) -> None:
    """How often each label met each status."""
    heads = {status: f"  {SIGNS[status]} {status}" for status in STATUSES}
    names = _names(painter, lines, 10 + sum(map(len, heads.values())))
    width = max(len("rubric"), *map(len, names))
    painter.line()
    painter.line(painter.paint(f"  {'rubric':<{width}}  {'labelled':<8}{''.join(heads.values())}", "bright_black"))
    for name, line in zip(names, lines, strict=True):
        shown = name
        for label in LABELS:
            if not line.confusion.n(labels=(label,)):
                continue
            cells = [_cell(painter, line.confusion.counts, status, label, len(heads[status])) for status in STATUSES]
            painter.line(f"  {shown:<{width}}  {label:<8}{''.join(cells)}")
            shown = ""


def _cell(painter: Painter, counts: Mapping[tuple[str, str], int], status: str, label: str, width: int) -> str:
    number = counts.get((status, label), 0)
    if not number:
        return painter.paint(f"{'·':>{width}}", "bright_black")
    colour = "green" if status == label else "red" if status in ("pass", "fail") else COLOURS[status]
    return painter.paint(f"{number:>{width},}", colour)


def _print_calibration(painter: Painter, fit: Calibration | None) -> None:
    """The reliability table: said against so."""
    if fit is None:
        return
    painter.line()
    painter.line(painter.paint("do probabilities of a fail mean what they say?", "bold"))
    parts = [
        counted(fit.n, "labelled probability", "labelled probabilities"),
        f"Brier {fit.brier:.3f} (always saying the share of fails: {fit.brier_base_rate:.3f})",
        f"ECE {fit.ece:.3f} (by chance alone: about {fit.ece_by_chance:.3f})",
    ]
    _print_packed(painter, parts)
    if len(fit.bins) < 2:
        return
    head = f"  {'p(fail)':<12}{'checks':>7}{'said':>8}{'labelled fail':>15}  █ labelled fail, │ said"
    painter.line(painter.paint(head, "bright_black"))
    for one in fit.bins:
        bar = ["█" if i < round(one.share * _BAR) else "·" for i in range(_BAR)]
        bar[min(_BAR - 1, int(one.mean * _BAR))] = "│"
        span = f"{one.low:.2f}–{one.high:.2f}" if one.low < one.high else f"{one.low:.2f}"
        painter.line(f"  {span:<12}{one.n:>7,}{one.mean:>8.1%}{one.share:>15.1%}  {''.join(bar)}")


def _print_disagreements(painter: Painter, checks: Sequence[LabelledCheck], limit: int | None) -> None:
    painter.line()
    if not checks:
        painter.line(painter.paint("no check disagrees with its label", "green"))
        return
    title = counted(len(checks), "DISAGREEMENT", "DISAGREEMENTS") + (", worst first" if len(checks) > 1 else "")
    painter.line(painter.paint(title, "bold"))
    for check in checks[:limit]:
        print_check_of(painter, check)
    more = len(checks) - len(checks[:limit])
    if more:
        painter.line(f"  … and {more:,} more; --limit 0 shows all")


def print_check_of(painter: Painter, check: LabelledCheck) -> None:
    """One check that is not as labelled: what the judge said, and who says otherwise."""
    rubric, label = check.rubric, check.label
    mark = " (critical)" if rubric.severity == "critical" else ""
    status = painter.status(check.status, f"{check.status}, labelled {check.expected}")
    painter.line(f"  {status}  {check.case_id}  {rubric.id} {plain(rubric.version)}{mark}")
    said = _said(check.probabilities) or [plain(check.reason)]
    for line in packed(said, painter.width - 6):
        painter.line(painter.paint(f"      {plain(line, painter.width - 6)}", "bright_black"))
    if label.note:
        for line in folded(f"{label.reviewer or label.source}: {label.note}", painter.width - 6):
            painter.line(painter.paint(f"      {line}", "bright_black"))


def _said(probabilities: Mapping[str, Any] | None) -> list[str]:
    """The probabilities of one question, or the leading option of each of several."""
    found = []
    for name, value in (probabilities or {}).items():
        if isinstance(value, Mapping):
            leader = max(value, key=value.__getitem__)
            found.append(f"{plain(name, 30)}: {plain(leader, 40)} {value[leader]:.4g}")
        else:
            found.append(f"{plain(name, 40)} {value:.4g}")
    return found
