"""An MCP server with a tool for every way in which a server can behave. Over stdio, or HTTP with a port."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio
import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import ToolsListChanged

OBJECT = {"type": "object"}
ANSWER = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
COLOUR = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}, "times": {"type": "integer"}},
    "required": ["colour"],
}
extra: list[str] = []
cancelled: list[str] = []


def listed() -> list[types.Tool]:
    hints = types.ToolAnnotations
    return [
        types.Tool(
            name="add",
            title="Addition",
            description=os.environ.get("PROBE_WORDS", "Add two integers."),
            input_schema={"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
            output_schema=ANSWER,
            annotations=hints(read_only_hint=True),
        ),
        types.Tool(name="drop", input_schema=OBJECT, annotations=hints(destructive_hint=True, idempotent_hint=True)),
        types.Tool(name="lie", input_schema=OBJECT, output_schema=ANSWER),
        *[
            types.Tool(name=name, input_schema=OBJECT)
            for name in ("echo", "parts", "fail", "slow", "steps", "ask", "crash", "garbage", "flood", "grow", "huge")
        ],
        *[types.Tool(name=name, input_schema=OBJECT) for name in ("environment", "cancelled", "process", *extra)],
        types.Tool(name="odd/näme", input_schema=OBJECT),
        types.Tool(name="shaky", input_schema=OBJECT, annotations=hints(read_only_hint=True)),
        types.Tool(name="shaky_write", input_schema=OBJECT),
        types.Tool(name="ask_twice", input_schema=OBJECT),
    ]


async def list_tools(context: object, params: object) -> types.ListToolsResult:
    return types.ListToolsResult(tools=listed())


def text(*texts: str, is_error: bool = False) -> types.CallToolResult:
    content = [types.TextContent(type="text", text=item) for item in texts]
    return types.CallToolResult(content=content, is_error=is_error)


def structured(value: object) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text="as data")], structured_content=value)


async def call_tool(context, params: types.CallToolRequestParams):  # type: ignore[no-untyped-def]  # noqa: C901 - a list of cases
    given = params.arguments or {}
    match params.name:
        case "add":
            return structured({"sum": given["a"] + given["b"]})
        case "lie":
            return structured({"sum": "many"})
        case "echo":
            return text(given.get("text", ""))
        case "odd/näme":
            return text("odd")
        case "parts":
            return text("one", "two")
        case "fail":
            return text("It cannot be done.", is_error=True)
        case "slow":
            try:
                await anyio.sleep(given.get("seconds", 3600))
            except anyio.get_cancelled_exc_class():
                cancelled.append(given.get("mark", ""))
                raise
            return text("at last")
        case "cancelled":
            return structured({"marks": cancelled})
        case "steps":
            for step in range(3):
                await context.session.report_progress(step + 1, total=3, message=f"step {step + 1}")
            return text("done")
        case "ask":
            return await ask(context, params)
        case "crash":
            sys.stderr.write(f"so long, {os.environ.get('PROBE_SECRET', 'world')}\n")
            sys.stderr.flush()
            os._exit(3)
        case "shaky" | "shaky_write":
            return shaky(Path(given["mark"]))
        case "ask_twice":
            return await ask_twice(context, params)
        case "garbage":
            sys.__stdout__.write("this is no message\n{\n[]\n\n")
            sys.__stdout__.flush()
            return text("still here")
        case "flood":
            sys.stderr.write("noise " * 200_000)
            for _ in range(given.get("lines", 3000)):
                sys.__stdout__.write("noise noise noise\n")
            sys.__stdout__.flush()
            return text("still here")
        case "huge":
            return text("x" * given["size"])
        case "grow":
            extra.append(f"extra{len(extra)}")
            await announce(context)
            return text("grown")
        case "environment":
            return structured(dict(os.environ))
        case "process":
            return structured({"id": os.getpid()})
        case other:
            raise ValueError(f"no tool {other}")


def shaky(mark: Path) -> types.CallToolResult:
    """Dies when it is called for the first time, and says how often it was called later."""
    with mark.open("a") as file:
        file.write("called\n")
    calls = len(mark.read_text().splitlines())
    if calls == 1:
        os._exit(3)
    return structured({"calls": calls})


async def announce(context) -> None:  # type: ignore[no-untyped-def]
    if context.protocol_version >= "2026":
        await bus.publish(ToolsListChanged())
    else:
        await context.session.send_tool_list_changed()


async def ask(context, params):  # type: ignore[no-untyped-def]
    if context.protocol_version >= "2026":
        if params.input_responses is None:
            question = types.ElicitRequestFormParams(message="Which colour?", requested_schema=COLOUR)
            request = types.ElicitRequest(params=question)
            return types.InputRequiredResult(input_requests={"colour": request}, request_state="state 1")
        answer = params.input_responses["colour"]
        return structured({"action": answer.action, "content": answer.content, "state": params.request_state})
    answer = await context.session.elicit_form("Which colour?", COLOUR, related_request_id=context.request_id)
    return structured({"action": answer.action, "content": answer.content, "state": None})


NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}


async def ask_twice(context, params):  # type: ignore[no-untyped-def]
    """Asks for a colour, then for a number of that colour."""
    colour = types.ElicitRequestFormParams(message="Which colour?", requested_schema=COLOUR)
    if params.input_responses is None:
        return types.InputRequiredResult(
            input_requests={"colour": types.ElicitRequest(params=colour)}, request_state="first"
        )
    if params.request_state == "first":
        given = params.input_responses["colour"].content["colour"]
        number = types.ElicitRequestFormParams(message=f"How many {given} ones?", requested_schema=NUMBER)
        return types.InputRequiredResult(
            input_requests={"number": types.ElicitRequest(params=number)}, request_state=given
        )
    answer = params.input_responses["number"]
    return structured({"colour": params.request_state, "number": answer.content["number"]})


bus = InMemorySubscriptionBus()
server = Server(
    "probe",
    version="1.2.3",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_subscriptions_listen=ListenHandler(bus),
)


async def over_stdio() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def over_http(port: int) -> None:
    import uvicorn  # noqa: PLC0415 - only here

    uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=port, log_level="warning")


def main() -> None:
    match sys.argv[1:]:
        case ["hang"]:
            anyio.run(anyio.sleep_forever)
        case ["die"]:
            sys.exit("I cannot even start: " + os.environ.get("PROBE_SECRET", "no secret"))
        case ["http", port]:
            over_http(int(port))
        case _:
            anyio.run(over_stdio)


if __name__ == "__main__":
    main()
