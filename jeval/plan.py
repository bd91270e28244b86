"""What a case needs: checks that code settles at once, and questions for the judge. Frozen data, asked later."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from jeval.case import Case
from jeval.digest import BYTES_PER_TOKEN
from jeval.fingerprint import compact
from jeval.kinds import RubricKind, kind_of
from jeval.metric import Metric
from jeval.metric_state import MetricState, metric_questions, metric_state
from jeval.question import Question
from jeval.rubric import Evidence, Rubric
from jeval.ruling import Verdict
from jeval.state import State, build_state

__all__ = ["DEFAULT_MAX_STATE_TOKENS", "Ask", "CasePlan", "PlannedCheck", "PlannedMetric", "Planner", "applies_to"]

DEFAULT_MAX_STATE_TOKENS = 32_000


class PlannedCheck(NamedTuple):
    """One rubric applied to one case, before any answer.

    `settled` is the verdict where nothing is to be asked; otherwise `parts` is ((part name, question
    sha256), …) and `facts` what deciding needs of the case. `criterion` is the text exactly as sent (None
    where nothing is asked), `evidence` a JSON text: the fields and ids the judge is shown.
    """

    rubric: Rubric
    kind: RubricKind
    settled: Verdict | None
    parts: tuple[tuple[str, str], ...]
    facts: Any
    criterion: str | None
    evidence: str


class Ask(NamedTuple):
    """One request: a state and the distinct questions about it, by their sha256."""

    state: State
    questions: Mapping[str, Question]


class PlannedMetric(NamedTuple):
    """One metric applied to one case: the state its questions are asked about, and their sha256 in order.

    `state_sha256` is None where the case lacks what the metric asks for; then `reason` says what. `cut` is what
    the judge was not shown.
    """

    metric: Metric
    state_sha256: str | None
    questions: tuple[str, ...]
    reason: str
    cut: tuple[str, ...]


class CasePlan(NamedTuple):
    """All that one case needs. `asks` is empty where code settles everything; `metrics` are scored from them."""

    case: Case
    checks: tuple[PlannedCheck, ...]
    asks: tuple[Ask, ...]
    metrics: tuple[PlannedMetric, ...] = ()


class Planner:
    """Rubrics and metrics made ready once, to plan any number of cases.

    `max_state_tokens` is the judge's limit for a state and the longest question, in estimated tokens.
    """

    def __init__(
        self,
        rubrics: Sequence[Rubric],
        metrics: Sequence[Metric] = (),
        max_state_tokens: int = DEFAULT_MAX_STATE_TOKENS,
    ) -> None:
        self.kinds = tuple(kind_of(rubric) for rubric in rubrics)
        self.metrics = tuple((metric, metric_questions(metric)) for metric in metrics)
        # Asked in the request of the rubrics' questions, so the room for the state is what the longest of all leaves.
        self._shared = tuple(q for metric, asked in self.metrics if metric.sees_all for q in asked)
        self._max_bytes = max_state_tokens * BYTES_PER_TOKEN
        self._criteria: dict[tuple[str, ...], str] = {}

    def plan(self, case: Case) -> CasePlan:
        """The plan of one case: settled checks, and one request for each state that is asked about."""
        state: State | None = None
        questions: dict[str, Question] = {}
        drafts: list[tuple[RubricKind, Any]] = []
        for kind in self.kinds:
            found = _applies(kind.rubric, case) or kind.plan(case)
            drafts.append((kind, found))
            if not isinstance(found, Verdict):
                for _, question in found.parts:
                    questions[question.sha256] = question
        asks: dict[str, Ask] = {}
        if questions:
            state = build_state(case, self._room((*questions.values(), *self._shared)))
            asks[state.sha256] = Ask(state, questions)
        shown = compact(_shown(case, state))
        checks = tuple(self._check(kind, found, shown) for kind, found in drafts)
        metrics = tuple(self._metric(metric, asked, case, state, asks) for metric, asked in self.metrics)
        return CasePlan(case, checks, tuple(asks.values()), metrics)

    def _metric(
        self,
        metric: Metric,
        questions: tuple[Question, ...],
        case: Case,
        rubrics_state: State | None,
        asks: dict[str, Ask],
    ) -> PlannedMetric:
        """Plan a metric, adding its questions to the request about the same state, or a request of its own."""
        if metric.sees_all:
            seen = MetricState(rubrics_state or build_state(case, self._room(self._shared)))
        else:
            seen = metric_state(metric, case, self._room(questions))
        state, reason = seen.state, seen.reason
        shas = tuple(question.sha256 for question in questions)
        if state is None:
            return PlannedMetric(metric, None, shas, reason, ())
        ask = asks.get(state.sha256) or Ask(state, {})
        asks[state.sha256] = Ask(state, {**ask.questions, **dict(zip(shas, questions, strict=True))})
        return PlannedMetric(metric, state.sha256, shas, "", state.cut)

    def _room(self, questions: Iterable[Question]) -> int:
        # Characters, not bytes: near enough for a limit that is an estimate, and much cheaper.
        return max(1_000, self._max_bytes - max(len(q.wire) for q in questions))

    def _check(self, kind: RubricKind, found: Any, shown: str) -> PlannedCheck:
        if isinstance(found, Verdict):
            return PlannedCheck(kind.rubric, kind, found, (), None, None, "{}")
        # Joined as text: all checks of a case show the same fields, written once.
        evidence = f"{shown[:-1]},{compact(found.evidence)[1:]}" if found.evidence else shown
        parts = tuple((name, question.sha256) for name, question in found.parts)
        return PlannedCheck(kind.rubric, kind, None, parts, found.facts, self._criterion(found.parts), evidence)

    def _criterion(self, parts: tuple[tuple[str, Question], ...]) -> str:
        if len(parts) == 1:
            return parts[0][1].instructions
        key = tuple(question.sha256 for _, question in parts)
        text = self._criteria.get(key)
        if text is None:
            text = "\n\n".join(f"[{name}] {question.instructions}" for name, question in parts)
            if len(self._criteria) < 1_000:
                self._criteria[key] = text
        return text


_FIELD_OF: dict[Evidence, str] = {
    "policy": "policy",
    "context": "context",
    "toolEvents": "tool_events",
    "messages": "messages",
}


def _applies(rubric: Rubric, case: Case) -> Verdict | None:
    """None where the rubric applies and its evidence is there; otherwise the verdict that settles it."""
    wanted = rubric.applicability.only_when_metadata
    if wanted:
        metadata = case.metadata or {}
        for key, value in wanted.items():
            if not _matches(metadata.get(key), value):
                reason = f"only when metadata {key} is {value!r:.80}; it is {metadata.get(key)!r:.80}"
                return Verdict("skipped", None, "metadata-differs", reason)
    missing = [name for name in rubric.requires if _absent(getattr(case, _FIELD_OF[name]), name)]
    if missing:
        reason = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing, so the judge was not asked"
        return Verdict("review", None, "missing-evidence", reason)
    return None


def _absent(value: Any, name: Evidence) -> bool:
    # An empty tool log is evidence that no tool was called; an empty policy or reference list is none.
    return value is None or (name != "toolEvents" and not value)


def applies_to(wanted: Mapping[str, Any], metadata: Mapping[str, Any] | None) -> bool:
    """Whether metadata is what a rubric's `onlyWhenMetadata` asks for."""
    return all(_matches((metadata or {}).get(key), value) for key, value in wanted.items())


def _matches(value: Any, wanted: Any) -> bool:
    if value == wanted and isinstance(value, bool) == isinstance(wanted, bool):
        return True
    return isinstance(wanted, list) and any(_matches(value, one) for one in wanted)


def _shown(case: Case, state: State | None) -> dict[str, Any]:
    """The fields and ids the judge is shown, and what was cut from them."""
    if state is None:
        return {}
    shown: dict[str, Any] = {"fields": state.fields}
    left = json.loads(state.json) if state.cut else None
    for name, field, items in (
        ("messages", "conversation", case.messages),
        ("context", "reference_material", case.context),
        ("toolEvents", "tool_events", case.tool_events),
    ):
        if items:
            ids = [item.id for item in items]
            shown[name] = ids if left is None else _still_there(ids, left[field])
    if state.cut:
        shown["cut"] = state.cut
    return shown


def _still_there(ids: list[str], items: Any) -> list[str]:
    """Those of `ids` that a digested list still holds; a list cut to a text holds none by its id."""
    held = {item.get("id") for item in items if isinstance(item, dict)} if isinstance(items, list) else set()
    return [one for one in ids if one in held]
