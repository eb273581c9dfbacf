"""The trace that an MCP client names in `_meta`: what it starts belongs to it."""

from __future__ import annotations

import pytest
from tests.server.mcp_cases import MODES, shop, talking

from toolpath import Toolpath
from toolpath.values import JsonObject

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
PLAN = {"steps": [{"tool": "math.add", "inputs": {"a": 1, "b": 2}}]}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("name", "arguments"), [("math--add", {"a": 1, "b": 2}), ("run_plan", {"plan": PLAN})], ids=["tool", "plan"]
)
async def test_a_call_joins_the_trace_that_its_client_names(
    monkeypatch: pytest.MonkeyPatch, mode: str, name: str, arguments: JsonObject
) -> None:
    # Another test of this process may have switched tracing on: then this client would name a trace of its own.
    monkeypatch.setattr("mcp.shared._otel.inject", lambda meta: None)
    async with shop(Toolpath()) as tp, talking(tp, mode) as client:
        for meta in ({"traceparent": TRACE, "tracestate": "v=1"}, {"traceparent": "nonsense"}, {}):
            answer = await client.call_tool(name, arguments, meta=meta)
            assert not answer.is_error, answer
        first = [(await tp.events(info.run_id))[0] for info in await tp.runs()]
    # Where telemetry is on, the run hangs below a span of the server's, and the others are in traces of their own.
    traces = [event.context.get("metadata", {}).get("traceparent", "--")[3:35] for event in first]  # type: ignore[union-attr]
    assert len(traces) == 3
    assert traces.count(TRACE[3:35]) == 1
