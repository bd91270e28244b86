"""jeval serve as a process: the URL first, live, nothing written beside the store, and a clean end."""

import http.client
import os
import re
import select
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from browsing import make_store

from jeval.app.cli import main
from jeval.store.connect import open_store

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


def test_what_a_run_writes_is_seen_at_once(tmp_path: Path):
    store = make_store(tmp_path, 2)
    with serving(store) as (_, url):
        assert "third" not in ask(url, "/-/jeval")[1]
        connection = sqlite3.connect(store)
        connection.execute("UPDATE runs SET name = 'third' WHERE name = 'first'")
        connection.commit()
        assert ">third<" in ask(url, "/-/jeval")[1]
        connection.close()


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
