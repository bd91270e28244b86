"""docs/python.md: what it shows is what happens."""

import doctest
import re
from typing import Any

import pytest

from jeval.result import CaseResult, Check
from jeval.score import MetricResult
from tests.judging import judging
from tests.running import ROOT
from tests.samples import cases, rubric
from tests.servers import answer

PAGE = ROOT / "docs" / "python.md"


def test_every_example_gives_what_stands_below_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    failures, tried = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert (failures, tried > 20) == (0, True)


def test_the_example_of_a_real_judge_asks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    [code] = re.findall(r"```python\n(import os\n.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    with judging(answer) as server:
        monkeypatch.setenv("TYPESAFE_BASE_URL", server.url)
        monkeypatch.setenv("TYPESAFE_API_KEY", "key")
        names: dict[str, Any] = {"cases": list(cases(2)), "rubrics": [rubric("custom")]}
        exec(code, names)
    assert [result.checks[0].status for result in names["results"]] == ["pass", "pass"]
    assert len(server.bodies) == 2


@pytest.mark.parametrize("model", [CaseResult, Check, MetricResult])
def test_every_field_of_a_result_is_named(model: Any) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in model._fields if f"`{name}`" not in text] in ([], ["verdict"])
