"""Every route that the page calls, refused in every way: the page says what to do, and what somebody typed is kept."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, Route, expect
from tests.page.page_cases import Tab, chromium, tab
from tests.server.rest_cases import ASKING, GATED, SUM, tools
from tests.server.serving_cases import serving

from toolpath import Settings, Toolpath
from toolpath.server.asgi import create_app
from toolpath.testing.scripted_model import ScriptedModel

#: One browser and one loop serve all of them; each has a tab, and a server, of its own.
pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="module")]

#: What the page says of each answer that comes instead of the server's.
STATUSES: dict[int, str] = {
    401: "Sign in again",
    403: "Ask whoever runs the server",
    409: "Somebody else was faster",
    413: "Send less",
    422: "Change it",
    429: "Too much was asked at once",
    503: "Nothing is lost",
}
#: Routes without which a view is whole all the same: what they add is left out.
MAY_BE_MISSING = re.compile("^/api/v1/(session|examples|openapi.json)$")
LOOPED = {
    "name": "looped",
    "steps": [
        {
            "id": "each",
            "loop": {
                "over": [1, 2, 3],
                "steps": [{"id": "one", "tool": "add", "inputs": {"a": "{{ item }}", "b": 1}}],
            },
        }
    ],
}
AGENT = {"name": "agent", "steps": [{"id": "look", "agent": {"requirement": "Add 1 and 2.", "tools": ["add"]}}]}
VIEWS = (
    "/",
    "/chat",
    "/chat/{conversation}",
    "/runs",
    "/runs/{run}",
    "/runs/{run}?view=files",
    "/runs/{gated}",
    "/runs/{run}/compare/{gated}",
    "/inbox",
    "/plans",
    "/plans/{plan}",
    "/requests/{request}",
    "/templates",
    "/templates/{template}",
    "/schedules",
    "/schedules/{schedule}",
    "/files",
    "/files/runs/{run}",
    "/models",
    "/settings",
    "/mcp-servers",
    "/operation",
    "/operation/workers",
    "/operation/audit",
    "/tools?key=add",
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as found:
        yield found


@asynccontextmanager
async def served() -> AsyncIterator[tuple[str, dict[str, str]]]:
    """A server with one of everything: its address, and the ids."""
    tp = tools(Toolpath(chat=ScriptedModel(then="Here."), settings=Settings(mcp_commands=True)))
    async with serving(create_app(tp)) as client:

        async def made(route: str, body: Mapping[str, Any]) -> dict[str, Any]:
            answer = await client.post(f"/api/v1/{route}", json=body)
            assert answer.is_success, answer.text
            found: dict[str, Any] = answer.json()
            return found

        plan = await made("plans", {"plan": SUM})
        asked = await made("plans", {"request": "add 2 and 3"})
        ids = {
            "plan": plan["plan_id"],
            "request": asked["request_id"],
            "run": (await made("runs", {"plan": SUM, "inputs": {"a": 1}}))["run_id"],
            "gated": (await made("runs", {"plan": GATED}))["run_id"],
            "asking": (await made("runs", {"plan": ASKING}))["run_id"],
            "failed": (await made("runs", {"plan": {"steps": [{"tool": "fail"}], "name": "broken"}}))["run_id"],
            "looped": (await made("runs", {"plan": LOOPED}))["run_id"],
            "agent": (await made("runs", {"plan": AGENT}))["run_id"],
            "template": (await made("templates", {"document": SUM, "title": "sums"}))["template_id"],
            "conversation": (await made("conversations", {}))["conversation_id"],
        }
        await made(f"templates/{ids['template']}/publish", {"channels": ["http"], "version": 1})
        words = {"plan_id": ids["plan"], "inputs": {"a": 1}, "cron": "0 0 1 1 *", "title": "yearly"}
        ids["schedule"] = (await made("schedules", words))["schedule_id"]
        await client.post("/api/v1/files", files={"files": ("note.txt", b"tea", "text/plain")})
        yield str(client.base_url), ids


def answering(status: int, method: str) -> Callable[[Route], Awaitable[None]]:
    """A handler that answers in place of the server, as a proxy before it does: without problem details."""

    async def handle(route: Route) -> None:
        if route.request.method != method:
            await route.fallback()
        else:
            await route.fulfill(status=status, body="<html>no</html>")

    return handle


def at(path: str) -> Callable[[str], bool]:
    return lambda url: urlsplit(url).path == path


async def read_by(person: Tab, view: str) -> list[str]:
    """The routes that a view reads."""
    asked: list[str] = []
    listen: Callable[[Any], None] = lambda request: asked.append(urlsplit(request.url).path)  # noqa: E731
    person.page.on("request", listen)
    await person.open(view)
    await person.settled()
    person.page.remove_listener("request", listen)
    return sorted({path for path in asked if path.startswith("/api/") and not MAY_BE_MISSING.match(path)})


async def reads_refused(person: Tab, ids: dict[str, str], *, every: int) -> int:
    """Reads of each view are refused; gives how often. `every`: each n-th of them, in one way; 1: all, in all ways."""
    page, tried, known = person.page, 0, set[str]()
    for named in VIEWS:
        view = named.format(**ids)
        await left(person)
        for path in await read_by(person, view):
            if path in known:
                continue
            known.add(path)
            if len(known) % every:
                continue
            for status in STATUSES if every == 1 else (list(STATUSES)[len(known) // every % len(STATUSES)],):
                here, handler = at(path), answering(status, "GET")
                # What asks again by itself would be refused where nobody looks.
                await left(person)
                await page.route(here, handler)
                await person.open(view)
                if status == 401:
                    await expect(page.get_by_label("Key or token")).to_be_visible()
                    await person.settled()
                else:
                    # A run's events are asked for again by themselves where that may help.
                    said = re.compile(f"{STATUSES[status]}|The connection is lost")
                    await expect(page.locator("main"), f"{view}: {path} answers {status}").to_contain_text(said)
                await page.unroute(here, handler)
                if status == 401:
                    await back_in(person)
                tried += 1
    return tried


@dataclass(frozen=True)
class Write:
    """What somebody does in a view: what they type, and what sends it."""

    view: str
    #: Where it goes.
    to: str
    #: Fills the form in.
    types: Callable[[Page], Awaitable[None]]
    #: What is pressed.
    sends: str
    #: What stays, and where.
    keeps: Callable[[Page], Locator]
    method: str = "POST"


def named(label: str) -> re.Pattern[str]:
    """Labels of this text, with or without what a label says besides."""
    return re.compile(rf"^{label}\W*(\(.*)?$")


def labelled(**values: str) -> Callable[[Page], Awaitable[None]]:
    """Types values into the fields of these labels."""

    async def fill(page: Page) -> None:
        for label, value in values.items():
            await page.get_by_label(named(label.replace("_", " "))).first.fill(value)

    return fill


def kept(label: str) -> Callable[[Page], Locator]:
    return lambda page: page.get_by_label(named(label)).first


async def edits(page: Page) -> None:
    await page.get_by_role("textbox", name="Text").click()
    await page.keyboard.press("Control+End")
    await page.keyboard.type("# kept")


async def nothing(page: Page) -> None:
    await expect(page.locator("main h1")).to_be_visible()


async def schedules(page: Page) -> None:
    await page.get_by_role("button", name="New schedule").click()
    await page.get_by_label("Title").fill("kept")
    await page.get_by_label("Template or plan").select_option(label="≡ sum")
    await page.get_by_label("Inputs").fill('{"a": 20}')
    await page.get_by_label("Cron line").fill("30 9 * * *")


async def adds_model(page: Page) -> None:
    await page.get_by_role("button", name="Add a model").click()
    await page.get_by_label("Name").first.fill("house")
    await page.get_by_label("Model, as the provider calls it").fill("kept")
    await page.get_by_label("Key").fill("sk")


async def adds_server(page: Page) -> None:
    await page.get_by_role("button", name="Add by command").click()
    await page.get_by_label("Name: the group of its tools").fill("clock")
    await page.get_by_label("Program").fill("kept")


async def publishes(page: Page) -> None:
    await page.get_by_role("button", name="Publish …").click()
    await page.get_by_role("dialog").get_by_label("Description").fill("kept")
    await page.get_by_role("dialog").get_by_label(re.compile("^HTTP")).check()


async def forks(page: Page) -> None:
    await page.get_by_role("button", name="Fork from here").click()
    await page.get_by_label("Inputs of the run").fill('{"a": 7}')


async def sets(page: Page) -> None:
    await page.get_by_label("max_retries").fill("7")


async def asked(page: Page) -> None:
    await page.get_by_label("Name", exact=True).first.fill("kept")
    await page.get_by_label("Age", exact=True).fill("36")


def text_of(page: Page) -> Locator:
    return page.locator(".cm-content")


def state_of(page: Page) -> Locator:
    return page.locator("main h1").first


WRITES = (
    Write("/", "plans", labelled(What_is_to_be_done="kept"), "Make a plan", kept("What is to be done")),
    Write("/chat", "conversations", labelled(Message="kept"), "Send", kept("Message")),
    Write(
        "/chat/{conversation}",
        "conversations/{conversation}/messages",
        labelled(Message="kept"),
        "Send",
        kept("Message"),
    ),
    Write("/plans/{plan}", "plans/{plan}", edits, "Save", text_of, "PUT"),
    Write("/plans/{plan}", "runs", labelled(a="41"), "Run", kept("a")),
    Write("/plans/{plan}", "plans/dry-run", labelled(a="41"), "Dry run", kept("a")),
    Write(
        "/runs/{asking}", "runs/{asking}/input", asked, "Send", lambda page: page.get_by_label("Name", exact=True).first
    ),
    Write("/runs/{gated}", "runs/{gated}/approvals/guarded", labelled(Comment="kept"), "Approve", kept("Comment")),
    Write("/runs/{gated}", "runs/{gated}/cancel", labelled(Comment="kept"), "Cancel", kept("Comment")),
    Write("/runs/{gated}", "runs/{gated}/pause", labelled(Comment="kept"), "Pause", kept("Comment")),
    Write("/inbox", "runs/{gated}/approvals/guarded", labelled(Comment="kept"), "Deny", kept("Comment")),
    Write("/runs/{run}?step=twice", "runs/{run}/fork", forks, "Fork from here", kept("Inputs of the run")),
    Write("/templates/{template}", "templates/{template}/runs", labelled(a="41"), "Run", kept("a")),
    Write("/templates/{template}", "templates/{template}", edits, "Save as a version", text_of, "PUT"),
    Write("/templates/{template}", "templates/{template}/publish", publishes, "Publish", kept("Description")),
    Write("/tools?key=add", "tools/add/call", labelled(a="41", b="1"), "Try it", kept("a")),
    Write("/schedules", "schedules", schedules, "Save", kept("Title")),
    Write("/schedules/{schedule}", "schedules/{schedule}/run", nothing, "Run now", state_of),
    Write("/models", "models", adds_model, "Save", kept("Model, as the provider calls it")),
    Write("/mcp-servers", "mcp-servers", adds_server, "Add it", kept("Program")),
    Write("/settings", "settings", sets, "Save", lambda page: page.get_by_label("max_retries"), "PUT"),
)


async def writes_refused(person: Tab, ids: dict[str, str], ways: Callable[[int], tuple[int, ...]]) -> int:
    """What people send is refused; gives how often. `ways`: how the n-th of them is."""
    page, tried = person.page, 0
    for number, write in enumerate(WRITES):
        if not ways(number):
            continue
        path = f"/api/v1/{write.to.format(**ids)}"
        await left(person)
        await person.open(write.view.format(**ids))
        await person.settled()
        await write.types(page)
        field = write.keeps(page)
        typed = await field.evaluate("it => it.value ?? it.innerText")
        assert typed
        for status in ways(number):
            here, handler = at(path), answering(status, write.method)
            await page.route(here, handler)
            within = page.get_by_role("dialog") if await page.get_by_role("dialog").count() else page.locator("main")
            await within.get_by_role("button", name=write.sends, exact=True).first.click()
            if status == 401:
                await expect(page.get_by_label("Key or token")).to_be_visible()
                await person.settled()
                await page.unroute(here, handler)
                await back_in(person)
            else:
                about = f"{write.view}: {path} answers {status}"
                await expect(page.locator(".problem").first, about).to_contain_text(STATUSES[status])
                await page.unroute(here, handler)
            assert await field.evaluate("it => it.value ?? it.innerText") == typed, (write.view, status)
            tried += 1
    return tried


async def left(person: Tab) -> None:
    """Nothing of the view is there any more: it is opened anew."""
    await person.open("/nowhere")
    await expect(person.page.get_by_text("There is no such page.")).to_be_visible()


async def back_in(person: Tab) -> None:
    """Sign in again, at a server that is open."""

    async def taken(route: Route) -> None:
        await (route.fulfill(json={}) if route.request.method == "POST" else route.fallback())

    page = person.page
    await page.route("**/session", taken)
    await page.get_by_label("Key or token").fill("tpk_x")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_label("Key or token")).to_have_count(0)
    await page.unroute("**/session", taken)


async def test_what_is_sent_and_refused_is_said_and_kept(browser: Browser) -> None:
    ways = list(STATUSES)
    async with served() as (base, ids), tab(browser, base) as person:
        person.page.on("dialog", lambda dialog: dialog.accept())
        await writes_refused(person, ids, lambda number: (ways[number % len(ways)],) if number % 2 else ())


async def test_what_is_read_and_refused_is_said(browser: Browser) -> None:
    async with served() as (base, ids), tab(browser, base) as person:
        assert await reads_refused(person, ids, every=4)


@pytest.mark.soak
async def test_every_route_that_the_page_calls_refused_in_every_way(
    browser: Browser, tried: Callable[[str, int], None]
) -> None:
    async with served() as (base, ids), tab(browser, base) as person:
        person.page.on("dialog", lambda dialog: dialog.accept())
        count = await writes_refused(person, ids, lambda _: tuple(STATUSES))
        tried("answers of routes of the page, refused", count + await reads_refused(person, ids, every=1))
