"""A run's configuration, checked: what Hydra composed, as frozen models. Hydra itself checks no ranges."""

import json
from collections.abc import Callable
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
# Words that YAML reads as truth values, and a command line as words.
Switch = Annotated[
    bool, Field(strict=True), BeforeValidator(lambda value: value == "on" if value in ("on", "off") else value)
]


class _Settings(_Model):
    model_config = {**_Model.model_config, "alias_generator": None}


class DatasetSettings(_Settings):
    """Which cases. `where` is applied first, then `sample`, then `limit`."""

    name: Name
    """What the store calls the dataset."""
    path: str
    """A JSONL file of cases."""
    limit: Whole | None = None
    """At most so many cases, from the beginning."""
    sample: Whole | None = None
    """A random choice of so many cases; it does not depend on their order in the file."""
    seed: Annotated[int, Field(strict=True)] = 0
    """Another seed, another `sample`."""
    where: dict[str, Any] = {}
    """`dataset.where.KEY=VALUE`: only cases whose metadata has that value under that key; several must all hold."""


class FileSettings(_Settings):
    """A named file of rubrics or metrics, or several files, or none."""

    name: Name
    """What the store calls it."""
    path: str | list[str] | None = None
    """A YAML or JSON file, a list of files, or null for none."""

    @property
    def paths(self) -> list[str]:
        """All its files."""
        return [] if self.path is None else [self.path] if isinstance(self.path, str) else self.path


class Profile(Thresholds):
    """A threshold profile with its name."""

    model_config = {**_Model.model_config, "alias_generator": None}
    name: Name = "custom"
    """What the store calls the profile."""

    @property
    def thresholds(self) -> Thresholds:
        return Thresholds(pass_=self.pass_, fail=self.fail)


class JudgeSettings(_Settings):
    """Who answers, how it is reached and how much may be asked."""

    name: Name
    """What the store calls the judge."""
    gateway: str
    """The door: offline, jev, vercel, openrouter, nanogpt, local, openai, or a name of your own."""
    protocol: Literal["systemone", "chat"] | None = None
    """What is spoken there: System One, or the chat completions of an OpenAI-compatible endpoint. Null: the gateway's
    own, else systemone."""
    base_url: str | None = None
    """Where the server is: http or https. Plain http only on this machine, or where no key is sent."""
    path: str | None = None
    """What follows `base_url` in a request's address."""
    model: str | None = None
    """The model to ask."""
    key_env: str | None = None
    """The name of the environment variable that holds the key; never the key. Null: none is sent."""
    concurrency: Annotated[int, Field(ge=1, le=4096, strict=True)] = 64
    """Cases and requests under way at once, at most; over HTTP at most 1000. The pace is slower where the judge
    asks for it."""
    timeout_s: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)] | None = None
    """Seconds for one attempt, at most 600."""
    max_attempts: Annotated[int, Field(ge=1, le=100, strict=True)] = 1
    """Attempts for one request; only what another one may cure is tried again."""
    budget_s: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)] | None = None
    """Seconds for one request with all its attempts and the waits between them, at most 86400."""
    usd_per_million_input: Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)] | None = None
    """US dollars for a million input tokens, where replies do not state their cost. Null: not known."""
    usd_per_million_output: Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)] | None = None
    """The same for output tokens, of a chat model only. Null: they are not counted."""
    structured: Switch = True
    """Of a chat model only: whether the endpoint is given the form of the answer (`response_format`), or the prompt is.
    `on` and `off` will do."""
    temperature: Annotated[float, Field(ge=0, le=2, strict=True, allow_inf_nan=False)] | None = 0.0
    """Of a chat model only. Null: none is sent."""
    reuse: Literal["always", "never", "only"] = "always"
    """always: ask what the store has no answer for; never: ask everything afresh; only: ask nothing, so what the
    store has no answer for is an error."""
    repeat: Annotated[int, Field(ge=1, le=1000, strict=True)] = 1
    """Ask everything so many times. The first answers count; checks that change between them are reported."""
    max_usd: Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)] | None = None
    """US dollars after which a run begins no further case; see below."""
    max_state_tokens: Annotated[int, Field(ge=500, strict=True)] = 32_000
    """The most that is sent of a case, in estimated tokens; of a longer one, parts are left out visibly."""

    def identity(self) -> dict[str, Any]:
        """What of a judge can change a check, besides the gateway and the model that it turns out to be."""
        return self.model_dump(include={"repeat", "max_state_tokens"})


class GateSettings(_Settings):
    """What `--ci` lets pass. None means no limit."""

    name: Name
    """What the store calls the gate."""
    max_failures: Whole | None = None
    """Failed checks, at most. More: exit code 1."""
    max_critical_failures: Whole | None = None
    """Failed checks of critical severity, at most. More: exit code 1."""
    max_review_rate: Rate | None = None
    """Share of applicable checks that are for review, at most. More: exit code 2."""
    min_decided_coverage: Rate | None = None
    """Share of applicable checks that passed or failed, at least. Less: exit code 2."""
    allow_errors: bool = False
    """Whether errors and cases not evaluated are let through. If not: exit code 2."""
    allow_skipped_required: bool = False
    """Whether a required rubric may be skipped for every case. If not: exit code 2."""
    allow_empty_dataset: bool = False
    """Whether a run of no case is let through. If not: exit code 2."""
    allow_simulated: bool = False
    """Whether a run of the offline judge is let through. If not: exit code 2, whatever else is broken."""
    min_scores: dict[str, Rate] = {}
    """`gate.min_scores.METRIC=0.7`: the least mean of a metric. Less: exit code 1; no mean at all: 2."""
    baseline: str | None = None
    """A run, by any of its names: failures that it had too are excused. One of the two simulated: exit code 2."""
    ignore_flips: bool = False
    """Whether a failure that is none in another repeat is excused."""


class ExplainSettings(_Settings):
    """Who writes prose about scores once they are settled; nobody where there is no base_url."""

    name: Name = "none"
    """What the option is called."""
    base_url: str | None = None
    """An OpenAI-compatible endpoint. Null: nothing is explained."""
    model: str | None = None
    """The model that writes."""
    key_env: str | None = None
    """The name of the environment variable that holds the key; never the key."""
    which: Literal["failed", "all"] = "failed"
    """Scores that did not pass, or all."""
    limit: Whole = 50
    """Texts a run, the lowest scores first."""
    simulated: bool = False
    """Whether scores of the offline judge are explained too."""
    timeout_s: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)] = 60.0
    """Seconds for one text."""
    concurrency: Annotated[int, Field(ge=1, le=64, strict=True)] = 4
    """Texts under way at once."""
    max_tokens: Annotated[int, Field(ge=1, strict=True)] = 400
    """Tokens of one text, at most."""


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
    """What to call the run; it can be named by that afterwards."""
    tags: dict[str, Any] = {}
    """`tags.KEY=VALUE`: recorded with the run."""
    store: str | None = None
    """The SQLite file. Null: JEVAL_STORE, else jeval.db in the project."""
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


def settings_of(config: dict[str, Any], origin: Callable[[str], str | None] = lambda field: None) -> RunSettings:
    """The settings in a composed configuration. Raises ConfigError naming the override, its value and the remedy.

    `origin` tells the file that a field's value comes from, None where it was typed or is nobody's.
    """
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
        file = origin(first.field)
        source = f" (from {file})" if file else ""
        raise ConfigError(f"{first.field}{value}{source}: {first.message}; {first.remedy}{more}") from error


def json_text(value: Any) -> str:
    """JSON for a column or a person, keys as given."""
    return json.dumps(value, ensure_ascii=False, default=str)
