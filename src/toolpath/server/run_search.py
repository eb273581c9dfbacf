"""Search through a caller's runs for a text or a tool: in their rows and the two ends of their journals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from toolpath.app import Toolpath
from toolpath.errors import RunNotFound
from toolpath.model.events import AnyEvent, RunStarted, encode_event
from toolpath.model.run import RunInfo
from toolpath.runs.beside_the_loop import weight_of

#: Runs that one request looks at, and seconds after which it looks at no more; its answer says where to go on.
LOOKED_AT = 500
WITHIN = 2.0
_PAGE = 100


class RunFilter(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is to have; empty: whatever."""

    text: str = ""
    """Somewhere in its name, id, user or reason, its plan, its inputs, or its last event: its outputs or error."""
    tool: str = ""
    """Key of a tool that its plan calls, as it began."""


class FoundRuns(msgspec.Struct, frozen=True):
    """Runs that fit. `next`: the last one that was looked at, where there may be more behind it."""

    runs: list[RunInfo]
    next: str | None


async def search_runs(
    tp: Toolpath, wanted: RunFilter, limit: int, before: str | None, filters: dict[str, Any]
) -> FoundRuns:
    """The newest of the runs with these filters that fit, `limit` at most. Raises `RunNotFound` for `before`."""
    until = tp.clock.monotonic() + WITHIN
    found: list[RunInfo] = []
    looked_at = 0
    page = await tp.store.list_runs(**filters, limit=_PAGE, before=before)
    while looked_at < LOOKED_AT and tp.clock.monotonic() < until:
        for info in page:
            before = info.run_id
            looked_at += 1
            if await _fits(tp, wanted, info):
                found.append(info)
            if len(found) >= limit or tp.clock.monotonic() >= until:
                return FoundRuns(found, before)
        if len(page) < _PAGE:
            return FoundRuns(found, None)
        page = await _behind(tp, page[-1], filters)
    return FoundRuns(found, before)


async def _behind(tp: Toolpath, last: RunInfo, filters: dict[str, Any]) -> list[RunInfo]:
    try:
        return await tp.store.list_runs(**filters, limit=_PAGE, before=last.run_id)
    except RunNotFound:
        # It was deleted meanwhile: those that were begun before it are still behind it.
        return await tp.store.list_runs(**{**filters, "until": last.created_at}, limit=_PAGE)


async def _fits(tp: Toolpath, wanted: RunFilter, info: RunInfo) -> bool:
    text = wanted.text.casefold()
    row = "\n".join((info.run_id, info.name, info.user, info.reason, info.plan_id)).casefold()
    if not wanted.tool and text in row:
        return True
    try:
        ends = list(await tp.store.read_events(info.run_id, limit=1))
        if text and info.last_seq > 1:
            ends += await tp.store.read_events(info.run_id, after=info.last_seq - 1, limit=1)
    except RunNotFound:
        # It was deleted meanwhile.
        return False
    if wanted.tool and not any(isinstance(event, RunStarted) and wanted.tool in event.tools for event in ends):
        return False
    return text in row or await tp.aside.do(lambda: _is_in(text, ends), weight_of([ends]))


def _is_in(text: str, events: Sequence[AnyEvent]) -> bool:
    # As JSON has it: quotes and line ends of the text are looked for as they are written there.
    written = msgspec.json.encode(text)[1:-1].decode()
    return any(written in encode_event(event).decode(errors="replace").casefold() for event in events)
