"""Statistics of tools as a caller may see them: all calls for who serves all tenants, for a tenant its own runs."""

from __future__ import annotations

from collections.abc import Mapping

from toolpath.access.caller import Caller
from toolpath.app import Toolpath
from toolpath.catalog.statistics import Statistics
from toolpath.errors import RunNotFound
from toolpath.model.tool import ToolStats
from toolpath.projections.statistics import tool_stats

#: Runs of a tenant that are looked through, newest first, and events and bytes of each.
RUNS = 200
EVENTS = 5_000
BYTES = 4_000_000


async def visible_stats(tp: Toolpath, caller: Caller) -> Mapping[str, ToolStats]:
    """Statistics by key: of all calls for a caller who serves all tenants, else of the caller's newest runs."""
    if serves_all(caller) and caller.may("admin"):
        return tp.stats()
    found = Statistics()
    for info in reversed(await tp.store.list_runs(tenant=caller.of_tenant, limit=RUNS)):
        try:
            events = await tp.store.read_events(info.run_id, limit=EVENTS, most_bytes=BYTES)
        except RunNotFound:
            # It was deleted meanwhile.
            continue
        for key, stats in tool_stats(events).items():
            found.add(key, stats)
    return found


def serves_all(caller: Caller) -> bool:
    """Whether they are nobody's tenant, or see all of them: what is counted of the whole process is for them."""
    return caller.sees_all or not caller.tenant
