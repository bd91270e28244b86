"""Asking several times: which checks change status by chance."""

import asyncio
import json
from pathlib import Path

from tests.judging import judging, local
from tests.running import jeval, project, rows
from tests.servers import head


async def _wavering(body: bytes, writer: asyncio.StreamWriter) -> None:
    """Supported at first, contradicted the second time, for case-0001 alone."""
    request = json.loads(body)
    seen = _SEEN.setdefault(json.dumps(request["state"]), [])
    seen.append(1)
    wavers = "Ticket 1 costs" in request["state"]["assistant_response"] and len(seen) % 2 == 0
    answers = {}
    for key, question in request["questions"].items():
        first, second, third = question["criteria"]
        top = {first: 0.1, second: 0.8, third: 0.1} if wavers else {first: 0.9, second: 0.05, third: 0.05}
        answers[key] = {"type": "choice", "choice": first, "probabilities": top, "confidence": 0.8}
    content = json.dumps({"model": "m-1", "answers": answers, "usage": {}}).encode()
    writer.write(head(200, len(content)) + content)


_SEEN: dict[str, list[int]] = {}


def test_each_repeat_is_a_judgment_of_its_own_and_flips_are_counted(tmp_path: Path) -> None:
    _SEEN.clear()
    store = tmp_path / "jeval.db"
    with judging(_wavering) as server:
        ran = jeval(
            "run",
            *project(tmp_path, 3),
            *local(server.url, "judge.repeat=2", "judge.concurrency=1"),
            "--json",
        )
        assert len(server.bodies) == 6
    assert rows(store, "SELECT repeat, count(*) FROM judgments GROUP BY repeat") == [(0, 6), (1, 6)]
    flips = "SELECT case_ids.id, statuses FROM repeat_flips JOIN case_ids ON case_ids.key = case_key"
    assert set(rows(store, flips)) == {("case-0001", '["pass","fail"]')}
    assert ran.json["counts"]["pass"] == 6
    assert "33.3% (2 of 6) checks change status by chance among 2 repeats" in ran.err


def test_repeats_are_reused_like_any_judgment(tmp_path: Path) -> None:
    _SEEN.clear()
    with judging(_wavering) as server:
        overrides = [*project(tmp_path, 3), *local(server.url, "judge.repeat=2", "judge.concurrency=1")]
        assert jeval("run", *overrides).code == 0
        again = jeval("run", *overrides, "--json").json
        assert len(server.bodies) == 6
    assert again["judgments"] == {"asked": 0, "reused": 12}
    assert rows(tmp_path / "jeval.db", "SELECT count(*) FROM repeat_flips") == [(4,)]
