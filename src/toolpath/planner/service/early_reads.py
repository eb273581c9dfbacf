"""Runs that begin while their plan is still being written: reads start as soon as they check, in runs of their own.

The plan's run begins with what those reads have found, as a fork does with what another run has finished; what they are
still at is waited for by the steps that want it. Nothing is read twice.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing

import msgspec

from toolpath.engine.compile.program import Program
from toolpath.engine.drive.large import LargeValues, digests_of
from toolpath.errors import PlanningFailed, RunConflict, RunNotFound, ToolFailed
from toolpath.machine import new_id
from toolpath.model.events import PATHS, AnyEvent, RunStarted, StepReady, StepSucceeded
from toolpath.model.plan import Plan, Retry
from toolpath.model.run import RunContext
from toolpath.planner.by_model.streaming import PlanWritten, StepWritten
from toolpath.planner.records import PlanningResult
from toolpath.planner.replan import Replanning
from toolpath.ports import Clock, Signal, Store
from toolpath.runs.drives import Drives
from toolpath.runs.run import Run
from toolpath.values import Json, JsonObject

Compile = Callable[[Plan], Awaitable[Program]]
Parts = AsyncGenerator[StepWritten | PlanWritten]


class EarlyReadOutcome(msgspec.Struct, frozen=True):
    """Outcome of an early read."""

    events: tuple[AnyEvent, ...]
    """Those of its step alone."""
    output: Json


class Ahead:
    """One request from its words to its run. Use it with `async with`: what was begun in vain is stopped at the end."""

    def __init__(
        self,
        parts: Parts,
        *,
        drives: Drives,
        store: Store,
        clock: Clock,
        compiled: Compile,
        runnable: Compile,
        context: RunContext | None,
        leave: Callable[[int | Replanning | None], JsonObject],
    ) -> None:
        self.run_id = new_id("run", clock.time())
        """The id of the run that the plan will have; early reads name it as their parent."""
        self.planned: PlanningResult | None = None
        self._parts = parts
        self._drives = drives
        self._store = store
        self._clock = clock
        self._compile = compiled
        self._runnable = runnable
        self._context = context or RunContext()
        self._leave = leave
        self._reads: dict[str, asyncio.Task[EarlyReadOutcome | None]] = {}
        self._runs: list[str] = []
        self._is_begun = False

    async def __aenter__(self) -> Ahead:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    @property
    def early(self) -> tuple[str, ...]:
        """Ids of the steps that began before the plan was whole."""
        return tuple(self._reads)

    async def plan(self) -> Plan:
        """The whole plan, when it is written. Raises what planning raises; reads that began are then stopped."""
        async with aclosing(self._parts) as parts:
            async for part in parts:
                if isinstance(part, StepWritten):
                    if part.may_start and part.step.id not in self._reads:
                        program = await self._compile(part.plan)
                        self._reads[part.step.id] = asyncio.create_task(self._read(program, part.step.id))
                else:
                    await self._stop(part.revoked)
                    self.planned = part.planned
        if self.planned is None:
            raise PlanningFailed("The plan was never finished.")
        return self.planned.plan

    async def start(self, *, replan: int | Replanning | None = None) -> Run:
        """Begin the run of the plan with what the early reads have found. Raises what `Toolpath.start` raises."""
        if self.planned is None:
            raise RunConflict("There is no plan yet.", hint="Await `plan()` first.")
        # A program of its own: its steps may come to wait for the early reads of this one run.
        leave = self._leave(replan)
        program = await self._runnable(msgspec.structs.replace(self.planned.plan))
        self._is_begun = True
        for step_id, task in self._reads.items():
            if not task.done() and not _waits_by_itself(program, step_id, self._wait_for(task)):
                await asyncio.wait({task})
        found = [read for task in self._reads.values() if (read := _found(task)) is not None]
        if not self._reads:
            return await self._drives.start(program, {}, context=self._context, run_id=self.run_id, replan=leave)
        started = msgspec.structs.replace(self._started(program, self.run_id), replan=leave)
        events = sorted((event for read in found for event in read.events), key=lambda event: event.at)
        return await self._drives.begin_fork(program, _numbered([started, *events]))

    async def close(self) -> None:
        """Stop what was begun and is not wanted any more."""
        await self._parts.aclose()
        if not self._is_begun:
            await self._stop(list(self._reads))

    async def _read(self, program: Program, step_id: str) -> EarlyReadOutcome | None:
        """Make one read in a run of its own, when what it reads is there; None where it does not succeed."""
        root = program.root
        needed = _needed(program, root.index_of[step_id])
        before = [await self._reads[root.nodes[index].id] for index in needed]
        if any(found is None for found in before):
            return None
        steps = tuple(root.nodes[index].step for index in [*needed, root.index_of[step_id]])
        plan = Plan(name=f"early {step_id}", steps=steps, origin=program.plan.origin)
        part = await self._compile(plan)
        run_id = new_id("run", self._clock.time())
        self._runs.append(run_id)
        started = msgspec.structs.replace(self._started(part, run_id), parent={"run_id": self.run_id, "step": step_id})
        copied = [event for found in before if found is not None for event in found.events]
        run = await self._drives.begin_fork(part, _numbered([started, *copied]))
        await run.result()
        return await self._outcome(run_id, step_id, len(copied))

    async def _outcome(self, run_id: str, step_id: str, copied: int) -> EarlyReadOutcome | None:
        events = await self._store.read_events(run_id)
        own = [event for event in events[1 + copied :] if _is_of(event, step_id)]
        end = next((e for e in own if isinstance(e, StepSucceeded) and e.path == step_id), None)
        if end is None:
            return None
        large = LargeValues()
        await large.load(events, self._store, only=frozenset(digests_of(end.output)))
        return EarlyReadOutcome(tuple(own), large.restored(end.output))

    def _started(self, program: Program, run_id: str) -> RunStarted:
        return RunStarted(
            seq=1,
            at=self._clock.time(),
            run_id=run_id,
            plan=program.frozen,
            bodies=program.frozen_bodies,
            tools=program.fingerprints,
            context=self._context.as_json(),
            secrets=program.secrets,
            sources=self._drives.sources(),
            paths=PATHS,
        )

    def _wait_for(self, task: asyncio.Task[EarlyReadOutcome | None]) -> Callable[[JsonObject, object], Awaitable[Json]]:
        async def waits(_inputs: JsonObject, _context: object) -> Json:
            found = await asyncio.shield(task)
            if found is None:
                raise ToolFailed("The read that was begun while the plan was being written has failed.")
            return found.output

        return waits

    async def _stop(self, step_ids: Sequence[str]) -> None:
        tasks = [self._reads.pop(step_id) for step_id in step_ids if step_id in self._reads]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        if not self._reads:
            for run_id in self._runs:
                with contextlib.suppress(RunConflict, RunNotFound):
                    signal = Signal(kind="cancel", data={"reason": "its plan was not made"})
                    await (await self._drives.tell(run_id, signal)).result()


def _needed(program: Program, index: int) -> list[int]:
    """Indices of all steps that this one waits for, in the order of the plan."""
    found: set[int] = set()
    queue = [index]
    while queue:
        node = program.root.nodes[queue.pop()]
        for dep in (*node.deps, *node.soft):
            if dep not in found:
                found.add(dep)
                queue.append(dep)
    return sorted(found)


def _waits_by_itself(program: Program, step_id: str, waits: Callable[[JsonObject, object], Awaitable[Json]]) -> bool:
    """Have the step wait for its early read instead of making it again; whether it is of a kind that can."""
    node = program.root.nodes[program.root.index_of[step_id]]
    target = node.targets[0]
    if target.plan is not None or node.cached:
        return False
    own = msgspec.structs.replace(target, invoke=waits, runs="loop", wants_context=False, retry=Retry(max_retries=0))
    node.targets = (own, *node.targets[1:])
    return True


def _found(task: asyncio.Task[EarlyReadOutcome | None]) -> EarlyReadOutcome | None:
    if not task.done() or task.cancelled() or task.exception() is not None:
        return None
    return task.result()


def _is_of(event: AnyEvent, step_id: str) -> bool:
    path = getattr(event, "path", "")
    top = path.partition("/")[0].partition("[")[0].partition("#")[0].partition("~")[0]
    return bool(top == step_id) and not isinstance(event, StepReady)


def _numbered(events: Sequence[AnyEvent]) -> tuple[AnyEvent, ...]:
    return tuple(msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(events, 1))
