"""A dataset by what people call it outside of a run: a file of cases, or a name that `dataset=` takes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jeval.app.files import Dataset, scan
from jeval.app.places import bundled_conf, locate
from jeval.app.selection import Selection

__all__ = ["dataset_names", "named_dataset"]


def dataset_names(root: Path) -> list[str]:
    """The names that `dataset=` takes in a project."""
    folders = (root / "conf" / "dataset", bundled_conf() / "dataset")
    found = {path.stem for folder in folders if folder.is_dir() for path in folder.glob("*.yaml")}
    return sorted(found - {"file"})


def named_dataset(name: str, root: Path, where: Mapping[str, str]) -> Dataset | None:
    """The dataset, all of it checked; None where it is neither a file nor a name. A file goes before a name.

    `where` selects cases by metadata, as `dataset.where` does, over what the name's option selects already. Raises
    DataError with every problem in the file, ConfigError where it cannot be read.
    """
    if name.endswith((".jsonl", ".ndjson")) or Path(name).is_file():
        return scan(locate(name, root, what="DATASET"), Selection(where))
    if name not in dataset_names(root):
        return None
    from omegaconf import OmegaConf

    from jeval.app.compose import compose
    from jeval.app.settings import DatasetSettings

    config = compose([f"dataset={name}", "rubrics=none", "metrics=none"], root)
    values: Any = OmegaConf.to_container(config.dataset, resolve=True)
    chosen = DatasetSettings.model_validate(values)
    selection = Selection({**chosen.where, **where}, chosen.sample, chosen.seed, chosen.limit)
    return scan(locate(chosen.path, root, what="dataset.path"), selection)
