"""How pages ask the store: all of one page is of one moment."""

import asyncio
import sqlite3
from pathlib import Path

from browsing import Browser, make_store

from jeval.browse.routes import Desk


def test_what_a_page_reads_is_of_one_moment_though_a_run_writes_between(tmp_path: Path) -> None:
    browser = Browser(make_store(tmp_path, 2))
    writer = sqlite3.connect(browser.store, isolation_level=None, check_same_thread=False)

    def read_twice(conn: sqlite3.Connection) -> tuple[int, int]:
        before = conn.execute("SELECT count(*) FROM labels").fetchone()[0]
        writer.execute(
            "INSERT INTO labels SELECT case_id, rubric_id, expected, 'human', 'me', note, labelled_at FROM labels"
        )
        return before, conn.execute("SELECT count(*) FROM labels").fetchone()[0]

    desk = Desk(browser.datasette, None, [], "hostile")
    first = asyncio.run(desk.ask(read_twice))
    assert first == (2, 2)
    assert asyncio.run(desk.ask(lambda conn: conn.execute("SELECT count(*) FROM labels").fetchone()[0])) == 4
    writer.close()
