"""The tools that random structures use: they leave a record of every call, take as long as a schedule says, and fail
where they are told to.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace
from structures import BODIES, DENIED, LEAVES, SCHEMA, TIGHT, body, tight_body

from toolpath.errors import ToolFailed, ToolRetry
from toolpath.model.chat import ChatReply, ChatRequest
from toolpath.model.plan import Plan
from toolpath.model.tool import Body, Requires, Tool
from toolpath.testing.scripted_model import ScriptedModel, Turn, done
from toolpath.values import Json, JsonObject, canonical

NUMBER: JsonObject = {"type": "object", "properties": {"v": {"type": "integer"}}, "required": ["v"]}
#: Tools that have an effect.
WRITES = frozenset({"sim.write", "sim.idempotent", "sim.signed", "sim.plain"})
#: Those of them that may not be made twice.
ONCE = WRITES - {"sim.idempotent"}
#: Tools that run others are called again with their run; what they called is not.
CALLERS = frozenset({"sim.caller", "sim.breaking", "sim.asker"})


def answer(tool: str, inputs: Json) -> JsonObject:
    """What a tool gives: its inputs folded into one number, so that a wrong argument shows in every result after it."""
    return {"v": zlib.crc32(tool.encode() + canonical(inputs)) % 1_000_003}


def drawn(*key: Any) -> int:
    """A number that is always the same for this key."""
    return zlib.crc32("/".join(map(str, key)).encode())


class Made(msgspec.Struct, frozen=True):
    """A call that was made: before its effect, for a tool that has one."""

    tool: str
    path: str
    key: str
    inputs: JsonObject
    effect: bool


class World:
    """What the tools of one run have done, and how they behave."""

    def __init__(self, schedule: int = 0, fails: Callable[[str], bool] | None = None) -> None:
        self.schedule = schedule
        self.fails = fails
        """By path: whether a leaf fails there."""
        self.denies: Callable[[str], bool] | None = None
        """By path: whether a person says no there, besides to what nobody ever allows."""
        self.settles: Callable[[str], str] | None = None
        """By path: what people say of a write in doubt, `retry`, `output` or `failed`; None: they look."""
        self.settled_as_failed: set[str] = set()
        self.stop: Callable[[str], None] | None = None
        """Told the run's id once so many calls are made."""
        self.stop_at = 0
        self.patience: float | None = None
        """Seconds that tools wait for people; None: for ever."""
        self.cost: float | None = None
        """USD of a call of a leaf."""
        self.bound: Callable[[Plan], Plan] | None = None
        """Gives bounds to the plans that are tools."""
        self.made: list[Made] = []
        self._forgotten: list[Made] = []

    def begin(self, schedule: int) -> None:
        """Another run, with that schedule."""
        self.schedule, self.made, self._forgotten = schedule, [], []

    def forget(self) -> None:
        """Count only what is called from now on; what has happened has happened."""
        self._forgotten += self.made
        self.made = []

    def ever_made(self) -> list[Made]:
        """Every call, also those that count no more."""
        return [*self._forgotten, *self.made]

    def past(self) -> World:
        """What was done until now."""
        world = World(self.schedule)
        world.made = list(self.made)
        return world

    def effects(self) -> list[tuple[str, bytes]]:
        """Tool and inputs of each effect, sorted."""
        return sorted((made.tool, canonical(made.inputs)) for made in self.made if made.effect)

    def allows(self, path: str) -> bool:
        """Whether a person says yes to the step."""
        return not path.endswith(DENIED) and (self.denies is None or not self.denies(path))

    def has_made(self, run_id: str, path: str) -> bool | None:
        """Whether the step of that run has had its effect; None where it was not called here."""
        calls = [made.effect for made in self.ever_made() if made.path == path and made.key.startswith(f"{run_id}/")]
        return any(calls) if calls else None

    async def pass_time(self, *key: Any) -> None:
        match drawn(self.schedule, *key) % 8:
            case 0 | 1:
                return
            case 2:
                await asyncio.sleep(0)
            case _:
                await asyncio.sleep(drawn(self.schedule, "time", *key) % 50 / 1000)

    def tools(self) -> list[Tool]:
        """Every tool that a structure names."""
        leaves = [self._plain() if name == "plain" else self._leaf(name, name) for name in LEAVES]
        signed = self._leaf("signed", "write", requires=Requires(approval=True))
        others = [self._unsure(), self._broken(), self._slow(), self._caller(), self._breaking(), self._asker()]
        return [*(replace(leaf, cost=self.cost) for leaf in (*leaves, signed)), *others, *self._bodies()]

    def mind(self) -> Mind:
        """The model of the agents: what it does follows from what it is to reach, and how often it has spoken."""
        return Mind(self)

    def _bodies(self) -> list[Tool]:
        bound = self.bound
        if bound is None:
            return _BODIES
        # Those that are tight have bounds of their own.
        return [
            replace(tool, body=bound(tool.body)) if isinstance(tool.body, Plan) and "tight" not in tool.name else tool
            for tool in _BODIES
        ]

    def _leaf(self, name: str, kind: str, **fields: Any) -> Tool:
        async def invoke(inputs: JsonObject, context: Any) -> JsonObject:
            await self.pass_time(context.path, context.attempt)
            failing = (self.fails is not None and self.fails(context.path)) or (
                kind == "flaky" and context.attempt == 1
            )
            self.note(f"sim.{name}", context, inputs, effect=not failing and kind in ("write", "idempotent"))
            if failing:
                raise ToolRetry("the first attempt fails") if kind == "flaky" else ToolFailed("it fails now")
            await self.pass_time(context.path, "after")
            return answer(f"sim.{name}", inputs)

        effect = "read" if kind in ("read", "flaky") else "write"
        return Tool(
            name=name,
            group="sim",
            input_schema=SCHEMA,
            output_schema=NUMBER,
            effect=effect,  # type: ignore[arg-type]
            idempotent=kind == "idempotent",
            body=Body(invoke=invoke, wants_context=True),
            **fields,
        )

    def _plain(self) -> Tool:
        """A write by a `def` function, in a thread."""

        def invoke(inputs: JsonObject, context: Any) -> JsonObject:
            failing = self.fails is not None and self.fails(context.path)
            self.spend_time(context.path)
            self.note("sim.plain", context, inputs, effect=not failing)
            if failing:
                raise ToolFailed("it fails now")
            return answer("sim.plain", inputs)

        made = Body(invoke=invoke, wants_context=True, runs="thread")
        return Tool(name="plain", group="sim", input_schema=SCHEMA, output_schema=NUMBER, effect="write", body=made)

    def spend_time(self, *key: Any) -> None:
        """Take as long as a function in a thread does: none of virtual time."""

    def note(self, tool: str, context: Any, inputs: JsonObject, *, effect: bool) -> None:
        self.made.append(Made(tool, context.path, context.idempotency_key, inputs, effect))
        if self.stop is not None and len(self.made) == self.stop_at:
            self.stop(context.run_id)

    def _reading(self, name: str, invoke: Any, **fields: Any) -> Tool:
        made = Body(invoke=invoke, wants_context=True)
        schema = {**SCHEMA, "properties": {"of": {}, "way": {"type": "integer"}}}
        return Tool(name=name, group="sim", input_schema=schema, body=made, **{"effect": "read", **fields})

    def _unsure(self) -> Tool:
        async def invoke(inputs: JsonObject, context: Any) -> JsonObject:
            self.note("sim.unsure", context, inputs, effect=False)
            await self.pass_time(context.path)
            return {**answer("sim.unsure", inputs), "confidence": 0.1 * (drawn(canonical(inputs)) % 10)}

        return self._reading("unsure", invoke)

    def _broken(self) -> Tool:
        async def invoke(inputs: JsonObject, context: Any) -> JsonObject:
            await self.pass_time(context.path)
            raise ToolFailed("this tool always fails")

        return self._reading("broken", invoke)

    def _slow(self) -> Tool:
        async def invoke(inputs: JsonObject, context: Any) -> JsonObject:
            await asyncio.sleep(1_000)
            return {}

        return self._reading("slow", invoke, timeout=0.05)

    def _breaking(self) -> Tool:
        """It makes a call, then fails."""

        async def invoke(inputs: JsonObject, context: Any) -> JsonObject:
            await context.call("sim.write", {"of": [inputs["of"], "breaking"]}, key="x")
            raise ToolFailed("it has made a call, and fails")

        return self._reading("breaking", invoke, effect="write")

    def _asker(self) -> Tool:
        async def invoke(inputs: JsonObject, context: Any) -> JsonObject:
            form = {"title": "How many?", "inputs": [{"name": "n", "type": "integer"}]}
            given = await context.ask(form, key="many", timeout=self.patience)
            await self.pass_time(context.path)
            return answer("sim.asker", [inputs, given["values"]["n"] if "values" in given else given["n"]])

        return self._reading("asker", invoke)

    def _caller(self) -> Tool:
        async def invoke(inputs: JsonObject, context: Any) -> JsonObject:
            await self.pass_time(context.path)
            return answer("sim.caller", await _call_others(inputs, context))

        # To call it again is safe: its calls are in the journal.
        return self._reading("caller", invoke, effect="write", idempotent=True)


class Mind(ScriptedModel):
    """A model that takes its time."""

    def __init__(self, world: World) -> None:
        super().__init__(then=_turn)
        self._world = world

    async def __call__(self, request: ChatRequest) -> ChatReply:
        said = sum(message.role == "assistant" for message in request.messages)
        await self._world.pass_time("think", request.messages[0].text, said)
        return await super().__call__(request)


def _turn(request: ChatRequest) -> Turn:
    said = sum(message.role == "assistant" for message in request.messages)
    goal = request.messages[0].text
    asks = any(spec.name == "sim--signed" for spec in request.tools)
    if said >= drawn("rounds", goal) % 4:
        return done(goal[:20])
    of = {"of": [drawn(goal), said]}
    match drawn("turn", goal, said) % (9 if asks else 8):
        case 0:
            return [("sim.read", {"of": [drawn(goal), said, n]}) for n in range(2)]
        case 1:
            return [("sim.write", of), ("sim.read", of)]
        case 2:
            return [("sim.idempotent", of), ("sim.flaky", of)]
        case 3:
            return [("sim.caller", {**of, "way": drawn(goal) % 7})]
        case 4:
            return [("sim.body1", of)]
        case 5:
            return [("sim.nothing", of), ("sim.broken", of), ("sim.write", {})]
        case 6:
            return "I have to think."
        case 7:
            return [("sim.write", {"of": [drawn(goal), said, n]}) for n in range(2)]
        case _:
            return [("sim.signed", of), ("sim.read", of)]


async def _call_others(inputs: JsonObject, context: Any) -> list[Json]:
    of, call = inputs["of"], context.call
    match inputs.get("way", 0):
        case 0:
            first = await call("sim.read", {"of": [of, "a"]})
            return [first, await call("sim.write", {"of": [first, "b"]})]
        case 1:
            calls = (call("sim.write", {"of": [of, n]}) for n in range(2))
            return list(await asyncio.gather(*calls, call("sim.read", {"of": of}), call("sim.idempotent", {"of": of})))
        case 2:
            return [await call(f"sim.body{drawn(canonical(of)) % BODIES}", {"of": of})]
        case 3:
            return [await call("sim.caller", {"of": of, "way": 1}), await call("sim.write", {"of": of})]
        case 4:
            return [await call("sim.write", {"of": [of, n]}, key=f"x{n}") for n in range(2)]
        case 5:
            try:
                await call("sim.broken", {"of": of})
            except ToolFailed:
                return [await call("sim.write", {"of": of}, key="x")]
            return []
        case 6:
            calls = (call("sim.body0", {"of": [of, 1]}), call("sim.write", {"of": of}, key="x"))
            return list(await asyncio.gather(*calls))
        case _:
            return [await call("sim.read", {"of": of}), await call("sim.signed", {"of": of})]


_BODIES = [
    Tool(name=f"body{number}", group="sim", input_schema=SCHEMA, effect="write", body=body(number))
    for number in range(BODIES)
] + [
    Tool(name=f"tight{number}", group="sim", input_schema=SCHEMA, effect="write", body=tight_body(number))
    for number in range(TIGHT)
]
