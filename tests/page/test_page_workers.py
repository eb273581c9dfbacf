"""The main journey, in a real Chromium, on PostgreSQL with a worker that drives what the server takes."""

from __future__ import annotations

import os
import re

import pytest
from playwright.async_api import expect
from tests.page.page_cases import chromium, tab
from tests.page.test_page_journeys import state, written
from tests.server.queue_cases import Handed
from tests.server.rest_cases import tools
from tests.server.serving_cases import serving
from tests.store.store_cases import dropped, postgres_url

from toolpath import Toolpath
from toolpath.server.asgi import create_app

PLAN = """
name: halves
inputs: {type: object, properties: {a: {type: integer}}, required: [a]}
steps:
  - {id: sum, tool: add, inputs: {a: "{{ inputs.a }}", b: 1}, requires_approval: true}
  - {id: half, tool: half, inputs: {n: "{{ sum }}"}, retry: {max_retries: 0}}
outputs: "{{ half }}"
"""


def half(n: int) -> int:
    """Halve an even number."""
    if n % 2:
        raise ValueError(f"{n} is odd")
    return n // 2


def halving(tp: Toolpath) -> Toolpath:
    tools(tp).add(half, effect="read")
    return tp


@pytest.mark.chromium
@pytest.mark.postgres
async def test_a_request_is_planned_changed_approved_run_fails_is_forked_and_done_by_a_worker() -> None:
    schema = f"test_page_workers_{os.getpid()}"
    await dropped(schema)
    queue = Handed()
    try:
        async with halving(Toolpath(postgres_url(schema))) as worker, chromium() as browser:
            queue.worker = worker
            served = create_app(halving(Toolpath(postgres_url(schema), queue=queue)))
            async with serving(served) as client, tab(browser, str(client.base_url)) as person:
                page = person.page
                await person.open("/")
                await page.get_by_label("What is to be done?").fill("add 2 and 3")
                await page.get_by_role("button", name="Make a plan").click()
                await expect(page.get_by_role("heading", name="add 2 and 3", exact=True)).to_be_visible()
                await written(page, PLAN)
                await expect(page.get_by_text("The plan checks.")).to_be_visible()
                await page.get_by_role("button", name="Save", exact=True).click()
                await expect(page.get_by_text("Saved", exact=True)).to_be_visible()
                await page.get_by_label("a (required)").fill("2")
                await page.get_by_role("button", name="Run", exact=True).click()
                await page.get_by_role("button", name="Approve").click()
                await expect(state(page, "failed")).to_be_visible()
                await expect(page.get_by_text("3 is odd").first).to_be_visible()
                await page.locator(".graph .box", has_text="sum").click()
                await page.get_by_role("button", name="Fork from here").click()
                await page.get_by_label("Inputs of the run").fill('{"a": 3}')
                await page.locator("dialog").get_by_role("button", name="Fork from here").click()
                await expect(page.get_by_text("forked from")).to_be_visible()
                # What was allowed for other inputs is asked about anew.
                await page.get_by_role("button", name="Approve").click()
                await expect(state(page, "completed")).to_be_visible()
                await expect(page.locator(".about")).to_contain_text(re.compile("Outputs.*2"))
    finally:
        await dropped(schema)
