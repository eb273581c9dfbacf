"""Tools of the engine's own, which a running tool calls as child steps: ask a model, think in a round, ask a person."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from toolpath.engine.compile.model_calls import CHAT, LONGEST, answered, chat_tool
from toolpath.model.chat import ChatReply
from toolpath.model.plan import Retry
from toolpath.model.tool import Body, Tool, ToolResult
from toolpath.values import Json, JsonObject

#: A model's turn in a round of an agent: the journal keeps what the round adds to the conversation.
THINK = "toolpath.think"
#: A form for a person, as a step of its own, so that several may be open at once.
FORM = "toolpath.form_input"
#: The end of an agent's work: what it is given is what the agent gives.
TERMINATE = "toolpath.terminate"
#: The name of the question in the step of a form.
QUESTION = "form"


class OwnCalls(Protocol):
    """The side of its context that these tools need."""

    async def send_kept(self) -> ChatReply:
        """Send the request that the caller gave with the step."""
        ...

    async def answer(self, form: JsonObject, key: str, timeout: float | None) -> JsonObject:
        """The answer of a person: `{values, declined}`."""
        ...


async def _think(inputs: JsonObject, context: Any) -> ToolResult:
    own: OwnCalls = context
    return answered(await own.send_kept())


async def _ask(inputs: JsonObject, context: Any) -> Json:
    own: OwnCalls = context
    timeout = inputs.get("timeout")
    form = {name: value for name, value in inputs.items() if name != "timeout"}
    return await own.answer(form, QUESTION, timeout)


async def _end(inputs: JsonObject, context: Any) -> Json:
    return inputs["message"]


def think_tool() -> Tool:
    """The tool: what the round adds in, the model's reply out, its tokens and its cost counted."""
    return _own("think", "Let a model say what is done next.", _think)


def form_tool() -> Tool:
    """The tool: a form with its `timeout` in, `{values, declined}` out."""
    return _own("form_input", "Ask a person.", _ask)


def terminate_tool() -> Tool:
    """The tool: what an agent has come to in and out."""
    return _own("terminate", "End the work with its result.", _end)


OWN: dict[str, Callable[[], Tool]] = {CHAT: chat_tool, THINK: think_tool, FORM: form_tool, TERMINATE: terminate_tool}
"""Key → the tool. No journal freezes them, and no depth counts them: they are the engine's."""


def _own(name: str, description: str, invoke: Callable[[JsonObject, Any], Any]) -> Tool:
    return Tool(
        name=name,
        group="toolpath",
        description=description,
        input_schema={"type": "object"},
        effect="read",
        timeout=LONGEST,
        retry=Retry(max_retries=0),
        body=Body(invoke=invoke, runs="loop", wants_context=True),
    )
