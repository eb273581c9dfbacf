"""An agent at work: it lets a model think, makes the calls the model asks for, and tells it their outcomes.

All that it does lies in calls under keys of their rounds: `round[3]/think`, `round[3]/act[1]`. Run again after a crash,
it finds there what was answered and given, says the same to the model, and goes on where it was. Between two calls
nothing is left to chance: no clock, no random number.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Sequence
from typing import Final

import msgspec

from toolpath.agents.asked_calls import MOST_CALLS, AskedCall, AskedCalls, read_reply
from toolpath.agents.offers import Offer, Offers, misnamed
from toolpath.agents.prompt import (
    LAST_ANSWER,
    LAST_ROUND,
    NO_ANSWER,
    NO_CALL,
    REPEATED,
    fault_text,
    goal_text,
    result_text,
    system_text,
)
from toolpath.agents.transcript import CallAnswer, Transcript, said_before, shown_call
from toolpath.errors import SchemaError, ToolFailed
from toolpath.json_schema.validate import Validator
from toolpath.model.agent import TERMINATE, AgentTask
from toolpath.model.chat import ChatReply, ChatRequest, ToolCall
from toolpath.model.events import Failure
from toolpath.model.tool import ToolResult
from toolpath.ports import AgentContext
from toolpath.values import Json, JsonObject, decode, digest

#: Answers without a call, one after the other, until the agent gives up.
MOST_SILENT: Final = 3
#: Rounds with the same calls and results, one after the other: until the model is told, and until the agent gives up.
REPEATS_TOLD, MOST_REPEATS = 3, 8
#: Parts of the whole conversation that one result may have, and all results of a round together.
_OF_RESULT, _OF_ROUND = 0.15, 0.6
#: Seconds that a model has for a reply.
_LONGEST_THOUGHT: Final = 600.0


#: What servers say of models that cannot be told of tools.
_NO_TOOLS: Final = re.compile(r"\btools?\b.{0,60}\bnot? support|not? support\w*.{0,60}\b(tool|function)", re.I | re.S)


class AgentFailed(ToolFailed):
    """An agent came to no result; `code` says why: no_tool_call, repeated, max_rounds, budget."""

    def __init__(self, message: str, *, code: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code  # one class: callers tell the reasons apart by it


class Result(msgspec.Struct, frozen=True):
    """Result of an agent."""

    output: Json


async def pursue(task: AgentTask, context: AgentContext) -> ToolResult:
    """Let the agent work until it is done. Raises `ToolFailed` where it comes to no result."""
    return ToolResult(output=(await AgentRun(task, context).result()).output)


class AgentRun:
    """One agent from its first round to its result."""

    def __init__(self, task: AgentTask, context: AgentContext) -> None:
        self._task = task
        self._context = context
        self._offers = Offers(task)
        before = said_before(context.conversation)
        goal = goal_text(task, task.longest // 4, _uploaded(context))
        self._transcript = Transcript(goal, task.longest, before=before)
        self._accepts = Validator(task.result_schema)
        self._in_text = False
        """The model writes its calls as text."""
        self._last_rules = ""
        """The rules as the model was told them last."""
        self._said: list[str] = []
        """What it has told the person that it talks to."""
        self._silent = 0
        self._repeats = 0
        self._last_round = ""
        self._seconds = 0.0
        """How long its calls took, those at once counted as long as the longest."""
        self._most = 0
        """Characters that the model is told of the outcome of one call of the round."""

    async def result(self) -> Result:
        """The agent's result. Raises `ToolFailed`."""
        rounds = self._task.max_rounds
        for number in range(1, rounds + 1):
            if not self._context.has_ended(f"round[{number}]/think"):
                # What was answered before a crash was paid for.
                self._afford()
            if number == rounds and number > 1:
                self._transcript.told(LAST_ROUND if self._task.require_tool_call else LAST_ANSWER)
            asked, reply = await self._think(number, is_last=number == rounds)
            if reply.text.strip() and not (asked.in_text and asked.calls):
                self._said.append(reply.text.strip())
            if not asked.calls:
                if not asked.unheard:
                    if self._is_answer(asked, reply):
                        return await self._answer(number)
                    self._nudge(asked, reply)
                continue
            self._silent = 0
            found = await self._act(number, asked, reply)
            if found is not None:
                return found
        raise AgentFailed(
            f"The agent came to no result within {rounds} rounds.",
            code="max_rounds",
            hint="Raise 'max_rounds', or give it a smaller goal.",
        )

    def _is_answer(self, asked: AskedCalls, reply: ChatReply) -> bool:
        """Whether text alone ends the work: it was told to a person, and is no call that cannot be read."""
        return not self._task.require_tool_call and bool(reply.text.strip()) and not (self._in_text and asked.fault)

    async def _answer(self, number: int) -> Result:
        """All that it has told the person, which is its result."""
        return Result(await self._context.end({"message": "\n\n".join(self._said)}, key=f"round[{number}]/act[0]"))

    def _afford(self) -> None:
        """Raise `AgentFailed` where the agent has spent what it may."""
        budget, spent = self._task.budget, self._context.spent
        for name, used, limit in (
            ("calls", spent.calls, budget.calls),
            ("tokens", spent.tokens, budget.tokens),
            ("cost", spent.cost, budget.cost),
            ("time", self._seconds, budget.time),
        ):
            if limit is not None and used >= limit:
                raise AgentFailed(
                    f"The agent's budget of {name} is {limit:g}, and {used:g} are spent.",
                    code="budget",
                    hint=f"Raise 'budget.{name}' of the step, or give it a smaller goal.",
                )

    async def _think(self, number: int, *, is_last: bool) -> tuple[AskedCalls, ChatReply]:
        key = f"round[{number}]/think"
        ends = is_last and number > 1
        # Who talks keeps its tools in view, since some providers refuse a conversation with calls of none.
        specs = self._offers.last if ends and self._task.require_tool_call else self._offers.specs
        adds = {"round": number, **self._transcript.added()}
        system = system_text(self._task, specs, in_text=self._in_text)
        if system != self._last_rules:
            adds["system"], self._last_rules = system, system
        if number == 1:
            adds["tools"] = [spec.name for spec in specs]
        request = ChatRequest(
            system=system,
            messages=self._transcript.messages,
            tools=() if self._in_text else specs,
            tool_choice="none" if ends and not self._task.require_tool_call else "auto",
            model=self._task.model,
            timeout=self._time_left(),
        )
        try:
            reply = await self._context.think(request, adds, key=key)
        except ToolFailed as error:
            if self._in_text or number > 1 or not _NO_TOOLS.search(error.message):
                raise
            # The server takes no tools; from now on they are in the rules.
            self._in_text = True
            return AskedCalls(unheard=True), ChatReply()
        self._seconds += self._context.duration(key)
        asked = await read_reply(
            reply,
            number,
            talks=not self._task.require_tool_call and not self._in_text,
            most=MOST_CALLS if self._task.parallel_calls else 1,
        )
        self._in_text = self._in_text or asked.in_text
        return asked, reply

    def _time_left(self) -> float:
        most = self._task.budget.time
        return _LONGEST_THOUGHT if most is None else max(1.0, min(_LONGEST_THOUGHT, most - self._seconds))

    def _nudge(self, asked: AskedCalls, reply: ChatReply) -> None:
        """The model called nothing: tell it to, a few times."""
        self._silent += 1
        if self._silent >= MOST_SILENT:
            raise AgentFailed(
                f"The model called no tool in {self._silent} answers, one after the other.",
                code="no_tool_call",
                hint="Choose a model that can call tools.",
            )
        if reply.text:
            self._transcript.said(reply.text, ())
        no_call = NO_CALL if self._task.require_tool_call else NO_ANSWER
        self._transcript.told(f"{asked.fault} {no_call}".strip())

    async def _act(self, number: int, asked: AskedCalls, reply: ChatReply) -> Result | None:
        """Make the calls of a round; what the agent has come to where that is its end."""
        calls = asked.calls
        self._most = int(self._task.longest * min(_OF_RESULT, _OF_ROUND / len(calls)))
        shown = [shown_call(self._offers.shown(call.name), call.id, call.arguments) for call in calls]
        self._transcript.said(reply.text, () if asked.in_text else shown)
        if len(calls) == 1 and not asked.left_out and self._is(calls[0], TERMINATE):
            found = await self._end(number, calls[0], shown[0])
            if isinstance(found, Result):
                return found
            told = [found]
        else:
            told = await self._call_all(number, calls, shown)
        self._seconds += max((self._context.duration(one.key) for one in told), default=0.0)
        self._transcript.answered(told, in_text=asked.in_text)
        if asked.left_out:
            self._leave_out(number, len(calls), asked.left_out)
        self._watch(calls, told)
        return None

    def _is(self, call: AskedCall, name: str) -> bool:
        offer = self._offers.find(call.name)
        return offer is not None and offer.tool is None and offer.spec.name == name

    async def _end(self, number: int, call: AskedCall, shown: ToolCall) -> Result | CallAnswer:
        """The result, where it is what the agent was to give; else what is wrong with it."""
        key = f"round[{number}]/act[0]"
        if call.fault:
            return self._refuse(key, call, shown, call.fault, "wrong_input")
        try:
            given = self._accepts.accept(_listed(call.arguments, self._task))
        except SchemaError as error:
            return self._refuse(
                key, call, shown, f"The result is not what it has to be: {_faults(error)}.", "wrong_input"
            )
        return Result(await self._context.end(given, key=key))

    async def _call_all(self, number: int, calls: Sequence[AskedCall], shown: Sequence[ToolCall]) -> list[CallAnswer]:
        """The answers of the calls, in their order: reads at once, and each write after all that stand before it."""
        told: list[CallAnswer] = []
        failed_write = ""
        index = 0
        while index < len(calls):
            reading = index
            while reading < len(calls) and self._reads(calls[reading]):
                reading += 1
            group = range(index, max(reading, index + 1))
            keys = [f"round[{number}]/act[{at}]" for at in group]
            if failed_write:
                fault = f"It was not made, since {failed_write} before it failed."
                told += [
                    self._refuse(key, calls[at], shown[at], fault, "not_made")
                    for key, at in zip(keys, group, strict=True)
                ]
            else:
                found = await asyncio.gather(
                    *(self._call(key, calls[at], shown[at]) for key, at in zip(keys, group, strict=True))
                )
                told += found
                if not self._reads(calls[index]) and not found[0].is_result:
                    failed_write = calls[index].name
            index = group.stop
        return told

    def _reads(self, call: AskedCall) -> bool:
        offer = self._offers.find(call.name)
        # What is refused changes nothing.
        return offer is None or offer.reads or bool(call.fault)

    async def _call(self, key: str, call: AskedCall, shown: ToolCall) -> CallAnswer:
        """The answer of one call, in words for the model."""
        offer = self._offers.find(call.name)
        if offer is None:
            near = self._offers.nearest(call.name)
            meant = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
            return self._refuse(key, call, shown, f"You have no tool {call.name!r}.{meant}", "unknown_tool")
        faults = [call.fault] if call.fault else misnamed(call.arguments, offer)
        if faults:
            return self._refuse(key, call, shown, f"The call was not made: {'; '.join(faults)}", "wrong_input")
        if offer.spec.name == TERMINATE and offer.tool is None:
            fault = f"Call `{TERMINATE}` alone, when you know what came of the other calls."
            return self._refuse(key, call, shown, fault, "not_alone")
        try:
            output = await self._made(key, call, offer)
        except ToolFailed as error:
            return self._fault(key, shown, error.message, error.hint)
        return CallAnswer(call=shown, text=result_text(output, shown.name, self._most), key=key, is_result=True)

    async def _made(self, key: str, call: AskedCall, offer: Offer) -> Json:
        if offer.tool is not None:
            return await self._context.act(offer.tool.key, call.arguments, key=key)
        try:
            form = Validator(offer.spec.input_schema).accept(_form(call.arguments))
        except SchemaError as error:
            fault = f"The form cannot be shown: {_faults(error)}."
            self._context.refuse(key, Failure(type="Refused", message=fault, code="wrong_input"))
            raise ToolFailed(fault) from None
        answer = await self._context.form({**form, "timeout": self._task.patience}, key=key)
        if answer.get("timed_out"):
            raise ToolFailed("Nobody answered the form in time.")
        if answer["declined"]:
            raise ToolFailed("The person declined to answer.")
        return answer["values"]

    def _refuse(self, key: str, call: AskedCall, shown: ToolCall, fault: str, code: str) -> CallAnswer:
        """A call that is not made is in the journal, too, and the model is told why."""
        details = {"tool": call.name, "arguments": shown.arguments}
        self._context.refuse(key, Failure(type="Refused", message=fault, code=code, details=details))
        return self._fault(key, shown, fault)

    def _fault(self, key: str, shown: ToolCall, message: str, hint: str = "") -> CallAnswer:
        """The answer to a call that was refused or failed: there is no other."""
        return CallAnswer(call=shown, text=fault_text(message, hint, shown.name, self._most), key=key)

    def _leave_out(self, number: int, index: int, count: int) -> None:
        fault = f"{count:,} further calls of the answer were not made: at most {index} are made at once."
        self._context.refuse(
            f"round[{number}]/act[{index}]", Failure(type="Refused", message=fault, code="too_many_calls")
        )
        self._transcript.told(fault)

    def _watch(self, calls: Sequence[AskedCall], told: Sequence[CallAnswer]) -> None:
        """Notice rounds that repeat one another: the model is told, and in the end the agent gives up."""
        this = digest([[call.name, call.arguments, one.text] for call, one in zip(calls, told, strict=True)])
        self._repeats = self._repeats + 1 if this == self._last_round else 1
        self._last_round = this
        if self._repeats >= MOST_REPEATS:
            raise AgentFailed(
                f"The model made the same calls with the same results {self._repeats} times, one after the other.",
                code="repeated",
            )
        if self._repeats == REPEATS_TOLD:
            self._transcript.shorten()
            self._transcript.told(REPEATED)


def _uploaded(context: AgentContext) -> list[str]:
    """The names of the files that were uploaded for the run."""
    names = context.metadata.get("uploaded_files")
    return [str(name) for name in names[:100]] if isinstance(names, list) else []


def _faults(error: SchemaError) -> str:
    return "; ".join(f"{at or 'it'}: {what}" for at, what in error.faults[:5]) or error.message


def _listed(given: JsonObject, task: AgentTask) -> JsonObject:
    """One row stands for a list of one."""
    message = given.get("message")
    return {**given, "message": [message]} if task.columns and isinstance(message, dict) else given


def _form(given: JsonObject) -> JsonObject:
    """One field stands for a list of one; a field without a name goes by its label."""
    inputs = given.get("inputs")
    if isinstance(inputs, str):
        # Some models write a list as its text.
        with contextlib.suppress(ValueError, RecursionError):
            inputs = decode(inputs.encode())
    fields = [inputs] if isinstance(inputs, dict) else inputs
    if not isinstance(fields, list):
        return given
    named = [
        {**field, "name": field["label"][:100]}
        if isinstance(field, dict) and "name" not in field and isinstance(field.get("label"), str)
        else field
        for field in fields
    ]
    return {**given, "inputs": named}
