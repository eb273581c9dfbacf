"""A process of a store that does what it is told, a line each, by a clock that goes on a second with every line.

Run as a program: `listening_process.py STORE`. A line is a plan as JSON, which it runs; its answer is a line with the
status and the outputs, or with the codes of what is wrong with the plan.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from toolpath import PlanInvalid, Settings, Toolpath
from toolpath.testing.clock import FakeClock


async def told(tp: Toolpath, plan: Any) -> dict[str, Any]:
    """The answer to one line."""
    try:
        result = await tp.run(plan)
    except PlanInvalid as error:
        return {"findings": [finding.code for finding in error.findings]}
    return {"status": result.status, "outputs": result.outputs}


async def listen(store: str) -> None:
    """Answer line after line."""
    clock, loop = FakeClock(), asyncio.get_running_loop()
    async with Toolpath(store, clock=clock, settings=Settings()) as tp:
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            # What another process has changed is looked at once a second.
            await clock.advance(1)
            sys.stdout.write(f"{json.dumps(await told(tp, json.loads(line)))}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(listen(sys.argv[1]))
