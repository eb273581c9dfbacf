"""The tools that the official conformance suite calls, served by Toolpath at `/mcp` on the port that is given."""

from __future__ import annotations

import socket
import sys
from typing import Any

import uvicorn

from toolpath import Tool, ToolContext, ToolFailed, Toolpath, tool
from toolpath.server.asgi import create_app
from toolpath.values import JsonObject

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="


@tool(effect="read")
async def test_simple_text():  # type: ignore[no-untyped-def]
    """A text."""
    return "This is a simple text response for testing."


@tool(effect="read")
async def test_image_content():  # type: ignore[no-untyped-def]
    """A picture."""
    return [{"type": "image", "data": PIXEL, "mimeType": "image/png"}]


@tool(effect="read")
async def test_audio_content():  # type: ignore[no-untyped-def]
    """A sound."""
    return [{"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}]


@tool(effect="read")
async def test_embedded_resource():  # type: ignore[no-untyped-def]
    """A resource."""
    return [_resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")]


@tool(effect="read")
async def test_multiple_content_types():  # type: ignore[no-untyped-def]
    """A text, a picture and a resource."""
    return [
        {"type": "text", "text": "Multiple content types test:"},
        {"type": "image", "data": PIXEL, "mimeType": "image/png"},
        _resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ]


def _resource(uri: str, kind: str, text: str) -> JsonObject:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}}


@tool(effect="read")
async def test_error_handling() -> str:
    """Fail."""
    raise ToolFailed("This tool intentionally returns an error for testing")


@tool(effect="read")
async def test_tool_with_progress(context: ToolContext) -> str:
    """Report progress three times."""
    for done in (0, 50, 100):
        context.progress(done, 100)
    return "done"


@tool(effect="read")
async def test_elicitation(context: ToolContext, message: str) -> str:
    """Ask for a name and an address."""
    fields = [
        {"name": "username", "placeholder": "User's response"},
        {"name": "email", "placeholder": "User's email address"},
    ]
    return f"User response: {await context.ask({'title': message, 'inputs': fields})}"


@tool(effect="read")
async def test_elicitation_sep1034_defaults(context: ToolContext) -> str:
    """Ask with values that are there already."""
    fields: list[Any] = [
        {"name": "name", "default": "John Doe"},
        {"name": "age", "type": "integer", "default": 30},
        {"name": "score", "type": "number", "default": 95.5},
        {"name": "status", "type": "select", "options": ["active", "inactive", "pending"], "default": "active"},
        {"name": "verified", "type": "checkbox", "default": True},
    ]
    return f"Elicitation completed: {await context.ask({'title': 'Check these', 'inputs': fields})}"


@tool(effect="read")
async def test_elicitation_sep1330_enums(context: ToolContext) -> str:
    """Ask for choices."""
    titled = [{"value": f"value{n}", "label": f"Option {n}"} for n in (1, 2, 3)]
    fields: list[Any] = [
        {"name": "untitledSingle", "type": "select", "options": ["option1", "option2", "option3"]},
        {"name": "titledSingle", "type": "select", "options": titled},
    ]
    return f"Elicitation completed: {await context.ask({'title': 'Choose', 'inputs': fields})}"


async def _name(context: ToolContext, title: str = "What is your name?") -> JsonObject:
    return dict(await context.ask({"title": title, "inputs": [{"name": "name"}]}))


@tool(effect="read")
async def test_input_required_result_elicitation(context: ToolContext) -> str:
    """Ask for a name."""
    return f"Hello, {(await _name(context))['name']}!"


@tool(effect="read")
async def test_input_required_result_request_state(context: ToolContext) -> str:
    """Ask for a confirmation."""
    form = {"title": "Please confirm", "inputs": [{"name": "ok", "type": "checkbox"}]}
    return f"state-ok {await context.ask(form)}"


@tool(effect="read")
async def test_input_required_result_multi_round(context: ToolContext) -> str:
    """Ask twice."""
    name = await _name(context, "Step 1: What is your name?")
    form = {"title": "Step 2: What is your favorite color?", "inputs": [{"name": "color"}]}
    return f"{name} {await context.ask(form)}"


@tool(effect="read")
async def test_input_required_result_tampered_state(context: ToolContext) -> str:
    """Ask for a name."""
    return f"Hello, {(await _name(context))['name']}!"


@tool(effect="read")
async def test_input_required_result_capabilities(context: ToolContext) -> str:
    """Ask whoever can be asked."""
    return f"Hello, {(await _name(context))['name']}!"


@tool(effect="read")
async def test_streaming_elicitation(context: ToolContext) -> str:
    """Report progress, then ask."""
    context.progress(1, 2)
    return f"Hello, {(await _name(context))['name']}!"


HEADER_TOOL = Tool(
    name="test_x_mcp_header",
    description="One argument travels in a header too.",
    effect="read",
    input_schema={
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "query": {"type": "string"}},
        "required": ["region"],
    },
    body=lambda region, query="": f"{region} {query}",
)
SCHEMA_TOOL = Tool(
    name="json_schema_2020_12_tool",
    description="Tool with JSON Schema 2020-12 features",
    effect="read",
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
        "allOf": [{"anyOf": [{"required": ["name"]}, {"required": ["address"]}]}],
        "if": {"required": ["address"]},
        "then": {"required": ["name"]},
        "else": {},
        "additionalProperties": False,
    },
    body=lambda name="", address=None: f"{name} {address}",
)


def main(port: int) -> None:
    """Serve until the process is ended."""
    tp = Toolpath()
    tp.add(
        test_simple_text,
        test_image_content,
        test_audio_content,
        test_embedded_resource,
        test_multiple_content_types,
        test_error_handling,
        test_tool_with_progress,
        test_elicitation,
        test_elicitation_sep1034_defaults,
        test_elicitation_sep1330_enums,
        test_input_required_result_elicitation,
        test_input_required_result_request_state,
        test_input_required_result_multi_round,
        test_input_required_result_tampered_state,
        test_input_required_result_capabilities,
        test_streaming_elicitation,
        HEADER_TOOL,
        SCHEMA_TOOL,
    )
    # Named as TCP, as `serve` does: an answer in two writes does not wait for an acknowledgement.
    listener = socket.socket(proto=socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", port))
    listener.listen()
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    uvicorn.Server(uvicorn.Config(create_app(tp), log_level="warning")).run([listener])


if __name__ == "__main__":
    main(int(sys.argv[1]))
