"""`/runs/{id}/events`: the journal as Server-Sent Events, or a page of it as JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Header, Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from toolpath.model.event_views import line_of
from toolpath.model.events import AnyEvent
from toolpath.model.run import ENDED_RUN, RunInfo
from toolpath.model.sub_plan import split_plan_id
from toolpath.projections.sub_plans import events_inside, is_inside
from toolpath.server.entry.guard import PIECE
from toolpath.server.feeds import PAGE_BYTES, EventFrame, Feeds
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.rest.described import answer, problems, shows
from toolpath.server.rest.runs import PlanPlace
from toolpath.server.rest.views import EventPage
from toolpath.server.visibility import visible_run
from toolpath.values import made_ready

router = APIRouter(prefix="/runs", tags=["runs"])

#: Milliseconds after which a reader that lost its connection should come back.
RETRY = 1_000
_MOST = 2**53

_Seq = Annotated[int, Query(ge=0, le=_MOST, description="Only events with a greater `seq`.")]
_LastEventId = Annotated[int | None, Header(ge=0, le=_MOST, description="`id` of the last event that came.")]

_EVENTS = {
    "description": (
        "With `follow`, a stream: `id` is the event's `seq`, `data` the event; comments are heartbeats; an event "
        "`end` says why no more will come. Without, one page."
    ),
    "content": {
        "text/event-stream": {"schema": {"type": "string"}},
        **shows(EventPage, "")[200]["content"],
    },
}


@router.get(
    "/{run_id}/events",
    responses={
        200: _EVENTS,
        204: {"description": "The run has ended, and the reader has all its events: it need not come back."},
        **problems(404),
    },
    dependencies=[Depends(Needs("read"))],
)
async def events(
    request: Request,
    run_id: PlanPlace,
    tp: Door,
    caller: Asker,
    follow: Annotated[bool, Query(description="Stay and send what comes; false: a page of what is there.")] = True,
    after: _Seq = 0,
    limit: Annotated[
        int, Query(ge=1, le=1_000, description="At most so many in a page; fewer where they are large.")
    ] = 500,
    texts: Annotated[bool, Query(description="Give each event a `text` besides: what it says to people.")] = False,
    last_event_id: _LastEventId = None,
) -> Response:
    """The events of a run from its first on, or beyond `after` or `Last-Event-ID`."""
    info = await visible_run(tp, caller, run_id)
    start = after if last_event_id is None else last_event_id
    path = split_plan_id(run_id)[1]
    if path:
        await tp.info(run_id)
    if not follow:
        found = await tp.store.read_events(info.run_id, after=start, limit=limit, most_bytes=PAGE_BYTES)
        return answer(page_of(info, found, start, path, texts=texts))
    if last_event_id is not None and info.status in ENDED_RUN and start >= info.last_seq:
        return Response(status_code=204)
    feeds: Feeds = request.app.state.feeds
    return StreamingResponse(
        stream(feeds, info, start, path, texts=texts),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


def page_of(info: RunInfo, found: list[AnyEvent], after: int, path: str = "", *, texts: bool = False) -> EventPage:
    """Events that were asked for at once; of the plan that the call at `path` began alone, where there is one."""
    last = found[-1].seq if found else after
    ended = info.status in ENDED_RUN and last >= info.last_seq
    shown = events_inside(found, path)
    events = tuple(msgspec.to_builtins(event) | ({"text": line_of(event)} if texts else {}) for event in shown)
    return EventPage(events=events, last=last, ended=ended)


async def stream(
    feeds: Feeds, info: RunInfo, after: int, path: str = "", *, texts: bool = False
) -> AsyncIterator[bytes]:
    """The text of the stream, in pieces of what is there at once; of the plan at `path` alone, where there is one."""
    yield b"retry: %d\n\n" % RETRY
    async for batch in feeds.follow(info, after):
        if batch.frames:
            frames = [frame for frame in batch.frames if _is_of(frame, path)] if path else batch.frames
            for piece in _pieces(frames, texts=texts):
                yield piece
        elif not batch.end:
            yield b": here\n\n"
        match batch.end:
            case "run" | "gone":
                yield b'event: end\ndata: {"because":"%b"}\n\n' % batch.end.encode()
            case "server":
                yield b": the server stops\n\n"


class _Place(msgspec.Struct, frozen=True):
    path: str = ""


def _is_of(frame: EventFrame, head: str) -> bool:
    """Whether the event is one of the plan that the call at `head` began."""
    return is_inside(msgspec.json.decode(frame.data, type=_Place).path, head)


def _with_text(frame: EventFrame) -> bytes:
    """The event as JSON, with what it says to people."""
    return b'%b,"text":%b}' % (frame.data[:-1], msgspec.json.encode(line_of(frame.event)))


def _pieces(frames: Sequence[EventFrame], *, texts: bool) -> Iterator[bytes]:
    """The frames' texts, small ones together: never all of what is large at once."""
    written: list[bytes] = []
    size = 0
    for frame in frames:
        data = _with_text(frame) if texts else frame.data
        written.append(b"id: %d\ndata: %b\n\n" % (frame.seq, data))
        size += len(data)
        if size > PIECE:
            yield b"".join(written)
            written, size = [], 0
    if written:
        yield b"".join(written)


made_ready(_Place)
