"""`/v1/chat/completions`: our agent, a template, or the model itself, for any client of OpenAI's API.

With the model `toolpath`, or a template's name, the tools of this server are used on the server, in a run; with the
client's own `tools` the model itself is asked, and its calls are the client's to make.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import aclosing

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response, StreamingResponse

from toolpath.access.caller import Caller
from toolpath.app import Toolpath
from toolpath.errors import ConfigError, RecordNotFound, RunConflict, ToolFailed, ToolpathError
from toolpath.machine import new_id
from toolpath.model.chat import ChatReply, ChatRequest, FinishReason
from toolpath.model.conversation import EndPart, QuestionPart, RestartPart, TextPart
from toolpath.ports import Chat
from toolpath.server.openai import answers
from toolpath.server.openai.answers import Head
from toolpath.server.openai.models import OWN, PLAIN, is_plain, unknown_model
from toolpath.server.openai.requests import (
    Completion,
    Dialogue,
    completion_of,
    dialogue_of,
    plain_request,
    told_before,
)
from toolpath.server.openai_problems import BadRequest, OpenAIRoute, told
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.rest.described import answer
from toolpath.server.turns import HEADERS, paced
from toolpath.workspace.conversations.message import MessageDraft

router = APIRouter(prefix="/v1", route_class=OpenAIRoute, include_in_schema=False)

_REASONS: dict[FinishReason, str] = {"stop": "stop", "length": "length", "tool_calls": "tool_calls", "unknown": "stop"}


@router.post("/chat/completions", dependencies=[Depends(Needs("run"))])
async def complete(request: Request, tp: Door, caller: Asker) -> Response:
    """Answer what was said."""
    body = completion_of(await request.body())
    dialogue = dialogue_of(body)
    now = tp.clock.time()
    head = Head(new_id("chatcmpl", now), body.model, int(now))
    is_plain_model = await is_plain(tp, caller, body.model)
    if body.tools and not is_plain_model and body.model != OWN:
        raise BadRequest(
            f"The template {body.model[:100]!r} brings its own tools.", param="tools", code="unsupported_value"
        )
    if is_plain_model or body.tools:
        return await _plain(request, tp, caller, body, dialogue, head)
    run_id = await _begun(tp, caller, body, dialogue)
    if body.stream:
        return _stream(_told(request, tp, body, head, run_id))
    return await _waited(tp, body, head, run_id)


# The model itself.


async def _plain(
    request: Request, tp: Toolpath, caller: Caller, body: Completion, dialogue: Dialogue, head: Head
) -> Response:
    chat = await tp.conversations.turns.model(caller.tenant)
    if chat is None:
        raise ConfigError("No model is configured.", hint="Set TOOL_PLANNER_LLM and the provider's key.")
    asked = plain_request(body, dialogue, model="" if body.model in (OWN, PLAIN) else body.model)
    await tp.trail.record("model.ask", body.model, tenant=caller.tenant, user=caller.user)
    if body.stream:
        return _stream(_written(tp, chat, asked, body, head))
    reply = await chat(asked)
    return answer(
        answers.whole(head, tp.redact(reply.text), calls=reply.tool_calls, reason=_reason(reply), usage=reply.usage)
    )


async def _written(tp: Toolpath, chat: Chat, asked: ChatRequest, body: Completion, head: Head) -> AsyncIterator[bytes]:
    """The answer of the model itself while it is written. A client that goes away ends it."""
    yield answers.first(head)
    reply = ChatReply()
    try:
        async with aclosing(chat.stream(asked)) as pieces:
            async for piece in pieces:
                if piece.text:
                    yield answers.piece(head, piece.text)
                reply = piece.reply or reply
    except ToolpathError as error:
        yield answers.broken(told(error, tp.redact))
        return
    if reply.tool_calls:
        yield answers.called(head, reply.tool_calls)
    yield answers.last(head, _reason(reply))
    if body.stream_options is not None and body.stream_options.include_usage:
        yield answers.counted(head, reply.usage)
    yield answers.DONE


def _reason(reply: ChatReply) -> str:
    return "tool_calls" if reply.tool_calls else _REASONS[reply.finish_reason]


# Our own agent and templates.


async def _begun(tp: Toolpath, caller: Caller, body: Completion, dialogue: Dialogue) -> str:
    """The run that answers. It is stored before this returns."""
    messages = dialogue.messages
    last = messages[-1] if messages and messages[-1].role == "user" else None
    text = last.text if last is not None else "Go on."
    if not text.strip():
        raise BadRequest("The last message is empty.", param="messages")
    before = told_before(messages[:-1] if last is not None else messages)
    is_own = body.model == OWN
    said = MessageDraft(
        text=text,
        template="" if is_own else body.model,
        instructions=dialogue.instructions if is_own else "",
    )
    try:
        what, inputs, _ = await tp.conversations.turns.what_answers(said, caller.tenant)
    except RecordNotFound:
        raise unknown_model(body.model) from None
    context = caller.context(conversation=before)
    run = await tp.start(what, inputs, context=context, priority=caller.priority)
    return run.run_id


async def _waited(tp: Toolpath, body: Completion, head: Head, run_id: str) -> Response:
    """The whole answer. Where a person is needed first, it says so: the run waits for them, and goes on then."""
    text, waits, end = "", False, None
    async with aclosing(tp.conversations.turns.follow(run_id, talks=body.model == OWN)) as parts:
        async for part in parts:
            match part:
                case TextPart(text=more):
                    text += more
                case RestartPart(characters=count):
                    text = text[:-count]
                case QuestionPart():
                    waits = True
                    break
                case EndPart():
                    end = part
    result = await tp.info(run_id)
    if end is not None and not result.success:
        raise ToolFailed(f"The run {run_id} is {end.status}: {end.error}")
    text = f"{text}\n\n{answers.waiting_text(result)}".strip() if waits or end is None else end.text
    usage = answers.usage_of(await tp.events(run_id))
    return answer(answers.whole(head, tp.redact(text), reason="stop", usage=usage, more=answers.about(result)))


async def _told(request: Request, tp: Toolpath, body: Completion, head: Head, run_id: str) -> AsyncIterator[bytes]:
    """The answer while it comes. A client that goes away cancels the run, unless that waits for a person."""
    ending: ToolpathError | QuestionPart | EndPart | None = None
    said, goes_on = False, True
    parts = tp.conversations.turns.follow(run_id, talks=body.model == OWN)
    try:
        yield answers.first(head)
        async with aclosing(paced(parts, request)) as pace:
            async for part in pace:
                match part:
                    case None:
                        yield b": here\n\n"
                    case TextPart(text=text):
                        said = True
                        yield answers.piece(head, text)
                    case RestartPart():
                        yield answers.piece(head, "\n\n[The answer broke off; it follows anew.]\n\n")
                    case ToolpathError() | QuestionPart() | EndPart():
                        ending = part
                        break
        goes_on = False
        # Where nothing has ended it the server stops: the run goes on.
        if ending is not None:
            async for piece in _ending(tp, body, head, run_id, ending, said=said):
                yield piece
    finally:
        if goes_on and ending is None:
            _cancelled(request, tp, run_id)


async def _ending(  # what an answer is made of
    tp: Toolpath,
    body: Completion,
    head: Head,
    run_id: str,
    ending: ToolpathError | QuestionPart | EndPart,
    *,
    said: bool,
) -> AsyncIterator[bytes]:
    """The last pieces of an answer."""
    result = await tp.info(run_id)
    match ending:
        case QuestionPart():
            yield answers.piece(head, ("\n\n" if said else "") + answers.waiting_text(result))
        case EndPart(status=status, error=why) if not status.startswith("completed"):
            yield answers.broken(told(ToolFailed(f"The run {run_id} is {status}: {why}"), tp.redact))
            return
        case EndPart(text=text):
            if text and not said:
                yield answers.piece(head, text)
        case error:
            yield answers.broken(told(error, tp.redact))
            return
    yield answers.last(head, "stop", answers.about(result))
    if body.stream_options is not None and body.stream_options.include_usage:
        yield answers.counted(head, answers.usage_of(await tp.events(run_id)))
    yield answers.DONE


def _cancelled(request: Request, tp: Toolpath, run_id: str) -> None:
    """Have the run cancelled: nobody waits for it any more. What is torn down here cannot wait for that itself."""

    async def cancel() -> None:
        with contextlib.suppress(RunConflict):
            await tp.cancel(run_id, reason="the client went away")

    leaving: set[asyncio.Task[None]] = request.app.state.leaving
    task = asyncio.create_task(cancel())
    leaving.add(task)
    task.add_done_callback(leaving.discard)


def _stream(frames: AsyncIterator[bytes]) -> StreamingResponse:
    return StreamingResponse(frames, media_type="text/event-stream", headers=HEADERS)
