"""Schemas of the server's own tools, as clients are told of them. Data only."""

from __future__ import annotations

from mcp_types import Tool as McpTool
from mcp_types import ToolAnnotations

from toolpath.access.caller import Scope
from toolpath.values import JsonObject

_TEXT: JsonObject = {"type": "string", "minLength": 1, "maxLength": 20_000}
_RUN_ID: JsonObject = {"type": "string", "minLength": 1, "maxLength": 200, "description": "The run's id, run_…"}
_WAIT: JsonObject = {
    "type": "boolean",
    "default": True,
    "description": "Wait for the run's end, or for a question; false: answer at once.",
}
_PLAN: JsonObject = {
    "anyOf": [
        {"type": "object", "minProperties": 1},
        {"type": "string", "minLength": 1, "maxLength": 1_000_000},
    ],
    "description": "A plan: an object, or its text in YAML or JSON. "
    'E.g. {"steps": [{"id": "author", "tool": "blog.create_author", "inputs": {"name": "Alice"}}, '
    '{"tool": "blog.create_post", "inputs": {"author": "{{ author.id }}"}}]}. '
    "Tools go by their keys (`search_tools` gives them); steps that read another's output run after it, all others "
    "side by side.",
}


def _tool(
    name: str,
    description: str,
    properties: JsonObject,
    required: tuple[str, ...],
    hints: tuple[bool, bool, bool],
    output: JsonObject | None = None,
) -> McpTool:
    reads, destroys, repeats = hints
    return McpTool(
        name=name,
        description=description,
        input_schema={
            "type": "object",
            "properties": properties,
            "required": list(required),
            "additionalProperties": False,
        },
        output_schema=output,
        annotations=ToolAnnotations(read_only_hint=reads, destructive_hint=destroys, idempotent_hint=repeats),
    )


def _object(required: tuple[str, ...], **properties: JsonObject) -> JsonObject:
    return {"type": "object", "properties": properties, "required": list(required)}


_LIST: JsonObject = {"type": "array"}
_STRING: JsonObject = {"type": "string"}
_JUDGED: dict[str, JsonObject] = {
    "valid": {"type": "boolean", "description": "Nothing is wrong that would keep it from running."},
    "findings": _LIST,
    "questions": {"type": "array", "description": "What the request leaves open."},
    "confidence": {"type": "number"},
    "explanation": _STRING,
}
_RUN_RECORD = _object(
    ("run_id", "status"),
    run_id=_STRING,
    status={
        "enum": [
            "pending",
            "running",
            "waiting",
            "paused",
            "completed",
            "completed_with_errors",
            "failed",
            "cancelled",
        ]
    },
    success={"type": "boolean"},
    outputs={},
    error={"type": "object"},
    steps=_LIST,
    questions={"type": "array", "description": "What a person is asked; `answer_with` answers it."},
)

META_TOOLS: tuple[McpTool, ...] = (
    _tool(
        "search_tools",
        "Find tools by what they do, best first, with their keys and schemas for use in plans.",
        {
            "query": {**_TEXT, "description": "What the tool is to do."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
        },
        ("query",),
        (True, False, True),
        _object(("tools",), tools=_LIST),
    ),
    _tool(
        "plan",
        "Turn a request in words into a checked plan of tool calls. Nothing is run; give the plan to `run_plan`.",
        {
            "request": {**_TEXT, "description": "What is to be done."},
            "tools": {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": 1000,
                "description": "Keys of the only tools to use.",
            },
            "planner": {"enum": ["offline", "model"], "description": "Which planner; a model where one is configured."},
            "decomposition": {
                "type": "object",
                "description": "The request taken apart: {query_type, sub_queries: [{id, query, suggested_tool, "
                "dependencies}], confidence}.",
            },
            "time_zone": {
                "type": "string",
                "maxLength": 100,
                "description": "The zone that its days are meant in, as Europe/Berlin; else the server's.",
            },
        },
        ("request",),
        (True, False, True),
        _object(("plan", "valid"), plan={"type": "object"}, reasoning=_STRING, **_JUDGED),
    ),
    _tool(
        "route",
        "Choose the tools that a request names or means, each with its arguments and the score of every candidate. "
        "Nothing is run; give the plan to `run_plan`.",
        {
            "request": {**_TEXT, "description": "What is wanted."},
            "tools": {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": 1000,
                "description": "Names of the only tools to choose from.",
            },
            "planner": {"enum": ["offline", "model"], "description": "Who chooses; a model where one is configured."},
            "on_multiple": {"enum": ["best", "all", "error"], "description": "Where a name fits several tools."},
        },
        ("request",),
        (True, False, True),
        _object(
            ("route_id", "outcome"),
            route_id=_STRING,
            outcome={"enum": ["tools", "text", "no_match", "refused", "failed"]},
            plan={"type": "object"},
            text=_STRING,
            message=_STRING,
            suggestions=_LIST,
            decisions=_LIST,
            questions=_LIST,
        ),
    ),
    _tool(
        "check_plan",
        "Everything that is wrong with a plan, at once, and what it would do. Nothing is run.",
        {"plan": _PLAN},
        ("plan",),
        (True, False, True),
        _object(("valid", "findings"), **_JUDGED),
    ),
    _tool(
        "run_plan",
        "Run a plan: one call instead of many. Independent steps run side by side, every step is journaled, and the "
        "answer has the outputs.",
        {
            "plan": _PLAN,
            "inputs": {"type": "object", "description": "The plan's inputs, where it takes any."},
            "wait": _WAIT,
            "idempotency_key": {
                "type": "string",
                "maxLength": 200,
                "description": "A second call with the same key gives the first one's run.",
            },
        },
        ("plan",),
        (False, True, False),
        _RUN_RECORD,
    ),
    _tool(
        "get_run",
        "How a run stands: status, steps, outputs, and what it asks a person.",
        {"run_id": _RUN_ID, "wait": {**_WAIT, "default": False}},
        ("run_id",),
        (True, False, True),
        _RUN_RECORD,
    ),
    _tool(
        "answer",
        "Answer what a run asks a person: the values of a form, or whether a step may be run. The run then goes on.",
        {
            "run_id": _RUN_ID,
            "step": {"type": "string", "maxLength": 1000, "description": "Where several steps wait: which."},
            "values": {"type": "object", "description": "A form's answers, by the names of its fields."},
            "approve": {"type": "boolean", "description": "Whether the step may be run."},
            "decline": {"type": "boolean", "description": "True: nobody wants to answer the form."},
            "comment": {"type": "string", "maxLength": 2000},
            "wait": _WAIT,
        },
        ("run_id",),
        (False, True, False),
        _RUN_RECORD,
    ),
)

#: What a caller must be allowed for each.
SCOPES: dict[str, Scope] = {
    "search_tools": "read",
    "plan": "run",
    "route": "run",
    "check_plan": "read",
    "run_plan": "run",
    "get_run": "read",
    "answer": "answer",
}
