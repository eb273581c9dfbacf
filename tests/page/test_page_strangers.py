"""What others made, in a real Chromium: of another tenant, which is not there, and hostile, which runs nothing."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect
from tests.access.access_cases import guarded
from tests.page.page_cases import chromium, signed_in, tab
from tests.page.test_page_journeys import HOSTILE
from tests.server.rest_cases import GATED, tools
from tests.server.serving_cases import serving

from toolpath import Settings, Toolpath
from toolpath.server.asgi import create_app
from toolpath.testing.scripted_model import ScriptedModel

#: One browser and one loop serve all of them.
pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="module")]

LINKS = "[go](javascript:window.broken=1) ![seen](https://evil.example/x.png) <https://evil.example>"
LISTS = ("/", "/chat", "/runs", "/inbox", "/plans", "/templates", "/schedules", "/files", "/files/runs", "/operation")
OWN = (
    "/runs/{run}",
    "/runs/{run}/compare/{gated}",
    "/runs/{gated}?step=guarded",
    "/plans/{plan}",
    "/requests/{request}",
    "/templates/{template}",
    "/schedules/{schedule}",
    "/chat/{conversation}",
    "/files/runs/{run}",
)
#: Views in which what somebody wrote is shown, in each of its ways.
SHOWN = (
    "/runs/{run}?step=said",
    "/runs/{run}?view=tree",
    "/runs/{run}?view=timeline",
    "/runs/{run}?view=events",
    "/runs/{run}?view=files",
    "/runs/{run}/compare/{gated}",
    "/runs/{agent}?view=agent",
    "/runs/{failed}?step=said",
    "/runs/{asking}",
    "/runs/{gated}?step=guarded",
    "/requests/{request}",
    "/templates/{template}",
    "/schedules/{schedule}",
    "/plans/{plan}",
    "/chat/{conversation}",
    *LISTS,
    "/operation/audit",
    "/tools?key=echo",
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as found:
        yield found


def echo(text: str) -> dict[str, str]:
    """<script>window.broken=1</script> Give the text back."""
    if text == "fail":
        raise ValueError(HOSTILE + LINKS)
    return {text: text}


async def filled(client: Any, headers: dict[str, str], word: str) -> dict[str, str]:
    """One of everything, named by this word: the ids."""

    async def made(route: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = await client.post(f"/api/v1/{route}", json=body, headers=headers)
        assert answer.is_success, answer.text
        found: dict[str, Any] = answer.json()
        return found

    said: dict[str, Any] = {
        "name": word,
        "inputs": {"type": "object", "properties": {"text": {"type": "string", "description": word}}},
        "steps": [{"id": "said", "tool": "echo", "inputs": {"text": "{{ inputs.text }}"}, "retry": {"max_retries": 0}}],
        "outputs": "{{ said }}",
    }
    form = {"title": word, "description": word, "inputs": [{"name": "a", "label": word, "placeholder": word}]}
    plan = (await made("plans", {"plan": said}))["plan_id"]
    template = (await made("templates", {"document": said, "title": word, "description": word, "group": "x"}))[
        "template_id"
    ]
    chat = (await made("conversations", {"title": word}))["conversation_id"]
    run = (await made("runs", {"plan": said, "inputs": {"text": word}}))["run_id"]
    sent = {"files": (f"{word[:20].replace('/', '')}.svg", f"<svg>{word}</svg>".encode(), "image/svg+xml")}
    assert (await client.post("/api/v1/files", files=sent, headers=headers)).status_code == 201
    agent = {"name": word, "steps": [{"id": "look", "agent": {"requirement": word, "tools": ["echo"]}}]}
    return {
        "plan": plan,
        "request": (await made("plans", {"request": f"echo the text {word[:60]}"}))["request_id"],
        "run": run,
        "gated": (await made("runs", {"plan": {**GATED, "name": word}}))["run_id"],
        "asking": (await made("runs", {"plan": {"name": word, "steps": [{"id": "who", "ask": form}]}}))["run_id"],
        "failed": (await made("runs", {"plan": said, "inputs": {"text": "fail"}}))["run_id"],
        "agent": (await made("runs", {"plan": agent}))["run_id"],
        "template": template,
        "conversation": chat,
        "schedule": (await made("schedules", {"plan_id": plan, "inputs": {}, "cron": "0 0 1 1 *", "title": word}))[
            "schedule_id"
        ],
    }


async def test_the_addresses_of_another_tenant_lead_nowhere_in_every_view(browser: Browser) -> None:
    secret = "only of acme"
    async with guarded(chat=ScriptedModel(then="Here.")) as server:
        tools(server.tp).add(echo, effect="read")
        ids = await filled(server.client, await server.key("*", tenant="acme", user="ada"), secret)
        base = str(server.client.base_url)
        async with tab(browser, base) as person:
            await signed_in(person, await server.key("*", tenant="other", user="eve"), "/runs")
            await expect(person.page.get_by_text("No runs yet")).to_be_visible()
            for view in LISTS:
                await person.open(view)
                await person.settled()
                await expect(person.page.locator("main"), view).not_to_contain_text(secret)
            told = re.compile("There is no|Nobody has put|unknown_", re.IGNORECASE)
            for view in OWN:
                await person.open(view.format(**ids))
                await expect(person.page.locator("main"), view).to_contain_text(told)
                await expect(person.page.locator("main"), view).not_to_contain_text(secret)


async def test_what_is_hostile_runs_nothing_and_asks_no_other_host_in_every_view(browser: Browser) -> None:
    model = ScriptedModel([("echo", {"text": HOSTILE + LINKS})], HOSTILE + LINKS)
    tp = Toolpath(chat=model, settings=Settings(mcp_commands=True))
    tools(tp).add(echo, effect="read")
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page, base = person.page, str(client.base_url)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        ids = await filled(client, {}, HOSTILE + LINKS)
        for view in SHOWN:
            await person.open(view.format(**ids))
            await person.settled()
            assert await page.evaluate("window.broken") is None, view
            assert await page.locator("main script, main img, main iframe").count() == 0, view
            assert await page.locator("main a[href^='javascript:'], main a[href^='data:']").count() == 0, view
        assert [url for url in asked if not url.startswith((base, "blob:", "data:"))] == []
