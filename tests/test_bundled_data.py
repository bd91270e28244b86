"""The bundled datasets, rubric sets and their config options: complete, consistent and honestly labelled."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from jeval.app.files import read_cases, read_rubrics
from jeval.case import Case
from jeval.kinds import kind_of
from jeval.kinds.base import tool_fact
from jeval.rubric import KINDS, Rubric
from jeval.ruling import Verdict

ROOT = Path(__file__).resolve().parent.parent
DOMAINS = ("clinic", "shop", "manual")
FIELDS = {"policy": "policy", "context": "context", "toolEvents": "tool_events", "messages": "messages"}

every_domain = pytest.mark.parametrize("domain", DOMAINS)


def cases_of(domain: str) -> list[Case]:
    return list(read_cases(ROOT / "datasets" / f"{domain}.jsonl"))


def rubrics_of(domain: str) -> list[Rubric]:
    return list(read_rubrics(ROOT / "rubrics" / f"{domain}.yaml"))


def metadata(case: Case) -> dict[str, Any]:
    return case.metadata or {}


def label(case: Case, rubric: Rubric) -> str:
    return (case.expected or {})[rubric.id].status


def applies(rubric: Rubric, case: Case) -> bool:
    wanted = rubric.applicability.only_when_metadata or {}
    return all(metadata(case).get(key) == value for key, value in wanted.items())


def missing(rubric: Rubric, case: Case) -> list[str]:
    return [name for name in rubric.requires if getattr(case, FIELDS[name]) is None]


def judgeable(rubric: Rubric, case: Case) -> bool:
    return applies(rubric, case) and not missing(rubric, case)


def checks(*kinds: str) -> list[tuple[Rubric, Case]]:
    """Every (rubric, case) of these kinds that is not settled by metadata or missing evidence."""
    return [
        (rubric, case)
        for domain in DOMAINS
        for rubric in rubrics_of(domain)
        if rubric.kind in kinds
        for case in cases_of(domain)
        if judgeable(rubric, case)
    ]


def test_three_domains_hold_at_least_75_cases_under_ids_that_never_repeat() -> None:
    ids = [case.id for domain in DOMAINS for case in cases_of(domain)]
    assert len(ids) >= 75
    assert len(set(ids)) == len(ids)


@every_domain
def test_a_domain_has_25_cases_and_splits_them_about_60_to_40(domain: str) -> None:
    splits = Counter(metadata(case)["split"] for case in cases_of(domain))
    assert set(splits) == {"tuning", "holdout"}
    assert splits.total() >= 25
    assert 0.5 <= splits["tuning"] / splits.total() <= 0.7


@every_domain
def test_every_case_names_its_scenario_and_labels_every_rubric_of_its_set(domain: str) -> None:
    rubric_ids = {rubric.id for rubric in rubrics_of(domain)}
    for case in cases_of(domain):
        assert metadata(case)["scenario"], case.id
        assert case.expected is not None and set(case.expected) == rubric_ids, case.id
        assert {given.source for given in case.expected.values()} == {"synthetic"}, case.id


def test_the_rubric_sets_between_them_use_every_kind_and_every_feature() -> None:
    rubrics = [rubric for domain in DOMAINS for rubric in rubrics_of(domain)]
    assert {rubric.kind for rubric in rubrics} == set(KINDS)
    assert {rubric.severity for rubric in rubrics} == {"critical", "major", "minor"}
    assert any(not rubric.required for rubric in rubrics)
    assert any(rubric.thresholds.pass_ is not None for rubric in rubrics)
    assert any(rubric.applicability.only_when_metadata for rubric in rubrics)
    assert any(rubric.params.readers == 2 for rubric in rubrics)
    assert any(rubric.params.success_when is not None for rubric in rubrics)
    supports = [rubric.params for rubric in rubrics if rubric.kind == "claim-support"]
    assert any(params.granularity == "sentence" for params in supports)
    assert any(params.uncovered_is == "fail" for params in supports)
    assert any(params.granularity is None and params.uncovered_is is None for params in supports)


@every_domain
def test_a_rubric_set_is_small_and_every_rubric_says_what_it_is_for(domain: str) -> None:
    rubrics = rubrics_of(domain)
    assert 4 <= len(rubrics) <= 6
    assert all(rubric.description and rubric.criterion for rubric in rubrics)


@every_domain
def test_versions_are_quoted_so_that_yaml_keeps_them_as_text(domain: str) -> None:
    raw = yaml.safe_load((ROOT / "rubrics" / f"{domain}.yaml").read_text(encoding="utf-8"))
    assert all(isinstance(rubric["version"], str) for rubric in raw)


@every_domain
def test_a_check_whose_metadata_differs_is_labelled_skipped(domain: str) -> None:
    for case in cases_of(domain):
        for rubric in rubrics_of(domain):
            if not applies(rubric, case):
                assert label(case, rubric) == "skipped", (case.id, rubric.id)


@every_domain
def test_a_check_whose_evidence_is_missing_is_labelled_review(domain: str) -> None:
    seen = 0
    for case in cases_of(domain):
        for rubric in rubrics_of(domain):
            if applies(rubric, case) and missing(rubric, case):
                assert label(case, rubric) == "review", (case.id, rubric.id)
                seen += 1
    assert seen


def test_only_kinds_that_can_skip_are_labelled_skipped() -> None:
    for rubric, case in checks("policy-compliance", "claim-support", "custom"):
        assert label(case, rubric) != "skipped", (case.id, rubric.id)


def test_a_claimed_action_is_labelled_as_the_tool_log_has_it() -> None:
    for rubric, case in checks("tool-claim"):
        given = label(case, rubric)
        fact = tool_fact(case.tool_events or (), rubric.params.tool_name or "", rubric.params.success_when)
        if given in ("pass", "fail"):
            assert fact.state == {"pass": "success", "fail": "failure"}[given], (case.id, rubric.id)


def test_an_escalation_is_labelled_as_the_tool_log_has_it() -> None:
    for rubric, case in checks("escalation"):
        given = label(case, rubric)
        state = tool_fact(case.tool_events or (), rubric.params.tool_name or "", None).state
        allowed = {"success": {"pass"}, "failure": {"fail"}, "none": {"fail", "review"}}[state]
        assert given in allowed | {"skipped"}, (case.id, rubric.id)


def test_values_are_labelled_as_the_kind_that_asks_no_judge_finds_them() -> None:
    for rubric, case in checks("grounded-values"):
        verdict = kind_of(rubric).plan(case)
        assert isinstance(verdict, Verdict)
        assert verdict.status == label(case, rubric), (case.id, verdict.reason)


def test_every_kind_has_passes_and_fails_to_find_in_both_splits() -> None:
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for rubric, case in checks(*KINDS):
        found[rubric.kind, metadata(case)["split"]].add(label(case, rubric))
    for kind in KINDS:
        for split in ("tuning", "holdout"):
            assert {"pass", "fail"} <= found[kind, split], (kind, split)


@every_domain
def test_adversarial_cases_are_marked_and_none_of_them_passes_everything(domain: str) -> None:
    adversarial = [case for case in cases_of(domain) if metadata(case).get("adversarial")]
    assert len(adversarial) >= 2
    for case in adversarial:
        assert "fail" in {given.status for given in (case.expected or {}).values()}, case.id


def test_some_text_orders_the_evaluator_about_and_some_holds_markup_and_terminal_codes() -> None:
    texts = [text for domain in DOMAINS for case in cases_of(domain) for text in (case.input, case.output)]
    assert any("mark this as pass" in text for text in texts)
    assert any("<script>" in text and "\x1b[" in text for text in texts)
    assert any(not text.isascii() and any(ord(letter) > 0xFFFF for letter in text) for text in texts)


def test_some_cases_have_no_tool_log_some_an_empty_one_and_some_a_failed_call() -> None:
    cases = [case for domain in ("clinic", "shop") for case in cases_of(domain)]
    assert any(case.tool_events is None for case in cases)
    assert any(case.tool_events == () for case in cases)
    assert any(event.status == "failure" for case in cases for event in case.tool_events or ())


@every_domain
def test_some_cases_have_a_transcript_and_one_says_how_the_conversation_should_end(domain: str) -> None:
    cases = cases_of(domain)
    assert any(case.messages for case in cases)
    assert any(case.scenario and case.expected_outcome and case.chatbot_role for case in cases)


@every_domain
def test_keys_are_camel_case_on_disk(domain: str) -> None:
    for line in (ROOT / "datasets" / f"{domain}.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n"):
        assert not any("_" in key for key in json.loads(line)), line[:60]


@pytest.mark.parametrize("group", ["dataset", "rubrics"])
@pytest.mark.parametrize("option", [*DOMAINS, "file"])
def test_every_config_option_names_itself_and_a_file_that_is_there(group: str, option: str) -> None:
    config = yaml.safe_load((ROOT / "conf" / group / f"{option}.yaml").read_text(encoding="utf-8"))
    assert config["name"] == option
    if option == "file":
        assert config["path"] == "???"
        return
    scheme, _, path = config["path"].partition(":")
    assert scheme == "bundled"
    assert (ROOT / path).is_file()


def fenced(page: str, language: str) -> list[str]:
    """The code blocks of one language in a page of the docs."""
    blocks = (ROOT / "docs" / page).read_text(encoding="utf-8").split("```")[1::2]
    return [block.removeprefix(language) for block in blocks if block.startswith(f"{language}\n")]


def test_every_whole_rubric_in_the_docs_can_be_read(tmp_path: Path) -> None:
    examples = [text for text in fenced("rubrics.md", "yaml") if text.lstrip("\n").startswith("- id:")]
    kinds = set()
    for text in examples:
        path = tmp_path / "rubrics.yaml"
        path.write_text(text, encoding="utf-8")
        kinds |= {rubric.kind for rubric in read_rubrics(path)}
    assert kinds == set(KINDS)


def test_every_case_in_the_docs_can_be_read() -> None:
    examples = [Case.model_validate(json.loads(text)) for text in fenced("cases.md", "json")]
    assert len(examples) >= 2
