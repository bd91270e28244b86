"""Traces in each shape in which recorders of this field write them: the same story out of every one."""

import copy
import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from jeval.app.cli import main
from jeval.app.files import read_cases
from jeval.case import Case
from jeval.imports.draft import Draft, Options, Unfit
from jeval.imports.formats import detect, drafts
from tests import recorded as r

SPANS = {
    "genai": ("otel", [r.GENAI]),
    "printed": ("otel", r.PRINTED),
    "phoenix": ("otel", r.PHOENIX["data"]),
    "jaeger": ("otel", r.JAEGER["data"]),
    "tempo": ("otel", [r.TEMPO]),
    "openllmetry": ("otel", [r.OPENLLMETRY]),
    "ai sdk": ("otel", [r.AI_SDK]),
    "pydantic ai": ("otel", [r.PYDANTIC_AI]),
    "mlflow": ("otel", [r.MLFLOW]),
    "langfuse attributes": ("otel", [r.LANGFUSE_ATTRIBUTES]),
    "langfuse trace": ("langfuse", [r.LANGFUSE_TRACE]),
    "langfuse download": ("langfuse", [r.LANGFUSE_DOWNLOAD]),
    "langfuse rows": ("langfuse", r.LANGFUSE_ROWS),
    "langfuse bucket": ("langfuse", r.LANGFUSE_BUCKET),
    "langwatch api": ("langwatch", [r.LANGWATCH_API]),
    "langwatch full": ("langwatch", [r.LANGWATCH_FULL]),
    "langwatch csv": ("langwatch", r.LANGWATCH_CSV),
}
# Those whose recorder has no words for a retrieval.
WITHOUT_PASSAGES = {"ai sdk", "pydantic ai"}

BARE = {
    "genai events": ("otel", [r.GENAI_EVENTS]),
    "genai logs": ("otel", r.GENAI_LOGS),
    "langfuse list": ("langfuse", [r.LANGFUSE_LIST]),
    "langfuse table": ("langfuse", [r.LANGFUSE_TABLE]),
    "langwatch summary": ("langwatch", [r.LANGWATCH_SUMMARY]),
    "langwatch summary csv": ("langwatch", [r.LANGWATCH_SUMMARY_CSV]),
}


def read(format: str, records: list[Any]) -> list[Draft | Unfit]:
    placed = [(f"f:{number}", copy.deepcopy(record)) for number, record in enumerate(records, 1)]
    return [found for _, found in drafts(format, placed, Options())]


def only(format: str, records: list[Any]) -> tuple[Case, Draft]:
    [draft] = read(format, records)
    assert isinstance(draft, Draft), (draft.field, draft.message)
    return Case.model_validate({**draft.body, "id": draft.settled_id(format)}), draft


@pytest.mark.parametrize("shape", SPANS)
def test_the_story_is_read_whole_out_of_every_shape(shape: str) -> None:
    case, _ = only(*SPANS[shape])
    assert (case.input, case.output, case.policy) == (r.QUESTION, r.ANSWER, r.POLICY)
    assert [(turn.role, turn.content) for turn in case.messages or ()] == [
        ("user", r.QUESTION),
        ("assistant", r.ANSWER),
    ]
    failed, good = case.tool_events or ()
    assert (failed.name, failed.status, failed.input) == ("track", "failure", {"id": 7})
    assert str(failed.error).endswith(r.PROBLEM) and failed.output is None
    assert (good.name, good.status, good.input, good.output) == ("track", "success", {"id": 7}, r.RESULT)
    passages = [passage.content for passage in case.context or ()]
    assert passages == ([] if shape in WITHOUT_PASSAGES else [r.PASSAGE])


@pytest.mark.parametrize("shape", BARE)
def test_what_holds_the_words_alone_gives_them(shape: str) -> None:
    case, draft = only(*BARE[shape])
    assert (case.input, case.output) == (r.QUESTION, r.ANSWER)
    if not shape.startswith("genai"):
        assert case.tool_events is None and case.messages is None
        [note] = draft.notes
        assert note.startswith("trace without its ") and note.endswith("are not in such an export")
    else:
        assert case.policy == r.POLICY


@pytest.mark.parametrize("shape", {**SPANS, **BARE})
def test_the_format_of_every_shape_is_found_by_looking(shape: str, tmp_path: Path, capsys: Any) -> None:
    format, records = {**SPANS, **BARE}[shape]
    for name, text in written(records, table=shape.endswith("csv")).items():
        (tmp_path / name).write_text(text)
        out = tmp_path / f"{name}.cases.jsonl"
        assert main(["capture", str(tmp_path / name), "-o", str(out), "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["format"], told["cases"], told["left_out"]) == (format, 1, 0)
        [case] = read_cases(str(out))
        assert (case.input, case.output) == (r.QUESTION, r.ANSWER)


def written(records: list[Any], *, table: bool) -> dict[str, str]:
    """Records as files: a line each, a list, one after the other over several lines, and as a table."""
    pretty = [json.dumps(record, indent=2) for record in records]
    files = {
        "lines.jsonl": "".join(json.dumps(record) + "\n" for record in records),
        "list.json": json.dumps(records),
        "printed.json": "\n".join(pretty) + "\n",
    }
    if table:
        sheet = io.StringIO()
        writer = csv.DictWriter(sheet, list(records[0]))
        writer.writeheader()
        writer.writerows(records)
        files["table.csv"] = sheet.getvalue()
    return files


@pytest.mark.parametrize("page", [r.PHOENIX, r.JAEGER, r.LANGFUSE_LIST, {"traces": [r.LANGWATCH_API]}])
def test_a_page_of_an_api_is_read_as_it_came(page: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "page.json").write_text(json.dumps(page))
    assert main(["capture", str(tmp_path / "page.json"), "-o", str(tmp_path / "cases.jsonl")]) == 0
    [case] = read_cases(str(tmp_path / "cases.jsonl"))
    assert case.output == r.ANSWER


@pytest.mark.parametrize(("shape", "kept"), [
    ("genai", {"gen_ai.conversation.id": "conv-1", "gen_ai.agent.name": "helper", "service.name": "parcels"}),
    ("printed", {"session.id": "s-1", "metadata": {"plan": "free"}, "llm.model_name": "gpt-9"}),
    ("openllmetry", {"traceloop.association.properties.user_id": "u-1"}),
    ("ai sdk", {"ai.telemetry.metadata.sessionId": "s-1"}),
    ("langfuse attributes", {"langfuse.session.id": "s-1", "langfuse.trace.metadata.plan": "free"}),
    ("langfuse trace", {
        "plan": "free", "name": "support", "tags": ["live"], "userId": "u-1", "sessionId": "s-1", "totalCost": 0.001,
        "scores": {"thumbs": 1, "mood": "glad"}, "scoreComments": {"thumbs": ["Thanks"]},
    }),
    ("langfuse rows", {"traceName": "support", "userId": "u-1", "sessionId": "s-1", "tags": ["live"]}),
    ("langwatch api", {"user_id": "u-1", "thread_id": "s-1", "labels": ["live"], "metrics": {"total_cost": 0.001}}),
    ("langwatch csv", {"user_id": "u-1", "labels": "live", "Tone_score": "0.9"}),
])  # fmt: skip
def test_what_is_known_of_a_trace_beside_its_words_is_kept_in_the_metadata(shape: str, kept: dict[str, Any]) -> None:
    case, _ = only(*SPANS[shape])
    assert case.metadata is not None
    assert {key: case.metadata.get(key) for key in kept} == kept


@pytest.mark.parametrize(("shape", "source"), [
    ("genai", "doc-1"), ("openllmetry", "doc-1"), ("mlflow", "rules.md"), ("langfuse trace", "rules.md"),
    ("langwatch api", "doc-1"), ("langfuse attributes", None),
])  # fmt: skip
def test_a_passage_says_where_it_is_from(shape: str, source: str | None) -> None:
    case, _ = only(*SPANS[shape])
    assert [passage.source for passage in case.context or ()] == [source]


def test_evaluations_of_langwatch_are_kept_and_are_no_evidence() -> None:
    case, _ = only("langwatch", [r.LANGWATCH_API])
    assert case.metadata is not None and case.metadata["evaluations"][0]["name"] == "Tone"


def test_spans_that_are_in_no_case_are_counted() -> None:
    _, draft = only("langfuse", [r.LANGFUSE_TRACE])
    assert draft.notes["span that is no model call, tool or retrieval left out"] == 1  # the evaluator


def test_rows_of_several_traces_are_told_apart_wherever_they_stand() -> None:
    others = [{**row, "traceId": "trace-2"} for row in r.LANGFUSE_ROWS]
    mixed = [row for pair in zip(reversed(r.LANGFUSE_ROWS), others, strict=True) for row in pair]
    found = read("langfuse", mixed)
    assert [draft.body["id"] for draft in found if isinstance(draft, Draft)] == ["trace-1", "trace-2"]
    assert all(draft.body["output"] == r.ANSWER for draft in found if isinstance(draft, Draft))


def test_spans_of_a_trace_may_come_in_several_exports_in_any_order() -> None:
    [scope] = r.GENAI["resourceSpans"][0]["scopeSpans"]
    case, _ = only("otel", [r.otlp(one) for one in reversed(scope["spans"])])
    assert [event.status for event in case.tool_events or ()] == ["failure", "success"]
    assert case.input == r.QUESTION


def test_keys_of_otlp_in_snake_case_are_read_too() -> None:
    def snake(value: Any) -> Any:
        if isinstance(value, list):
            return [snake(one) for one in value]
        if isinstance(value, dict):
            return {"".join(f"_{c.lower()}" if c.isupper() else c for c in k): snake(v) for k, v in value.items()}
        return value

    case, _ = only("otel", [snake(r.GENAI)])
    assert (case.output, [event.status for event in case.tool_events or ()]) == (r.ANSWER, ["failure", "success"])


def test_a_log_record_may_come_before_its_span() -> None:
    case, _ = only("otel", list(reversed(r.GENAI_LOGS)))
    assert (case.input, case.output, case.policy) == (r.QUESTION, r.ANSWER, r.POLICY)


def one_span(**attributes: Any) -> dict[str, Any]:
    return r.otlp(r.span(1, "chat", {"gen_ai.operation.name": "chat", **attributes}))


def test_messages_in_the_one_event_of_a_span_are_read() -> None:
    details = {
        "gen_ai.input.messages": r.dumped(r.GENAI_CONVERSATION[:1]),
        "gen_ai.output.messages": r.dumped(r.GENAI_ANSWER),
        "gen_ai.system_instructions": r.dumped([{"type": "text", "content": r.POLICY}]),
    }
    events = [("gen_ai.client.inference.operation.details", details)]
    case, _ = only("otel", [r.otlp(r.span(1, "chat", {"gen_ai.operation.name": "chat"}, events=events))])
    assert (case.input, case.output, case.policy) == (r.QUESTION, r.ANSWER, r.POLICY)


def test_a_tool_span_without_result_or_error_is_a_success_that_is_said_to_be_assumed() -> None:
    tool = r.span(2, "execute_tool track", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "track"})
    chat = r.span(1, "chat", {"gen_ai.operation.name": "chat", "input.value": r.QUESTION, "output.value": r.ANSWER})
    case, draft = only("otel", [r.otlp(chat, tool)])
    assert [(event.name, event.status) for event in case.tool_events or ()] == [("track", "success")]
    assert draft.notes == {"tool success assumed, for neither a result nor an error is recorded": 1}
    tool["status"] = {"code": 1}
    _, told = only("otel", [r.otlp(chat, tool)])
    assert told.notes == {}


@pytest.mark.parametrize(("status", "error"), [
    ({"code": 2, "message": "no route"}, "no route"),
    ({"code": "STATUS_CODE_ERROR", "message": "no route"}, "no route"),
    ({"code": "Error"}, "error"),
])  # fmt: skip
def test_a_failed_tool_span_says_what_went_wrong(status: dict[str, Any], error: str) -> None:
    tool = r.span(2, "track", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "track"})
    chat = r.span(1, "chat", {"gen_ai.operation.name": "chat", "input.value": "Q", "output.value": "A"})
    case, _ = only("otel", [r.otlp(chat, {**tool, "status": status})])
    assert [(event.status, event.error) for event in case.tool_events or ()] == [("failure", error)]


@pytest.mark.parametrize(("format", "records", "field", "message"), [
    ("otel", [{"resourceMetrics": []}], "", "holds no span"),
    ("otel", [one_span()], "input", "is not in trace 5b8efff798038103d269b633813fc60c"),
    ("langfuse", [7], "", "is not an object"),
    ("langfuse", [{"type": "SPAN", "input": "x"}], "id", "is missing"),
    ("langfuse", [{**r.LANGFUSE_LIST["data"][0], "output": None}], "output", "is not in trace trace-1"),
    ("langwatch", [[]], "", "is not an object"),
    ("langwatch", [{"span_id": "1", "input": "x"}], "trace_id", "is missing"),
    ("langwatch", [{**r.LANGWATCH_SUMMARY, "input": ""}], "input", "is not in trace trace-1"),
])  # fmt: skip
def test_what_cannot_be_read_is_told_with_its_field_and_what_to_do(
    format: str, records: list[Any], field: str, message: str
) -> None:
    [unfit] = read(format, records)
    assert isinstance(unfit, Unfit)
    assert (unfit.field, unfit.message) == (field, message) and unfit.remedy


def test_a_broken_line_among_rows_is_told_by_its_place_and_the_others_are_read(tmp_path: Path, capsys: Any) -> None:
    rows = [json.dumps(row) for row in r.LANGFUSE_ROWS]
    (tmp_path / "rows.jsonl").write_text("\n".join([*rows[:2], "{broken", *rows[2:], '"text"']) + "\n")
    out = tmp_path / "cases.jsonl"
    assert main(["capture", str(tmp_path / "rows.jsonl"), "-o", str(out), "--keep-going"]) == 2
    told = capsys.readouterr().err
    assert "rows.jsonl:3: is not JSON at column 2" in told and "rows.jsonl:8: is not an object" in told
    [case] = read_cases(str(out))
    assert [event.status for event in case.tool_events or ()] == ["failure", "success"]


def test_no_format_claims_what_is_anothers() -> None:
    for format, records in {**SPANS, **BARE}.values():
        assert {detect(record) for record in records} == {format}
    assert detect({"messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]}) == "chat"
    assert detect({"input": "Q", "actual_output": "A"}) == "deepeval"
    assert detect({"id": "x", "input": "Q", "output": "A", "batches": 3}) == "generic"
    assert detect({"trace_id": "x", "input": "Q", "output": "A"}) == "generic"
