"""Sweeps: the first profile asks, every further one only decides again.

What the first run of a sweep planned and was answered is kept in memory, small and bounded. A further profile
over the same cases, questions and judge then needs no dataset, no plan and no judge: its checks are decided
from what is kept and written beside the first run's rows, to which they refer.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jeval.app.outcome import Outcome
from jeval.app.prepare import Prepared
from jeval.kinds import RubricKind
from jeval.plan import CasePlan
from jeval.question import Answer
from jeval.rubric import Thresholds
from jeval.ruling import Verdict
from jeval.store.derive import DerivedCheck, Source, derive_run
from jeval.summary import ScoreTally, Summary

__all__ = ["Memory", "memory_key"]

# About 4 KB a case of five checks: some 400 MB at the most; a larger sweep reads the store for each profile.
_MOST_CHECKS = 500_000


class _Kept(NamedTuple):
    """One check of the first run, ready to be decided again."""

    kind: RubricKind
    settled: Verdict | None
    facts: Any
    answers: Mapping[str, Answer]


def memory_key(prepared: Prepared, gateway: str, model: str, store: Path) -> tuple[Any, ...]:
    """All that must be equal for one run's answers to be another's, thresholds left out.

    The address too, though stored judgments leave it out: who sweeps over addresses wants each of them asked. And the
    store, for a run is decided from requests that are in its own.
    """
    judge = prepared.settings.judge
    return (
        str(store.absolute()),
        judge.base_url,
        str(prepared.dataset.path),
        prepared.dataset.sha256,
        tuple(r.sha256 for r in prepared.rubrics),
        tuple(m.sha256 for m in prepared.metrics),
        gateway,
        model,
        judge.reuse,
        judge.max_state_tokens,
    )


class Memory:
    """What one finished run was answered, for the next profiles of its sweep."""

    def __init__(self, key: tuple[Any, ...], prepared: Prepared) -> None:
        self.key = key
        self.source: Source | None = None
        self._wanted = len(prepared.rubrics) * prepared.dataset.cases <= _MOST_CHECKS
        self._cases: dict[str, tuple[_Kept, ...]] = {}
        self._judgments = 0
        self._models: list[str] = []
        self._scores: dict[str, ScoreTally] = {}

    def keep(self, plan: CasePlan, answers: Mapping[str, Answer]) -> None:
        """Keep what one case was answered."""
        if not self._wanted:
            return
        self._cases[plan.case.id] = tuple(
            _Kept(
                check.kind,
                check.settled,
                check.facts,
                {part: answers[sha] for part, sha in check.parts if sha in answers},
            )
            for check in plan.checks
        )

    def finish(self, run: int, outcome: Outcome) -> None:
        """The run is over: its answers may serve others if it is complete."""
        if outcome.status == "complete" and self._wanted:
            self.source = Source(run)
            self._judgments = outcome.asked + outcome.reused
            self._models = outcome.models
            self._scores = outcome.summary.scores

    def ready(self) -> bool:
        """Whether further runs can be decided from here."""
        return self.source is not None

    def judgments(self) -> int:
        """(state, question) pairs that every run decided from here reuses."""
        return self._judgments

    def models(self) -> list[str]:
        """The model versions whose judgments those are."""
        return self._models

    def summary(self) -> Summary:
        """A summary of all cases and scores, which no threshold changes, without checks."""
        summary = Summary()
        summary.cases, summary.scores = len(self._cases), self._scores
        return summary

    def serves(self, key: tuple[Any, ...]) -> bool:
        """Whether a run of this key can be decided from here."""
        return self.source is not None and self.key == key

    def decide(
        self, connection: sqlite3.Connection, run: int, rubric_keys: Sequence[int], thresholds: Thresholds
    ) -> Mapping[tuple[int, int], int]:
        """Decide and write every check of a further run; how many of each (rubric key, status code)."""
        assert self.source is not None
        rules = {id(kind): kind.rubric.effective(thresholds) for kept in self._first() for kind in (kept.kind,)}

        def decided(case_id: str) -> list[DerivedCheck]:
            checks = []
            for rubric, kept in zip(rubric_keys, self._cases[case_id], strict=True):
                verdict = kept.settled
                if verdict is None:
                    verdict = kept.kind.decide(kept.facts, kept.answers, rules[id(kept.kind)])
                critical = verdict.status == "fail" and kept.kind.rubric.severity == "critical"
                checks.append(DerivedCheck(rubric, verdict, critical))
            return checks

        return derive_run(connection, self.source, run, decided)

    def _first(self) -> tuple[_Kept, ...]:
        return next(iter(self._cases.values()), ())
