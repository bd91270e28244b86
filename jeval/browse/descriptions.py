"""What Datasette shows about the tables: titles, every column in words, facets, sorts and sizes."""

from typing import Any

from jeval.browse.columns import COLUMNS

__all__ = ["database_metadata"]

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
        "facets": ["status", "rubric_id", "severity", "kind"],
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
        "facets": ["metric_id", "passed", "status"],
    },
    "score_breakdown": {
        "title": "Score breakdown",
        "description": "One row for each question of a metric: what it added to the score.",
        "facets": ["metric_id", "type"],
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
        "facets": ["judge", "model_served"],
    },
    "requests": {
        "title": "Requests",
        "description": "What was sent to the judge, how long it took and what came of it.",
        "facets": ["model_served", "error_kind"],
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
        "facets": ["expected", "source", "reviewer"],
    },
    "run_summary": {"title": "Run summary", "description": "Each run's counts and rates."},
    "rubric_summary": {
        "title": "Rubric summary",
        "description": "Each run's counts by rubric.",
        "facets": ["rubric_id"],
    },
    "critical_failures": {
        "title": "Critical failures",
        "description": "Failed checks of rubrics of critical severity.",
        "facets": ["rubric_id"],
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
    *("case_metadata", "case_rows", "check_rows", "explanation_rows", "findings", "judgment_rows"),
    *("request_rows", "run_cases", "run_rubrics", "score_results", "score_rows", "sweep_jobs", "tallies"),
)


def database_metadata() -> dict[str, Any]:
    """The metadata of a store's database."""
    tables = {name: body | {"columns": dict(COLUMNS.get(name, {}))} for name, body in _TABLES.items()}
    tables |= {name: {"hidden": True, "columns": dict(COLUMNS.get(name, {}))} for name in _HIDDEN}
    return {
        "title": "jeval store",
        "description": "Runs, checks and judgments. The pages made for this data are under /-/jeval.",
        "tables": tables,
    }
