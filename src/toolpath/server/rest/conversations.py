"""`/conversations`: messages that are kept, and turns that answer them, told while they go on."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response, StreamingResponse

from toolpath.access.caller import Caller
from toolpath.app import Toolpath
from toolpath.errors import RecordNotFound, ToolpathError
from toolpath.model.conversation import Conversation, Part
from toolpath.model.run import RunContext
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.problems import details_of
from toolpath.server.rest.bodies import ConversationTitle, JsonBody, NewConversation, NewMessage, TemplateWords
from toolpath.server.rest.described import answer, problems, shows, takes
from toolpath.server.rest.paging import ROWS, Before, Limit, one_page
from toolpath.server.rest.views import (
    ConversationPage,
    ConversationRow,
    FoundPage,
    MessagePage,
    RunPage,
    TemplateRow,
    TurnRow,
    conversation_row,
    run_row,
    template_row,
)
from toolpath.server.turns import HEADERS, paced
from toolpath.workspace.conversations.message import MessageDraft
from toolpath.workspace.templates import TemplateDraft

router = APIRouter(prefix="/conversations", tags=["conversations"])

ConversationId = Annotated[str, Path(max_length=200, description="The conversation's id.")]
_Number = Annotated[int | None, Query(ge=1, le=2**31, description="Only messages with a smaller number.")]
_Words = Annotated[str, Query(min_length=1, max_length=200, pattern=r"^[^\x00]*$", description="What is looked for.")]
_CAN_READ = [Depends(Needs("read"))]
_CAN_RUN = [Depends(Needs("run"))]
_DETAIL = shows(ConversationRow, "The conversation as it stands.")
_STREAM = {
    "description": (
        "A stream of the turn: first an event `turn`, then `memory`, `text`, `restart`, `call`, `result` and "
        "`question` as they come, and last `end`. Comments are heartbeats. With `follow=false` the turn alone, as JSON."
    ),
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}


def owner_of(caller: Caller) -> str | None:
    """Whose conversations the caller may see: their own and those of nobody; None: all of their tenant."""
    return None if caller.sees_all or caller.may("admin") else caller.user


async def visible_conversation(tp: Toolpath, caller: Caller, conversation_id: str) -> Conversation:
    """The conversation. Raises `RecordNotFound`, in the same words where it is not theirs."""
    return await tp.conversations.get(conversation_id, tenant=caller.of_tenant, user=owner_of(caller))


async def context_in(tp: Toolpath, caller: Caller, conversation_id: str) -> RunContext:
    """The caller's context for a run that names a conversation. Raises `RecordNotFound` where it is another user's.

    An id that no conversation of their tenant has is taken as it is: it may be known elsewhere.
    """
    if conversation_id and not await tp.conversations.may_be_named(
        conversation_id, tenant=caller.tenant, user=owner_of(caller)
    ):
        raise RecordNotFound(f"There is no conversation {conversation_id[:100]!r}.")
    return caller.context(conversation_id=conversation_id)


@router.post(
    "",
    status_code=201,
    responses={**shows(ConversationRow, "The conversation is begun.", status=201), **problems(409, 415)},
    openapi_extra=takes(NewConversation),
    dependencies=_CAN_RUN,
)
async def create(
    tp: Door, caller: Asker, body: Annotated[NewConversation, Depends(JsonBody(NewConversation))]
) -> Response:
    """Begin a conversation. It is the caller's."""
    made = await tp.conversations.create(
        body.title, conversation_id=body.conversation_id, tenant=caller.tenant, user=caller.user
    )
    place = {"Location": f"/api/v1/conversations/{made.conversation_id}"}
    return answer(conversation_row(made), 201, place)


@router.get(
    "",
    responses={**shows(ConversationPage, "Conversations, newest first."), **problems(404)},
    dependencies=_CAN_READ,
)
async def listed(tp: Door, caller: Asker, limit: Limit = ROWS, before: Before = None) -> Response:
    """The caller's conversations, newest first, a page at a time."""
    if before is not None:
        await visible_conversation(tp, caller, before)
    found = await tp.conversations.newest(
        tenant=caller.of_tenant, user=owner_of(caller), limit=limit + 1, before=before
    )
    page, mark = one_page(found, limit, lambda each: each.conversation_id)
    return answer(ConversationPage(conversations=tuple(conversation_row(each) for each in page), next=mark))


@router.get("/search", responses=shows(FoundPage, "Where the text was found."), dependencies=_CAN_READ)
async def search(tp: Door, caller: Asker, q: _Words, limit: Limit = ROWS) -> Response:
    """Where a text stands in titles and messages of the caller's newest conversations, capitals or not."""
    found = await tp.conversations.search(q, tenant=caller.of_tenant, user=owner_of(caller), limit=limit)
    return answer(FoundPage(found=tuple(found)))


@router.get("/{conversation_id}", responses={**_DETAIL, **problems(404)}, dependencies=_CAN_READ)
async def show(conversation_id: ConversationId, tp: Door, caller: Asker) -> Response:
    """One conversation."""
    return answer(conversation_row(await visible_conversation(tp, caller, conversation_id)))


@router.put(
    "/{conversation_id}",
    responses={**_DETAIL, **problems(404, 409, 415)},
    openapi_extra=takes(ConversationTitle),
    dependencies=_CAN_RUN,
)
async def rename(
    conversation_id: ConversationId,
    tp: Door,
    caller: Asker,
    body: Annotated[ConversationTitle, Depends(JsonBody(ConversationTitle))],
) -> Response:
    """Give it another title."""
    known = await visible_conversation(tp, caller, conversation_id)
    return answer(conversation_row(await tp.conversations.rename(known, body.title, user=caller.user)))


@router.delete(
    "/{conversation_id}",
    status_code=204,
    responses={204: {"description": "It is gone; its runs stay."}, **problems(404)},
    dependencies=_CAN_RUN,
)
async def delete(conversation_id: ConversationId, tp: Door, caller: Asker) -> Response:
    """Forget the conversation with its messages. A turn that goes on is cancelled."""
    await tp.conversations.delete(await visible_conversation(tp, caller, conversation_id), user=caller.user)
    return Response(status_code=204)


@router.get(
    "/{conversation_id}/messages",
    responses={**shows(MessagePage, "Messages, oldest first."), **problems(404)},
    dependencies=_CAN_READ,
)
async def messages(
    conversation_id: ConversationId, tp: Door, caller: Asker, limit: Limit = ROWS, before: _Number = None
) -> Response:
    """The newest messages, or those before a number."""
    known = await visible_conversation(tp, caller, conversation_id)
    found = await tp.conversations.history(known, limit=limit, before=before)
    more = found[0].number if found and found[0].number > 1 else None
    return answer(MessagePage(messages=tuple(found), next=more))


@router.get(
    "/{conversation_id}/runs",
    responses={**shows(RunPage, "Its runs, newest first."), **problems(404)},
    dependencies=_CAN_READ,
)
async def runs(
    conversation_id: ConversationId, tp: Door, caller: Asker, limit: Limit = ROWS, before: Before = None
) -> Response:
    """The runs that belong to it: its turns, and whatever was begun with its id."""
    known = await visible_conversation(tp, caller, conversation_id)
    found = await tp.conversations.runs(known, limit=limit + 1, before=before)
    page, mark = one_page(found, limit, lambda info: info.run_id)
    return answer(RunPage(runs=tuple(run_row(info) for info in page), next=mark))


@router.post(
    "/{conversation_id}/template",
    status_code=201,
    responses={**shows(TemplateRow, "The template is kept.", status=201), **problems(404, 409, 415)},
    openapi_extra=takes(TemplateWords),
    dependencies=_CAN_RUN,
)
async def save_as_template(
    conversation_id: ConversationId,
    tp: Door,
    caller: Asker,
    body: Annotated[TemplateWords, Depends(JsonBody(TemplateWords))],
) -> Response:
    """Keep what its runs called, in order, as a plan template."""
    known = await visible_conversation(tp, caller, conversation_id)
    draft = TemplateDraft(**{name: getattr(body, name) for name in TemplateDraft.__struct_fields__})
    made = await tp.conversations.save_as_template(known, draft, user=caller.user)
    return answer(template_row(made), 201, {"Location": f"/api/v1/templates/{made.template_id}"})


@router.post(
    "/{conversation_id}/messages",
    responses={
        200: _STREAM,
        **shows(TurnRow, "The turn was begun.", status=202),
        **problems(404, 409, 415),
    },
    openapi_extra=takes(NewMessage),
    dependencies=_CAN_RUN,
)
async def say(
    request: Request,
    conversation_id: ConversationId,
    tp: Door,
    caller: Asker,
    body: Annotated[NewMessage, Depends(JsonBody(NewMessage))],
    follow: Annotated[bool, Query(description="Stay and be told the answer; false: begin the turn alone.")] = True,
) -> Response:
    """Say something. The turn that answers is a run: it goes on where nobody follows it."""
    known = await visible_conversation(tp, caller, conversation_id)
    said = MessageDraft(
        text=body.text,
        message_id=body.message_id,
        template=body.template,
        inputs=body.inputs,
        tools=tuple(body.tools),
        model=body.model,
        uploads=body.uploads,
    )
    turn = await tp.conversations.begin(known, said, context=caller.context(), priority=caller.priority)
    row = TurnRow(conversation_id=conversation_id, run_id=turn.run_id, number=turn.number, is_new=turn.is_new)
    if not follow:
        return answer(row, 202, {"Location": f"/api/v1/runs/{turn.run_id}"})
    parts = tp.conversations.turns.follow(turn.run_id, talks=not body.template, memory=turn.memory)
    return _streamed(row, parts, request, tp)


@router.get(
    "/{conversation_id}/turn",
    responses={200: _STREAM, 204: {"description": "No turn goes on."}, **problems(404)},
    dependencies=_CAN_READ,
)
async def follow(request: Request, conversation_id: ConversationId, tp: Door, caller: Asker) -> Response:
    """The turn that goes on, told from its first moment."""
    known = await visible_conversation(tp, caller, conversation_id)
    if known.turn is None:
        return Response(status_code=204)
    row = TurnRow(conversation_id=conversation_id, run_id=known.turn.run_id, number=known.turn.number, is_new=False)
    return _streamed(row, tp.conversations.follow(known), request, tp)


@router.delete(
    "/{conversation_id}/turn",
    status_code=202,
    responses={**shows(ConversationRow, "The turn is told to stop.", status=202), **problems(404, 409)},
    dependencies=_CAN_RUN,
)
async def cancel(conversation_id: ConversationId, tp: Door, caller: Asker) -> Response:
    """Stop the turn that goes on."""
    known = await visible_conversation(tp, caller, conversation_id)
    await tp.conversations.cancel(known)
    return answer(conversation_row(known), 202)


def _streamed(row: TurnRow, parts: AsyncIterator[Part], request: Request, tp: Toolpath) -> StreamingResponse:
    return StreamingResponse(_frames(row, parts, request, tp), media_type="text/event-stream", headers=HEADERS)


async def _frames(row: TurnRow, parts: AsyncIterator[Part], request: Request, tp: Toolpath) -> AsyncIterator[bytes]:
    yield b"event: turn\ndata: %b\n\n" % msgspec.json.encode(row)
    async for part in paced(parts, request):
        match part:
            case None:
                yield b": here\n\n"
            case ToolpathError():
                yield b"event: error\ndata: %b\n\n" % tp.redact(msgspec.json.encode(details_of(part)).decode()).encode()
            case _:
                data = msgspec.json.encode(part)
                kind = str(part.__struct_config__.tag).encode()
                yield b"event: %b\ndata: %b\n\n" % (kind, data)
    with contextlib.suppress(ToolpathError):
        # What was answered is kept now, and not when somebody looks next.
        await tp.conversations.get(row.conversation_id)
