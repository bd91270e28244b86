"""jeval compare, as people and scripts run it."""

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.judging import judging
from tests.reports import HOSTILE
from tests.running import jeval, jeval_process, project, write_rubrics
from tests.stores import add_run, new_store, rubric

KEYS = [
    "baseline",
    "candidate",
    "comparable",
    "issues",
    "unchanged",
    "new_failures",
    "resolved_failures",
    "new_reviews",
    "new_errors",
    "other_changes",
    "significance",
]
LISTS = KEYS[5:10]


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Two runs of four cases: a new failure, a resolved one, a new review, a skipped check that fails now."""
    connection = new_store(tmp_path)
    used = [rubric("booking", severity="critical"), rubric("style", required=False)]
    before = {
        ("a", "booking"): "pass",
        ("b", "booking"): "fail",
        ("c", "booking"): "pass",
        ("d", "booking"): "skipped",
    }
    after = {
        ("a", "booking"): "fail",
        ("b", "booking"): "pass",
        ("c", "booking"): "review",
        ("d", "booking"): "fail",
    }
    style = {(case, "style"): "pass" for case in "abcd"}
    add_run(connection, "run-1", {**before, **style}, used, name="monday")
    add_run(connection, "run-2", {**after, **style}, used)
    connection.close()
    return str(tmp_path / "jeval.db")


def test_the_object_on_stdout_is_as_promised(store: str) -> None:
    ran = jeval("compare", "run-1", "run-2", "--json", "--store", store)
    assert ran.code == 0
    assert ran.err == ""
    assert list(ran.json) == KEYS
    assert ran.json["comparable"] is True
    assert ran.json["unchanged"] == 4
    found = {name: [(c["case_id"], c["before"], c["after"]) for c in ran.json[name]] for name in LISTS}
    assert found == {
        "new_failures": [("a", "pass", "fail")],
        "resolved_failures": [("b", "fail", "pass")],
        "new_reviews": [("c", "pass", "review")],
        "new_errors": [],
        "other_changes": [("d", "skipped", "fail")],
    }
    assert ran.json["significance"]["checks"]["n"] == 6
    assert ran.json["significance"]["cases"]["lost"] == 1


def test_runs_are_named_by_id_beginning_name_and_age(store: str) -> None:
    for a, b in (("run-1", "run-2"), ("monday", "@last"), ("@prev", "run-2")):
        found = jeval("compare", a, b, "--json", "--store", store).json
        assert (found["baseline"], found["candidate"]) == ("run-1", "run-2")
    unknown = jeval("compare", "run-1", "friday", "--store", store)
    assert unknown.code == 3
    assert "run friday: no run of that id" in unknown.err
    assert jeval("compare", "run-1", "run-", "--store", store).code == 3


def test_new_failures_end_in_1_only_where_asked(store: str) -> None:
    assert jeval("compare", "run-1", "run-2", "--store", store).code == 0
    assert jeval("compare", "run-1", "run-2", "--store", store, "--fail-on-new").code == 1
    assert jeval("compare", "run-1", "run-1", "--store", store, "--fail-on-new").code == 0


def test_new_failures_of_optional_rubrics_are_listed_and_end_in_0(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    used = [rubric("style", required=False)]
    add_run(connection, "a", {("c", "style"): "pass"}, used)
    add_run(connection, "b", {("c", "style"): "fail"}, used)
    ran = jeval("compare", "a", "b", "--fail-on-new", "--store", str(tmp_path / "jeval.db"))
    assert ran.code == 0
    assert "1 NEW FAILURE (1 optional)" in ran.out


def test_simulated_against_real_ends_in_2_with_everything_listed(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    add_run(connection, "a", {("c", "tone"): "pass"}, simulated=1)
    add_run(connection, "b", {("c", "tone"): "fail"})
    store = str(tmp_path / "jeval.db")
    ran = jeval("compare", "a", "b", "--json", "--fail-on-new", "--store", store)
    assert ran.code == 2
    assert not ran.json["comparable"]
    assert [issue["field"] for issue in ran.json["issues"] if issue["severity"] == "error"] == ["simulated"]
    assert len(ran.json["new_failures"]) == 1
    assert (
        "✕ not comparable: the baseline was judged by a simulation" in jeval("compare", "a", "b", "--store", store).out
    )


def test_people_read_what_is_new_first_why_and_how_sure_it_is(store: str) -> None:
    out = jeval("compare", "monday", "@last", "--store", store).out
    assert out.splitlines()[0].startswith("baseline  run-1 “monday”  orchard · default 0.75/0.5 · jev-1.13.0")
    assert "8 checks of 4 cases in both runs\n  4 unchanged · 1 new failure · 1 resolved failure" in out
    assert "1 NEW FAILURE (1 critical)\n  a  booking 1.0.0 (critical)  ✓ pass → ✕ fail\n      it was fail\n" in out
    assert "fail now without a verdict before (skipped, error), so not counted as new: 1" in out
    assert "by case (which fails if any required check does)" in out
    assert "exact McNemar p = 1" in out


def test_a_failure_that_is_now_for_review_is_not_resolved(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    used = [rubric("booking", severity="critical")]
    failed = {(case, "booking"): "fail" for case in "abc"}
    add_run(connection, "run-1", {**failed, ("d", "booking"): "pass"}, used)
    add_run(connection, "run-2", {**failed, ("a", "booking"): "review", ("d", "booking"): "review"}, used)
    connection.close()
    both = ("compare", "run-1", "run-2", "--store", str(tmp_path / "jeval.db"))
    ran = jeval(*both, "--fail-on-new", "--html", str(tmp_path / "page.html"))
    assert ran.code == 0
    assert "resolved" not in ran.out
    assert "2 newly for review (1 failed before)\n" in ran.out
    assert "  a  booking 1.0.0 (critical, failed before)  ✕ fail → ? review\n" in ran.out
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "0 resolved failures, 2 newly for review" in page
    assert page.count("critical, failed before</span>") == 1
    assert jeval(*both, "--json").json["resolved_failures"] == []


def test_the_same_run_twice_changes_nothing(store: str) -> None:
    ran = jeval("compare", "run-1", "run-1", "--store", store)
    assert "8 unchanged · nothing changed" in ran.out
    found = jeval("compare", "run-1", "run-1", "--json", "--store", store).json
    assert found["issues"] == []
    assert not any(found[name] for name in LISTS)


def test_long_lists_are_cut_for_people_and_whole_for_machines(tmp_path: Path) -> None:
    connection = new_store(tmp_path)
    keys = [(f"case-{i:03d}", "tone") for i in range(40)]
    add_run(connection, "a", dict.fromkeys(keys, "pass"))
    add_run(connection, "b", dict.fromkeys(keys, "fail"))
    store = str(tmp_path / "jeval.db")
    assert "… and 15 more; --json lists them all" in jeval("compare", "a", "b", "--store", store).out
    assert len(jeval("compare", "a", "b", "--json", "--store", store).json["new_failures"]) == 40


def hostile(tmp_path: Path) -> str:
    connection = new_store(tmp_path)
    add_run(connection, "a", {("c", "tone"): "pass"}, name="x\x1b[2J", dataset="<b>\x1b]0;t\x07")
    text = HOSTILE.encode("utf-8", "replace").decode()
    add_run(connection, "b", {("c", "tone"): "fail"}, reasons={("c", "tone"): text}, model_asked="m\x1b[31m")
    return str(tmp_path / "jeval.db")


def test_hostile_text_moves_no_cursor(tmp_path: Path) -> None:
    out = jeval("compare", "a", "b", "--store", hostile(tmp_path)).out
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "\u202e" not in out


def test_the_page_is_whole_in_itself_and_holds_text_as_text(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert jeval("compare", "a", "b", "--html", str(page), "--store", hostile(tmp_path)).code == 0
    html = page.read_text(encoding="utf-8")
    assert "default-src 'none'" in html
    assert "<b>" not in html
    assert "<img" not in html
    assert "<script" not in html
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", html)
    assert "&lt;img src=x onerror=1&gt;" in html
    assert "1 new failures" in html
    assert "exact McNemar" in html


def test_a_page_that_cannot_be_written_is_an_error_in_one_line(store: str, tmp_path: Path) -> None:
    ran = jeval("compare", "run-1", "run-2", "--store", store, "--html", str(tmp_path))
    assert ran.code == 3
    assert f"--html {tmp_path}: cannot be written (Is a directory); name another file" in ran.err


def test_a_missing_store_is_an_error_in_one_line(tmp_path: Path) -> None:
    ran = jeval("compare", "a", "b", "--store", str(tmp_path / "none.db"))
    assert ran.code == 3
    assert "does not exist" in ran.err
    assert not (tmp_path / "none.db").exists()


def test_real_runs_under_other_thresholds_compare_and_mirror(tmp_path: Path) -> None:
    overrides = project(tmp_path, 40)
    with judging() as server:
        judge = ["judge=local", f"judge.base_url={server.url}"]
        for profile in ([], ["thresholds.pass=0.65", "thresholds.fail=0.4"]):
            assert jeval("run", *overrides, *judge, *profile).code == 0
    store = ["--store", str(tmp_path / "jeval.db"), "--json"]
    there, back = (
        jeval("compare", "@prev", "@last", *store).json,
        jeval("compare", "@last", "@prev", *store).json,
    )
    assert there["comparable"]
    assert [issue["field"] for issue in there["issues"]] == ["thresholds"]
    assert there["new_failures"]
    assert cases(c for c in there["new_failures"] if c["before"] == "pass") == cases(back["resolved_failures"])
    assert there["unchanged"] + sum(len(there[name]) for name in LISTS) == 80


def cases(changes: Iterable[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(change["case_id"], change["rubric_id"]) for change in changes}


def test_a_rubric_with_a_new_version_is_not_compared_the_others_are(tmp_path: Path) -> None:
    overrides = project(tmp_path, 10)
    rubrics = json.loads((tmp_path / "rubrics.json").read_text(encoding="utf-8"))
    with judging() as server:
        judge = ["judge=local", f"judge.base_url={server.url}"]
        jeval("run", *overrides, *judge)
        rubrics[1] |= {"version": "1.1.0", "criterion": "The response is kind."}
        write_rubrics(tmp_path / "rubrics.json", rubrics)
        jeval("run", *overrides, *judge)
    ran = jeval("compare", "@prev", "@last", "--json", "--store", str(tmp_path / "jeval.db"))
    assert ran.code == 2
    (issue,) = ran.json["issues"]
    assert issue["severity"] == "error"
    assert "tone is version 1.0.0 against 1.1.0" in issue["message"]
    assert ran.json["unchanged"] == 10


def test_help_is_there(tmp_path: Path) -> None:
    ran = jeval_process("compare", "--help", cwd=tmp_path)
    assert ran.code == 0
    assert "--fail-on-new" in ran.out


def test_comparing_imports_neither_hydra_nor_pydantic(store: str, tmp_path: Path) -> None:
    code = (
        "import sys; from jeval.app.cli import main; main(sys.argv[1:]);"
        " print({'hydra', 'pydantic', 'httpx', 'datasette', 'markupsafe'} & sys.modules.keys())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "compare", "run-1", "run-2", "--store", store],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).resolve().parent.parent,
    )
    assert done.stdout.splitlines()[-1] == "set()"
