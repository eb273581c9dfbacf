"""A real Chromium on a page of a real server."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect
from tests.patience import PATIENCE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


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
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda line: self._heard(line.type, line.text))

    def _heard(self, kind: str, text: str) -> None:
        # What the server refuses is told by the page; what the page's own policy refuses is a fault of the page.
        if kind == "error" and "Failed to load resource" not in text:
            self.faults.append(text)

    async def open(self, view: str = "/") -> None:
        """Go to a view by its address."""
        await self.page.goto(f"{self.base}/#{view}", wait_until="domcontentloaded")


@asynccontextmanager
async def tab(browser: Browser, base: str, **context: object) -> AsyncIterator[Tab]:
    """A new person's tab: nothing of another one is in it."""
    own = await browser.new_context(**context)  # type: ignore[arg-type]
    expect.set_options(timeout=PATIENCE * 1000)
    own.set_default_timeout(PATIENCE * 1000)
    page = await own.new_page()
    made = Tab(own, page, base.rstrip("/"))
    yield made
    await own.close()
    assert made.faults == [], made.faults
