"""Requests of a running agent: the model's turn in a round, calls that are refused before they are made, its budget."""

from __future__ import annotations

from typing import Any

import msgspec

from toolpath.engine.compile.model_calls import reply_of
from toolpath.engine.compile.own_tools import FORM, TERMINATE, THINK
from toolpath.engine.drive.attempt import Attempt
from toolpath.engine.drive.children import Children
from toolpath.engine.drive.drafts import ReplyPlace
from toolpath.engine.drive.drive import Drive
from toolpath.engine.state.instances import ENDED, StepState
from toolpath.errors import ToolFailed, ToolpathError
from toolpath.model import events as ev
from toolpath.model.agent import AgentTask, Spent
from toolpath.model.chat import ChatReply, ChatRequest
from toolpath.model.events import Failure
from toolpath.model.plan import Agent
from toolpath.model.stand_ins import misplaced
from toolpath.model.tool import ToolResult
from toolpath.values import Json, JsonObject, made_ready


class Rounds:
    """The engine's side of what agents do in a run, round by round."""

    def __init__(self, drive: Drive, children: Children) -> None:
        self._drive = drive
        self._children = children
        self._requests: dict[str, ChatRequest] = {}
        """What models are asked now, whole, by the path of the step: the journal keeps what each adds."""

    async def pursue(self, task: AgentTask, context: Any) -> ToolResult:
        """Let the agent work until it is done."""
        agents = self._drive.services.agents
        if agents is None:
            raise ToolFailed("Nothing here lets agents work.", hint="Run the plan in a Toolpath.")
        return await agents(task, context)

    async def think(self, parent: Attempt, request: ChatRequest, adds: JsonObject, key: str) -> ChatReply:
        """The model's reply, from the journal where it has one. `adds`: what is new in the request since the last."""
        redactor = self._drive.redactor
        path = self._children.path_of(parent, key)
        if redactor.active:
            # No secret goes into a prompt.
            request = msgspec.convert(redactor.value(msgspec.to_builtins(request)), ChatRequest)
        self._requests[path] = request
        try:
            return reply_of(await self._children.call_child(parent, THINK, redactor.value(adds), key))
        finally:
            self._requests.pop(path, None)

    async def send_kept(self, step: StepState) -> ChatReply:
        """The model's answer to the request that was given with the step."""
        owner = step.scope.owner
        agent = None if owner is None else owner.node.step
        talks = isinstance(agent, Agent) and not agent.require_tool_call
        place = ReplyPlace(self._drive.state.run_id, step.path, talks)
        return await self._children.send(self._requests[step.path], place)

    async def act(self, parent: Attempt, tool: str, inputs: JsonObject, key: str) -> Json:
        """The tool's output. A call that has failed has failed for good: the model was told. Raises `ToolFailed`."""
        try:
            self._refuse_leak(tool, inputs)
            return await self._children.call_child(parent, tool, inputs, key, is_final=True)
        except ToolpathError as error:
            known = self._drive.state.steps.get(self._children.path_of(parent, key))
            if not parent.is_over and (known is None or known.status not in ENDED):
                # It was not even begun: too deep, not to be found, or no JSON.
                failure = Failure(type=type(error).__name__, message=error.message, code=error.code, hint=error.hint)
                self.refuse(parent, key, failure)
            raise error if isinstance(error, ToolFailed) else ToolFailed(error.message, hint=error.hint) from None

    def _refuse_leak(self, tool: str, inputs: JsonObject) -> None:
        """Raise `ToolFailed` where a model would give a secret to an argument that takes none: what it read may have
        told it to."""
        if not self._drive.secrets.any:
            return
        target = self._drive.program.dynamic(tool).targets[0]
        if wrong := misplaced(inputs, target.tool.input_schema):
            raise ToolFailed(
                f"The call was not made: {', '.join(wrong)} of {tool} takes no secret.",
                hint="Declare the argument as `format: password` in the tool's schema, if it is to take one.",
            )

    async def form(self, parent: Attempt, form: JsonObject, key: str) -> JsonObject:
        """The answer of a person to the form, which has a step of its own: `{values, declined}`."""
        answer: JsonObject = await self._children.call_child(parent, FORM, form, key)
        return answer

    async def end(self, parent: Attempt, result: JsonObject, key: str) -> Json:
        """Write down what the agent has come to."""
        return await self._children.call_child(parent, TERMINATE, result, key)

    def refuse(self, parent: Attempt, key: str, failure: Failure) -> None:
        """Write down that a call which the model asked for was not made, and why."""
        drive = self._drive
        path = self._children.path_of(parent, key)
        known = drive.state.steps.get(path)
        if parent.is_over:
            raise ToolFailed("The call is over: it can make no calls any more.")
        if known is not None and known.status in ENDED:
            return
        decisions = drive.decisions
        decisions.at = drive.services.clock.time()
        failure = msgspec.convert(drive.redactor.value(msgspec.to_builtins(failure)), Failure)
        decisions.emit(ev.StepFailed(decisions.seq, decisions.at, path, failure))
        drive.commits.flush_soon()

    def has_ended(self, parent: Attempt, key: str) -> bool:
        """Whether the journal has the end of the call under this key."""
        step = self._drive.state.steps.get(self._children.path_of(parent, key))
        return step is not None and step.status in ENDED

    def duration(self, parent: Attempt, key: str) -> float:
        """Seconds that the call under this key took."""
        step = self._drive.state.steps.get(self._children.path_of(parent, key))
        return 0.0 if step is None else step.duration

    def spent(self, parent: Attempt) -> Spent:
        """The sum of what the agent's calls spent so far."""
        account = self._drive.state.calls_of(parent.step).account
        return Spent(calls=account.calls, cost=account.cost, tokens=account.tokens)


made_ready(ChatRequest, Failure)
