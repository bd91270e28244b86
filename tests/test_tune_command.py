"""jeval tune, as people and scripts run it: from stored answers to a profile and the way to confirm it."""

import json
import re
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from jeval.app.settings import Profile
from jeval.rubric import Rubric
from tests.judging import judging, local
from tests.running import jeval, rows, write_cases, write_rubrics
from tests.told import RUN, Row, fair, rubric, told_run, write_labels

PROFILE = "conf/thresholds/mine.yaml"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def tune(*arguments: str, **labels: Any) -> Any:
    return jeval("tune", "@last", "--labels", "labels.jsonl", "--store", "jeval.db", *arguments)


def ready(folder: Path, given: list[Row], *rubrics: Any, **columns: Any) -> None:
    told_run(folder, given, rubrics, **columns).close()
    write_labels(folder, given)


# Two thirds to tune on, the rest to confirm it on; some of it too unsure for the thresholds it was run by.
SPLIT = [*fair(120), *[Row(0.35, "pass")] * 20, *fair(60, "holdout"), *[Row(0.35, "pass", "holdout")] * 8]


def test_it_writes_a_profile_that_a_run_takes_and_says_where_it_is_from(tmp_path: Path) -> None:
    ready(tmp_path, SPLIT, name="monday", dataset="support")
    ran = tune("--target", "false_pass_rate=0.1", "--where", "split=tuning", "-o", PROFILE)
    assert (ran.code, ran.err) == (0, "")
    text = Path(PROFILE).read_text(encoding="utf-8")
    profile = Profile.model_validate(yaml.safe_load(text))
    assert (profile.name, profile.pass_, profile.fail) == ("mine", 0.65, 0.5)
    comment = [line for line in text.splitlines() if line.startswith("# ")]
    assert re.fullmatch(
        r"# Found by jeval tune on \d{4}-\d\d-\d\d\. Confirm it on cases that it has not seen\.", comment[0]
    )
    assert comment[1] == f"# run {RUN} “monday”: support, judged by told-1"
    assert re.fullmatch(r"# labels from labels\.jsonl, where split=tuning: 140 checks, sha256 [0-9a-f]{16}", comment[2])
    assert comment[3] == (
        "# false_pass_rate ≤ 0.1: 0 of 40 judged checks labelled fail pass (0.0%), surely at most 7.2%"
    )
    assert comment[4] == "# surely: at confidence 0.95; before: pass 0.75, fail 0.5"


def test_it_says_what_changes_and_how_to_confirm_it(tmp_path: Path) -> None:
    ready(tmp_path, SPLIT)
    out = tune("--target", "false_pass_rate=0.1", "--where", "split=tuning", "-o", PROFILE).out
    assert "FOUND pass 0.65, fail 0.5" in out
    assert re.search(r"decided +86% \(120 of 140\) +→ +100% \(140 of 140\)", out)
    assert "20 of 140 labelled checks change · 20 ? review → ✓ pass" in out
    assert "fail stays 0.5: no target bounds what fails" in out
    assert f"wrote {PROFILE}" in out
    assert f"jeval run --from-run {RUN} thresholds=mine store=jeval.db" in out
    assert "jeval benchmark @last --labels labels.jsonl --where split=holdout --store jeval.db" in out


def test_what_it_says_to_type_next_confirms_it(tmp_path: Path) -> None:
    cases = [
        {"id": f"c{i:03d}", "input": f"Question {i}?", "output": "Yes.", "metadata": {"split": "ab"[i % 2]}}
        for i in range(160)
    ]
    write_cases(tmp_path / "cases.jsonl", cases)
    write_rubrics(tmp_path / "rubrics.json", [rubric().definition()])
    with judging() as server:
        ran = jeval(
            "run", "dataset.path=cases.jsonl", "rubrics.path=rubrics.json", "store=jeval.db", *local(server.url)
        )
        assert ran.code == 0
        asked = len(server.bodies)
        # Labels as the judge would have them, so that it is right wherever it is sure.
        found = rows(tmp_path / "jeval.db", "SELECT case_id, probabilities FROM checks")
        lines = [
            {"caseId": name, "rubricId": "tone", "expected": "fail" if p["unacceptable"] > 0.5 else "pass"}
            for name, p in ((name, json.loads(text)) for name, text in found)
        ]
        Path("labels.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        tuned = tune("--target", "precision=0.7", "--where", "split=a", "-o", PROFILE, "--json")
        assert tuned.code == 0, tuned.out + tuned.err
        run, benchmark = (shlex.split(step)[1:] for step in tuned.json["next"])
        again = jeval(*run, "--json")
        assert again.code == 0 and again.json["thresholds"] == tuned.json["thresholds"]
        assert len(server.bodies) == asked
    confirmed = jeval(*benchmark, "--json").json
    assert confirmed["where"] == {"split": "b"} and confirmed["overall"]["labelled"] == 80
    assert confirmed["thresholds"]["name"] == "mine" and confirmed["overall"]["precision"]["value"] > 0.7
    assert "tuned" not in [warning["field"] for warning in confirmed["warnings"]]
    overlapping = jeval("benchmark", "@last", "--labels", "labels.jsonl", "--store", "jeval.db", "--json").json
    assert "tuned" in [warning["field"] for warning in overlapping["warnings"]]


def test_the_object_on_stdout_has_all_of_it(tmp_path: Path) -> None:
    ready(tmp_path, SPLIT)
    found = tune("--target", "precision=0.8", "--target", "false-pass-rate=0.1", "--json").json
    assert found["targets"] == ["precision ≥ 0.8", "false_pass_rate ≤ 0.1"]
    assert (found["run_id"], found["confidence"], found["present"]) == (RUN, 0.95, {"pass": 0.75, "fail": 0.5})
    assert found["thresholds"]["pass"] + found["thresholds"]["fail"] > 1 and found["written"] is None
    met = {one["target"]: one for one in found["met"]}
    assert (met["precision ≥ 0.8"]["good"], met["precision ≥ 0.8"]["n"]) == (60, 60)
    assert met["precision ≥ 0.8"]["bound"] > 0.8 and met["false_pass_rate ≤ 0.1"]["bound"] < 0.1
    assert found["labels"]["checks"] == 208 and len(found["labels"]["sha256"]) == 64
    assert found["change"]["after"]["decided"]["k"] >= found["change"]["before"]["decided"]["k"]
    assert [warning["field"] for warning in found["warnings"]] == ["held_out"]


def test_where_nothing_meets_the_target_it_says_how_far_it_is_and_writes_nothing(tmp_path: Path) -> None:
    ready(tmp_path, fair(30))
    ran = tune("--target", "precision=0.95", "-o", PROFILE)
    assert ran.code == 1
    assert "NO THRESHOLDS MEET IT; nothing was written" in ran.out
    told = " ".join(ran.out.split())
    assert "precision ≥ 0.95: 10 of 10 checks that fail are labelled fail (100.0%), surely at least 69.2%" in told
    assert "about 62 more checks that fail would show it if it goes on like this, some 186 more labels" in told
    assert not Path("conf").exists()
    found = tune("--target", "precision=0.95", "--json").json
    assert found["thresholds"] is None and found["nearest"][0]["targets"][0]["more"] == 62


def test_a_judge_that_is_not_good_enough_is_told_so(tmp_path: Path) -> None:
    ready(tmp_path, [Row(0.95, "fail" if i % 2 else "pass") for i in range(80)])
    ran = tune("--target", "precision=0.9")
    assert ran.code == 1
    assert "at this rate no number of labels shows it" in " ".join(ran.out.split())


def test_what_a_target_does_not_bound_stays(tmp_path: Path) -> None:
    ready(tmp_path, SPLIT)
    found = tune("--target", "precision=0.8", "--json").json
    assert found["thresholds"]["pass"] == 0.75
    assert "pass stays 0.75: no target bounds what passes" in " ".join(tune("--target", "precision=0.8").out.split())


def test_a_rubric_alone_is_tuned_past_its_own_thresholds(tmp_path: Path) -> None:
    own = rubric("tone", thresholds={"pass": 0.99, "fail": 0.99})
    ready(tmp_path, SPLIT, own, rubric("silence"))
    together = tune("--target", "false_pass_rate=0.1")
    assert together.code == 2
    assert "left out for having both thresholds of their own: tone" in " ".join(together.out.split())
    ran = tune("--target", "false_pass_rate=0.1", "--rubric", "tone")
    assert ran.code == 0
    assert "thresholds: {pass: 0.65, fail: 0.99}" in ran.out
    # A profile would not change what the rubric says itself: its file is changed instead.
    assert f"jeval run --from-run {RUN} --accept-changes store=jeval.db" in ran.out
    assert "--rubric tone" in ran.out


def test_checks_that_no_threshold_decides_are_left_out(tmp_path: Path) -> None:
    values = {"id": "values", "version": "1.0.0", "kind": "grounded-values"}
    ready(tmp_path, SPLIT, rubric(), Rubric.model_validate(values))
    more = [{"caseId": "c000", "rubricId": "values", "expected": "fail"}]
    write_labels(tmp_path, SPLIT, "tone", *more)
    found = tune("--target", "precision=0.8", "--json").json
    assert found["labels"]["checks"] == 208
    assert "settled" in [warning["field"] for warning in found["warnings"]]
    only = write_labels(tmp_path, [], "tone", *more)
    ran = jeval("tune", "@last", "--labels", str(only), "--target", "precision=0.8")
    assert ran.code == 2 and "no label that counts is of a check that thresholds decide" in ran.out


def test_several_rubrics_are_told_to_be_tuned_together(tmp_path: Path) -> None:
    ready(tmp_path, SPLIT, rubric(), rubric("silence"))
    both = [{"caseId": f"c{i:03d}", "rubricId": "silence", "expected": row.expected} for i, row in enumerate(SPLIT)]
    write_labels(tmp_path, SPLIT, "tone", *both)
    ran = tune("--target", "precision=0.8")
    assert ran.code == 0
    assert "the targets hold for 2 rubrics together, not for each" in " ".join(ran.out.split())
    assert re.search(r"^  tuned, by rubric +decided", ran.out, re.M)
    assert re.search(r"^  silence +\d+%", ran.out, re.M)


# The judge is nearly sure that failures are fine, so no pass threshold keeps them out but one that nothing reaches.
HOPELESS = [*[Row(0.02, "fail")] * 40, *[Row(0.03, "pass")] * 60, *[Row(0.9, "fail")] * 60]


def test_thresholds_by_which_nothing_would_pass_are_told_at_once(tmp_path: Path) -> None:
    ready(tmp_path, HOPELESS)
    ran = tune("--target", "false_pass_rate=0.05")
    assert ran.code == 0
    head, _, rest = ran.out.partition("FOUND")
    words = " ".join(head.split())
    assert "warning: by the thresholds found nothing would pass any more (now 100 would)" in words
    assert "add --target pass_precision=0.9, which is not met where nothing passes" in words
    assert "decided falls from 100% to 38%" in words
    assert "by which nothing would pass\n" in rest
    codes = [one["field"] for one in tune("--target", "false_pass_rate=0.05", "--json").json["warnings"]]
    assert codes[:2] == ["nothing_passes", "coverage"]
    both = tune("--target", "false_pass_rate=0.05", "--target", "pass_precision=0.9")
    assert both.code == 1
    assert "NO THRESHOLDS MEET IT" in both.out


def test_thresholds_by_which_nothing_would_fail_are_told_at_once(tmp_path: Path) -> None:
    ready(tmp_path, [*[Row(0.95, "pass")] * 40, *[Row(0.05, "pass")] * 80, *[Row(0.9, "fail")] * 10])
    out = " ".join(tune("--target", "false_fail_rate=0.1").out.split())
    assert "nothing would fail any more (now 50 would)" in out
    assert "add --target precision=0.9" in out
    assert "decided falls" not in out


def test_a_fail_that_would_be_skipped_is_told(tmp_path: Path) -> None:
    claim = {
        "id": "claim",
        "version": "1.0.0",
        "kind": "tool-claim",
        "params": {"toolName": "book", "action": "booking"},
    }
    # The second option is that nothing was claimed. To decide the unsure passes, `pass` comes down to where it counts.
    given = [*[Row(0.02, "pass")] * 60, *[Row(0.42, "pass")] * 30, *[Row(0.5, "fail")] * 60, *[Row(0.6, "fail")] * 20]
    ready(tmp_path, given, Rubric.model_validate(claim), tool_events=[{"id": "t", "name": "book", "status": "success"}])
    write_labels(tmp_path, given, "claim")
    ran = tune("--target", "false_pass_rate=0.2")
    assert ran.code == 0
    assert "by these thresholds 20 checks labelled fail are skipped, where nobody would look (now 0)" in " ".join(
        ran.out.split()
    )


def test_labels_in_the_store_will_do(tmp_path: Path) -> None:
    with closing(told_run(tmp_path, SPLIT)) as connection:
        _give(connection, SPLIT)
    found = jeval("tune", "@last", "--target", "precision=0.8", "--json")
    assert found.code == 0 and found.json["labels"]["from"] == "the store"


def _give(connection: sqlite3.Connection, given: list[Row]) -> None:
    connection.executemany(
        "INSERT INTO labels VALUES (?, 'tone', ?, 'human', 'ann', NULL, '2026-01-01')",
        [(f"c{i:03d}", row.expected) for i, row in enumerate(given)],
    )


def test_a_simulated_judge_and_labels_that_were_made_up_are_told(tmp_path: Path) -> None:
    ready(tmp_path, SPLIT, simulated=1)
    ran = tune("--target", "precision=0.8", "-o", PROFILE)
    assert "warning: a simulated judge decided: this says nothing about a real one" in ran.out
    assert "(simulated)" in Path(PROFILE).read_text()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--target", "precison=0.9"), "--target precison=0.9: precison is no measure; did you mean precision?"),
        (("--target", "0.9"), "is no measure; there are: false_pass_rate, false_fail_rate, accuracy"),
        (("--target", "precision=90"), "must lie between 0 and 1, both exclusive, as the least that is allowed"),
        (("--target", "false_pass_rate=1"), "as the most that is allowed; write e.g. --target false_pass_rate=0.05"),
        (("--target", "precision"), "write e.g. --target precision=0.9"),
        (("--target", "recall=0.8", "--target", "recall=0.9"), "recall has a target already; name each once"),
        (("--target", "recall=0.8", "--confidence", "95"), "--confidence 95: must be from 0.5 to below 1"),
        (("--target", "recall=0.8", "-o", "mine.yml"), "-o mine.yml: is no name of a profile"),
        (("--target", "recall=0.8", "-o", "conf/thresholds/a b.yaml"), "is no name of a profile"),
        (("--target", "recall=0.8", "--rubric", "tome"), "--rubric tome: run"),
    ],
)
def test_a_mistake_is_told_in_one_line_with_the_remedy(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    ready(tmp_path, fair(3))
    ran = tune(*arguments)
    assert (ran.code, ran.out) == (3, "") and told in ran.err and ran.err.count("\n") == 1


def test_a_profile_that_is_there_is_not_written_over_unless_that_is_meant(tmp_path: Path) -> None:
    ready(tmp_path, SPLIT)
    Path("conf/thresholds").mkdir(parents=True)
    Path(PROFILE).write_text("pass: 0.9\n")
    ran = tune("--target", "precision=0.8", "-o", PROFILE)
    assert ran.code == 3 and "exists; name another file, or write over it with --force" in ran.err
    assert Path(PROFILE).read_text() == "pass: 0.9\n"
    assert tune("--target", "precision=0.8", "-o", PROFILE, "--force").code == 0
    assert [path.name for path in Path("conf/thresholds").iterdir()] == ["mine.yaml"]


def test_hostile_text_stays_in_its_comment(tmp_path: Path) -> None:
    ready(tmp_path, SPLIT, name="x\npass: 0\n\x1b[31m", dataset="\u202ey", model_served="m\rfail: 0")
    ran = tune("--target", "precision=0.8", "-o", PROFILE)
    assert ran.code == 0 and "\x1b" not in ran.out and "\u202e" not in ran.out
    found = yaml.safe_load(Path(PROFILE).read_text(encoding="utf-8"))
    assert set(found) == {"name", "pass", "fail"} and found["pass"] == 0.75


@pytest.mark.parametrize("width", ["80", "100"])
def test_lines_are_no_wider_than_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: str) -> None:
    monkeypatch.setenv("COLUMNS", width)
    ready(tmp_path, SPLIT, name="a run")
    for arguments in (("--target", "precision=0.8", "--target", "false_pass_rate=0.1"), ("--target", "precision=0.99")):
        lines = tune(*arguments).out.splitlines()
        # A command to be copied is never broken.
        assert [line for line in lines if len(line) > int(width) and not line.startswith("  jeval ")] == []
