"""Checks whose status is not the same in all of some runs: the changes of a comparison, the flips of a sweep.

They are read once, and kept while the runs are finished, in patterns: one rubric with the same verdicts in every
run. Thousands of changes have a few dozen patterns, and what filters leave of them is decided pattern by pattern.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jeval.browse.filters import Filters
from jeval.browse.kinds import Kind, takes
from jeval.browse.narrowed import Narrowed
from jeval.browse.rows import rubrics_of
from jeval.ruling import STATUSES, Verdict

__all__ = ["Differences", "Left", "Pattern", "differences", "kinds_in", "left", "page_of"]

# How many comparisons and sweeps are kept; and how many runs one query holds side by side, of SQLite's 64.
_KEPT = 16
_JOINED = 60


class Pattern(NamedTuple):
    """Cases (their keys) whose checks of one rubric were decided so: one verdict a run, None where a run has no
    such check. A verdict's reason is an example."""

    rubric_id: str
    verdicts: tuple[Verdict | None, ...]
    cases: tuple[int, ...]


class Differences(NamedTuple):
    """Every check that differs; `places` is where a case stands in the dataset; `rubrics` are those of each run
    by their ids."""

    patterns: tuple[Pattern, ...]
    places: Mapping[int, int]
    rubrics: tuple[Mapping[str, dict[str, Any]], ...]


class Left(NamedTuple):
    """What filters leave of a pattern: some cases, and what of its verdicts matched: those of one status and rule
    together, with how many cases they are of."""

    pattern: Pattern
    cases: Sequence[int]
    matched: Sequence[tuple[Sequence[Verdict], int]]


_kept: dict[tuple[Any, ...], Differences] = {}


def differences(conn: sqlite3.Connection, runs: Sequence[dict[str, Any]], *, same_content: bool) -> Differences:
    """The checks whose status is not the same in all of these runs that have them.

    With `same_content`, of two runs, a rubric of another content is another rubric; else its id counts.
    """
    file = conn.execute("PRAGMA database_list").fetchone()[2]
    key = (file, same_content, *((run["id"], run["finished_at"]) for run in runs))
    if key in _kept:
        return _kept[key]
    keys = [int(run["pk"]) for run in runs]
    rubrics = tuple({row["id"]: row for row in rubrics_of(conn, run)} for run in keys)
    alike = same_content or (len(keys) <= _JOINED and _alike(conn, keys, rubrics))
    found = _joined(conn, keys) if alike else _grouped(conn, keys, rubrics)
    sides = {side for _, of in found for side in of if side is not None}
    verdicts = _verdicts(conn, sides)
    names = {row["pk"]: name for of_run in rubrics for name, row in of_run.items()}
    patterns: dict[tuple[Any, ...], list[int]] = {}
    for (rubric, of), cases in found.items():
        patterns.setdefault((names[rubric], tuple(side and verdicts[side] for side in of)), []).extend(cases)
    made = Differences(
        tuple(Pattern(rubric, ways, tuple(cases)) for (rubric, ways), cases in patterns.items()),
        _places(conn, keys),
        rubrics,
    )
    if file and all(run["finished_at"] for run in runs):
        if len(_kept) >= _KEPT:
            _kept.clear()
        _kept[key] = made
    return made


Side = tuple[int, int]  # a status code and a verdict's key
# {(a rubric's key, a side for each run): the keys of cases}
Found = dict[tuple[int, tuple[Side | None, ...]], list[int]]


def _alike(conn: sqlite3.Connection, keys: Sequence[int], rubrics: Sequence[Mapping[str, Any]]) -> bool:
    """Whether all runs have the same rubrics, in the same content, and as far as sums can tell the same cases."""
    cases = {
        conn.execute("SELECT count(*), total(case_key), max(case_key) FROM run_cases WHERE run = ?", (run,)).fetchone()
        for run in keys
    }
    contents = {tuple(sorted(row["pk"] for row in of.values())) for of in rubrics}
    return len(cases) == 1 and len(contents) == 1


def _joined(conn: sqlite3.Connection, keys: Sequence[int]) -> Found:
    """Every check that all runs have, looked up in each of them: one pass over the first run."""
    texts = ", ".join(f"c{i}.status, c{i}.verdict" for i in range(len(keys)))
    others = "".join(
        f" CROSS JOIN check_rows c{i} ON c{i}.run = {run} AND c{i}.case_key = c0.case_key AND c{i}.rubric = c0.rubric"
        for i, run in enumerate(keys[1:], 1)
    )
    differ = " OR ".join(f"c{i}.status <> c0.status" for i in range(1, len(keys))) or "0"
    sql = f"SELECT c0.case_key, c0.rubric, {texts} FROM check_rows c0{others} WHERE c0.run = {keys[0]} AND ({differ})"  # noqa: S608
    rows: dict[tuple[int, ...], list[int]] = {}
    for case, *rest in conn.execute(sql):
        rows.setdefault(tuple(rest), []).append(case)
    return {(rubric, tuple(zip(rest[::2], rest[1::2], strict=True))): cases for (rubric, *rest), cases in rows.items()}


def _grouped(conn: sqlite3.Connection, keys: Sequence[int], rubrics: Sequence[Mapping[str, Any]]) -> Found:
    """Every check that some runs have, rubrics by their ids: whatever cases and rubrics each run has."""
    ids = {row["pk"]: name for of_run in rubrics for name, row in of_run.items()}
    first = {name: row["pk"] for of_run in reversed(rubrics) for name, row in of_run.items()}
    runs = ", ".join(map(str, keys))
    flipped = (
        "SELECT c.case_key, r.id FROM check_rows c JOIN rubrics r ON r.pk = c.rubric"  # noqa: S608 - whole numbers only
        f" WHERE c.run IN ({runs}) GROUP BY c.case_key, r.id HAVING min(c.status) <> max(c.status)"
    )
    sql = (
        f"SELECT f.case_key, c.rubric, c.run, c.status, c.verdict FROM ({flipped}) f"  # noqa: S608 - our own words
        " JOIN rubrics r ON r.id = f.id CROSS JOIN check_rows c"
        f" ON c.run IN ({runs}) AND c.case_key = f.case_key AND c.rubric = r.pk"
    )
    places = {run: i for i, run in enumerate(keys)}
    sides: dict[tuple[int, str], list[Side | None]] = {}
    for case, rubric, run, status, verdict in conn.execute(sql):
        sides.setdefault((case, ids[rubric]), [None] * len(keys))[places[run]] = (status, verdict)
    found: Found = {}
    for (case, name), of in sides.items():
        found.setdefault((first[name], tuple(of)), []).append(case)
    return found


def _verdicts(conn: sqlite3.Connection, sides: Iterable[Side]) -> dict[Side, Verdict]:
    """Verdicts by status and key; those alike but for their reasons are one, so that they make one pattern."""
    keys = json.dumps(sorted({key for _, key in sides}))
    sql = "SELECT id, outcome, rule, reason FROM verdicts WHERE id IN (SELECT value FROM json_each(?))"
    texts = {key: rest for key, *rest in conn.execute(sql, (keys,))}
    first: dict[tuple[Any, ...], Verdict] = {}
    return {
        side: first.setdefault((side[0], *texts[side[1]][:2]), Verdict(STATUSES[side[0]], *texts[side[1]]))
        for side in sides
    }


def _places(conn: sqlite3.Connection, keys: Sequence[int]) -> dict[int, int]:
    sql = f"SELECT case_key, min(position) FROM run_cases WHERE run IN ({', '.join(map(str, keys))}) GROUP BY case_key"  # noqa: S608
    return dict(conn.execute(sql))


def left(found: Differences, runs: Sequence[dict[str, Any]], narrowed: Narrowed, side: int | None = None) -> list[Left]:
    """What filters leave: the checks of which one in the run at `side`, or in any run, matches all of them."""
    chosen: dict[int, set[int] | None] = {}
    for i in range(len(runs)) if side is None else (side,):
        cases = narrowed.cases(runs[i])
        chosen[i] = None if cases is None else set(cases)
    return [row for pattern in found.patterns if (row := _left(pattern, found, narrowed.filters, chosen)).cases]


def _left(pattern: Pattern, found: Differences, filters: Filters, chosen: Mapping[int, set[int] | None]) -> Left:
    ways: dict[tuple[str, str], tuple[list[Verdict], list[set[int] | None]]] = {}
    for i, some in chosen.items():
        verdict, rubric = pattern.verdicts[i], found.rubrics[i].get(pattern.rubric_id)
        if verdict is not None and rubric is not None and takes(filters, rubric, verdict):
            verdicts, sets = ways.setdefault((verdict.status, verdict.rule), ([], []))
            verdicts.append(verdict)
            sets.append(some)
    matched = [(verdicts, len(_taken(pattern.cases, sets))) for verdicts, sets in ways.values()]
    every = _taken(pattern.cases, [some for _, sets in ways.values() for some in sets])
    return Left(pattern, every, [(verdicts, n) for verdicts, n in matched if n])


def _taken(cases: Sequence[int], chosen: Sequence[set[int] | None]) -> Sequence[int]:
    """The cases that one of the sets holds; None holds all."""
    sets = [one for one in chosen if one is not None]
    if len(sets) < len(chosen):
        return cases
    return [case for case in cases if any(case in one for one in sets)]


def kinds_in(rows: Iterable[Left]) -> Iterator[Kind]:
    """The kinds of what matched, rubrics by their ids: each check counts once for a status and rule."""
    for row in rows:
        for verdicts, n in row.matched:
            for i, verdict in enumerate(verdicts):
                yield Kind(row.pattern.rubric_id, verdict, 0 if i else n)


def page_of(
    rows: Sequence[Left], places: Mapping[int, int], rank: Callable[[Pattern], Any], skip: int, size: int
) -> list[tuple[int, Pattern]]:
    """Part of the checks left, as (case key, pattern): by rank, and within one as the dataset has them."""
    found: list[tuple[int, Pattern]] = []
    ranks: dict[Any, list[Left]] = {}
    for row in rows:
        ranks.setdefault(rank(row.pattern), []).append(row)
    for _, alike in sorted(ranks.items(), key=lambda item: item[0]):
        here = sum(len(row.cases) for row in alike)
        if here <= skip:
            skip -= here
            continue
        every = sorted(
            ((case, row.pattern) for row in alike for case in row.cases),
            key=lambda one: (places[one[0]], one[1].rubric_id),
        )
        found += every[skip : skip + size - len(found)]
        skip = 0
        if len(found) >= size:
            break
    return found
