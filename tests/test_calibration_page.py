"""docs/calibration.md: its commands, typed in order as they stand."""

import re
import shlex
from pathlib import Path

import pytest

from tests.running import ROOT, jeval

PAGE = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")


def typed() -> list[list[str]]:
    """The commands of the page's shell blocks, without their comments."""
    blocks = "".join(re.findall(r"```sh\n(.*?)```", PAGE, re.S)).replace("\\\n", " ")
    return [shlex.split(line, comments=True)[1:] for line in blocks.splitlines()]


def test_its_commands_work_in_order_as_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands = typed()
    assert [command[0] for command in commands] == ["run", "labels", "benchmark", "tune", "run", "benchmark"]
    for command in commands:
        ran = jeval(*command)
        assert ran.code == 0, ran.err
        if command[0] == "tune":
            assert "FOUND pass" in ran.out
    assert (tmp_path / "conf" / "thresholds" / "tuned.yaml").exists()


def test_what_it_says_the_bundled_labels_do_not_show_they_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in typed()[:2]:
        assert jeval(*command).code == 0
    ran = jeval("tune", "@last", "--labels", "labels.jsonl", "--where", "split=tuning", "--target", "precision=0.9")
    assert ran.code == 1
    assert "NO THRESHOLDS MEET IT; nothing was written" in ran.out
    assert "more labels like these" in " ".join(ran.out.split())
