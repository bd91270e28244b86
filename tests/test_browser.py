"""The pages in a real browser: no console error at desktop and phone width, labels by keyboard, a comparison.

With BROWSER_IMAGES set to a folder, the pictures that the documentation shows are written there.
"""

import asyncio
import os
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from browsing import make_store
from chromium import Page, chromium, find_chromium
from stub_judge import judging
from test_serve import serving

from jeval.app.cli import main

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium on this machine"),
]

DESKTOP, PHONE = (1280, 800), (390, 800)
# Whether the page is wider than its window: on a phone that makes people scroll sideways.
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth + 1"
WIDEST = """[...document.querySelectorAll("main *")].sort((a, b) => b.getBoundingClientRect().right
  - a.getBoundingClientRect().right).slice(0, 3).map((e) => e.outerHTML.slice(0, 150)).join(" | ")"""
# Text that is hardly told from what it stands on: a contrast under 3 to 1 (WCAG 2, with opacity left out).
FAINT = """(() => {
  const linear = (c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] > 0.5) return c; } return [255, 255, 255]; };
  const found = new Set();
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.textContent.trim()).join("");
    if (!own || !e.getClientRects().length || e.closest("svg, option, [hidden], .cross")) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 3) found.add(`${e.tagName} ${e.className}: ${own.slice(0, 40)}`);
  }
  return [...found].slice(0, 5);
})()"""
Visit = Callable[[Page, str], Awaitable[None]]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> Path:
    return make_store(tmp_path_factory.mktemp("hostile"), 4)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory) -> Path:
    """Runs of the bundled clinic, as the pictures show them."""
    store = tmp_path_factory.mktemp("clinic") / "clinic.db"
    common = ["dataset=clinic", "rubrics=clinic", f"store={store}", "judge=local"]
    with judging("model-1.0") as first, judging("model-1.1") as second:
        for name in ("monday", "tuesday"):
            main(["run", *common, f"judge.base_url={first}", f"name={name}", "judge.reuse=never"])
        main(["run", *common, f"judge.base_url={second}", "name=wednesday", "judge.reuse=never"])
        main(["run", "-m", *common, f"judge.base_url={second}", "thresholds=lenient,default,strict"])
        main(["run", *common, f"judge.base_url={second}", "name=thursday"])
    return store


def visit(store: Path, folder: Path, steps: Visit) -> list[str]:
    """Serve the store, open a browser, take the steps; what the browser complained about."""

    async def run(url: str) -> list[str]:
        async with chromium(folder / "profile") as page:
            await steps(page, url.removesuffix("/-/jeval"))
            return page.problems

    with serving(store) as (_, url):
        return asyncio.run(run(url))


def rows(store: Path, sql: str) -> list[tuple]:
    connection = sqlite3.connect(store)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def test_every_page_opens_at_desktop_and_phone_width_without_a_complaint(hostile: Path, tmp_path: Path):
    ids = dict(rows(hostile, "SELECT name, id FROM runs"))
    first, second = ids["first"], ids["second"]
    pages = [
        "/-/jeval",
        f"/-/jeval/run/{second}",
        f"/-/jeval/run/{second}?status=fail&q=heliotrope",
        f"/-/jeval/case/{second}/case-1",
        f"/-/jeval/compare?a={first}&b={second}",
        "/-/jeval/history",
        f"/-/jeval/review?run={second}",
        "/-/jeval/sweep/sweep-1",
        "/hostile",
        "/hostile/checks",
        "/hostile/checks?_cols=all",
        "/hostile/cases",
        "/hostile/runs",
        "/hostile/runs/1",
        "/hostile/rubrics/1",
        "/hostile/case_rows/1",
        f"/hostile/compare?run_a={first}&run_b={second}",
    ]
    wide: list[str] = []
    faint: list[str] = []

    async def steps(page: Page, base: str) -> None:
        for (width, height), phone in ((DESKTOP, False), (PHONE, True)):
            await page.size(width, height, phone=phone)
            for dark in (False, True):
                await page.dark(dark)
                for path in pages:
                    await page.open(base + path)
                    assert await page.ask("typeof window.owned") == "undefined", path
                    if await page.ask(TOO_WIDE):
                        wide.append(f"{path} at {width}: {await page.ask(WIDEST)}")
                    faint.extend(f"{path}, dark {dark}: {text}" for text in await page.ask(FAINT))

    assert visit(hostile, tmp_path, steps) == []
    assert wide == []
    assert faint == [], "\n".join(faint)


def test_datasette_s_own_menu_shows_all_columns(hostile: Path, tmp_path: Path):
    columns = "[...document.querySelectorAll('th[data-column]')].map((th) => th.dataset.column)"

    async def steps(page: Page, base: str) -> None:
        await page.open(f"{base}/hostile/checks?status=review&_nocol=reason")
        assert "evidence" not in await page.ask(columns)
        await page.ask("document.querySelector('th .dropdown-menu-icon').dispatchEvent(new MouseEvent('click'))")
        await page.click("a.dropdown-show-all-columns")
        assert {"evidence", "reason", "criterion"} <= set(await page.ask(columns))
        assert await page.ask("location.search") == "?status=review&_cols=all"

    assert visit(hostile, tmp_path, steps) == []


def test_a_check_is_labelled_by_keyboard(hostile: Path, tmp_path: Path):
    async def steps(page: Page, base: str) -> None:
        await page.open(f"{base}/-/jeval/review?run=second&queue=review")
        await page.key("n")
        await page.key("m", loads=False)
        assert await page.ask("document.activeElement.name") == "note"
        for letter in "pfs":  # inside a field letters are letters
            await page.key(letter, loads=False)
        await page.key("Escape", loads=False)
        await page.key("f")
        assert await page.ask("document.querySelector('.note.good').textContent.includes('as ✕ fail')")
        await page.key("z")
        assert "already given" in await page.ask("document.body.textContent")

    assert visit(hostile, tmp_path, steps) == []
    found = rows(hostile, "SELECT expected, note FROM labels WHERE source = 'human'")
    assert found == [("fail", "pfs")]


def test_two_runs_are_compared_from_the_list_of_runs(clinic: Path, tmp_path: Path):
    async def steps(page: Page, base: str) -> None:
        await page.open(f"{base}/-/jeval?name=day")
        await page.key("c")
        assert "/-/jeval/compare?" in await page.ask("location.href")
        assert "checks in both" in await page.ask("document.body.textContent")
        before = await page.ask("document.querySelector('select[name=a]').value")
        await page.key("x")
        assert await page.ask("document.querySelector('select[name=b]').value") == before

    assert visit(clinic, tmp_path, steps) == []


def test_the_report_opens_without_a_complaint(hostile: Path, tmp_path: Path):
    report = tmp_path / "report.html"
    assert main(["report", "second", "--store", str(hostile), "-o", str(report)]) == 0

    async def steps() -> list[str]:
        async with chromium(tmp_path / "profile") as page:
            await page.open(report.as_uri())
            assert await page.ask("typeof window.owned") == "undefined"
            assert await page.ask("getComputedStyle(document.body).margin") == "0px"
            return page.problems

    assert asyncio.run(steps()) == []


@pytest.mark.skipif("BROWSER_IMAGES" not in os.environ, reason="BROWSER_IMAGES names no folder for pictures")
def test_pictures_for_the_documentation(clinic: Path, tmp_path: Path):
    folder = Path(os.environ["BROWSER_IMAGES"])
    ids = rows(clinic, "SELECT id, sweep_id FROM runs ORDER BY started_at")
    first, last = ids[0][0], ids[-1][0]
    tall = (PHONE[0], 1000)
    sweep = next(sweep for _, sweep in ids if sweep)
    pictures = {
        "runs": ("/-/jeval", DESKTOP, False),
        "run": (f"/-/jeval/run/{last}", DESKTOP, False),
        "case": (f"/-/jeval/case/{last}/clinic-005", DESKTOP, False),
        "case-dark": (f"/-/jeval/case/{last}/clinic-003", DESKTOP, True),
        "compare": (f"/-/jeval/compare?a={first}&b={last}", DESKTOP, False),
        "history": ("/-/jeval/history", DESKTOP, False),
        "sweep": (f"/-/jeval/sweep/{sweep}", DESKTOP, False),
        "table": ("/clinic/checks", DESKTOP, False),
        "review-phone": (f"/-/jeval/review?run={last}", tall, False),
    }

    async def steps(page: Page, base: str) -> None:
        for name, (path, (width, height), dark) in pictures.items():
            await page.size(width, height, phone=width < 500)
            await page.dark(dark)
            await page.open(base + path)
            (folder / f"{name}.png").write_bytes(await page.picture())

    folder.mkdir(parents=True, exist_ok=True)
    assert visit(clinic, tmp_path, steps) == []
    assert all((folder / f"{name}.png").stat().st_size < 200_000 for name in pictures)
