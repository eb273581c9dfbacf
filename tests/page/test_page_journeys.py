"""Journeys of people through the page, in a real Chromium, against a real server."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect
from tests.access.access_cases import guarded
from tests.page.page_cases import Tab, chromium, tab
from tests.server.rest_cases import ASKING, GATED, SUM, Gate, tools
from tests.server.serving_cases import serving

from toolpath import Toolpath
from toolpath.server.asgi import create_app
from toolpath.testing.scripted_model import ScriptedModel

pytestmark = pytest.mark.chromium

AXE = Path(__file__).parents[2] / "ui" / "node_modules" / "axe-core" / "axe.min.js"
#: What a tool, a model or a user may write to have something run in the reader's browser.
HOSTILE = '<img src=x onerror="window.broken=1"><script>window.broken=1</script><svg onload=window.broken=1>{{ 7*7 }}'
MISSPELT = """
name: sums
inputs: {type: object, properties: {a: {type: integer}}, required: [a]}
steps:
  - {id: twice, tool: ad, inputs: {a: "{{ inputs.a }}", b: 1}}
outputs: "{{ twice }}"  # the sum
"""
VIEWS = ("/", "/chat", "/runs", "/inbox", "/plans", "/templates", "/schedules", "/tools", "/nowhere")


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as found:
        yield found


def keep(text: str) -> str:
    """Keep a note."""
    return f"kept {text}"


async def begun(client: Any, plan: dict[str, Any], **inputs: Any) -> str:
    answer = await client.post("/api/v1/runs", json={"plan": plan, "inputs": inputs})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["run_id"])


def state(page: Page, word: str) -> Any:
    return page.locator(".head .state", has_text=re.compile(f"^.?{word}$"))


async def written(page: Page, text: str) -> None:
    """Put a text in place of what the editor holds, as a person pastes it."""
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.evaluate("text => navigator.clipboard.writeText(text)", text)
    await page.get_by_role("textbox", name="Text").click()
    await page.keyboard.press("Control+A")
    await page.keyboard.press("Control+V")


async def test_a_plan_is_written_mended_run_failed_forked_and_done(browser: Browser) -> None:
    tp = tools(Toolpath())
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        await person.open("/")
        await page.get_by_role("button", name="or write one yourself").click()
        await expect(page.get_by_text("unknown_tool")).to_be_visible()
        await written(
            page,
            MISSPELT,
        )
        await page.get_by_role("button", name=re.compile("^Use .add")).click()
        await expect(page.get_by_text("The plan checks.")).to_be_visible()
        await expect(page.locator(".graph .name", has_text="twice")).to_be_visible()
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_text("Saved", exact=True)).to_be_visible()
        # What was written stays as it was written.
        await expect(page.get_by_text("# the sum")).to_be_visible()
        await page.get_by_label("a (required)").fill("41")
        await page.get_by_role("button", name="Run", exact=True).click()
        await expect(state(page, "completed")).to_be_visible()
        await page.locator(".graph .box").first.click()
        await page.get_by_role("button", name="Fork from here").click()
        await page.get_by_label("Inputs of the run").fill('{"a": 1}')
        await page.locator("dialog").get_by_role("button", name="Fork from here").click()
        await expect(page.get_by_text("forked from")).to_be_visible()
        await expect(state(page, "completed")).to_be_visible()
        await expect(page.locator(".about")).to_contain_text("2")


async def test_a_request_becomes_a_plan_that_is_seen_before_it_runs(browser: Browser) -> None:
    tp = tools(Toolpath())
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        await person.open("/")
        await page.get_by_label("What is to be done?").fill("add 2 and 3")
        await page.get_by_role("button", name="Make a plan").click()
        await expect(page.get_by_text("“add 2 and 3”")).to_be_visible()
        await expect(page.get_by_text("What it will do")).to_be_visible()
        assert (await client.get("/api/v1/runs")).json()["runs"] == []


async def test_a_person_approves_in_the_inbox_and_answers_a_form_on_the_run(browser: Browser) -> None:
    tp = tools(Toolpath())
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        gated = await begun(client, GATED)
        asking = await begun(client, ASKING)
        await person.open("/inbox")
        await page.get_by_role("button", name="Approve").click()
        await expect(page.get_by_text("wants to call")).to_have_count(0)
        await person.open(f"/runs/{gated}")
        await expect(state(page, "completed")).to_be_visible()
        await person.open(f"/runs/{asking}")
        await page.get_by_label("Name", exact=True).first.fill("Ada")
        await page.get_by_label("Age", exact=True).fill("36")
        await page.reload()
        await page.get_by_label("Name", exact=True).first.fill("Ada")
        await page.get_by_label("Age", exact=True).fill("36")
        await page.get_by_role("button", name="Send").click()
        await expect(state(page, "completed")).to_be_visible()
        await expect(page.locator(".about")).to_contain_text("Ada")


async def test_a_run_is_seen_live_and_stopped_and_a_lost_connection_comes_back(browser: Browser) -> None:
    gate = Gate()
    tp = tools(Toolpath(), gate)
    plan = {
        "name": "slow",
        "steps": [
            {"id": "waits", "tool": "hold"},
            {"id": "then", "tool": "add", "inputs": {"a": 1, "b": 1}, "depends_on": ["waits"]},
        ],
    }
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        run = await begun(client, plan)
        await person.open(f"/runs/{run}")
        await expect(page.locator(".graph .box.running", has_text="waits")).to_be_visible()
        await person.context.set_offline(True)
        gate.open.set()
        await person.context.set_offline(False)
        await expect(page.locator(".graph .box.succeeded", has_text="then")).to_be_visible()
        await expect(state(page, "completed")).to_be_visible()


async def test_a_person_talks_allows_a_write_and_finds_the_talk_again(browser: Browser) -> None:
    tp = tools(Toolpath(chat=ScriptedModel([("keep", {"text": "tea"})], "It is kept.")))
    tp.add(keep, effect="write")
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        await person.open("/chat")
        await page.get_by_label("Message").fill("Keep a note on tea.")
        await page.get_by_role("button", name="Send").click()
        await page.get_by_role("button", name="Approve").click()
        await expect(page.get_by_text("It is kept.")).to_be_visible()
        await expect(page.locator("article.user")).to_have_text("Keep a note on tea.")
        await page.reload()
        await expect(page.get_by_text("It is kept.")).to_be_visible()
        await expect(page.get_by_role("link", name="Keep a note on tea.")).to_be_visible()


async def test_what_tools_and_users_wrote_is_shown_as_text(browser: Browser) -> None:
    tp = Toolpath()

    def echo(text: str) -> dict[str, str]:
        """<script>window.broken=1</script> Give the text back."""
        return {text: text}

    tp.add(echo, effect="read")
    plan = {
        "name": HOSTILE,
        "steps": [{"id": "said", "tool": "echo", "inputs": {"text": "{{ inputs.text }}"}}],
        "inputs": {"type": "object", "properties": {"text": {"type": "string", "description": HOSTILE}}},
        "outputs": "{{ said }}",
    }
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        run = await begun(client, plan, text=HOSTILE)
        kept = (await client.post("/api/v1/plans", json={"plan": plan})).json()["plan_id"]
        for view in (
            f"/runs/{run}?step=said",
            f"/runs/{run}?view=events",
            f"/plans/{kept}",
            "/runs",
            "/tools?key=echo",
        ):
            await person.open(view)
            await expect(person.page.get_by_text("window.broken").first).to_be_visible()
            assert await person.page.evaluate("window.broken") is None
            assert await person.page.locator("main script, main img").count() == 0


async def test_people_of_two_tenants_do_not_see_each_other(browser: Browser) -> None:
    async with guarded() as server:
        tools(server.tp)
        base = str(server.client.base_url)
        secret = "run of acme"
        made = await server.client.post(
            "/api/v1/runs",
            json={"plan": {**SUM, "name": secret}, "inputs": {"a": 1}},
            headers=await server.key("*", tenant="acme"),
        )
        assert made.status_code == 202, made.text
        for tenant, sees in (("acme", True), ("other", False)):
            async with tab(browser, base) as person:
                header = await server.key("*", tenant=tenant)
                await person.open("/runs")
                await person.page.get_by_label("Key or token").fill(header["Authorization"].removeprefix("Bearer "))
                await person.page.get_by_role("button", name="Sign in").click()
                await expect(person.page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
                shown = person.page.get_by_role("link", name=secret)
                await expect(shown).to_have_count(1 if sees else 0)
                if not sees:
                    await expect(person.page.get_by_text("No runs yet")).to_be_visible()
                    await person.open(f"/runs/{made.json()['run_id']}")
                    await expect(person.page.get_by_text("There is no run")).to_be_visible()
                # Nothing of the key is where a script could read it.
                kept = await person.page.evaluate("JSON.stringify(localStorage) + document.cookie")
                assert "tpk_" not in kept


async def test_no_view_has_a_serious_fault_for_people_who_cannot_see_or_point(browser: Browser) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed; `make ui` brings it")
    tp = tools(Toolpath())
    async with serving(create_app(tp)) as client:
        run = await begun(client, GATED)
        kept = (await client.post("/api/v1/plans", json={"plan": SUM})).json()["plan_id"]
        for scheme in ("light", "dark"):
            async with tab(browser, str(client.base_url), color_scheme=scheme, bypass_csp=True) as person:
                own = (f"/runs/{run}", f"/plans/{kept}")
                # In the dark the colours differ and nothing else: one view has most of them.
                for view in (*VIEWS, *own, "/tools?key=add") if scheme == "light" else own[:1]:
                    await person.open(view)
                    await _settled(person)
                    assert await _faults(person.page) == [], f"{view} in the {scheme}"


async def _settled(person: Tab) -> None:
    await person.page.wait_for_load_state("networkidle")
    await expect(person.page.locator("main h1, main h2").first).to_be_visible()


async def _faults(page: Page) -> list[str]:
    await page.add_script_tag(path=str(AXE))
    found = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{fault['id']}: {fault['nodes'][0]['html'][:160]}"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
    ]
