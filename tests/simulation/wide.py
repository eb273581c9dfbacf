"""What must hold of plans that have what `structures` leaves out: blocks that are begun again or in time, several other
tools, conditions of approvals, forms that end, values that are not there, agents with bounds.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from moves import of_cut, of_retries, of_stops
from msgspec.structs import replace
from plays import differing, faults_of, play
from structures import LEAVES, Builder, Structure
from virtual import in_virtual_time
from worlds import World

from toolpath.model.plan import (
    Agent,
    AgentBudget,
    Ask,
    Call,
    Fallback,
    Loop,
    OnFailure,
    OnSuccess,
    Parallel,
    Retry,
    Step,
)

CUTS = 8


def of_wide(seed: int) -> Iterator[str]:
    """Whatever ends first and wherever the journal ends: no call twice, the same end."""
    this = wide(seed)
    whole = in_virtual_time(play(this.plan, World(seed % 5)))
    yield from faults_of(whole)
    other = in_virtual_time(play(this.plan, World(seed % 5 + 1)))
    yield from faults_of(other)
    if this.exact:
        yield from differing(other, whole)
    yield from of_retries(seed, wide)
    yield from of_stops(seed, wide)
    places = range(1, len(whole.events))
    for place in sorted(random.Random(seed).sample(places, min(CUTS, len(places)))):
        yield from (f"cut after {place} of {len(whole.events)}: {fault}" for fault in of_cut(this, whole, place))


def wide(seed: int) -> Structure:
    """The plan of that number."""
    builder = WideBuilder(random.Random(seed), deepest=seed % 4)
    builder.agents = 4
    return builder.structure(seed)


class WideBuilder(Builder):
    """Builds one plan whose steps have what is said of any step, wherever it may be said."""

    def step(self, flow: str, level: int, before: list[Step], around: list[str]) -> Step:
        step = super().step(flow, level, before, around)
        match step:
            case Parallel() | Loop():
                return self.of_blocks(step)
            case Call() if not step.id.endswith("_no"):
                return self.of_calls(step, flow, before)
            case Ask() if self.chance.random() < 0.5:
                ends = self.chance.random() < 0.5
                self.raced = self.raced or ends
                return replace(step, timeout=0.02 if ends else 10_000)
            case Agent():
                return self.of_agents(step)
            case _:
                return step

    def of_blocks(self, step: Parallel | Loop) -> Step:
        """It is begun again, in time, or its failure is no failure of what is around it."""
        chance = self.chance
        if chance.random() < 0.35:
            step = replace(step, retry=self.again())
        if chance.random() < 0.15:
            self.raced = True
            step = replace(step, timeout=chance.choice([0.02, 0.06, 0.2]))
        if chance.random() < 0.3:
            self.tolerant = True
            step = replace(step, on_failure=OnFailure(action="continue"))
        return step

    def of_calls(self, step: Call, flow: str, before: list[Step]) -> Step:
        """As `of_blocks`, and other tools, people who are asked on a condition, and values that are not there."""
        chance = self.chance
        runs_others = step.tool.startswith(("sim.body", "sim.caller", "sim.breaking"))
        said: dict[str, Any] = {}
        if runs_others and chance.random() < 0.35:
            said["retry"] = self.again()
        if chance.random() < 0.08:
            self.raced = True
            said["timeout"] = chance.choice([0.02, 0.06, 0.2])
        if not step.fallback and chance.random() < (0.4 if runs_others or step.tool == "sim.broken" else 0.05):
            self.tolerant = True
            said["fallback"] = tuple(self.other(step) for _ in range(chance.choice([1, 2, 3])))
        if self.people and not self.is_body and chance.random() < 0.06:
            said["requires_approval"] = f"{{{{ inputs.seed > {chance.randint(0, 14)} }}}}"
        leaf = step.tool.removeprefix("sim.") in LEAVES
        if leaf and flow == "chain" and not self.graphs and step.on_success == OnSuccess() and chance.random() < 0.2:
            self.variables.append(f"m_{step.id}")
            said["on_success"] = OnSuccess(map_outputs={"v": f"m_{step.id}"})
        unknown = [one.id for one in before if isinstance(one, Call) and one.tool == "sim.caller"]
        if unknown and chance.random() < 0.5:
            self.tolerant = True
            said["inputs"] = {"of": [step.id, f"{{{{ steps['{chance.choice(unknown)}'].output.nothing }}}}"]}
            said["on_unresolved"] = chance.choice(["error", "keep", "null", "skip"])
            if chance.random() < 0.5:
                said["on_failure"] = OnFailure(action="continue")
            else:
                # What is under way beside it when it fails, time decides.
                self.raced = True
        if self.exclusive and flow == "chain" and chance.random() < 0.1:
            said["exclusive"] = True
        return replace(step, **said)

    def of_agents(self, step: Agent) -> Step:
        """Its writes are asked about, or it may do little."""
        chance = self.chance
        if self.people and chance.random() < 0.4:
            step = replace(step, approve_writes=True)
        if chance.random() < 0.2:
            step = replace(step, max_rounds=2)
        if chance.random() < 0.2:
            step = replace(step, budget=AgentBudget(calls=chance.choice([1, 2, 4])))
        if chance.random() < 0.5:
            step = replace(step, on_failure=OnFailure(action="continue"))
        else:
            self.raced = True
        return step

    def again(self) -> Retry:
        return Retry(
            max_retries=self.chance.choice([1, 1, 2]),
            initial_delay=0.01,
            backoff=self.chance.choice(["none", "fixed", "exponential"]),
        )

    def other(self, step: Call) -> Fallback:
        """Another tool, at times with inputs of its own, or for when this one was not sure."""
        chance = self.chance
        tools = ["sim.read", "sim.write", "sim.broken", "sim.breaking", "sim.caller", "sim.unsure"]
        tools += [f"sim.body{chance.randrange(self.bodies)}"] if self.bodies else []
        tools += ["sim.signed", "sim.asker"] if self.people else []
        inputs = {"of": [step.id, "otherwise"]} if chance.random() < 0.3 else None
        condition = chance.choice(["on_error", "on_error", "on_low_confidence"])
        return Fallback(tool=chance.choice(tools), inputs=inputs, condition=condition)
