"""Faults on the way, in a real Chromium: the page says what to do, and what somebody typed is kept."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Browser, Page, Request, Route, expect
from tests.page.page_cases import Cable, Tab, tab
from tests.server.rest_cases import ASKING, GATED, SUM, Gate, tools
from tests.server.serving_cases import serving

from toolpath import Toolpath
from toolpath.server.asgi import create_app
from toolpath.testing.scripted_model import ScriptedModel

pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="session")]

#: Answers that come instead of the server's, and what the page says of each.
ANSWERS: dict[str, tuple[int, str]] = {
    "forbidden": (403, "Ask whoever runs the server"),
    "conflict": (409, "Somebody else was faster"),
    "too large": (413, "Send less"),
    "does not fit": (422, "Change it"),
    "too many": (429, "Too much was asked at once"),
    "away": (503, "Nothing is lost"),
}


async def begun(client: Any, plan: dict[str, Any], **inputs: Any) -> str:
    answer = await client.post("/api/v1/runs", json={"plan": plan, "inputs": inputs})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["run_id"])


def answering(status: int, method: str = "GET", **headers: str) -> Any:
    """A handler that answers in place of the server, as a proxy before it does: without problem details."""

    async def handle(route: Route) -> None:
        if route.request.method != method:
            await route.fallback()
        else:
            await route.fulfill(status=status, body="<html>no</html>", headers=headers)

    return handle


class Unaware:
    """Tells a page what it was told first, however often it asks: it has not heard of anything since."""

    def __init__(self) -> None:
        self._told = ""

    async def answer(self, route: Route) -> None:
        self._told = self._told or await (await route.fetch()).text()
        await route.fulfill(body=self._told, content_type="application/json")


async def lost(route: Route) -> None:
    await route.abort()


async def garbled(route: Route) -> None:
    await route.fulfill(body="<p>Please log in to the hotel's network")


async def signed_in(route: Route) -> None:
    await (route.fulfill(json={}) if route.request.method == "POST" else route.fallback())


async def left(person: Tab) -> None:
    """Nothing of the view is there any more: it is opened anew."""
    await person.open("/nowhere")
    await expect(person.page.get_by_text("There is no such page.")).to_be_visible()


async def typed(page: Page) -> None:
    await page.get_by_label("Name", exact=True).first.fill("Ada")
    await page.get_by_label("Age", exact=True).fill("36")


async def test_a_view_of_a_server_that_is_gone_or_of_another_is_there_when_it_is_asked_again(browser: Browser) -> None:
    tp = tools(Toolpath())
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        for away in (lost, garbled, answering(422)):
            await page.route("**/api/v1/questions*", away)
            await left(person)
            await person.open("/inbox")
            problem = page.locator(".problem")
            await expect(problem).to_contain_text("try again", ignore_case=True)
            await page.unroute("**/api/v1/questions*", away)
            # A list that looks again by itself may have been faster: then there is nothing left to press.
            await page.evaluate("document.querySelector('.problem button')?.click()")
            await expect(problem).to_have_count(0)


async def test_an_answer_that_is_refused_is_kept_and_sent_again(browser: Browser) -> None:
    tp = tools(Toolpath())
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        run = await begun(client, ASKING)
        await person.open(f"/runs/{run}")
        await typed(page)
        await page.get_by_label("Age", exact=True).fill("3.5")
        await expect(page.get_by_text("This is no whole number.")).to_be_visible()
        await page.get_by_role("button", name="Send").click()
        await expect(page.get_by_label("Age", exact=True)).to_be_focused()
        await page.get_by_label("Age", exact=True).fill("36")
        for status, hint in ANSWERS.values():
            handler = answering(status, "POST", **{"Retry-After": "3600"})
            await page.route("**/input", handler)
            await page.get_by_role("button", name="Send").click()
            await expect(page.locator(".question .problem")).to_contain_text(hint)
            await page.unroute("**/input", handler)
        await expect(page.locator(".question .problem")).to_contain_text(re.compile(r"\d s"))
        # Who has to sign in again comes back to what they had typed.
        handler = answering(401, "POST")
        await page.route("**/input", handler)
        await page.route("**/session", signed_in)
        await page.get_by_role("button", name="Send").click()
        await expect(page.get_by_label("Key or token")).to_be_visible()
        await page.unroute("**/input", handler)
        await page.get_by_label("Key or token").fill("tpk_x")
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_label("Name", exact=True).first).to_have_value("Ada")
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator(".about")).to_contain_text("Ada")


@pytest.mark.parametrize("read", ["before", "after"])
async def test_a_message_that_got_no_answer_is_said_once(browser: Browser, read: str) -> None:
    tp = tools(Toolpath(chat=ScriptedModel(then="Here.")))
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        await person.open("/chat")
        said, kept = "**/messages?follow=false", "**/messages?limit=*"
        is_read, is_lost = asyncio.Event(), asyncio.Event()

        async def lose(route: Route) -> None:
            # The server takes it, and its answer is lost.
            await route.fetch()
            if read == "before":
                await is_read.wait()
            await route.abort()

        async def late(route: Route) -> None:
            # What the page asks meanwhile of the new conversation takes no fault away that it has not told.
            if read == "after":
                await is_lost.wait()
            await route.fallback()

        def heard(request: Request) -> None:
            if re.search("/conversations/[^/]+$", request.url):
                is_read.set()

        page.on("requestfinished", heard)
        await page.route(said, lose)
        await page.route(kept, late)
        await page.get_by_label("Message").fill("Are you there?")
        await page.get_by_role("button", name="Send").click()
        problem = page.locator(".talk > .problem")
        await expect(problem).to_contain_text("cannot be reached")
        is_lost.set()
        await is_read.wait()
        await person.settled()
        await expect(problem).to_contain_text("cannot be reached")
        await expect(page.get_by_label("Message")).to_have_value("Are you there?")
        await page.unroute(said)
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator("article.assistant").first).to_contain_text("Here.")
        await expect(problem).to_have_count(0)
        await expect(page.locator("article.user")).to_have_count(1)


async def test_two_who_answer_at_once_do_not_answer_twice(browser: Browser) -> None:
    tp = tools(Toolpath())
    async with serving(create_app(tp)) as client:
        base = str(client.base_url)
        async with tab(browser, base) as first, tab(browser, base) as second:
            run = await begun(client, GATED)
            for person in (first, second):
                await person.page.route("**/api/v1/questions*", Unaware().answer)
                await person.open("/inbox")
                await expect(person.page.get_by_text("What you say holds for exactly this step")).to_be_visible()
            await second.page.get_by_label("Comment").fill("never")
            await first.page.get_by_role("button", name="Approve").click()
            await expect(first.page.get_by_text("Your answer is kept")).to_be_visible()
            await first.open(f"/runs/{run}")
            await expect(first.page.locator(".head .state")).to_contain_text("completed")
            await second.page.get_by_role("button", name="Deny").click()
            await expect(second.page.get_by_text("waits for nobody any more")).to_be_visible()
            await expect(second.page.get_by_label("Comment")).to_have_value("never")
            await second.page.unroute_all()
            await second.page.get_by_role("button", name="Put it away").click()
            await expect(second.page.get_by_text("Nobody waits for you")).to_be_visible()


async def test_events_out_of_order_and_twice_change_nothing(browser: Browser) -> None:
    tp = tools(Toolpath())
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        run = await begun(client, SUM, a=20)

        async def shuffle(route: Route) -> None:
            if "follow=false" not in route.request.url:
                await route.fallback()
                return
            page = await (await route.fetch()).json()
            await route.fulfill(json={**page, "events": [*reversed(page["events"]), *page["events"]]})

        await person.page.route("**/events?*", shuffle)
        await person.open(f"/runs/{run}?step=twice")
        await expect(person.page.locator(".panel")).to_contain_text("40")
        await expect(person.page.locator(".head .state")).to_contain_text("completed")
        await expect(person.page.get_by_text("Attempts")).to_have_count(0)


async def test_a_cable_that_is_cut_for_a_minute_loses_nothing(browser: Browser) -> None:
    gate = Gate()
    tp = tools(Toolpath(), gate)
    plan = {"name": "slow", "steps": [{"id": "waits", "tool": "hold"}], "outputs": "{{ waits }}"}
    async with (
        serving(create_app(tp)) as client,
        Cable(str(client.base_url)).laid() as cable,
        tab(browser, cable.base) as person,
    ):
        page = person.page
        await page.clock.install()
        run = await begun(client, plan)
        await person.open(f"/runs/{run}")
        await expect(page.locator(".graph .box.running")).to_be_visible()
        cable.cut()
        await expect(page.get_by_text("The connection is lost")).to_be_visible()
        await page.clock.fast_forward(60_000)
        gate.open.set()
        async for _ in tp.watch(run):
            pass
        await expect(page.get_by_text("The connection is lost")).to_be_visible()
        cable.mend()
        await page.clock.fast_forward(20_000)
        await expect(page.locator(".head .state")).to_contain_text("completed")
        await expect(page.locator(".about")).to_contain_text("through")


async def test_what_cannot_be_opened_has_a_heading_a_reason_and_a_way_back(browser: Browser) -> None:
    async with serving(create_app(tools(Toolpath()))) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        for view, heading, back in (
            ("/plans/pln_none", "This plan cannot be opened", "Plans"),
            ("/runs/run_none", "This run cannot be opened", "Runs"),
            ("/templates/tpl_none", "This template cannot be opened", "Templates"),
            ("/schedules/sch_none", "This schedule cannot be opened", "Schedules"),
            ("/files?file=upl_none/note.txt", "This file cannot be opened", "Files"),
        ):
            await person.open(view)
            await expect(page.locator("main h1")).to_have_text(heading)
            await expect(page.locator("main .problem")).to_be_visible()
            await page.locator(".missing").get_by_role("link").click()
            await expect(page.locator("main h1")).to_have_text(back)


async def test_what_is_checked_again_leaves_what_a_person_did_as_it_was_told(browser: Browser) -> None:
    async with serving(create_app(tools(Toolpath()))) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        plan = (await client.post("/api/v1/plans", json={"plan": SUM})).json()["plan_id"]
        await person.open(f"/plans/{plan}")
        problem = page.locator("main .problem")
        away = answering(503, "POST")
        await page.route("**/plans/check", away)
        await page.get_by_role("textbox", name="Text").click()
        await page.keyboard.press("Control+End")
        await page.keyboard.type("# kept")
        await expect(problem).to_contain_text("Nothing is lost")
        await page.unroute("**/plans/check", away)
        await problem.get_by_role("button", name="Try again").click()
        await expect(problem).to_have_count(0)
        # What was refused stays told, however often what is written is checked.
        await page.route(f"**/plans/{plan}", answering(413, "PUT"))
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(problem).to_contain_text("Send less")
        async with page.expect_response("**/plans/check"):
            await page.keyboard.press("Control+End")
            await page.get_by_role("textbox", name="Text").click()
            await page.keyboard.type("x")
        await expect(problem).to_contain_text("Send less")
