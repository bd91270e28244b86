"""The gate at the end of a run: its verdict printed, told to GitHub where it runs there, made an exit code."""

import os
import sqlite3

from jeval.app.outcome import Outcome
from jeval.app.painter import Painter, plain
from jeval.app.prepare import Prepared
from jeval.app.settings import json_text
from jeval.gate import GateVerdict, gate_facts, judge_gate
from jeval.store.failures import failure_groups
from jeval.store.find import find_run
from jeval.store.runs import finish_run

__all__ = ["gate_run"]


def gate_run(
    painter: Painter,
    prepared: Prepared,
    outcome: Outcome,
    connection: sqlite3.Connection,
    *,
    baseline: sqlite3.Row | None,
    quiet: bool = False,
) -> int:
    """Judge a finished run by its gate, print each rule with number and limit; the exit code.

    A run that could not be made (exit code 3) or was interrupted keeps its own code. `quiet` prints broken rules
    only; `baseline` is the row of the run whose failures are excused.
    """
    if outcome.exit_code in (3, 130):
        return outcome.exit_code
    rules = prepared.settings.gate
    run = find_run(connection, outcome.run_id)
    facts = gate_facts(
        outcome.summary,
        cases=prepared.dataset.cases,
        simulated=outcome.simulated,
        failures=failure_groups(connection, run["pk"], baseline["pk"] if baseline is not None else None),
        baseline=baseline["id"] if baseline is not None else None,
        baseline_simulated=bool(baseline["simulated"]) if baseline is not None else False,
    )
    verdict = judge_gate(rules, facts)
    told = {"name": rules.name, "rules": [reason._asdict() for reason in verdict.reasons]}
    outcome.gate = {
        "name": rules.name,
        "passed": verdict.exit_code == 0,
        "broken": [reason.text for reason in verdict.broken],
    }
    finish_run(connection, run["pk"], {"exit_code": verdict.exit_code, "gate": json_text(told)})
    _print(painter, prepared, verdict, quiet)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        from jeval.app.github import tell_github

        tell_github(connection, outcome.run_id, verdict, os.environ)
    return verdict.exit_code


def _print(painter: Painter, prepared: Prepared, verdict: GateVerdict, quiet: bool) -> None:
    words = {
        0: ("passed", "green"),
        1: ("FAILED", "red"),
        2: ("NOT PASSED", "yellow"),
    }
    word, colour = words[verdict.exit_code]
    if not quiet:
        painter.line()
    painter.line(painter.paint(f"gate {prepared.settings.gate.name} {word}", "bold", colour))
    for reason in verdict.broken if quiet else verdict.reasons:
        sign = painter.paint("✓", "green") if reason.holds else painter.paint("✕", "red")
        painter.line(f"  {sign} {plain(reason.text)}")
