"""What a run came to, and when it stops."""

from pathlib import Path

from jeval.app.outcome import Outcome, Stop
from jeval.result import CaseResult, Exchange, Failure
from tests.judging import judging, local
from tests.running import jeval, project


def paid(usd: float) -> CaseResult:
    return CaseResult("c", (), exchanges=(Exchange(1, "s", {}, {}, latency_ms=1.0, cost_usd=usd),))


def test_spending_stops_before_what_is_under_way_would_pass_the_limit() -> None:
    outcome = Outcome("r", None)
    stop = Stop(1.0, outcome)
    begun = 0
    for _ in range(10):  # ten at once, before any price is known
        assert not stop()
        begun += 1
    outcome.add(paid(0.05))
    stop.look(paid(0.05))
    while not stop():
        begun += 1
    assert begun * 0.05 <= 1.0 + 1e-9
    assert "judge.max_usd=1" in str(stop.because)


def test_a_hundred_lost_requests_in_a_row_stop_a_run_and_one_answer_starts_the_count_again() -> None:
    lost = CaseResult("c", (), exchanges=(Exchange(1, "s", {}, {}, failure=Failure("timeout", "no answer")),))
    stop = Stop(None, Outcome("r", None))
    for _ in range(99):
        stop.look(lost)
    stop.look(paid(0.0))
    for _ in range(99):
        stop.look(lost)
    assert not stop()
    stop.look(lost)
    assert stop()


def test_a_limit_without_a_price_is_warned_about(tmp_path: Path) -> None:
    with judging() as server:
        ran = jeval("run", *project(tmp_path, 1), *local(server.url, "judge.max_usd=1"))
    assert "set judge.usd_per_million_input" in ran.out


def test_metrics_alone_need_no_rubrics(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text("- {id: m, version: 1.0.0, fields: [input], questions: [{noul: It is so.}]}\n")
    overrides = [one for one in project(tmp_path, 2) if not one.startswith("rubrics")]
    ran = jeval("run", *overrides, f"metrics.path={tmp_path / 'm.yaml'}")
    assert ran.code == 0, ran.err
    assert "say nothing about the answers" in ran.out


def test_no_critical_failure_is_no_good_news_where_no_critical_check_is_decided(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(
        "- {id: p, version: 1.0.0, kind: policy-compliance, severity: critical, criterion: Only prices.}\n"
    )
    overrides = [one for one in project(tmp_path, 3) if not one.startswith("rubrics")]
    ran = jeval("run", *overrides, f"rubrics.path={tmp_path / 'r.yaml'}")
    assert "3 critical checks are undecided" in ran.out
    assert "no critical failures" not in ran.out
