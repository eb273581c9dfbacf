"""`/api/executor/chat` and `/api/memories/*`: conversations as that service's clients know them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import msgspec
from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response, StreamingResponse

from toolpath.access.caller import Caller
from toolpath.app import Toolpath
from toolpath.errors import ReadError, RecordNotFound, ToolpathError
from toolpath.machine import new_id
from toolpath.model.conversation import Conversation, EndPart, QuestionPart, TextPart
from toolpath.projections.plan_records import plan_record
from toolpath.runs.beside_the_loop import weight_of
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.plan_service.answers import ServiceRoute, body_of
from toolpath.server.rest.conversations import owner_of, visible_conversation
from toolpath.server.rest.described import answer
from toolpath.server.shown import shown_results
from toolpath.server.turns import HEADERS, paced
from toolpath.values import JsonObject, encode
from toolpath.workspace.conversations.message import MessageDraft
from toolpath.workspace.conversations.turns import BegunTurn

router = APIRouter(prefix="/api", route_class=ServiceRoute, include_in_schema=False)

_CAN_READ = [Depends(Needs("read"))]
_CAN_RUN = [Depends(Needs("run"))]
#: Conversations and messages that are listed, and runs that are told whole.
_MOST, _MOST_MESSAGES, _MOST_RUNS = 500, 200, 50


class _Chat(msgspec.Struct, frozen=True, rename="camel"):
    input: str = ""
    conversation_id: str = ""


class _Memory(msgspec.Struct, frozen=True, rename="camel"):
    conversation_id: str = ""
    memory_name: str = ""


# Talking.


@router.post("/executor/chat", dependencies=_CAN_RUN)
async def chat(request: Request, tp: Door, caller: Asker) -> Response:
    """Answer without tools, as text that comes while it is written: `start`, `chunk`, `done` or `error`."""
    body: _Chat = await body_of(request, _Chat)
    if not body.input.strip():
        raise ReadError("Input message cannot be empty")
    conversation = await _found_or_begun(tp, caller, body.conversation_id)
    said = MessageDraft(text=body.input, tools=("none",))
    turn = await tp.conversations.begin(conversation, said, context=caller.context(), priority=caller.priority)
    return StreamingResponse(_frames(request, tp, turn), media_type="text/event-stream", headers=HEADERS)


async def _found_or_begun(tp: Toolpath, caller: Caller, conversation_id: str) -> Conversation:
    """The conversation of that id; one that nobody has yet is begun under it."""
    if conversation_id:
        try:
            return await visible_conversation(tp, caller, conversation_id)
        except RecordNotFound:
            pass
    return await tp.conversations.create(conversation_id=conversation_id, tenant=caller.tenant, user=caller.user)


async def _frames(request: Request, tp: Toolpath, turn: BegunTurn) -> AsyncIterator[bytes]:
    conversation_id = turn.conversation.conversation_id
    yield _frame({"type": "start", "conversationId": conversation_id})
    parts = tp.conversations.turns.follow(turn.run_id, talks=True)
    async with aclosing(paced(parts, request)) as pace:
        async for part in pace:
            match part:
                case None:
                    yield b": here\n\n"
                case TextPart(text=text):
                    yield _frame({"type": "chunk", "content": text})
                case QuestionPart(run_id=run_id):
                    yield _frame({"type": "error", "message": f"The run {run_id} waits for a person."})
                    return
                case EndPart(status=status, error=why):
                    await tp.conversations.get(conversation_id)
                    ended = status.startswith("completed")
                    failed: JsonObject = {"type": "error", "message": tp.redact(why) or f"It is {status}."}
                    yield _frame({"type": "done"} if ended else failed)
                case ToolpathError():
                    yield _frame({"type": "error", "message": tp.redact(str(part))})


def _frame(data: JsonObject) -> bytes:
    return b"data: %b\n\n" % encode(data)


# Keeping.


@router.get("/memories", dependencies=_CAN_READ)
async def listed(tp: Door, caller: Asker) -> Response:
    """The caller's conversations, newest first, without their messages."""
    found = await tp.conversations.newest(tenant=caller.of_tenant, user=owner_of(caller), limit=_MOST)
    return answer({"success": True, "message": "", "memories": [await _shown(tp, each) for each in found]})


@router.get("/memories/single", dependencies=_CAN_READ)
async def single(tp: Door, caller: Asker, conversation_id: str = Query(alias="conversationId")) -> Response:
    """One conversation with its messages."""
    return await _answered(tp, caller, conversation_id)


@router.get("/memories/generate-id", dependencies=_CAN_READ)
async def generate_id(tp: Door) -> Response:
    """An id that no conversation has."""
    return answer({"success": True, "conversationId": new_id("conv", tp.clock.time())})


@router.post("/memories", dependencies=_CAN_RUN)
async def create(request: Request, tp: Door, caller: Asker) -> Response:
    """Begin a conversation; one that the caller has under the id already is given."""
    body: _Memory = await body_of(request, _Memory)
    known = await _found_or_begun(tp, caller, body.conversation_id)
    if body.memory_name and known.title != body.memory_name:
        known = await tp.conversations.rename(known, body.memory_name, user=caller.user)
    return await _answered(tp, caller, known.conversation_id)


@router.put("/memories", dependencies=_CAN_RUN)
async def rename(request: Request, tp: Door, caller: Asker) -> Response:
    """Give a conversation another name."""
    body: _Memory = await body_of(request, _Memory)
    try:
        known = await visible_conversation(tp, caller, body.conversation_id)
    except RecordNotFound as error:
        return _refused(error)
    await tp.conversations.rename(known, body.memory_name, user=caller.user)
    return await _answered(tp, caller, known.conversation_id)


@router.delete("/memories/{conversation_id}", dependencies=_CAN_RUN)
async def delete(conversation_id: str, tp: Door, caller: Asker) -> Response:
    """Forget a conversation; its runs stay."""
    try:
        known = await visible_conversation(tp, caller, conversation_id)
    except RecordNotFound as error:
        return _refused(error)
    await tp.conversations.delete(known, user=caller.user)
    return answer({"success": True, "message": "Memory deleted successfully"})


@router.get("/memories/{conversation_id}/history", dependencies=_CAN_READ)
async def history(conversation_id: str, tp: Door, caller: Asker) -> Response:
    """The records of its latest runs, oldest first, its chats among them."""
    known = await visible_conversation(tp, caller, conversation_id)
    found = await tp.conversations.runs(known, limit=_MOST_RUNS)
    return answer([await _record(tp, info.run_id) for info in reversed(found)])


async def _record(tp: Toolpath, run_id: str) -> Any:
    result, events = await tp.info(run_id), await tp.events(run_id)

    def work() -> Any:
        results, _ = shown_results(result.results)
        return plan_record(result, events, results, "")

    return await tp.aside.do(work, weight_of([events]))


async def _answered(tp: Toolpath, caller: Caller, conversation_id: str) -> Response:
    try:
        known = await visible_conversation(tp, caller, conversation_id)
    except RecordNotFound as error:
        return _refused(error)
    messages = await tp.conversations.history(known, limit=_MOST_MESSAGES)
    shown: list[JsonObject] = [
        {"messageType": message.role.upper(), "text": message.text, "createTime": round(message.at * 1000)}
        for message in messages
    ]
    return answer({"success": True, "message": "", "data": {**await _shown(tp, known), "messages": shown}})


def _refused(error: RecordNotFound) -> Response:
    # Clients of that service look at `success`, not at the status.
    return answer({"success": False, "message": str(error)})


async def _shown(tp: Toolpath, conversation: Conversation) -> JsonObject:
    runs = await tp.conversations.runs(conversation, limit=_MOST_RUNS)
    return {
        "conversationId": conversation.conversation_id,
        "memoryName": conversation.title,
        "createTime": round(conversation.created_at * 1000),
        "rootPlanIds": [info.run_id for info in reversed(runs)],
    }
