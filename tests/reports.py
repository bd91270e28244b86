"""Overviews and checks for tests of what is made of them."""

from typing import Any

from jeval.report.overview import STATUSES, CheckLine, Overview, RubricLine, ScoreLine

# Markup of every sort, a command, a terminal's escapes, half a character, directions turned around.
HOSTILE = (
    "</testcase>]]><!--&amp;\x00\x1b[2J\ud800\ufffe\r\n::error::gotcha%0A\u202e"
    "|`a`|*b*_c_[d](http://evil.invalid)<img src=x onerror=1>@someone www.evil.invalid &lt; \\| a@b.invalid"
)


def rubric_line(name: str = "tone", required: bool = True, severity: str = "major", **counts: int) -> RubricLine:
    given = {"pass" if key == "passed" else key: n for key, n in counts.items()}
    return RubricLine(name, "1.0.0", "custom", severity, required, dict.fromkeys(STATUSES, 0) | given)


def check_line(case: str = "case-1", status: str = "fail", **more: Any) -> CheckLine:
    body: dict[str, Any] = {
        "case_id": case,
        "rubric_id": "tone",
        "rubric_version": "1.0.0",
        "kind": "custom",
        "severity": "major",
        "required": True,
        "status": status,
        "outcome": "unacceptable",
        "probabilities": {"acceptable": 0.2, "unacceptable": 0.8},
        "confidence": 0.6,
        "reason": "p(unacceptable) 0.8 ≥ fail 0.5",
        "rule": "fail-threshold",
        "criterion": "It is polite.",
        "evidence": {},
    }
    return CheckLine(**{**body, **more})


def overview(*rubrics: RubricLine, scores: tuple[ScoreLine, ...] = (), **more: Any) -> Overview:
    body: dict[str, Any] = {
        "id": "20260101-000000-abcdef",
        "name": None,
        "status": "complete",
        "exit_code": 0,
        "started_at": "2026-01-01T00:00:00.000Z",
        "finished_at": "2026-01-01T00:00:09.000Z",
        "dataset": "orchard",
        "cases": 4,
        "evaluated": 4,
        "thresholds": "default",
        "threshold_pass": 0.75,
        "threshold_fail": 0.5,
        "judge": "jev",
        "model": "jev-1.13.0",
        "simulated": False,
        "requests": 4,
        "asked": 4,
        "reused": 0,
        "oldest_reused_at": None,
        "input_tokens": None,
        "output_tokens": None,
        "cost_usd": None,
        "wall_s": 9.0,
        "stopped_because": None,
        "sweep_id": None,
        "tags": {},
        "rubrics": rubrics,
        "scores": scores,
    }
    return Overview(**{**body, **more})
