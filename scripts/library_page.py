"""The generated parts of docs/metrics-library.md: what each ready metric asks, and its examples."""

import json
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
ROLES = {"user": "User", "assistant": "Assistant"}


def entry(name: str) -> str:
    """The fields, the questions and the two examples of a ready metric, as Markdown."""
    [metric] = yaml.safe_load((ROOT / "metrics" / f"{name}.yaml").read_text(encoding="utf-8"))
    seen = metric.get("fields") or metric["turns"]
    names = ", ".join(f"`{field}`" for field in seen)
    head = f"*Sees:* {names}{' of the whole conversation' if 'turns' in metric else ''}."
    if metric.get("strict"):
        head += " *Strict:* every question must pass."
    else:
        head += f" *Passes from:* {metric['threshold']:g}."
    lines = [head, "", *(_question(number, q) for number, q in enumerate(metric["questions"], 1))]
    return "\n".join([*lines, "", *_examples(name)])


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


def _examples(name: str) -> list[str]:
    lines = []
    for line in (ROOT / "datasets" / "library.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
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
