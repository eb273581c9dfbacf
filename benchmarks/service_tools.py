"""The tools of the load program: nothing, and a nap."""

from __future__ import annotations

import asyncio

from toolpath import tool


@tool(group="load", effect="read")
async def nothing(n: int = 0) -> int:
    """Do nothing.

    Args:
        n: Comes back.
    """
    return n


@tool(group="load", effect="read")
async def nap(seconds: float) -> float:
    """Sleep.

    Args:
        seconds: So long.
    """
    await asyncio.sleep(seconds)
    return seconds
