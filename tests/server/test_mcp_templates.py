"""Plan templates over MCP: those of the channel `mcp` are tools of who may see them, and no others are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_cases import MODES, talking
from mcp_types import ElicitResult
from tests.patience import PATIENCE
from tests.server.serving_cases import serving

from toolpath import Toolpath
from toolpath.access.acting import acting
from toolpath.access.caller import Caller
from toolpath.model.template import PlanTemplate
from toolpath.server.asgi import create_app
from toolpath.server.mcp.service import McpService
from toolpath.workspace.templates import TemplateDraft


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def tp() -> AsyncIterator[Toolpath]:
    async with Toolpath() as door:
        door.add(say, group="talk", effect="read")
        yield door


def say(text: str) -> str:
    """Say a text."""
    return text


def greeting(word: str) -> dict[str, Any]:
    step = {"id": "said", "tool": "talk.say", "inputs": {"text": f"{word} <<name>>"}}
    return {"name": "Greet", "steps": [step], "outputs": "{{ said }}"}


async def kept(tp: Toolpath, *channels: str, title: str = "Greet", tenant: str = "") -> PlanTemplate:
    template = await tp.templates.save(greeting("Hello"), TemplateDraft(title=title, group="people"), tenant=tenant)
    return await tp.templates.publish(template, channels) if channels else template


async def names(client: Any) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools if "people" in tool.name]


async def test_a_template_of_the_channel_is_a_tool_and_a_call_of_it_a_run_of_it(tp: Toolpath, mode: str) -> None:
    template = await kept(tp, "mcp")
    async with talking(tp, mode) as client:
        assert await names(client) == ["people--Greet"]
        (told,) = [tool for tool in (await client.list_tools()).tools if tool.name == "people--Greet"]
        assert told.input_schema["required"] == ["name"]
        answer = await client.call_tool("people--Greet", {"name": "Ada"})
        assert (answer.is_error, answer.content[0].text) == (False, "Hello Ada")
        (run,) = await tp.runs()
        assert (run.plan_id, run.name) == (template.template_id, "Greet")
        wrong = await client.call_tool("people--Greet", {})
        assert wrong.is_error
        assert "name" in wrong.content[0].text


@pytest.mark.parametrize("channels", [(), ("http",), ("conversation",), ("tool",), ("tool", "http")])
async def test_what_is_not_published_there_is_not_told_of_nor_called(
    tp: Toolpath, mode: str, channels: tuple[str, ...]
) -> None:
    await kept(tp, *channels)
    async with talking(tp, mode) as client:
        assert await names(client) == []
        found = await client.call_tool("search_tools", {"query": "greet people"})
        assert "people" not in found.content[0].text
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("people--Greet", {"name": "Ada"})


async def test_what_is_withdrawn_is_gone_and_the_published_version_is_the_one_called(tp: Toolpath, mode: str) -> None:
    template = await kept(tp, "mcp", "tool")
    async with talking(tp, mode) as client:
        assert await names(client) == ["people--Greet"]
        newer = await tp.templates.save(greeting("Bye"), template=template)
        assert (await client.call_tool("people--Greet", {"name": "Bo"})).content[0].text == "Hello Bo"
        published = await tp.templates.publish(newer, ["mcp"])
        assert (await client.call_tool("people--Greet", {"name": "Bo"})).content[0].text == "Bye Bo"
        await tp.templates.withdraw(published)
        assert await names(client) == []
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("people--Greet", {"name": "Bo"})


@pytest.mark.parametrize("tenant", ["", "acme"])
async def test_a_tool_is_told_of_as_soon_as_it_is_published_there_too_and_no_longer(tp: Toolpath, tenant: str) -> None:
    service = McpService(tp)
    template = await kept(tp, "tool", tenant=tenant)
    with acting(Caller(user="ada", tenant=tenant)):
        assert "people--Greet" not in (await service.listing()).published
        template = await tp.templates.publish(template, ("tool", "mcp"))
        assert "people--Greet" in (await service.listing()).published
        await tp.templates.publish(template, ("tool",))
        assert "people--Greet" not in (await service.listing()).published


async def test_what_is_published_elsewhere_alone_is_found_by_search_no_longer(tp: Toolpath, mode: str) -> None:
    template = await kept(tp, "tool", "mcp")
    async with talking(tp, mode) as client:

        async def found() -> list[str]:
            answer = await client.call_tool("search_tools", {"query": "greet people"})
            return [one["name"] for one in answer.structured_content["tools"]]

        assert await found() == ["people--Greet"]
        await tp.templates.publish(template, ("tool",))
        assert await found() == []


async def test_clients_are_told_when_a_template_comes(tp: Toolpath) -> None:
    changed = asyncio.Event()

    async def told(message: Any) -> None:
        if "ToolListChanged" in type(getattr(message, "root", message)).__name__:
            changed.set()

    async with talking(tp, "legacy", message_handler=told) as client:
        assert await names(client) == []
        await kept(tp, "mcp")
        await asyncio.wait_for(changed.wait(), PATIENCE)
        assert await names(client) == ["people--Greet"]


async def test_a_form_of_a_template_is_shown_to_the_client_s_person(tp: Toolpath, mode: str) -> None:
    ask = {"id": "asked", "ask": {"title": "Tea for <<name>>?", "inputs": [{"name": "tea"}]}}
    template = await tp.templates.save({"name": "Tea", "steps": [ask], "outputs": "{{ asked.tea }}"})
    await tp.templates.publish(template, ["mcp"])
    asked: list[Any] = []

    async def answer(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"tea": "green"})

    async with talking(tp, mode, elicitation_callback=answer) as client:
        given = await client.call_tool("ungrouped--Tea", {"name": "Ada"})
    assert given.content[0].text == "green"
    assert "Tea for Ada?" in asked[0]


async def test_templates_of_a_tenant_are_tools_of_its_clients_alone(tp: Toolpath, mode: str) -> None:
    alice, bob = (Caller(tenant=name, user=name, scopes=frozenset({"*"})) for name in ("a", "b"))
    await kept(tp, "mcp", tenant="a")
    await kept(tp, "mcp", title="Ours", tenant="b")
    async with (
        serving(create_app(tp, caller=alice)) as one,
        Client(f"{one.base_url}/mcp", mode=mode) as client,
        serving(create_app(tp, caller=bob, is_open=True)) as other,
        Client(f"{other.base_url}/mcp", mode=mode) as stranger,
    ):
        assert (await names(client), await names(stranger)) == (["people--Greet"], ["people--Ours"])
        assert (await client.call_tool("people--Greet", {"name": "Ada"})).content[0].text == "Hello Ada"
        (run,) = await tp.runs()
        assert (run.tenant, run.user) == ("a", "a")
        with pytest.raises(MCPError, match="Unknown tool"):
            await stranger.call_tool("people--Greet", {"name": "Ada"})
    assert len(await tp.runs()) == 1
