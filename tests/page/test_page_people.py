"""Journeys of people who are asked, in a real Chromium: over a restart of the server, beside others, asked anew."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.async_api import Browser, Route, expect
from tests.access.access_cases import guarded
from tests.page.page_cases import Cable, signed_in, tab
from tests.server.rest_cases import ASKING, GATED, Gate, tools
from tests.server.serving_cases import serving

from toolpath import Toolpath
from toolpath.model.events import ApprovalRequested
from toolpath.server.asgi import create_app
from toolpath.testing.scripted_model import ScriptedModel

pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="session")]


def until(condition: str) -> str:
    """A function of the page that ends when this holds: the page's policy lets nothing evaluate it again and again."""
    return f"async () => {{ while (!({condition})) await new Promise(requestAnimationFrame) }}"


PAYING: dict[str, Any] = {
    "name": "paying",
    "steps": [{"id": "pay", "tool": "hold", "retry": {"max_retries": 0}}],
    "outputs": "{{ pay }}",
}
SENDING: dict[str, Any] = {
    "name": "sending",
    "steps": [{"id": "one", "tool": "send", "inputs": {"text": "hi"}, "requires_approval": True}],
}

TWICE: dict[str, Any] = {
    "name": "asks twice",
    "steps": [
        {"id": "first", "tool": "send", "inputs": {"text": "hi"}, "requires_approval": True},
        {"id": "between", "tool": "hold", "depends_on": ["first"]},
        {
            "id": "second",
            "tool": "send",
            "inputs": {"text": "ho"},
            "requires_approval": True,
            "depends_on": ["between"],
        },
    ],
}
#: A browser in which nothing is done after ten seconds or more.
UNHURRIED = """
const soon = window.setTimeout
window.setTimeout = (work, wait, ...given) => (wait >= 10_000 ? 0 : soon(work, wait, ...given))
"""


def send(text: str) -> str:
    """Send a text."""
    return f"sent {text}"


async def begun(client: Any, plan: dict[str, Any], **inputs: Any) -> str:
    answer = await client.post("/api/v1/runs", json={"plan": plan, "inputs": inputs})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["run_id"])


async def test_what_is_typed_into_a_form_outlives_a_restart_of_the_server_and_of_the_page(
    browser: Browser, tmp_path: Path
) -> None:
    def served() -> Any:
        return serving(create_app(tools(Toolpath(tmp_path / "runs.db"))))

    async with Cable().laid() as cable, tab(browser, cable.base) as person:
        page = person.page
        name, age = page.get_by_label("Name", exact=True).first, page.get_by_label("Age", exact=True)
        async with served() as client:
            cable.lead(str(client.base_url))
            run = await begun(client, ASKING)
            await person.open(f"/runs/{run}")
            await name.fill("Ada")
            await age.fill("36")
            cable.cut()
            await expect(page.get_by_text("The connection is lost")).to_be_visible()
            await page.get_by_role("button", name="Send").click()
            await expect(page.locator(".question .problem")).to_contain_text("cannot be reached")
        async with served() as client:
            cable.lead(str(client.base_url))
            await page.get_by_role("button", name="Try again").first.click()
            await expect(page.get_by_text("The connection is lost")).to_have_count(0)
            await expect(name).to_have_value("Ada")
            await page.reload()
            await expect(name).to_have_value("Ada")
            await expect(age).to_have_value("36")
            await page.get_by_role("button", name="Send").click()
            await expect(page.locator(".head .state")).to_contain_text("completed")
            await expect(page.locator(".about")).to_contain_text("Ada")
            # What was sent is not kept; that the run has ended may come before the answer to what was sent.
            await page.evaluate(until("!JSON.stringify(sessionStorage).includes('Ada')"))
            cable.cut()


async def test_writes_in_doubt_are_settled_in_the_inbox_with_what_is_known_of_them(
    browser: Browser, tmp_path: Path
) -> None:
    store = tmp_path / "runs.db"
    ways = ("It happened", "It did not: call it again", "Take it as failed")
    runs = {}
    gate = Gate()
    async with serving(create_app(tools(Toolpath(store), gate)), timeout_graceful_shutdown=0) as client:
        for way in ways:
            gate.entered.clear()
            runs[way] = await begun(client, {**PAYING, "name": way})
            await gate.entered.wait()
    gate = Gate()
    gate.open.set()
    async with (
        serving(create_app(tools(Toolpath(store), gate))) as client,
        tab(browser, str(client.base_url)) as person,
    ):
        page = person.page
        await person.open("/inbox")
        cards = page.locator("article.settle")
        await expect(cards).to_have_count(len(ways))
        for way in ways:
            card = cards.filter(has=page.locator(f"a[href$='{runs[way]}']"))
            evidence = card.locator(".evidence")
            await expect(evidence).to_contain_text("Idempotency key of the call:")
            await expect(evidence.locator("li")).to_have_text(
                [re.compile("step.started.*hold"), re.compile("step.unknown.*hold")]
            )
            await expect(evidence).to_contain_text("The tool is the one that the run began with")
            if way == "It happened":
                gave = card.get_by_label("What it gave, as JSON")
                await gave.fill("{paid")
                await card.get_by_role("button", name=way).click()
                await expect(card.locator(".problem")).to_contain_text("JSON")
                await expect(gave).to_have_value("{paid")
                await gave.fill('"paid"')
            await card.get_by_role("button", name=way).click()
            await expect(card).to_have_count(0)
        for way, state, told in zip(ways, ("completed", "completed", "failed"), ("paid", "through", ""), strict=True):
            await person.open(f"/runs/{runs[way]}")
            await expect(page.locator(".head .state")).to_contain_text(state)
            await expect(page.locator(".about")).to_contain_text(told)


async def test_an_approval_that_no_longer_holds_is_asked_again_and_shows_what_changed(browser: Browser) -> None:
    tp = tools(Toolpath())
    plan = {
        "name": "falls back",
        "steps": [
            {
                "id": "first",
                "tool": "fail",
                "inputs": {"why": "no"},
                "requires_approval": True,
                "retry": {"max_retries": 0},
                "fallback": {"tool": "add", "inputs": {"a": 20, "b": 1}},
            }
        ],
    }
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        run = await begun(client, plan)
        await person.open(f"/runs/{run}")
        card = page.locator("article.approval")
        await expect(card).to_contain_text("fail")
        await page.get_by_role("button", name="Approve").click()
        # The word held for that tool with these inputs, and for nothing else.
        await expect(card).to_contain_text("Changed since this was allowed before:")
        changed = card.locator(".evidence .changed")
        await expect(changed).to_contain_text("tool: fail → add")
        await expect(changed).to_contain_text("a: \u2013 → 20")
        await expect(changed).to_contain_text('why: "no" → \u2013')
        await page.get_by_role("button", name="Approve").click()
        await expect(page.locator(".head .state")).to_contain_text("completed")
        await page.locator(".graph .box").click()
        await expect(page.locator(".panel")).to_contain_text("21")


async def test_a_tool_that_changed_while_it_waited_is_told_and_asked_for_anew(browser: Browser, tmp_path: Path) -> None:
    called: list[str] = []

    def served(about: str) -> Any:
        tp = Toolpath(tmp_path / "runs.db")

        async def send(text: str) -> None:
            called.append(text)

        tp.add(send, name="send", description=about, effect="write")
        return serving(create_app(tp))

    async with Cable().laid() as cable, tab(browser, cable.base) as person:
        page = person.page
        async with served("Sends.") as client:
            cable.lead(str(client.base_url))
            run = await begun(client, SENDING)
            await person.open(f"/runs/{run}")
            await expect(page.get_by_role("button", name="Approve")).to_be_visible()
            cable.cut()
        async with served("Sends to everybody.") as client:
            cable.lead(str(client.base_url))
            await page.reload()
            card = page.locator("article.approval")
            await expect(card).to_contain_text("The tool is not the one that the run began with.")
            await card.get_by_role("button", name="Approve").click()
            await expect(page.get_by_text("Changed since the run began: send.").first).to_be_visible()
            await page.get_by_role("button", name="Go on with the tool as it is now").click()
            await expect(card).to_contain_text("Changed since this was allowed before:")
            await expect(card).to_contain_text("the tool itself")
            assert called == []
            await card.get_by_role("button", name="Approve").click()
            await expect(page.locator(".head .state")).to_contain_text("completed")
            assert called == ["hi"]
            cable.cut()


async def test_the_inbox_has_the_next_question_of_a_run_at_once(browser: Browser) -> None:
    gate = Gate()
    async with guarded() as server:
        tools(server.tp, gate)
        server.tp.add(send, effect="write")
        ada = await server.key("*", tenant="acme", user="ada")
        async with tab(browser, str(server.client.base_url)) as person:
            page = person.page
            card = page.locator("article.question")
            await signed_in(person, ada, "/inbox")
            # The inbox looks again by no clock here: the next question comes a while after the first.
            await page.add_init_script(UNHURRIED)
            begun = await server.client.post("/api/v1/runs", json={"plan": TWICE}, headers=ada)
            assert begun.status_code == 202, begun.text
            async for event in server.tp.watch(begun.json()["run_id"]):
                if isinstance(event, ApprovalRequested):
                    break
            await page.reload()
            await card.get_by_role("button", name="Approve").click()
            await gate.entered.wait()
            await expect(page.locator(".answered")).to_have_count(0)
            await expect(card).to_have_count(0)
            gate.open.set()
            await expect(card).to_contain_text("second")
            await card.get_by_role("button", name="Approve").click()
            await expect(page.get_by_text("Nobody waits for you")).to_be_visible()


async def test_what_was_typed_is_there_to_be_copied_when_somebody_else_has_answered(browser: Browser) -> None:
    async with guarded() as server:
        tools(server.tp)
        ada = await server.key("*", tenant="acme", user="ada")
        bob = await server.key("*", tenant="acme", user="bob")
        base = str(server.client.base_url)
        runs = [
            (await server.client.post("/api/v1/runs", json={"plan": plan}, headers=ada)).json()["run_id"]
            for plan in (ASKING, GATED, {**GATED, "name": "untouched"})
        ]
        async with tab(browser, base) as person:
            page = person.page
            await person.context.grant_permissions(["clipboard-read", "clipboard-write"])
            await signed_in(person, ada, f"/runs/{runs[0]}")
            await page.get_by_label("Name", exact=True).first.fill("Ada")
            said = {"step": "who", "values": {"first": "Bob", "age": 7}}
            sent = await server.client.post(f"/api/v1/runs/{runs[0]}/input", json=said, headers=bob)
            assert sent.status_code == 202, sent.text
            card = page.locator("article.question")
            await expect(card).to_contain_text("waits for nobody any more")
            await expect(card).to_contain_text("bob · first: Bob, age: 7")
            await expect(card.get_by_label("What you had typed")).to_have_text("Name: Ada")
            await card.get_by_role("button", name="Copy").click()
            await page.evaluate(until("await navigator.clipboard.readText() === 'Name: Ada'"))
            await card.get_by_role("button", name="Put it away").click()
            await expect(card).to_have_count(0)
            # In the inbox, of several.
            await person.open("/inbox")
            await expect(card).to_have_count(2)
            touched = card.filter(has=page.locator(f"a[href$='{runs[1]}']"))
            await touched.get_by_label("Comment").fill("only on Fridays")
            for run in runs[1:]:
                word = {"approved": False, "comment": "too dear"}
                sent = await server.client.post(f"/api/v1/runs/{run}/approvals/guarded", json=word, headers=bob)
                assert sent.status_code == 202, sent.text
            await page.get_by_role("button", name="Refresh").click()
            await expect(page.get_by_text("bob · denied · too dear")).to_have_count(2)
            await expect(touched.get_by_label("What you had typed")).to_have_text("only on Fridays")
            await expect(page.get_by_role("button", name="Approve")).to_have_count(0)
            for _ in range(2):
                await page.get_by_role("button", name="Put it away").first.click()
            await expect(page.get_by_text("Nobody waits for you")).to_be_visible()


async def test_what_was_typed_in_a_conversation_stays_when_somebody_else_has_answered(browser: Browser) -> None:
    read = asyncio.Event()

    async def late(route: Route) -> None:
        await read.wait()
        await route.continue_()

    async with guarded(chat=ScriptedModel([("send", {"text": "tea"})], "It is sent.")) as server:
        server.tp.add(send, effect="write")
        ada = await server.key("*", tenant="acme", user="ada")
        bob = await server.key("*", tenant="acme", user="bob")
        async with tab(browser, str(server.client.base_url)) as person:
            page = person.page
            await signed_in(person, ada, "/chat")
            # What the page still reads of the conversation comes when somebody has begun to answer.
            await page.route("**/conversations/*/runs?*", late)
            await page.get_by_label("Message").fill("Send a note on tea.")
            await page.get_by_role("button", name="Send").click()
            card = page.locator("article.question")
            comment = card.get_by_label("Comment")
            await comment.focus()
            await page.keyboard.type("only on ")
            read.set()
            await person.settled()
            await page.keyboard.type("Fridays")
            await expect(comment).to_have_value("only on Fridays")
            asked = (await server.client.get("/api/v1/questions", headers=bob)).json()["questions"][0]
            place = f"/api/v1/runs/{asked['run_id']}/approvals/{quote(asked['step'], safe='')}"
            sent = await server.client.post(place, json={"approved": True}, headers=bob)
            assert sent.status_code == 202, sent.text
            for _ in range(2):
                await expect(card).to_contain_text("bob · approved")
                await expect(card.get_by_label("What you had typed")).to_have_text("only on Fridays")
                # It stays beyond the end of the turn.
                await expect(page.get_by_text("It is sent.").first).to_be_visible()
                await person.settled()
            await expect(card.get_by_role("button", name="Copy")).to_be_visible()
            await card.get_by_role("button", name="Put it away").click()
            await expect(card).to_have_count(0)
