"""Two runs held against each other, as one HTML page that needs nothing else: no script, file or network."""

from collections.abc import Sequence

from markupsafe import Markup

from jeval.compare import CATEGORIES, Category, Change, Comparison
from jeval.counted import counted
from jeval.report.escape import visible

__all__ = ["comparison_page"]

_TITLES: dict[Category, str] = {
    "new_failures": "New failures",
    "resolved_failures": "Resolved failures",
    "new_reviews": "Newly for review",
    "new_errors": "New errors",
    "other_changes": "Other changes",
}

_STYLE = Markup("""
:root { color-scheme: light dark; --line: #8884; --soft: #777; --pass: #2a7f4f; --fail: #c5303a;
  --review: #9a6700; --skipped: #7b848d; --error: #7a3fc4; }
@media (prefers-color-scheme: dark) { :root { --soft: #9aa4ae; --pass: #58b884; --fail: #f0757d;
  --review: #dca93c; --skipped: #8a949e; --error: #b58cf0; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .6rem; text-align: left; vertical-align: top;
  overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
th, .s, code { white-space: nowrap; overflow-wrap: normal; }
th { color: var(--soft); font-weight: 600; }
.note { border-left: .25rem solid var(--review); padding: .3rem .8rem; margin: .4rem 0; }
.error { border-color: var(--fail); }
.soft { color: var(--soft); } .tag { color: var(--fail); font-weight: 600; }
.s-pass { color: var(--pass); } .s-fail { color: var(--fail); } .s-review { color: var(--review); }
.s-skipped { color: var(--skipped); } .s-error { color: var(--error); }
""")

_PAGE = Markup("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
""")


def comparison_page(comparison: Comparison) -> str:
    """The page."""
    a, b = comparison.baseline, comparison.candidate
    parts = [_runs(comparison)]
    for issue in comparison.issues:
        label = "Not comparable" if issue.severity == "error" else "Warning"
        css = "note error" if issue.severity == "error" else "note"
        parts.append(_fill('<p class="{}"><strong>{}:</strong> {}</p>', css, label, issue.message))
    parts.append(_counts(comparison))
    parts += [_section(category, comparison.changes[category]) for category in CATEGORIES]
    for name, lines in comparison.significance_text():
        items = Markup("").join(_fill("<li>{}</li>", line) for line in lines)
        parts.append(_fill("<h2>{}</h2>", name) + Markup("<ul>{}</ul>").format(items))
    title = f"{visible(a.name or a.id)} → {visible(b.name or b.id)}"
    return str(_PAGE.format(title=title, style=_STYLE, body=Markup("\n").join(parts)))


def _fill(template: str, *values: object) -> Markup:
    """A template with values in it as text: none becomes markup, none can turn the reading direction."""
    return Markup(template).format(*(visible(v) if type(v) is str else v for v in values))


def _runs(comparison: Comparison) -> Markup:
    rows = []
    for label, run in (("baseline", comparison.baseline), ("candidate", comparison.candidate)):
        profile = f"{run.thresholds or 'custom'}: pass {run.threshold_pass}, fail {run.threshold_fail}"
        model = ", ".join(run.models_served) or run.model_asked
        judged = f"{model} (simulated)" if run.simulated else model
        cells = (label, run.id, run.name or "", run.dataset, profile, judged)
        row = "<tr><th>{}</th><td><code>{}</code> {}</td><td>{}</td><td>{}</td><td>{}</td></tr>"
        rows.append(_fill(row, *cells))
    head = Markup("<tr><th></th><th>run</th><th>dataset</th><th>thresholds</th><th>judged by</th></tr>")
    return Markup('<div class="scroll"><table>{}{}</table></div>').format(head, Markup("").join(rows))


def _counts(comparison: Comparison) -> Markup:
    overlap = comparison.alignment.overlap
    if not overlap.checks and comparison.alignment.scores:
        return _fill("<p>No check, but scores, of {} in both runs.</p>", counted(overlap.cases, "case"))
    counts = ", ".join(f"{len(comparison.changes[name]):,} {_TITLES[name].lower()}" for name in CATEGORIES)
    both = f"{counted(overlap.checks, 'check')} of {counted(overlap.cases, 'case')} in both runs"
    return _fill("<p>{}: {:,} unchanged, {}.</p>", both, comparison.unchanged, counts)


def _section(category: Category, changes: Sequence[Change]) -> Markup:
    if not changes:
        return Markup("")
    head = Markup("<tr><th>case</th><th>rubric</th><th>before</th><th>after</th><th>why</th></tr>")
    rows = Markup("\n").join(_row(change) for change in changes)
    title = f"{len(changes):,} {_TITLES[category].lower()}"
    return Markup('<h2>{}</h2>\n<div class="scroll"><table>{}\n{}</table></div>').format(title, head, rows)


def _row(change: Change) -> Markup:
    tags = [
        "critical" if change.severity == "critical" else "",
        "" if change.required else "optional",
        "failed before" if change.undecided_failure else "",
        "changes by chance" if change.flips else "",
    ]
    return _fill(
        '<tr><td>{}</td><td>{} {} <span class="tag">{}</span></td>'
        '<td class="s s-{}">{}</td><td class="s s-{}">{}</td>'
        '<td>{}<br><span class="soft">before: {}</span></td></tr>',
        change.case_id,
        change.rubric_id,
        change.rubric_version,
        ", ".join(tag for tag in tags if tag),
        change.before,
        change.before,
        change.after,
        change.after,
        change.reason_after,
        change.reason_before,
    )
