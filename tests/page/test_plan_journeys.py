"""Journeys through the views of plans and templates, in a real Chromium, against a real server."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any, TypedDict

import pytest
from playwright.async_api import Browser, Page, Route, expect
from tests.page.page_cases import tab
from tests.patience import PATIENCE
from tests.server.serving_cases import serving

from toolpath import Toolpath
from toolpath.notation.template_config import CHANNELS
from toolpath.server.asgi import create_app

pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="session")]

WRITTEN = """\
# Who writes comes first.
name: post   # its name
inputs: {type: object, properties: {name: {type: string}}, required: [name]}
steps:
  - id: writer
    tool: blog.author   # makes one
    inputs: {name: "{{ inputs.name }}"}
outputs: "{{ writer.id }}"  # the end
"""
#: What a plan may hold to have something run in the reader's browser.
HOSTILE = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>'
TEMPLATE = 'name: "%s"\nsteps:\n  - {id: writer, tool: blog.author, inputs: {name: "Dear <<who>>"}}\n'


class Author(TypedDict):
    id: str


def author(name: str) -> Author:
    """Make an author."""
    return Author(id=f"a-{name}")


def post(by: str, title: str, stars: int = 0) -> dict[str, str]:
    """Make a post. <script>window.broken=1</script>

    Args:
        by: Who wrote it.
    """
    return {"id": f"{by}: {title} {stars}"}


def blog() -> Toolpath:
    tp = Toolpath()
    tp.add(author, group="blog", effect="read")
    tp.add(post, group="blog", effect="write")
    return tp


def read(path: Path) -> str:
    return path.read_text()


async def text_of(page: Page) -> str:
    return "\n".join(await page.locator(".cm-line").all_inner_texts()).replace(" ", " ")


async def test_an_address_of_another_plan_shows_that_plan_and_a_plan_that_comes_late_takes_nobody_away(
    browser: Browser,
) -> None:
    async with serving(create_app(blog())) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        ids = []
        for name in ("one", "two"):
            document = {"name": name, "steps": [{"id": name, "tool": "blog.author", "inputs": {"name": name}}]}
            ids.append((await client.post("/api/v1/plans", json={"plan": document})).json()["plan_id"])
        await person.open(f"/plans/{ids[0]}")
        await expect(page.get_by_role("heading", name="one")).to_be_visible()
        await page.evaluate(f"location.hash = '#/plans/{ids[1]}'")
        await expect(page.get_by_role("heading", name="two")).to_be_visible()
        assert "id: two" in await text_of(page)
        await page.go_back()
        await expect(page.get_by_role("heading", name="one")).to_be_visible()
        # A request is planned while its author goes elsewhere.
        asked, planned = asyncio.Event(), asyncio.Event()

        async def late(route: Route) -> None:
            if route.request.method != "POST":
                await route.continue_()
                return
            answer = await route.fetch()
            asked.set()
            await planned.wait()
            await route.fulfill(response=answer)

        await page.route("**/api/v1/plans", late)
        await page.get_by_role("link", name="Ask").click()
        await page.get_by_label("What is to be done?").fill("Make an author with name Ada")
        await page.get_by_role("button", name="Make a plan").click()
        await asyncio.wait_for(asked.wait(), PATIENCE)
        await page.get_by_role("link", name="Tools").click()
        await expect(page.get_by_role("heading", name="Tools")).to_be_visible()
        async with page.expect_response("**/api/v1/plans"):
            planned.set()
        await person.settled()
        assert page.url.endswith("#/tools")


async def test_a_page_whose_parts_are_gone_says_so_and_comes_back_where_the_person_wanted_to_go(
    browser: Browser,
) -> None:
    async with serving(create_app(blog())) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        await person.open("/")
        await expect(page.get_by_role("heading", name="What is to be done?")).to_be_visible()
        await page.route("**/assets/SchedulesView*.js", lambda route: route.fulfill(status=404))
        await page.get_by_role("link", name="Schedules").click()
        await expect(page.get_by_role("alert")).to_contain_text("the server has a newer page")
        await page.unroute("**/assets/SchedulesView*.js")
        await page.get_by_role("button", name="Reload the page").click()
        await expect(page.get_by_role("heading", name="No schedules yet")).to_be_visible()


async def test_each_change_in_a_form_is_undone_by_itself_however_fast_they_follow_one_another(browser: Browser) -> None:
    async with (
        serving(create_app(blog())) as client,
        tab(browser, str(client.base_url)) as person,
    ):
        page = person.page
        kept = (await client.post("/api/v1/plans", json={"plan": WRITTEN})).json()["plan_id"]
        await person.open(f"/plans/{kept}")
        await page.locator(".vue-flow__node", has_text="writer").click()
        form = page.get_by_role("region", name="Step writer")
        asks, limit = form.get_by_label("Ask a person before each call"), form.get_by_label("Time limit")
        await expect(limit).to_be_visible()
        # As fast as a program, and beside one another in the text.
        await page.evaluate(
            """async ([asks, limit]) => {
                asks.click()
                await new Promise((done) => requestAnimationFrame(done))
                limit.value = '5s'
                limit.dispatchEvent(new Event('change', { bubbles: true }))
            }""",
            [await asks.element_handle(), await limit.element_handle()],
        )
        await expect(limit).to_have_value("5s")
        await page.get_by_role("heading", name="Findings").click()
        await page.keyboard.press("Control+z")
        await expect(limit).to_have_value("")
        await expect(asks).to_be_checked()
        await page.keyboard.press("Control+z")
        await expect(asks).not_to_be_checked()


async def test_a_plan_is_made_in_graph_and_text_tried_saved_compared_and_taken_back(browser: Browser) -> None:
    async with (
        serving(create_app(blog())) as client,
        tab(browser, str(client.base_url)) as person,
    ):
        page = person.page
        kept = (await client.post("/api/v1/plans", json={"plan": WRITTEN})).json()["plan_id"]
        await person.open(f"/plans/{kept}")
        # A further step, found by its words and taken with the keyboard.
        await page.get_by_role("button", name="Add a step").click()
        await page.get_by_role("combobox", name="What should it do?").fill("make a post")
        await expect(page.locator(".picker .tool").first).to_contain_text("blog.post")
        await expect(page.locator(".picker .detail")).to_contain_text("Who wrote it.")
        await page.keyboard.press("Enter")
        form = page.get_by_role("region", name="Step post")
        await form.get_by_label("by").fill("{{ writer.id }}")
        await form.get_by_label("title").fill("Hello: you")
        await form.get_by_label("stars").fill("3")
        await form.get_by_label("Ask a person before each call").check()
        await form.get_by_label("Time limit").fill("5s")
        await form.get_by_label("Time limit").press("Tab")
        await expect(page.get_by_text("The plan checks.")).to_be_visible()
        text = await text_of(page)
        assert text.startswith(WRITTEN.partition("outputs:")[0].rstrip()), text
        assert 'outputs: "{{ writer.id }}"  # the end' in text
        # Undone from anywhere, and done again.
        await page.get_by_role("heading", name="Findings").click()
        await page.keyboard.press("Control+z")
        await expect(form.get_by_label("Time limit")).to_have_value("")
        await page.keyboard.press("Control+Shift+z")
        await expect(form.get_by_label("Time limit")).to_have_value("5s")
        # The step alone: its effect is told, and its approval is asked for as in any run.
        await form.get_by_role("button", name="Try this step").click()
        trial = page.get_by_role("dialog")
        await expect(trial.get_by_text("it may write")).to_be_visible()
        await trial.get_by_label("by").fill("me")
        await trial.get_by_role("button", name="Try it").click()
        await expect(trial.get_by_text("waits for a person")).to_be_visible()
        await trial.get_by_role("button", name="Close").click()
        await form.get_by_role("button", name="Close").click()
        # Dry run, save, compare, take back.
        await page.get_by_label("name (required)").fill("Ada")
        await page.get_by_role("button", name="Dry run").click()
        await expect(page.get_by_text("Nothing was called.")).to_be_visible()
        await expect(page.get_by_text('{"name":"Ada"}')).to_be_visible()
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.get_by_text("Saved", exact=True)).to_be_visible()
        assert (await client.get(f"/api/v1/plans/{kept}")).json()["source"].rstrip() == text.rstrip()
        await page.get_by_role("button", name=re.compile("Versions")).click()
        versions = page.get_by_role("dialog")
        await expect(versions.locator(".steps")).to_contain_text("post")
        await versions.get_by_role("button", name=re.compile("Revision 1")).click()
        await versions.get_by_role("button", name="Make it the newest").click()
        await expect(versions.get_by_role("button", name=re.compile("Revision 3"))).to_be_visible()
        await versions.get_by_role("button", name="Close").click()
        await expect(page.locator(".cm-line")).to_have_text(WRITTEN.split("\n"))
        assert (await text_of(page)).rstrip() == WRITTEN.rstrip()
        # Out and in again: the comments are there.
        async with page.expect_download() as saved:
            await page.get_by_role("button", name="Export").click()
        assert read(await (await saved.value).path()) == WRITTEN
        await person.open("/plans")
        foreign: Any = {"tool_calls": [{"name": "blog.author", "arguments": {"name": HOSTILE}}]}
        for content, shown in ((WRITTEN, "# the end"), (json.dumps(foreign), "window.broken")):
            await person.open("/plans")
            file = {"name": "x.yaml", "mimeType": "text/plain", "buffer": content.encode()}
            await page.locator("input[type=file]").set_input_files([file])  # type: ignore[list-item]
            await expect(page.locator(".cm-content")).to_contain_text(shown)
        assert await page.evaluate("window.broken") is None


async def test_a_request_is_planned_asked_back_and_planned_again_beside_the_first(browser: Browser) -> None:
    async with (
        serving(create_app(blog())) as client,
        tab(browser, str(client.base_url)) as person,
    ):
        page = person.page
        await person.open("/")
        await page.get_by_label("What is to be done?").fill("create a post by Ada")
        await page.get_by_label("Planner").select_option("both")
        await page.get_by_role("button", name="Make a plan").click()
        await expect(page.get_by_role("heading", name="All plans for this request")).to_be_visible()
        await expect(page.get_by_text("by rules, offline")).to_be_visible()
        # Without a model the other one is refused, and it is said what a model would add.
        await page.get_by_role("button", name="Plan it also by a model").click()
        await expect(page.get_by_role("alert")).to_be_visible()
        await expect(page.get_by_text("also understands freer words").first).to_be_visible()
        await page.get_by_role("link", name="Open this one").click()
        await expect(page.get_by_role("heading", name="What the planner could not know")).to_be_visible()
        await page.locator(".below form input").first.fill("Hello")
        first = page.url
        await page.get_by_role("button", name="Plan again with these answers").click()
        # Who leaves before it is planned is not led to it.
        await expect(page).not_to_have_url(first)
        await page.get_by_role("link", name="All plans for this request").click()
        await expect(page.locator("article")).to_have_count(2)


def by_title(templates: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """What templates are, without what each server gives them: ids, times, and where they are published."""
    own = {"planTemplateId", "createTime", "updateTime", "version"}
    whole = [{name: said for name, said in one.items() if name not in own} for one in templates]
    config = [
        {name: said for name, said in one.get("toolConfig", {}).items() if name not in ("publishStatus", *CHANNELS)}
        for one in templates
    ]
    return sorted((one["title"], {**one, "toolConfig": more}) for one, more in zip(whole, config, strict=True))


async def test_a_template_is_made_published_run_copied_and_taken_back(browser: Browser) -> None:
    async with (
        serving(create_app(blog())) as client,
        serving(create_app(blog())) as other,
        tab(browser, str(client.base_url)) as person,
    ):
        page = person.page
        await person.open("/templates")
        await expect(page.get_by_text("No templates yet")).to_be_visible()
        title = "<b>Hello</b>"
        file = {"name": "x.yaml", "mimeType": "text/plain", "buffer": (TEMPLATE % title).encode()}
        await page.locator("input[type=file]").set_input_files([file])  # type: ignore[list-item]
        await expect(page.get_by_role("heading", name=title)).to_be_visible()
        await expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
        await page.get_by_role("button", name="Publish …").click()
        dialog = page.get_by_role("dialog")
        # Of a draft there is nothing to take back.
        await expect(dialog.get_by_role("button", name="Publish", exact=True)).to_be_disabled()
        await dialog.get_by_label("Description").fill("Greets.")
        await dialog.get_by_label(re.compile("^HTTP")).check()
        await dialog.get_by_label(re.compile("^MCP")).check()
        await dialog.get_by_role("button", name="Publish", exact=True).click()
        await expect(dialog.get_by_label("curl")).to_contain_text("/runs'")
        await expect(dialog.get_by_label("MCP: tools/call")).to_contain_text("ungrouped--")
        await dialog.get_by_role("button", name="Close").click()
        await page.get_by_label("who (required)").fill("Ada")
        await page.get_by_role("button", name="Run", exact=True).click()
        await expect(page.locator(".outcome")).to_contain_text("a-Dear Ada")
        await page.reload()
        await page.get_by_role("button", name="Earlier values").click()
        await expect(page.get_by_label("who (required)")).to_have_value("Ada")
        # A further version, told apart from the first, and back.
        await page.get_by_role("textbox", name="Text").click()
        await page.keyboard.press("Control+End")
        await page.keyboard.type("outputs: done")
        await page.get_by_role("button", name="Save as a version").click()
        await page.get_by_role("button", name="Versions (2)").click()
        await expect(page.get_by_role("dialog").locator(".steps")).to_contain_text("outputs")
        await page.get_by_role("dialog").get_by_role("button", name=re.compile("Version 1")).click()
        await page.get_by_role("dialog").get_by_role("button", name="Make it the newest").click()
        await expect(page.get_by_role("dialog").get_by_role("button", name=re.compile("Version 3"))).to_be_visible()
        await page.get_by_role("dialog").get_by_role("button", name="Close").click()
        await page.get_by_role("button", name="Make a copy").click()
        await expect(page.get_by_role("heading", name=f"{title} copy")).to_be_visible()
        await person.open("/templates")
        async with page.expect_download() as saved:
            await page.get_by_role("button", name="Export", exact=True).click()
        written = await (await saved.value).path()
        exported = json.loads(read(written))
        assert len(exported["templates"]) == 2
        assert await page.evaluate("window.broken") is None
        # What was exported is read in by another server, and is the same there.
        await page.goto(f"{other.base_url}/#/templates")
        file = {"name": "templates.json", "mimeType": "application/json", "buffer": written.read_bytes()}
        await page.locator("input[type=file]").set_input_files([file])  # type: ignore[list-item]
        await expect(page.locator(".outcomes li")).to_have_text([re.compile(r": imported\s*$")] * 2)
        read_in = (await other.get("/api/v1/templates/export")).json()["templates"]
        assert by_title(read_in) == by_title(exported["templates"])
        await page.get_by_role("link", name=title, exact=True).click()
        await expect(page.get_by_role("textbox", name="Text")).to_contain_text("Dear")


async def test_on_an_empty_store_an_example_is_run_with_one_click(browser: Browser) -> None:
    tp = Toolpath()
    tp.sources.add_source("builtin", {"examples": {}})
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        await person.open("/")
        await page.get_by_role("button", name="Run: Two calls").click()
        await expect(page.locator(".head .state", has_text="completed")).to_be_visible()
