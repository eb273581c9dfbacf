"""Answers that come late, in a real Chromium: nobody is taken away, what was asked last counts, what is typed stays."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from playwright.async_api import Browser, Page, Route, expect
from tests.access.access_cases import guarded
from tests.page.page_cases import Tab, signed_in, tab
from tests.page.test_page_journeys import begun
from tests.page.test_page_refusals import served
from tests.patience import PATIENCE
from tests.server.rest_cases import SUM, Gate, tools
from tests.server.serving_cases import serving

from toolpath import Toolpath
from toolpath.server.asgi import create_app

pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="session")]


def pressed(name: str) -> Callable[[Page], Awaitable[None]]:
    """Presses the button of this name."""

    async def press(page: Page) -> None:
        await page.get_by_role("button", name=name, exact=True).first.click()

    return press


async def forks(page: Page) -> None:
    await page.get_by_role("button", name="Fork from here").click()
    await page.get_by_role("dialog").get_by_role("button", name="Fork from here").click()


async def runs(page: Page) -> None:
    await page.get_by_label("a (required)").fill("41")
    await page.get_by_role("button", name="Run", exact=True).click()


async def imports(page: Page) -> None:
    file = {"name": "x.yaml", "mimeType": "text/plain", "buffer": b"name: late\nsteps: [{id: one, tool: fail}]\n"}
    await page.locator("input[type=file]").set_input_files([file])  # type: ignore[list-item]


async def asks(page: Page) -> None:
    await page.get_by_label("What is to be done?").fill("add 2 and 3")
    await page.get_by_role("button", name="Make a plan").click()


async def says(page: Page) -> None:
    await page.get_by_label("Message").fill("Are you there?")
    await page.get_by_role("button", name="Send").click()


@dataclass(frozen=True)
class Made:
    """What somebody has made in a view, which leads on to what came of it."""

    view: str
    does: Callable[[Page], Awaitable[None]]
    #: Where it goes.
    to: str
    method: str = "POST"


MADE = (
    Made("/", asks, "plans"),
    Made("/chat", says, "conversations"),
    Made("/plans", pressed("New plan"), "plans"),
    Made("/plans/{plan}", runs, "runs"),
    Made("/plans/{plan}", pressed("Keep as template"), "templates"),
    Made("/runs/{run}", pressed("Run again"), "runs"),
    Made("/runs/{run}", pressed("Change the plan"), "plans"),
    Made("/runs/{failed}", pressed("Retry from the failure"), "runs/{failed}/retry"),
    Made("/runs/{run}?step=twice", forks, "runs/{run}/fork"),
    Made("/templates", imports, "templates"),
    Made("/templates/{template}", pressed("Make a copy"), "templates"),
    Made("/schedules/{schedule}", pressed("Run now"), "schedules/{schedule}/run"),
    Made("/schedules/{schedule}", pressed("Delete"), "schedules/{schedule}", "DELETE"),
    Made("/templates/{template}", pressed("Delete"), "templates/{template}", "DELETE"),
    Made("/chat/{conversation}", pressed("Delete"), "conversations/{conversation}", "DELETE"),
)


class Held:
    """An answer of the server that is held back: `asked` once it is there, and given to the page when it is let go."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self._free = asyncio.Event()
        self._given = asyncio.Event()

    async def answer(self, route: Route) -> None:
        answer = await route.fetch()
        self.asked.set()
        await self._free.wait()
        await route.fulfill(response=answer)
        self._given.set()

    async def let_go(self, person: Tab) -> None:
        """The page has it, and has done with it what it does."""
        self._free.set()
        await asyncio.wait_for(self._given.wait(), PATIENCE)
        await person.settled()


@asynccontextmanager
async def first_held(page: Page, path: str, method: str = "GET") -> AsyncIterator[Held]:
    """The first answer at this path is held back; those after it are not."""
    held = Held()

    async def hold(route: Route) -> None:
        if route.request.method != method or held.asked.is_set():
            await route.fallback()
        else:
            await held.answer(route)

    place = re.compile(re.escape(path) + r"(\?|$)")
    await page.route(place, hold)
    yield held
    await page.unroute(place, hold)


async def elsewhere(person: Tab) -> None:
    await person.page.evaluate("location.hash = '#/tools'")
    await expect(person.page.get_by_role("heading", name="Tools")).to_be_visible()


async def test_what_was_made_late_takes_nobody_away_from_where_they_have_gone(browser: Browser) -> None:
    async with served() as (base, ids), tab(browser, base) as person:
        page = person.page
        page.on("dialog", lambda dialog: dialog.accept())
        taken = []
        for made in MADE:
            await person.open(made.view.format(**ids))
            await person.settled()
            async with first_held(page, f"/api/v1/{made.to.format(**ids)}", made.method) as held:
                await made.does(page)
                await asyncio.wait_for(held.asked.wait(), PATIENCE)
                await elsewhere(person)
                await held.let_go(person)
            if not page.url.endswith("#/tools"):
                taken.append(made)
        assert taken == []


async def test_what_is_said_late_goes_to_its_conversation_and_leaves_what_is_written_in_another(
    browser: Browser,
) -> None:
    async with served() as (base, ids), tab(browser, base) as person:
        page, message = person.page, person.page.get_by_label("Message")
        await person.open("/chat")
        async with first_held(page, "/api/v1/conversations", "POST") as held:
            await says(page)
            await asyncio.wait_for(held.asked.wait(), PATIENCE)
            await page.evaluate(f"location.hash = '#/chat/{ids['conversation']}'")
            await expect(message).to_have_value("")
            await message.fill("for later")
            await held.let_go(person)
        await expect(message).to_have_value("for later")
        assert page.url.endswith(ids["conversation"])
        await page.reload()
        await expect(message).to_have_value("for later")
        await page.get_by_role("link", name="Are you there?").click()
        await expect(page.locator("article.assistant").first).to_contain_text("Here.")
        await expect(message).to_have_value("")


async def test_of_what_waits_in_a_run_the_answer_that_was_asked_for_last_counts(browser: Browser) -> None:
    gate = Gate()
    plan = {
        "name": "asks late",
        "steps": [
            {"id": "first", "tool": "hold"},
            {
                "id": "then",
                "tool": "add",
                "inputs": {"a": 1, "b": 1},
                "requires_approval": True,
                "depends_on": ["first"],
            },
        ],
    }
    async with serving(create_app(tools(Toolpath(), gate))) as client, tab(browser, str(client.base_url)) as person:
        page, run = person.page, await begun(client, plan)
        await gate.entered.wait()
        async with first_held(page, f"/api/v1/runs/{run}") as held:
            await person.open(f"/runs/{run}")
            await asyncio.wait_for(held.asked.wait(), PATIENCE)
            await expect(page.locator(".graph .box.running")).to_be_visible()
            gate.open.set()
            await page.get_by_label("Comment").fill("only on Fridays")
            # It says that nothing waits.
            await held.let_go(person)
        await expect(page.get_by_text("waits for nobody any more")).to_have_count(0)
        await expect(page.get_by_label("Comment")).to_have_value("only on Fridays")
        await page.get_by_role("button", name="Approve").click()
        await expect(page.locator(".head .state")).to_contain_text("completed")


async def test_who_has_signed_in_is_not_asked_to_by_what_was_refused_before(browser: Browser) -> None:
    async with guarded() as server, tab(browser, str(server.client.base_url)) as person:
        tools(server.tp)
        page = person.page
        async with first_held(page, "/api/v1/runs") as held:
            await signed_in(person, await server.key("*", tenant="acme", user="ada"), "/runs")
            await expect(page.get_by_role("button", name="Sign out")).to_be_visible()
            await held.let_go(person)
        await expect(page.get_by_text("No runs yet")).to_be_visible()
        await expect(page.get_by_label("Key or token")).to_have_count(0)
        await expect(page.locator(".problem")).to_have_count(0)


async def test_what_is_being_typed_into_a_step_stays_when_the_plan_was_checked(browser: Browser) -> None:
    async with serving(create_app(tools(Toolpath()))) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        plan = (await client.post("/api/v1/plans", json={"plan": SUM})).json()["plan_id"]
        await person.open(f"/plans/{plan}")
        await page.locator(".vue-flow__node").first.click()
        form = page.get_by_role("region", name="Step twice")
        limit, only = form.get_by_label("Time limit"), form.get_by_label("only when")
        async with first_held(page, "/api/v1/plans/check", "POST") as held:
            await limit.fill("5s")
            await form.get_by_label("Ask a person before each call").check()
            await only.click()
            await page.keyboard.type("{{ inputs.a }}")
            await asyncio.wait_for(held.asked.wait(), PATIENCE)
            # What was put in is shown before it was checked.
            await expect(limit).to_have_value("5s")
            await held.let_go(person)
        await expect(only).to_have_value("{{ inputs.a }}")
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("textbox", name="Text")).to_contain_text('when: "{{ inputs.a }}"')
        await expect(only).to_have_value("{{ inputs.a }}")
        await expect(limit).to_have_value("5s")


async def test_what_is_typed_into_a_form_stays_when_its_choices_or_values_come_late(browser: Browser) -> None:
    async with served() as (base, ids), tab(browser, base) as person:
        page = person.page
        await person.open("/schedules")
        async with first_held(page, "/api/v1/plans") as held:
            await page.get_by_role("button", name="New schedule").click()
            await page.get_by_label("Title").fill("yours")
            await held.let_go(person)
        await page.get_by_label("Template or plan").select_option(label="≡ sum")
        await expect(page.get_by_label("Title")).to_have_value("yours")
        # What the plan gives to a step that is tried is known later than what somebody typed for it.
        await person.open(f"/plans/{ids['plan']}")
        await page.get_by_label("a (required)").fill("3")
        await page.locator(".vue-flow__node").first.click()
        async with first_held(page, "/api/v1/plans/dry-run", "POST") as held:
            await page.get_by_role("button", name="Try this step").click()
            first = page.get_by_role("dialog").get_by_label(re.compile("^a "))
            await first.fill("41")
            await held.let_go(person)
        await expect(first).to_have_value("41")


async def test_what_is_written_while_a_version_is_saved_stays(browser: Browser) -> None:
    async with served() as (base, ids), tab(browser, base) as person:
        page, text = person.page, person.page.get_by_role("textbox", name="Text")
        for view, route, save in (
            ("/templates/{template}", "templates/{template}", "Save as a version"),
            ("/plans/{plan}", "plans/{plan}", "Save"),
        ):
            await person.open(view.format(**ids))
            await text.click()
            await page.keyboard.press("Control+End")
            await page.keyboard.type("# first")
            async with first_held(page, f"/api/v1/{route.format(**ids)}", "PUT") as held:
                await page.get_by_role("button", name=save, exact=True).click()
                await asyncio.wait_for(held.asked.wait(), PATIENCE)
                await text.click()
                await page.keyboard.press("Control+End")
                await page.keyboard.type(" and second")
                await held.let_go(person)
            await expect(text).to_contain_text("# first and second")
            await page.get_by_role("button", name=save, exact=True).click()
            await expect(page.get_by_text("Not saved")).to_have_count(0)


async def test_a_tool_is_picked_by_what_is_typed_and_not_by_what_was_found_before(browser: Browser) -> None:
    async with serving(create_app(tools(Toolpath()))) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        plan = (await client.post("/api/v1/plans", json={"plan": SUM})).json()["plan_id"]
        await person.open(f"/plans/{plan}")
        await page.get_by_role("button", name="Add a step").click()
        await expect(page.locator(".picker .tool").first).to_contain_text("add")
        # As fast as a program.
        await page.get_by_role("combobox", name="What should it do?").fill("always fail")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("region", name="Step fail")).to_be_visible()


async def test_what_is_searched_for_in_a_run_is_not_searched_for_in_another(browser: Browser) -> None:
    async with served() as (base, ids), tab(browser, base) as person:
        page = person.page
        await person.open(f"/runs/{ids['looped']}?view=tree")
        find = page.get_by_label("Find a step, a tool or an error")
        await find.fill("each[2]")
        await person.open(f"/runs/{ids['looped']}:each?view=tree")
        await expect(find).to_have_value("")
        await expect(page.locator(".tree .line", has_text="each[0]")).to_be_visible()


async def test_what_is_searched_for_among_tools_calls_nobody_back(browser: Browser) -> None:
    async with serving(create_app(tools(Toolpath()))) as client, tab(browser, str(client.base_url)) as person:
        page, coming, come = person.page, asyncio.Event(), asyncio.Event()

        async def late(route: Route) -> None:
            coming.set()
            await come.wait()
            await route.continue_()

        await page.route("**/assets/PlansView*.js", late)
        await person.open("/tools")
        # Faster than the search waits for another key.
        await page.evaluate(
            """async ([field, link]) => {
                field.value = 'add'
                field.dispatchEvent(new Event('input', { bubbles: true }))
                await new Promise((done) => requestAnimationFrame(done))
                link.click()
            }""",
            [
                await page.get_by_label("What should it do?").element_handle(),
                await page.get_by_role("link", name="Plans").element_handle(),
            ],
        )
        await asyncio.wait_for(coming.wait(), PATIENCE)
        # The view comes later than the search has waited for another key.
        await page.evaluate("new Promise((done) => setTimeout(done, 400))")
        come.set()
        await expect(page.get_by_role("heading", name="Plans", exact=True)).to_be_visible()
        await expect(page).to_have_url(re.compile("#/plans$"))
