"""Tools that leave a line for every call, and a process that kills itself where it is told to."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
import zlib
from pathlib import Path
from typing import Any

from toolpath.errors import ToolRetry
from toolpath.model.tool import Body, Tool
from toolpath.values import JsonObject, canonical

_SCHEMA: JsonObject = {"type": "object", "properties": {"of": {}}, "required": ["of"]}
#: Kinds of tools: what happens to a call in flight when its process dies differs between them.
KINDS = ("read", "write", "idempotent", "flaky")


def answer(tool: str, inputs: JsonObject) -> JsonObject:
    """What a tool gives: its inputs folded into one number, so that a wrong argument shows in every result after it."""
    return {"v": zlib.crc32(tool.encode() + canonical(inputs)) % 1_000_003}


class Suicide:
    """Kills its own process at the n-th passage of a chosen place in the tools; never without an `at`."""

    def __init__(self, place: str = "", at: int = 0) -> None:
        self.place = place
        self.left = at

    def passes(self, place: str) -> None:
        if place == self.place:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


def tools(calls: Path, suicide: Suicide, pace: float = 1.0) -> list[Tool]:
    """A tool of each kind. `calls` gets a line for each call, in one write; `pace` makes calls longer."""
    file = os.open(calls, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    return [_tool(kind, file, suicide, pace) for kind in KINDS]


def _tool(kind: str, file: int, suicide: Suicide, pace: float) -> Tool:
    async def invoke(inputs: JsonObject, context: Any) -> JsonObject:
        key, began = context.idempotency_key, time.time()
        # A few milliseconds before and after the effect, so that a kill can fall on either side of it.
        await asyncio.sleep(zlib.crc32(f"{key}/before".encode()) % 4 / 1000 * pace)
        suicide.passes("before")
        line = {"tool": kind, "key": key, "path": context.path, "began": began, "inputs": inputs}
        if kind == "flaky" and context.attempt == 1:
            raise ToolRetry("the first attempt fails")
        os.write(file, json.dumps(line).encode() + b"\n")
        suicide.passes("after")
        await asyncio.sleep(zlib.crc32(f"{key}/after".encode()) % 4 / 1000 * pace)
        return answer(kind, inputs)

    return Tool(
        name=kind,
        group="sim",
        input_schema=_SCHEMA,
        output_schema={"type": "object", "properties": {"v": {"type": "integer"}}, "required": ["v"]},
        effect="read" if kind in ("read", "flaky") else "write",
        idempotent=kind == "idempotent",
        body=Body(invoke=invoke, wants_context=True),
    )
