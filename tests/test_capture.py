"""`jeval capture`: files read as a stream, everything checked, a dataset written whole or not at all."""

import json
from pathlib import Path
from typing import Any

import pytest

from jeval.app.cli import main
from jeval.app.commands.capture import shortened
from jeval.app.files import read_cases
from jeval.case import Case
from jeval.imports.formats import FORMATS, detect

TAU = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "taubench-airline.chat.jsonl"

CHAT = {"id": "c-1", "messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def capture(*arguments: str) -> int:
    return main(["capture", *arguments])


def cases(path: str = "out.jsonl") -> list[Case]:
    return list(read_cases(path))


def test_a_file_of_chats_becomes_a_dataset_that_a_run_can_read(folder: Path, capsys: Any) -> None:
    (folder / "in.jsonl").write_text(lines(CHAT, {**CHAT, "id": "c-2", "reward": 1}))
    assert capture("in.jsonl", "-o", "out.jsonl") == 0
    assert [(case.id, case.output) for case in cases()] == [("c-1", "A"), ("c-2", "A")]
    told = capsys.readouterr().err
    assert told.startswith("2 cases of 2 records in in.jsonl (format chat, found by looking) → out.jsonl\n")
    assert "with messages 2 · metadata 1" in told
    assert [path.name for path in folder.iterdir()] == ["in.jsonl", "out.jsonl"] or len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_of_the_contract_can_be_named(format: str, folder: Path) -> None:
    (folder / "in.jsonl").write_text("{}\n")
    assert capture("in.jsonl", "--format", format, "-o", "out.jsonl") == 3


def test_a_file_that_is_there_is_not_written_over_unless_told(folder: Path, capsys: Any) -> None:
    (folder / "in.jsonl").write_text(lines(CHAT))
    (folder / "out.jsonl").write_text("mine")
    assert capture("in.jsonl", "-o", "out.jsonl") == 3
    assert (folder / "out.jsonl").read_text() == "mine"
    assert "-o out.jsonl exists; name another file, or write over it with --force" in capsys.readouterr().err
    assert capture("in.jsonl", "-o", "out.jsonl", "--force") == 0
    assert len(cases()) == 1


def test_the_file_that_is_read_is_never_the_one_that_is_written(folder: Path, capsys: Any) -> None:
    (folder / "in.jsonl").write_text(lines(CHAT))
    assert capture("in.jsonl", "-o", "./in.jsonl", "--force") == 3
    assert json.loads((folder / "in.jsonl").read_text()) == CHAT
    assert "is the file that is read" in capsys.readouterr().err


def test_one_bad_record_means_that_nothing_is_written_and_all_bad_ones_are_told(folder: Path, capsys: Any) -> None:
    bad = {"id": "c-2", "messages": [{"role": "user", "content": "Q"}]}
    (folder / "in.jsonl").write_text(lines(CHAT, bad) + "{broken\n" + lines({**CHAT, "id": "x" * 5}))
    assert capture("in.jsonl", "--format", "chat", "-o", "out.jsonl") == 3
    told = capsys.readouterr().err
    assert "in.jsonl:2: messages no message of the assistant holds a text; leave this conversation out" in told
    assert "in.jsonl:3: is not JSON at column 2" in told
    assert [path.name for path in folder.iterdir()] == ["in.jsonl"]


def test_bad_records_can_be_left_out_and_are_counted(folder: Path, capsys: Any) -> None:
    (folder / "in.jsonl").write_text(lines(CHAT, {"messages": []}))
    assert capture("in.jsonl", "--format", "chat", "-o", "out.jsonl", "--keep-going", "--json") == 2
    told = json.loads(capsys.readouterr().out)
    assert (told["records"], told["cases"], told["left_out"], told["out"]) == (2, 1, 1, "out.jsonl")
    [problem] = told["problems"]
    assert problem["place"] == "in.jsonl:2" and problem["field"] == "messages" and problem["remedy"]
    assert len(cases()) == 1


def test_a_case_over_a_limit_is_told_by_its_field(folder: Path, capsys: Any) -> None:
    (folder / "in.jsonl").write_text(lines({"input": "Q", "output": "A" * 200_001}))
    assert capture("in.jsonl", "-o", "out.jsonl") == 3
    assert "in.jsonl:1: output has 200,001 characters; the most is 200,000; shorten it" in capsys.readouterr().err


def test_a_dry_run_shows_cases_and_summary_and_writes_nothing(folder: Path, capsys: Any) -> None:
    (folder / "in.jsonl").write_text(lines(*({**CHAT, "id": f"c-{i}"} for i in range(5))))
    assert capture("in.jsonl", "--dry-run") == 0
    shown = capsys.readouterr()
    assert shown.out.count('"output": "A"') == 2
    assert "5 cases of 5 records" in shown.err and "(nothing written)" in shown.err
    assert [path.name for path in folder.iterdir()] == ["in.jsonl"]


def test_a_dry_run_shortens_long_texts_and_lists(folder: Path, capsys: Any) -> None:
    turns = [{"role": "user", "content": "x" * 5_000}, {"role": "assistant", "content": "A"}] * 20
    (folder / "in.jsonl").write_text(lines({"messages": turns}))
    assert capture("in.jsonl", "--dry-run") == 0
    shown = capsys.readouterr().out
    assert "x… (4,700 characters more)" in shown and "… (34 more)" in shown
    assert max(map(len, shown.splitlines())) < 400 and len(shown.splitlines()) < 60


def test_a_short_value_is_previewed_as_it_is() -> None:
    value = {"a": ["x" * 340] * 7, "b": [{"c": None}, 1, True]}
    assert shortened(value) == value


def test_guesses_about_tool_calls_are_counted_by_call(folder: Path, capsys: Any) -> None:
    def called(name: str, result: str) -> list[Any]:
        call = {"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": name, "content": result},
        ]

    calls = [step for n in range(5) for step in called(f"t{n}", "Error: no" if n == 3 else "ok")]
    open_calls = [step for name in ("u1", "u2") for step in called(name, "")[:1]]
    messages = [{"role": "user", "content": "Q"}, *calls, *open_calls, {"role": "assistant", "content": "A"}]
    (folder / "in.jsonl").write_text(lines({"messages": messages}, {"messages": messages}))
    assert capture("in.jsonl", "-o", "out.jsonl", "--json") == 0
    assert json.loads(capsys.readouterr().out)["notes"] == {
        "tool success assumed from the text of its result": 8,
        "tool failure told by the text of its result": 2,
        "tool call without a result left out": 4,
    }


def test_a_preview_obeys_nothing_that_stands_in_a_trace(folder: Path, capsys: Any) -> None:
    hostile = "\x1b[2J\u202eevil"
    (folder / "in.jsonl").write_text(lines({"input": hostile, "output": hostile, "topic\x1b[2J": "x"}))
    assert capture("in.jsonl", "--dry-run") == 0
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err and "\u202e" not in shown.out


def test_ids_that_come_again_get_a_number_and_all_are_valid(folder: Path, capsys: Any) -> None:
    odd = ["same", "same", "with space", "天気", 7, "x" * 300, "x" * 300]
    (folder / "in.jsonl").write_text(lines(*({**CHAT, "id": one} for one in odd)))
    assert capture("in.jsonl", "-o", "out.jsonl") == 0
    ids = [case.id for case in cases()]
    assert ids[:3] == ["same", "same:2", "with-space"] and ids[4] == "7"
    assert len(set(ids)) == len(ids)
    assert "2 × id that occurred before, with a number added" in capsys.readouterr().err


def test_json_files_hold_a_list_one_record_or_a_list_under_a_known_key(folder: Path) -> None:
    row = {"question": "Q", "answer": "A"}
    for number, whole in enumerate(([row, row], row, {"data": [row], "meta": {}})):
        path = folder / f"in{number}.json"
        path.write_text(json.dumps(whole, indent=2))
        assert capture(path.name, "-o", f"out{number}.jsonl") == 0
    assert [len(cases(f"out{number}.jsonl")) for number in range(3)] == [2, 1, 1]


def test_a_bare_list_of_messages_is_one_conversation(folder: Path) -> None:
    (folder / "in.json").write_text(json.dumps(CHAT["messages"]))
    assert capture("in.json", "-o", "out.jsonl") == 0
    assert len(cases()) == 1


def test_a_table_is_read_by_its_header_and_a_mapping(folder: Path, capsys: Any) -> None:
    (folder / "in.csv").write_text('nr,asked,said,topic\n1,Q,"A, B",t\n2,Q2,A2,\n')
    mapping = ("--map", "input=asked", "--map", "output=said", "--map", "id=nr")
    assert capture("in.csv", *mapping, "-o", "out.jsonl") == 0
    first, second = cases()
    assert (first.id, first.input, first.output, first.metadata) == ("1", "Q", "A, B", {"topic": "t"})
    assert second.metadata is None
    (folder / "bad.csv").write_text("input,output\nQ,A,too much\n")
    assert capture("bad.csv", "-o", "out2.jsonl") == 3
    assert "bad.csv:2: has more cells than the header" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("in.jsonl",), "-o: no file to write is named"),
        (("nowhere.jsonl", "-o", "o"), "nowhere.jsonl cannot be read: No such file or directory"),
        ((".", "-o", "o"), ". is a directory; name a file in it"),
        (("in.jsonl", "-o", "no/where.jsonl"), "its folder no does not exist"),
        (("in.jsonl", "-o", "."), "-o . is a directory; name a file in it"),
        (("in.jsonl", "-o", "o", "--map", "outptu=x"), "outptu cannot be mapped; did you mean output?"),
        (("in.jsonl", "-o", "o", "--map", "output"), "is no FIELD=PATH"),
        (
            ("in.jsonl", "-o", "o", "--map", "output=x", "--format", "chat"),
            "--map goes with --format generic",
        ),
        (("in.jsonl", "-o", "o", "--tool-failure", "("), "is no regular expression"),
        (("in.jsonl", "-o", "o", "--limit", "0"), "--limit 0: is no number of records"),
        (
            ("in.jsonl", "-o", "o"),
            "its first record is in no known format (its keys are a); name it: --format chat|",
        ),
    ],
)
def test_a_mistake_is_one_line_with_its_remedy(
    arguments: tuple[str, ...], message: str, folder: Path, capsys: Any
) -> None:
    (folder / "in.jsonl").write_text('{"a": 1}\n')
    assert capture(*arguments) == 3
    told = capsys.readouterr().err
    assert message in told and told.count("\n") == 1
    assert [path.name for path in folder.iterdir()] == ["in.jsonl"]


def test_an_empty_file_holds_no_case(folder: Path, capsys: Any) -> None:
    (folder / "in.jsonl").write_text("")
    assert capture("in.jsonl", "--format", "chat", "-o", "out.jsonl") == 3
    assert not (folder / "out.jsonl").exists()


def test_the_cases_can_go_to_stdout(folder: Path, capsys: Any) -> None:
    (folder / "in.jsonl").write_text(lines(CHAT))
    assert capture("in.jsonl", "-o", "-") == 0
    shown = capsys.readouterr()
    assert Case.model_validate(json.loads(shown.out)).id == "c-1"
    assert "1 case of 1 record in" in shown.err


def test_nulls_inside_what_a_tool_returned_are_kept(folder: Path) -> None:
    events = [{"id": "t1", "name": "x", "status": "success", "output": {"a": None, "b": [None]}}]
    (folder / "in.jsonl").write_text(
        lines({"input": "Q", "output": "A", "toolEvents": events, "metadata": {"k": None}})
    )
    assert capture("in.jsonl", "-o", "out.jsonl") == 0
    [case] = cases()
    assert (case.tool_events or ())[0].output == {"a": None, "b": [None]}
    assert case.metadata == {"k": None}


def test_the_first_records_alone_can_be_captured(folder: Path) -> None:
    (folder / "in.jsonl").write_text(lines(*({**CHAT, "id": f"c-{i}"} for i in range(5))))
    assert capture("in.jsonl", "-o", "out.jsonl", "--limit", "2") == 0
    assert [case.id for case in cases()] == ["c-0", "c-1"]


@pytest.mark.skipif(not TAU.is_file(), reason="../shared/data is not there")
def test_recorded_airline_conversations_are_captured_whole(tmp_path: Path) -> None:
    out = tmp_path / "tau.jsonl"
    assert capture(str(TAU), "-o", str(out)) == 0
    records = [json.loads(line) for line in TAU.read_text(encoding="utf-8").splitlines()]
    found = cases(str(out))
    assert [case.id for case in found] == [record["id"] for record in records] and len(found) == 48
    for case, record in zip(found, records, strict=True):
        said = [m for m in record["messages"] if m["role"] in ("user", "assistant") and m["content"]]
        assert [m.content for m in case.messages or ()] == [m["content"] for m in said]
        assert case.policy == record["messages"][0]["content"]
        calls = [call for m in record["messages"] for call in m.get("tool_calls") or ()]
        assert [e.name for e in case.tool_events or ()] == [call["function"]["name"] for call in calls]
        assert [e.input for e in case.tool_events or ()] == [json.loads(c["function"]["arguments"]) for c in calls]
        assert case.output == [m["content"] for m in said if m["role"] == "assistant"][-1]
        assert (case.metadata or {})["reward"] == record["reward"]
    failures = [e for case in found for e in case.tool_events or () if e.status == "failure"]
    assert len(failures) == 29 and all(str(e.error).startswith("Error") for e in failures)


def test_a_record_that_is_none_of_the_formats_is_none() -> None:
    assert detect({"a": 1}) is None and detect(None) is None and detect(7) is None and detect([]) is None


LABELLED = {
    "id": "a",
    "input": "Q",
    "output": "A",
    "context": [{"id": "k", "content": "x"}],
    "expected": {"support": {"status": "pass"}},
}


def test_a_file_of_cases_is_not_captured_for_it_would_lose_labels_and_ids(folder: Path, capsys: Any) -> None:
    (folder / "my cases.jsonl").write_text(lines(LABELLED))
    for arguments in (["-o", "out.jsonl"], ["--dry-run"]):
        assert capture("my cases.jsonl", *arguments) == 3
        told = capsys.readouterr()
        assert told.out == "" and "holds cases already; `jeval run dataset.path='my cases.jsonl'`" in told.err
    assert [path.name for path in folder.iterdir()] == ["my cases.jsonl"]


def test_a_first_case_with_a_fault_is_a_case_still(folder: Path, capsys: Any) -> None:
    (folder / "in.jsonl").write_text(lines({**LABELLED, "expected": {"support": "pass"}}))
    assert capture("in.jsonl", "-o", "out.jsonl") == 3
    assert "holds cases already" in capsys.readouterr().err


def test_a_list_of_cases_is_told_how_it_becomes_a_dataset(folder: Path, capsys: Any) -> None:
    (folder / "in.json").write_text(json.dumps([LABELLED]))
    assert capture("in.json", "-o", "out.jsonl") == 3
    assert "jq -c '.[]' in.json" in capsys.readouterr().err


def test_cases_are_captured_where_a_format_is_named(folder: Path) -> None:
    (folder / "in.jsonl").write_text(lines(LABELLED))
    assert capture("in.jsonl", "--format", "generic", "-o", "out.jsonl") == 0
    assert [case.id for case in cases()] == ["a"]


def test_a_table_with_the_keys_of_a_case_is_captured(folder: Path) -> None:
    (folder / "in.csv").write_text("id,input,output\na,Q,A\n")
    assert capture("in.csv", "-o", "out.jsonl") == 0
    assert [case.output for case in cases()] == ["A"]


def test_one_fault_in_every_row_is_told_once_and_nothing_is_written(folder: Path, capsys: Any) -> None:
    (folder / "in.csv").write_text("id,text\n" + "".join(f"{n},x\n" for n in range(60)))
    assert capture("in.csv", "--format", "generic", "-o", "out.jsonl") == 3
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("in.csv:2: input is not found")
    assert told[0].endswith("(and 59 more alike: in.csv:3, in.csv:4, in.csv:5, …)")
    assert told[1:] == ["jeval: 60 problems; nothing was written"]
    assert [path.name for path in folder.iterdir()] == ["in.csv"]


def test_what_went_to_stdout_before_a_fault_is_not_called_nothing(folder: Path, capsys: Any) -> None:
    (folder / "in.jsonl").write_text(lines(CHAT, {"messages": []}))
    assert capture("in.jsonl", "--format", "chat", "-o", "-") == 3
    told = capsys.readouterr()
    assert len(told.out.splitlines()) == 1
    assert told.err.splitlines()[-1] == "jeval: 1 problem; 1 case before it written"
