"""jeval review in a terminal: keys as they are pressed, a screen of its own, and the terminal as it was afterwards."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.running import command, environment, rows, wait_until
from tests.stores import add_run, new_store, rubric

WAIT_S = 20
BACK = "\x1b[?1049l"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with a run of three checks that wait."""
    long = "\n".join(f"sentence {number}" for number in range(60))
    with closing(new_store(tmp_path)) as connection:
        checks = {(case, "sweet"): "review" for case in ("pear", "plum", "quince")}
        add_run(connection, "run-1", checks, [rubric("sweet")], contents={"plum": long})
    return tmp_path / "jeval.db"


class Screen:
    """A terminal with a review in it."""

    def __init__(self, store: Path, columns: int, lines: int, controlling: bool) -> None:
        self.near, far = pty.openpty()
        self.far = far
        self.resize(columns, lines)
        self.before = termios.tcgetattr(far)
        arguments = command("review", "--store", str(store), "--reviewer", "ann")
        self.process = subprocess.Popen(
            arguments,
            stdin=far,
            stdout=far,
            stderr=far,
            env=environment(TERM="xterm", NO_COLOR="1"),
            start_new_session=controlling,
            process_group=None if controlling else 0,
            preexec_fn=(lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) if controlling else None,
        )
        self.written = ""

    def resize(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self.far, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def see(self, words: str) -> str:
        """Wait for these words on the screen; what was written since the last call."""
        until = time.monotonic() + WAIT_S
        while words not in self.written and time.monotonic() < until:
            if select.select([self.near], [], [], 0.2)[0]:
                self.written += os.read(self.near, 65536).decode("utf-8", "replace")
        assert words in self.written, self.written
        seen, self.written = self.written, ""
        return seen

    def press(self, keys: str) -> None:
        os.write(self.near, keys.encode())

    def end(self) -> int:
        """Wait for the end of the review; its exit code."""
        return self.process.wait(WAIT_S)

    def given_back(self) -> bool:
        """Whether the terminal is as it was before."""
        return termios.tcgetattr(self.far) == self.before


@contextmanager
def reviewing(store: Path, columns: int = 80, lines: int = 24, *, controlling: bool = True) -> Iterator[Screen]:
    """A review at its first check. Where its terminal is not the `controlling` one, keys make no signals."""
    screen = Screen(store, columns, lines, controlling)
    try:
        screen.see("1 of 3")
        yield screen
    finally:
        screen.process.kill()
        screen.process.wait(WAIT_S)
        os.close(screen.near)
        os.close(screen.far)


def labels(store: Path) -> list[tuple[str, str, str | None]]:
    return rows(store, "SELECT case_id, expected, note FROM labels ORDER BY rowid")


def test_a_key_labels_at_once_and_the_terminal_is_as_it_was(store: Path) -> None:
    with reviewing(store) as screen:
        assert not screen.given_back()
        screen.press("p")
        assert "plum" in screen.see("2 of 3 · 1 labelled")
        assert labels(store) == [("pear", "pass", None)]
        screen.press("u")
        screen.see("undone")
        assert labels(store) == []
        screen.press("q")
        assert "0 checks labelled by ann, 3 left" in screen.see("left").partition(BACK)[2]
        assert screen.end() == 0 and screen.given_back()


def test_keys_that_come_in_one_piece_are_taken_one_by_one(store: Path) -> None:
    with reviewing(store) as screen:
        screen.press("pf\x1b[Cbr\x1b[Dq")  # right and left go on and back
        screen.see("3 checks labelled by ann (1 pass, 1 fail, 1 review), 0 left")
        assert screen.end() == 0
    assert labels(store) == [("pear", "pass", None), ("plum", "fail", None), ("quince", "review", None)]


def test_a_note_is_a_line_of_text(store: Path) -> None:
    with reviewing(store) as screen:
        screen.press("n")
        screen.see("note: ")
        screen.press("too vagg\x7fue, qpf, “ü”\n")  # letters are no keys here, and a mistake can be taken back
        screen.see("the note goes with the label")
        screen.press("fq")
        assert screen.end() == 0
    assert labels(store) == [("pear", "fail", "too vague, qpf, “ü”")]


def test_a_long_text_is_folded_shown_whole_and_moved(store: Path) -> None:
    with reviewing(store) as screen:
        screen.press(" ")
        assert "sentence 30" not in screen.see("folded, a shows all")
        screen.press("a")
        assert "sentence 0" in screen.see("lines 1–")
        screen.press("\x1b[6~\x1b[6~")
        assert "sentence 25" in screen.see("lines 33–")
        screen.press("\x1b[F")
        screen.see("lines 50–67 of 67")
        screen.press("\x1b[A\x1b[H")
        screen.see("lines 1–")


def test_no_line_is_wider_than_the_window_and_no_page_longer_whatever_its_size(store: Path) -> None:
    with reviewing(store, 100, 30) as screen:
        for columns, lines in ((80, 24), (40, 12), (120, 50)):
            screen.resize(columns, lines)
            screen.see("\x1b[J")
            screen.press("~")  # is no key, so all is written anew
            page = screen.see("~ is no key here").rpartition("\x1b[H")[2]
            shown = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in page.split("\r\n")]
            assert len(shown) == lines and max(map(len, shown)) <= columns


@pytest.mark.parametrize("how", ["\x03", signal.SIGTERM, signal.SIGHUP])
def test_however_it_is_interrupted_the_terminal_is_given_back_and_labels_stay(store: Path, how: str | int) -> None:
    with reviewing(store) as screen:
        screen.press("s")
        screen.see("2 of 3")
        if isinstance(how, str):
            screen.press(how)
        else:
            screen.process.send_signal(how)
        assert "1 check labelled by ann (1 skipped), 2 left" in screen.see("interrupted").partition(BACK)[2]
        assert screen.end() == 130 and screen.given_back()
    assert labels(store) == [("pear", "skipped", None)]


def test_an_error_inside_is_seen_on_the_terminal_as_it_was(store: Path) -> None:
    with reviewing(store) as screen:
        os.truncate(store, 0)
        os.truncate(f"{store}-wal", 0)
        screen.press(" ")
        assert "cannot be read" in screen.see("see `jeval doctor").partition(BACK)[2]
        assert screen.end() == 3 and screen.given_back()


def test_who_stops_it_has_the_terminal_back_until_it_goes_on(store: Path) -> None:
    # Nobody stops whom nobody of his session could call back: so this one is in the session of the tests.
    with reviewing(store, controlling=False) as screen:
        screen.process.send_signal(signal.SIGTSTP)
        screen.see(BACK)
        assert wait_until(lambda: os.waitpid(screen.process.pid, os.WUNTRACED | os.WNOHANG) != (0, 0), WAIT_S)
        assert screen.given_back()
        screen.process.send_signal(signal.SIGCONT)
        screen.see("1 of 3")
        assert not screen.given_back()
        screen.press("pq")
        assert screen.end() == 0 and screen.given_back()
    assert labels(store) == [("pear", "pass", None)]


def test_a_terminal_that_can_do_nothing_gets_lines(store: Path) -> None:
    done = subprocess.run(
        command("review", "--store", str(store), "--reviewer", "ann"), input=b"\xff\np\n", capture_output=True,
        env=environment(TERM="dumb", PYTHONUTF8="1"), timeout=60, check=True,
    )  # fmt: skip
    assert b"\x1b" not in done.stdout and b"1 check labelled by ann (1 pass), 2 left" in done.stdout
