"""What must hold of kept results and of calls that are made once for several, beside writes.

A read never gives what was there before a write that its step depends on, whichever run or step asked for it first; and
what it gives has the confidence and the sources that it was given with.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import msgspec
from plays import SETTINGS, without_threads
from virtual import VirtualClock, in_virtual_time
from worlds import drawn

from toolpath.app import Toolpath
from toolpath.errors import ToolFailed
from toolpath.model.plan import Block, Cache, Call, Loop, OnFailure, Parallel, Plan, Retry, Step
from toolpath.model.run import RunResult
from toolpath.model.tool import Body, Tool
from toolpath.store.memory.store import MemoryStore
from toolpath.values import JsonObject

KEYS = ("a", "b")
#: Runs side by side.
MOST_RUNS = 3
_SCHEMA: JsonObject = {"type": "object", "properties": {"k": {"type": "string"}, "id": {"type": "string"}}}


def of_caches(seed: int) -> Iterator[str]:
    """No read gives a value that is older than a write which its step depends on."""
    in_virtual_time((shelf := Shelf(seed)).go())
    yield from shelf.faults


class Shelf:
    """Values with a number each, tools that read and write them, and the runs that use these."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.chance = random.Random(seed)
        self.numbers = dict.fromkeys(KEYS, 0)
        self.written: dict[tuple[str, str], tuple[str, int]] = {}
        """By run and path of a write: the key and its number from then on."""
        self.reads = 0
        self.faults: list[str] = []

    async def go(self) -> None:
        """Several runs, some of them side by side, and after one another."""
        clock = VirtualClock()
        store = MemoryStore(clock=clock.time)
        async with AsyncExitStack() as opened:
            doors = [
                await opened.enter_async_context(Toolpath(store, clock=clock, settings=SETTINGS))
                for _ in range(self.seed % 2 + 1)
            ]
            for tp in doors:
                without_threads(tp)
                tp.add(*self.tools())
            for _ in range(2):
                plans = [Reads(self.chance).plan() for _ in range(self.chance.randint(1, MOST_RUNS))]
                done = await asyncio.gather(*(self.chance.choice(doors).run(plan) for plan in plans))
                for plan, result in zip(plans, done, strict=True):
                    self.faults += self.faults_of(plan, result)

    def faults_of(self, plan: Plan, result: RunResult) -> Iterator[str]:
        """Reads of old values, and answers that came without what belongs to them."""
        if result.status == "failed":
            yield f"it failed: {result.error}"
        behind = _behind(plan.block, "", set())
        for step in result.results:
            if step.tool != "kv.read" or step.status != "succeeded":
                continue
            number = step.output["n"]
            if (step.confidence, list(step.sources)) != (_sureness(number), [{"n": number}]):
                yield f"{step.path} gave {number} with {step.confidence} and {step.sources}, cached={step.cached}"
            for path in _instances(behind, step.path):
                key, least = self.written.get((result.run_id, path), ("", 0))
                if key == step.inputs["k"] and number < least:
                    yield f"{step.path} read {number} of {key}, and {path} had written {least}; cached={step.cached}"

    def tools(self) -> list[Tool]:
        """To read, and to write: well, in vain, too slowly, by another tool and in a plan."""
        call = Call(id="w", tool="kv.write", inputs={"k": "{{ inputs.k }}"})
        inside = Call(id="r", tool="kv.read", inputs={"k": "{{ inputs.k }}"}, depends_on=("w",), cache=Cache(ttl=300))
        body = Plan(name="both", inputs=_SCHEMA, steps=(call, inside))
        of: dict[str, Any] = {"input_schema": _SCHEMA, "group": "kv"}
        return [
            Tool(name="read", effect="read", body=Body(invoke=self.read, wants_context=True), **of),
            Tool(name="write", effect="write", body=Body(invoke=self.write, wants_context=True), **of),
            Tool(name="in_vain", effect="write", body=Body(invoke=self.in_vain, wants_context=True), **of),
            Tool(name="slowly", effect="write", body=Body(invoke=self.slowly, wants_context=True), timeout=0.05, **of),
            Tool(
                name="caller", effect="write", body=Body(invoke=self.caller, wants_context=True), input_schema=_SCHEMA
            ),
            Tool(name="both", effect="write", body=body, input_schema=_SCHEMA),
        ]

    async def pass_time(self, *key: Any) -> None:
        if drawn(self.seed, *key) % 4:
            await asyncio.sleep(drawn(self.seed, "time", *key) % 40 / 1000)

    async def read(self, inputs: JsonObject, context: Any) -> JsonObject:
        number = self.numbers[inputs["k"]]
        self.reads += 1
        await self.pass_time(self.reads)
        return {"n": number, "confidence": _sureness(number), "sources": [{"n": number}]}

    async def write(self, inputs: JsonObject, context: Any) -> JsonObject:
        await self.pass_time(context.path)
        self._write(inputs["k"], context)
        await self.pass_time(context.path, "after")
        return {"n": self.numbers[inputs["k"]]}

    async def in_vain(self, inputs: JsonObject, context: Any) -> JsonObject:
        await self.write(inputs, context)
        raise ToolFailed("it is written, and fails")

    async def slowly(self, inputs: JsonObject, context: Any) -> JsonObject:
        self._write(inputs["k"], context)
        await asyncio.sleep(1_000)
        return {}

    async def caller(self, inputs: JsonObject, context: Any) -> JsonObject:
        await context.call("kv.write", {"k": inputs["k"]}, key="w")
        return await context.call("kv.read", {"k": inputs["k"]}, key="r")

    def _write(self, key: str, context: Any) -> None:
        self.numbers[key] += 1
        self.written[context.run_id, context.path] = key, self.numbers[key]


def _sureness(number: int) -> float:
    return number % 10 / 10


class Reads:
    """Builds a plan of reads and writes."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.count = 0

    def plan(self) -> Plan:
        return Plan(name="shelf", steps=self.steps("graph", self.chance.randint(2, 7), 0), concurrency=5)

    def steps(self, flow: str, count: int, level: int) -> tuple[Step, ...]:
        made: list[Step] = []
        for _ in range(count):
            before = [step.id for step in made]
            waits = self.chance.sample(before, min(len(before), self.chance.randint(0, 2))) if flow == "graph" else []
            made.append(self.step(tuple(waits), level))
        return tuple(made)

    def step(self, waits: tuple[str, ...], level: int) -> Step:
        chance = self.chance
        self.count += 1
        common: dict[str, Any] = {"id": f"s{self.count}", "depends_on": waits}
        inputs: JsonObject = {"k": chance.choice(KEYS)}
        kinds = ["read", "read", "read", "write", "in_vain", "slowly", "caller", "both"]
        match chance.choice(kinds if level else [*kinds, "loop", "parallel"]):
            case "loop":
                body = self.block(level)
                return Loop(**common, over=[1, 2, 3], body=body, concurrency=chance.choice([1, 2]))
            case "parallel":
                return Parallel(**common, branches=(self.block(level), self.block(level)))
            case "read":
                return Call(**common, tool="kv.read", inputs=inputs, cache=Cache(ttl=300), retry=Retry(max_retries=0))
            case "in_vain" | "slowly" as name:
                return Call(**common, tool=f"kv.{name}", inputs=inputs, on_failure=OnFailure(action="continue"))
            case "write":
                return Call(**common, tool="kv.write", inputs=inputs)
            case name:
                return Call(**common, tool=name, inputs=inputs)

    def block(self, level: int) -> Block:
        self.count += 1
        flow = self.chance.choice(["chain", "graph"])
        steps = self.steps(flow, self.chance.randint(2, 4), level + 1)
        return Block(id=f"b{self.count}", flow=flow, steps=steps)  # type: ignore[arg-type]


class Behind(msgspec.Struct, frozen=True):
    """A step, and what has ended before it begins."""

    path: str
    before: frozenset[str]


def _behind(block: Block, prefix: str, around: set[str]) -> list[Behind]:
    """Of each step the steps before it, by patterns of paths; `*` stands for the number of the same item."""
    found: list[Behind] = []
    ends: dict[str, set[str]] = {}
    for number, step in enumerate(block.steps):
        sources = [one.id for one in block.steps[:number]] if block.flow == "chain" else list(step.depends_on)
        before = around.union(*(ends[name] for name in sources))
        path = prefix + step.id
        inner: list[Behind] = []
        match step:
            case Loop():
                inner = _behind(step.body, f"{path}[*]/", before)
            case Parallel():
                for branch in step.branches:
                    inner += _behind(branch, f"{path}/{branch.id}/", before)
            case Call(tool="caller" | "both"):
                inner = [Behind(f"{path}/r", frozenset(before | {f"{path}/w"})), Behind(f"{path}/w", frozenset(before))]
        found += [Behind(path, frozenset(before)), *inner]
        ends[step.id] = before | {path} | {one.path for one in inner}
    return found


def _instances(behind: list[Behind], path: str) -> Iterator[str]:
    """Paths of what has ended before the step of this path began."""
    head, mark, rest = path.partition("[")
    item, _, tail = rest.partition("]")
    pattern = f"{head}[*]{tail}" if mark else path
    for one in behind:
        if one.path != pattern:
            continue
        for before in one.before:
            if "[*]" not in before:
                yield before
            elif mark and before.startswith(f"{head}["):
                yield before.replace("*", item)
            else:
                yield from (before.replace("*", str(number)) for number in range(3))
