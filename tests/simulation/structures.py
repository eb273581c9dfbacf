"""Random plans with every kind of step in every other, whose result depends on nothing but the plan.

`structure(seed)` gives one; equal seeds give equal plans. What is known of it besides is whether its runs are all alike
(`exact`): where branches race, only the laws hold that hold for every run.
"""

from __future__ import annotations

import random
from typing import Any

import msgspec

from toolpath.model.plan import (
    Agent,
    Ask,
    Block,
    Budget,
    Cache,
    Call,
    Fallback,
    Field,
    Flow,
    Loop,
    OnFailure,
    OnSuccess,
    Parallel,
    Plan,
    Retry,
    Step,
)
from toolpath.values import JsonObject

INPUTS: JsonObject = {"seed": 7, "items": [1, 2, 3], "none": []}
SCHEMA: JsonObject = {"type": "object", "properties": {"of": {}}, "required": ["of"]}
#: Leaf tools by what becomes of a call of theirs.
LEAVES = ("read", "write", "idempotent", "flaky", "plain")
#: Tools that agents may call; the last one asks people.
ACTS = ("sim.read", "sim.write", "sim.idempotent", "sim.flaky", "sim.broken", "sim.caller", "sim.body1", "sim.signed")
#: How many tools have a random plan for a body.
BODIES = 12
#: How many tools have one of these for a body, with a budget that may be too small for it.
TIGHT = 3
#: How the ids of steps end that people do not allow.
DENIED = "_no"
#: What the tool that calls others does, by its input `way`.
WAYS = 8
_INPUT_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"seed": {"type": "integer"}, "items": {"type": "array"}, "none": {"type": "array"}},
}
_NUMBER = "{{{{ ({0} | default(0, true)) }}}}"


class Structure(msgspec.Struct, frozen=True):
    """A plan, and what is known of its runs."""

    seed: int
    plan: Plan
    exact: bool
    """Every run of it gives the same, whatever ends first."""
    tolerant: bool
    """Some failure in it is handled by the plan itself."""


def structure(seed: int) -> Structure:
    """The plan of that number."""
    builder = Builder(random.Random(seed), deepest=seed % 4)
    return builder.structure(seed)


def asking(seed: int) -> Structure:
    """The plan of that number in which people are asked often."""
    builder = Builder(random.Random(seed), deepest=seed % 4)
    builder.people, builder.questions = True, 14
    return builder.structure(seed)


def acting(seed: int) -> Structure:
    """The plan of that number in which many steps are agents."""
    builder = Builder(random.Random(seed), deepest=seed % 4)
    builder.agents = 60
    return builder.structure(seed)


def body(number: int) -> Plan:
    """The plan inside the tool `sim.body<number>`; it may call those before it."""
    builder = Builder(random.Random(7_000 + number), deepest=1, bodies=number, racing=False, people=number % 3 == 0)
    built = builder.structure(number)
    steps, flow = built.plan.steps, built.plan.flow
    last = {step.id: f"{{{{ steps['{step.id}'].output }}}}" for step in steps[-2:]}
    mode = builder.chance.choice(["stop", "isolate"])
    budget, concurrency = _BOUNDS[number % len(_BOUNDS)]
    return Plan(
        name=f"body{number}",
        inputs=SCHEMA,
        flow=flow,
        steps=steps,
        outputs=last,
        failure_mode=mode,  # type: ignore[arg-type]
        state=built.plan.state,
        budget=budget,
        concurrency=concurrency,
    )


#: Bounds of bodies that count what is spent in them, and never end them; as many have none.
_NO = Budget()
_BOUNDS = ((_NO, None), (Budget(calls=10_000, tokens=1), None), (_NO, None), (_NO, 1), (_NO, None), (_NO, 2))


def tight_body(number: int) -> Plan:
    """The plan inside the tool `sim.tight<number>`: which of its calls is one too many, time decides."""
    calls = [("sim.caller", 1), ("sim.caller", 3), ("sim.write", 0)]
    steps = tuple(
        Call(id=f"t{place}", tool=tool, inputs={"of": [place, "{{ inputs.of }}"], **({"way": way} if way else {})})
        for place, (tool, way) in enumerate(calls)
    )
    return Plan(name=f"tight{number}", inputs=SCHEMA, steps=steps, budget=Budget(calls=3 + 3 * number))


class Builder:
    """Builds one plan."""

    def __init__(
        self, chance: random.Random, *, deepest: int, bodies: int = BODIES, racing: bool = True, people: bool = True
    ) -> None:
        self.chance = chance
        self.deepest = deepest
        self.bodies = bodies
        self.racing = racing and chance.random() < 0.3
        self.people = people and chance.random() < 0.5
        self.questions = 3
        self.agents = 0
        self.exclusive = chance.random() < 0.3
        self.raced = False
        self.tolerant = False
        self.is_body = bodies < BODIES
        self.count = 0
        self.chain = False
        self.graphs = 0
        """Blocks around here whose steps run side by side: a variable of theirs has one writer."""
        self.variables: list[str] = []
        """Those that are written: all of them in a chain, those of steps before it in a graph."""
        self.readable: list[str] = []

    def structure(self, seed: int) -> Structure:
        chance = self.chance
        flow: Flow = chance.choice(["graph", "graph", "chain"])
        self.chain = flow == "chain"
        self.graphs = 0 if self.chain else 1
        steps = self.steps(flow, chance.randint(1, 6), 0, [])
        mode = chance.choice(["stop", "stop", "isolate", "continue"])
        outputs = {step.id: f"{{{{ steps['{step.id}'].output }}}}" for step in steps}
        given = outputs if chance.random() < 0.8 else None
        plan = Plan(
            name=f"structure_{seed}",
            inputs=_INPUT_SCHEMA,
            flow=flow,
            steps=steps,
            outputs=given,
            failure_mode=mode,
            concurrency=chance.choice([1, 2, 3, 5]),
            state=dict.fromkeys([*self.variables, "total"], 0) if self.chain else {},
            budget=Budget() if chance.random() < 0.8 else Budget(calls=10_000),
        )
        return Structure(seed, plan, not self.raced, self.tolerant or mode != "stop")

    def steps(self, flow: str, count: int, level: int, around: list[str]) -> tuple[Step, ...]:
        made: list[Step] = []
        if flow == "chain" and self.chance.random() < 0.15:
            made += self.turning(around)
        if flow == "chain" and self.chance.random() < 0.15:
            made += self.jumping(around)
        for _ in range(count):
            made.append(self.step(flow, level, made, around))
            if self.chain or level == 0:
                self.readable = list(self.variables)
        return tuple(made)

    def jumping(self, around: list[str]) -> list[Step]:
        """A chain that leaves out a step, or goes back to one, when another one has failed."""
        self.tolerant = True
        first, left_out, last = self.name(), self.name(), self.name()
        fails = Call(
            id=first,
            tool=self.chance.choice(["sim.broken", "sim.slow", "sim.breaking"]),
            inputs={"of": [first, self.reads(around)]},
            on_failure=OnFailure(next=last),
        )
        made = [fails, Call(id=left_out, tool="sim.write", inputs={"of": [left_out]})]
        if self.chance.random() < 0.5:
            return [*made, Call(id=last, tool="sim.write", inputs={"of": [last, self.reads(around)]})]
        count = f"n_{last}"
        self.variables.append(count)
        write = OnSuccess(transform={count: f"{{{{ (state.{count} | default(0, true)) + 1 }}}}"})
        again = Call(
            id=f"{last}_again",
            tool="sim.broken",
            inputs={"of": [last]},
            when=f"{{{{ (state.{count} | default(0, true)) < 2 }}}}",
            on_failure=OnFailure(next=last),
        )
        inputs: JsonObject = {"of": [last, f"{{{{ state.{count} | default(0, true) }}}}"]}
        return [*made, Call(id=last, tool="sim.write", inputs=inputs, on_success=write), again]

    def turning(self, around: list[str]) -> list[Step]:
        """A chain that comes to its first steps three times."""
        first, last = self.name(), self.name()
        count = f"n_{first}"
        self.variables.append(count)
        write = OnSuccess(transform={count: f"{{{{ (state.{count} | default(0, true)) + 1 }}}}"})
        back = OnSuccess(next=first)
        return [
            Call(id=first, tool="sim.read", inputs={"of": [first, self.reads(around)]}, on_success=write),
            Call(
                id=last,
                tool=self.chance.choice(["sim.write", "sim.read"]),
                inputs={"of": [last, f"{{{{ state.{count} }}}}"]},
                when=f"{{{{ (state.{count} | default(0, true)) < 3 }}}}",
                on_success=back,
            ),
        ]

    def name(self) -> str:
        self.count += 1
        return f"s{self.count}"

    def step(self, flow: str, level: int, before: list[Step], around: list[str]) -> Step:
        chance, name = self.chance, self.name()
        common = self.common(name, flow, before)
        seen = [*around, *(step.id for step in before)]
        blocks = 14 if level < self.deepest else 0
        kinds = {"parallel": blocks, "loop": blocks, "call": 40, "caller": 8, "broken": 6, "doubted": 3}
        kinds["body"] = 12 if self.bodies else 0
        kinds["ask"] = kinds["asker"] = kinds["signed"] = kinds["denied"] = self.questions if self.people else 0
        kinds["tight"] = 8 if self.racing else 0
        kinds["agent"] = self.agents
        match chance.choices(list(kinds), list(kinds.values()))[0]:
            case "parallel":
                return self.parallel(common, level, seen)
            case "loop":
                return self.loop(common, level, seen)
            case "caller":
                way = chance.randrange(WAYS if self.people else WAYS - 1)
                return Call(**common, tool="sim.caller", inputs={"of": [name, self.reads(seen)], "way": way})
            case "body":
                tool = f"sim.body{chance.randrange(self.bodies)}"
                return Call(**common, tool=tool, inputs={"of": [name, self.reads(seen)]})
            case "broken":
                return self.broken(common, flow, seen)
            case "doubted":
                tool = chance.choice(["sim.read", "sim.write", f"sim.body{chance.randrange(self.bodies or 1)}"])
                other = Fallback(tool=tool if self.bodies else "sim.read", condition="on_low_confidence")
                return Call(**common, tool="sim.unsure", inputs={"of": [name]}, fallback=(other,))
            case "agent":
                return self.agent(common, seen)
            case "ask":
                field = Field(name="n", type="integer")
                return Ask(**common, title=name, fields=(field,))
            case "asker" | "signed" as tool:
                return Call(**common, tool=f"sim.{tool}", inputs={"of": [name, self.reads(seen)]})
            case "denied":
                return self.denied(common, seen)
            case "tight":
                self.raced = True
                tool = f"sim.tight{chance.randrange(TIGHT)}"
                return Call(**common, tool=tool, inputs={"of": [name, self.reads(seen)]})
            case _:
                return self.call(common, seen)

    def agent(self, common: dict[str, Any], seen: list[str]) -> Agent:
        """A step in which a model does what it likes: also about what fails."""
        self.tolerant = True
        common.pop("on_success", None)
        words = " ".join(str(one) for one in self.reads(seen))
        tools = ACTS if self.people else ACTS[:-1]
        return Agent(**common, requirement=f"{common['id']} {words}", tools=tools)

    def denied(self, common: dict[str, Any], seen: list[str]) -> Call:
        """A step that nobody allows, and the plan goes on."""
        self.tolerant = True
        chance, name = self.chance, common["id"] + DENIED
        common = {**common, "id": name, "requires_approval": True}
        common.pop("on_success", None)
        if chance.random() < 0.5:
            common["on_failure"] = OnFailure(action="continue")
        else:
            common["critical"] = False
        if chance.random() < 0.3:
            # What was denied is not done another way.
            common["fallback"] = (Fallback(tool="sim.write"),)
        tool = chance.choice(["sim.write", "sim.read", f"sim.body{chance.randrange(self.bodies or 1)}"])
        return Call(**common, tool=tool if self.bodies else "sim.write", inputs={"of": [name, self.reads(seen)]})

    def common(self, name: str, flow: str, before: list[Step]) -> dict[str, Any]:
        chance = self.chance
        common: dict[str, Any] = {"id": name}
        if before and flow == "graph" and chance.random() < 0.25:
            common["depends_on"] = (chance.choice(before).id,)
        if chance.random() < 0.12:
            common["when"] = f"{{{{ inputs.seed > {chance.randint(0, 14)} }}}}" if not self.is_body else "{{ 1 > 0 }}"
        if before and flow == "graph" and chance.random() < 0.06:
            common["when"] = f"{{{{ steps['{chance.choice(before).id}'].status != 'running' }}}}"
        if chance.random() < 0.05:
            common["critical"], self.tolerant = False, True
        if self.exclusive and flow == "graph" and chance.random() < 0.15:
            common["exclusive"] = True
        if self.people and chance.random() < 0.04:
            common["requires_approval"] = True
        if (writes := self.writes(name, flow)) is not None:
            common["on_success"] = writes
        return common

    def writes(self, name: str, flow: str) -> OnSuccess | None:
        chance = self.chance
        if chance.random() > (0.3 if flow == "chain" or self.chain else 0.06):
            return None
        own = f"v_{name}"
        transform: JsonObject = {own: f"{{{{ steps['{name}'].output | string | length }}}}"}
        if not self.graphs and chance.random() < 0.5:
            transform["total"] = f"{{{{ (state.total | default(0, true)) * 31 % 65521 + state.{own} }}}}"
        self.variables.append(own)
        return OnSuccess(transform=transform)

    def reads(self, seen: list[str]) -> list[Any]:
        """References to up to two steps before, a variable, and the run's inputs."""
        chance = self.chance
        found: list[Any] = ["{{ inputs.seed }}"] if not self.is_body else ["{{ inputs.of }}"]
        for step in chance.sample(seen, min(len(seen), chance.randint(0, 2))):
            found.append(f"{{{{ steps['{step}'].output | default(0, true) }}}}")
        if self.readable and chance.random() < 0.4:
            found.append(f"{{{{ state.{chance.choice(self.readable)} | default(0, true) }}}}")
        return found

    def call(self, common: dict[str, Any], seen: list[str]) -> Call:
        tool = self.chance.choice(["read", "write", "write", "idempotent", "flaky", "plain"])
        retry = Retry(max_retries=2, initial_delay=0.002, backoff="fixed") if tool == "flaky" else None
        if tool == "read" and self.chance.random() < 0.05:
            common["cache"] = Cache(ttl=300)
        return Call(**common, tool=f"sim.{tool}", inputs={"of": [common["id"], self.reads(seen)]}, retry=retry)

    def broken(self, common: dict[str, Any], flow: str, seen: list[str]) -> Call:
        """A step that fails, and what the plan does about it."""
        self.tolerant = True
        chance, of = self.chance, {"of": [common["id"], self.reads(seen)]}
        tool = chance.choice(["sim.broken", "sim.broken", "sim.slow", "sim.breaking"])
        match chance.choice(["continue", "fallback", "fallback", "critical"]):
            case "continue":
                common["on_failure"] = OnFailure(action="continue")
            case "critical":
                common["critical"] = False
            case _:
                tools = ["sim.read", "sim.write", "sim.caller"]
                tools += [f"sim.body{chance.randrange(self.bodies)}"] if self.bodies else []
                common["fallback"] = (Fallback(tool=chance.choice(tools)),)
        return Call(**common, tool=tool, inputs=of)

    def parallel(self, common: dict[str, Any], level: int, seen: list[str]) -> Parallel:
        chance = self.chance
        wait_for = chance.choice(["any", "first_success"]) if self.racing and chance.random() < 0.5 else "all"
        count = chance.choice([1, 2, 2, 3])
        self.raced = self.raced or (wait_for != "all" and count > 1)
        branches = tuple(self.branch(level, seen) for _ in range(count))
        return Parallel(**common, branches=branches, wait_for=wait_for)

    def branch(self, level: int, seen: list[str]) -> Block:
        if self.chance.random() < 0.5:
            # Written as one step: the branch has the step's id.
            self.graphs += 1
            step = self.step("graph", level + 1, [], seen)
            self.graphs -= 1
            return Block(id=step.id, steps=(step,))
        return self.block(self.name(), level, seen)

    def block(self, name: str, level: int, seen: list[str]) -> Block:
        flow: Flow = self.chance.choice(["graph", "chain"])
        self.graphs += flow == "graph"
        steps = self.steps(flow, self.chance.choice([1, 1, 2, 3]), level + 1, seen)
        self.graphs -= flow == "graph"
        return Block(id=name, flow=flow, steps=steps)

    def loop(self, common: dict[str, Any], level: int, seen: list[str]) -> Loop:
        chance = self.chance
        over: Any = chance.choice([[1, 2], [1], [], [3, 1, 2, 5]]) if self.is_body else "{{ inputs.items }}"
        if chance.random() < 0.1:
            over = []
        inside = self.block("", level, seen)
        return Loop(
            **common,
            over=over,
            item=f"item{level}",
            body=inside,
            concurrency=chance.choice([1, 1, 2, 3]),
            collect="{{ last }}" if chance.random() < 0.4 else None,
        )
