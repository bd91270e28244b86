"""What a run would ask, before it does: planned for real, asked not at all."""

import sqlite3
from dataclasses import asdict, dataclass
from typing import Any

from jeval.app.console import Painter, plain
from jeval.app.prepare import Prepared
from jeval.app.settings import JudgeSettings
from jeval.counted import counted
from jeval.plan import Planner
from jeval.report.overview import dollars
from jeval.store.recall import StoredJudgments

__all__ = ["Estimate", "estimate", "print_estimate"]

# Bytes of JSON a token stands for in an estimate of cost: no tokenizer is published.
_BYTES_PER_TOKEN = 4


@dataclass(frozen=True)
class Estimate:
    """Counts of a run not made. `input_tokens` is estimated at 4 bytes a token; `cost_usd` None without a price."""

    cases: int
    checks: int
    settled_by_code: int
    requests: int
    questions: int
    stored: int
    input_tokens: int
    cost_usd: float | None
    digested: int

    def as_dict(self) -> dict[str, Any]:
        """The estimate as JSON."""
        return asdict(self)


def estimate(prepared: Prepared, identity: tuple[str, str], connection: sqlite3.Connection | None) -> Estimate:
    """Plan every case and count, for the judge of this (gateway, model).

    What the store holds already is not counted as asked; None stands for no store.
    """
    settings = prepared.settings.judge
    planner = Planner(prepared.rubrics, prepared.metrics, settings.max_state_tokens)
    recall = None
    if connection is not None and settings.reuse != "never":
        recall = StoredJudgments.of(connection, *identity)
    checks = settled = requests = questions = stored = size = digested = 0
    for case in prepared.dataset:
        plan = planner.plan(case)
        checks += len(plan.checks)
        settled += sum(check.settled is not None for check in plan.checks)
        for ask in plan.asks:
            digested += bool(ask.state.cut)
            for repeat in range(settings.repeat):
                have = recall(ask.state.sha256, ask.questions, repeat).answers if recall is not None else {}
                missing = [q for sha, q in ask.questions.items() if sha not in have]
                stored += len(have)
                if missing and settings.reuse != "only":
                    requests += 1
                    questions += len(missing)
                    size += len(ask.state.json.encode()) + sum(len(q.wire.encode()) for q in missing)
    tokens = size // _BYTES_PER_TOKEN
    price = settings.usd_per_million_input
    cost = None if price is None else tokens * price / 1e6
    return Estimate(prepared.dataset.cases, checks, settled, requests, questions, stored, tokens, cost, digested)


def print_estimate(painter: Painter, prepared: Prepared, found: Estimate) -> None:
    """The estimate as people read it."""
    judge = prepared.settings.judge
    painter.line(
        f"{counted(found.cases, 'case')} of {plain(prepared.dataset.path.name, 60)}, "
        f"{counted(found.checks, 'check')}; nothing was asked"
    )
    settled = counted(found.settled_by_code, "check is", "checks are")
    stored = counted(found.stored, "judgment is", "judgments are")
    painter.line(f"  {settled} settled by code, {stored} in the store")
    painter.line(
        f"  {counted(found.requests, 'request')} with {counted(found.questions, 'question')}, "
        f"about {counted(found.input_tokens, 'token')}"
    )
    painter.line(f"  {_cost(judge, found)}")
    if found.digested:
        states = counted(found.digested, "state is", "states are")
        painter.line(f"  {states} over the judge's limit and would be digested")
    for warning in prepared.warnings:
        painter.line("  " + painter.paint(f"warning: {plain(warning)}", "yellow"))


def _cost(judge: JudgeSettings, found: Estimate) -> str:
    """What it would cost, in words where that is nothing or not known."""
    if judge.gateway == "offline":
        return "no cost: the offline judge is free"
    if not found.requests:
        return "no cost: nothing is left to ask"
    if found.cost_usd is None:
        return f"no cost known: judge {judge.name} has no price; set judge.usd_per_million_input"
    if not found.cost_usd:
        return f"no cost: judge {judge.name} is free"
    return f"cost {dollars(found.cost_usd)}"
