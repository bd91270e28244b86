"""Progress: plain lines for logs, one live line on a terminal, always on stderr."""

import io
import os
import pty
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jeval.app.painter import duration
from jeval.app.progress import LiveProgress, PlainProgress, Progress, make_progress
from tests.judging import after, hashed, judging, local
from tests.running import command, environment, project


@dataclass
class Counted:
    """A summary as far as the line needs it."""

    cases: int
    counts: dict[str, int]


@dataclass
class State:
    """How far a run is."""

    cases: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys("pass fail review skipped error".split(), 0))
    cost_usd: float | None = None
    asked: int = 0
    reused: int = 0

    @property
    def summary(self) -> Any:
        return Counted(self.cases, self.counts)


class Clock:
    """Time that moves when told to."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (0.4, "0s"),
        (59.4, "59s"),
        (59.6, "1m 00s"),
        (185, "3m 05s"),
        (3600, "1h 00m"),
        (7800, "2h 10m"),
    ],
)
def test_durations_are_said_as_people_say_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_log_gets_a_line_every_five_seconds_with_what_is_known() -> None:
    stream, clock, state = io.StringIO(), Clock(), State()
    progress = PlainProgress(stream, clock)
    progress.begin(1000)
    for clock.at, state.cases in ((1.0, 50), (5.0, 250), (7.0, 350), (10.0, 500)):
        progress.advance(state)
    progress.end()
    assert stream.getvalue().splitlines() == [
        "250/1,000 cases  50/s · 15s left",
        "500/1,000 cases  50/s · 10s left",
    ]


def test_a_line_tells_statuses_in_their_order_and_the_cost_where_it_is_known() -> None:
    stream, clock, state = io.StringIO(), Clock(), State(20, cost_usd=0.1234)
    state.counts.update(error=1, **{"pass": 12, "fail": 3})
    progress = PlainProgress(stream, clock)
    progress.begin(100)
    clock.at = 10.0
    progress.advance(state)
    assert stream.getvalue() == "20/100 cases  2.0/s · 40s left  ✓ 12 pass  ✕ 3 fail  ! 1 error  $0.1234\n"


def test_before_the_first_answer_a_line_tells_how_long_one_has_waited() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = PlainProgress(stream, clock)
    progress.begin(1000)
    for clock.at in (5.0, 65.0):
        progress.advance(State(0))
    assert stream.getvalue().splitlines() == [
        "0/1,000 cases  waiting for the first answer, 5s",
        "0/1,000 cases  waiting for the first answer, 1m 05s",
    ]


def test_a_quick_run_writes_nothing_to_a_log() -> None:
    stream = io.StringIO()
    progress = PlainProgress(stream, Clock())
    progress.begin(3)
    for _ in range(3):
        progress.advance(State(1))
    progress.end()
    assert stream.getvalue() == ""


def test_a_log_that_nobody_reads_any_more_does_not_end_the_run() -> None:
    read, write = os.pipe()
    os.close(read)
    clock = Clock()
    with os.fdopen(write, "w") as stream:
        progress = PlainProgress(stream, clock)
        progress.begin(10)
        for clock.at in (5.0, 10.0, 15.0):
            progress.advance(State(1))


def test_the_stream_decides_which_line_it_is() -> None:
    assert isinstance(make_progress(io.StringIO()), PlainProgress)
    assert isinstance(make_progress(Terminal()), LiveProgress)


def test_nothing_is_shown_where_nothing_is_wanted() -> None:
    progress = Progress()
    progress.begin(1)
    progress.advance(State())
    progress.end()


@pytest.mark.parametrize("width", ["40", "60", "80", "200"])
def test_the_live_line_is_one_line_however_narrow_the_terminal(monkeypatch: pytest.MonkeyPatch, width: str) -> None:
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setenv("TERM", "xterm")
    stream, clock, state = Terminal(), Clock(), State(5000, cost_usd=1.5)
    state.counts.update({"pass": 10_000, "fail": 2_000, "review": 3_000, "skipped": 5, "error": 7})
    progress = LiveProgress(stream, clock)
    progress.begin(20_000)
    clock.at = 60.0
    progress.advance(state)
    progress.end()
    written = stream.getvalue()
    assert "waiting for the first answer"[:10] in written
    assert "5,000/20,000 cases" in written
    # To rewrite more than one line the cursor would have to go up one line at least twice in a row.
    assert "\x1b[1A\x1b[2K\x1b[1A" not in written


def test_on_a_terminal_the_line_lives_and_is_gone_at_the_end(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    with judging(after(0.05, hashed)) as server:
        arguments = [*project(tmp_path, 40), *local(server.url, "judge.concurrency=4")]
        process = subprocess.Popen(
            command("run", *arguments),
            env=environment(TERM="xterm", COLUMNS="120"),
            stdout=subprocess.PIPE,
            stderr=theirs,
        )
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65_536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
        assert process.stdout is not None
        out = process.stdout.read().decode()
        process.stdout.close()
        assert process.wait(30) == 0
    os.close(ours)
    text = shown.decode()
    assert "/40 cases" in text and "left" in text and "━" in text
    assert text.rstrip().endswith(("\x1b[?25h", "\x1b[2K", "\x1b[1A")) or "\x1b[?25h" in text
    assert "\x1b" not in out and "40 cases of cases.jsonl" in out


def test_without_a_terminal_stderr_holds_no_control_characters(tmp_path: Path) -> None:
    done = subprocess.run(
        command("run", *project(tmp_path, 3)), env=environment(), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and done.stderr == "" and "\x1b" not in done.stdout
