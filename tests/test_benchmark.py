"""A run held against labels: which figures, which disagreements first, and what speaks against believing them."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.benchmark import Benchmark, LabelFacts, benchmark
from jeval.calibration import calibration
from jeval.comparability import RunFacts
from jeval.confusion import LABELS, Confusion
from jeval.kinds import kind_of
from jeval.label import SOURCES, CheckLabel, Settled
from jeval.labelled import LabelledCheck, labelled_check
from jeval.rubric import Rubric
from jeval.ruling import STATUSES
from tests.samples import case, check_of, rubric

TONE, BOOKING = rubric("custom", id="tone"), rubric("custom", id="booking", severity="critical")


def facts(**changes: Any) -> RunFacts:
    body: dict[str, Any] = {
        "id": "run-1", "name": "monday", "status": "complete", "dataset": "orchard", "dataset_sha256": "d",
        "thresholds": "default", "threshold_pass": 0.75, "threshold_fail": 0.5, "gateway": "jev",
        "model_asked": "jev-latest", "models_served": ("jev-1",), "simulated": False, "checks": 9,
    }  # fmt: skip
    return RunFacts(**{**body, **changes})


def labelled(status: str, expected: str, p: float = 0.9, of: Rubric = TONE, case_id: str = "c", **more: Any) -> Any:
    """A check with this status, whose leading option has this probability."""
    label = CheckLabel.model_validate({"caseId": case_id, "rubricId": of.id, "expected": expected, **more})
    spread = {"pass": (p, 1 - p, 0.0), "fail": (1 - p, p, 0.0)}.get(status, (0.0, 1 - p, p))
    check = check_of(of, spread)
    return labelled_check(kind_of(of), case(), label, status, check.reason, check.probabilities)  # type: ignore[arg-type]


def held(
    checks: Sequence[LabelledCheck],
    rubrics: Sequence[Rubric] = (TONE, BOOKING),
    *,
    disputed: Sequence[tuple[str, str]] = (),
    stray: dict[str, int] | None = None,
    tuned: str | None = None,
    **changes: Any,
) -> Benchmark:
    settled = {(f"d{i}", name): Settled(None, ()) for i, (_, name) in enumerate(disputed)}
    settled |= {(f"{check.case_id}{i}", check.rubric.id): Settled(check.label, ()) for i, check in enumerate(checks)}
    totals = {one.id: 50 for one in rubrics}
    labels = LabelFacts("labels.jsonl", "s" * 64, settled, stray or {})
    return benchmark(facts(**changes), rubrics, checks, totals, labels, tuned=tuned)


def cautions(found: Benchmark) -> list[str]:
    return [caution.field for caution in found.cautions]


some_checks = st.lists(
    st.builds(
        labelled, st.sampled_from(STATUSES), st.sampled_from(LABELS), st.sampled_from([0.6, 0.8, 1.0]),
        st.sampled_from([TONE, BOOKING]), source=st.sampled_from(SOURCES),
    ),
    max_size=25,
)  # fmt: skip


@given(some_checks)
def test_the_rubrics_add_up_to_all(checks: list[LabelledCheck]) -> None:
    found = held(checks)
    both = [line.confusion.counts for line in found.rubrics]
    for status in STATUSES:
        for label in LABELS:
            parts = sum(counts.get((status, label), 0) for counts in both)
            assert found.overall.confusion.counts.get((status, label), 0) == parts
    assert sum(found.by_source.values()) == len(checks) == found.overall.confusion.n()
    assert found.overall.unlabelled == 100 - len(checks)


@given(some_checks)
def test_what_a_machine_reads_is_json_and_says_the_same(checks: list[LabelledCheck]) -> None:
    found = held(checks)
    body = json.loads(json.dumps(found.as_dict()))
    assert body["overall"]["labelled"] == len(checks)
    table = {(s, e): n for s, counts in body["overall"]["confusion"].items() for e, n in counts.items() if n}
    assert table == {key: n for key, n in found.overall.confusion.counts.items() if n}
    assert body["disagreements_total"] == len(body["disagreements"]) == len(found.disagreements)
    assert [one["rubric_id"] for one in body["rubrics"]] == ["tone", "booking"]
    assert body["overall"]["accuracy"]["value"] == found.overall.confusion.share("accuracy").rate


@given(some_checks)
def test_a_disagreement_is_decided_or_skipped_and_never_a_review_or_an_error(checks: list[LabelledCheck]) -> None:
    found = held(checks)
    expected = [c for c in checks if c.status not in ("review", "error") and c.status != c.expected]
    assert sorted(map(id, found.disagreements)) == sorted(map(id, expected))


def test_the_worst_disagreement_comes_first() -> None:
    ordered = [
        labelled("pass", "fail", 0.8, BOOKING),
        labelled("pass", "fail", 0.99),
        labelled("pass", "fail", 0.8),
        labelled("skipped", "fail"),
        labelled("fail", "pass", 0.6, BOOKING),
        labelled("fail", "pass", 0.99),
        labelled("pass", "review"),
        labelled("skipped", "pass"),
    ]
    assert list(held(ordered[::-1]).disagreements) == ordered


def test_calibration_is_of_all_labelled_probabilities_decided_or_not() -> None:
    checks = [labelled("pass", "pass", 0.9), labelled("review", "fail", 0.7), labelled("fail", "fail", 0.8)]
    fit = held(checks).overall.calibration
    assert fit == calibration([(check.p_fail, check.expected == "fail") for check in checks])  # type: ignore[misc]
    assert fit is not None and fit.n == 3
    assert held([labelled("error", "fail")]).overall.calibration is None


def test_rubrics_without_labels_are_there_with_nothing_known() -> None:
    body = held([labelled("pass", "pass")]).as_dict()
    (_, booking) = body["rubrics"]
    assert (booking["labelled"], booking["unlabelled"], booking["trust"]["level"]) == (0, 50, "unknown")
    assert booking["accuracy"] == {"value": None, "k": 0, "n": 0, "interval_95": None}
    assert booking["kappa"] == {"value": None, "interval_95": None} and booking["calibration"] is None


def test_a_limit_shortens_the_list_and_not_the_count() -> None:
    body = held([labelled("pass", "fail") for _ in range(5)]).as_dict(2)
    assert (body["disagreements_total"], len(body["disagreements"])) == (5, 2)


def enough(source: str = "human") -> list[LabelledCheck]:
    """Labels of which nothing is to be said."""
    return [labelled(said, said, source=source) for said in ("pass", "fail") for _ in range(12)]


def test_of_many_labels_by_people_there_is_nothing_to_warn_of() -> None:
    assert cautions(held(enough())) == []


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        ("simulated", {"simulated": True}),
        ("status", {"status": "running"}),
        ("model", {"models_served": ("jev-1", "jev-2")}),
        ("tuned", {"tuned": "tuned on these very labels"}),
        ("disputed", {"disputed": [("c", "tone")]}),
    ],
)
def test_what_speaks_against_the_figures_is_told(expected: str, changes: dict[str, Any]) -> None:
    assert cautions(held(enough(), **changes)) == [expected]


def test_labels_that_were_made_up_are_told_from_those_of_people() -> None:
    assert [c.message[:26] for c in held(enough("synthetic")).cautions] == ["every label is synthetic, "]
    some = held([*enough(), *enough("synthetic")[:3]])
    assert [c.message[:29] for c in some.cautions] == ["3 of 27 labels are synthetic,"]
    assert list(some.by_source) == ["human", "synthetic"]


def test_labels_that_are_few_or_all_alike_are_told_with_the_rubric() -> None:
    few = held([*enough(), labelled("pass", "pass", of=BOOKING), labelled("fail", "fail", of=BOOKING)])
    assert [(c.field, c.message.endswith("booking")) for c in few.cautions] == [("few", True)]
    alike = held([*enough(), *(labelled("pass", "pass", of=BOOKING) for _ in range(20))])
    assert [(c.field, c.message.endswith("booking (pass)")) for c in alike.cautions] == [("one_value", True)]


def test_a_fail_that_was_skipped_is_told_for_nobody_would_look() -> None:
    assert cautions(held([*enough(), labelled("skipped", "fail")])) == ["skipped"]
    assert cautions(held([*enough(), labelled("error", "fail")])) == ["errors"]


def test_strays_and_disputes_are_counted_by_rubric() -> None:
    found = held(enough(), disputed=[("c", "tone"), ("d", "tone")], stray={"tone": 3, "tome": 1})
    assert [(line.stray, line.disputed) for line in found.rubrics] == [(3, 2), (0, 0)]
    assert (found.overall.stray, found.overall.disputed) == (4, 2)
    assert found.as_dict()["labels_without_check"] == {"tone": 3, "tome": 1}


def test_a_rubrics_table_is_of_its_own_checks() -> None:
    found = held([labelled("pass", "fail"), labelled("fail", "fail", of=BOOKING)])
    assert [line.confusion for line in found.rubrics] == [
        Confusion({("pass", "fail"): 1}), Confusion({("fail", "fail"): 1}),
    ]  # fmt: skip
