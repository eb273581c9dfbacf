"""What a person types stays while the page reads on, in a real Chromium: answers late, in another order, or anew."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from playwright.async_api import Browser, Page, Route, expect
from tests.access.access_cases import guarded
from tests.page.page_cases import signed_in, tab
from tests.server.rest_cases import SUM, Gate, tools
from tests.server.serving_cases import serving

from toolpath import Toolpath
from toolpath.server.asgi import create_app

pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="session")]

#: Asks once the test has let it go.
LATER: dict[str, Any] = {
    "name": "asks later",
    "steps": [
        {"id": "before", "tool": "hold"},
        {"id": "then", "tool": "add", "inputs": {"a": 1, "b": 2}, "requires_approval": True, "depends_on": ["before"]},
    ],
}


class Late:
    """Answers that the server gives at once, and that come when the test says so. All others pass."""

    def __init__(self) -> None:
        self.held = asyncio.Event()
        self.come = asyncio.Event()
        self._is_taken = False

    async def first_of(self, page: Page, address: str) -> None:
        """Hold the first answer of this address."""
        await page.route(address, self._hold)

    async def _hold(self, route: Route) -> None:
        if self._is_taken:
            await route.continue_()
            return
        self._is_taken = True
        answer = await route.fetch()
        self.held.set()
        await self.come.wait()
        await route.fulfill(response=answer)


async def test_a_list_that_comes_late_takes_nothing_from_a_form(browser: Browser) -> None:
    async with serving(create_app(tools(Toolpath()))) as client, tab(browser, str(client.base_url)) as person:
        page, late = person.page, Late()
        await client.post("/api/v1/plans", json={"plan": SUM})
        await person.open("/schedules")
        await person.settled()
        await late.first_of(page, "**/api/v1/plans?*")
        await page.get_by_role("button", name="New schedule").click()
        await page.get_by_label("Title").fill("every morning")
        await page.get_by_label("Time zone").fill("Asia/Tokyo")
        await late.held.wait()
        late.come.set()
        await page.get_by_label("Template or plan").select_option(label="≡ sum")
        await expect(page.get_by_label("Title")).to_have_value("every morning")
        await expect(page.get_by_label("Time zone")).to_have_value("Asia/Tokyo")


async def test_an_older_answer_takes_no_question_away_that_a_newer_one_brought(browser: Browser) -> None:
    gate = Gate()
    async with (
        serving(create_app(tools(Toolpath(), gate))) as client,
        tab(browser, str(client.base_url)) as person,
    ):
        page, late = person.page, Late()
        run = (await client.post("/api/v1/runs", json={"plan": LATER})).json()["run_id"]
        await gate.entered.wait()
        await late.first_of(page, f"**/api/v1/runs/{run}?*")
        await person.open(f"/runs/{run}")
        await late.held.wait()
        gate.open.set()
        comment = page.locator("article.approval").get_by_label("Comment")
        await comment.focus()
        await page.keyboard.type("only on ")
        late.come.set()
        await person.settled()
        await page.keyboard.type("Fridays")
        await expect(comment).to_have_value("only on Fridays")


async def test_a_setting_that_is_saved_takes_nothing_from_the_others(browser: Browser) -> None:
    async with guarded() as server, tab(browser, str(server.client.base_url)) as person:
        page = person.page
        await signed_in(person, await server.key("*"), "/settings")
        await page.get_by_label("max_retries").fill("7")
        await page.get_by_label("agent_rounds").fill("70")
        row = page.locator("form.setting").filter(has=page.get_by_label("max_retries"))
        await row.get_by_role("button", name="Save").click()
        await expect(row.get_by_text("stored here")).to_be_visible()
        await expect(page.get_by_label("agent_rounds")).to_have_value("70")


async def test_a_refusal_that_comes_late_signs_nobody_out(browser: Browser) -> None:
    async with guarded() as server, tab(browser, str(server.client.base_url)) as person:
        page, late = person.page, Late()
        ada = await server.key("*", tenant="acme", user="ada")
        await late.first_of(page, "**/api/v1/tools?*")
        await signed_in(person, ada, "/")
        await late.held.wait()
        request = page.locator("#request")
        await request.fill("Add one and two.")
        late.come.set()
        await person.settled()
        await expect(request).to_be_visible()
        await expect(request).to_have_value("Add one and two.")
