"""Everything a run needs, checked before anything is asked: files read, hashes taken, the judge made."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jeval.app.files import Dataset, read_metrics, read_rubrics, scan
from jeval.app.metadata_seen import never_apply
from jeval.app.painter import plain
from jeval.app.places import locate
from jeval.app.selection import Selection
from jeval.app.settings import DatasetSettings, JudgeSettings, RunSettings
from jeval.counted import counted
from jeval.errors import ConfigError, DataError, Problem
from jeval.metric import Metric
from jeval.problems import nearest
from jeval.question import Judge
from jeval.rubric import Rubric

__all__ = ["Prepared", "judge_identity", "make_judge", "prepare"]


@dataclass(frozen=True)
class Prepared:
    """A run about to begin. `warnings` are one line each."""

    settings: RunSettings
    dataset: Dataset
    rubrics: list[Rubric]
    metrics: list[Metric]
    warnings: tuple[str, ...]

    @property
    def fingerprint(self) -> dict[str, Any]:
        """Hashes of what the files held: they make a configuration reproducible wherever the files lie."""
        return {
            "dataset": self.dataset.sha256,
            "rubrics": {r.id: {"version": r.version, "sha256": r.sha256} for r in self.rubrics},
            "metrics": {m.id: {"version": m.version, "sha256": m.sha256} for m in self.metrics},
        }


def prepare(settings: RunSettings, root: Path, *, known: Prepared | None = None) -> Prepared:
    """Read and check all files of a run. Raises ConfigError and DataError.

    What is wrong in several files is told at once. A dataset that `known` has read, and that has not been
    touched since, is not read again: a sweep's every job comes here.
    """
    faults = _Faults()
    rubrics: list[Rubric] = []
    metrics: list[Metric] = []
    for path in settings.rubrics.paths:
        with faults:
            rubrics += read_rubrics(locate(path, root, what="rubrics.path"))
    for path in settings.metrics.paths:
        with faults:
            metrics += read_metrics(locate(path, root, what="metrics.path"))
    if not faults.problems:  # before the dataset, which may be large
        _check(settings, rubrics, metrics)
    with faults:
        dataset = _dataset(settings.dataset, root, known)
    faults.check()
    return Prepared(settings, dataset, rubrics, metrics, _warnings(settings, dataset, rubrics, metrics))


def _check(settings: RunSettings, rubrics: Sequence[Rubric], metrics: Sequence[Metric]) -> None:
    """Raise ConfigError where what the files hold does not go together."""
    _refuse_twice(rubrics, "rubrics")
    _refuse_twice(metrics, "metrics")
    if not rubrics and not metrics:
        raise ConfigError(
            f"rubrics={settings.rubrics.name} and metrics={settings.metrics.name} ask nothing; "
            "name a rubric set with rubrics=NAME or rubrics.path=FILE, or metrics with metrics=NAME"
        )
    thresholds = settings.thresholds.thresholds
    for rubric in rubrics:
        try:
            rubric.effective(thresholds)
        except ValueError as error:
            reason = str(error).splitlines()[-1].strip()
            raise ConfigError(
                f"rubric {rubric.id}: its own thresholds do not go with profile {settings.thresholds.name}: "
                f"{reason[:120]}; give the rubric both pass and fail"
            ) from error


def _dataset(chosen: DatasetSettings, root: Path, known: Prepared | None) -> Dataset:
    selection = Selection(chosen.where, chosen.sample, chosen.seed, chosen.limit)
    path = locate(chosen.path, root, what="dataset.path")
    if known is not None and known.dataset.is_still(path, selection):
        return known.dataset
    return scan(path, selection)


class _Faults:
    """Collects what is wrong in several files, to be told at once."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.more = 0

    def __enter__(self) -> None:
        """Read one file."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, DataError):
            return False
        self.problems += error.problems
        self.more += error.more
        return True

    def check(self) -> None:
        """Raise DataError where anything was found."""
        if self.problems:
            raise DataError(self.problems, self.more)


def _refuse_twice(items: Sequence[Rubric] | Sequence[Metric], group: str) -> None:
    """Raise ConfigError where two files of a group have the same id."""
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise ConfigError(f"{group}.path: two of its files have the id {item.id}; name each id once")
        seen.add(item.id)


def _warnings(settings: RunSettings, dataset: Dataset, rubrics: list[Rubric], metrics: list[Metric]) -> tuple[str, ...]:
    found = []
    if settings.thresholds.permissive:
        found.append(
            f"thresholds pass {settings.thresholds.pass_:g} / fail {settings.thresholds.fail:g}: below 0.5 a check can "
            "pass or fail although the judge finds the evidence insufficient"
        )
    if dataset.cases == 0:
        why = dataset.selection.why_none(dataset.seen) if dataset.selection.limit != 0 else ""
        found.append(f"dataset {dataset.path}: no case is selected, so nothing is evaluated{why and f' ({why})'}")
    judge = settings.judge
    if judge.max_usd is not None and judge.usd_per_million_input is None and judge.gateway != "offline":
        found.append(
            f"judge.max_usd={judge.max_usd:g} holds only where replies state their cost, for judge {judge.name} has no "
            "price; set judge.usd_per_million_input"
        )
    elif judge.max_usd is not None and judge.protocol == "chat" and judge.usd_per_million_output is None:
        found.append(
            f"judge.max_usd={judge.max_usd:g} counts what judge {judge.name} reads and not what it writes, unless "
            "replies state their cost; set judge.usd_per_million_output"
        )
    found += _unmatched(dataset, rubrics)
    found += [f"metric {text}" for metric in metrics for text in metric.warnings()]
    return tuple(found)


def _unmatched(dataset: Dataset, rubrics: Sequence[Rubric]) -> list[str]:
    """Names that meet nothing: labels of no rubric of this run, metadata that no case has."""
    if not rubrics or not dataset.cases:
        return []
    found = []
    known = [rubric.id for rubric in rubrics]
    lost = Counter({name: number for name, number in dataset.labels.items() if name not in known})
    if lost:
        shown = ", ".join(plain(name, 60) + _meant(name, known) for name, _ in lost.most_common(5))
        more = f" and {len(lost) - 5:,} more" if len(lost) > 5 else ""
        number = counted(lost.total(), "label names", "labels name")
        found.append(f"dataset {dataset.path.name}: {number} no rubric of this run: {shown}{more}")
    found += never_apply(rubrics, dataset, dataset.seen)
    return found


def _meant(name: str, known: Iterable[str]) -> str:
    close = nearest(name, known)
    return f" (did you mean {plain(close, 60)}?)" if close else ""


def judge_identity(settings: JudgeSettings, environ: Mapping[str, str]) -> tuple[str, str]:
    """(gateway, model) of the judge that the settings name, without its key being asked for."""
    if settings.gateway == "offline":
        judge = make_judge(settings, environ)
        return judge.gateway, judge.model
    from jeval.judges.gateways import http_settings

    chosen = http_settings(settings.model_dump(), environ)
    return chosen.gateway, chosen.model


def make_judge(settings: JudgeSettings, environ: Mapping[str, str], *, asks: bool = True) -> Judge:
    """The judge that the settings name. Raises ConfigError where its key or address cannot be used.

    Where nothing will be asked of it (`asks` is False) it needs no key: stored judgments belong to whoever has them.
    """
    if settings.gateway == "offline":
        from jeval.judges.offline import OfflineJudge

        if settings.base_url is not None:
            raise ConfigError(
                "judge.base_url is set, and judge=offline asks nobody; say who is there: judge=local for a server of "
                "the judge's protocol, judge=openai for a chat model"
            )
        return OfflineJudge()
    from jeval.judges.gateways import http_settings, read_key
    from jeval.judges.http import HttpJudge

    chosen = http_settings(settings.model_dump(), environ)
    return HttpJudge(chosen, key=read_key(chosen.key_env, environ) if asks else None)
