"""A real Chromium on a page of a real server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, BrowserContext, Error, Page, Request, async_playwright, expect

#: Seconds that the page has for what it does, on a machine that stands nearly still: a fault is told within these.
SHOWN = 90
#: Waits until the page has turned to the view of its address.
TURNED = """async () => {
  const router = document.querySelector('#page').__vue_app__.config.globalProperties.$router
  await router.isReady()
  const view = location.hash.slice(1) || '/'
  if (router.currentRoute.value.fullPath !== view) await router.push(view)
}"""
#: Waits until the page has drawn itself twice.
DRAWN = "async () => { for (const _ of [1, 2]) await new Promise(requestAnimationFrame) }"
#: Where pictures of pages go whose test failed.
PICTURES = Path(__file__).parents[2] / "build" / "screenshots"
#: The one without windows draws the same with two thirds of the work.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, PROGRAMS)), None)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """The system's Chromium. Skips the test where there is none."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed; on Debian: apt-get install chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        await browser.close()


class Tab:
    """A tab of a person, who sees faults that the page would hide from them."""

    def __init__(self, context: BrowserContext, page: Page, base: str) -> None:
        self.context = context
        self.page = page
        self.base = base
        self.faults: list[str] = []
        self._asked: set[Request] = set()
        self._changed = asyncio.Event()
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda line: self._heard(line.type, line.text))
        page.on("request", self._ask)
        page.on("requestfinished", self._answer)
        page.on("requestfailed", self._answer)

    def _heard(self, kind: str, text: str) -> None:
        # What the server refuses is told by the page; what the page's own policy refuses is a fault of the page.
        if kind == "error" and "Failed to load resource" not in text:
            self.faults.append(text)

    def _ask(self, request: Request) -> None:
        # A stream of events ends when the page leaves it.
        if request.resource_type != "eventsource":
            self._asked.add(request)

    def _answer(self, request: Request) -> None:
        self._asked.discard(request)
        self._changed.set()

    async def open(self, view: str = "/") -> None:
        """Go to a view by its address; the one before is not there any more."""
        await self.page.goto(f"{self.base}/#{view}", wait_until="domcontentloaded")
        await self.page.evaluate(TURNED)

    async def picture(self) -> None:
        """Keep a picture of what the person saw last, named by the test that failed."""
        name = re.sub(r"[^\w\[\]-]+", "-", os.environ.get("PYTEST_CURRENT_TEST", "page").rpartition("::")[2])
        taken = PICTURES / f"{name[:120].strip('-')}-{id(self):x}.png"
        with contextlib.suppress(Error, OSError):
            await self.page.screenshot(path=taken, timeout=10_000)

    async def settled(self) -> None:
        """Everything that the view asked the server for has come and is shown."""
        while True:
            await self.page.evaluate(TURNED)
            await self.page.evaluate(DRAWN)
            if not self._asked:
                break
            self._changed.clear()
            await asyncio.wait_for(self._changed.wait(), SHOWN)
        await expect(self.page.locator("main h1, main h2").first).to_be_visible()


@asynccontextmanager
async def tab(browser: Browser, base: str, **context: object) -> AsyncIterator[Tab]:
    """A new person's tab: nothing of another one is in it."""
    own = await browser.new_context(**context)  # type: ignore[arg-type]
    expect.set_options(timeout=SHOWN * 1000)
    own.set_default_timeout(SHOWN * 1000)
    page = await own.new_page()
    made = Tab(own, page, base.rstrip("/"))
    try:
        yield made
    except BaseException:
        await made.picture()
        raise
    finally:
        await own.close()
    assert made.faults == [], made.faults


async def signed_in(person: Tab, header: dict[str, str], view: str) -> None:
    """Open a view and sign in with the key of this header."""
    await person.open(view)
    await person.page.get_by_label("Key or token").fill(header["Authorization"].removeprefix("Bearer "))
    await person.page.get_by_role("button", name="Sign in").click()


class Cable:
    """A way to a server that can be cut: who is connected loses the connection, and nobody gets a new one."""

    def __init__(self, base: str = "") -> None:
        self.lead(base)
        self._open: set[asyncio.StreamWriter] = set()
        self.base = ""

    @asynccontextmanager
    async def laid(self) -> AsyncIterator[Cable]:
        """The cable, with an address of its own."""
        server = await asyncio.start_server(self._join, "127.0.0.1", 0)
        self.base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            self.cut()
            server.close()

    def cut(self) -> None:
        """Cut it: all connections end at once."""
        self._is_cut = True
        for writer in self._open:
            writer.transport.abort()

    def lead(self, base: str) -> None:
        """Lead it to another server, as after a restart."""
        found = urlsplit(base)
        self._to = (found.hostname or "", found.port or 80)
        self._is_cut = False

    def mend(self) -> None:
        """New connections are taken again."""
        self._is_cut = False

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.transport.abort()
            return
        there, back = await asyncio.open_connection(*self._to)
        self._open |= {writer, back}
        await asyncio.gather(self._pass(reader, back), self._pass(there, writer))
        self._open -= {writer, back}

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.transport.abort()
