"""A run's configuration, checked: what Hydra composed, as frozen models. Hydra itself checks no ranges."""

import json
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError

from jeval.case import _Model
from jeval.errors import ConfigError
from jeval.fingerprint import sha256
from jeval.problems import problems_of
from jeval.rubric import Thresholds

__all__ = [
    "DatasetSettings",
    "FileSettings",
    "GateSettings",
    "JudgeSettings",
    "Profile",
    "RunSettings",
    "settings_of",
]

# A name that looks like a number is a number to YAML and to Hydra.
Name = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, int | float) else value)]
Rate = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False)]
Whole = Annotated[int, Field(ge=0, strict=True)]


class _Settings(_Model):
    model_config = {**_Model.model_config, "alias_generator": None}


class DatasetSettings(_Settings):
    """Which cases."""

    name: Name
    path: str
    limit: Whole | None = None
    """At most this many, from the beginning."""
    sample: Whole | None = None
    """A random choice of this many."""
    seed: Annotated[int, Field(strict=True)] = 0
    """Another seed, another choice."""
    where: dict[str, Any] = {}
    """Only cases whose metadata has these values."""


class FileSettings(_Settings):
    """A named file of rubrics or metrics, or several files, or none."""

    name: Name
    path: str | list[str] | None = None

    @property
    def paths(self) -> list[str]:
        """All its files."""
        return [] if self.path is None else [self.path] if isinstance(self.path, str) else self.path


class Profile(Thresholds):
    """A threshold profile with its name."""

    model_config = {**_Model.model_config, "alias_generator": None}
    name: Name = "custom"

    @property
    def thresholds(self) -> Thresholds:
        return Thresholds(pass_=self.pass_, fail=self.fail)


class JudgeSettings(_Settings):
    """Who answers, how it is reached and how much may be asked."""

    name: Name
    gateway: str
    base_url: str | None = None
    path: str | None = None
    model: str | None = None
    key_env: str | None = None
    """The name of the environment variable that holds the key; never the key."""
    concurrency: Annotated[int, Field(ge=1, le=4096, strict=True)] = 64
    timeout_s: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)] | None = None
    max_attempts: Annotated[int, Field(ge=1, le=100, strict=True)] = 1
    budget_s: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)] | None = None
    usd_per_million_input: Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)] | None = None
    reuse: Literal["always", "never", "only"] = "always"
    repeat: Annotated[int, Field(ge=1, le=1000, strict=True)] = 1
    max_usd: Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)] | None = None
    max_state_tokens: Annotated[int, Field(ge=500, strict=True)] = 32_000

    def identity(self) -> dict[str, Any]:
        """What of a judge can change a check, besides the gateway and the model that it turns out to be."""
        return self.model_dump(include={"repeat", "max_state_tokens"})


class GateSettings(_Settings):
    """What `--ci` lets pass. None means no limit."""

    name: Name
    max_failures: Whole | None = None
    max_critical_failures: Whole | None = None
    max_review_rate: Rate | None = None
    min_decided_coverage: Rate | None = None
    allow_errors: bool = False
    allow_skipped_required: bool = False
    allow_empty_dataset: bool = False
    allow_simulated: bool = False
    min_scores: dict[str, Rate] = {}
    baseline: str | None = None
    """A run: only failures that it did not have count."""
    ignore_flips: bool = False
    """Whether a check that changes status between repeats counts as no failure."""


class ExplainSettings(_Settings):
    """Who writes prose about scores once they are settled; nobody where there is no base_url."""

    name: Name = "none"
    base_url: str | None = None
    model: str | None = None
    key_env: str | None = None
    """The name of the environment variable that holds the key; never the key."""
    which: Literal["failed", "all"] = "failed"
    limit: Whole = 50
    simulated: bool = False
    """Whether scores of the offline judge are explained too."""
    timeout_s: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)] = 60.0
    concurrency: Annotated[int, Field(ge=1, le=64, strict=True)] = 4
    max_tokens: Annotated[int, Field(ge=1, strict=True)] = 400


class RunSettings(_Settings):
    """The whole of a run's configuration."""

    dataset: DatasetSettings
    rubrics: FileSettings
    metrics: FileSettings
    thresholds: Profile
    judge: JudgeSettings
    gate: GateSettings
    explain: ExplainSettings = ExplainSettings()
    name: Name | None = None
    tags: dict[str, Any] = {}
    store: str | None = None
    fingerprint: dict[str, Any] | None = None
    """Hashes of what the files held, in a saved configuration."""

    def saved(self, fingerprint: dict[str, Any]) -> dict[str, Any]:
        """The configuration as kept with a run: all but where it was stored and who explained it."""
        body = self.model_dump(by_alias=True, mode="json", exclude={"store", "fingerprint", "explain"})
        return {**body, "fingerprint": fingerprint}

    def sha256(self, fingerprint: dict[str, Any], gateway: str, model: str) -> str:
        """Hash of all that can change a check: contents of files, not where they lie; no names, no speed."""
        return sha256(
            {
                "thresholds": {"pass": self.thresholds.pass_, "fail": self.thresholds.fail},
                "judge": {**self.judge.identity(), "gateway": gateway, "model": model},
                "fingerprint": fingerprint,
            }
        )


def settings_of(config: dict[str, Any]) -> RunSettings:
    """The settings in a composed configuration. Raises ConfigError naming the override, its value and the remedy."""
    for group in ("dataset", "rubrics", "metrics", "thresholds", "judge", "gate"):
        if not isinstance(config.get(group), dict):
            raise ConfigError(
                f"{group} is {config.get(group)!r:.60}, no group of settings; choose one with {group}=NAME"
            )
    try:
        return RunSettings.model_validate(config)
    except ValidationError as error:
        first, *rest = problems_of(error, RunSettings, "config")
        more = f" (and {len(rest)} more)" if rest else ""
        value = f"={first.value}" if first.value is not None else ""
        raise ConfigError(f"{first.field}{value}: {first.message}; {first.remedy}{more}") from error


def json_text(value: Any) -> str:
    """JSON for a column or a person, keys as given."""
    return json.dumps(value, ensure_ascii=False, default=str)
