"""Journeys through runs: what they did, agents' rounds, large values, two runs beside each other, files of a turn."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.async_api import Browser, expect
from tests.page.page_cases import tab
from tests.server.serving_cases import serving

from toolpath import Toolpath
from toolpath.server.asgi import create_app
from toolpath.testing.scripted_model import ScriptedModel

pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="session")]

#: What a model writes that would run, load or lead elsewhere.
MARKDOWN = (
    "## Tea\n\n**green** and [hills](https://example.org/tea)\n\n"
    "<script>window.broken=1</script><img src=x onerror=window.broken=1>\n\n"
    "![seen](https://evil.example/seen.png) [run](javascript:window.broken=1) [data](data:text/html,x)\n"
)


def square(n: int) -> int:
    """Square a number."""
    return n * n


def numbers(count: int) -> list[int]:
    """Count."""
    return list(range(count))


def large(kilobytes: int) -> list[str]:
    """Give a value of so many kilobytes."""
    return [f"{index:06d}" + "x" * 990 for index in range(kilobytes)]


LOOP = {
    "name": "many",
    "inputs": {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]},
    "steps": [
        {"id": "list", "tool": "numbers", "inputs": {"count": "{{ inputs.count }}"}},
        {
            "id": "each",
            "loop": {
                "over": "{{ list }}",
                "concurrency": 20,
                "steps": [{"id": "one", "tool": "square", "inputs": {"n": "{{ item }}"}}],
                "collect": "{{ one }}",
            },
        },
    ],
    "outputs": "{{ each | length }}",
}
AGENT = {
    "name": "research",
    "steps": [{"id": "look", "agent": {"requirement": "Square 3 and 4.", "tools": ["square"]}}],
    "outputs": "{{ look }}",
}


async def done(tp: Toolpath, client: Any, plan: dict[str, Any], **inputs: Any) -> str:
    answer = await client.post("/api/v1/runs", json={"plan": plan, "inputs": inputs})
    assert answer.status_code == 202, answer.text
    run_id = str(answer.json()["run_id"])
    async for _ in tp.watch(run_id):
        pass
    return run_id


async def test_a_loop_is_walked_through_searched_and_compared_with_another(browser: Browser) -> None:
    tp = Toolpath()
    tp.add(square, numbers, effect="read")
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        run = await done(tp, client, LOOP, count=3)
        other = await done(tp, client, LOOP, count=5)
        await person.open(f"/runs/{run}?view=tree")
        rows = page.locator(".tree .line")
        # Three items with a call each, below the loop that they belong to.
        await expect(rows).to_have_count(8)
        await page.get_by_label("Find a step, a tool or an error").fill("each[2]/one")
        await expect(rows).to_have_count(1)
        await rows.first.click()
        panel = page.locator(".panel")
        await expect(panel.locator(".template")).to_have_text("{{ item }}")
        await expect(panel).to_contain_text("4")
        await panel.get_by_role("button", name="Its events").click()
        await expect(page.locator("summary", has_text="step.succeeded")).to_be_visible()
        # The plan inside the run, and from there the way back.
        await person.open(f"/runs/{run}:each")
        await expect(page.get_by_role("heading", name="each", exact=True)).to_be_visible()
        await page.get_by_role("tab", name="Tree").click()
        await expect(page.locator(".tree .line", has_text="each[0]")).to_be_visible()
        await page.get_by_role("navigation", name="Where this plan stands").get_by_role("link", name="Run").click()
        await page.get_by_role("tab", name="Timeline").click()
        await expect(page.locator(".timeline .critical").first).to_be_visible()
        await page.get_by_role("link", name="Compare").click()
        await page.get_by_role("link", name=re.compile("many")).click()
        await expect(page).to_have_url(re.compile(f"{run}/compare/{other}"))
        await expect(page.locator(".facts")).to_contain_text("count")
        await expect(page.get_by_text("only in the second").first).to_be_visible()
        # What differs is seen beside each other.
        await page.get_by_role("button", name="list", exact=True).click()
        await expect(page.locator(".pair", has_text="inputs")).to_contain_text(
            re.compile(r"First.*count\s*3.*Second.*count\s*5", re.DOTALL)
        )


async def test_a_large_output_is_read_in_parts(browser: Browser) -> None:
    tp = Toolpath()
    tp.add(large, effect="read")
    plan = {
        "name": "large",
        "steps": [
            {"id": "some", "tool": "large", "inputs": {"kilobytes": 1_500}},
            {"id": "all", "tool": "large", "inputs": {"kilobytes": 6_000}},
        ],
    }
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        run = await done(tp, client, plan)
        await person.open(f"/runs/{run}?step=some")
        await page.get_by_role("button", name="Load all of it").click()
        await page.get_by_label("Find in this value").fill("000042")
        await expect(page.locator(".value li code")).to_have_text("some[42]")
        await person.open(f"/runs/{run}?step=all")
        await page.get_by_role("button", name="Show the next part").click()
        await expect(page.locator(".large pre")).to_contain_text("000150")
        await expect(page.get_by_role("link", name="Download")).to_have_attribute("href", re.compile("/values/sha256"))


async def test_an_agents_rounds_show_what_was_asked_called_and_given(browser: Browser) -> None:
    model = ScriptedModel(
        [("square", {"n": 3}), ("square", {"n": 4})], [("terminate", {"message": "9 and 16"})], tokens=50, cost=0.01
    )
    tp = Toolpath(chat=model)
    tp.add(square, effect="read")
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        run = await done(tp, client, AGENT)
        await person.open(f"/runs/{run}?view=agent")
        rounds = page.locator("article.round")
        await expect(rounds).to_have_count(2)
        await expect(rounds.first).to_contain_text("Square 3 and 4.")
        await expect(rounds.first.locator(".call")).to_have_count(2)
        await expect(rounds.first.locator(".call").nth(1)).to_contain_text("16")
        await expect(page.locator(".sums")).to_contain_text("0.0200 USD")
        await rounds.nth(1).get_by_role("button", name="What the model saw").click()
        told = page.locator(".context .told")
        await expect(told).to_have_count(5)
        await expect(told.nth(0)).to_contain_text("Rules")
        await expect(told.nth(4)).to_contain_text("16")


async def test_a_turn_with_a_file_answers_in_markdown_that_runs_nothing(browser: Browser) -> None:
    tp = Toolpath(chat=ScriptedModel(then=MARKDOWN))
    drawing = b'<svg xmlns="http://www.w3.org/2000/svg" onload="window.broken=1"><script>window.broken=1</script></svg>'
    async with serving(create_app(tp)) as client, tab(browser, str(client.base_url)) as person:
        page = person.page
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        await person.open("/chat")
        await page.locator("input[type=file]").set_input_files(
            [
                {"name": "drawing.svg", "mimeType": "image/svg+xml", "buffer": drawing},
                {"name": "table.csv", "mimeType": "text/csv", "buffer": b'a,b\n"1,5",two\n'},
            ]
        )
        await expect(page.locator(".attached .file")).to_have_count(2)
        await page.get_by_label("Message").fill("What is in it?")
        await page.get_by_role("button", name="Send").click()
        answer = page.locator("article.assistant").first
        await expect(answer.get_by_role("heading", name="Tea")).to_be_visible()
        link = answer.get_by_role("link", name="hills")
        await expect(link).to_have_attribute("rel", "noopener noreferrer")
        await expect(answer.locator("img, script")).to_have_count(0)
        await expect(answer.locator("a[href^=javascript], a[href^=data]")).to_have_count(0)
        await answer.get_by_role("button", name="Files of this turn").click()
        await answer.get_by_role("button", name=re.compile("table.csv")).click()
        await expect(answer.get_by_role("cell", name="1,5")).to_be_visible()
        await answer.get_by_role("button", name=re.compile("drawing.svg")).click()
        # A drawing that could run is shown as its text.
        await expect(answer.locator(".preview pre")).to_contain_text("onload")
        assert await page.evaluate("window.broken") is None
        assert [url for url in asked if not url.startswith((str(client.base_url), "blob:"))] == []
