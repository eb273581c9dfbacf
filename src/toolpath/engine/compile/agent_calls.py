"""An agent's step as a call like any other: its tool, made of what the step says and of the tools it may call. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from toolpath.config import Settings
from toolpath.model.agent import FORM_INPUT, AgentTask, column_of, output_schema, result_schema
from toolpath.model.plan import Agent, Retry
from toolpath.model.tool import Body, Tool, ToolResult
from toolpath.values import JsonObject

#: The tool's name in the journal.
AGENT = "toolpath.agent"
#: Seconds that an agent may take between two calls. What it waits for is not counted.
LONGEST = 600.0


class AgentCalls(Protocol):
    """The side of its context that the tool needs."""

    async def pursue(self, task: AgentTask) -> ToolResult:
        """Let the agent work until it is done."""
        ...


def agent_tool(step: Agent, tools: tuple[Tool, ...], *, settings: Settings, model_print: str = "") -> Tool:
    """The tool of the step; what it does not say is as the settings say; `model_print`: digest of what its model is.

    Its fingerprint binds to everything that the agent is and may call.
    """
    limits = [limit for limit in (step.budget.time, step.timeout) if limit is not None]
    rounds = step.max_rounds or settings.agent_rounds
    task = AgentTask(
        requirement="",
        tools=tools,
        may_ask=FORM_INPUT in step.tools,
        model=step.model or "",
        result_schema=result_schema(step.output),
        columns=tuple(column_of(column)[0] for column in step.output),
        max_rounds=rounds,
        parallel_calls=settings.agent_parallel_calls,
        require_tool_call=step.require_tool_call,
        approve_writes=step.approve_writes,
        # A step's time limit is that of all its rounds.
        budget=msgspec.structs.replace(step.budget, time=min(limits, default=None)),
        longest=settings.agent_context,
        patience=settings.user_input_timeout,
    )
    return Tool(
        name="agent",
        group="toolpath",
        description="Let a model reach a goal.",
        input_schema={
            "type": "object",
            "properties": {"requirement": {"type": "string"}, "instructions": {"type": "string"}, "context": {}},
            "required": ["requirement"],
        },
        output_schema=output_schema(step),
        annotations={
            "model": task.model,
            **({"model_print": model_print} if model_print else {}),
            "tools": {tool.key: tool.fingerprint for tool in tools},
            "form_input": task.may_ask,
            "output": list(step.output),
            "max_rounds": rounds,
            "budget": msgspec.to_builtins(step.budget),
            # Said only where it is not the usual, so that agents of earlier journals stay the same.
            **({} if step.require_tool_call else {"require_tool_call": False}),
            **({"approve_writes": True} if step.approve_writes else {}),
            **({} if settings.agent_parallel_calls else {"parallel_calls": False}),
        },
        effect="read" if all(tool.is_read for tool in tools) else "write",
        # What it does to the world is done by its calls: they are in doubt after a crash, never the agent.
        idempotent=True,
        timeout=LONGEST,
        retry=Retry(max_retries=0),
        output_validation="strict",
        body=Body(invoke=_invoke_of(task), runs="loop", wants_context=True),
    )


def _invoke_of(task: AgentTask) -> Callable[[JsonObject, Any], Any]:
    async def invoke(inputs: JsonObject, context: Any) -> ToolResult:
        own: AgentCalls = context
        instructions = inputs.get("instructions", "")
        given = msgspec.structs.replace(
            task, requirement=inputs["requirement"], instructions=instructions, context=inputs.get("context")
        )
        return await own.pursue(given)

    return invoke
