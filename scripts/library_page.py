"""The generated parts of docs/metrics-library.md: what each ready metric and rubric asks, and its examples."""

import json
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
OUTCOMES = {"acceptable": "Passes", "unacceptable": "Fails", "insufficient": "For review"}
ROLES = {"user": "User", "assistant": "Assistant"}


def entry(name: str, *rubrics: str) -> str:
    """The fields, the questions and the two examples of a ready metric, and its rubrics, as Markdown.

    A rubric is called as the metric is unless names are given.
    """
    [metric] = yaml.safe_load((ROOT / "metrics" / f"{name}.yaml").read_text(encoding="utf-8"))
    seen = metric.get("fields") or metric["turns"]
    names = ", ".join(f"`{field}`" for field in seen)
    head = f"*Sees:* {names}{' of the whole conversation' if 'turns' in metric else ''}."
    if metric.get("strict"):
        head += " *Strict:* every question must pass."
    else:
        head += f" *Passes from:* {metric['threshold']:g}."
    lines = [head, "", *(_question(number, q) for number, q in enumerate(metric["questions"], 1))]
    return "\n".join([*lines, "", *_examples(name), "", *_rubrics(rubrics or (name,))])


def _question(number: int, question: dict[str, Any]) -> str:
    weight = f" (weight {question['weight']:g})" if "weight" in question else ""
    if "noul" in question:
        return f"{number}. {question['noul']}{weight}"
    if "score" in question:
        return f"{number}. {question['score']}{weight} {' → '.join(question['levels'])}"
    options = ", ".join(
        f"`{name}` {'n/a' if credit is None else f'{credit:g}'}" for name, credit in question["options"].items()
    )
    return f"{number}. {question['choice']}{weight} {options}"


def _rubrics(names: tuple[str, ...]) -> list[str]:
    known = {one["id"]: one for one in yaml.safe_load((ROOT / "rubrics" / "library.yaml").read_text(encoding="utf-8"))}
    lines = []
    for name in names:
        rubric = known[name]
        lines += [f"Rubric `{name}` ({', '.join(_nature(rubric))}): {rubric['criterion']}", ""]
        lines += [f"- *{word}:* {rubric['outcomes'][key]}" for key, word in OUTCOMES.items() if "outcomes" in rubric]
        lines += [""] if "outcomes" in rubric else []
        labels = [f"{_expected(case, name)} `{case['id']}`" for case in _cases() if name in case["expected"]]
        lines += [f"It {' and '.join(labels)}.", ""]
    return lines[:-1]


def _nature(rubric: dict[str, Any]) -> list[str]:
    requires = " and ".join(f"`{field}`" for field in rubric.get("applicability", {}).get("requires", ()))
    return [
        rubric["kind"],
        rubric.get("severity", "major"),
        *([] if rubric.get("required", True) else ["optional"]),
        *([f"for cases with {requires}"] if requires else []),
    ]


def _expected(case: dict[str, Any], name: str) -> str:
    return {"pass": "passes", "fail": "fails"}[case["expected"][name]["status"]]


def _cases() -> list[dict[str, Any]]:
    lines = (ROOT / "datasets" / "library.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _examples(name: str) -> list[str]:
    lines = []
    for case in _cases():
        if case["metadata"]["metric"] == name:
            verdict = "Passes" if case["metadata"]["should"] == "pass" else "Fails"
            lines += [f"{verdict} (`{case['id']}`):", "", *_quoted(case), ""]
    return lines[:-1]


def _quoted(case: dict[str, Any]) -> list[str]:
    said = [(ROLES[m["role"]], m["content"]) for m in case.get("messages", ())]
    said = said or [("User", case["input"]), ("Assistant", case["output"])]
    for passage in case.get("context", ()):
        said.insert(0, ("Passage", passage["content"]))
    for event in reversed(case.get("toolEvents", ())):
        what = event["error"] if event["status"] == "failure" else json.dumps(event["output"], ensure_ascii=False)
        said.insert(0, ("Tool", f"`{event['name']}` {event['status']}: `{what}`"))
    return [f"> **{who}:** {_one_line(text)}  " for who, text in said]


def _one_line(text: str) -> str:
    return " / ".join(part.strip() for part in text.splitlines())
