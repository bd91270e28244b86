"""Which columns of a table people see first in Datasette; the others are one click away, and in every export."""

from collections.abc import Sequence

__all__ = ["SHOWN", "shown_columns"]

# Tables that are not named here show every column.
SHOWN: dict[str, tuple[str, ...]] = {
    table: tuple(columns.split())
    for table, columns in {
        "runs": "pk id name started_at status exit_code dataset cases rubrics thresholds judge model_served"
        " judgments_asked judgments_reused cost_usd wall_s sweep_id",
        "checks": "run_id case_id rubric_id rubric_version severity status reason probabilities",
        "cases": "id input output pk",
        "scores": "run_id case_id metric_id metric_version score passed strict threshold status reason",
        "score_breakdown": "run_id case_id metric_id position type question weight value applicable passed"
        " probabilities",
        "judgments": "asked_at judge model_asked model_served answer repeat run request",
        "requests": "run_id case_id asked_at model_served latency_ms attempts input_tokens output_tokens error_kind"
        " error_message",
        "rubrics": "pk id version kind severity required definition",
        "metrics": "pk id version definition",
    }.items()
}


def shown_columns(table: str, columns: Sequence[str], keys: Sequence[str]) -> list[str]:
    """Those of these columns that are shown first, primary keys before all; in their given order where no choice
    was made for the table."""
    if table not in SHOWN:
        return list(columns)
    return [name for name in dict.fromkeys((*keys, *SHOWN[table])) if name in columns]
