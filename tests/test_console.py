"""The summary and the JSON of a run: critical failures first, rates with denominators, unknown is null."""

import io
import json
import os
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.app.painter import Painter, packed, plain, size
from tests.judging import hashed, judging, local
from tests.running import RUBRICS, case, jeval, project, quick, rows, write_rubrics

JSON_KEYS = (
    "run_id name status exit_code cases checks counts critical_failures scores thresholds judge model"
    " simulated requests judgments usage cost_usd wall_s store"
).split()


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@given(st.text(max_size=50), st.integers(1, 30))
def test_plain_text_is_one_printable_line_of_at_most_that_width(text: str, width: int) -> None:
    shown = plain(text, width)
    assert shown.isprintable() and len(shown) <= width
    assert not set("\u202e\u2066\u200f") & set(plain(text))


@given(st.text(st.characters(categories=("L", "N", "P", "S", "Zs"), exclude_characters="\u3000"), max_size=30))
def test_harmless_text_is_shown_as_it_is(text: str) -> None:
    if text.isprintable():
        assert plain(text) == text


@given(st.lists(st.text("ab ", max_size=12), max_size=12), st.integers(12, 60))
def test_parts_are_packed_into_as_few_lines_as_hold_them(parts: list[str], width: int) -> None:
    painted = [f"\x1b[32m{part}\x1b[0m" if part and i % 2 else part for i, part in enumerate(parts)]
    lines = packed(painted, width)
    assert " · ".join(lines) == " · ".join(filter(None, painted))
    assert all(size(line) <= width for line in lines)
    for line, following in pairwise(lines):
        assert size(line) + 3 + size(following.split(" · ")[0]) > width


@pytest.mark.parametrize(
    ("columns", "width"), [("80", 80), ("0", 100), ("wide", 100), (None, 100)], ids=["80", "0", "wide", "none"]
)
def test_a_line_is_as_wide_as_columns_says_or_a_hundred(columns: str | None, width: int) -> None:
    assert Painter(io.StringIO(), {} if columns is None else {"COLUMNS": columns}).width == width


@pytest.mark.parametrize(
    ("stream", "environ", "coloured"),
    [
        (Terminal, {"TERM": "xterm"}, True),
        (Terminal, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (Terminal, {"TERM": "dumb"}, False),
        (io.StringIO, {"TERM": "xterm"}, False),
    ],
)
def test_only_a_terminal_that_wants_colours_gets_them(
    stream: type[io.StringIO], environ: dict[str, str], coloured: bool
) -> None:
    painter = Painter(stream(), environ)
    assert ("\x1b" in painter.status("fail", "x")) is coloured
    assert "✕ x" in painter.status("fail", "x")


def test_a_reader_that_has_gone_away_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w", buffering=1) as stream:
        painter = Painter(stream, {})
        for _ in range(3):
            painter.line("x" * 100)


def test_the_json_of_a_run_has_every_promised_key_and_agrees_with_the_store(tmp_path: Path) -> None:
    with judging() as server:
        ran = quick(*project(tmp_path, 12), *local(server.url), "name=nightly", "--json")
    assert ran.out.count("\n") == 1
    found = ran.json
    assert list(found)[: len(JSON_KEYS)] == JSON_KEYS
    assert found["name"] == "nightly" and found["status"] == "complete" and found["exit_code"] == ran.code == 0
    assert found["thresholds"] == {"pass": 0.75, "fail": 0.5}
    assert found["cost_usd"] is None
    assert found["usage"]["output_tokens"] == 12 * 2 * 7
    store = Path(found["store"])
    assert store == tmp_path / "jeval.db"
    ((*counts, critical),) = rows(
        store, "SELECT pass, fail, review, skipped, error, critical_failures FROM run_summary"
    )
    assert list(found["counts"].values()) == counts and found["critical_failures"] == critical
    run = rows(
        store,
        "SELECT id, requests, judgments_asked, judgments_reused, input_tokens, output_tokens, cost_usd,"
        " exit_code, model_served, cases FROM runs",
    )
    usage = found["usage"]
    assert run == [
        (found["run_id"], found["requests"], found["judgments"]["asked"], found["judgments"]["reused"],
         usage["input_tokens"], usage["output_tokens"], None, 0, "jev-1.13.0", 12)
    ]  # fmt: skip


def test_what_is_not_known_is_null_and_never_zero(tmp_path: Path) -> None:
    found = quick(*project(tmp_path, 2), "--json").json
    assert found["simulated"] is True and found["name"] is None
    assert found["usage"] == {"input_tokens": None, "output_tokens": None} and found["cost_usd"] is None
    run = rows(tmp_path / "jeval.db", "SELECT input_tokens, cost_usd, name, sweep_id FROM runs")
    assert run == [(None, None, None, None)]


def test_the_summary_shows_critical_failures_before_any_count(tmp_path: Path) -> None:
    with judging() as server:
        ran = quick(*project(tmp_path, 30), *local(server.url))
    lines = ran.out.splitlines()
    critical = next(i for i, line in enumerate(lines) if "CRITICAL FAILURE" in line)
    counts = next(i for i, line in enumerate(lines) if "60 checks" in line)
    assert critical < counts
    total = rows(tmp_path / "jeval.db", "SELECT critical_failures FROM run_summary")[0][0]
    assert f"{total} CRITICAL FAILURES" in lines[critical]
    assert sum(line.startswith("  ✕ case-") for line in lines) == min(10, total)
    assert (f"… and {total - 10} more" in ran.out) == (total > 10)
    assert re.search(r"pass rate +\d+\.\d%  \d+ of \d+ decided", ran.out) and " of 60 applicable" in ran.out


def test_where_no_critical_check_applies_it_says_so(tmp_path: Path) -> None:
    arguments = project(tmp_path, 2)
    write_rubrics(tmp_path / "rubrics.json", [RUBRICS[1]])
    assert "no check of critical severity applied" in quick(*arguments).out


def test_a_simulated_run_says_so_and_a_real_one_does_not(tmp_path: Path) -> None:
    assert "simulated" in quick(*project(tmp_path, 1)).out
    with judging() as server:
        assert "simulated" not in quick(*project(tmp_path, 1), *local(server.url)).out


def test_optional_rubrics_are_marked_and_the_most_failing_comes_first(tmp_path: Path) -> None:
    arguments = project(tmp_path, 6)
    write_rubrics(tmp_path / "rubrics.json", [{**RUBRICS[1], "required": False}])
    assert "major, optional" in quick(*arguments).out


def test_answers_of_several_model_versions_are_warned_of(tmp_path: Path) -> None:
    async def newer(body, writer):  # type: ignore[no-untyped-def]
        class Renaming:
            def write(self, data: bytes) -> None:
                writer.write(data.replace(b"jev-1.13.0", b"jev-1.14.0"))

        await hashed(body, Renaming())  # type: ignore[arg-type]

    arguments = project(tmp_path, 4)
    with judging(hashed, hashed, newer) as server:
        ran = quick(*arguments, *local(server.url, "judge.concurrency=1"), "--json")
    assert "several model versions answered: jev-1.13.0, jev-1.14.0" in ran.err
    assert ran.json["model"] == "jev-1.13.0, jev-1.14.0"
    with judging() as server:
        again = quick(*arguments, *local(server.url), "--json")
    assert "several model versions" in again.err and again.json["requests"] == 0


def test_reuse_is_visible_with_its_age(tmp_path: Path) -> None:
    arguments = project(tmp_path, 3)
    with judging() as server:
        quick(*arguments, *local(server.url))
        again = quick(*arguments, *local(server.url))
    assert "0 asked, 6 reused (oldest 20" in again.out


def test_metric_scores_are_shown_with_what_they_are_the_mean_of(tmp_path: Path) -> None:
    metrics = [
        {
            "id": "so",
            "version": "1",
            "fields": ["input", "actual_output"],
            "questions": [{"noul": "It is so."}],
        },
        {
            "id": "known",
            "version": "1",
            "fields": ["input", "context"],
            "questions": [{"noul": "It is known."}],
        },
    ]
    (tmp_path / "m.json").write_text(json.dumps(metrics))
    cases = [case(1), {key: value for key, value in case(2).items() if key != "context"}]
    with judging() as server:
        ran = quick(*project(tmp_path, cases), *local(server.url), f"metrics.path={tmp_path}/m.json", "--json")
    assert ran.code == 0
    scores = rows(tmp_path / "jeval.db", "SELECT metric_id, avg(score), count(score) FROM scores GROUP BY 1 ORDER BY 1")
    assert ran.json["scores"] == {name: pytest.approx(mean) for name, mean, _ in scores}
    assert [number for _, _, number in scores] == [1, 2]
    assert "of 2 scored" in ran.err and "of 1 scored" in ran.err and "1 not scored" in ran.err


def test_one_of_a_thing_is_told_as_one_wherever_people_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    overrides = project(tmp_path, 1)
    write_rubrics(tmp_path / "rubrics.json", RUBRICS[:1])
    told = quick(*overrides).out + jeval("show", "@last").out + jeval("estimate", *overrides).out
    assert "1 case of" in told and "1 rubric " in told and "1 check " in told
    assert not re.search(r"\b1 (?:\w+ )?(?:cases|checks|rubrics|judgments|requests|questions)\b", told), told
