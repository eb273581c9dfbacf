"""The planning engine's own measures of success, each on a workload that is stated here and drawn from a fixed seed."""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.records import VARIABLE, Record, folder, read_lines
from benchmarks.report import publish, table
from toolpath import Settings, Tool, Toolpath
from toolpath.llm.chat import ModelChat
from toolpath.llm.choice import ModelChoice
from toolpath.model.chat import ChatReply, ChatRequest, Message
from toolpath.model.plan import Call, Plan
from toolpath.model.tool import Body
from toolpath.planner.by_model.prompt import RULES as _PLANNER_RULES
from toolpath.testing.clock import FakeClock
from toolpath.testing.model_replies import Says
from toolpath.testing.model_server import ModelServer
from toolpath.values import decode, encode

SEED = 20_260
#: Medians of the tools' latencies lie between these, in seconds; each call varies around its tool's median.
UNEVEN, VERY_UNEVEN = (0.3, 1.5, 0.4), (0.1, 3.0, 0.6)
#: A chain has this many times the medians along its longest way.
_SLACK = 3.0
_FAILING = 0.1
_TOKENS_A_SECOND, _CHARACTERS_A_TOKEN = 50, 4


async def _slept(clock: FakeClock, seconds: float) -> None:
    done = asyncio.get_running_loop().create_future()
    clock.call_at(clock.monotonic() + seconds, lambda: done.done() or done.set_result(None))
    await done


def _plans(where: Path) -> Iterator[Record]:
    """The plans of ComplexFuncBench: several calls, some of which wait for others."""
    for record in read_lines(where / "plans_complexfuncbench.jsonl", Record):
        if len(record.gold_plan) > 1 and not record.defects:
            yield record


class Uneven:
    """Tools whose calls take as long as chance says, always the same for one seed."""

    def __init__(self, clock: FakeClock, *, fails: float = 0.0, latencies: tuple[float, float, float] = UNEVEN) -> None:
        self._clock = clock
        self._fastest, self._slowest, self._spread = latencies
        self._fails = fails
        self._chance = random.Random(SEED)
        self.medians: dict[str, float] = {}

    def median(self, tool: str) -> float:
        """Seconds that half of the tool's calls take at most."""
        if tool not in self.medians:
            own = random.Random(f"{SEED} {tool}")
            self.medians[tool] = self._fastest * (self._slowest / self._fastest) ** own.random()
        return self.medians[tool]

    def tool(self, name: str) -> Tool:
        """A tool that reads, takes its time, and sometimes cannot be reached."""

        async def invoke(_inputs: Any, _context: Any) -> dict[str, bool]:
            await _slept(self._clock, self.median(name) * self._chance.lognormvariate(0.0, self._spread))
            if self._chance.random() < self._fails:
                raise ConnectionError("not reached")
            return {"ok": True}

        return Tool(
            name=_name(name), group="cfb", effect="read", input_schema={"type": "object"}, body=Body(invoke=invoke)
        )

    def critical(self, record: Record) -> float:
        """Seconds along the longest way, by the medians."""
        ends: dict[str, float] = {}
        for step in record.gold_plan:
            before = max((ends.get(name, 0.0) for name in step.depends_on), default=0.0)
            ends[step.step] = before + self.median(step.tool)
        return max(ends.values())


def _name(tool: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in tool)


def _plan_of(record: Record, **more: Any) -> Plan:
    steps = tuple(
        Call(id=step.step, tool=f"cfb.{_name(step.tool)}", depends_on=tuple(step.depends_on))
        for step in record.gold_plan
    )
    return Plan(name=record.id, steps=steps, **more)


async def _ran(
    records: list[Record], more: Callable[[Record, Uneven], dict[str, Any]], **how: Any
) -> list[tuple[bool, float]]:
    """Whether each plan succeeded, and its seconds, on a clock that jumps."""
    clock = FakeClock(auto=True)
    uneven = Uneven(clock, fails=how.pop("fails", 0.0), latencies=how.pop("latencies", UNEVEN))
    async with Toolpath(clock=clock, settings=Settings(adaptive_timeout=False, **how)) as tp:
        for name in sorted({step.tool for record in records for step in record.gold_plan}):
            tp.add(uneven.tool(name))
        found = []
        for record in records:
            began = clock.monotonic()
            result = await tp.run(_plan_of(record, **more(record, uneven)))
            found.append((result.success, clock.monotonic() - began))
        return found


async def parallel(records: list[Record]) -> list[tuple[str, str]]:
    """The same plans with all that may run at once, and one call after the other."""
    rows = []
    for name, latencies in (("uneven", UNEVEN), ("very uneven", VERY_UNEVEN)):
        together = await _ran(records, lambda *_: {"concurrency": 16}, latencies=latencies)
        apart = await _ran(records, lambda *_: {"concurrency": 1}, latencies=latencies)
        ratios = [one[1] / other[1] for one, other in zip(apart, together, strict=True)]
        wide = [ratio for ratio, record in zip(ratios, records, strict=True) if _is_wide(record)]
        total = sum(one[1] for one in apart) / sum(one[1] for one in together)
        rows += [
            (f"sequential against parallel, {name} latencies: all time", f"{total:.2f} times"),
            (f"… median of the {len(ratios)} plans", f"{statistics.median(ratios):.2f} times"),
            (f"… median of the {len(wide)} with three calls side by side", f"{statistics.median(wide):.2f} times"),
        ]
    return rows


def _is_wide(record: Record) -> bool:
    level: dict[str, int] = {}
    for step in record.gold_plan:
        level[step.step] = 1 + max((level.get(name, 0) for name in step.depends_on), default=0)
    return max(list(level.values()).count(one) for one in level.values()) >= 3


async def in_time(records: list[Record]) -> list[tuple[str, str]]:
    """Chains whose time limit is a few times the medians along their longest way."""
    found = await _ran(records, lambda record, uneven: {"timeout": _SLACK * uneven.critical(record)})
    share = sum(success for success, _ in found) / len(found)
    return [(f"chains within {_SLACK:g} times their median time", f"{share:.1%}")]


async def retried(records: list[Record]) -> list[tuple[str, str]]:
    """Tools of which each tenth call cannot reach its server, without and with retries."""
    once = await _ran(records, lambda *_: {}, fails=_FAILING, max_retries=0)
    thrice = await _ran(records, lambda *_: {}, fails=_FAILING, max_retries=3)
    lost, left = (1 - sum(success for success, _ in found) / len(found) for found in (once, thrice))
    return [
        (f"plans that fail when {_FAILING:.0%} of calls do, without retries", f"{lost:.1%}"),
        ("… with three retries", f"{left:.1%}"),
    ]


#: Requests as people make them again and again, and how common each kind is.
_COMMON = (
    ("Create author {name} with email {mail}", 30),
    ("Create author {name} with email {mail}, then create blog by {name} titled {title} about {topic}", 20),
    ("What is the weather forecast of city {city}?", 25),
    ("Find pages about {topic}", 15),
)
_WORDS = {
    "name": ["Alice", "Bob", "Carla", "Dmitri", "Eve", "Farid", "Grace", "Hiro"],
    "title": ["Hello", "Spring", "Notes", "Travels"],
    "topic": ["world", "gardens", "music", "trains"],
    "city": ["Berlin", "Rome", "Lima", "Oslo", "Accra"],
}


def _stream(count: int) -> Iterator[str]:
    """Common requests with other values each time, and one in ten that nobody else makes."""
    chance = random.Random(SEED)
    kinds, weights = zip(*_COMMON, strict=True)
    for number in range(count):
        if chance.random() < 0.1:
            yield f"Find pages about the matter number {number} of {chance.choice(_WORDS['topic'])} and its history"
            continue
        values = {key: chance.choice(words) for key, words in _WORDS.items()}
        yield chance.choices(kinds, weights)[0].format(**values, mail=f"{values['name'].lower()}{number}@test.org")


class _Rules:
    """A model that answers with the plan that rules make: what is measured is the cache, not the model."""

    def __init__(self, tp: Toolpath) -> None:
        self._tp = tp
        self.asked = 0

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """The plan of the request in the prompt."""
        self.asked += 1
        told = decode(request.messages[0].text)
        plan = await self._tp.plan(told["request"], planner="offline")
        steps = [{"id": s.id, "tool": s.tool, "inputs": s.inputs} for s in plan.steps if isinstance(s, Call)]
        return ChatReply(text=encode({"steps": steps, "origin": {"confidence": 0.9}}).decode())

    def stream(self, request: ChatRequest) -> Any:
        """Not used."""
        raise NotImplementedError


def _tools() -> list[Tool]:
    def tool(name: str, description: str, effect: Any, output: dict[str, str], *inputs: str) -> Tool:
        group, _, bare = name.partition(".")
        return Tool(
            name=bare,
            group=group,
            description=description,
            effect=effect,
            input_schema={
                "type": "object",
                "properties": {one: {"type": "string"} for one in inputs},
                "required": list(inputs),
            },
            output_schema={"type": "object", "properties": {key: {"type": kind} for key, kind in output.items()}},
            body=Body(invoke=lambda _inputs, _context: dict.fromkeys(output, "x")),
        )

    return [
        tool("blog.createAuthor", "Create an author.", "write", {"_id": "string"}, "name", "email"),
        tool(
            "blog.createBlog", "Create a blog of an author.", "write", {"_id": "string"}, "authorId", "title", "content"
        ),
        tool("weather.forecast", "The weather forecast of a city.", "read", {"sky": "string"}, "city"),
        tool("web.find_pages", "Find pages about a topic.", "read", {"url": "string"}, "topic"),
    ]


async def cached(count: int = 400) -> list[tuple[str, str]]:
    """A stream of common requests, planned by a model behind the plan cache."""
    async with Toolpath(settings=Settings()) as rules:
        rules.add(*_tools())
        model = _Rules(rules)
        async with Toolpath(chat=model, settings=Settings()) as tp:
            tp.add(*_tools())
            for request in _stream(count):
                await tp.plan(request)
            report = await tp.planning.report()
    return [(f"plan cache hits in {count} common requests", f"{report.hit_rate or 0:.1%}")]


def _chat(server: ModelServer) -> ModelChat:
    return ModelChat(ModelChoice(api="openai", model="stub", key="k" * 12, base_url=f"{server.url}/v1"))


async def streamed() -> list[tuple[str, str]]:
    """A plan of six reads at 50 tokens a second: when the first tool has answered."""
    steps = [
        {"id": f"find_{topic}", "tool": "web.find_pages", "inputs": {"topic": topic}}
        for topic in ("gardens", "music", "trains", "maps", "rivers", "birds")
    ]
    origin = {"reasoning": "Each topic is looked for by itself.", "confidence": 0.9}
    text = encode({"origin": origin, "steps": steps}).decode()
    seconds: list[float] = []
    async with ModelServer("{}") as server, _chat(server) as chat:
        # The client's library is loaded before anything is timed.
        await chat(ChatRequest(messages=(Message(text="Hello"),)))
    for stream in (False, True):
        first: list[float] = []
        slow = Says(text=text, piece=_CHARACTERS_A_TOKEN, pause=1 / _TOKENS_A_SECOND)
        async with ModelServer(slow) as server, _chat(server) as chat, Toolpath(chat=chat, settings=Settings()) as tp:
            tp.add(*[_timed(tool, first) for tool in _tools()])
            began = time.monotonic()
            if stream:
                await tp.plan_and_run("Find pages about gardens, music, trains, maps, rivers and birds", stream=True)
            else:
                # A whole answer comes when its last token is written.
                async with tp.ahead("Find pages about six topics") as ahead:
                    plan = await ahead.plan()
                first.clear()
                await tp.run(plan)
            seconds.append(first[0] - began)
    whole, early = seconds
    return [
        (
            f"first tool result, plan of {len(text) // _CHARACTERS_A_TOKEN} tokens, 50 a second, all waited for",
            f"{whole:.2f} s",
        ),
        ("… with a streaming start", f"{early:.2f} s ({early / whole:.0%})"),
    ]


def _timed(tool: Tool, ends: list[float]) -> Tool:
    def invoke(_inputs: Any, _context: Any) -> dict[str, str]:
        ends.append(time.monotonic())
        return {"url": "x"}

    return Tool(
        name=tool.name,
        group=tool.group,
        description=tool.description,
        effect=tool.effect,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        body=Body(invoke=invoke),
    )


_LOOP = "Answer with the next call as JSON {tool, inputs}, or with a text when the request is done."


async def against_a_loop(records: list[Record]) -> list[tuple[str, str]]:
    """The same tasks by one plan and by an agent that asks for each call anew, with all results so far."""
    plan = [0, 0]
    loop = [0, 0]
    async with ModelServer(then="{}") as server, _chat(server) as chat:
        for record in records:
            tools = sorted({step.tool for step in record.gold_plan})
            told = encode({"request": record.query, "tools": tools}).decode()
            answer = encode({"steps": [{"tool": s.tool, "inputs": s.arguments} for s in record.gold_plan]}).decode()
            await _asked(server, chat, [Message(text=told)], answer, plan)
            messages = [Message(text=told)]
            for step in record.gold_plan:
                call = encode({"tool": step.tool, "inputs": step.arguments}).decode()
                await _asked(server, chat, messages, call, loop, system=_LOOP)
                result = encode(record.recorded_outputs.get(step.step)).decode()[:1_500]
                messages += [Message(role="assistant", text=call), Message(text=result)]
            await _asked(server, chat, messages, "Done.", loop, system=_LOOP)
    return [
        (f"requests to the model for {len(records)} tasks, by plan and by agent loop", f"{plan[0]:,} and {loop[0]:,}"),
        ("tokens for them (a token counted as four characters)", f"{plan[1]:,} and {loop[1]:,}"),
    ]


async def _asked(
    server: ModelServer, chat: ModelChat, messages: list[Message], answer: str, tally: list[int], *, system: str = ""
) -> None:
    server.replies.append(answer)
    request = ChatRequest(system=system or _PLANNER_RULES, messages=tuple(messages))
    await chat(request)
    tally[0] += 1
    tally[1] += (len(request.system) + sum(len(one.text) for one in messages) + len(answer)) // _CHARACTERS_A_TOKEN


def main() -> int:
    """Measure, print, write the page."""
    where = folder()
    if where is None:
        print(f"Set {VARIABLE} to the folder with the benchmark records.", file=sys.stderr)
        return 2
    records = list(_plans(where))

    async def all_of() -> list[tuple[str, str]]:
        parts: list[Awaitable[list[tuple[str, str]]]] = [
            parallel(records),
            in_time(records),
            retried(records),
            cached(),
            streamed(),
            against_a_loop(records[:60]),
        ]
        return [row for part in parts for row in await part]

    rows = asyncio.run(all_of())
    text = table(("measure", "figure"), rows)
    print(text)
    publish("success", text, dict(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
