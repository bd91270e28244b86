"""Real questions and answers through the whole: offline, and over HTTP with two servers of one protocol."""

import importlib.util
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.judging import local
from tests.running import SHARED, checks_of, environment, jeval, quick, rows, wait_until, write_rubrics

DATA = SHARED / "data" / "halueval-qa.jsonl"
MOCK = SHARED / "tools" / "mock_systemone.py"
RUBRICS: list[dict[str, Any]] = [
    {"id": "claim-support", "version": "1.0.0", "kind": "claim-support", "params": {"uncoveredIs": "fail"}},
    {
        "id": "brief",
        "version": "1.0.0",
        "kind": "custom",
        "criterion": "The response is one sentence at most.",
        "outcomes": {"acceptable": "It is.", "unacceptable": "It is longer."},
    },
]

needs_data = pytest.mark.skipif(not DATA.is_file(), reason="needs ../shared/data/halueval-qa.jsonl")
needs_mock = pytest.mark.skipif(not MOCK.is_file(), reason="needs ../shared/tools/mock_systemone.py")
needs_sparrow = pytest.mark.skipif(
    importlib.util.find_spec("sparrow_decider") is None, reason="needs the package sparrow-decider"
)


def arguments(folder: Path, *more: str) -> list[str]:
    write_rubrics(folder / "rubrics.json", RUBRICS)
    return [
        f"dataset.path={DATA}",
        f"rubrics.path={folder / 'rubrics.json'}",
        f"store={folder / 'jeval.db'}",
        *more,
    ]


@contextmanager
def served(*command: str, port: int | None = None) -> Iterator[str]:
    """A server in a process of its own; its URL is the first line it prints, or known by its port."""
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        if port is None:
            yield process.stdout.readline().strip()
        else:
            url = f"http://127.0.0.1:{port}"
            assert wait_until(lambda: process.poll() is not None or answers(url), 30) and process.poll() is None
            yield url
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


def answers(url: str) -> bool:
    try:
        return bool(urllib.request.urlopen(url, timeout=1).read())
    except OSError:
        return False


def stats(url: str) -> dict[str, Any]:
    found: dict[str, Any] = json.load(urllib.request.urlopen(f"{url}/stats", timeout=5))
    return found


@needs_data
def test_the_offline_judge_gets_most_labels_of_a_real_dataset_right(tmp_path: Path) -> None:
    total = sum(1 for line in DATA.read_text(encoding="utf-8").splitlines() if line.strip())
    ran = jeval("run", *arguments(tmp_path, "--json"))
    assert ran.code == 0 and ran.json["cases"] == total and ran.json["checks"] == 2 * total
    assert ran.json["simulated"] is True and ran.json["requests"] == 0 and ran.json["cost_usd"] is None
    assert "simulated" in ran.err
    right, labelled = rows(
        tmp_path / "jeval.db",
        "SELECT sum(c.status = l.expected), count(*) FROM checks c"
        " JOIN labels l ON l.case_id = c.case_id AND l.rubric_id = c.rubric_id",
    )[0]
    assert labelled == total
    # Plain word overlap gets 89% of them right.
    assert right / labelled > 0.8
    custom = rows(tmp_path / "jeval.db", "SELECT DISTINCT status FROM checks WHERE rubric_id = 'brief'")
    assert custom == [("review",)]


@needs_data
@needs_mock
def test_over_http_every_case_is_asked_once_and_a_second_run_asks_nothing(tmp_path: Path) -> None:
    run = arguments(tmp_path, "dataset.limit=300", "--json")
    with served(sys.executable, str(MOCK), "--max-seconds", "120") as url:
        first = jeval("run", *run, *local(url))
        after_first = stats(url)
        second = jeval("run", *run, *local(url))
        assert stats(url)["requests"] == after_first["requests"]
    assert first.code == second.code == 0
    assert first.json["requests"] == after_first["requests"] == after_first["distinct_bodies"] == 300
    assert first.json["judgments"] == {"asked": 600, "reused": 0}
    assert second.json["judgments"] == {"asked": 0, "reused": 600}
    assert first.json["counts"] == second.json["counts"] and sum(first.json["counts"].values()) == 600
    assert first.json["model"] == "jev-1.13.0" and first.json["simulated"] is False
    store = tmp_path / "jeval.db"
    assert checks_of(store, first.json["run_id"]) == checks_of(store, second.json["run_id"])


@needs_data
@needs_mock
def test_over_http_with_every_fifth_request_failing_everything_ends_answered(tmp_path: Path) -> None:
    (tmp_path / "calm").mkdir()
    kinds = "429,500,529,malformed,missing,nan,close"
    faulty = ["--fail-rate", "0.2", "--fail-kinds", kinds, "--max-seconds", "120"]
    with served(sys.executable, str(MOCK), "--max-seconds", "120") as url:
        quick(*arguments(tmp_path / "calm", "dataset.limit=40"), *local(url))
    with served(sys.executable, str(MOCK), *faulty) as url:
        ran = jeval("run", *arguments(tmp_path, "dataset.limit=40", "--json"), *local(url, "judge.max_attempts=9"))
        seen = stats(url)
    assert ran.code == 0 and ran.json["counts"]["error"] == 0
    assert sum(seen["failures"].values()) > 0 and seen["distinct_bodies"] == 40
    assert checks_of(tmp_path / "jeval.db") == checks_of(tmp_path / "calm" / "jeval.db")


@needs_data
@needs_mock
def test_a_judge_that_allows_few_requests_a_second_is_asked_no_faster_and_all_is_answered(
    tmp_path: Path,
) -> None:
    with served(sys.executable, str(MOCK), "--rate", "100", "--max-seconds", "120") as url:
        ran = jeval("run", *arguments(tmp_path, "dataset.limit=150", "--json"), *local(url))
        seen = stats(url)
    assert ran.code == 0 and ran.json["counts"]["error"] == 0
    assert seen["ok"] == 150 and seen["throttled"] < 150


@needs_data
@needs_sparrow
def test_a_third_party_server_of_the_protocol_is_understood(tmp_path: Path) -> None:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = "import sys; from sparrow_decider.cli import main; main(sys.argv[1:])"
    with served(sys.executable, "-c", code, "serve", "--port", str(port), port=port) as url:
        slowly = ["judge.concurrency=2", "judge.timeout_s=30"]
        ran = jeval("run", *arguments(tmp_path, "dataset.limit=6", "--json"), *local(url, *slowly))
    assert ran.code == 0 and ran.json["checks"] == 12 and ran.json["counts"]["error"] == 0
    assert "sparrow" in ran.json["model"]
    assert rows(tmp_path / "jeval.db", "SELECT count(*) FROM judgments") == [(12,)]
