"""Forms of a plan's steps while its text goes on, in a real Chromium: they write where their step is now."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import yaml
from playwright.async_api import Browser, Page, Route, expect
from tests.page.page_cases import tab
from tests.server.rest_cases import tools
from tests.server.serving_cases import serving

from toolpath import Toolpath
from toolpath.server.asgi import create_app

pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="session")]

PLAN = """\
name: sums
steps:
  - id: one
    tool: add
    inputs: {a: 1, b: 2}
  - id: two
    tool: add
    inputs: {a: 3, b: 4}
"""
ABOVE = "\n  - {id: above, tool: add, inputs: {a: 5, b: 6}}"


async def put_above(page: Page, step: str) -> None:
    """Write a step into the text, above all others."""
    await page.locator(".cm-line", has_text="steps:").click()
    await page.keyboard.press("End")
    await page.keyboard.insert_text(step)


async def steps_of(page: Page) -> dict[str, dict[str, Any]]:
    text = str(await page.locator(".cm-content").evaluate("element => element.cmTile.view.state.doc.toString()"))
    return {step["id"]: step for step in yaml.safe_load(text)["steps"]}


async def test_a_form_writes_at_its_step_though_another_was_written_above_it_since(browser: Browser) -> None:
    checked = asyncio.Event()

    async def late(route: Route) -> None:
        await checked.wait()
        await route.continue_()

    async with serving(create_app(tools(Toolpath()))) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        plan = (await client.post("/api/v1/plans", json={"plan": PLAN})).json()["plan_id"]
        await person.open(f"/plans/{plan}")
        await page.locator(".vue-flow__node", has_text="one").click()
        form = page.get_by_role("region", name="Step one")
        limit = form.get_by_label("Time limit")
        await expect(limit).to_be_visible()
        # What was checked is of the text before.
        await page.route("**/api/v1/plans/check", late)
        await put_above(page, ABOVE)
        await limit.fill("5s")
        await form.get_by_label("two").check()
        steps = await steps_of(page)
        assert [name for name, step in steps.items() if "timeout" in step] == ["one"]
        assert [name for name, step in steps.items() if "depends_on" in step] == ["one"]
        # A step that is there no more takes nothing, and the person is told.
        await page.locator(".cm-line", has_text="id: one").click()
        await page.keyboard.press("End")
        await page.keyboard.insert_text("_more")
        await limit.fill("9s")
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("alert")).to_contain_text("Nothing was changed")
        assert (await steps_of(page))["one_more"]["timeout"] == "5s"
        await page.locator(".cm-line", has_text="id: one_more").click()
        await page.keyboard.press("End")
        for _ in "_more":
            await page.keyboard.press("Backspace")
        await form.get_by_role("button", name="Remove").click()
        assert list(await steps_of(page)) == ["above", "two"]
        checked.set()
        await person.settled()
        await expect(page.locator(".vue-flow__node")).to_have_count(2)
