"""Context of a running tool: the engine's side of `ports.ToolContext`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from toolpath.engine.drive.attempt import Attempt
from toolpath.engine.state.instances import StepState
from toolpath.errors import ToolFailed
from toolpath.model.agent import AgentTask, Spent
from toolpath.model.chat import ChatReply, ChatRequest
from toolpath.model.events import Failure
from toolpath.model.plan import Agent
from toolpath.model.tool import Tool, ToolResult
from toolpath.values import Json, JsonObject


class ContextHost(Protocol):
    """The run's side of a context."""

    async def find_tool(self, name: str) -> Tool:
        """The tool that a call of this name would call."""
        ...

    async def call_child(self, parent: Attempt, tool: str, inputs: JsonObject, key: str) -> Json:
        """Run a child call and give its output."""
        ...

    async def ask_person(self, parent: Attempt, form: JsonObject, key: str, timeout: float | None) -> JsonObject:
        """Put a form before a person and give the answer."""
        ...

    async def chat_child(self, parent: Attempt, request: Any, key: str) -> ChatReply:
        """Ask a model as a child step and give its reply."""
        ...

    async def send(self, request: ChatRequest) -> ChatReply:
        """Send a request to the model."""
        ...

    def redact(self, text: str) -> str:
        """The text without any secret."""
        ...

    def restored(self, value: Json) -> Json:
        """The value with large ones in the place of what stands for them."""
        ...

    def report(self, parent: Attempt, progress: float, total: float | None, message: str) -> None:
        """Journal how far the call is."""
        ...


class RoundCaller(Protocol):
    """The run's side of what an agent does in its rounds."""

    async def pursue(self, task: AgentTask, context: Any) -> ToolResult:
        """Let the agent work until it is done."""
        ...

    async def think(self, parent: Attempt, request: ChatRequest, adds: JsonObject, key: str) -> ChatReply:
        """Ask the model as a child step that keeps what is new in the request."""
        ...

    async def send_kept(self, step: StepState) -> ChatReply:
        """Send the request that was given with the step."""
        ...

    async def act(self, parent: Attempt, tool: str, inputs: JsonObject, key: str) -> Json:
        """Run a child call whose failure is final."""
        ...

    async def form(self, parent: Attempt, form: JsonObject, key: str) -> JsonObject:
        """Ask a person as a child step."""
        ...

    async def end(self, parent: Attempt, result: JsonObject, key: str) -> Json:
        """Write down what the agent has come to."""
        ...

    def refuse(self, parent: Attempt, key: str, failure: Failure) -> None:
        """Write down a call that is not made."""
        ...

    def has_ended(self, parent: Attempt, key: str) -> bool:
        """Whether the journal has the end of a call."""
        ...

    def duration(self, parent: Attempt, key: str) -> float:
        """Seconds that a call took."""
        ...

    def spent(self, parent: Attempt) -> Spent:
        """The sum of what the agent's calls spent."""
        ...


class CallContext:
    """Given to a tool whose first parameter is a `ToolContext`."""

    def __init__(self, caller: ContextHost, attempt: Attempt, *, deadline: float | None, rounds: RoundCaller) -> None:
        step = attempt.step
        scope = step.scope
        self._caller = caller
        self._attempt = attempt
        self._rounds = rounds
        self.counts: dict[str, int] = {}
        self.told: set[str] = set()
        """Paths of the calls that this run of the tool was told the end of, or waits for."""
        """How often each child was asked for: names the next one."""
        self.run_id: str = scope.run["id"]
        self.path = step.path
        self.tool_call_id = attempt.key
        self.plan_depth = scope.depth
        self.attempt = step.attempt
        self.idempotency_key = attempt.key
        self.deadline = deadline
        self.tenant = ""
        self.user = ""
        self.permissions: tuple[str, ...] = ()
        self.held: dict[str, Callable[[], None]] = {}
        """What tools hold for the run, and how they let go of it."""
        self.session = ""
        self.case: str | None = None
        self._conversation: tuple[JsonObject, ...] = ()
        self.metadata: JsonObject = {}

    @property
    def results(self) -> JsonObject:
        """Outputs of the steps that ended before it in its block, by id."""
        found: JsonObject = self._caller.restored(dict(self._attempt.step.scope.outputs))
        return found

    @property
    def conversation(self) -> list[JsonObject]:
        """The messages that came before the run, oldest first: a copy, to do with as one likes."""
        copied: list[JsonObject] = msgspec.to_builtins(list(self._conversation))
        return copied

    def follows(self, conversation: tuple[JsonObject, ...]) -> None:
        """The run is part of this conversation."""
        self._conversation = conversation

    def _key(self, kind: str, key: str | None) -> str:
        """The name of a child: the same for the same call however often the tool is run again."""
        if key is not None:
            return key
        count = self.counts[kind] = self.counts.get(kind, 0) + 1
        return kind if count == 1 else f"{kind}-{count}"

    async def call(self, tool: str, inputs: JsonObject | None = None, *, key: str | None = None) -> Json:
        """Call another tool as a journaled child step. Raises `ToolFailed` when it fails."""
        return await self._caller.call_child(self._attempt, tool, inputs or {}, key or "")

    async def chat(self, request: Any, *, key: str | None = None) -> ChatReply:
        """Ask a model, as a journaled child step: a `ChatRequest`, its fields, or a text. Raises `ToolFailed`."""
        return await self._caller.chat_child(self._attempt, request, key or "")

    async def send(self, request: ChatRequest) -> ChatReply:
        """Send a request to the model: what the step of a `chat` does."""
        return await self._caller.send(request)

    async def answer(self, form: JsonObject, key: str, timeout: float | None) -> JsonObject:
        """The answer of a person: `{values, declined}`."""
        return await self._caller.ask_person(self._attempt, form, key, timeout)

    async def ask(self, form: JsonObject, *, key: str | None = None, timeout: float | None = None) -> JsonObject:
        """Ask a person. Raises `ToolFailed` when they decline or the time is over."""
        answer = await self.answer(form, self._key("question", key), timeout)
        if answer.get("timed_out"):
            raise ToolFailed("Nobody answered in time.")
        if answer.get("declined"):
            raise ToolFailed("The person declined to answer.")
        values: JsonObject = answer["values"]
        return values

    async def pursue(self, task: AgentTask) -> ToolResult:
        """Let the agent work until it is done: what the step of an agent does."""
        return await self._rounds.pursue(task, self)

    async def send_kept(self) -> ChatReply:
        """Send the request that the agent gave with the step: what the step of a `think` does."""
        return await self._rounds.send_kept(self._attempt.step)

    async def think(self, request: ChatRequest, adds: JsonObject, *, key: str) -> ChatReply:
        """Ask the model; `adds` is what the journal keeps of the request. Raises `ToolFailed`."""
        return await self._rounds.think(self._attempt, request, adds, key)

    async def act(self, tool: str, inputs: JsonObject, *, key: str) -> Json:
        """Call a tool; once it has failed it is not called again under this key. Raises `ToolFailed`."""
        return await self._rounds.act(self._attempt, tool, inputs, key)

    async def form(self, form: JsonObject, *, key: str) -> JsonObject:
        """Put a form before a person, beside others that may be open: `{values, declined}`."""
        return await self._rounds.form(self._attempt, form, key)

    async def end(self, result: JsonObject, *, key: str) -> Json:
        """Write down what the agent has come to, `{message}`, and give it."""
        return await self._rounds.end(self._attempt, result, key)

    def refuse(self, key: str, failure: Failure) -> None:
        """Write down that a call is not made, and why."""
        self._rounds.refuse(self._attempt, key, failure)

    def has_ended(self, key: str) -> bool:
        """Whether the journal has the end of the call under this key."""
        return self._rounds.has_ended(self._attempt, key)

    def duration(self, key: str) -> float:
        """Seconds that the call under this key took."""
        return self._rounds.duration(self._attempt, key)

    @property
    def spent(self) -> Spent:
        """The sum of what the calls spent so far."""
        return self._rounds.spent(self._attempt)

    def redact(self, text: str) -> str:
        """The text without any secret: for what is to be cut short, since a piece of one is not found any more."""
        return self._caller.redact(text)

    async def find_tool(self, name: str) -> Tool:
        """The tool that a call of this name would call. Raises `ToolNotFound`."""
        return await self._caller.find_tool(name)

    def may_call(self, key: str) -> bool:
        """Whether an agent that called this tool may call that one itself; true where no agent did."""
        owner = self._attempt.step.scope.owner
        if owner is None or not isinstance(owner.node.step, Agent) or owner.target >= len(owner.node.targets):
            return True
        return key in owner.node.targets[owner.target].tool.annotations.get("tools", ())

    def at_end(self, name: str, act: Callable[[], None]) -> None:
        """Call `act` when the run has ended, once for each name; it neither waits nor raises."""
        self.held[name] = act

    def progress(self, progress: float, total: float | None = None, message: str = "") -> None:
        """Report how far the call is."""
        self._caller.report(self._attempt, progress, total, message)
