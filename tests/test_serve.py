"""jeval serve as a process: the URL first, live, nothing written beside the store, and a clean end."""

import asyncio
import http.client
import json
import os
import re
import select
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from browsing import make_store

from jeval.app.cli import main
from jeval.browse.server import look_around, make_datasette
from jeval.store.connect import open_store
from tests.judging import after, hashed, judging, local
from tests.running import RUBRICS, command, environment, project

WAIT_S = 60


@contextmanager
def serving(store: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and the first line of its standard output."""
    command = [
        sys.executable,
        "-m",
        "jeval.app.cli",
        "serve",
        "--store",
        str(store),
        "--no-browser",
        *arguments,
    ]
    root = Path(__file__).resolve().parent.parent
    process = subprocess.Popen(
        command,
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], WAIT_S)
        assert ready, "it says nothing"
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate(timeout=WAIT_S)


def ask(url: str, path: str, headers: dict[str, str] | None = None) -> tuple[int, str]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=WAIT_S)
    try:
        connection.request("GET", path, headers=headers or {})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM])
def test_the_url_comes_first_and_a_signal_ends_it_cleanly(tmp_path: Path, name: signal.Signals):
    store = make_store(tmp_path, 2)
    before = {path.name for path in tmp_path.iterdir()}
    with serving(store) as (process, url):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/-/jeval", url)
        status, text = ask(url, "/-/jeval")
        assert status == 200
        assert ">second<" in text
        assert ask(url, "/-/jeval", {"Host": "evil.example"})[0] == 421
        process.send_signal(name)
        assert process.wait(WAIT_S) == 0
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
    after = {path.name for path in tmp_path.iterdir()}
    assert after - before <= {"hostile.db-wal", "hostile.db-shm"}


@pytest.mark.parametrize(("runs", "codes"), [(True, [200, 200, 200]), (False, [200, 404, 404])])
def test_it_looks_at_the_first_pages_itself_whatever_the_store_holds(tmp_path: Path, runs: bool, codes: list[int]):
    store = make_store(tmp_path, 2) if runs else tmp_path / "empty.db"
    open_store(store).close()

    async def look() -> list[int]:
        datasette = make_datasette(store)
        await datasette.invoke_startup()
        return await look_around(datasette)

    assert asyncio.run(look()) == codes


def test_what_a_run_writes_is_seen_at_once(tmp_path: Path):
    store = make_store(tmp_path, 2)
    with serving(store) as (_, url):
        assert "third" not in ask(url, "/-/jeval")[1]
        connection = sqlite3.connect(store)
        connection.execute("UPDATE runs SET name = 'third' WHERE name = 'first'")
        connection.commit()
        assert ">third<" in ask(url, "/-/jeval")[1]
        connection.close()


class Look(NamedTuple):
    """What the page of a run says at one moment."""

    cases: int
    checks: int
    by_status: int
    ended: bool


def look_at(url: str, run: str) -> Look:
    status, text = ask(url, f"/-/jeval/run/{run}")
    assert status == 200, text
    numbers = [int(n.replace(",", "")) for n in re.findall(r'<li><a href="[^"]*"[^>]*><b[^>]*>([\d,]+)</b>', text)]
    so_far = re.search(r"([\d,]+) of [\d,]+ cases so far", text)
    return Look(int(so_far[1]) if so_far else all_cases(text), numbers[0], sum(numbers[1:]), so_far is None)


def all_cases(text: str) -> int:
    """The cases of a run that has ended, as its facts say."""
    found = re.search(r"([\d,]+) cases</li>", text)
    assert found
    return int(found[1].replace(",", ""))


def watched(url: str, process: subprocess.Popen[bytes]) -> Iterator[Look]:
    """Looks at the only run of a store from its beginning until after its end, and at one of its cases each time."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        over = process.poll() is not None
        status, text = ask(url, "/-/jeval")
        assert status == 200, text
        found = re.search(r'href="/-/jeval/run/([\w-]+)"', text)
        if found:
            yield look_at(url, found[1])
            status, text = ask(url, f"/-/jeval/run/{found[1]}/checks.json")
            rows = json.loads(text)
            assert status == 200
            by_case = Counter(row["case_id"] for row in rows)
            assert set(by_case.values()) <= {len(RUBRICS)}
            for case in list(by_case)[-1:]:
                status, text = ask(url, f"/-/jeval/case/{found[1]}/{case}")
                assert status == 200, text
                assert text.count('<article class="paper check"') == len(RUBRICS)
        if over:
            return
    raise AssertionError("the run does not end")


@pytest.mark.slow
def test_a_run_that_writes_is_seen_growing_and_no_case_of_it_is_ever_half(tmp_path: Path):
    cases = 100
    arguments, store = project(tmp_path, cases), tmp_path / "jeval.db"
    open_store(store).close()
    with judging(after(0.04, hashed)) as judge, serving(store) as (_, url):
        run = command("run", *arguments, *local(judge.url, "judge.concurrency=2"))
        process = subprocess.Popen(run, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            seen = list(watched(url, process))
        finally:
            process.kill()
            process.wait(WAIT_S)
    assert process.returncode == 0
    assert [look.cases for look in seen] == sorted(look.cases for look in seen)
    assert all(look.checks == look.by_status == look.cases * len(RUBRICS) for look in seen)
    assert len({look.cases for look in seen if 0 < look.cases < cases and not look.ended}) >= 5
    assert seen[-1] == Look(cases, cases * len(RUBRICS), cases * len(RUBRICS), True)


def test_it_listens_on_this_machine_only_and_on_the_port_asked_for(tmp_path: Path):
    store = tmp_path / "s.db"
    open_store(store).close()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with serving(store, "--port", str(port)) as (_, url):
        assert url == f"http://127.0.0.1:{port}/-/jeval"


def test_a_port_in_use_is_an_error_of_one_line(tmp_path: Path, capsys):
    store = tmp_path / "s.db"
    open_store(store).close()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["serve", "--store", str(store), "--port", str(port), "--no-browser"]) == 3
    error = capsys.readouterr().err
    assert f"--port {port}: is taken; leave --port out" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--port", "70000"], "is no port"), (["--store", "nowhere.db"], "does not exist")],
)
def test_what_cannot_be_served_is_said_in_one_line(tmp_path: Path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    open_store(tmp_path / "jeval.db").close()
    assert main(["serve", "--no-browser", *arguments]) == 3
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
