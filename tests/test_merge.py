"""Stores merged: everything of each, nothing twice, whole or not at all, whatever the order."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jeval.case import Case
from jeval.errors import JevalError, StoreError, StoreTooNew
from jeval.metric import Metric
from jeval.question import Answer, Question
from jeval.rubric import Rubric, Thresholds
from jeval.store.additions import ADDED
from jeval.store.connect import open_store
from jeval.store.merge import Merged, merge_stores
from jeval.store.runs import finish_run
from jeval.store.schema import VERSION
from jeval.store.sweeps import record_job
from jeval.store.transfer import CARRIED
from tests.judges import ScriptedJudge, leaning
from tests.running import checks_of, environment, judged, rows, write_cases
from tests.samples import case, cases, rubric

CUSTOM, SUPPORT, BOOKING = rubric("custom"), rubric("claim-support"), rubric("tool-claim", severity="critical")
RUBRICS = (CUSTOM, SUPPORT, BOOKING)
METRIC = Metric.model_validate(
    {
        "id": "kindness",
        "version": "1.0.0",
        "fields": ["input", "actual_output"],
        "questions": [{"noul": "actual_output is kind."}, {"noul": "actual_output is short.", "weight": 2}],
    }
)

# What people read, without the keys that are a store's own.
_SHOWN = {
    "runs": "SELECT * FROM runs",
    "checks": "SELECT * FROM checks",
    "scores": "SELECT * FROM scores",
    "score_breakdown": "SELECT * FROM score_breakdown",
    "judgments": "SELECT * FROM judgments",
    "requests": "SELECT * FROM requests",
    "cases": "SELECT * FROM cases",
    "rubrics": "SELECT * FROM rubrics",
    "metrics": "SELECT * FROM metrics",
    "labels": "SELECT * FROM labels",
    "explanations": "SELECT * FROM explanations",
    "run_summary": "SELECT * FROM run_summary",
    "rubric_summary": "SELECT * FROM rubric_summary",
    "critical_failures": "SELECT * FROM critical_failures",
    "sweep_jobs": "SELECT j.*, runs.id AS run_id FROM sweep_jobs j LEFT JOIN runs ON runs.pk = j.run",
    "repeats": "SELECT runs.id, f.statuses FROM repeat_flips f JOIN runs ON runs.pk = f.run",
    "order": "SELECT runs.id, c.position, i.id FROM run_cases c JOIN runs ON runs.pk = c.run"
    " JOIN case_ids i ON i.key = c.case_key",
    "rests": "SELECT runs.id, i.id, o.id, s.value & 0xffffffff FROM run_cases c JOIN runs ON runs.pk = c.run"
    " JOIN case_ids i ON i.key = c.case_key, json_each(c.sources) s JOIN runs o ON o.pk = s.value >> 32",
}
_KEYS = {"pk", "run", "request"}

# Where several stores hold the same, it is there once.
_ONCE = ("cases", "rubrics", "metrics")


def shown(store: Path) -> dict[str, Counter[tuple[Any, ...]]]:
    """All that people read in a store, in no order."""
    found = {}
    with closing(sqlite3.connect(store)) as connection:
        for name, sql in _SHOWN.items():
            cursor = connection.execute(sql)
            kept = [i for i, column in enumerate(cursor.description) if column[0] not in _KEYS]
            found[name] = Counter(tuple(row[i] for i in kept) for row in cursor)
    return found


def sound(store: Path) -> bool:
    """Whether nothing in the store refers to what is not there."""
    strays = (
        "SELECT count(*) FROM check_rows c WHERE NOT EXISTS"
        " (SELECT 1 FROM findings f WHERE f.case_key = c.case_key AND f.id = c.finding)"
        " UNION ALL SELECT count(*) FROM run_cases, json_each(run_cases.sources) s"
        " WHERE s.value NOT IN (SELECT id FROM request_rows)"
        " UNION ALL SELECT count(*) FROM request_rows WHERE id >> 32 <> run"
    )
    return rows(store, "PRAGMA foreign_key_check") == [] and {row[0] for row in rows(store, strays)} == {0}


class Made:
    """A store in the making."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connection = open_store(path)

    def run(
        self,
        run_id: str,
        of: Sequence[Case] | None = None,
        by: Sequence[Rubric] = RUBRICS,
        *,
        option: int = 0,
        started_at: str = "2026-01-01T00:00:00.000Z",
        ended: bool = True,
        **more: Any,
    ) -> int:
        """Judge cases as a run that has ended; its key. The judge prefers each question's option of that number."""

        def script(question: Question) -> Answer:
            if question.type == "noul":
                return Answer({"true": 0.9 - option / 4})
            return leaning(question, question.names[option % len(question.names)])

        judge = ScriptedJudge(script)
        judged(self.connection, cases(3) if of is None else of, by, judge, run_id=run_id, **more)
        pk = int(self.connection.execute("SELECT pk FROM runs WHERE id = ?", (run_id,)).fetchone()[0])
        self.connection.execute("UPDATE runs SET started_at = ? WHERE pk = ?", (started_at, pk))
        self.connection.execute("UPDATE request_rows SET asked_at = ? WHERE run = ?", (started_at, pk))
        if ended:
            finish_run(self.connection, pk, {"status": "complete", "exit_code": 0, "finished_at": started_at})
        return pk

    def label(
        self, case_id: str, expected: str, at: int, reviewer: str | None = "ann", note: str | None = None
    ) -> None:
        """Keep a person's label, in place of an older one."""
        self.connection.execute(
            "INSERT OR REPLACE INTO labels VALUES (?, 'custom', ?, 'human', ?, ?, ?)",
            (case_id, expected, reviewer, note, f"2026-02-01T00:00:{at:02d}.000Z"),
        )

    def closed(self) -> Path:
        """Close it; its file."""
        self.connection.close()
        return self.path


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[[str], Made]]:
    made: list[Made] = []

    def new(name: str) -> Made:
        made.append(Made(tmp_path / f"{name}.db"))
        return made[-1]

    yield new
    for store in made:
        store.connection.close()


def stored(make: Callable[[str], Made], name: str, *run_ids: str, **more: Any) -> Path:
    """A closed store with these runs."""
    store = make(name)
    for run_id in run_ids:
        store.run(run_id, **more)
    return store.closed()


def refused(sources: Sequence[Path], target: Path, kind: type[JevalError] = StoreError) -> str:
    """What a merge that must change nothing says; that it changed nothing is checked."""
    before = {path: path.read_bytes() for path in target.parent.iterdir() if path.is_file()}
    with pytest.raises(kind) as caught:
        merge_stores(sources, target)
    assert {path: path.read_bytes() for path in target.parent.iterdir() if path.is_file()} == before
    text = str(caught.value)
    assert "\n" not in text and "; " in text
    return text


# What is merged.


def test_a_merged_store_holds_all_of_each(make: Callable[[str], Made], tmp_path: Path) -> None:
    first, second = make("a"), make("b")
    first.run("a-1", metrics=[METRIC], repeat=2)
    first.run("a-2", option=1, reuse=False)
    second.run("b-1", [*cases(2), case(id="only-here")], [SUPPORT], metrics=[METRIC])
    second.label("case-0", "fail", 1)
    sources = [first.closed(), second.closed()]
    merged = merge_stores(sources, tmp_path / "all.db")
    assert merged.created and merged.runs == 3
    assert [store.brought for store in merged.stores] == [["a-1", "a-2"], ["b-1"]]
    assert [(store.judgments, store.labels) for store in merged.stores] == [(39, 3), (9, 2)]
    found, parts = shown(tmp_path / "all.db"), [shown(source) for source in sources]
    for name in found:
        both = parts[0][name] + parts[1][name]
        if name == "labels":  # the dataset's own, which both hold, are there once
            assert len(found[name]) == 5
        else:
            assert found[name] == (Counter(dict.fromkeys(both, 1)) if name in _ONCE else both), name
    assert sound(tmp_path / "all.db")


def test_every_table_of_the_schema_is_looked_after(make: Callable[[str], Made]) -> None:
    tables = rows(stored(make, "a"), "SELECT name FROM sqlite_schema WHERE type = 'table'")
    assert {name for (name,) in tables} == {*CARRIED, *ADDED}


def test_a_run_over_the_merged_store_asks_only_what_none_of_them_has(
    make: Callable[[str], Made], tmp_path: Path
) -> None:
    sources = [stored(make, "a", "a-1", of=cases(4)[:2]), stored(make, "b", "b-1", of=cases(4)[1:3])]
    merge_stores(sources, tmp_path / "all.db")
    judge = ScriptedJudge()
    with closing(open_store(tmp_path / "all.db")) as connection:
        found = judged(connection, cases(4), RUBRICS, judge, run_id="after")
    assert [(result.asked, result.reused) for result in found] == [(0, 3), (0, 3), (0, 3), (3, 0)]
    assert len(judge.requests) == 1


def test_a_merged_run_is_reproduced_from_its_own_judgments(make: Callable[[str], Made], tmp_path: Path) -> None:
    first, second = make("a"), make("b")
    first.run("a-1")
    second.run("b-1", option=1)
    second.run("b-2", by=[SUPPORT])  # rests on what b-1 asked
    merge_stores([first.closed(), second.closed()], tmp_path / "all.db")
    with closing(open_store(tmp_path / "all.db")) as connection:
        (pk,) = connection.execute("SELECT pk FROM runs WHERE id = 'b-2'").fetchone()
        found = judged(connection, cases(3), [SUPPORT], run_id="again", ask=False, of_run=pk)
    assert [result.asked for result in found] == [0, 0, 0]
    assert checks_of(tmp_path / "all.db", "again") == checks_of(second.path, "b-2")


def test_the_latest_judgment_counts_whichever_store_it_comes_from(make: Callable[[str], Made], tmp_path: Path) -> None:
    newer, older = make("new"), make("old")
    newer.run("new-1", option=0, started_at="2026-05-01T00:00:00.000Z")
    older.run("old-1", option=1, started_at="2026-04-01T00:00:00.000Z")
    sources = [newer.closed(), older.closed()]
    for order, name in ((sources, "one.db"), (sources[::-1], "two.db")):
        merge_stores(order, tmp_path / name)
        with closing(open_store(tmp_path / name)) as connection:
            judged(connection, cases(3), RUBRICS, run_id="after", ask=False)
        assert checks_of(tmp_path / name, "after") == checks_of(newer.path, "new-1")


def test_a_judge_under_two_names_is_one_judge(make: Callable[[str], Made], tmp_path: Path) -> None:
    sources = [stored(make, "a", "a-1"), stored(make, "b", "b-1", option=1)]
    with closing(sqlite3.connect(sources[1])) as connection, connection:
        connection.execute("UPDATE judges SET name = 'alias'")
    merge_stores(sources, tmp_path / "one.db")
    merge_stores(sources[::-1], tmp_path / "two.db")
    for name in ("one.db", "two.db"):
        assert rows(tmp_path / name, "SELECT DISTINCT judge FROM judgments") == [("alias",)]


def test_one_version_with_two_contents_is_merged_and_told(make: Callable[[str], Made], tmp_path: Path) -> None:
    edited = rubric("custom", criterion="The tone is warm.")
    sources = [stored(make, "a", "a-1", by=[CUSTOM]), stored(make, "b", "b-1", by=[edited, SUPPORT])]
    merged = merge_stores(sources, tmp_path / "all.db")
    assert merged.changed == ["rubric custom 1.0.0"]
    assert len(rows(tmp_path / "all.db", "SELECT 1 FROM rubrics WHERE id = 'custom'")) == 2
    assert merge_stores(sources, tmp_path / "all.db").changed == []


def test_the_jobs_of_a_sweep_come_with_their_runs(make: Callable[[str], Made], tmp_path: Path) -> None:
    store = make("a")
    pk = store.run("a-1")
    store.connection.execute("UPDATE runs SET sweep_id = 's', sweep_position = 0 WHERE pk = ?", (pk,))
    record_job(store.connection, "s", 0, "thresholds=default", 0, None)
    record_job(store.connection, "s", 1, "thresholds=nope", 3, "no such option")
    other = stored(make, "b", "b-1", "b-2")
    target = tmp_path / "all.db"
    merge_stores([other, store.closed()], target)
    assert rows(target, "SELECT j.position, runs.id, j.error FROM sweep_jobs j LEFT JOIN runs ON runs.pk = j.run") == [
        (0, "a-1", None),
        (1, None, "no such option"),
    ]
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE sweep_jobs SET error = 'another end' WHERE position = 1")
    assert "job 2 of sweep s is another one than that in" in refused([store.path], target)


def test_the_first_explanation_of_a_score_stays_whatever_the_order(make: Callable[[str], Made], tmp_path: Path) -> None:
    path = stored(make, "a", "a-1", metrics=[METRIC])
    copies = [tmp_path / "early.db", tmp_path / "late.db"]
    for copy, at in zip(copies, ("2026-01-02", "2026-01-03"), strict=True):
        shutil.copy(path, copy)
        with closing(sqlite3.connect(copy)) as connection, connection:
            connection.execute(
                "INSERT INTO explanation_rows SELECT run, case_key, metric, ?, 'writer-1', ? FROM score_rows LIMIT 1",
                (f"told on {at}", at),
            )
    for order, name in ((copies, "one.db"), (copies[::-1], "two.db")):
        merge_stores(order, tmp_path / name)
        assert rows(tmp_path / name, "SELECT run_id, text FROM explanations") == [("a-1", "told on 2026-01-02")]


# Runs that are there already.


def test_merging_again_changes_nothing(make: Callable[[str], Made], tmp_path: Path) -> None:
    sources = [stored(make, "a", "a-1", "a-2"), stored(make, "b", "b-1")]
    target = tmp_path / "all.db"
    merge_stores(sources, target)
    before = target.read_bytes()
    merged = merge_stores(sources, target)
    assert [(store.brought, store.known) for store in merged.stores] == [([], ["a-1", "a-2"]), ([], ["b-1"])]
    assert not merged.created and [store.judgments for store in merged.stores] == [0, 0]
    assert target.read_bytes() == before


def test_a_store_that_is_named_twice_or_is_the_target_itself_is_merged_once(
    make: Callable[[str], Made], tmp_path: Path
) -> None:
    first, second = stored(make, "a", "a-1"), stored(make, "b", "b-1")
    merged = merge_stores([first, second, second], first)
    assert [store.itself for store in merged.stores] == [True, False, False]
    assert [store.known for store in merged.stores] == [[], [], ["b-1"]]
    assert merged.runs == 2 and sound(first)


_CHANGES = {
    "its dataset": "UPDATE runs SET dataset = 'another'",
    "its end": "UPDATE runs SET exit_code = 2",
    "its checks": "UPDATE check_rows SET status = 4 WHERE rubric = 1",
    "its cases": "UPDATE run_cases SET position = position + 1",
    "its judgments": "UPDATE judgment_rows SET answer = '{}'",
    "its requests": "UPDATE request_rows SET input_tokens = 1",
    "its scores": "DELETE FROM score_rows",
    "its rubrics": "UPDATE run_rubrics SET rubric = 1",
}


@pytest.mark.parametrize("what", _CHANGES)
def test_a_run_of_the_same_id_that_is_another_one_is_refused_and_nothing_is_written(
    make: Callable[[str], Made], tmp_path: Path, what: str
) -> None:
    target = stored(make, "all", "a-1", metrics=[METRIC])
    other, fine = tmp_path / "other.db", stored(make, "fine", "b-1")
    shutil.copy(target, other)
    with closing(sqlite3.connect(other)) as connection, connection:
        connection.execute(_CHANGES[what])
    text = refused([fine, other], target)
    assert f"store {other}: run a-1 is another one than that in {target} or a store before it: {what} differ" in text
    text = refused([target, other], tmp_path / "new.db")
    assert f"than that in a store before it: {what} differ" in text


def halves(make: Callable[[str], Made], tmp_path: Path) -> tuple[Path, Path]:
    """Two copies of a run: one as it was before its last case and its end, one whole."""
    whole, begun = stored(make, "whole", "a-1", metrics=[METRIC]), tmp_path / "begun.db"
    shutil.copy(whole, begun)
    last = "case_key = (SELECT key FROM case_ids WHERE id = 'case-2')"
    with closing(sqlite3.connect(begun)) as connection, connection:
        connection.execute(f"DELETE FROM judgment_rows WHERE request IN (SELECT id FROM request_rows WHERE {last})")
        for table in ("request_rows", "run_cases", "check_rows", "score_rows"):
            connection.execute(f"DELETE FROM {table} WHERE {last}")
        connection.execute("UPDATE tallies SET n = n - 1")
        connection.execute("UPDATE runs SET status = 'running', finished_at = NULL, exit_code = NULL")
    return begun, whole


def test_a_run_that_went_on_since_is_completed(make: Callable[[str], Made], tmp_path: Path) -> None:
    begun, whole = halves(make, tmp_path)
    target = stored(make, "all", "z-1", "z-2")  # so that keys differ
    merge_stores([begun], target)
    merged = merge_stores([whole], target)
    assert merged.stores[0].completed == ["a-1"] and merged.stores[0].brought == []
    assert checks_of(target, "a-1") == checks_of(whole, "a-1")
    assert rows(target, "SELECT status FROM runs WHERE id = 'a-1'") == [("complete",)]
    assert sound(target)


def test_an_earlier_copy_of_a_run_takes_nothing_away(make: Callable[[str], Made], tmp_path: Path) -> None:
    begun, whole = halves(make, tmp_path)
    merged = merge_stores([whole, begun], tmp_path / "one.db")
    merge_stores([begun, whole], tmp_path / "two.db")
    assert merged.stores[1].known == ["a-1"]
    assert shown(tmp_path / "one.db") == shown(tmp_path / "two.db")


# Laws.


def _store(path: Path, spec: Sequence[tuple[int, int, int, int]], labels: Sequence[tuple[int, str, int, str]]) -> Path:
    store = Made(path)
    for number, (first, count, rubrics, option) in enumerate(spec):
        store.run(
            f"{path.stem}-{number}",
            cases(5)[first : first + count],
            RUBRICS[: rubrics + 1],
            option=option,
            metrics=[METRIC][:option],
            thresholds=Thresholds(pass_=0.95, fail=0.5) if option == 2 else None,
            started_at=f"2026-03-{1 + (7 * number + len(path.stem)) % 28:02d}T00:00:00.000Z",
            reuse=rubrics != 0,
        )
    for number, expected, at, reviewer in labels:
        store.label(f"case-{number}", expected, at, reviewer)
    return store.closed()


_RUN = st.tuples(st.integers(0, 3), st.integers(1, 3), st.integers(0, 2), st.integers(0, 2))
_LABEL = st.tuples(
    st.integers(0, 4), st.sampled_from(["pass", "fail", "review"]), st.integers(0, 3), st.sampled_from(["ann", "bo"])
)
_STORE = st.tuples(st.lists(_RUN, max_size=3), st.lists(_LABEL, max_size=4))


def _latest(stores: Sequence[Path]) -> Counter[tuple[Any, ...]]:
    """Of all labels in the stores the latest of each author on each check."""
    found: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for store in stores:
        for row in rows(store, "SELECT * FROM labels"):
            case_id, rubric_id, expected, source, reviewer, note, at = row
            known = found.get((case_id, rubric_id, source, reviewer))
            if known is None or (at, expected, note or "") > (known[6], known[2], known[5] or ""):
                found[case_id, rubric_id, source, reviewer] = row
    return Counter(found.values())


@settings(max_examples=25)
@given(first=_STORE, second=_STORE, third=_STORE)
def test_a_merge_is_the_union_in_any_order_and_in_any_steps(
    tmp_path_factory: pytest.TempPathFactory, first: Any, second: Any, third: Any
) -> None:
    folder = tmp_path_factory.mktemp("merge")
    stores = [
        _store(folder / f"{name}.db", *spec)
        for name, spec in zip(("a", "bb", "ccc"), (first, second, third), strict=True)
    ]
    parts = [shown(store) for store in stores]
    merge_stores(stores, folder / "one.db")
    found = shown(folder / "one.db")
    for name in found:
        union: Counter[tuple[Any, ...]] = sum((part[name] for part in parts), Counter())
        if name in _ONCE:
            union = Counter(dict.fromkeys(union, 1))
        assert found[name] == (_latest(stores) if name == "labels" else union), name
    assert sound(folder / "one.db")
    merge_stores(stores[::-1], folder / "two.db")
    assert shown(folder / "two.db") == found
    merge_stores(stores[1:], folder / "three.db")
    merge_stores([folder / "three.db", folder / "one.db"], stores[0])
    assert shown(stores[0]) == found and sound(stores[0])
    shutil.rmtree(folder)


# Whole or not at all, and sources untouched.


@pytest.mark.parametrize("when", ["jeval.store.merge.carry_shared", "jeval.store.merge.carry_additions"])
@pytest.mark.parametrize("existing", [True, False])
def test_a_killed_merge_leaves_the_target_as_it_was(
    make: Callable[[str], Made], tmp_path: Path, when: str, existing: bool
) -> None:
    source, target = stored(make, "a", "a-1", of=cases(20)), tmp_path / "all.db"
    if existing:
        stored(make, "all", "z-1")
    before = shown(target) if existing else None
    module, _, name = when.rpartition(".")
    code = (
        f"import os, signal, sys; from pathlib import Path; import {module} as m\n"
        f"real, count = m.{name}, []\n"
        "def killed(*a):\n"
        "    found = real(*a); os.kill(os.getpid(), signal.SIGKILL)\n"
        f"m.{name} = killed; m.merge_stores([Path(sys.argv[1])], Path(sys.argv[2]))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(source), str(target)], env=environment(), timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert target.exists() is existing
    if existing:
        assert shown(target) == before
    assert merge_stores([source], target).stores[0].brought == ["a-1"]
    assert sound(target)


def test_an_interrupted_merge_leaves_no_file_behind(
    make: Callable[[str], Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    source = stored(make, "a", "a-1")
    monkeypatch.setattr("jeval.store.merge.carry_additions", interrupted)
    with pytest.raises(KeyboardInterrupt):
        merge_stores([source], tmp_path / "all.db")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.db"]


def test_sources_are_the_same_byte_for_byte_even_one_of_an_older_schema(
    make: Callable[[str], Made], tmp_path: Path
) -> None:
    sources = [stored(make, "a", "a-1"), stored(make, "old", "old-1")]
    with closing(sqlite3.connect(sources[1])) as connection:
        connection.executescript("DROP VIEW explanations; DROP TABLE explanation_rows; PRAGMA user_version = 1;")
    before = [source.read_bytes() for source in sources]
    merged = merge_stores(sources, tmp_path / "all.db")
    assert [store.brought for store in merged.stores] == [["a-1"], ["old-1"]]
    assert [source.read_bytes() for source in sources] == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.db", "all.db", "old.db"]
    assert checks_of(tmp_path / "all.db", "old-1") == checks_of(sources[1], "old-1")


def test_what_is_no_store_of_ours_or_of_a_newer_jeval_is_refused(make: Callable[[str], Made], tmp_path: Path) -> None:
    fine, newer, foreign = stored(make, "a", "a-1"), stored(make, "newer", "n-1"), tmp_path / "foreign.db"
    with closing(sqlite3.connect(newer)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    with closing(sqlite3.connect(foreign)) as connection:
        connection.execute("CREATE TABLE runs (id)")
    text = write_cases(tmp_path / "cases.jsonl", 20)
    for target in (tmp_path / "new.db", stored(make, "all", "z-1")):
        assert "upgrade jeval" in refused([fine, newer], target, StoreTooNew)
        assert "something else" in refused([fine, foreign], target)
        assert "not a database" in refused([fine, text], target)
        assert "gone.db does not exist" in refused([fine, tmp_path / "gone.db"], target)
    assert "upgrade jeval" in refused([fine], newer, StoreTooNew)
    assert "something else" in refused([fine], foreign)
    with pytest.raises(StoreError, match=r"its folder .* does not exist; make it"):
        merge_stores([fine], tmp_path / "nowhere" / "all.db")


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("DELETE FROM case_ids WHERE key = 1", "is damaged: it refers to a row 1 that is not there"),
        ("UPDATE request_rows SET id = id + (5 << 32)", "not numbered by their run"),
        ("UPDATE run_cases SET sources = 'nonsense'", "is damaged: "),
        ("UPDATE run_cases SET sources = '[null]'", "is damaged: "),
        ("DROP TABLE criteria", "could not be merged into .*: no such table"),
    ],
)
def test_a_store_that_holds_together_no_more_is_refused(
    make: Callable[[str], Made], tmp_path: Path, sql: str, words: str
) -> None:
    source = stored(make, "a", "a-1")
    with closing(sqlite3.connect(source)) as connection, connection:
        connection.execute(sql)
    for target in (tmp_path / "new.db", stored(make, "all", "z-1")):
        with pytest.raises(StoreError, match=words):
            raise StoreError(refused([source], target))


def test_two_contents_under_one_key_are_refused(make: Callable[[str], Made], tmp_path: Path) -> None:
    source, target = stored(make, "a", "a-1"), stored(make, "all", "z-1")
    with closing(sqlite3.connect(source)) as connection, connection:
        connection.execute("UPDATE criteria SET text = text || '!'")
    assert "two contents under one key in criteria" in refused([source], target)


def test_a_target_that_appears_meanwhile_is_not_written_over(
    make: Callable[[str], Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = stored(make, "a", "a-1"), tmp_path / "all.db"
    real = os.link

    def late(first: Any, second: Any) -> None:
        target.write_text("somebody's")
        real(first, second)

    monkeypatch.setattr("jeval.store.merge.os.link", late)
    with pytest.raises(StoreError, match="made by somebody else meanwhile"):
        merge_stores([source], target)
    assert target.read_text() == "somebody's"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.db", "all.db"]


def test_a_file_system_without_links_does_as_well(
    make: Callable[[str], Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(first: Any, second: Any) -> None:
        raise OSError

    monkeypatch.setattr("jeval.store.merge.os.link", no_links)
    merged: Merged = merge_stores([stored(make, "a", "a-1")], tmp_path / "all.db")
    assert merged.created and sound(tmp_path / "all.db")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.db", "all.db"]
