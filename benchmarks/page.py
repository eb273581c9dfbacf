"""The web page in a real Chromium: `python -m benchmarks page`.

A plan of 1,000 steps is laid out, panned and zoomed; events come at 200 a second; a loop of 10,000 items and a run of
100,000 step instances are opened. Server, browser and whatever else the machine does share its cores: the load beside
each figure says how busy it was.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import statistics
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import uvicorn
from playwright.async_api import Browser, Page, async_playwright

from benchmarks.report import publish, table
from toolpath import ToolContext, Toolpath
from toolpath.server.asgi import create_app

#: Events a second, and for how many seconds they come.
RATE = 200
SECONDS = 60
#: Milliseconds for which the graph is moved.
MOVED = 4_000

#: When each event arrived at the page, and when the page had shown it; long tasks and frames.
_WATCH = """
window.seen = { arrived: new Map(), shown: [], tasks: [], frames: [] }
new PerformanceObserver((list) => { for (const one of list.getEntries()) seen.tasks.push(one.duration) })
  .observe({ type: 'longtask', buffered: true })
const Plain = window.EventSource
window.EventSource = class extends Plain {
  constructor(...given) {
    super(...given)
    this.addEventListener('message', (event) => {
      const tick = /tick (\\d+)/.exec(event.data)
      if (tick) seen.arrived.set(tick[1], performance.now())
    })
  }
}
let last = ''
new MutationObserver(() => {
  const found = document.querySelector('.panel dl progress')?.parentElement?.textContent?.match(/tick (\\d+)/)?.[1]
  if (!found || found === last) return
  last = found
  const at = seen.arrived.get(found)
  if (at !== undefined) seen.shown.push([Number(found), performance.now() - at])
}).observe(document, { subtree: true, childList: true, characterData: true })
"""
_FRAMES = """
(length) => new Promise((done) => {
  const frames = []
  const start = performance.now()
  let before = start
  const step = (now) => {
    frames.push(now - before)
    before = now
    if (now - start < length) requestAnimationFrame(step)
    else done(frames.slice(1))
  }
  requestAnimationFrame(step)
})
"""


@dataclass
class Figures:
    """Figures of one run of this benchmark."""

    rows: list[tuple[str, str, float]] = field(default_factory=list)
    data: dict[str, float] = field(default_factory=dict)

    def add(self, name: str, value: float, unit: str, shown: str) -> None:
        """Keep one, with the load of the last minute beside it."""
        load = os.getloadavg()[0]
        self.rows.append((shown, f"{value:,.1f} {unit}", round(load, 1)))
        self.data[name] = round(value, 2)
        print(f"{shown}: {value:,.1f} {unit} (load {load:.1f})", flush=True)


def square(n: int) -> int:
    """Square a number."""
    return n * n


def numbers(count: int) -> list[int]:
    """Count."""
    return list(range(count))


async def ticking(context: ToolContext, rate: int, seconds: int) -> int:
    """Tell of progress so many times a second."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    for tick in range(rate * seconds):
        context.progress(tick, rate * seconds, f"tick {tick}")
        await asyncio.sleep(max(0.0, start + (tick + 1) / rate - loop.time()))
    return rate * seconds


def wide_plan(steps: int, width: int = 25) -> dict[str, Any]:
    """A plan of so many steps in layers; each waits for two of the layer before."""
    made: list[dict[str, Any]] = []
    for index in range(steps):
        above = index - width
        waits = [f"s{one}" for one in (above, above + 1) if one >= 0 and one // width == above // width]
        made.append({"id": f"s{index}", "tool": "square", "inputs": {"n": index}, "depends_on": waits})
    return {"name": f"{steps:,} steps", "steps": made}


def loop_plan(items: int) -> dict[str, Any]:
    """A loop over so many items with a call each."""
    one = [{"id": "one", "tool": "square", "inputs": {"n": "{{ item }}"}}]
    loop = {"over": "{{ list }}", "concurrency": 50, "steps": one, "collect": "{{ one }}"}
    steps = [{"id": "list", "tool": "numbers", "inputs": {"count": items}}, {"id": "each", "loop": loop}]
    return {"name": f"{items:,} items", "steps": steps, "outputs": "{{ each | length }}"}


class _Server(uvicorn.Server):
    """Says when it has begun."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


@asynccontextmanager
async def serving(tp: Toolpath) -> AsyncIterator[str]:
    """The address of a server for it."""
    server = _Server(uvicorn.Config(create_app(tp), port=0, log_config=None, timeout_graceful_shutdown=5))
    task = asyncio.create_task(server.serve())
    await server.ready.wait()
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    await task


async def _begun(base: str, plan: dict[str, Any], **inputs: Any) -> str:
    async with httpx.AsyncClient(timeout=120) as client:
        answer = await client.post(f"{base}/api/v1/runs", json={"plan": plan, "inputs": inputs})
        answer.raise_for_status()
        return str(answer.json()["run_id"])


async def _ended(tp: Toolpath, run: str) -> None:
    async for _ in tp.watch(run):
        pass


@asynccontextmanager
async def _page(browser: Browser) -> AsyncIterator[Page]:
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    await context.add_init_script(_WATCH)
    page = await context.new_page()
    page.set_default_timeout(60_000)
    yield page
    await context.close()


async def _longest(page: Page) -> float:
    return float(await page.evaluate("Math.max(0, ...seen.tasks)"))


async def _heap(page: Page) -> float:
    """Megabytes of the page's heap after what is garbage has been collected."""
    session = await page.context.new_cdp_session(page)
    await session.send("HeapProfiler.collectGarbage")
    found = await session.send("Runtime.getHeapUsage")
    await session.detach()
    return float(found["usedSize"]) / 1e6


async def _moved(page: Page, move: Callable[[int], Awaitable[None]]) -> list[float]:
    """Milliseconds between frames while the graph is moved."""
    frames = asyncio.create_task(page.evaluate(_FRAMES, MOVED))
    count = 0
    while not frames.done():
        await move(count)
        count += 1
    found: list[float] = await frames
    return found


async def graph(tp: Toolpath, base: str, browser: Browser, figures: Figures) -> None:
    """A plan of 1,000 steps: layout, pan and zoom."""
    run = await _begun(base, wide_plan(1_000))
    await _ended(tp, run)
    async with _page(browser) as page:
        began = asyncio.get_running_loop().time()
        await page.goto(f"{base}/#/runs/{run}")
        await page.locator(".large-graph[data-boxes]").wait_for()
        figures.add("graph_seconds", asyncio.get_running_loop().time() - began, "s", "1,000 steps: until drawn")
        figures.add("graph_longest_ms", await _longest(page), "ms", "1,000 steps: longest task")
        box = await page.locator(".graph").bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        await page.mouse.move(x, box["y"] + 8)
        await page.mouse.down()
        pans = await _moved(page, lambda at: page.mouse.move(x + 200 * ((at % 20) / 10 - 1), box["y"] + 8 + at % 50))
        await page.mouse.up()
        await page.mouse.move(x, y)
        zooms = await _moved(page, lambda at: page.mouse.wheel(0, -60 if at % 40 < 20 else 60))
        for name, frames in (("pan", pans), ("zoom", zooms)):
            figures.add(f"{name}_fps", 1_000 / statistics.mean(frames), "fps", f"1,000 steps: {name}, frames a second")
            figures.add(
                f"{name}_p95_ms", sorted(frames)[int(len(frames) * 0.95)], "ms", f"1,000 steps: {name}, p95 frame"
            )


async def events(tp: Toolpath, base: str, browser: Browser, figures: Figures) -> None:
    """Events at a steady rate: how soon each is shown, and whether the page grows."""
    plan = {"name": "ticks", "steps": [{"id": "t", "tool": "ticking", "inputs": {"rate": RATE, "seconds": SECONDS}}]}
    run = await _begun(base, plan)
    async with _page(browser) as page:
        await page.goto(f"{base}/#/runs/{run}?step=t")
        await page.locator(".panel dl progress").wait_for()
        await asyncio.sleep(5)
        before = await _heap(page)
        await _ended(tp, run)
        await page.locator(".head .state.completed").wait_for()
        shown = [float(each[1]) for each in await page.evaluate("seen.shown")]
        arrived = int(await page.evaluate("seen.arrived.size"))
        after = await _heap(page)
        figures.add("events_arrived", arrived, "", f"{RATE} events/s for {SECONDS} s: arrived by stream")
        figures.add("event_p50_ms", statistics.median(shown), "ms", "arrived until shown, median")
        figures.add("event_p99_ms", sorted(shown)[int(len(shown) * 0.99)], "ms", "arrived until shown, p99")
        figures.add("events_longest_ms", await _longest(page), "ms", "longest task meanwhile")
        figures.add(
            "heap_growth_mb", after - before, "MB", f"heap at the end, beyond that after 5 s ({before:,.1f} MB)"
        )


async def opened(tp: Toolpath, base: str, browser: Browser, figures: Figures, items: int, name: str) -> None:
    """A run of a long loop, opened as a tree."""
    run = await _begun(base, loop_plan(items))
    await _ended(tp, run)
    async with _page(browser) as page:
        began = asyncio.get_running_loop().time()
        await page.goto(f"{base}/#/runs/{run}?view=tree")
        await page.locator(".tree .line").first.wait_for()
        figures.add(f"{name}_first_s", asyncio.get_running_loop().time() - began, "s", f"{items:,} items: first rows")
        await page.locator(".head .state.completed").wait_for()
        figures.add(f"{name}_whole_s", asyncio.get_running_loop().time() - began, "s", f"{items:,} items: whole")
        await page.locator(".tree .line", has_text="each").get_by_role("button").first.click()
        await page.locator(".tree .line", has_text="each[0]").first.wait_for()
        await page.locator(".tree .rows").hover()
        frames = await _moved(page, lambda at: page.mouse.wheel(0, 3_000))
        figures.add(f"{name}_scroll_fps", 1_000 / statistics.mean(frames), "fps", f"{items:,} items: scrolled")
        figures.add(f"{name}_longest_ms", await _longest(page), "ms", f"{items:,} items: longest task")
        figures.add(f"{name}_heap_mb", await _heap(page), "MB", f"{items:,} items: heap")


async def measure() -> Figures:
    """All of it, one after the other."""
    figures = Figures()
    tp = Toolpath()
    tp.add(square, numbers, ticking, effect="read", timeout="600s")
    executable = shutil.which("chromium") or shutil.which("google-chrome")
    async with serving(tp) as base, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        await graph(tp, base, browser, figures)
        await events(tp, base, browser, figures)
        await opened(tp, base, browser, figures, 10_000, "loop")
        await opened(tp, base, browser, figures, 50_000, "long")
        await browser.close()
    return figures


def main() -> int:
    """Measure, print and publish."""
    figures = asyncio.run(measure())
    publish("page", table(["what", "measured", "load"], figures.rows), figures.data)
    return 0
