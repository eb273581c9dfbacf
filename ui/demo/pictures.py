"""`make screenshots`: the two pictures of the README, and every page in each language, in light, in dark and at 390 px.

    .venv/bin/python -m ui.demo.pictures [--into FOLDER] [--only WORD] [--languages en,zh] [--looks light,dark,phone]

The README's are written beside this repository's other pictures; all others into a folder for each language and look.
Chinese needs a font that has its characters (Debian: fonts-noto-cjk).
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import tempfile
from collections.abc import Iterable
from itertools import product
from pathlib import Path

import httpx
from playwright.async_api import Browser, BrowserContext, async_playwright
from ui.demo.serve import served
from ui.demo.store import demo_toolpath, empty_toolpath, fill

OF_THE_README = Path(__file__).parents[2] / "docs" / "pictures"
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
#: Of each page its name and address; `{…}` are ids of the demonstration.
PAGES = {
    "ask": "/",
    "chat": "/chat",
    "conversation": "/chat/{conversation}",
    "runs": "/runs",
    "runs-search": "/runs?text=return&status=completed",
    "runs-none": "/runs?text=nothing-is-called-so",
    "run-done": "/runs/{done}",
    "run-step": "/runs/{done}?step=refund",
    "run-tree": "/runs/{loop}?view=tree",
    "run-timeline": "/runs/{done}?view=timeline",
    "run-events": "/runs/{done}?view=events",
    "run-files": "/runs/{done}?view=files",
    "run-loop": "/runs/{loop}?step=shelves",
    "run-nested": "/runs/{nested}",
    "run-failed": "/runs/{failed}",
    "run-failed-step": "/runs/{failed}?step=count",
    "run-form": "/runs/{form}",
    "run-approval": "/runs/{approval}",
    "run-doubt": "/runs/{doubt}",
    "run-paused": "/runs/{paused}",
    "run-agent": "/runs/{agent}",
    "run-agent-rounds": "/runs/{agent}?view=agent",
    "run-running": "/runs/{running}",
    "run-gone": "/runs/run_0_nothing",
    "compare": "/runs/{done}/compare/{earlier}",
    "inbox": "/inbox",
    "plans": "/plans",
    "plan": "/plans/{plan}",
    "plan-step": "/plans/{plan}",
    "plan-add": "/plans/{plan}",
    "plan-versions": "/plans/{plan}",
    "plan-findings": "/plans/{faulty}",
    "plan-asked": "/plans/{asked}",
    "request": "/requests/{request}",
    "templates": "/templates",
    "template": "/templates/{template}",
    "template-publish": "/templates/{template}",
    "schedules": "/schedules",
    "schedule": "/schedules/{schedule}",
    "tools": "/tools",
    "tool": "/tools?key=shop.refund",
    "mcp-servers": "/mcp-servers",
    "files": "/files",
    "files-runs": "/files/runs/{done}",
    "models": "/models",
    "settings": "/settings",
    "operation": "/operation",
    "workers": "/operation/workers",
    "audit": "/operation/audit",
    "palette": "/runs",
    "fork": "/runs/{done}?step=refund",
    "nowhere": "/nowhere",
}
#: What is pressed before the picture is taken: what opens over a page.
PRESSED = {
    "plan-step": ".graph .box >> nth=2",
    "plan-add": ".graph .add",
    "plan-versions": ".plan header button.plain",
    "template-publish": ".template header button.primary",
    "palette": "nav .find",
    "fork": ".panel .actions button",
}
#: Pages that say what belongs there where nothing is kept yet.
EMPTY = (
    "ask",
    "chat",
    "runs",
    "inbox",
    "plans",
    "templates",
    "schedules",
    "tools",
    "mcp-servers",
    "files",
    "files-runs",
    "models",
    "operation",
    "workers",
    "audit",
)
#: The two of the README: which page, and its name there.
README = {"plan": "page-plan.png", "run-step": "page-run.png"}
LANGUAGES = ("en", "zh")
LOOKS = {"light": (WIDE, "light"), "dark": (WIDE, "dark"), "phone": (PHONE, "light")}


class Photographer:
    """Takes pictures of pages with the system's Chromium."""

    def __init__(self, browser: Browser, base: str, ids: dict[str, str], into: Path) -> None:
        self._browser = browser
        self._base = base
        self._ids = ids
        self._into = into

    async def all(self, names: Iterable[str], languages: list[str], looks: list[str], before: str = "") -> None:
        """Pages in every language and look, into a folder for each; `before` begins the names of their files."""
        for language, look in product(languages, looks):
            size, scheme = LOOKS[look]
            context = await self._context(size, scheme, language)
            folder = self._into / language / look
            folder.mkdir(parents=True, exist_ok=True)
            for name in names:
                await self._take(context, name, folder / f"{before}{name}.png")
            await context.close()

    async def for_the_readme(self) -> None:
        """The two of the README."""
        context = await self._context(WIDE, "light", "en")
        for name, file in README.items():
            await self._take(context, name, OF_THE_README / file)
        await context.close()

    async def _context(self, size: dict[str, int], scheme: str, language: str) -> BrowserContext:
        words = {"viewport": size, "color_scheme": scheme, "reduced_motion": "reduce", "locale": language}
        return await self._browser.new_context(**words)  # type: ignore[arg-type]

    async def _take(self, context: BrowserContext, name: str, file: Path) -> None:
        page = await context.new_page()
        await page.goto(f"{self._base}/#{PAGES[name].format(**self._ids)}")
        await page.locator("main h1:visible, main h2:visible").first.wait_for()
        await page.wait_for_load_state("networkidle")
        # Graphs are laid out in a worker, and move to their place.
        if await page.locator(".graph").count() and not name.endswith("gone"):
            await page.locator(".graph .box, .graph canvas").first.wait_for()
        await page.wait_for_timeout(500)
        if pressed := PRESSED.get(name):
            # On a narrow page it may lie behind the menu.
            await page.locator(pressed).first.dispatch_event("click")
            await page.wait_for_timeout(500)
        # What lies below the first screen is seen too, but not on the README's, and not beside an open dialog.
        is_whole = file.parent != OF_THE_README and not await page.locator("dialog[open]").count()
        await page.screenshot(path=file, full_page=is_whole)
        await page.close()


async def take(asked: argparse.Namespace) -> None:
    """Fill a store, serve it, and take the pictures; then those of an empty one."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("Chromium is not installed; on Debian: apt-get install chromium")
    languages, looks = asked.languages.split(","), asked.looks.split(",")
    chosen = [name for name in PAGES if any(word in name for word in asked.only.split(","))]
    empty = [name for name in EMPTY if any(word in f"empty-{name}" for word in asked.only.split(","))]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder) / "demo.db"
            async with served(tp := demo_toolpath(store)) as client:
                ids = await fill(tp, client, store)
                await _rendered(client)
                photographer = Photographer(browser, str(client.base_url).rstrip("/"), ids, asked.into)
                await photographer.all(chosen, languages, looks)
                if not asked.only:
                    await photographer.for_the_readme()
            async with served(empty_toolpath(Path(folder) / "empty.db")) as client:
                nothing = dict.fromkeys(ids, "none")
                photographer = Photographer(browser, str(client.base_url).rstrip("/"), nothing, asked.into)
                await photographer.all(empty, languages, looks, "empty-")
        await browser.close()


async def _rendered(client: httpx.AsyncClient) -> None:
    """Fail early where the page is not built."""
    (await client.get("/")).raise_for_status()


def main() -> None:
    """Read the command line, and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=Path("screenshots"))
    parser.add_argument(
        "--only", default="", help="pages whose names hold one of these words, commas between, and not the README's"
    )
    parser.add_argument("--languages", default=",".join(LANGUAGES), help="of the texts, commas between")
    parser.add_argument("--looks", default=",".join(LOOKS), help="commas between")
    asyncio.run(take(parser.parse_args()))


if __name__ == "__main__":
    main()
