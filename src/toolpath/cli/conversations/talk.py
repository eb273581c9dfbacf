"""`toolpath chat` at work: what is said once, or a talk at the terminal; the answer on stdout while it is written."""

from __future__ import annotations

import asyncio
import sys

import msgspec

from toolpath.cli.exits import ExitCode, UsageError
from toolpath.cli.inputs import read_inputs
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import clean, short
from toolpath.cli.prompt import GaveUp, Prompt
from toolpath.cli.questions import answer_all, how_to_answer, may_ask, person
from toolpath.cli.session import CommandSession, perform
from toolpath.errors import ToolpathError
from toolpath.model.conversation import (
    CallPart,
    Conversation,
    EndPart,
    MemoryPart,
    QuestionPart,
    RestartPart,
    ResultPart,
    TextPart,
)
from toolpath.model.run import RunContext
from toolpath.values import JsonObject
from toolpath.workspace.conversations.message import LONGEST, MessageDraft


class Talk(msgspec.Struct, frozen=True, kw_only=True):
    """Words that were typed after `chat`."""

    text: str
    conversation: str
    template: str
    inputs: tuple[str, ...]
    input_file: str
    tools: tuple[str, ...]
    model: str
    permissions: tuple[str, ...]
    no_input: bool


def talk(options: GlobalOptions, wanted: Talk) -> int:
    """Say one thing, or talk until the person ends it."""
    text = sys.stdin.read(LONGEST + 1) if wanted.text == "-" else wanted.text

    async def work(session: CommandSession) -> int:
        conversation = await _conversation(session, wanted)
        speaker = _Speaker(session, wanted, conversation)
        if text or wanted.template:
            return await speaker.say(text)
        if not may_ask(session.output, wanted.no_input):
            raise UsageError("Nothing is said.", hint="Write what is to be said, or '-' and give it on stdin.")
        if conversation.turn is not None:
            await speaker.follow()
        return await _talked(session, speaker)

    return perform(options, work, begins=True)


async def _conversation(session: CommandSession, wanted: Talk) -> Conversation:
    conversations = session.tp.conversations
    if wanted.conversation == "last":
        found = await conversations.newest(limit=1)
        if not found:
            raise UsageError("There is no conversation yet.", hint="Leave out --conversation.")
        return found[0]
    if wanted.conversation:
        return await conversations.get(wanted.conversation)
    return await conversations.create(user=person())


async def _talked(session: CommandSession, speaker: _Speaker) -> int:
    """A line after the other, until the input ends."""
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    prompt = Prompt(never)
    session.output.say("Ctrl-D ends it.", "dim")
    try:
        while True:
            line = (await prompt.line("> ")).strip()
            if not line:
                continue
            try:
                await speaker.say(line)
            except ToolpathError as error:
                # What was wrong with one message does not end the talk.
                session.output.tell(str(error), "red")
    except GaveUp:
        session.output.say(f"Go on with: toolpath chat -c {speaker.conversation.conversation_id}", "dim")
        return ExitCode.DONE
    finally:
        never.cancel()


class _Speaker:
    """Speaker at the command line, in one conversation."""

    def __init__(self, session: CommandSession, wanted: Talk, conversation: Conversation) -> None:
        self.conversation = conversation
        self._session = session
        self._wanted = wanted

    async def say(self, text: str) -> int:
        """Say it and show the answer; the exit code of the turn."""
        tp, wanted = self._session.tp, self._wanted
        said = MessageDraft(
            text=text,
            template=wanted.template,
            inputs=await self._inputs(),
            tools=wanted.tools,
            model=wanted.model,
        )
        context = RunContext(person(), permissions=wanted.permissions)
        conversation_id = self.conversation.conversation_id
        known = await tp.conversations.get(conversation_id)
        turn = await tp.conversations.begin(known, said, context=context)
        return await self._shown(turn.run_id, turn.memory)

    async def follow(self) -> int:
        """Show the turn that goes on."""
        assert self.conversation.turn is not None
        return await self._shown(self.conversation.turn.run_id, None)

    async def _inputs(self) -> JsonObject | None:
        wanted = self._wanted
        if not wanted.template or not (wanted.inputs or wanted.input_file):
            return None
        tp = self._session.tp
        schema = (await tp.templates.parameters(await tp.templates.get(wanted.template))).schema
        return read_inputs(wanted.inputs, wanted.input_file, schema)

    async def _shown(self, run_id: str, memory: MemoryPart | None) -> int:
        tp, output, options = self._session.tp, self._session.output, self._session.output.options
        told, code = False, ExitCode.DONE
        async for part in tp.conversations.turns.follow(run_id, talks=not self._wanted.template, memory=memory):
            if options.json:
                output.line(msgspec.to_builtins(part))
            match part:
                case TextPart(text=text) if not options.json:
                    told = True
                    output.results.write(clean(text) if output.paper.is_terminal else text)
                    output.results.flush()
                case RestartPart():
                    output.say("\nThe answer broke off; it follows anew.", "yellow")
                case CallPart(tool=tool, inputs=inputs):
                    output.say(f"{tool} {short(inputs, 120)}", "dim")
                case ResultPart(status=status, error=error) if status != "succeeded":
                    output.say(f"  {status}: {short(error)}", "yellow")
                case MemoryPart(left_out=count):
                    output.say(f"{count} older messages are told in short.", "dim")
                case QuestionPart():
                    if not await self._answered(run_id):
                        return ExitCode.WAITING
                case EndPart():
                    code = self._ended(part, told=told)
        await tp.conversations.get(self.conversation.conversation_id)
        return code

    async def _answered(self, run_id: str) -> bool:
        """Whether the turn goes on: the person has answered, or somebody else."""
        tp, output = self._session.tp, self._session.output
        result = await tp.info(run_id)
        if not result.questions and not any(step.status == "unknown" for step in result.results):
            return True
        if may_ask(output, self._wanted.no_input) and await answer_all(tp, result, output):
            return True
        how_to_answer(result, output)
        output.tell(f"Then: toolpath conversations show {self.conversation.conversation_id}")
        return False

    def _ended(self, end: EndPart, *, told: bool) -> ExitCode:
        output = self._session.output
        ended_well = end.status.startswith("completed")
        if not output.options.json:
            if told:
                output.results.write("\n")
            elif end.text:
                output.result(end.text)
            output.results.flush()
        if ended_well:
            return ExitCode.DONE
        output.tell(f"The turn is {end.status}: {short(end.error, 400)}", "red")
        return ExitCode.CANCELLED if end.status == "cancelled" else ExitCode.FAILED
