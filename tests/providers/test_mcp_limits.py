"""How many calls a server gets at once, whatever plans would make."""

from __future__ import annotations

from typing import Any

import pytest
from tests.prepared.prepared import prepared

from toolpath import Settings, Toolpath
from toolpath.model.events import StepStarted, StepSucceeded
from toolpath.providers.mcp.provider import McpProvider

pytestmark = pytest.mark.mcp
PLAN: dict[str, Any] = {
    "concurrency": 8,
    "steps": [{"id": f"s{n}", "tool": "probe.add", "inputs": {"a": n, "b": 1}} for n in range(8)],
}


@pytest.mark.parametrize("door", ["add", "add_mcp", "add_mcp_config"])
async def test_a_server_gets_no_more_calls_at_once_than_it_may(door: str) -> None:
    command, *args = prepared("probe")
    async with Toolpath(settings=Settings()) as tp:
        match door:
            case "add":
                tp.add(McpProvider("probe", command=command, args=args, max_concurrency=2))
            case "add_mcp":
                tp.add_mcp("probe", command=command, args=args, max_concurrency=2)
            case _:
                server = {"command": command, "args": args, "max_concurrency": 2}
                tp.add_mcp_config({"mcpServers": {"probe": server}})
        await tp.load(tp.read(PLAN))
        result = await tp.run(PLAN)
        events = await tp.events(result.run_id)
    assert result.status == "completed", result.error
    flying = most = 0
    for event in events:
        flying += isinstance(event, StepStarted) - isinstance(event, StepSucceeded)
        most = max(most, flying)
    assert most == 2
