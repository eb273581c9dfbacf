"""One call over a session: sent, answered where the server asks back, and brought to its result."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp import ClientSession, MCPError
from mcp_types import (
    HEADER_MISMATCH,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitResult,
    InputRequiredResult,
)
from opentelemetry.context import attach
from opentelemetry.propagate import extract
from pydantic import TypeAdapter

from toolpath.errors import ToolFailed
from toolpath.model.traceparent import current_trace
from toolpath.providers.mcp.flight import Flight, current_flight
from toolpath.providers.mcp.http import noted_fault
from toolpath.values import JsonObject

#: How often a server may ask back in one call.
_MOST_ROUNDS = 20
_answer: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(CallToolResult | InputRequiredResult)


async def make_call(session: ClientSession, flight: Flight, name: str, inputs: JsonObject) -> CallToolResult:
    """The server's result. Runs in a task of its own, whose context tells requests that follow whose they are.

    Raises what the library raises, and `ToolFailed` when the server asks for what is not offered.
    """
    current_flight.set(flight)
    noted_fault.set(flight.fault)
    if flight.trace and not current_trace():
        # The library tells the server of the span that is current; where nothing is traced, the caller's own is.
        attach(extract(flight.trace))
    params = CallToolRequestParams(name=name, arguments=inputs)
    for _ in range(_MOST_ROUNDS):
        result = await _send(session, flight, params)
        if isinstance(result, CallToolResult):
            return result
        answers = await _answers(flight, result)
        params = params.model_copy(update={"input_responses": answers, "request_state": result.request_state})
    raise ToolFailed(f"Server {flight.server!r} asked back more than {_MOST_ROUNDS} times in one call.")


async def _send(
    session: ClientSession, flight: Flight, params: CallToolRequestParams
) -> CallToolResult | InputRequiredResult:
    # Not `session.call_tool`: that fails a call whose result does not fit the schema, which is for the engine to judge.
    request = CallToolRequest(params=params)
    try:
        return await session.send_request(request, _answer, progress_callback=flight.progress)
    except MCPError as error:
        if error.code != HEADER_MISMATCH:
            raise
    # Some headers follow from the tool's schema, which has changed: learn it and try once more.
    await session.list_tools()
    flight.fault.clear()
    return await session.send_request(request, _answer, progress_callback=flight.progress)


async def _answers(flight: Flight, result: InputRequiredResult) -> dict[str, Any] | None:
    """The answers to what a server of the newer generation asks in the midst of a call."""
    if not result.input_requests:
        # It only wants to be asked again.
        await asyncio.sleep(0.1)
        return None
    answers: dict[str, Any] = {}
    for key, request in result.input_requests.items():
        if not isinstance(request, ElicitRequest):
            raise ToolFailed(f"Server {flight.server!r} asks for {request.method!r}, which is not offered.")
        answer = await flight.ask(request.params.model_dump(mode="json", by_alias=True, exclude_none=True))
        answers[key] = ElicitResult.model_validate(answer)
    return answers
