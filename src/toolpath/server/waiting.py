"""Waiting for a run on behalf of a request, which must be answered before the server goes."""

from __future__ import annotations

import asyncio

from toolpath.app import Toolpath


async def waited(tp: Toolpath, run_id: str, stopping: asyncio.Event, *, seconds: float | None = None) -> None:
    """Return when the run has ended or waits for people, the time is over, or this server was told to stop.

    The run goes on without anybody waiting. Raises what ended its drive.
    """
    result = asyncio.create_task(tp.result(run_id), name=f"wait {run_id}")
    stop = asyncio.create_task(stopping.wait())
    try:
        done, _ = await asyncio.wait({result, stop}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if result in done:
            result.result()
    finally:
        result.cancel()
        stop.cancel()
        await asyncio.gather(result, stop, return_exceptions=True)
