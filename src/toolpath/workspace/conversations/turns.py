"""Turns of conversations: each is a run, of an agent that answers or of a plan template, and is told while it goes on.

A turn is claimed in its conversation's record before its message is kept and its run is begun, all three under names
that are settled by then: who dies in between leaves it to the next look, and nothing is done twice.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Final, Protocol

import msgspec

from toolpath.engine.drive.services import Services
from toolpath.errors import (
    KeyReused,
    RecordConflict,
    RecordNotFound,
    RunConflict,
    RunNotFound,
    SchemaError,
    StoreError,
    ToolpathError,
)
from toolpath.machine import new_id
from toolpath.model.conversation import (
    Conversation,
    ConversationMessage,
    EndPart,
    MemoryPart,
    OpenTurn,
    Part,
    Summary,
)
from toolpath.model.run import ENDED_RUN, RunContext, RunInfo, RunResult
from toolpath.model.template import PlanTemplate, TemplateRun
from toolpath.ports import Chat, Signal
from toolpath.runs.naming import OwnName
from toolpath.runs.run import Run
from toolpath.values import Json, JsonObject
from toolpath.workspace.conversations.begun_runs import (
    BEGINNING,
    LONGEST_ANSWER,
    MOST_CHARACTERS,
    MOST_MESSAGES,
    BegunRuns,
)
from toolpath.workspace.conversations.conversation_records import ConversationRecords
from toolpath.workspace.conversations.following import REPLY, Follower, text_of
from toolpath.workspace.conversations.memory import ConversationMemory, cut, memory_of
from toolpath.workspace.conversations.message import MessageDraft, check_said, digest_of, is_same, reused
from toolpath.workspace.templates import Templates

#: How often a change is tried again that somebody else made another one before.
_TRIES: Final = 20
_TITLE: Final = 80


class BegunTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that was begun."""

    conversation: Conversation
    number: int
    """Of the message."""
    run_id: str
    is_new: bool = True
    """False: the same message was there already."""
    memory: MemoryPart | None = None
    """What the model is not told word by word."""


class StartsTurns(Protocol):
    """Starter of runs."""

    async def __call__(
        self,
        what: JsonObject | TemplateRun,
        inputs: JsonObject,
        *,
        context: RunContext,
        run_id: str,
        idempotency_key: str,
        priority: int,
        uploads: Sequence[str],
    ) -> Run:
        """Begin a run with these files; where one has the key already, that is the run."""
        ...


class TurnRuns(Protocol):
    """The side of runs that turns need."""

    async def info(self, run_id: str) -> RunResult:
        """How a run stands."""
        ...

    async def tell(self, run_id: str, signal: Signal) -> Run:
        """Tell the run something."""
        ...

    @property
    def live(self) -> frozenset[str]:
        """Ids of the runs that this process drives now, or is about to."""
        ...

    def is_driven_elsewhere(self, info: RunInfo) -> bool:
        """Whether another process does."""
        ...


class ConversationTurns:
    """The turns of the conversations of one store."""

    def __init__(
        self,
        records: ConversationRecords,
        services: Services,
        runs: TurnRuns,
        *,
        start: StartsTurns,
        resume: Callable[[str], Awaitable[Run]],
        templates: Callable[[], Templates],
        catch_up: Callable[[], Awaitable[None]],
    ) -> None:
        """`catch_up`: takes settings over that were changed, here or elsewhere."""
        self._records = records
        self._services = services
        self._store = services.store
        self._clock = services.clock
        self._runs = runs
        self._start = start
        self._resume = resume
        self._catch_up = catch_up
        self.templates = templates
        self.begun_runs = BegunRuns(records, services.store, services.clock, end_of=self.end_of, name_of=self._name_of)
        """Runs that belong to conversations besides their turns."""

    async def model(self, tenant: str) -> Chat | None:
        """The model that the tenant's turns ask; None where none is configured."""
        return None if self._services.chat is None else await self._services.chat(tenant)

    # Beginning.

    async def begin(
        self, conversation: Conversation, said: MessageDraft, context: RunContext, *, priority: int = 0
    ) -> BegunTurn:
        """Begin the turn that answers a message.

        The same message with the same `message_id` begins none again. Raises `RunConflict` while another turn goes on,
        `SchemaError` for what is no message, and what beginning a run raises: then nothing was said.
        """
        check_said(said)
        conversation = await self.settled(conversation)
        known = await self._known(conversation, said)
        if known is not None:
            return known
        what, inputs, template = await self.what_answers(said, conversation.tenant)
        turn, conversation, memory = await self._claimed(conversation, said, template)
        message = ConversationMessage(
            number=turn.number,
            role="user",
            text=said.text,
            at=turn.at,
            run_id=turn.run_id,
            message_id=said.message_id,
            template="" if template is None else template.template_id,
            memory=memory.part,
        )
        await self._records.add(conversation, message)
        if said.message_id:
            await self._records.remember(conversation, said.message_id, turn.number, turn.said)
        try:
            return await self._begun(conversation, turn, what, inputs, context, priority, memory, said.uploads)
        except StoreError:
            # Whether it was begun is not known: the next look finds out.
            raise
        except ToolpathError:
            await self._taken_back(conversation, turn, message)
            raise

    async def _memory(self, conversation: Conversation, through: int, said: int) -> ConversationMemory:
        """The memory of the messages up to the number `through`, which have `said` characters."""
        await self._catch_up()
        return await memory_of(
            self._records,
            conversation,
            most=self._services.settings.conversation_memory,
            through=through,
            said=said,
            models=self._services.chat,
        )

    async def _begun(
        self,
        conversation: Conversation,
        turn: OpenTurn,
        what: JsonObject | TemplateRun,
        inputs: JsonObject,
        context: RunContext,
        priority: int,
        memory: ConversationMemory,
        uploads: Sequence[str],
    ) -> BegunTurn:
        context = RunContext.from_json(
            {
                **context.as_json(),
                "conversation_id": conversation.conversation_id,
                "conversation": list(memory.messages),
            }
        )
        begun = BegunTurn(conversation=conversation, number=turn.number, run_id=turn.run_id, memory=memory.part)
        if not await self._is_held(conversation, turn):
            if not await self._is_there(turn.run_id):
                raise _given_up(conversation)
            # The same message, sent again, began it and was answered already.
            return msgspec.structs.replace(begun, is_new=False)
        name = OwnName(f"conversation {conversation.conversation_id} {turn.number}")
        with contextlib.suppress(KeyReused):
            # The run is there, begun by who tried before: from a template, perhaps, that was changed since.
            await self._start(
                what,
                inputs,
                context=context,
                run_id=turn.run_id,
                idempotency_key=name,
                priority=priority,
                uploads=uploads,
            )
        await self._still_wanted(conversation, turn)
        return begun

    async def _is_held(self, conversation: Conversation, turn: OpenTurn) -> bool:
        """Whether the turn still waits for its run. Raises `RecordNotFound` where the conversation was deleted."""
        now = (await self._again(conversation)).turn
        return now is not None and now.run_id == turn.run_id

    async def _still_wanted(self, conversation: Conversation, turn: OpenTurn) -> None:
        """Stop the run where its turn was given up, or its conversation deleted, in the moment in which it began.

        Raises `RunConflict` or `RecordNotFound` then.
        """
        try:
            if await self._is_held(conversation, turn):
                return
            answer = await self._records.message(conversation.conversation_id, turn.number + 1)
            if answer is None or answer.run_id != turn.run_id or answer.status != "lost":
                return
        except RecordNotFound:
            await self._stop(turn.run_id)
            raise
        await self._stop(turn.run_id)
        raise _given_up(conversation)

    async def _stop(self, run_id: str) -> None:
        with contextlib.suppress(RunConflict):
            await self._runs.tell(run_id, Signal(kind="cancel", data={"reason": "its turn was given up"}))

    async def _known(self, conversation: Conversation, said: MessageDraft) -> BegunTurn | None:
        """The turn of a message that was sent before with this id. Raises `KeyReused` where it was another one."""
        if not said.message_id:
            return None
        number, before = await self._records.sent_before(conversation.conversation_id, said.message_id)
        turn = conversation.turn
        if number is None or (turn is not None and turn.number == number and not await self._is_there(turn.run_id)):
            # Who claimed the turn may have died before it was begun: it is begun now.
            return None
        message = await self._records.message(conversation.conversation_id, number)
        if message is None:
            return None
        if message.text != said.text or not is_same(before, said):
            raise reused(number)
        return BegunTurn(conversation=conversation, number=number, run_id=message.run_id, is_new=False)

    async def _is_there(self, run_id: str) -> bool:
        try:
            await self._store.get_run(run_id)
        except RunNotFound:
            return False
        return True

    async def what_answers(
        self, said: MessageDraft, tenant: str
    ) -> tuple[JsonObject | TemplateRun, JsonObject, PlanTemplate | None]:
        """The plan or template that answers, with its inputs.

        Raises `PolicyViolationError` for a template that is not for conversations.
        """
        if not said.template:
            inputs: JsonObject = {"message": said.text}
            if said.instructions:
                inputs["instructions"] = said.instructions
            return _agents_plan(said.tools, said.model), inputs, None
        if said.tools or said.model:
            raise SchemaError("A template brings its own tools and models.", hint="Leave out 'tools' and 'model'.")
        template = await self.templates().get(said.template, tenant=tenant)
        version = self.templates().open_to(template, "conversation")
        inputs = said.inputs if said.inputs is not None else await self._inputs(template, version, said.text)
        return await self.templates().run_of(template, inputs, version=version), inputs, template

    async def _inputs(self, template: PlanTemplate, version: int, text: str) -> JsonObject:
        """The text as the value of the one parameter that the template needs."""
        parameters = (await self.templates().parameters(template, version=version)).parameters
        needed = [each for each in parameters if each.required] or list(parameters[:1])
        if not needed:
            return {}
        if len(needed) == 1 and needed[0].type in ("", "string"):
            return {needed[0].name: text}
        names = ", ".join(each.name for each in needed)
        raise SchemaError(
            f"The template {template.key!r} needs {names}, which one text cannot be.", hint="Give them in 'inputs'."
        )

    async def _claimed(
        self, conversation: Conversation, said: MessageDraft, template: PlanTemplate | None
    ) -> tuple[OpenTurn, Conversation, ConversationMemory]:
        """The turn, written into the conversation, and what is told of the messages before it.

        A model may be asked for a summary of them, which takes its time: it is there before the turn is claimed.
        Raises `RunConflict` where another turn is open, `KeyReused` where its message had the same id and was another.
        """
        memory, known = ConversationMemory(messages=()), -1
        for _ in range(_TRIES):
            before, characters = conversation.messages, conversation.characters
            if conversation.turn is not None:
                if not said.message_id or conversation.turn.message_id != said.message_id:
                    raise _busy(conversation, conversation.turn)
                if not is_same(conversation.turn.said, said):
                    raise reused(conversation.turn.number)
                # Sent again at once, or after a crash: message and run have names already.
                before, characters = conversation.turn.number - 1, characters - len(said.text)
            else:
                _check_room(conversation, said)
            if known != before:
                memory, known = await self._memory(conversation, before, characters), before
                as_it_was = (conversation.messages, conversation.turn)
                conversation = await self._summarised(conversation, memory.summary)
                if (conversation.messages, conversation.turn) != as_it_was:
                    continue
            now = self._clock.time()
            turn = conversation.turn or OpenTurn(
                number=before + 1, run_id=new_id("run", now), message_id=said.message_id, said=digest_of(said)
            )
            turn = msgspec.structs.replace(turn, at=now)
            changed = msgspec.structs.replace(
                conversation,
                turn=turn,
                messages=turn.number,
                characters=characters + len(said.text),
                title=conversation.title or _title(said.text, template),
                summary=memory.summary,
                last_at=max(now, conversation.last_at),
            )
            try:
                return turn, await self._records.put(changed), memory
            except RecordConflict:
                conversation = await self.settled(await self._again(conversation))
        raise RecordConflict("The conversation changes all the time.", hint="Try again.")

    async def _summarised(self, conversation: Conversation, summary: Summary | None) -> Conversation:
        """The conversation with its summary kept: no model is asked for it again, whatever becomes of the turn."""
        for _ in range(_TRIES):
            known = conversation.summary
            if summary is None or (known is not None and known.through >= summary.through):
                return conversation
            try:
                return await self._records.put(msgspec.structs.replace(conversation, summary=summary))
            except RecordConflict:
                conversation = await self.settled(await self._again(conversation))
        return conversation

    async def _taken_back(self, conversation: Conversation, turn: OpenTurn, message: ConversationMessage) -> None:
        """Take back a message that was refused, unless the turn has an answer already."""
        with contextlib.suppress(RecordNotFound):
            if not await self._is_held(conversation, turn):
                return
        await self._records.take_back(conversation, turn.number)
        if message.message_id:
            await self._records.forget_id(conversation, message.message_id)
        for _ in range(_TRIES):
            conversation = await self._again(conversation)
            if conversation.turn is None or conversation.turn.run_id != turn.run_id:
                return
            before = msgspec.structs.replace(
                conversation,
                turn=None,
                messages=turn.number - 1,
                characters=conversation.characters - len(message.text),
            )
            with contextlib.suppress(RecordConflict):
                await self._records.put(before)
                return

    # Following.

    async def follow(self, run_id: str, *, talks: bool, memory: MemoryPart | None = None) -> AsyncGenerator[Part]:
        """The turn from its first moment until it is over. It goes on whether somebody follows it or not."""
        if memory is not None:
            yield memory
        follower = Follower(self._store, self._services.drafts, run_id, talks=talks)
        parts = follower.parts()
        await self._looked_after(run_id)
        try:
            async for part in parts:
                yield part
        finally:
            await parts.aclose()
        yield await self.end_of(run_id)

    async def _looked_after(self, run_id: str) -> None:
        """Go on with a turn that its process has left: a server does so by itself, others when somebody follows."""
        info = await self._store.get_run(run_id)
        is_left = info.status in ("pending", "running") and run_id not in self._runs.live
        if self._services.queue is not None or not is_left or self._runs.is_driven_elsewhere(info):
            return
        with contextlib.suppress(RunConflict):
            await self._resume(run_id)

    async def end_of(self, run_id: str) -> EndPart:
        """The end of a turn whose run has ended."""
        result = await self._runs.info(run_id)
        error = "" if result.success else result.reason if result.error is None else result.error.message
        return EndPart(run_id=run_id, status=result.status, text=text_of(_outputs(result)), error=error)

    async def _name_of(self, info: RunInfo) -> str:
        """The title of the template that a run is of, else the name of its plan."""
        with contextlib.suppress(RecordNotFound):
            if info.plan_id:
                return (await self.templates().get(info.plan_id, tenant=info.tenant)).title
        return info.name or info.run_id

    # Settling.

    async def settled(self, conversation: Conversation) -> Conversation:
        """The conversation with the answer of its turn, and with its other runs, that have ended since."""
        for _ in range(_TRIES + 2 * len(conversation.begun)):
            turn = conversation.turn
            answer = None if turn is None else await self._answer(turn)
            if answer is None:
                try:
                    further = await self.begun_runs.one_told(conversation)
                except RecordConflict:
                    further = await self._again(conversation)
                if further is None:
                    return conversation
                conversation = further
                continue
            await self._records.add(conversation, answer)
            kept = await self._records.message(conversation.conversation_id, answer.number) or answer
            changed = msgspec.structs.replace(
                conversation,
                turn=None,
                messages=answer.number,
                characters=conversation.characters + len(kept.text),
                last_at=max(kept.at, conversation.last_at),
            )
            try:
                return await self._records.put(changed)
            except RecordConflict:
                conversation = await self._again(conversation)
        return conversation

    async def _answer(self, turn: OpenTurn) -> ConversationMessage | None:
        """The answer of a turn; None: it goes on."""
        number, now = turn.number + 1, self._clock.time()
        try:
            info = await self._store.get_run(turn.run_id)
        except RunNotFound:
            if now < turn.at + BEGINNING:
                return None
            why = "The service stopped before it was begun, or its run was deleted."
            return ConversationMessage(
                number=number, role="assistant", text="", at=now, run_id=turn.run_id, status="lost", error=why
            )
        if info.status not in ENDED_RUN:
            return None
        end = await self.end_of(turn.run_id)
        return ConversationMessage(
            number=number,
            role="assistant",
            text=cut(end.text, LONGEST_ANSWER),
            at=info.ended_at or now,
            run_id=turn.run_id,
            status=end.status,  # type: ignore[arg-type]  # of an ended run
            error=end.error[:1_000],
        )

    async def _again(self, conversation: Conversation) -> Conversation:
        found = await self._records.get(conversation.conversation_id)
        if found is None:
            raise RecordNotFound(f"There is no conversation {conversation.conversation_id!r} any more.")
        return found


def _outputs(result: RunResult) -> Json:
    """The outputs of the run; of one that did not end well, what the model had come to."""
    return result.outputs if result.success else None


def _agents_plan(tools: tuple[str, ...], model: str) -> JsonObject:
    """The plan of a turn in which an agent answers. It asks a person before it writes."""
    agent: JsonObject = {
        "requirement": "{{ inputs.message }}",
        "instructions": "{{ inputs.instructions }}",
        "require_tool_call": False,
        "approve_writes": True,
    }
    if tools:
        agent["tools"] = list(tools)
    if model:
        agent["model"] = model
    return {
        "name": "conversation",
        "inputs": {
            "type": "object",
            "properties": {"message": {"type": "string"}, "instructions": {"type": "string", "default": ""}},
            "required": ["message"],
        },
        "steps": [{"id": REPLY, "agent": agent}],
        "outputs": f"{{{{ {REPLY} }}}}",
    }


def _title(text: str, template: PlanTemplate | None) -> str:
    line = " ".join(text.split())
    short = line if len(line) <= _TITLE else f"{line[: _TITLE - 1].rstrip()}…"
    return short or ("" if template is None else template.title)


def _check_room(conversation: Conversation, said: MessageDraft) -> None:
    if conversation.messages + 2 > MOST_MESSAGES or conversation.characters + len(said.text) > MOST_CHARACTERS:
        raise SchemaError(
            f"The conversation is full: it has {conversation.messages:,} messages of {conversation.characters:,} "
            f"characters, and may have {MOST_MESSAGES:,} of {MOST_CHARACTERS:,}.",
            hint="Begin a new one.",
        )


def _given_up(conversation: Conversation) -> RunConflict:
    return RunConflict(
        f"The turn of the conversation {conversation.conversation_id} took too long to begin, and was given up.",
        hint="Say it again.",
    )


def _busy(conversation: Conversation, turn: OpenTurn) -> RunConflict:
    return RunConflict(
        f"A turn of the conversation {conversation.conversation_id} goes on: {turn.run_id}.",
        hint="Follow it, answer what it asks, or cancel its run; then say the next thing.",
    )
