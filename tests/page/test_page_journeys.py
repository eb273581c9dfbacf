"""Journeys of people through the page, in a real Chromium, against a real server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect
from tests.access.access_cases import guarded
from tests.page.page_cases import tab
from tests.server.rest_cases import ASKING, GATED, SUM, Gate, tools
from tests.server.serving_cases import serving

from toolpath import Toolpath
from toolpath.server.asgi import create_app
from toolpath.testing.scripted_model import ScriptedModel

pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="session")]

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
        await page.get_by_role("button", name="Write one yourself").click()
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
        await expect(page.get_by_role("heading", name="add 2 and 3", exact=True)).to_be_visible()
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
        await expect(page.get_by_label("Age", exact=True)).to_have_value("36")
        await page.get_by_role("button", name="Send").click()
        await expect(state(page, "completed")).to_be_visible()
        await expect(page.locator(".about")).to_contain_text("Ada")


async def test_a_file_that_a_form_asks_for_is_chosen_on_the_page(browser: Browser) -> None:
    fields = [{"name": "doc", "label": "Document", "type": "file", "accept": ["csv"]}]
    plan = {"steps": [{"id": "bring", "ask": {"title": "Which?", "inputs": fields}}], "outputs": "{{ bring.doc }}"}
    async with serving(create_app(tools(Toolpath()))) as client, tab(browser, str(client.base_url)) as person:
        page, run_id = person.page, await begun(client, plan)
        await person.open(f"/runs/{run_id}")
        chosen = page.get_by_label("Document")
        send, bringing = page.get_by_role("button", name="Send"), page.get_by_text("being uploaded …")
        async with page.expect_response(re.compile("/files$")):
            await chosen.set_input_files([{"name": "tea.txt", "mimeType": "text/plain", "buffer": b"green"}])
        await expect(bringing).to_have_count(0)
        await send.click()
        await expect(page.get_by_text("no file of these: csv").first).to_be_visible()
        async with page.expect_response(re.compile("/files$")):
            await chosen.set_input_files([{"name": "tea.csv", "mimeType": "text/csv", "buffer": b"green,2.5"}])
        await expect(bringing).to_have_count(0)
        await send.click()
        await expect(state(page, "completed")).to_be_visible()
        assert (await client.get(f"/api/v1/runs/{run_id}/files/tea.csv")).text == "green,2.5"


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
        await expect(page.get_by_text("It is kept.").first).to_be_visible()
        await expect(page.locator("article.user")).to_have_text("Keep a note on tea.")
        await page.reload()
        await expect(page.get_by_text("It is kept.").first).to_be_visible()
        await expect(page.get_by_role("link", name="Keep a note on tea.")).to_be_visible()


async def test_a_plan_is_made_looked_at_and_run_in_a_conversation_which_is_renamed_in_its_place(
    browser: Browser,
) -> None:
    tp = tools(Toolpath(chat=ScriptedModel(then="It is done.")))
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        await person.open("/chat")
        await page.get_by_label("Answered by").select_option(label="a plan, looked at first")
        await page.get_by_label("Message").fill("add with a 2 and b 3")
        await page.get_by_role("button", name="Make a plan").click()
        plan = page.get_by_role("article", name="Plan")
        await expect(plan.locator(".graph .box", has_text="add")).to_be_visible()
        # What it will do is not behind the graph.
        heights = "graph => [graph.offsetHeight, graph.parentElement.offsetHeight]"
        frame = await plan.locator(".graph").evaluate(heights)
        assert frame[0] <= frame[1], frame
        # It is there still when the page comes back, and nothing was run.
        await page.reload()
        await expect(plan.locator(".graph .box", has_text="add")).to_be_visible()
        assert (await client.get("/api/v1/runs")).json()["runs"] == []
        await plan.get_by_role("button", name="Run").click()
        answer = page.locator("article.assistant").first
        await expect(answer).to_contain_text("5")
        await expect(plan).to_have_count(0)
        await answer.get_by_role("button", name="What was done").click()
        # The card of the turn that was under way may go a moment later.
        await expect(answer.get_by_role("region", name="Run")).to_contain_text("add")
        await page.get_by_role("button", name="Rename").click()
        await page.get_by_label("Rename").fill("Sums")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="Sums")).to_be_visible()
        await expect(page.get_by_role("link", name="Sums")).to_be_visible()


async def test_a_template_with_several_parameters_is_given_them_in_the_chat_in_a_form(browser: Browser) -> None:
    document = {
        "name": "sum",
        "steps": [{"id": "sum", "tool": "add", "inputs": {"a": "<<a>>", "b": "<<b>>"}}],
        "outputs": "{{ sum }}",
    }
    async with serving(create_app(tools(Toolpath()))) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        kept = (await client.post("/api/v1/templates", json={"document": document, "title": "Sum"})).json()
        publish = f"/api/v1/templates/{kept['template_id']}/publish"
        await client.post(publish, json={"version": 1, "channels": ["conversation"]})
        await person.open("/chat")
        await page.get_by_label("Answered by").select_option(label="❏ Sum")
        await page.get_by_label("a (required)").fill("2")
        # What is missing is said before anything is sent.
        await page.get_by_role("button", name="Send").click()
        assert (await client.get("/api/v1/runs")).json()["runs"] == []
        await page.get_by_label("b (required)").fill("3")
        await page.get_by_role("button", name="Send").click()
        await expect(page.locator("article.user")).to_contain_text("a: 2")
        await expect(page.locator("article.assistant").first).to_contain_text("5")
        await expect(page.get_by_label("a (required)")).to_have_value("")
        await page.get_by_role("button", name="Ask again").click()
        await expect(page.get_by_label("b (required)")).to_have_value("3")


async def test_two_addresses_at_once_lead_to_the_second(browser: Browser) -> None:
    async with serving(create_app(tools(Toolpath()))) as client, tab(browser, str(client.base_url)) as person:
        await person.open("/")
        await expect(person.page.get_by_role("heading", name="What is to be done?")).to_be_visible()
        await person.page.evaluate("location.hash = '#/tools'; location.hash = '#/plans'")
        await expect(person.page.get_by_role("heading", name="No plans yet")).to_be_visible()
        await person.page.evaluate("new Promise((done) => setTimeout(done))")
        assert person.page.url.endswith("#/plans")


async def test_a_doubted_plan_is_taken_as_it_is_and_a_refused_fork_keeps_what_was_typed(browser: Browser) -> None:
    tp = tools(Toolpath())
    tp.add(keep, effect="write")
    origin = {"request": "keep tea", "confidence": 0.1, "questions": ["Where?"]}
    written: dict[str, Any] = {
        "name": "tea",
        "steps": [{"id": "note", "tool": "keep", "inputs": {"text": "tea"}}],
        "origin": origin,
    }
    written["inputs"] = {"type": "object", "properties": {"mine": {"type": "integer"}}}
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        kept = (await client.post("/api/v1/plans", json={"plan": written})).json()["plan_id"]
        await person.open(f"/plans/{kept}")
        await page.get_by_role("button", name="Run", exact=True).click()
        await expect(page.get_by_text("Its planner is in doubt.")).to_be_visible()
        await page.get_by_role("button", name="The plan is right as it is").first.click()
        await expect(page.get_by_text("Its planner is in doubt.")).to_have_count(0)
        await expect(page.locator(".cm-content")).not_to_contain_text("questions")
        await page.get_by_role("button", name="Run", exact=True).click()
        await expect(state(page, "completed")).to_be_visible()
        begun_at = page.url
        await page.locator(".graph .box", has_text="note").click()
        await page.get_by_role("button", name="Fork from here").click()
        fork = page.get_by_role("dialog")
        await fork.get_by_role("textbox").fill('{"mine": 1}')
        await fork.get_by_role("button", name="Fork from here").click()
        await expect(fork.get_by_role("alert")).to_contain_text("make these writes again")
        await expect(fork.get_by_role("textbox")).to_have_value('{"mine": 1}')
        await fork.get_by_label("Make writes again").check()
        await fork.get_by_role("button", name="Fork from here").click()
        await expect(fork).to_have_count(0)
        await expect(page).not_to_have_url(begun_at.partition("?")[0])
        # The step that a new plan begins with makes room for the first real one.
        await person.open("/plans")
        await page.get_by_role("button", name="New plan").click()
        await page.get_by_role("button", name="Add a step").click()
        await expect(page.locator(".picker .tool").first).to_be_visible()
        await page.keyboard.press("Enter")
        await expect(page.locator(".graph .box")).to_have_count(1)
        await expect(page.locator(".cm-content")).not_to_contain_text("name.a_tool")


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
    tp = tools(Toolpath())
    async with serving(create_app(tp)) as client:
        run = await begun(client, GATED)
        kept = (await client.post("/api/v1/plans", json={"plan": SUM})).json()["plan_id"]
        for scheme in ("light", "dark"):
            async with tab(browser, str(client.base_url), color_scheme=scheme, bypass_csp=True) as person:
                own = (f"/runs/{run}", f"/plans/{kept}", f"/runs/{run}?view=tree", f"/runs/{run}/compare/{run}")
                # In the dark the colours differ and nothing else: one view has most of them.
                for view in (*VIEWS, *own, "/tools?key=add") if scheme == "light" else own[:1]:
                    await person.open(view)
                    await person.settled()
                    assert await faults_of(person.page) == [], f"{view} in the {scheme}"


async def faults_of(page: Page, within: str = "html") -> list[str]:
    """What axe finds serious there. Axe is loaded once for each document."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed; `make ui` brings it")
    if not await page.evaluate("'axe' in window"):
        await page.add_script_tag(path=str(AXE))
    found = await page.evaluate("within => axe.run(within, {resultTypes: ['violations']})", within)
    return [
        f"{fault['id']}: {fault['nodes'][0]['html'][:160]}"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
    ]
