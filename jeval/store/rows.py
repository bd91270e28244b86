"""Results as rows: what one case brings to each table, with shared pieces keyed by their content."""

from hashlib import sha256
from typing import Any, NamedTuple

from jeval.case import Case
from jeval.fingerprint import canonical, compact, key63
from jeval.question import Answer
from jeval.result import CaseResult, Check, Exchange
from jeval.ruling import Verdict
from jeval.score import MetricResult
from jeval.store.status import STATUS_CODES

__all__ = [
    "TALLY",
    "Known",
    "Rows",
    "RunKeys",
    "case_body",
    "case_content",
    "case_rows",
    "first_request_id",
    "question_key",
    "state_key",
]


def first_request_id(run: int) -> int:
    """The id of a run's first request: the run in the high bits, so that runs need not agree on numbers."""
    return (run << 32) + 1


def question_key(question_sha256: str) -> int:
    """The integer key of a question, taken from its hash."""
    return int(question_sha256[:16], 16) >> 1


def state_key(state: bytes) -> int:
    """The short key by which a state's requests are found; whoever finds by it compares the whole hash."""
    return int.from_bytes(state[:8], "big") >> 1


def case_body(case: Case) -> dict[str, Any]:
    """A case as stored: as on disk, but without labels, which are kept apart and may change."""
    return case.model_dump(by_alias=True, exclude_none=True, exclude={"expected"}, mode="json")


# Adds to what is counted already: (run, rubric, status, how many more).
TALLY = "INSERT INTO tallies VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n"


class Known:
    """Shared rows this process has written already, so that they are not sent to SQLite again.

    Bounded: forgetting only costs a repeated INSERT OR IGNORE.
    """

    def __init__(self, limit: int = 50_000) -> None:
        self._limit = limit
        self._keys: set[int] = set()
        self._verdicts: dict[Verdict, int] = {}
        self._texts: dict[str, int] = {}

    def first(self, key: int) -> bool:
        """Whether this key is met for the first time."""
        if key in self._keys:
            return False
        if len(self._keys) >= self._limit:
            self._keys.clear()
        self._keys.add(key)
        return True

    def text(self, text: str) -> tuple[int, bool]:
        """A shared text's key, and whether it is new."""
        key = self._texts.get(text)
        if key is not None:
            return key, False
        if len(self._texts) >= self._limit // 50:  # criteria are long and few
            self._texts.clear()
        key = self._texts[text] = key63(text)
        return key, True

    def verdict(self, verdict: Verdict) -> tuple[int, bool]:
        """A verdict's key, and whether it is new."""
        key = self._verdicts.get(verdict)
        if key is not None:
            return key, False
        if len(self._verdicts) >= self._limit:
            self._verdicts.clear()
        key = key63("\x1f".join(("v", verdict.status, verdict.outcome or "", verdict.rule, verdict.reason)))
        self._verdicts[verdict] = key
        return key, True


class Rows(NamedTuple):
    """What several cases bring, by table, ready for executemany."""

    criteria: list[tuple[Any, ...]]
    findings: list[tuple[Any, ...]]
    verdicts: list[tuple[Any, ...]]
    checks: list[tuple[Any, ...]]
    questions: list[tuple[Any, ...]]
    requests: list[tuple[Any, ...]]
    judgments: list[tuple[Any, ...]]
    score_results: list[tuple[Any, ...]]
    scores: list[tuple[Any, ...]]
    labels: list[tuple[Any, ...]]
    flips: list[tuple[Any, ...]]
    tallies: dict[tuple[int, int], int]

    @classmethod
    def empty(cls) -> "Rows":
        return cls([], [], [], [], [], [], [], [], [], [], [], {})


class RunKeys(NamedTuple):
    """The integers a run's rows refer to: the run, its judge, and each rubric by hash and metric by id."""

    run: int
    judge: int
    rubrics: dict[str, int]
    metrics: dict[str, int]


def case_rows(rows: Rows, keys: RunKeys, known: Known, case: Case, case_key: int, result: CaseResult, now: str) -> None:
    """Add one case's rows. The case and its id are written before, for their keys come from the store."""
    texts: dict[int, str] = {}
    for exchange in result.exchanges:
        _exchange(rows, keys, known, case_key, exchange, texts)
    for i, check in enumerate(result.checks):
        rubric = _check(rows, keys, known, case_key, check, texts)
        if result.repeats:
            statuses = [repeat[i] for repeat in result.repeats]
            if len(set(statuses)) > 1:
                rows.flips.append((keys.run, case_key, rubric, compact(statuses)))
    for score in result.scores:
        _score(rows, keys, known, case_key, score)
    for rubric_id, label in (case.expected or {}).items():
        rows.labels.append((case.id, rubric_id, label.status, label.source, label.reviewer, label.note, now))


def _check(rows: Rows, keys: RunKeys, known: Known, case_key: int, check: Check, texts: dict[int, str]) -> int:
    criterion, evidence, p = None, check.evidence, check.probabilities
    if check.criterion is not None:
        criterion, new = known.text(check.criterion)
        if new:
            rows.criteria.append((criterion, check.criterion))
    # The probabilities of a check of one question are its answer's, whose text is at hand.
    probabilities = None if p is None else texts.get(id(p)) or compact(p)
    finding = key63(f"{criterion}\x1f{probabilities}\x1f{check.confidence}\x1f{evidence}")
    rows.findings.append((case_key, finding, criterion, probabilities, check.confidence, evidence))
    verdict, new = known.verdict(check.verdict)
    status = STATUS_CODES[check.verdict.status]
    if new:
        rows.verdicts.append((verdict, status, check.verdict.outcome, check.verdict.rule, check.verdict.reason))
    rubric = keys.rubrics[check.rubric.sha256]
    rows.checks.append((keys.run, case_key, rubric, status, int(check.critical_failure), finding, verdict))
    tally = (rubric, status)
    rows.tallies[tally] = rows.tallies.get(tally, 0) + 1
    return rubric


def _exchange(
    rows: Rows, keys: RunKeys, known: Known, case_key: int, exchange: Exchange, texts: dict[int, str]
) -> None:
    kind, message = exchange.failure or (None, None)
    state = bytes.fromhex(exchange.state_sha256)
    rows.requests.append(
        (exchange.id, keys.run, case_key, keys.judge, state_key(state), state, exchange.repeat, exchange.model,
         exchange.asked_at or "", exchange.latency_ms, exchange.attempts, exchange.input_tokens,
         exchange.output_tokens, exchange.cost_usd, exchange.request_id, kind, message)
    )  # fmt: skip
    for sha, answer in exchange.answers.items():
        question = question_key(sha)
        if known.first(question):
            rows.questions.append((question, sha, exchange.questions[sha].wire))
        probabilities = texts[id(answer.probabilities)] = compact(answer.probabilities)
        rows.judgments.append((exchange.id, question, _answer(probabilities, answer)))


def _answer(probabilities: str, answer: Answer) -> str:
    """The answer's JSON text, around the text of its probabilities."""
    confidence = "" if answer.confidence is None else f',"confidence":{answer.confidence!r}'
    score = "" if answer.score is None else f',"score":{answer.score!r}'
    return f'{{"probabilities":{probabilities}{confidence}{score}}}'


def _score(rows: Rows, keys: RunKeys, known: Known, case_key: int, score: MetricResult) -> None:
    breakdown = score.breakdown_json()
    passed = None if score.passed is None else int(score.passed)
    body = (score.status, score.score, passed, int(score.strict), score.threshold, score.confidence, score.reason,
            breakdown)  # fmt: skip
    key = key63(f"s{body!r}")
    if known.first(key):
        rows.score_results.append((key, *body))
    rows.scores.append((keys.run, case_key, keys.metrics[score.metric_id], key))


def case_content(case: Case) -> tuple[bytes, str]:
    """A case's hash and its body as stored."""
    body = canonical(case_body(case))
    return sha256(body.encode()).digest(), body
