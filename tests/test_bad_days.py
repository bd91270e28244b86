"""Bad days: faulty judges, hostile text, stopped runs, full disks, two writers: nothing is lost."""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.judging import after, hashed, hashed_answer, judging, local
from tests.running import (
    RUBRICS,
    case,
    checks_of,
    command,
    environment,
    jeval,
    jeval_process,
    last_run,
    project,
    quick,
    rows,
    wait_until,
    write_rubrics,
)
from tests.servers import Act, cut_off, drop, hang, head, reply, reset

# The judge


def spoiled(change: Any) -> Act:
    """A good reply, then changed as a text or an object."""

    async def act(body: bytes, writer: asyncio.StreamWriter) -> None:
        request = json.loads(body)
        answers = {key: hashed_answer(question, request["state"]) for key, question in request["questions"].items()}
        content = change({"model": "jev-1.13.0", "answers": answers, "usage": {}})
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        writer.write(head(200, len(content)) + content)

    return act


def first(body: dict[str, Any]) -> dict[str, Any]:
    return next(iter(body["answers"].values()))


def probability(value: float) -> Act:
    def change(body: dict[str, Any]) -> dict[str, Any]:
        probabilities = first(body)["probabilities"]
        probabilities[next(iter(probabilities))] = value
        return body

    return spoiled(change)


def lacking(body: dict[str, Any]) -> dict[str, Any]:
    body["answers"].pop("q1")
    return body


def without_an_option(body: dict[str, Any]) -> dict[str, Any]:
    first(body)["probabilities"].popitem()
    return body


BUSY = {"detail": {"error_type": "rate_limited", "message": "slow down"}}
FAULTS: dict[str, tuple[Act, str]] = {
    "429": (reply(429, BUSY, {"retry-after-ms": "10"}), "rate_limited"),
    "500": (reply(500, {"detail": "oops"}), "server_error"),
    "503 with HTML": (reply(503, b"<html>busy</html>", {"content-type": "text/html"}), "server_error"),
    "529": (reply(529, {"detail": "overloaded"}), "overloaded"),
    "a 200 with HTML": (reply(200, b"<html><b>hello</b></html>"), "malformed"),
    "a 200 that is an error": (
        reply(200, {"error": {"code": 502, "message": "bad gateway"}}),
        "server_error",
    ),
    "an empty 200": (reply(200, b""), "malformed"),
    "truncated JSON": (spoiled(lambda body: json.dumps(body).encode()[:-20]), "malformed"),
    "a missing answer": (spoiled(lacking), "malformed"),
    "a missing option": (spoiled(without_an_option), "malformed"),
    "NaN": (probability(float("nan")), "malformed"),
    "7.5": (probability(7.5), "malformed"),
    "a negative probability": (probability(-0.2), "malformed"),
    "a connection cut in the middle": (cut_off, "connection"),
    "a hung connection": (hang, "timeout"),
}
QUICK = ["judge.timeout_s=0.3", "judge.max_attempts=1"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_case_whose_answer_never_comes_is_an_error_of_that_kind_and_only_that_case(
    tmp_path: Path, fault: str
) -> None:
    act, kind = FAULTS[fault]
    arguments = project(tmp_path, 4)

    async def picky(body: bytes, writer: asyncio.StreamWriter) -> None:
        await (act if b"Ticket 2 " in body else hashed)(body, writer)

    with judging(picky) as server:
        ran = quick(*arguments, *local(server.url, *QUICK, "judge.concurrency=1"), "--json")
        assert ran.code == ran.json["exit_code"] == 2 and ran.json["status"] == "incomplete"
        assert ran.json["counts"]["error"] == 2 and ran.json["checks"] == 8
        store = tmp_path / "jeval.db"
        errors = rows(store, "SELECT DISTINCT case_id, outcome, probabilities FROM checks WHERE status = 'error'")
        assert errors == [("case-0002", None, None)]
        assert rows(store, "SELECT case_id FROM requests WHERE error_kind = ?", kind) == [("case-0002",)]
        assert "1 × " + kind in ran.err and "run again" in ran.err
        got_none = kind in {"connection", "timeout"}  # every other one counts, whatever its reply was worth
        assert ran.json["requests"] == len(server.bodies) - got_none
    with judging(hashed) as server:
        again = quick(*arguments, *local(server.url, *QUICK), "--json")
        assert again.code == 0 and again.json["counts"]["error"] == 0
        assert again.json["requests"] == len(server.bodies) == 1


@pytest.mark.parametrize("fault", ["a connection closed instead of an answer", "a connection reset"])
def test_a_lost_connection_is_an_error_once_the_judge_has_been_reached(tmp_path: Path, fault: str) -> None:
    act = drop if "closed" in fault else reset

    async def picky(body: bytes, writer: asyncio.StreamWriter) -> None:
        await (act if b"Ticket 2 " in body else hashed)(body, writer)

    with judging(picky) as server:
        ran = quick(*project(tmp_path, 4), *local(server.url, *QUICK, "judge.concurrency=1"), "--json")
    assert ran.code == 2 and ran.json["counts"]["error"] == 2
    assert rows(tmp_path / "jeval.db", "SELECT case_id FROM requests WHERE error_kind = 'connection'") == [
        ("case-0002",)
    ]


def test_through_a_storm_of_every_fault_everything_ends_answered_as_on_a_good_day(tmp_path: Path) -> None:
    (tmp_path / "calm").mkdir()
    with judging(hashed) as server:
        quick(*project(tmp_path / "calm", 30), *local(server.url))
    storm = [hashed, *(act for act, _ in FAULTS.values()), drop, reset]
    with judging(*storm, hashed) as server:
        limits = ["judge.timeout_s=0.5", "judge.max_attempts=20"]
        ran = quick(*project(tmp_path, 30), *local(server.url, *limits), "--json")
    assert ran.code == 0 and ran.json["counts"]["error"] == 0
    assert checks_of(tmp_path / "jeval.db") == checks_of(tmp_path / "calm" / "jeval.db")
    assert len(set(server.bodies)) == 30
    assert ran.json["judgments"] == {"asked": 60, "reused": 0}


def test_a_judge_that_refuses_the_key_stops_the_run_at_once_and_keeps_what_was_answered(
    tmp_path: Path,
) -> None:
    refusal = reply(401, {"detail": {"error_type": "authentication_error", "message": "bad key"}})
    with judging(hashed, hashed, refusal) as server:
        ran = quick(*project(tmp_path, 50), *local(server.url, "judge.concurrency=1"), "--json")
    assert ran.code == 2 and ran.json["cases"] == 2
    assert len(server.bodies) == 3
    assert "auth" in ran.err and "48 cases are left" in ran.err
    assert rows(tmp_path / "jeval.db", "SELECT status, left_unasked FROM runs") == [("incomplete", 48)]


def test_a_judge_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    ran = quick(*project(tmp_path, 50), *local("http://127.0.0.1:9", "judge.max_attempts=1"))
    assert ran.code == 2
    assert "is the server running" in ran.out and "Traceback" not in ran.err


def test_a_budget_stops_the_run_and_leaves_the_rest_for_another(tmp_path: Path) -> None:
    arguments = project(tmp_path, 20)
    price = ["judge.usd_per_million_input=1000000", "judge.concurrency=1"]
    with judging(hashed) as server:
        ran = quick(*arguments, *local(server.url, *price, "judge.max_usd=200"), "--json")
        assert ran.code == 2 and ran.json["status"] == "incomplete"
        assert 0 < ran.json["cases"] < 20 and ran.json["cost_usd"] >= 200
        assert "judge.max_usd=200 is reached" in ran.err
        again = quick(*arguments, *local(server.url, *price), "--json")
        assert again.code == 0 and again.json["cases"] == 20
        assert len(server.bodies) == len(set(server.bodies)) == 20


# What is sent


def test_labels_and_metadata_never_reach_the_judge(tmp_path: Path) -> None:
    sentinel = "zq-sentinel-7f3a"
    label = {"status": "pass", "source": "human", "reviewer": sentinel, "note": sentinel}
    cases = [
        case(
            number,
            metadata={sentinel: sentinel, "deep": [{"x": sentinel}]},
            expected={"support": label, sentinel: label},
            policy="Be polite.",
            toolEvents=[],
            messages=[{"id": "m", "role": "user", "content": "Hello."}],
        )
        for number in range(3)
    ]
    metric = {
        "id": "m",
        "version": "1",
        "fields": ["input", "actual_output"],
        "questions": [{"noul": "It is so."}],
    }
    (tmp_path / "m.json").write_text(json.dumps([metric]))
    with judging() as server:
        asking = [*local(server.url), "judge.repeat=2", f"metrics.path={tmp_path}/m.json"]
        ran = quick(*project(tmp_path, cases), *asking, "--json")
    assert ran.code == 0 and len(server.bodies) == ran.json["requests"] == 3 * 2 * 2
    assert not any(sentinel in text for text in [*(body.decode() for body in server.bodies), *server.heads])


def test_rubric_and_case_text_arrives_at_the_judge_to_the_letter(tmp_path: Path) -> None:
    odd = 'Costs ${HOME} or ??? — "quoted", \\back, <b>&amp;</b>, \u2028, \x1b[31m, \x00, \N{GRINNING FACE} é'
    rubric = {**RUBRICS[1], "criterion": odd, "outcomes": {"acceptable": odd, "unacceptable": "yes"}}
    arguments = project(tmp_path, [case(1, input=odd, output=odd, policy=odd)])
    write_rubrics(tmp_path / "rubrics.json", [rubric])
    with judging() as server:
        assert quick(*arguments, *local(server.url)).code == 0
    (body,) = (json.loads(body) for body in server.bodies)
    (question,) = body["questions"].values()
    assert odd in question["instructions"]
    assert odd in question["criteria"].values()
    assert [body["state"][key] for key in ("user_input", "assistant_response", "policy")] == [odd] * 3
    assert rows(tmp_path / "jeval.db", "SELECT criterion FROM checks") == [(question["instructions"],)]


# Keys

KEY = "sk-zq-0123456789-sentinel"


def test_the_key_is_sent_and_is_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)

    async def telltale(body: bytes, writer: asyncio.StreamWriter) -> None:
        content = json.dumps({"detail": f"the key {KEY} in Bearer {KEY} is wrong"}).encode()
        writer.write(head(400, len(content)) + content)

    arguments = project(tmp_path, 3)
    with judging(hashed, telltale) as server:
        keyed = local(server.url, "judge.key_env=MY_KEY", "judge.concurrency=1")
        texts = [jeval("run", *arguments, *keyed, *more) for more in ([], ["--json"], ["--dry-run"], ["--cfg", "job"])]
    assert all(f"Bearer {KEY}" in text for text in server.heads)
    for ran in texts:
        assert KEY not in ran.out + ran.err and "sentinel" not in ran.out + ran.err
    assert "MY_KEY" in rows(tmp_path / "jeval.db", "SELECT config_yaml FROM runs")[0][0]
    for path in tmp_path.iterdir():
        assert KEY.encode() not in path.read_bytes()


@pytest.mark.parametrize("key", ["two\nlines", 'quo"ted', "it's", "schlüssel", "a b", "\x07bell", ""])
def test_a_key_of_no_use_is_refused_before_anything_is_asked_or_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("MY_KEY", key)
    with judging() as server:
        ran = quick(*project(tmp_path, 2), *local(server.url, "judge.key_env=MY_KEY"))
    assert ran.code == 3 and "MY_KEY" in ran.err
    assert not key or key not in ran.err
    assert server.bodies == []


def test_a_key_written_where_its_variable_s_name_belongs_is_not_shown(tmp_path: Path) -> None:
    with judging() as server:
        ran = jeval("run", *project(tmp_path, 2), *local(server.url, f"judge.key_env={KEY}"))
    assert ran.code == 3 and "key_env" in ran.err and KEY not in ran.err + ran.out
    assert server.heads == [] and not rows(tmp_path / "jeval.db", "SELECT 1 FROM runs")


def test_a_key_is_not_sent_in_plain_text_over_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    ran = jeval("run", *project(tmp_path, 2), *local("http://judge.invalid", "judge.key_env=MY_KEY"))
    assert ran.code == 3 and "https" in ran.err and KEY not in ran.err


# Hostile text

HOSTILE = "\x1b[2J\x1b[31mRED\x1b]0;title\x07<script>alert(1)</script>\u202egnp.exe\r\nFAKE LINE"


def test_hostile_text_is_shown_as_text(tmp_path: Path) -> None:
    telling = reply(400, {"detail": HOSTILE})
    rubric = {**RUBRICS[1], "severity": "critical", "criterion": HOSTILE, "description": HOSTILE}
    rubric["version"] = HOSTILE[:50]
    arguments = project(tmp_path, [case(1, input=HOSTILE, output=HOSTILE)])
    write_rubrics(tmp_path / "rubrics.json", [rubric])
    with judging(telling) as server:
        ran = jeval("run", *arguments, *local(server.url), f"name={HOSTILE}")
    shown = ran.out + ran.err
    assert ran.code == 2 and "RED" in shown
    assert all(text.isprintable() for text in shown.split("\n"))
    assert "\u202e" not in shown
    assert not any(line.startswith("FAKE") for line in shown.split("\n"))


def test_a_tool_s_name_and_output_in_a_reason_are_shown_as_text(tmp_path: Path) -> None:
    event = {"id": HOSTILE[:40], "name": "book", "status": "success", "output": {"state": HOSTILE}}
    rubric = {
        "id": "booked",
        "version": "1",
        "kind": "tool-claim",
        "severity": "critical",
        "params": {"toolName": "book", "action": "booking", "successWhen": {"path": "state", "equals": "ok"}},
    }
    sure = spoiled(lambda body: {**body, "answers": {"q1": {**first(body), "probabilities": SURE}}})
    arguments = project(tmp_path, [case(1, toolEvents=[event])])
    write_rubrics(tmp_path / "rubrics.json", [rubric])
    with judging(sure) as server:
        ran = quick(*arguments, *local(server.url))
    assert "CRITICAL FAILURE" in ran.out and "RED" in ran.out
    assert all(text.isprintable() for text in ran.out.split("\n"))
    (reason,) = rows(tmp_path / "jeval.db", "SELECT reason FROM critical_failures")[0]
    assert "RED" in reason


SURE = {"claims_completed": 1.0, "does_not_claim": 0.0, "unclear": 0.0}


# Two writers, one reader


def test_two_runs_may_write_one_store_while_somebody_reads_it(tmp_path: Path) -> None:
    arguments = project(tmp_path, 60)
    store = tmp_path / "jeval.db"
    quick(*arguments, "dataset.limit=0")
    seen: list[int] = []
    stop = threading.Event()

    def read() -> None:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
            while not stop.is_set():
                whole = connection.execute(
                    "SELECT count(*), (SELECT count(*) FROM run_cases) FROM check_rows"
                ).fetchone()
                assert whole[0] == 2 * whole[1]
                seen.append(whole[1])
                stop.wait(0.02)

    with judging(after(0.02, hashed)) as server:
        asking = [*arguments, *local(server.url, "judge.concurrency=8")]
        reader = threading.Thread(target=read)
        reader.start()
        both = [
            subprocess.Popen(
                command("run", *asking, f"name={name}", "--json"),
                env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )
            for name in ("one", "two")
        ]  # fmt: skip
        ended = [process.communicate(timeout=60) for process in both]
        stop.set()
        reader.join()
    assert [process.returncode for process in both] == [0, 0], ended
    assert [json.loads(out)["cases"] for out, _ in ended] == [60, 60]
    runs = [row[0] for row in rows(store, "SELECT id FROM runs WHERE name IS NOT NULL")]
    assert checks_of(store, runs[0]) == checks_of(store, runs[1]) and len(checks_of(store, runs[0])) == 120
    assert rows(store, "PRAGMA integrity_check") == [("ok",)]
    assert rows(store, "PRAGMA foreign_key_check") == []
    assert seen[-1] > 0


# Stopped


def stopped(folder: Path, how: signal.Signals, arguments: list[str]) -> tuple[int, str]:
    """Stop a run once some of its cases are in the store; its exit code and what it said."""
    store = folder / "jeval.db"
    process = subprocess.Popen(
        command("run", *arguments),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

    def some() -> bool:
        try:
            return process.poll() is not None or rows(store, "SELECT count(*) FROM run_cases")[0][0] >= 5
        except sqlite3.Error:
            return False

    assert wait_until(some)
    process.send_signal(how)
    out, err = process.communicate(timeout=30)
    return process.returncode, out + err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_run_keeps_what_was_answered_and_the_next_asks_only_the_rest(
    tmp_path: Path, how: signal.Signals
) -> None:
    arguments = project(tmp_path, 60)
    store = tmp_path / "jeval.db"
    with judging(after(0.05, hashed)) as server:
        slowly = [*arguments, *local(server.url, "judge.concurrency=4")]
        code, said = stopped(tmp_path, how, slowly)
        done = rows(store, "SELECT count(*) FROM run_cases")[0][0]
        assert 5 <= done < 60
        assert rows(store, "SELECT count(*) FROM checks")[0][0] == 2 * done
        if how == signal.SIGKILL:
            assert rows(store, "SELECT status, exit_code FROM runs") == [("running", None)]
        else:
            assert code == 130 and "interrupted" in said and f"{60 - done} cases are left" in said
            assert "Traceback" not in said
            assert rows(store, "SELECT status, exit_code, left_unasked FROM runs") == [("interrupted", 130, 60 - done)]
        again = quick(*arguments, *local(server.url), "--json")
        assert again.code == 0 and again.json["cases"] == 60
        assert again.json["requests"] == 60 - done
        assert len(set(server.bodies)) == 60
        # What was under way when the run was stopped is all that is asked again.
        assert len(server.bodies) <= 60 + 4
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    with judging(hashed) as server:
        quick(*project(fresh, 60), *local(server.url))
    assert checks_of(store) == checks_of(fresh / "jeval.db")


def test_an_interrupted_sweep_stops_as_a_whole(tmp_path: Path) -> None:
    with judging(after(0.05, hashed)) as server:
        slowly = [*project(tmp_path, 60), *local(server.url, "judge.concurrency=4")]
        code, said = stopped(tmp_path, signal.SIGINT, [*slowly, "-m", "thresholds=default,strict"])
    assert code == 130 and "Traceback" not in said
    assert rows(tmp_path / "jeval.db", "SELECT count(*) FROM runs") == [(1,)]


# No room

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
from jeval.app.cli import main
sys.exit(main(sys.argv[2:]))
"""


def limited(size: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line where no file may grow beyond a size, in bytes."""
    return subprocess.run(
        [sys.executable, "-c", LIMITED, str(size), *arguments],
        env=environment(), capture_output=True, text=True, timeout=60,
    )  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
def test_a_full_disk_is_told_and_what_was_answered_is_kept_and_gone_on_with(tmp_path: Path) -> None:
    arguments = project(tmp_path, 60)
    store = tmp_path / "jeval.db"
    quick(*arguments, "dataset.limit=0")
    room = store.stat().st_size + 60_000
    with judging(hashed) as server:
        full = limited(room, "run", *arguments, *local(server.url, "judge.concurrency=2"))
        assert full.returncode == 3, full.stderr
        assert "the store could not be written" in full.stdout and "make room and run again" in full.stdout
        assert full.stderr == "" or "cases" in full.stderr
        assert "Traceback" not in full.stderr and "Unclosed" not in full.stderr
        done = rows(store, "SELECT count(*) FROM run_cases")[0][0]
        assert 0 < done < 60
        assert rows(store, "SELECT count(*) FROM checks WHERE run_id = ?", last_run(store))[0][0] == 2 * done
        assert rows(store, "PRAGMA integrity_check") == [("ok",)]
        again = quick(*arguments, *local(server.url), "--json")
    assert again.code == 0 and again.json["cases"] == 60
    assert again.json["requests"] == 60 - done


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
def test_no_room_for_even_a_new_store_is_told_in_one_line(tmp_path: Path) -> None:
    full = limited(8_000, "run", *project(tmp_path, 3))
    assert full.returncode == 3
    assert len(full.stderr.strip().splitlines()) == 1 and str(tmp_path / "jeval.db") in full.stderr


# Odd files through the whole


@pytest.mark.parametrize(
    "name",
    ["a b.jsonl", "it's.jsonl", 'say "x".jsonl', "a,b.jsonl", "(a)[b].jsonl", "${HOME}.jsonl", "a=b.jsonl"],
)
def test_a_dataset_of_any_name_runs(tmp_path: Path, name: str) -> None:
    arguments = project(tmp_path, 2)
    (tmp_path / "cases.jsonl").rename(tmp_path / name)
    ran = jeval("run", f"dataset.path={tmp_path / name}", *arguments[1:], "--json")
    assert ran.code == 0 and ran.json["cases"] == 2
    assert rows(tmp_path / "jeval.db", "SELECT dataset, dataset_path FROM runs") == [(name, str(tmp_path / name))]


def test_an_empty_dataset_is_incomplete_and_says_so(tmp_path: Path) -> None:
    ran = quick(*project(tmp_path, 0))
    assert ran.code == 2 and "nothing is evaluated" in ran.out


def test_faults_of_all_files_are_told_line_by_line_and_nothing_is_asked_or_stored(tmp_path: Path) -> None:
    arguments = project(tmp_path, [{"id": "a", "imput": "x"}, {"id": 7}])
    write_rubrics(tmp_path / "rubrics.json", [{"id": "r", "version": 1, "kind": "claim"}])
    with judging() as server:
        ran = jeval("run", *arguments, *local(server.url))
    lines = ran.err.strip().splitlines()
    assert ran.code == 3 and ran.out == "" and server.bodies == []
    assert lines[-1].startswith("jeval: ") and "nothing was asked" in lines[-1]
    assert sum("cases.jsonl:1:" in line for line in lines) == 3
    assert sum("cases.jsonl:2:" in line for line in lines) == 3
    assert sum("rubrics.json: rubric 1 (r):" in line for line in lines) == 2
    assert not (tmp_path / "jeval.db").exists()


def test_a_dataset_that_is_damaged_while_it_runs_stops_the_run_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jeval.app.files.KEPT", 0)  # as for what lies beyond the part of a file that is kept
    arguments = project(tmp_path, 30)
    path = tmp_path / "cases.jsonl"

    async def damaging(body: bytes, writer: asyncio.StreamWriter) -> None:
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(lines[:-1]) + "{}\n")
        await hashed(body, writer)

    with judging(damaging) as server:
        ran = quick(*arguments, *local(server.url, "judge.concurrency=1"))
    assert ran.code in (2, 3) and "Traceback" not in ran.err
    assert rows(tmp_path / "jeval.db", "SELECT status FROM runs") == [("incomplete",)]


def test_the_exit_code_survives_a_reader_that_stops_reading(tmp_path: Path) -> None:
    ran = jeval_process("run", *project(tmp_path, 0), cwd=tmp_path)
    assert ran.code == 2
    process = subprocess.Popen(
        command("run", *project(tmp_path, 0)),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(30) == 2
    assert b"Traceback" not in err and b"BrokenPipe" not in err


# Large


def peak_mb(*arguments: str) -> float:
    """Run the command line in a process of its own; the most memory it held, in MB."""
    process = subprocess.Popen(command(*arguments), env=environment(), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs wait4")
def test_memory_does_not_grow_with_the_dataset(tmp_path: Path) -> None:
    """60 MB of cases against 6 MB: the difference is far less than the file's size."""
    peaks = []
    for number in (1_200, 12_000):
        folder = tmp_path / str(number)
        folder.mkdir()
        arguments = project(folder, 0)
        write_rubrics(folder / "rubrics.json", [RUBRICS[1]])
        with (folder / "cases.jsonl").open("w", encoding="utf-8") as file:
            for i in range(number):
                passage = f"Ticket {i} costs {i} crowns. " * 180
                file.write(json.dumps(case(i, context=[{"id": "k", "content": passage}])) + "\n")
        if number == 12_000:
            assert (folder / "cases.jsonl").stat().st_size > 50_000_000
        peaks.append(peak_mb("run", *arguments))
        assert rows(folder / "jeval.db", "SELECT count(*) FROM run_cases") == [(number,)]
    assert peaks[1] < peaks[0] + 25, peaks
