"""A run's row in the store: what it was, written before anything is asked."""

import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jeval import __version__
from jeval.app.prepare import Prepared
from jeval.app.settings import json_text
from jeval.question import Judge

__all__ = ["now", "run_columns"]


def now() -> str:
    """The time in UTC, ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def run_columns(
    prepared: Prepared,
    judge: Judge,
    run_id: str,
    overrides: list[str],
    sweep: tuple[str, int] | None,
    root: Path | None,
) -> dict[str, Any]:
    settings, fingerprint = prepared.settings, prepared.fingerprint
    return {
        "id": run_id,
        "name": settings.name,
        "started_at": now(),
        "dataset": settings.dataset.name if settings.dataset.name != "file" else prepared.dataset.path.name,
        "dataset_path": settings.dataset.path,
        "dataset_sha256": prepared.dataset.sha256,
        "cases": prepared.dataset.cases,
        "rubrics": settings.rubrics.name,
        "metrics": settings.metrics.name,
        "thresholds": settings.thresholds.name,
        "threshold_pass": settings.thresholds.pass_,
        "threshold_fail": settings.thresholds.fail,
        "judge": judge.name,
        "gateway": judge.gateway,
        "model_asked": judge.model,
        "simulated": int(judge.simulated),
        "config_yaml": _yaml(settings.saved(fingerprint)),
        "config_sha256": settings.sha256(fingerprint, judge.gateway, judge.model),
        "overrides": json_text(overrides),
        "tags": json_text(settings.tags),
        "jeval_version": __version__,
        "python_version": platform.python_version(),
        "git_commit": _git_commit(root or Path.cwd()),
        "sweep_id": sweep[0] if sweep else None,
        "sweep_position": sweep[1] if sweep else None,
    }


def _yaml(body: dict[str, Any]) -> str:
    import yaml

    return str(yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=120))


def _git_commit(root: Path) -> str | None:
    """The commit the project stands at, or None where it is no checkout.

    Reads git's files: starting git takes longer.
    """
    for folder in (root, *root.parents):
        head = folder / ".git" / "HEAD"
        if not head.is_file():
            continue
        text = head.read_text(errors="replace").strip()
        if not text.startswith("ref: "):
            return text or None
        ref = folder / ".git" / text.removeprefix("ref: ")
        if ref.is_file():
            return ref.read_text().strip() or None
        try:
            found = subprocess.run(
                ["git", "-C", str(folder), "rev-parse", "HEAD"],
                capture_output=True,
                text=True,
                timeout=5,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return found.stdout.strip() or None if found.returncode == 0 else None
    return None
