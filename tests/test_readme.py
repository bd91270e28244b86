"""The README's first run, typed as it stands."""

import json
import re
from pathlib import Path

import pytest

from tests.running import checks_of, jeval, rows

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", README, re.S)
    assert found is not None
    return found.group(1)


def test_its_case_and_its_rubric_run_beside_the_bundled_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my-cases.jsonl").write_text(json.dumps(json.loads(block("json"))) + "\n", encoding="utf-8")
    (tmp_path / "my-rubrics.yaml").write_text(block("yaml"), encoding="utf-8")
    typed = re.findall(r"^jeval (run[^#\n]*)", README[README.index("## A first run") :], re.M)[:3]
    for line in typed:
        ran = jeval(*line.split())
        assert ran.code == 0, ran.err
    assert "dataset.path=my-cases.jsonl" in typed[-1]
    assert len(checks_of(tmp_path / "jeval.db")) == 1
    assert rows(tmp_path / "jeval.db", "SELECT count(*) FROM runs") == [(3,)]
    assert "claimed" in ran.out and "book_appointment (t1) failed" in ran.out
