"""Dialogs, menus and the command palette in a real Chromium: by keyboard alone, and for people who do not see them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect
from tests.page.page_cases import chromium, tab
from tests.page.test_page_journeys import faults_of
from tests.page.test_page_refusals import left, served

#: One browser and one loop serve all of them.
pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as found:
        yield found


@dataclass(frozen=True)
class Opened:
    """A dialog: where it is, and the button that opens it."""

    view: str
    button: str | re.Pattern[str]
    #: What has to be done before there is such a button.
    first: Callable[[Page], Awaitable[None]] | None = None


async def chooses_step(page: Page) -> None:
    await page.locator(".graph .box").first.click()


DIALOGS = (
    Opened("/plans/{plan}", "Add a step"),
    Opened("/plans/{plan}", re.compile("Versions")),
    Opened("/plans/{plan}", "Try this step", chooses_step),
    Opened("/templates/{template}", "Publish …"),
    Opened("/templates/{template}", re.compile("^Versions")),
    Opened("/runs/{run}?step=twice", "Fork from here"),
    Opened("/", re.compile("^Go to …")),
)
#: Addresses of one of a kind, beside those that other tests look at.
OWN = (
    "/requests/{request}",
    "/templates/{template}",
    "/runs/{run}?view=timeline",
    "/runs/{run}?view=events",
    "/runs/{asking}",
    "/runs/{failed}",
    "/runs/{looped}?view=tree",
    "/runs/{agent}?view=agent",
    "/chat/{conversation}",
    "/schedules/{schedule}",
    "/plans/{plan}?step=twice",
)
WITHIN = "document.activeElement.closest('dialog') !== null"


async def walked(page: Page, dialog: Opened) -> None:
    """Open it by keyboard, go all round it, and leave it by Escape: the keyboard is where it was."""
    button = page.get_by_role("button", name=dialog.button).first
    await button.focus()
    await page.keyboard.press("Enter")
    box = page.get_by_role("dialog")
    await expect(box).to_be_visible()
    assert await page.evaluate(WITHIN), "the keyboard is not in the dialog"
    places = await box.locator("button, input, select, textarea, a[href], [tabindex='0']").count()
    for key in ("Tab", "Shift+Tab"):
        for _ in range(min(places + 2, 12)):
            await page.keyboard.press(key)
            # The browser's own bar comes between last and first: there the page has no place of its own.
            assert await page.evaluate(f"document.activeElement === document.body || {WITHIN}"), key
    await page.keyboard.press("Escape")
    await expect(box).to_have_count(0)
    await expect(button).to_be_focused()


async def test_every_dialog_holds_the_keyboard_gives_it_back_and_has_no_serious_fault(browser: Browser) -> None:
    async with served() as (base, ids):
        for scheme in ("light", "dark"):
            async with tab(browser, base, color_scheme=scheme, bypass_csp=True) as person:
                page = person.page
                # In the dark the colours differ and nothing else: some have most of them.
                for dialog in DIALOGS if scheme == "light" else DIALOGS[2:4]:
                    await left(person)
                    await person.open(dialog.view.format(**ids))
                    await person.settled()
                    if dialog.first is not None:
                        await dialog.first(page)
                    if scheme == "light":
                        await walked(page, dialog)
                    button = page.get_by_role("button", name=dialog.button).first
                    await button.click()
                    await expect(page.get_by_role("dialog")).to_be_visible()
                    await person.settled()
                    assert await faults_of(page, "dialog") == [], f"{dialog} in the {scheme}"
                    await page.keyboard.press("Escape")


async def test_one_of_each_kind_has_no_serious_fault_for_people_who_cannot_see_or_point(browser: Browser) -> None:
    async with served() as (base, ids):
        for scheme, views in (("light", OWN), ("dark", OWN[::5])):
            async with tab(browser, base, color_scheme=scheme, bypass_csp=True) as person:
                for view in views:
                    await person.open(view.format(**ids))
                    await person.settled()
                    assert await faults_of(person.page) == [], f"{view} in the {scheme}"


async def test_a_person_who_is_signed_out_under_a_dialog_signs_in_and_finds_it_as_it_was(browser: Browser) -> None:
    async with served() as (base, ids), tab(browser, base) as person:
        page = person.page

        async def refuses(route):  # type: ignore[no-untyped-def]
            await route.fulfill(status=401, body="")

        async def takes(route):  # type: ignore[no-untyped-def]
            await (route.fulfill(json={}) if route.request.method == "POST" else route.fallback())

        await person.open(f"/runs/{ids['run']}?step=twice")
        await page.get_by_role("button", name="Fork from here").click()
        await page.get_by_label("Inputs of the run").fill('{"a": 7}')
        await page.route("**/fork", refuses)
        await page.get_by_role("dialog").get_by_role("button", name="Fork from here").click()
        await expect(page.get_by_label("Key or token")).to_be_focused()
        await page.keyboard.press("Escape")
        await page.unroute("**/fork")
        await page.route("**/session", takes)
        await page.keyboard.type("tpk_x")
        await page.keyboard.press("Enter")
        await expect(page.get_by_label("Inputs of the run")).to_have_value('{"a": 7}')
        await page.get_by_role("dialog").get_by_role("button", name="Fork from here").click()
        await expect(page.get_by_text("forked from")).to_be_visible()
