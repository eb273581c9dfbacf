"""A process that plans a request with a scripted model, says so, and dies of SIGKILL: `killed_planner.py STORE`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from tests.planner.kept_cases import REQUEST, door


async def main(store: str) -> None:
    tp = door(store)
    await tp.__aenter__()
    plan = await tp.plan(REQUEST)
    assert (await tp.run(plan)).success
    os.kill(os.getpid(), signal.SIGKILL)


asyncio.run(main(sys.argv[1]))
