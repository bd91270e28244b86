"""What a workflow gets to see of a run."""

import io
from pathlib import Path

from jeval.app.github import tell_github
from jeval.gate import GateReason, GateVerdict
from tests.stores import add_run, new_store, rubric

VERDICT = GateVerdict(1, (GateReason("max_failures", False, "failures 2 > 0 allowed", 1),))


def test_the_summary_is_added_to_the_steps_and_failures_are_annotated_worst_first(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    rubrics = [rubric("tone"), rubric("booking", severity="critical")]
    add_run(connection, "r", {("a", "tone"): "fail", ("b", "booking"): "fail", ("c", "tone"): "pass"}, rubrics)
    summary = tmp_path / "summary.md"
    summary.write_text("# an earlier step\n", encoding="utf-8")
    out = io.StringIO()
    tell_github(connection, "r", VERDICT, {"GITHUB_STEP_SUMMARY": str(summary)}, out)
    assert out.getvalue().splitlines() == [
        "::error title=jeval gate::failures 2 > 0 allowed",
        "::error title=critical%3A booking 1.0.0::b: it was fail",
        "::error title=major%3A tone 1.0.0::a: it was fail",
    ]
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("# an earlier step\n## jeval: gate failed, 1 critical failure\n")


def test_without_a_summary_file_there_are_annotations_only(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    add_run(connection, "r", {("a", "tone"): "pass"})
    out = io.StringIO()
    tell_github(connection, "r", VERDICT, {}, out)
    assert out.getvalue() == "::error title=jeval gate::failures 2 > 0 allowed\n"


def test_a_summary_that_cannot_be_written_is_said_and_nothing_more(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    add_run(connection, "r", {("a", "tone"): "pass"})
    out = io.StringIO()
    tell_github(connection, "r", VERDICT, {"GITHUB_STEP_SUMMARY": str(tmp_path)}, out)
    assert "cannot be written: Is a directory; the run goes on without it" in out.getvalue()
