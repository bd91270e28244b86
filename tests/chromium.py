"""A headless Chromium driven over its debugging socket, for tests that must see what people see."""

import asyncio
import base64
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

WAIT_S = 60
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --hide-scrollbars --disable-dev-shm-usage"
    " --remote-debugging-port=0"
).split()


def find_chromium() -> str | None:
    """The program, or None where there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    return None


class Page:
    """One tab. `problems` collects what the console and the page's policy complained about."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._loaded = asyncio.Event()
        self.problems: list[str] = []

    async def listen(self) -> None:
        """Take in what Chromium says, until it closes."""
        async for message in self._socket:
            event = json.loads(message.data)
            if "id" in event:
                waiting = self._waiting.pop(event["id"], None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(event)
            elif event["method"] == "Page.loadEventFired":
                self._loaded.set()
            elif event["method"] == "Runtime.exceptionThrown":
                self.problems.append(json.dumps(event["params"])[:500])
            elif event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] in (
                "error",
                "warning",
            ):
                self.problems.append(json.dumps(event["params"]["entry"])[:500])
            elif event["method"] == "Runtime.consoleAPICalled" and event["params"]["type"] in (
                "error",
                "assert",
            ):
                self.problems.append(json.dumps(event["params"])[:500])

    async def call(self, method: str, **params: Any) -> Any:
        """Chromium's answer to a command."""
        number = next(self._numbers)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": params})
        answer = await asyncio.wait_for(self._waiting[number], WAIT_S)
        assert "error" not in answer, answer
        return answer["result"]

    async def open(self, url: str) -> None:
        """Go there, and wait until it has loaded."""
        self._loaded.clear()
        await self.call("Page.navigate", url=url)
        await asyncio.wait_for(self._loaded.wait(), WAIT_S)

    async def size(self, width: int, height: int, *, phone: bool = False) -> None:
        """The size of the window."""
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )

    async def dark(self, on: bool) -> None:
        """Whether the person prefers dark pages."""
        value = "dark" if on else "light"
        await self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    async def key(self, key: str, *, loads: bool = True) -> None:
        """Press a key; where it `loads` a page, wait for it."""
        self._loaded.clear()
        for kind in ("keyDown", "keyUp"):
            extra = {"text": key} if kind == "keyDown" and len(key) == 1 else {}
            await self.call("Input.dispatchKeyEvent", type=kind, key=key, **extra)
        if loads:
            await asyncio.wait_for(self._loaded.wait(), WAIT_S)

    async def click(self, selector: str) -> None:
        """Click the first such element, and wait for the page it leads to."""
        self._loaded.clear()
        await self.ask(f"document.querySelector({json.dumps(selector)}).click()")
        await asyncio.wait_for(self._loaded.wait(), WAIT_S)

    async def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        answer = await self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def picture(self) -> bytes:
        """What the window shows, as PNG."""
        return base64.b64decode((await self.call("Page.captureScreenshot", format="png"))["data"])


@asynccontextmanager
async def chromium(profile: Path) -> AsyncIterator[Page]:
    """A fresh Chromium with one tab; gone afterwards, its children too."""
    program = find_chromium()
    assert program is not None
    process = subprocess.Popen(
        [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        port = await _port(profile / "DevToolsActivePort")
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json/list") as response:
                tabs = await response.json()
            url = next(tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page")
            async with session.ws_connect(re.sub(r"//[^/]+", f"//127.0.0.1:{port}", url), max_msg_size=0) as socket:
                page = Page(socket)
                listening = asyncio.ensure_future(page.listen())
                for domain in ("Page", "Runtime", "Log"):
                    await page.call(f"{domain}.enable")
                yield page
                listening.cancel()
                await asyncio.gather(listening, return_exceptions=True)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(WAIT_S)


async def _port(file: Path) -> int:
    for _ in range(WAIT_S * 10):
        if file.exists() and file.read_text().strip():
            return int(file.read_text().split()[0])
        await asyncio.sleep(0.1)
    raise AssertionError("chromium does not start")
