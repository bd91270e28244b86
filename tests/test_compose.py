"""From a command line to a configuration: values arrive as typed, typos are answered with what there is."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.app.compose import OPTIONAL, compose, count_jobs, overrides_of
from jeval.app.settings import RunSettings
from jeval.errors import ConfigError


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def parsed(argument: str) -> Any:
    """The value that Hydra and OmegaConf make of one argument."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from omegaconf import OmegaConf

    (override,) = OverridesParser.create().parse_overrides(overrides_of([argument, "dataset=x"])[-2:-1])
    return OmegaConf.to_container(OmegaConf.create({"x": override.value()}), resolve=True)["x"]


HARD = [
    "NULL",
    "Null",
    "plain",
    "two words",
    "it's",
    'say "x"',
    "a,b",
    "(a)",
    "[a]",
    "{a}",
    "a=b",
    "a:b",
    "${HOME}",
    "$HOME",
    "???",
    "${oc.env:PATH}",
    "\\",
    "a\\b",
    "a\\'b",
    "end\\",
    "\\\\x\\\\",
    "#no comment",
    "a#b",
    "tab\there",
    "é ü 漢字",
    "1.10",
    "007",
    "1e3",
    "0x10",
    "true",
    "False",
    "inf",
    "nan",
    "-1",
    "+1",
    "a|b",
    "a;b",
    "a&b",
    "*",
    "!x",
    "`x`",
    "<b>",
    "choice(a,b)",
    "range(1,3)",
    "\u202e",
    "/a b/c,d/(e).jsonl",
    "~/x",
    "a\\${b}",
    "$${b}",
    "${",
    "}",
    "x${y}\\",
    "'",
    '"',
    "\u2028",
    "a'b,c'd",
    "¡",
    "漢字",
    "ab-1.10_x/y",
    "v1.10",
    "1.10.2",
    ".5",
    "..",
    "./x",
]


@pytest.mark.parametrize("text", [text for text in HARD if text[:1] not in "'\""])
def test_texts_arrive_as_they_were_typed(text: str) -> None:
    assert parsed(f"name={text}") == text


@pytest.mark.parametrize("key", ["dataset.path", "store", "judge.model", "judge.base_url", "gate.baseline"])
def test_whatever_holds_a_text_is_read_as_one(key: str) -> None:
    for text in ("a b", "1.10", "${HOME}", "it's, (so)"):
        assert parsed(f"{key}={text}") == text


@pytest.mark.parametrize("text", [text for text in HARD if text[:1] not in "'\""])
def test_tags_and_metadata_hold_any_text(text: str) -> None:
    typed = {"true": True, "False": False, "-1": -1}
    assert parsed(f"tags.note={text}") == typed.get(text, text)


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30))
def test_any_text_at_all_names_a_run_or_a_file(text: str) -> None:
    if text == "null" or text[0] in "'\"":
        return
    assert parsed(f"name={text}") == text


@pytest.mark.parametrize("text", ["'quoted, by hand'", '"quoted, by hand"'])
def test_a_value_quoted_by_hand_is_left_to_hydra(text: str) -> None:
    assert parsed(f"name={text}") == "quoted, by hand"


def test_null_stays_nothing() -> None:
    assert parsed("name=null") is None


@pytest.mark.parametrize("text", ["1", "-3", "0", "1.5", "0.25", "2.0", "true", "null", '"x"'])
def test_tags_and_metadata_have_values_of_every_type(text: str) -> None:
    assert parsed(f"tags.x={text}") == json.loads(text)


@pytest.mark.parametrize("text", ["1.10", "007", "1e3", ".5", "12345678901234567", "0x1F", "1_000"])
def test_a_number_stays_a_text_where_something_of_what_was_typed_would_be_lost(text: str) -> None:
    assert parsed(f"dataset.where.version={text}") == text


def test_open_maps_need_no_plus(root: Path) -> None:
    found = compose(["tags.x=1", "dataset.where.split=holdout", "gate.min_scores.m=0.5", "tags.a.b=deep"], root)
    assert (found.tags.x, found.tags.a.b, found.dataset.where.split) == (1, "deep", "holdout")
    assert found.gate.min_scores.m == 0.5


def test_an_open_map_may_be_given_whole(root: Path) -> None:
    found = compose(["tags={a: 1, b: two}", "dataset.where={split: tuning}"], root)
    assert dict(found.tags) == {"a": 1, "b": "two"}
    assert dict(found.dataset.where) == {"split": "tuning"}


def test_a_path_chooses_the_group_option_for_files(root: Path) -> None:
    found = compose(["dataset.path=c.jsonl", "rubrics.path=r.yaml", "metrics.path=m.yaml"], root)
    assert (found.dataset.name, found.rubrics.name, found.metrics.name) == ("file", "file", "file")
    assert (found.dataset.path, found.rubrics.path, found.metrics.path) == ("c.jsonl", "r.yaml", "m.yaml")
    kept = compose(["dataset=shop", "dataset.path=c.jsonl"], root)
    assert (kept.dataset.name, kept.rubrics.name) == ("shop", "shop")


@pytest.mark.parametrize("group", ["rubrics", "metrics"])
def test_several_files_may_be_named_in_a_list(root: Path, group: str) -> None:
    found = compose([f"{group}.path=[a.yaml, b c.yaml,1.10,${{HOME}}.yaml]", "dataset.path=x", "rubrics=file"], root)
    assert list(found[group].path) == ["a.yaml", "b c.yaml", "1.10", "${HOME}.yaml"]
    quoted = compose([f"{group}.path=['a,b.yaml',\"c's.yaml\"]", "dataset.path=x", "rubrics=file"], root)
    assert list(quoted[group].path) == ["a,b.yaml", "c's.yaml"]


def test_a_path_with_commas_and_brackets_is_one_path_where_there_is_such_a_file_or_no_list(root: Path) -> None:
    (root / "[a,b]").touch()
    for text in ("[a,b]", "a,b c.yaml", "[a],b", "x[1,2].yaml"):
        assert parsed(f"rubrics.path={text}") == text


def test_a_bundled_dataset_brings_its_rubrics(root: Path) -> None:
    assert [compose([f"dataset={name}"], root).rubrics.name for name in ("clinic", "shop", "manual")] == [
        "clinic",
        "shop",
        "manual",
    ]


def test_the_defaults_are_the_offline_judge_the_strict_gate_and_the_default_profile(root: Path) -> None:
    found = compose([], root)
    assert (found.judge.name, found.gate.name, found.thresholds.name, found.metrics.name) == (
        "offline", "strict", "default", "none",
    )  # fmt: skip
    assert (found.thresholds["pass"], found.thresholds.fail) == (0.75, 0.5)


def refusal(root: Path, *arguments: str) -> str:
    with pytest.raises(ConfigError) as caught:
        compose(arguments, root)
    text = str(caught.value)
    assert "\n" not in text and "Traceback" not in text
    return text


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("thresholds=nope", ["thresholds=nope", "default", "lenient", "strict"]),
        ("judge=jevv", ["did you mean judge=jev?", "offline", "openrouter"]),
        ("dataset=clnic", ["did you mean dataset=clinic?", "shop", "dataset.path=FILE"]),
        ("rubrics=x", ["clinic", "rubrics.path=FILE"]),
        ("gate=strickt", ["did you mean gate=strict?", "off"]),
        ("metrics=x", ["none", "metrics.path=FILE"]),
        ("dataset.pth=x", ["did you mean dataset.path?", "dataset.limit"]),
        ("judge.max_attemps=3", ["did you mean judge.max_attempts?"]),
        ("thresholds.pas=0.5", ["did you mean thresholds.pass?", "thresholds.fail"]),
        ("nmae=x", ["did you mean name?"]),
        ("zzz=1", ["there are: dataset, rubrics, metrics, thresholds, judge, gate, explain, name, tags, store"]),
        ("judge.base_ulr=x", ["did you mean judge.base_url?"]),
        ("dataset.were=x", ["did you mean dataset.where?"]),
    ],
)
def test_a_typo_is_answered_with_what_there_is(root: Path, argument: str, words: list[str]) -> None:
    text = refusal(root, argument)
    assert text.startswith(argument.partition("=")[0])
    assert all(word in text for word in words), text


@pytest.mark.parametrize("group", ["dataset", "rubrics", "metrics", "thresholds", "judge", "gate"])
def test_a_list_for_a_group_is_refused_and_pointed_to_a_sweep(root: Path, group: str) -> None:
    assert f"-m {group}=" in refusal(root, f"{group}=[strict,default]")


@pytest.mark.parametrize(
    "argument",
    ["=1", "name='open", "judge=null", "thresholds.pass", "name=", "dataset.where.=1", "+", "~", ""],
)
def test_what_is_no_override_is_refused_in_one_line_or_taken(root: Path, argument: str) -> None:
    try:
        compose([argument], root)
    except ConfigError as error:
        assert "\n" not in str(error) and "LexerNoViableAlt" not in str(error)


def test_an_override_that_is_none_is_shown_as_it_was_typed(root: Path) -> None:
    assert refusal(root, "tags.a b=1").startswith("tags.a b=1: is no override")


def test_a_project_s_own_conf_adds_to_ours_and_shadows_it(root: Path) -> None:
    for path, text in (
        ("thresholds/mine.yaml", "name: mine\npass: 0.8\nfail: 0.6\n"),
        ("thresholds/strict.yaml", "name: strict\npass: 0.99\nfail: 0.1\n"),
        (
            "dataset/ours.yaml",
            "name: ours\npath: ours.jsonl\nlimit: null\nsample: null\nseed: 0\nwhere: {}\n",
        ),
        ("config.yaml", "somebody: else's"),
    ):
        (root / "conf" / path).parent.mkdir(parents=True, exist_ok=True)
        (root / "conf" / path).write_text(text)
    found = compose(["thresholds=mine", "dataset=ours", "rubrics=clinic"], root)
    assert (found.thresholds["pass"], found.dataset.path, found.rubrics.name) == (0.8, "ours.jsonl", "clinic")
    assert compose(["thresholds=strict"], root).thresholds["pass"] == 0.99
    assert compose(["thresholds=lenient"], root).thresholds["pass"] == 0.6
    assert "mine" in refusal(root, "thresholds=nope") and "lenient" in refusal(root, "thresholds=nope")


def test_a_broken_file_in_a_project_s_conf_is_refused_by_name(root: Path) -> None:
    (root / "conf" / "thresholds").mkdir(parents=True)
    (root / "conf" / "thresholds" / "mine.yaml").write_text("name: [unclosed\n")
    assert "mine" in refusal(root, "thresholds=mine")


def test_the_jobs_of_a_sweep_are_counted(root: Path) -> None:
    assert count_jobs(["thresholds=default,strict", "judge.repeat=1,2,3", "name=x"]) == 6
    assert count_jobs(["name=x", "-m"]) == 1
    assert count_jobs(overrides_of(["name=a,b"], sweep=True)) == 2
    assert count_jobs(overrides_of(["name=a,b"])) == 1


def test_a_setting_that_a_project_s_own_option_leaves_out_can_be_given_all_the_same(root: Path) -> None:
    (root / "conf" / "dataset").mkdir(parents=True)
    (root / "conf" / "dataset" / "ours.yaml").write_text("name: ours\npath: ours.jsonl\n")
    found = compose(["dataset=ours", "rubrics=clinic", "dataset.limit=3", "dataset.where.a=1", "judge.model=x"], root)
    assert (found.dataset.limit, found.dataset.where.a, found.judge.model) == (3, 1, "x")
    assert "did you mean dataset.limit?" in refusal(root, "dataset=ours", "rubrics=clinic", "dataset.limt=3")


def test_what_may_be_left_out_is_what_has_a_default() -> None:
    for group, names in OPTIONAL.items():
        model: Any = RunSettings.model_fields[group].annotation
        fields = model.model_fields.items()
        assert set(names) == {f.serialization_alias or name for name, f in fields if not f.is_required()}, group
