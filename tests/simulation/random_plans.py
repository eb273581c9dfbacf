"""Random plans whose result depends on nothing but the plan, and tools that leave a line for every call."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import time
import zlib
from pathlib import Path
from typing import Any

from toolpath.errors import ToolFailed, ToolRetry
from toolpath.model.plan import Block, Call, Flow, Loop, OnFailure, OnSuccess, Parallel, Plan, Retry, Step
from toolpath.model.tool import Body, Tool
from toolpath.values import JsonObject, canonical

INPUTS = {"seed": 7, "items": [1, 2, 3]}
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
    """All tools that random plans use. `calls` gets a line for each call, in one write; `pace` makes calls longer."""
    file = os.open(calls, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    plain = [_tool(kind, file, suicide, pace) for kind in KINDS]
    return [*plain, _broken(), _composite("graph"), _composite("chain")]


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


def _broken() -> Tool:
    async def invoke(inputs: JsonObject, context: Any) -> JsonObject:
        raise ToolFailed("this tool always fails")

    return Tool(name="broken", group="sim", input_schema=_SCHEMA, effect="read", body=Body(invoke=invoke))


def _composite(flow: Any) -> Tool:
    """A tool whose body is a plan: a write and a read of what it gave."""
    steps = (
        Call(id="inner", tool="sim.write", inputs={"of": ["{{ inputs.of }}", flow]}),
        Call(id="outer", tool="sim.read", inputs={"of": "{{ inner.v }}"}),
    )
    body = Plan(name=f"nested_{flow}", inputs=_SCHEMA, flow=flow, steps=steps, outputs={"v": "{{ outer.v }}"})
    return Tool(name=f"nested_{flow}", group="sim", input_schema=_SCHEMA, effect="write", body=body)


def random_plan(seed: int) -> Plan:
    """A plan of 3 to 9 steps at the top and up to three levels; equal seeds give equal plans."""
    chance = random.Random(seed)
    flow = chance.choice(["graph", "graph", "chain"])
    steps = _steps(chance, flow, chance.randint(3, 9), level=0)
    return Plan(
        name=f"random_{seed}",
        inputs={"type": "object", "properties": {"seed": {"type": "integer"}, "items": {"type": "array"}}},
        flow=flow,
        steps=steps,
        outputs={step.id: f"{{{{ steps['{step.id}'].output }}}}" for step in steps},
        failure_mode=chance.choice(["stop", "isolate"]),
        concurrency=chance.choice([1, 2, 5]),
    )


def _steps(chance: random.Random, flow: str, count: int, level: int) -> tuple[Step, ...]:
    made: list[Step] = []
    for number in range(count):
        made.append(_step(chance, f"l{level}s{number}", made, flow, level))
    return tuple(made)


def _step(chance: random.Random, name: str, before: list[Step], flow: str, level: int) -> Step:
    common: dict[str, Any] = {"id": name}
    if before and flow == "graph" and chance.random() < 0.3:
        common["depends_on"] = (chance.choice(before).id,)
    if chance.random() < 0.15:
        common["when"] = f"{{{{ inputs.seed > {chance.randint(0, 14)} }}}}"
    blocks = 0 if level == 2 else 12
    match chance.choices(["parallel", "loop", "broken", "nested", "call"], [blocks, blocks, 5, 10, 60])[0]:
        case "parallel":
            blocks_inside = tuple(_block(chance, f"b{number}", level) for number in range(chance.randint(2, 3)))
            return Parallel(**common, branches=blocks_inside)
        case "loop":
            body = _block(chance, "", level)
            return Loop(
                **common, over="{{ inputs.items }}", item=f"n{level}", body=body, concurrency=chance.randint(1, 3)
            )
        case "broken":
            return Call(**common, tool="sim.broken", inputs={"of": 1}, on_failure=OnFailure(action="continue"))
        case "nested":
            tool = chance.choice(["sim.nested_graph", "sim.nested_chain"])
            return Call(**common, tool=tool, inputs={"of": _of(chance, before)})
        case _:
            return _call(chance, common, before, in_chain=flow == "chain" and level == 0)


def _block(chance: random.Random, name: str, level: int) -> Block:
    flow: Flow = "graph" if chance.random() < 0.5 else "chain"
    return Block(id=name, flow=flow, steps=_steps(chance, flow, chance.randint(1, 3), level + 1))


def _call(chance: random.Random, common: dict[str, Any], before: list[Step], *, in_chain: bool) -> Call:
    name, tool = common["id"], chance.choice(["read", "write", "write", "idempotent", "flaky"])
    if in_chain and chance.random() < 0.4:
        common["on_success"] = OnSuccess(
            map_outputs={"v": f"var_{name}"}, transform={f"twice_{name}": f"{{{{ var_{name} * 2 }}}}"}
        )
    retry = Retry(max_retries=2, initial_delay=0.002, backoff="fixed") if tool == "flaky" else None
    return Call(**common, tool=f"sim.{tool}", inputs={"of": [name, _of(chance, before)]}, retry=retry)


def _of(chance: random.Random, before: list[Step]) -> Any:
    """An input that reads up to two outputs of steps before."""
    chosen = chance.sample(before, min(len(before), chance.randint(0, 2)))
    return ["{{ inputs.seed }}", *(f"{{{{ steps['{step.id}'].output | default(0) }}}}" for step in chosen)]
