"""What must hold of a run that fails and goes on with another plan, and of what is done with it after that."""

from __future__ import annotations

import random
from collections.abc import Iterator

import msgspec
from journeys import Journey
from plays import CONTEXT, called_again, differing, play, top
from structures import INPUTS, structure
from virtual import VirtualClock, in_virtual_time
from worlds import World

from toolpath.app import Toolpath
from toolpath.errors import PlanInvalid
from toolpath.model import events as ev
from toolpath.model.plan import Block, Call, OnSuccess, Parallel, Plan, Step
from toolpath.model.run import RunResult
from toolpath.planner.replan import replan_request, revised_plan
from toolpath.runs.run import Run
from toolpath.store.memory.store import MemoryStore


def of_replans(seed: int) -> Iterator[str]:
    """Planned anew, forked, tried again, cut or stopped, a run gives what a straight run of its last plan does."""
    journey = Replans(structure(seed), random.Random(seed))
    in_virtual_time(journey.go(seed % 3 + 1))
    yield from (f"{journey.told}: {fault}" for fault in journey.faults)
    if not journey.is_straight or journey.faults:
        return
    whole = in_virtual_time(play(journey.this.plan, World(seed % 5), journey.inputs))
    yield from (f"{journey.told}: {fault}" for fault in differing(journey.played(), whole, "status", "outputs"))


class Replans(Journey):
    """A run that is planned anew wherever it has failed."""

    async def go(self, moves: int) -> None:
        self.store = MemoryStore(clock=VirtualClock().time)
        await self.leg("run", lambda tp: tp.start(self.this.plan, INPUTS, context=CONTEXT), how="fails")
        await self.moves(moves)

    async def move(self) -> None:
        if self.result.status == "failed" and self.chance.random() < 0.8:
            await self.replan()
        else:
            await super().move()

    async def replan(self) -> None:
        """Keep what is done, and do something else for the rest."""
        before, run_id = self.events, self.result.run_id
        kept: tuple[str, ...] = ()

        async def act(tp: Toolpath) -> Run:
            nonlocal kept
            catalog = await tp.tools()
            request = replan_request(self.this.plan, self.result.results, catalog)
            kept = tuple(step.id for step in request.kept)
            new = self.another(request.kept, self.result)
            plan = revised_plan(self.this.plan, new, catalog, kept=kept, new_writes=True)
            program = await tp._preparation.runnable(plan)
            revised = ev.PlanRevised(
                0, 0.0, plan=program.frozen, bodies=program.frozen_bodies, tools=program.fingerprints, kept=kept
            )

            async def make() -> ev.PlanRevised:
                return revised

            info = await tp.store.get_run(run_id)
            run = await tp._drives.replan(run_id, make, expected=info.epoch)
            self.this = msgspec.structs.replace(self.this, plan=plan)
            return run

        try:
            await self.leg("replan", act)
        except PlanInvalid:
            # What is done reads what a graph does not have.
            await self.go_on()
            return
        self.faults += called_again([event for event in before if top(getattr(event, "path", "")) in kept], self.world)

    def another(self, kept: tuple[Step, ...], result: RunResult) -> Plan:
        """A plan with these steps, and others for what is unfinished: under the same ids, so that all can be read."""
        chance, old = self.chance, self.this.plan
        made: list[Step] = list(kept)
        names = [step.id for step in kept]
        for step in old.steps:
            if step.id in names:
                continue
            if old.flow == "graph" and chance.random() < 0.5:
                made.append(step)
            else:
                made.append(self.instead(step, names))
            names.append(step.id)
        extra = f"anew{len(self.told)}"
        made.append(Call(id=extra, tool="sim.write", inputs={"of": [extra, self.reading(names)]}))
        outputs = {step.id: f"{{{{ steps['{step.id}'].output }}}}" for step in made}
        return Plan(flow="graph", steps=tuple(made), outputs=outputs, failure_mode=old.failure_mode)

    def instead(self, step: Step, names: list[str]) -> Step:
        """Something else under the step's id. What it writes to variables, others may read."""
        chance, name = self.chance, step.id
        on_success = step.on_success if self.this.plan.flow == "graph" else OnSuccess()
        tool = chance.choice(["read", "write", "idempotent", "plain", "caller", "body1", "body2"])
        inputs = {"of": [name, "instead", self.reading(names)]}
        if chance.random() < 0.3:
            inner = Call(id="in", tool=f"sim.{tool}", inputs=inputs)
            return Parallel(id=name, on_success=on_success, branches=(Block(id="in", steps=(inner,)),))
        return Call(id=name, tool=f"sim.{tool}", inputs=inputs, on_success=on_success)

    def reading(self, names: list[str]) -> list[str]:
        """Up to two of the steps before."""
        read = self.chance.sample(names, min(len(names), self.chance.randint(0, 2)))
        return [f"{{{{ steps['{name}'].output | default(0, true) }}}}" for name in read]
