"""Several stores merged into one: whole, or not at all.

A run keeps its id, its checks, judgments, requests and scores; what stores share (cases, rubrics, questions,
criteria, verdicts) stands once. A run that is there already is not doubled. Sources are only read.
"""

import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from jeval.errors import StoreError
from jeval.store.additions import carry_additions, carry_sweep_jobs
from jeval.store.connect import open_store
from jeval.store.reader import open_snapshot
from jeval.store.same_run import Relation, kinship
from jeval.store.transfer import Translation, carry_run, carry_shared, count_judgments, drop_run, translation

__all__ = ["Merged", "MergedStore", "merge_stores"]


@dataclass
class MergedStore:
    """What one store brought. Runs are named by their ids."""

    path: Path
    brought: list[str] = field(default_factory=list)
    """Runs that were not there."""
    completed: list[str] = field(default_factory=list)
    """Runs of which the beginning was there."""
    known: list[str] = field(default_factory=list)
    """Runs that were there, as they are or with more to them."""
    judgments: int = 0
    """Judgments that came with its runs."""
    labels: int = 0
    """Labels that are new, or say something else than an older one of the same author."""
    itself: bool = False
    """It is the store that is merged into."""


@dataclass
class Merged:
    """What a merge did."""

    target: Path
    created: bool
    stores: list[MergedStore] = field(default_factory=list)
    runs: int = 0
    """Runs that the store holds now."""
    changed: list[str] = field(default_factory=list)
    """Rubrics and metrics, as `rubric tone 1.0.0`, of which one version has several contents now."""


def merge_stores(sources: Sequence[Path], target: Path) -> Merged:
    """Merge the stores at `sources` into the one at `target`, which is made where there is none.

    All is written in one transaction, a new store in a file that gets its name at the end: whatever goes wrong,
    and whenever the process is killed, the target is as it was. Raises StoreError where a source is no store or
    cannot be read, where a run, by its id, is another one there, or where the target cannot be written; StoreTooNew
    where a newer jeval wrote one of them.
    """
    for path in sources:
        if not _there(path):
            raise StoreError(f"store {path} does not exist; check the path; nothing was merged")
    if _there(target):
        with closing(open_store(target)) as connection:
            return _merged(sources, target, connection, created=False)
    if not target.parent.is_dir():
        raise StoreError(f"store {target}: its folder {target.parent} does not exist; make it, or name another with -o")
    with _named_at_the_end(target) as unnamed, closing(open_store(unnamed)) as connection:
        return _merged(sources, target, connection, created=True)


def _there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise StoreError(f"store {str(path)[:80]}…: {error.strerror}; check the path") from error


@contextmanager
def _named_at_the_end(target: Path) -> Iterator[Path]:
    """A file beside the target that becomes it once all has gone well."""
    unnamed = target.with_name(f".{target.name}.{secrets.token_hex(4)}.merging")
    try:
        yield unnamed
        try:
            os.link(unnamed, target)  # never over a file that somebody else made meanwhile
        except FileExistsError:
            raise StoreError(f"store {target} was made by somebody else meanwhile; merge again") from None
        except OSError:  # a file system without links
            unnamed.rename(target)
    finally:
        for ending in ("", "-wal", "-shm"):
            unnamed.with_name(unnamed.name + ending).unlink(missing_ok=True)


def _merged(sources: Sequence[Path], target: Path, connection: sqlite3.Connection, *, created: bool) -> Merged:
    merged = Merged(target, created)
    # Every key is looked up as it is carried over; having SQLite look again takes as long as all the rest.
    connection.execute("PRAGMA foreign_keys = OFF")
    at = target
    try:
        connection.execute("BEGIN IMMEDIATE")
        with TemporaryDirectory(prefix="jeval-merge-") as scratch:
            for at in sources:
                merged.stores.append(_merge_one(at, merged, connection, Path(scratch)))
        at = target
        merged.runs = int(connection.execute("SELECT count(*) FROM runs").fetchone()[0])
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if isinstance(error, sqlite3.Error):
            remedy = "see who else writes it" if "locked" in str(error) else "check both with `jeval doctor`"
            into = f" into {target}" if at != target else ""
            raise StoreError(f"store {at} could not be merged{into}: {error}; {remedy}; nothing was merged") from error
        raise
    return merged


def _merge_one(path: Path, merged: Merged, connection: sqlite3.Connection, scratch: Path) -> MergedStore:
    found = MergedStore(path)
    if not merged.created and path.samefile(merged.target):
        found.itself = True
        return found
    with closing(open_snapshot(path, scratch)) as source:
        known: dict[int, int] = {}
        wanted: list[tuple[int, int]] = []
        free = int(connection.execute("SELECT coalesce(max(pk), 0) + 1 FROM runs").fetchone()[0])
        for pk, run_id in source.execute("SELECT pk, id FROM runs ORDER BY started_at, id").fetchall():
            here = connection.execute("SELECT pk FROM runs WHERE id = ?", (run_id,)).fetchone()
            if here is None:
                wanted.append((pk, free))
                found.brought.append(run_id)
                free += 1
            elif _goes_on(path, merged, run_id, (connection, here[0]), (source, pk)):
                wanted.append((pk, here[0]))
                found.completed.append(run_id)
            else:
                known[pk] = here[0]
                found.known.append(run_id)
        if wanted:
            _carry(path, merged, found, (source, connection), wanted, known)
        carry_sweep_jobs(source, connection, lambda what: _another(path, merged, what, "what it left"))
        found.labels = carry_additions(source, connection)
    return found


def _goes_on(
    path: Path, merged: Merged, run_id: str, here: tuple[sqlite3.Connection, int], there: tuple[sqlite3.Connection, int]
) -> bool:
    """Whether the run there is the one here and goes on from it. Raises StoreError where it is another one."""
    relation, differs = kinship(*here, *there)
    if relation is Relation.OTHER:
        raise _another(path, merged, f"run {run_id}", differs)
    return relation is Relation.EARLIER


def _another(path: Path, merged: Merged, what: str, differs: str) -> StoreError:
    before = "a store before it" if merged.stores else ""
    places = " or ".join(place for place in ("" if merged.created else str(merged.target), before) if place)
    return StoreError(
        f"store {path}: {what} is another one than that in {places}: {differs} differ; nothing was merged;"
        " leave this store out, or merge it into another"
    )


def _carry(
    path: Path,
    merged: Merged,
    found: MergedStore,
    between: tuple[sqlite3.Connection, sqlite3.Connection],
    wanted: list[tuple[int, int]],
    known: dict[int, int],
) -> None:
    """Carry runs over, each to its key there."""
    source, connection = between
    if source.execute("SELECT 1 FROM request_rows WHERE id >> 32 <> run LIMIT 1").fetchone():
        raise StoreError(f"store {path}: holds requests that are not numbered by their run; it was changed by hand")
    try:
        keys: Translation = translation(source, connection)
        keys.runs.update(known)
        keys.runs.update(wanted)
        carry_shared(source, connection, keys)
        for pk, there in wanted:
            drop_run(connection, there)
            carry_run(source, connection, pk, keys)
            found.judgments += count_judgments(source, pk)
    except (KeyError, TypeError, ValueError) as error:
        what = f"it refers to a row {error} that is not there" if isinstance(error, KeyError) else str(error)
        raise StoreError(
            f"store {path}: is damaged: {what}; nothing was merged; see `jeval doctor --store {path}`"
        ) from error
    merged.changed += [what for what in keys.changed if what not in merged.changed]
