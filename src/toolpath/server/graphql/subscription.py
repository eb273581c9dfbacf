"""Live events over GraphQL: the same feed as that of Server-Sent Events."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from typing import Final

import strawberry

from toolpath.errors import ToolpathError
from toolpath.model.events import event_type
from toolpath.server.graphql.doors import Info, told
from toolpath.server.graphql.types import RunEvent, moment
from toolpath.server.visibility import visible_run

#: Bytes from which on an event is large.
_LARGE: Final = 50_000


@strawberry.type
class Subscription:
    """Subscriptions: what can be followed."""

    @strawberry.subscription(description="A run's events beyond `after`, as they are committed, until it ends.")
    async def run_events(self, info: Info, run_id: strawberry.ID, after: int = 0) -> AsyncGenerator[RunEvent]:
        """From the first event on; `after` is the `seq` of the last one that came."""
        asked = info.context
        asked.needs("read")
        try:
            async with asked.turn:
                run = await visible_run(asked.tp, asked.caller, run_id)
        except ToolpathError as error:
            raise told(error, asked.tp) from None
        async for batch in asked.feeds.follow(run, max(after, 0)):
            for frame in batch.frames:
                # A large one is made a text, and sent, before the connection's next one is.
                async with asked.turn if len(frame.data) > _LARGE else contextlib.nullcontext():
                    yield RunEvent(
                        run_id=run.run_id,
                        seq=frame.seq,
                        type=event_type(frame.event),
                        at=moment(frame.event.at),
                        data=frame.data.decode(),
                    )
