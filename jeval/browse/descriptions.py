"""What Datasette shows about the tables: titles, every column in words, facets, sorts and sizes."""

from typing import Any

from markupsafe import Markup

from jeval.browse.columns import COLUMNS
from jeval.browse.links import Links

__all__ = ["database_metadata"]


def _together(*columns: str) -> list[dict[str, str]]:
    """Facets of a view, counted in one pass."""
    return [{"together": column} for column in columns]


_TABLES: dict[str, dict[str, Any]] = {
    "runs": {
        "title": "Runs",
        "description": "One row a run: what was judged, by whom, how it was decided and what it took.",
        "sort_desc": "started_at",
        "label_column": "id",
        "facets": ["dataset", "thresholds", "judge", "status"],
    },
    "checks": {
        "title": "Checks",
        "description": "One row for each rubric applied to a case in a run: its status and why.",
        "sort_desc": "run_id",
        "facets": _together("status", "rubric_id", "severity", "kind"),
    },
    "cases": {
        "title": "Cases",
        "description": (
            "One row for each content a case has had. Search finds words in input,"
            " output, messages, references, tool events and policy."
        ),
        "fts_table": "case_search",
        "fts_pk": "pk",
    },
    "scores": {
        "title": "Scores",
        "description": "One row for each metric applied to a case in a run.",
        "sort_desc": "run_id",
        "facets": _together("metric_id", "passed", "status"),
    },
    "score_breakdown": {
        "title": "Score breakdown",
        "description": "One row for each question of a metric: what it added to the score.",
    },
    "explanations": {
        "title": "Explanations",
        "description": "What an optional explainer wrote about scores.",
    },
    "judgments": {
        "title": "Judgments",
        "description": (
            "The judge's answers, stored once and used by every run that asks the same. Decisions are not in here."
        ),
    },
    "requests": {
        "title": "Requests",
        "description": "What was sent to the judge, how long it took and what came of it.",
        "sort_desc": "run_id",
        "facets": _together("model_served", "error_kind"),
    },
    "rubrics": {
        "title": "Rubrics",
        "description": "Every version of every rubric a run has used.",
        "label_column": "id",
        "sort": "id",
        "facets": ["kind", "severity"],
    },
    "labels": {
        "title": "Labels",
        "description": "The right status of a check, by whom: what benchmarks are held against.",
        "sort_desc": "labelled_at",
        "facets": _together("expected", "source", "reviewer"),
    },
    "run_summary": {
        "title": "Run summary",
        "description": "Each run's counts and rates, which are null where there is nothing to count.",
        "sort_desc": "run_id",
    },
    "rubric_summary": {
        "title": "Rubric summary",
        "description": "Each run's counts by rubric.",
        "sort_desc": "run_id",
        "facets": _together("rubric_id", "severity", "kind"),
    },
    "critical_failures": {
        "title": "Critical failures",
        "description": "Failed checks of rubrics of critical severity.",
        "sort_desc": "run_id",
        "facets": _together("rubric_id"),
    },
    "metrics": {
        "title": "Metrics",
        "description": "Every version of every metric a run has used.",
        "label_column": "id",
    },
    "case_ids": {
        "title": "Case ids",
        "description": "Each case id once, with the number other tables refer to it by.",
        "label_column": "id",
    },
    "judges": {
        "title": "Judges",
        "description": "Who answered: a gateway and the model it was asked for.",
        "label_column": "name",
    },
    "questions": {"title": "Questions", "description": "Every question as it was sent."},
    "criteria": {"title": "Criteria", "description": "The texts of criteria as they were sent, each once."},
    "verdicts": {
        "title": "Verdicts",
        "description": "Status, rule and reason, each combination once.",
        "facets": ["rule"],
    },
    "repeat_flips": {
        "title": "Repeat flips",
        "description": "Checks that changed status when the judge was asked again.",
    },
}

# What people look at stands first; the shared pieces beneath the views are for those who know SQL.
_HIDDEN = (
    *("case_ids", "criteria", "judges", "questions", "repeat_flips", "verdicts"),
    *("case_metadata", "case_rows", "check_rows", "explanation_rows", "findings", "judgment_rows"),
    *("request_rows", "run_cases", "run_rubrics", "score_results", "score_rows", "sweep_jobs", "tallies"),
)

_ABOUT = Markup(
    'Runs, checks and judgments. <a href="{}">The pages made for this data</a> show runs, cases, comparisons and'
    " the review queue; here is all of it as tables:"
)
_ENTRY = Markup('<dt><a href="{}">{}</a></dt><dd>{}</dd>')


def database_metadata(links: Links) -> dict[str, Any]:
    """The metadata of a store's database."""
    tables = {name: body | {"columns": dict(COLUMNS.get(name, {}))} for name, body in _TABLES.items()}
    for name in _HIDDEN:
        tables[name] = {"columns": dict(COLUMNS.get(name, {}))} | _TABLES.get(name, {}) | {"hidden": True}
    entries = [
        _ENTRY.format(links.table(name), name, body["description"])
        for name, body in _TABLES.items()
        if name not in _HIDDEN
    ]
    list_of_tables = Markup('<dl class="jeval-tables">{}</dl>').format(Markup("").join(entries))
    return {
        "title": f"jeval store {links.database}",
        "description_html": f"<p>{_ABOUT.format(links.page())}</p>{list_of_tables}",
        "tables": tables,
    }
