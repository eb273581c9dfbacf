"""Requests of a running tool through its context: calls of other tools, questions to people, reports of progress."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Iterable
from typing import Any

from toolpath.engine.compile.late_tools import LateTools
from toolpath.engine.compile.model_calls import CHAT, asked, reply_of
from toolpath.engine.compile.nodes import Node
from toolpath.engine.compile.own_tools import FORM, OWN
from toolpath.engine.decide.approvals import is_outdated, revoke
from toolpath.engine.decide.bounds import too_deep
from toolpath.engine.decide.recover import take_up_step
from toolpath.engine.drive.attempt import Attempt
from toolpath.engine.drive.drafts import ReplyPlace
from toolpath.engine.drive.drive import Drive
from toolpath.engine.drive.places import Places
from toolpath.engine.state.finished_writes import has_written_inside
from toolpath.engine.state.instances import EMPTY, ENDED, StepState
from toolpath.engine.state.paths import child_key, old_key, safe_key
from toolpath.errors import OutputInvalid, ToolChanged, ToolFailed, ToolNotFound, ToolUnavailable
from toolpath.model import events as ev
from toolpath.model.chat import ChatReply, ChatRequest
from toolpath.model.events import Failure
from toolpath.model.language_model import MARK
from toolpath.model.plan import Plan
from toolpath.model.tool import Tool
from toolpath.values import Json, JsonObject, digest, plain, writable

#: Characters of a report of progress.
LONGEST_PROGRESS = 1000


class TooDeep(ToolFailed):
    """A call that a tool makes would be nested too deep."""

    code = "depth"


class Children:
    """The engine's side of every `ToolContext` of a run."""

    def __init__(self, drive: Drive, places: Places) -> None:
        self._drive = drive
        self._places = places
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._replies: dict[str, list[asyncio.Future[None]]] = {}
        """Who waits for the end of a call, by its path."""
        self._answers: dict[str, asyncio.Future[None]] = {}
        """Who waits for a person, by the path of the tool that asked."""
        self._asking: dict[str, Attempt] = {}
        self._begun: set[str] = set()
        """Calls that this drive has begun or taken up."""

    def all_ask(self, running: Iterable[Attempt]) -> bool:
        """Whether every call under way waits for a person."""
        # One that it waits for is asked about for itself; a plan inside waits where nothing of it is under way.
        return all(attempt.is_waiting and not attempt.stopped for attempt in running)

    async def call_child(
        self, parent: Attempt, tool: str, inputs: JsonObject, key: str, *, is_final: bool = False
    ) -> Json:
        """Run a call that a tool makes as a journaled child step. `is_final`: one that has failed is not made again."""
        drive = self._drive
        inputs = _json(inputs, f"What is given to {tool}")
        deep = None if tool in OWN else too_deep(parent.step.scope, f"{parent.step.path}/{child_key(key or tool)}")
        if deep is not None:
            raise TooDeep(deep.message, hint=deep.hint)
        node = await self._node(tool)
        if drive.program.has_exclusive and drive.decisions.loop_items:
            # It has come with the tool.
            drive.control.leave_loop_items()
        target = node.targets[0]
        _refuse_secret(drive, key)
        if parent.is_over or drive.running.get(parent.step) is not parent:
            # Also a task that the tool has left behind: whatever the step does now is not its own.
            raise ToolFailed("The call is over: it can make no calls any more.")
        _freeze(drive, node)
        name = self._name(key) if key else _derived_name(parent, target.tool.name, target.key, inputs)
        child = drive.state.child(parent.step, name, target.key)
        # A tool that is run again, as its driver died or a person has answered, is told what it was told before.
        stands = child.denied or (
            child.path not in parent.context.told
            and (child.stands or (_might_write_twice(child) and not _is_consented(parent.step)))
        )
        stands = stands or (is_final and child.status in ("failed", "timed_out"))
        if child.status in ("failed", "timed_out", "cancelled", "skipped") and not stands:
            self._reset(child)
        parent.context.told.add(child.path)
        if child.status not in ENDED:
            await self._run(parent, child, inputs)
        if child.status == "succeeded":
            return drive.large.restored(child.output)
        error = child.error
        if error is None:
            raise ToolFailed(f"{child.path} was {child.status}.")
        raise ToolFailed(error.message, hint=error.hint)

    async def _node(self, tool: str) -> Node:
        """The call of a tool, which need not be one that the plan names: its server is asked for it now."""
        program, load = self._drive.program, self._drive.services.load
        try:
            return program.dynamic(tool)
        except (ToolNotFound, ToolUnavailable):
            if load is None:
                raise
            return program.dynamic(tool, LateTools(program.tools, await load({tool}, self._drive.state.context.tenant)))

    def _reset(self, child: StepState) -> None:
        """A call that failed is made again: as the journal says, and in a block of its own where it is a plan."""
        drive = self._drive
        decisions = drive.decisions
        decisions.at = drive.services.clock.time()
        error = child.error or Failure(type="Skipped", message=f"{child.path} was {child.status}.", code="cancelled")
        decisions.emit(ev.StepRetrying(decisions.seq, decisions.at, child.path, child.attempt, 0.0, error))

    def path_of(self, parent: Attempt, key: str) -> str:
        """The path of the call that the tool makes under this key."""
        return self._drive.state.calls_of(parent.step).prefix + self._name(key)

    def _name(self, key: str) -> str:
        paths = self._drive.state.paths
        return child_key(key) if paths > 2 else safe_key(key) if paths > 1 else old_key(key)

    async def call_of_engine(self, child: StepState, inputs: JsonObject) -> None:
        """Begin a call that no running tool makes, and wait for its end."""
        drive = self._drive
        reply = self._reply_to(child)
        child.given = inputs
        drive.decisions.at = drive.services.clock.time()
        drive.commits.weighty = True
        drive.control.begin(child)
        drive.wake()
        await reply

    async def _run(self, parent: Attempt, child: StepState, inputs: JsonObject) -> None:
        drive = self._drive
        if parent.is_over:
            raise ToolFailed("The call is over: it can make no calls any more.")
        asked = child.path in self._replies
        reply = self._reply_to(child)
        if not asked:
            child.given = inputs
            if child.status == "running" and not child.key and child.path not in self._begun:
                # A plan that was left: what is finished in it stays so.
                drive.decisions.at = drive.services.clock.time()
                drive.commits.weighty = True
                take_up_step(drive.control, child)
                drive.control.settle()
            self._begun.add(child.path)
            if child.status in ("pending", "ready"):
                drive.decisions.at = drive.services.clock.time()
                drive.commits.weighty = True
                self._admit(child)
                drive.control.settle()
        await self._wait(parent, child, reply)

    def _admit(self, child: StepState) -> None:
        """Begin the call, or ask a person first."""
        control = self._drive.control
        if is_outdated(control.decisions, child):
            revoke(child)
        control.begin(child)

    def _reply_to(self, child: StepState) -> asyncio.Future[None]:
        reply: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._replies.setdefault(child.path, []).append(reply)
        return reply

    async def _wait(self, parent: Attempt, awaited: StepState, reply: asyncio.Future[None]) -> None:
        """Wait without holding a slot or places, so that nesting cannot deadlock, and without the clock running."""
        drive, places = self._drive, self._places
        parent.awaited += (awaited,)
        if not parent.resting:
            drive.deadlines.remove(parent)
        places.rest(parent)
        drive.wake()
        try:
            if parent.stopped:
                # What it gave back was the last that its plan waited for to end.
                raise asyncio.CancelledError
            await reply
        finally:
            if not parent.ended:
                place = parent.awaited.index(awaited)
                parent.awaited = parent.awaited[:place] + parent.awaited[place + 1 :]
                if parent.awaited:
                    # Where it does no more than wait for the others, the drive may have nothing else to do.
                    self._loop.call_soon(self._wake_if_idle)
                elif not parent.abandoned:
                    try:
                        await places.go_on(parent)
                    finally:
                        if not parent.resting:
                            parent.started = drive.services.clock.monotonic()
                            if parent.calling:
                                drive.deadlines.add(parent)

    def _wake_if_idle(self) -> None:
        # A call under way looks at its end whether the drive may leave.
        if not self._drive.slots.busy:
            self._drive.wake()

    def reply(self, step: StepState) -> None:
        """Wake the tool whose call has ended, or whose question was answered."""
        drive = self._drive
        if step.status in ENDED:
            _wake(self._replies.pop(step.path, ()))
        elif (asker := self._answers.pop(step.path, None)) is not None:
            _wake((asker,))
        elif step.status == "running" and step not in drive.running:
            # The tool that asked runs no more: it is called again, and finds the answer under its key.
            decisions = drive.decisions
            decisions.emit(ev.StepReady(decisions.seq, decisions.at, step.path))
            if step.scope.block is not EMPTY or step.given is not None:
                decisions.ready.push(step)

    async def ask_person(self, parent: Attempt, form: JsonObject, key: str, timeout: float | None) -> JsonObject:
        """Put a form before a person; an answer given earlier to the same question is given at once."""
        drive = self._drive
        step, decisions = parent.step, drive.decisions
        known = (step.answers or {}).get(key)
        if known is not None:
            return known
        _refuse_secret(drive, key)
        form = _json(form, "The form")
        if parent.is_over:
            raise ToolFailed("The call is over: it can ask nobody any more.")
        beside = f"{key}.form"
        if step.path in self._asking or self.path_of(parent, beside) in drive.state.steps:
            # The step shows one question; each further one that is open at once has a step of its own.
            asked = form if timeout is None else {**form, "timeout": timeout}
            told: JsonObject = await self.call_child(parent, FORM, asked, beside)
            return told
        decisions.at = drive.services.clock.time()
        deadline = None if timeout is None else decisions.at + timeout
        decisions.emit(ev.StepWaiting(decisions.seq, decisions.at, step.path, "input"))
        decisions.emit(ev.InputRequested(decisions.seq, decisions.at, step.path, form, deadline, key))
        if deadline is not None:
            decisions.watch_answer(step, deadline)
        drive.commits.weighty = True
        reply = self._answers[step.path] = asyncio.get_running_loop().create_future()
        self._asking[step.path] = parent
        try:
            await self._wait(parent, step, reply)
        finally:
            self._asking.pop(step.path, None)
            self._answers.pop(step.path, None)
        answer: JsonObject = (step.answers or {})[key]
        return answer

    async def chat_child(self, parent: Attempt, request: Any, key: str) -> ChatReply:
        """Ask a model, as a journaled child step: what it has answered once is not asked again."""
        # No secret goes into a prompt, nor into the journal.
        fields = self._drive.redactor.value(asked(request))
        return reply_of(await self.call_child(parent, CHAT, fields, key))

    async def send(self, request: ChatRequest, place: ReplyPlace | None = None) -> ChatReply:
        """The model's answer. `place`: where it may be seen while it is written."""
        services, state = self._drive.services, self._drive.state
        tenant = state.context.tenant
        known = state.fingerprints.get(MARK + request.model)
        if known is not None and services.models is not None:
            now = await services.models(tenant)
            if not now.takes_any and now.fingerprint(request.model) != known:
                what = "was changed" if now.knows(request.model) else "was removed"
                raise ToolChanged(f"The model {request.model!r} {what} since the run began.")
        chat = None if services.chat is None else await services.chat(tenant)
        if chat is None:
            raise ToolFailed("No model is configured.", hint="Set TOOL_PLANNER_LLM and the provider's key.")
        if place is None:
            return await chat(request)
        return await services.drafts.reply(chat, request, place, self._drive.redactor)

    async def find_tool(self, name: str) -> Tool:
        """The tool that a call of this name would call. Raises `ToolNotFound`."""
        return (await self._node(name)).targets[0].tool

    def restored(self, value: Json) -> Json:
        """The value with large ones in the place of what stands for them."""
        return self._drive.large.restored(value)

    def redact(self, text: str) -> str:
        """The text without any secret."""
        return self._drive.redactor.text(text)

    def report(self, parent: Attempt, progress: float, total: float | None, message: str) -> None:
        """Journal how far a call is. Also from the thread of a `def` tool."""
        if threading.get_ident() == self._thread:
            self._report(parent, progress, total, message)
        else:
            self._loop.call_soon_threadsafe(self._report, parent, progress, total, message)

    def _report(self, parent: Attempt, progress: float, total: float | None, message: str) -> None:
        drive = self._drive
        # What comes after the end of the call changes nothing any more.
        if parent.stopped or drive.running.get(parent.step) is not parent:
            return
        # What JSON has no number for could be written, but never read again.
        if not math.isfinite(progress):
            return
        if total is not None and not math.isfinite(total):
            total = None
        decisions = drive.decisions
        decisions.at = drive.services.clock.time()
        # Cut short only without the secrets: no redaction finds a piece of one.
        text = writable(drive.redactor.text(str(message))[:LONGEST_PROGRESS])
        decisions.emit(ev.StepProgress(decisions.seq, decisions.at, parent.step.path, float(progress), total, text))
        drive.commits.flush_soon()


def _derived_name(parent: Attempt, name: str, key: str, inputs: JsonObject) -> str:
    """Tool, digest of its inputs, and occurrence: the same when the tool is run again."""
    base = f"{old_key(name)}-{digest([key, inputs])[7:15]}"
    counts = parent.context.counts
    count = counts[base] = counts.get(base, 0) + 1
    return base if count == 1 else f"{base}-{count}"


def _freeze(drive: Drive, node: Node) -> None:
    """Write down what is called, and all that it may call: the next driver of the run finds it so."""
    key = node.targets[0].key
    known = drive.state.fingerprints
    if key in OWN or key in known:
        return
    decisions, found = drive.decisions, drive.program.reached(key)
    decisions.at = drive.services.clock.time()
    prints = {name: tool.fingerprint for name, tool in found.items() if name not in known}
    plans = {name: body for name in prints if isinstance(body := found[name].body, Plan)}
    prints |= {name: of_model for name, of_model in drive.program.models.items() if name not in known}
    bodies = {name: drive.program.frozen_body(body) for name, body in plans.items()}
    decisions.emit(ev.ToolsFrozen(decisions.seq, decisions.at, prints, bodies))


def _might_write_twice(call: StepState) -> bool:
    """Whether the call, made again, may write what is written: it is in doubt, or a plan with a write that is done."""
    if call.error is not None and call.error.in_doubt:
        return True
    # A tool that is run again finds what its calls gave; the block of a plan begins anew.
    return call.nested is not None and has_written_inside(call)


def _is_consented(step: StepState) -> bool:
    """Whether the tool is run again by a retry that somebody wrote, its own or one around it.

    The default retry goes by what a tool says of itself; of a write that it calls and that is in doubt it says nothing.
    """
    around: StepState | None = step
    while around is not None:
        targets = around.node.targets
        if around.attempt > 1 and around.target < len(targets) and targets[around.target].explicit_retry:
            return True
        around = around.scope.owner
    return False


def _refuse_secret(drive: Drive, key: str) -> None:
    """Raise `ToolFailed` for a key with a secret in it: it becomes part of a path, and paths are not changed."""
    if drive.redactor.text(key) != key:
        raise ToolFailed("The key of a call holds a secret.", hint="Give another key: it stands in the journal.")


def _wake(waiting: Iterable[asyncio.Future[None]]) -> None:
    for future in waiting:
        if not future.done():
            future.set_result(None)


def _json(value: JsonObject, what: str) -> JsonObject:
    """The value as JSON of its own. Raises `ToolFailed` where it is none."""
    try:
        read = plain(value)[0]
    except OutputInvalid as error:
        raise ToolFailed(f"{what} is no JSON: {error.message}") from None
    if not isinstance(read, dict):
        raise ToolFailed(f"{what} is no object.")
    return read
