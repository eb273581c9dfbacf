"""Journeys of those who look after the service: tools, schedules, files, models, settings, what goes on, many runs."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect
from tests.access.access_cases import guarded
from tests.page.page_cases import signed_in, tab
from tests.page.test_page_journeys import HOSTILE, faults_of
from tests.server.queue_cases import Handed
from tests.server.rest_cases import GATED, SUM, tools
from tests.server.serving_cases import serving
from tests.store.store_cases import dropped, postgres_url

from toolpath import Settings, Toolpath
from toolpath.server.asgi import create_app

pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="session")]

VIEWS = ("/files", "/files/runs", "/models", "/settings", "/mcp-servers", "/operation", "/operation/workers")
ADMIN_VIEWS = (*VIEWS, "/operation/audit", "/runs?text=sum&user=ada")
#: What changes something: none of it is offered to who may only read.
CHANGING = re.compile(
    "^(Try it|Add .*|Import|Reload|Switch o.*|Delete|New schedule|Run now|Pause|Resume|Change|Cancel|Retry.*|Save"
    "|Take .*|Make it the default|Verify.*|Publish.*|Run.*|Approve|Deny|Fork.*|Make a .*|.*write .*|Send|Attach.*"
    "|Rename|Undo|Keep as .*|Back to .*|Decline.*|Plan .*|Also .*)$",
    re.IGNORECASE,
)
SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("clock")
@server.tool()
def now() -> str:
    "What time it is."
    return "noon"
server.run()
"""


class Held(Handed):
    """A queue whose worker may be busy elsewhere for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.is_held = False
        self._runs: list[str] = []

    async def put(self, run_id: str, *, priority: int = 0) -> None:
        if self.is_held:
            self._runs.append(run_id)
        else:
            await super().put(run_id, priority=priority)

    async def release(self) -> None:
        self.is_held = False
        for run_id in self._runs:
            await super().put(run_id)


async def begun(client: Any, plan: dict[str, Any], **inputs: Any) -> str:
    answer = await client.post("/api/v1/runs", json={"plan": plan, "inputs": inputs})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["run_id"])


def row(page: Page, name: str) -> Any:
    return page.locator(".setting", has_text=name)


async def test_an_operator_configures_the_service_and_sees_what_goes_on(browser: Browser, tmp_path: Path) -> None:
    tp = tools(Toolpath(settings=Settings(mcp_commands=True)))
    script = tmp_path / "clock.py"
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        page.on("dialog", lambda dialog: dialog.accept())
        # A tool is tried, and the try is a run.
        await person.open("/tools?key=add")
        await page.get_by_label("a (required)").fill("2")
        await page.get_by_label("b (required)").fill("3")
        await page.get_by_role("button", name="Try it").click()
        await expect(page.get_by_role("link", name="Open the run")).to_be_visible()
        await expect(page.locator("aside .figures")).to_contain_text("1calls")
        # An MCP server says why it does not start, is mended, and its tools are there.
        await page.get_by_role("link", name="MCP servers").click()
        await page.get_by_role("button", name="Add by command").click()
        await page.get_by_label("Name: the group of its tools").fill("clock")
        await page.get_by_label("Program").fill(sys.executable)
        await page.get_by_label("Arguments").fill(f'["{script}"]')
        await page.get_by_role("button", name="Add it").click()
        await expect(page.get_by_text("did not start").first).to_be_visible()
        script.write_text(SERVER, encoding="utf-8")
        await page.get_by_role("button", name="Reload").click()
        await expect(page.get_by_role("link", name="clock.now")).to_be_visible()
        await page.get_by_role("button", name="Delete").click()
        await expect(page.get_by_text("No MCP servers are stored")).to_be_visible()
        # A schedule says when it comes, rests, and is run by hand.
        await client.post("/api/v1/plans", json={"plan": SUM})
        await person.open("/schedules")
        await page.get_by_role("button", name="New schedule").click()
        await page.get_by_label("Title").fill("every morning")
        await page.get_by_label("Template or plan").select_option(label="≡ sum")
        await page.get_by_label("Inputs").fill('{"a": 20}')
        await page.get_by_label("Cron line").fill("30 9 * * *")
        await page.get_by_label("Time zone").fill("Europe/Berlin")
        await page.get_by_role("button", name="Save").click()
        await page.get_by_role("link", name="every morning").click()
        await expect(page.locator("ol li")).to_have_count(5)
        await expect(page.locator("ol li").first).to_contain_text("9:30")
        await page.get_by_role("button", name="Pause").click()
        await expect(page.get_by_text("Would be due, if it were not paused")).to_be_visible()
        place = page.url
        await page.get_by_role("button", name="Run now").click()
        await expect(page.get_by_role("heading", name="sum")).to_be_visible()
        await page.goto(place)
        await expect(page.get_by_text("began a run, by hand")).to_be_visible()
        # Files are shown as text, whatever they are.
        await person.open("/files")
        note = {"name": "note.html", "mimeType": "text/html", "buffer": HOSTILE.encode()}
        await page.locator("input[type=file]").set_input_files([note])  # type: ignore[list-item]
        await page.get_by_role("link", name="note.html").click()
        await expect(page.locator(".shown pre")).to_contain_text("window.broken=1")
        assert await page.evaluate("window.broken") is None
        # A model's key is never shown again.
        await person.open("/models")
        await page.get_by_role("button", name="Add a model").click()
        await page.get_by_label("Name", exact=False).first.fill("house")
        await page.get_by_label("Model, as the provider calls it").fill("gpt-x")
        await page.get_by_label("Key").fill("sk-very-secret")
        await page.get_by_role("button", name="Save").click()
        await page.get_by_role("button", name="Make it the default").click()
        await expect(page.get_by_text("asked where none is named")).to_be_visible()
        assert "sk-very-secret" not in await page.content()
        # A setting says where its value comes from, and is taken back.
        await person.open("/settings")
        await page.get_by_label("max_retries").fill("7")
        await row(page, "max_retries").get_by_role("button", name="Save").click()
        await expect(row(page, "max_retries").get_by_text("stored here")).to_be_visible()
        await row(page, "max_retries").get_by_role("button", name="Take back").click()
        await expect(page.get_by_label("max_retries")).to_have_value("3")
        # What went on is counted, and the trail is whole.
        await begun(client, {"steps": [{"tool": "fail"}], "name": "broken"})
        await begun(client, GATED)
        await person.open("/operation")
        await expect(page.locator(".open a", has_text="waits for a person")).to_contain_text("1")
        await expect(page.get_by_role("link", name=re.compile("^✕ [1-9]"))).to_be_visible()
        await page.get_by_role("link", name="Audit trail").click()
        await page.get_by_role("button", name="Verify the whole trail").click()
        await expect(page.get_by_text("The trail is as it was written.")).to_be_visible()


async def test_runs_are_searched_kept_as_a_filter_and_steered_together(browser: Browser) -> None:
    tp = tools(Toolpath())
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        page.on("dialog", lambda dialog: dialog.accept())
        for a in (1, 2):
            await begun(client, {**GATED, "name": f"gated {a}"})
        await begun(client, {**SUM, "name": "other"}, a=4711)
        await person.open("/runs")
        await page.get_by_label("Search names, inputs, outputs, errors").fill("4711")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("link", name="other")).to_be_visible()
        await expect(page.get_by_role("link", name="gated 1")).to_have_count(0)
        await person.open("/runs?status=waiting")
        await page.get_by_role("button", name="Save this filter").click()
        await page.get_by_label("Name of the filter").fill("mine")
        await page.keyboard.press("Enter")
        await person.open("/runs")
        await page.reload()
        await page.get_by_role("link", name="mine").click()
        await expect(page.get_by_role("link", name="gated 2")).to_be_visible()
        await page.get_by_label("Choose all that are shown").check()
        await page.get_by_role("button", name="Cancel", exact=True).click()
        await expect(page.get_by_text("No run fits these filters")).to_be_visible()
        assert len(await tp.store.list_runs(status="cancelled")) == 2


async def test_what_one_may_not_do_is_not_offered(browser: Browser) -> None:
    async with guarded() as server:
        tools(server.tp)
        root = await server.key("*", tenant="acme", user="ada")
        made = await server.client.post("/api/v1/runs", json={"plan": GATED}, headers=root)
        plan = (await server.client.post("/api/v1/plans", json={"plan": SUM}, headers=root)).json()["plan_id"]
        words = {"plan_id": plan, "inputs": {"a": 1}, "cron": "0 0 1 1 *", "title": "yearly"}
        kept = (await server.client.post("/api/v1/schedules", json=words, headers=root)).json()["schedule_id"]
        gated = made.json()["run_id"]
        asked = await server.client.post("/api/v1/templates", json={"document": SUM, "title": "sums"}, headers=root)
        template = asked.json()["template_id"]
        chat = (await server.client.post("/api/v1/conversations", json={}, headers=root)).json()["conversation_id"]
        reader = await server.key("read", tenant="acme", user="eve")
        async with tab(browser, str(server.client.base_url)) as person:
            await signed_in(person, reader, "/runs")
            await expect(person.page.get_by_role("link", name="gated")).to_be_visible()
            seen = (
                f"/runs/{gated}",
                f"/runs/{gated}?step=guarded",
                f"/plans/{plan}",
                f"/templates/{template}",
                f"/chat/{chat}",
            )
            lists = ("/", "/chat", "/inbox", "/plans", "/templates", "/runs", "/schedules")
            for view in (*VIEWS, *lists, *seen, f"/schedules/{kept}", "/tools?key=add"):
                await person.open(view)
                await person.settled()
                offered = await person.page.get_by_role("button", name=CHANGING).all_inner_texts()
                assert offered == [], f"{view}: {offered}"
                assert await person.page.locator("main input[type=file]").count() == 0
                await expect(person.page.get_by_role("link", name="Audit trail")).to_have_count(0)
        # The admin of a tenant is no admin of the house.
        async with tab(browser, str(server.client.base_url)) as person:
            await signed_in(person, root, "/operation/audit")
            await expect(person.page.get_by_role("cell", name="run.start").first).to_be_visible()
            await expect(person.page.get_by_role("button", name="Verify the whole trail")).to_have_count(0)
            await person.open("/settings")
            await expect(person.page.get_by_text("Settings are those of all tenants")).to_be_visible()
        assert (await server.client.get(f"/api/v1/runs/{made.json()['run_id']}", headers=root)).status_code == 200


async def test_the_views_of_operation_can_be_used_by_everybody_and_run_nothing(browser: Browser) -> None:
    tp = tools(Toolpath(settings=Settings(mcp_commands=True)))
    async with serving(create_app(tp)) as client:
        # What people name, as they may.
        plan = (await client.post("/api/v1/plans", json={"plan": {**SUM, "name": HOSTILE}})).json()["plan_id"]
        words = {"plan_id": plan, "inputs": {"a": 1}, "cron": "0 0 1 1 *", "title": HOSTILE}
        kept = (await client.post("/api/v1/schedules", json=words)).json()["schedule_id"]
        model = {"name": "x", "model": "gpt", "base_url": "https://models.example", "key": "k", "description": HOSTILE}
        assert (await client.post("/api/v1/models", json=model)).status_code == 201
        broken = {"name": "broken", "command": sys.executable, "args": ["-c", f"raise SystemExit({HOSTILE!r})"]}
        assert (await client.post("/api/v1/mcp-servers", json=broken)).status_code == 201
        sent = {"files": ("<img src=x onerror=window.broken=1>.svg", f"<svg>{HOSTILE}</svg>".encode(), "image/svg+xml")}
        assert (await client.post("/api/v1/files", files=sent)).status_code == 201
        run = await begun(client, {**SUM, "name": HOSTILE}, a=1)
        put = await client.put(f"/api/v1/runs/{run}/files/x.svg", content=f"<svg>{HOSTILE}</svg>")
        own = (f"/schedules/{kept}", "/schedules", f"/files/runs/{run}")
        for scheme, views in (("light", (*ADMIN_VIEWS, *own)), ("dark", ("/operation", "/settings"))):
            async with tab(browser, str(client.base_url), color_scheme=scheme, bypass_csp=True) as person:
                for view in views:
                    await person.open(view)
                    await person.settled()
                    assert await faults_of(person.page) == [], f"{view} in the {scheme}"
                    assert await person.page.evaluate("window.broken") is None, view
                    assert await person.page.locator("main script, main img").count() == 0, view
        assert put.status_code in (201, 409)
        phone: Any = {"width": 390, "height": 844}
        async with tab(browser, str(client.base_url), viewport=phone) as person:
            for view in (*ADMIN_VIEWS, *own):
                await person.open(view)
                await person.settled()
                wide = await person.page.evaluate("document.documentElement.scrollWidth")
                assert wide <= 390, f"{view} is {wide} px wide"
            # By keyboard alone, to a view that lies within another.
            await person.page.keyboard.press("Control+K")
            await person.page.keyboard.type("workers")
            await person.page.keyboard.press("Enter")
            await expect(person.page).to_have_url(re.compile("/operation/workers$"))


@pytest.mark.postgres
async def test_what_a_worker_drives_on_postgresql_is_seen_and_answered(browser: Browser) -> None:
    schema = f"test_page_operation_{os.getpid()}"
    await dropped(schema)
    queue = Held()
    try:
        async with tools(Toolpath(postgres_url(schema))) as worker:
            queue.worker = worker
            served = create_app(tools(Toolpath(postgres_url(schema), queue=queue)))
            async with serving(served) as client, tab(browser, str(client.base_url)) as person:
                page = person.page
                await begun(client, {**SUM, "name": "on postgres"}, a=21)
                gated = await begun(client, GATED)
                asks = await begun(client, {**GATED, "name": "in the inbox"})
                # An answer is kept at once, and not asked for again while the run has not been taken up yet.
                await person.open("/inbox")
                queue.is_held = True
                card = page.locator("article", has=page.locator(f"a[href$='{asks}']"))
                await card.get_by_role("button", name="Approve").click()
                await expect(page.get_by_text("Your answer is kept")).to_be_visible()
                await expect(card).to_have_count(0)
                await queue.release()
                await expect(page.get_by_text("Your answer is kept")).to_have_count(0)
                # What goes on is heard of as it comes, from whatever process.
                await person.open(f"/runs/{gated}")
                await page.get_by_role("button", name="Approve").first.click()
                await expect(page.locator(".head .state", has_text="completed")).to_be_visible()
                await page.get_by_role("link", name="Runs", exact=True).click()
                await expect(page.get_by_role("row", name=re.compile("on postgres.*completed"))).to_be_visible()
                await expect(page.get_by_role("row", name=re.compile("gated.*completed"))).to_be_visible()
                await person.open("/operation")
                await expect(page.get_by_role("heading", name="Queue")).to_be_visible()
                await expect(page.locator(".open")).to_contain_text("running0")
    finally:
        await dropped(schema)
