"""Thresholds that were looked for, in a terminal: what was found and how sure it is, and what it would change."""

from collections.abc import Mapping, Sequence

from jeval.app.benchmark_text import print_labels_of, print_run_of, print_warnings, share_text
from jeval.app.painter import SIGNS, Painter, folded, packed, plain
from jeval.app.tuning import Tuning
from jeval.benchmark import sources_of
from jeval.confusion import Confusion
from jeval.counted import counted
from jeval.proportion import Proportion
from jeval.rubric import Thresholds
from jeval.shift import Shift
from jeval.target import Met
from jeval.tune import Nearest, Search

__all__ = ["met_text", "origin_of", "print_tuning"]

_MEASURES = (
    ("right", "accuracy"),
    ("false passes", "false_pass_rate"),
    ("false fails", "false_fail_rate"),
    ("precision", "precision"),
    ("recall", "recall"),
)


def print_tuning(painter: Painter, tuning: Tuning, written: str | None, steps: Sequence[str]) -> None:
    """Write it for people; `steps` are the commands that confirm it."""
    read = tuning.read
    print_run_of(painter, read.run)
    covered = f"{counted(len(tuning.checks), 'labelled check')} that thresholds decide"
    print_labels_of(painter, read.labels.where_from, covered, read.where, sources_of(tuning.checks))
    print_warnings(painter, (caution.message for caution in tuning.cautions))
    painter.line()
    if not tuning.checks:
        painter.line(painter.paint("no label that counts is of a check that thresholds decide", "bold", "magenta"))
    elif tuning.shift is None:
        _print_missed(painter, tuning)
    else:
        _print_found(painter, tuning, tuning.shift)
        _print_what_next(painter, tuning, written, steps)


def origin_of(tuning: Tuning, date: str) -> list[str]:
    """Where thresholds come from, in lines for their file; `date` is in ISO 8601."""
    run, read = tuning.read.run, tuning.read
    name = f" “{run.name}”" if run.name else ""
    models = ", ".join(run.models_served) or run.model_asked
    where = "".join(f", where {key}={value}" for key, value in read.where.items())
    rubric = "" if tuning.own else f" for rubric {read.rubrics[0].id} alone"
    met = tuning.search.tuned.met if tuning.search.tuned else ()
    checks, before = counted(len(tuning.checks), "check"), tuning.present
    return [
        f"Found by jeval tune on {date}{rubric}. Confirm it on cases that it has not seen.",
        f"run {run.id}{name}: {run.dataset}, judged by {models}{' (simulated)' if run.simulated else ''}",
        f"labels from {read.labels.where_from}{where}: {checks}, sha256 {read.labels.sha256[:16]}",
        *(met_text(one) for one in met),
        f"surely: at confidence {tuning.search.confidence:.4g}; before: pass {before.pass_:g}, fail {before.fail:g}",
    ]


def _print_found(painter: Painter, tuning: Tuning, change: Shift) -> None:
    search, found = tuning.search, tuning.thresholds
    idle = [word for word in ("pass", "fail") if not change.after.n((word,))]
    head = f"FOUND pass {found.pass_:g}, fail {found.fail:g}"
    if idle:
        head += f", by which nothing would {' or '.join(idle)}"
    painter.line(painter.paint(head, "bold", "yellow" if idle else "green"))
    for one in search.tuned.met if search.tuned else ():
        _print_folded(painter, met_text(one), "  ")
    for line in _unbounded(tuning):
        _print_folded(painter, line, "  ", "bright_black")
    _print_folded(painter, _how(search), "  ", "bright_black")
    _print_change(painter, tuning.present, found, change)
    _print_by_rubric(painter, change.by_rubric)


def _print_what_next(painter: Painter, tuning: Tuning, written: str | None, steps: Sequence[str]) -> None:
    found = tuning.thresholds
    painter.line()
    if written:
        painter.line(painter.paint(f"wrote {plain(written)}", "bold"))
    elif tuning.own:
        painter.line("nothing was written; -o conf/thresholds/NAME.yaml keeps it as thresholds=NAME")
    if not tuning.own:
        painter.line(f"for rubric {tuning.read.rubrics[0].id} alone; in its file, with a new version:")
        painter.line(f"  thresholds: {{pass: {found.pass_:g}, fail: {found.fail:g}}}")
    painter.line("confirm it on cases that it has not seen, which asks the judge nothing:")
    for step in steps:
        painter.line(f"  {plain(step)}")


def _print_folded(painter: Painter, text: str, indent: str, *styles: str) -> None:
    first, *rest = folded(text, painter.width - len(indent) - 2)
    painter.line(indent + painter.paint(first, *styles))
    for line in rest:
        painter.line(f"{indent}  " + painter.paint(line, *styles))


def met_text(met: Met) -> str:
    """A target, what was found and what is sure of it."""
    measure, observed = met.target.measure, met.observed
    hits = met.good.rest if measure.at_most else met.good
    if observed is None or met.bound is None:
        return f"{met.target}: there are no {measure.of}"
    sure = f"surely at {'most' if measure.at_most else 'least'} {met.bound:.1%}"
    return f"{met.target}: {hits.k:,} of {hits.n:,} {measure.of} {measure.are} ({observed:.1%}), {sure}"


def _how(search: Search) -> str:
    pairs = counted(search.tried, "pair of thresholds was", "pairs of thresholds were")
    how = f"surely: at confidence {search.confidence:.4g}; {pairs} tried, strictest first"
    return f"{how}, in an order that no label had a say in"


def _unbounded(tuning: Tuning) -> list[str]:
    """What no target bounds, and so became no laxer."""
    bounded = {status for target in tuning.search.targets for status in target.measure.bounds}
    lines = []
    for status, what, now, before, targets in (
        ("pass", "passes", tuning.thresholds.pass_, tuning.present.pass_, "false_pass_rate= or pass_precision="),
        ("fail", "fails", tuning.thresholds.fail, tuning.present.fail, "precision= or false_fail_rate="),
    ):
        if status not in bounded:
            moved = f"stays {before:g}" if now == before else f"goes from {before:g} to {now:g}"
            lines.append(f"{status} {moved}: no target bounds what {what}, so it became no laxer ({targets} would)")
    return lines


def _print_missed(painter: Painter, tuning: Tuning) -> None:
    painter.line(painter.paint("NO THRESHOLDS MEET IT; nothing was written", "bold", "red"))
    for near in tuning.search.nearest:
        _print_nearest(painter, near, len(tuning.checks))
    _print_folded(painter, _how(tuning.search), "  ", "bright_black")


def _print_nearest(painter: Painter, nearest: Nearest, labelled: int) -> None:
    near = nearest.thresholds
    painter.line(f"  nearest to it: pass {near.pass_:g}, fail {near.fail:g}")
    for met in nearest.missed:
        _print_folded(painter, met_text(met), "    ")
        if not met.holds:
            _print_folded(painter, _lacking(met, labelled), "      ", "yellow")


def _lacking(met: Met, labelled: int) -> str:
    """What it would take."""
    more = met.more
    if more is None:
        return "at this rate no number of labels shows it: the judge is not good enough for it, or the rubric is vague"
    of = f"about {more:,} more {met.target.measure.of} would show it"
    if not met.good.n:
        return of
    return f"{of} if it goes on like this, some {-(-more * labelled // met.good.n):,} more labels like these"


def _print_change(painter: Painter, present: Thresholds, found: Thresholds, shift: Shift) -> None:
    """Now beside then."""
    rows = [
        ("pass", f"{present.pass_:g}", f"{found.pass_:g}"),
        ("fail", f"{present.fail:g}", f"{found.fail:g}"),
        ("decided", _decided(shift.before.decided), _decided(shift.after.decided)),
        *(
            (name, share_text(shift.before.share(measure)), share_text(shift.after.share(measure)))
            for name, measure in _MEASURES
        ),
    ]
    width = max(len(before) for _, before, _ in rows)
    painter.line()
    painter.line(painter.paint(f"  {'':<12}  {'now':>{width}}     tuned", "bright_black"))
    for name, before, after in rows:
        changed = "" if before == after else "bold"
        painter.line(f"  {name:<12}  {before:>{width}}  →  " + (painter.paint(after, changed) if changed else after))
    moved = [f"{n:,} {SIGNS[a]} {a} → {SIGNS[b]} {b}" for (a, b), n in sorted(shift.changes.items())]
    total = sum(shift.changes.values())
    of = counted(shift.before.n(), "labelled check")
    for line in packed([f"{total:,} of {of} change", *moved], painter.width - 2):
        painter.line(f"  {line}")


def _decided(share: Proportion) -> str:
    return "none" if share.rate is None else f"{share.rate:.0%} ({share.k:,} of {share.n:,})"


def _print_by_rubric(painter: Painter, by_rubric: Mapping[str, tuple[Confusion, Confusion]]) -> None:
    """Each rubric by the thresholds found: a target that all meet together may be missed by one."""
    if len(by_rubric) < 2:
        return
    width = max(len("tuned, by rubric"), *(len(plain(name, 22)) for name in by_rubric))
    painter.line()
    heads = f"{'decided':>9}" + "".join(f"{name:>14}" for name, _ in _MEASURES[:2] + _MEASURES[3:4])
    painter.line(painter.paint(f"  {'tuned, by rubric':<{width}}{heads}", "bright_black"))
    for name, (_, after) in by_rubric.items():
        rate = after.decided.rate
        cells = f"{'·' if rate is None else f'{rate:.0%}':>9}"
        cells += "".join(f"{share_text(after.share(measure)):>14}" for _, measure in _MEASURES[:2] + _MEASURES[3:4])
        painter.line(f"  {plain(name, 22):<{width}}{cells}")
