"""Large runs in a real Chromium: opened while they go on and afterwards, with few elements and little memory."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect
from tests.page.page_cases import chromium, tab
from tests.server.serving_cases import serving
from tests.soak import scaled

from toolpath import Settings, Toolpath
from toolpath.server.asgi import create_app

#: One browser and one loop serve all of them; each has a tab, and a server, of its own.
pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="module")]

#: Elements that a view of a large run may have: those in sight, and no others.
MOST_ELEMENTS = 2_500


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as found:
        yield found


class Halfway:
    """Tools of a run that stops in its middle until the test lets it go on."""

    def __init__(self, at: int) -> None:
        self._at = at
        self.there = asyncio.Event()
        self.open = asyncio.Event()

    async def square(self, n: int) -> int:
        """Square a number."""
        if n == self._at:
            self.there.set()
            await self.open.wait()
        return n * n


def numbers(count: int) -> list[int]:
    """Count."""
    return list(range(count))


def large(kilobytes: int) -> list[str]:
    """Give a value of so many kilobytes."""
    return [f"{index:06d}" + "x" * 990 for index in range(kilobytes)]


def layers(steps: int, width: int = 25) -> dict[str, Any]:
    """A plan of so many steps; each waits for one of the layer before."""
    made: list[dict[str, Any]] = [
        {
            "id": f"s{index}",
            "tool": "square",
            "inputs": {"n": index},
            "depends_on": [f"s{index - width}"] if index >= width else [],
        }
        for index in range(steps)
    ]
    return {"name": "layers", "steps": made}


def loop(items: int, concurrency: int = 50) -> dict[str, Any]:
    """A loop over so many items with a call each."""
    one = [{"id": "one", "tool": "square", "inputs": {"n": "{{ item }}"}}]
    over = {"over": "{{ list }}", "concurrency": concurrency, "steps": one, "collect": "{{ one }}"}
    steps = [{"id": "list", "tool": "numbers", "inputs": {"count": items}}, {"id": "each", "loop": over}]
    return {"name": "loop", "steps": steps, "outputs": "{{ each | length }}"}


async def begun(client: Any, plan: dict[str, Any]) -> str:
    answer = await client.post("/api/v1/runs", json={"plan": plan})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["run_id"])


async def elements(page: Page) -> int:
    return int(await page.evaluate("document.getElementsByTagName('*').length"))


async def heap(page: Page) -> float:
    """Megabytes of the page's heap without what is garbage."""
    session = await page.context.new_cdp_session(page)
    await session.send("HeapProfiler.collectGarbage")
    found = await session.send("Runtime.getHeapUsage")
    await session.detach()
    return float(found["usedSize"]) / 1e6


async def at_end(page: Page, rows: str) -> None:
    """Scroll a list to its end."""
    await page.locator(rows).evaluate("it => it.scrollTop = it.scrollHeight")


async def test_a_run_of_a_thousand_steps_is_seen_while_it_goes_on_and_afterwards(browser: Browser) -> None:
    half = Halfway(500)
    tp = Toolpath()
    tp.add(half.square, effect="read")
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        run = await begun(client, layers(1_000))
        await half.there.wait()
        await person.open(f"/runs/{run}")
        await expect(page.locator(".large-graph[data-boxes='1000']")).to_be_visible()
        await expect(page.locator(".head .state")).to_contain_text("running")
        half.open.set()
        await expect(page.locator("header.head")).to_contain_text("1000 / 1000 done")
        assert await elements(page) < MOST_ELEMENTS
        await page.get_by_role("button", name="Closer").click(click_count=8)
        await expect(page.locator(".large-graph .box").first).to_be_visible()
        assert await elements(page) < MOST_ELEMENTS
        await page.get_by_role("tab", name="Tree").click()
        await at_end(page, ".tree .rows")
        await page.get_by_label("Find a step, a tool or an error").fill("s999")
        await expect(page.locator(".tree .line")).to_have_count(1)
        await page.get_by_role("tab", name="Timeline").click()
        await expect(page.locator(".timeline .critical").first).to_be_visible()
        await at_end(page, ".timeline .rows")
        await page.locator(".timeline .line").last.click()
        await expect(page.locator(".panel")).to_contain_text("square")
        assert await elements(page) < MOST_ELEMENTS


async def walked(browser: Browser, items: int, *, megabytes: float) -> None:
    """A loop of so many items is opened in its middle, then as one that ended."""
    half = Halfway(items // 2)
    # A loop's item is three events of the journal at least: more than a run has of itself.
    tp = Toolpath(settings=Settings(max_run_events=10 * items))
    tp.add(half.square, numbers, effect="read")
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        run = await begun(client, loop(items))
        await half.there.wait()
        await person.open(f"/runs/{run}")
        box = page.locator(".graph .box", has_text="each")
        await expect(box).to_be_visible()
        half.open.set()
        await expect(page.locator(".head .state")).to_contain_text("completed")
        for _ in range(2):
            await expect(page.locator(".graph .box", has_text="each")).to_contain_text(f"{items}/{items}")
            await page.get_by_role("tab", name="Tree").click()
            await page.get_by_role("button", name=re.compile("^each: ")).click()
            await expect(page.locator(".tree .find")).to_contain_text(f"{items + 2:,} rows")
            await at_end(page, ".tree .rows")
            await expect(page.locator(".tree .line", has_text=f"each[{items - 1}]")).to_be_visible()
            await page.get_by_role("tab", name="Timeline").click()
            await at_end(page, ".timeline .rows")
            await expect(page.locator(".timeline .line").last).to_be_visible()
            assert await elements(page) < MOST_ELEMENTS
            # As somebody opens it a month later.
            await page.goto("about:blank")
            await person.open(f"/runs/{run}")
            await expect(page.locator(".head .state")).to_contain_text("completed")
        assert await heap(page) < megabytes


async def test_a_loop_of_ten_thousand_items_is_seen_while_it_goes_on_and_afterwards(browser: Browser) -> None:
    await walked(browser, 10_000, megabytes=120)


@pytest.mark.soak
async def test_a_run_of_a_hundred_thousand_steps_is_walked_through(
    browser: Browser, tried: Callable[[str, int], None]
) -> None:
    steps = scaled(100_000, least=10_000)
    await walked(browser, steps, megabytes=300)
    tried("steps of one run on the page", steps)


async def test_an_output_of_fifty_megabytes_is_read_in_parts_and_the_page_stays_small(browser: Browser) -> None:
    tp = Toolpath()
    tp.add(large, effect="read")
    plan = {"name": "huge", "steps": [{"id": "all", "tool": "large", "inputs": {"kilobytes": 50_000}}]}
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        run = await begun(client, plan)
        await person.open(f"/runs/{run}?step=all")
        await expect(page.locator(".head .state")).to_contain_text("completed")
        await page.get_by_role("button", name="Show the next part").click()
        await expect(page.locator(".large pre")).to_contain_text("000150")
        await expect(page.get_by_role("link", name="Download")).to_be_visible()
        assert await heap(page) < 60
