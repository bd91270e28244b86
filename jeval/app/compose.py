"""From a command line to a composed configuration: where Hydra is set up, called and its errors put in words.

The user's own `conf/` is Hydra's first place to look, ours the second, so theirs add to and shadow ours.
"""

import math
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from jeval.app.places import bundled_conf
from jeval.app.refusals import at_once, in_words
from jeval.errors import ConfigError

__all__ = ["OPEN_MAPS", "OPTIONAL", "compose", "conf_file", "count_jobs", "literal", "overrides_of", "run_hydra"]

# Settings that a group option of a project's own may leave out, and that can be overridden all the same.
OPTIONAL = {
    "dataset": ("limit", "sample", "seed", "where"),
    "rubrics": ("path",),
    "metrics": ("path",),
    "thresholds": ("name", "pass", "fail"),
    "judge": (
        "protocol base_url path model key_env structured temperature concurrency timeout_s max_attempts budget_s"
        " usd_per_million_input usd_per_million_output reuse repeat max_usd max_state_tokens"
    ).split(),
    "gate": (
        "max_failures max_critical_failures max_review_rate min_decided_coverage allow_errors"
        " allow_skipped_required allow_empty_dataset allow_simulated min_scores baseline ignore_flips"
    ).split(),
}
OPEN_MAPS = ("dataset.where.", "tags.", "gate.min_scores.")
_GROUPS = ("dataset", "rubrics", "metrics", "thresholds", "judge", "gate")
_WITH_VALUE = ("-p", "--package", "-cd", "--config-dir")
# Flags that may have a value: what they mean without one, and what it may be.
_MAYBE_VALUE = {
    **dict.fromkeys(("-c", "--cfg"), ("job", ("job", "hydra", "all"))),
    **dict.fromkeys(("-i", "--info"), ("all", ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath"))),
}
# What Hydra reads as it stands, and what of that it makes numbers and truth values of: 1.10 becomes 1.1.
_WORD = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./-]*")
_CONVERTED = re.compile(r"[0-9.].*|true|false|inf|nan|null", re.I)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.(?:0|[0-9]{0,5}[1-9]))?")


def _user_conf(root: Path) -> Path | None:
    conf = root / "conf"
    return conf if conf.is_dir() and conf.resolve() != bundled_conf().resolve() else None


def overrides_of(arguments: Sequence[str], *, sweep: bool = False) -> list[str]:
    """A user's arguments as Hydra needs them.

    A file named by path selects the group option `file`; keys of open maps need no `+`; a text that Hydra
    would read as something else is quoted, unless a sweep's commas are meant.
    """
    found: list[str] = []
    keys = {argument.partition("=")[0].lstrip("+~") for argument in arguments}
    for group in ("dataset", "rubrics", "metrics"):
        if f"{group}.path" in keys and group not in keys:
            found.append(f"{group}=file")
    if "dataset.path" in keys and keys & {"metrics", "metrics.path"} and not keys & {"rubrics", "rubrics.path"}:
        found.append("rubrics=none")  # who names only metrics wants only metrics
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals or argument.startswith("-"):
            found.append(argument)
            continue
        if not key:
            raise ConfigError(f"{argument}: names no setting; write KEY=VALUE")
        if key in _GROUPS and value in ("", "null"):
            raise ConfigError(f"{argument}: a run needs one {key} option; see `jeval run --help` for those there are")
        if key in _GROUPS and value.startswith("["):
            message = f"{argument}: a run has one {key} option, not a list; sweep with -m {key}=A,B"
            raise ConfigError(message + at_once(key))
        if key.startswith("gate.") and not key.startswith("gate.min_scores."):
            key = re.sub(r"(?<=[a-z])([A-Z])", lambda m: "_" + m.group(1).lower(), key)
        inside = any(key.startswith(name) and len(key) > len(name) for name in OPEN_MAPS)
        group, _, name = key.partition(".")
        if inside or name in OPTIONAL.get(group, ()) or (key == "tags" and value.startswith("{")):
            key = "++" + key
        found.append(f"{key}={_quoted(key, value, sweep)}")
    return found


def _quoted(key: str, value: str, sweep: bool) -> str:
    key = key.lstrip("+")
    texts = key.endswith((".path", ".base_url", ".model")) or key in ("name", "store", "gate.baseline")
    opened = key.startswith(("tags.", "dataset.where."))
    if not (texts or opened) or not value or value[:1] in "'\"":
        return value
    if key in ("rubrics.path", "metrics.path") and (files := _listed(value)) is not None:
        return f"[{','.join(files)}]"
    if value == "null" or (_WORD.fullmatch(value) and not _CONVERTED.fullmatch(value)):
        return value
    # Tags and metadata have values of every type, as long as nothing of what was typed is lost.
    if opened and (_NUMBER.fullmatch(value) or value.lower() in ("true", "false")):
        return value
    if sweep and "," in value and not Path(value).exists():
        return value
    return literal(value)


def conf_file(field: str, root: Path) -> str | None:
    """The file in the project's own conf/ that the value of a setting comes from, in the job that runs.

    None where it was given on the command line, or comes with jeval.
    """
    from hydra.core.hydra_config import HydraConfig

    if not HydraConfig.initialized():
        return None
    hydra = HydraConfig.get()
    typed = [override.lstrip("+~").partition("=")[0] for override in hydra.overrides.task]
    if any(
        f"{key}.".startswith(f"{field}.") or f"{field}.".startswith(f"{key}.") for key in typed if key not in _GROUPS
    ):
        return None
    group = field.partition(".")[0]
    user, option = _user_conf(root), hydra.runtime.choices.get(group)
    file = user / group / f"{option}.yaml" if user is not None else None
    return str(Path("conf", group, file.name)) if file is not None and file.is_file() else None


def _listed(value: str) -> list[str] | None:
    """The files of a list like `[a.yaml,b c.yaml]`, each quoted; None where it is no such list."""
    inside = re.fullmatch(r"\[([^\[\]]*)\]", value)
    if inside is None or os.path.exists(value):
        return None
    if "'" in value or '"' in value:  # quoted by hand
        return [inside.group(1)]
    return [literal(name.strip()) for name in inside.group(1).split(",") if name.strip()]


def literal(text: str) -> str:
    """A text in quotes as Hydra's override grammar and then OmegaConf read it."""
    # OmegaConf would resolve an interpolation even inside quotes.
    escaped = re.sub(r"(\\*)\$\{", lambda m: m.group(1) * 2 + "\\${", text)
    # Hydra unescapes a backslash only before the quote that ends the text, or before another backslash.
    escaped = re.sub(r"(\\+)(?='|$)", lambda m: m.group(1) * 2, escaped).replace("'", "\\'")
    return f"'{escaped}'"


def count_jobs(overrides: Sequence[str]) -> int | None:
    """How many jobs Hydra's own sweeper makes of these overrides; None where another sweeper decides."""
    from hydra.core.override_parser.overrides_parser import OverridesParser

    plain = [override for override in overrides if not override.startswith("-")]
    if any(override.startswith("hydra/sweeper=") for override in plain):
        return None
    try:
        parsed = OverridesParser.create().parse_overrides(plain)
        return math.prod(
            len(list(override.sweep_string_iterator())) for override in parsed if override.is_sweep_override()
        )
    except Exception as error:
        raise in_words(error) from error


def run_hydra(job: Callable[[Any], None], arguments: Sequence[str], root: Path) -> None:
    """Hand the arguments to Hydra, which calls `job` once, or once for each job of a sweep.

    Raises ConfigError for what Hydra refuses.
    """
    os.environ["HYDRA_FULL_ERROR"] = "1"  # so that errors reach us instead of being printed
    import hydra

    user = _user_conf(root)
    # Hydra's parser takes overrides in one piece, so flags with their values stand before them.
    argv = _flags_first(arguments)
    if user is not None:
        argv += ["--config-dir", str(bundled_conf())]
    main = hydra.main(version_base="1.3", config_path=str(user or bundled_conf()), config_name="jeval_run")(job)
    before = sys.argv
    sys.argv = ["jeval run", *argv]
    try:
        main()
    except Exception as error:
        raise in_words(error, arguments) from error
    finally:
        sys.argv = before


def _flags_first(arguments: Sequence[str]) -> list[str]:
    flags: list[str] = []
    overrides: list[str] = []
    waiting = deque(arguments)
    while waiting:
        argument = waiting.popleft()
        if not argument.startswith("-"):
            overrides.append(argument)
            continue
        flags.append(argument)
        if argument in _MAYBE_VALUE:
            default, values = _MAYBE_VALUE[argument]
            flags.append(waiting.popleft() if waiting and waiting[0] in values else default)
        elif argument in _WITH_VALUE and waiting:
            flags.append(waiting.popleft())
    return flags + overrides


def compose(arguments: Sequence[str], root: Path) -> Any:
    """The configuration that these overrides compose, without running anything."""
    found: list[Any] = []
    run_hydra(found.append, overrides_of(arguments), root)
    return found[0]
