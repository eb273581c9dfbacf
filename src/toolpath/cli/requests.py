"""The tools of HTTP requests, for what names them: a composite that is an `api_call` needs nothing else to run.

They are not offered unasked: no planner picks them, and no server has them, unless the setting `http` says so.
"""

from __future__ import annotations

from collections.abc import Iterable

from toolpath.app import Toolpath
from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Plan
from toolpath.model.tool import Tool
from toolpath.runs.opening import names_in, tools_of

NAMES = frozenset({"http.get", "http.request"})


def add_http(tp: Toolpath) -> None:
    """Offer the tools of HTTP requests that are not there."""
    from toolpath.providers.builtin.http import HttpLimits, http_tools  # only who makes requests pays for it
    from toolpath.providers.builtin.reach import Reach

    if "http" in tp.settings.builtin:
        # They are there, for the hosts that are named there and no others.
        return
    there = tp.registry.snapshot()
    limits = HttpLimits(reach=Reach(allow=tp.settings.http_allow), proxy=tp.settings.http_proxy)
    tp.add(*(tool for tool in http_tools(limits) if tool.key not in there.tools))


async def load_with_requests(tp: Toolpath, plan: Plan) -> Catalog:
    """Load what the plan needs, with the tools of HTTP requests where it, or a plan inside it, names them."""
    catalog = await tp.load(plan)
    if _wanted(tools_of(plan), catalog):
        add_http(tp)
        catalog = await tp.load(plan)
    return catalog


async def tools_to_plan_with(tp: Toolpath, names: tuple[str, ...]) -> tuple[str, ...]:
    """The tools that a planner may pick: these, or all that are there; what only they call is added, not offered.

    A plan is checked while it is made, so that all it needs has to be there before.
    """
    catalog = await tp.tools()
    if not _wanted(names or tuple(catalog.keys()), catalog):
        return names
    add_http(tp)
    return names or tuple(catalog.keys())


def add_for_tool(tp: Toolpath, tool: Tool) -> None:
    """Offer the tools of HTTP requests where calling this tool needs them."""
    if _wanted(names_in(tool), tp.registry.snapshot()):
        add_http(tp)


def _wanted(names: Iterable[str], catalog: Catalog) -> bool:
    """Whether one of these, or what it calls, is a request that nobody offers."""
    seen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        tool = catalog.get(name)
        if tool is not None:
            waiting += names_in(tool)
        elif name in NAMES:
            return True
    return False
