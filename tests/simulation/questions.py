"""What must hold of questions that people answer at once, later, too late or never, whatever happens meanwhile.

While something waits for people, the run is paused, cancelled, or loses its driver; what comes of it is what comes of a
run in which the same people do the same, and nothing disturbs them.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
from collections.abc import Iterator

import msgspec
from moves import is_handled
from plays import CONTEXT, Played, called_again, differing, faults_of, opened, settle
from structures import INPUTS, asking
from virtual import VirtualClock, in_virtual_time
from worlds import World, drawn

from toolpath.app import Toolpath
from toolpath.errors import RunConflict
from toolpath.model import events as ev
from toolpath.model.plan import Ask, Block, Loop, Parallel, Plan, Step
from toolpath.model.run import RunResult
from toolpath.store.memory.store import MemoryStore

#: Seconds that people have, and after which some of them answer.
PATIENCE, SLOW, LATE = 1_000.0, 400.0, 1_200.0
#: What disturbs a run.
MOST = 3
#: A run that wants more of people is stuck.
MOST_TURNS = 400


def of_questions(seed: int) -> Iterator[str]:
    """However a run is disturbed while people are asked, it gives what it gives undisturbed."""
    this = asking(seed)
    plan = with_deadlines(this.plan)
    calm, disturbed = People(seed, plan, 0), People(seed, plan, MOST)
    for people in (calm, disturbed):
        in_virtual_time(people.go())
        yield from (f"{people.told}: {fault}" for fault in people.faults)
        yield from (f"{people.told}: {fault}" for fault in faults_of(people.played()))
    if not this.exact or (disturbed.was_cancelled and (this.tolerant or is_handled(calm.played(), plan))):
        return
    yield from (f"{disturbed.told}: {it}" for it in differing(disturbed.played(), calm.played(), "status", "outputs"))


def with_deadlines(plan: Plan) -> Plan:
    """The plan, whose forms wait for a while."""
    block = _dated(Block(steps=plan.steps))
    return msgspec.structs.replace(plan, steps=block.steps)


def _dated(block: Block) -> Block:
    return msgspec.structs.replace(block, steps=tuple(map(_dated_step, block.steps)))


def _dated_step(step: Step) -> Step:
    match step:
        case Ask():
            return msgspec.structs.replace(step, timeout=PATIENCE if drawn(step.id) % 4 else None)
        case Loop():
            return msgspec.structs.replace(step, body=_dated(step.body))
        case Parallel():
            return msgspec.structs.replace(step, branches=tuple(map(_dated, step.branches)))
    return step


class People:
    """A run, and those who are asked in it: what each does depends on the question alone."""

    result: RunResult

    def __init__(self, seed: int, plan: Plan, disturbances: int) -> None:
        self.seed = seed
        self.plan = plan
        self.left = disturbances
        self.chance = random.Random(seed)
        self.world = World(seed % 5)
        self.world.patience = PATIENCE
        self.told: list[str] = []
        self.faults: list[str] = []
        self.was_cancelled = False
        self.events: list[ev.AnyEvent] = []

    def played(self) -> Played:
        return Played(self.result, self.events, self.world, [])

    async def go(self) -> None:
        """The run to its end, by as many processes as it takes."""
        clock = VirtualClock()
        store = MemoryStore(clock=clock.time)
        run_id = ""
        while True:
            async with opened(self.world, store) as (tp, watcher):
                if run_id:
                    before = await tp.events(run_id)
                    self.world.forget()
                    await (await tp.resume(run_id)).result()
                else:
                    before, run_id = [], (await tp.start(self.plan, INPUTS, context=CONTEXT)).id
                is_over = await self._attend(tp, run_id)
                self.faults += [*watcher.faults, *called_again(before, self.world)]
                self.result, self.events = await tp.result(run_id), await tp.events(run_id)
            if is_over or self.faults:
                return

    async def _attend(self, tp: Toolpath, run_id: str) -> bool:
        """Do what people do until the run has ended, or its process is to be lost: then false."""
        for _ in range(MOST_TURNS):
            result = await tp.result(run_id)
            if result.status != "waiting":
                return True
            if self.left and self.chance.random() < 0.5:
                self.left -= 1
                if not await self._disturb(tp, result):
                    return False
            elif not await self._do(tp, result):
                await self._wait(tp, result)
        self.faults.append("it waits for people again and again")
        return True

    async def _disturb(self, tp: Toolpath, result: RunResult) -> bool:
        """Something happens beside what people do. False: the process is lost."""
        run_id, how = result.run_id, self.chance.choice(["cancel", "pause", "loss"])
        self.told.append(how)
        if how == "loss":
            return False
        self.was_cancelled = self.was_cancelled or how == "cancel"
        say = tp.cancel if how == "cancel" else tp.pause
        if self.chance.random() < 0.5:
            await asyncio.gather(say(run_id), self._do(tp, result))
        else:
            await say(run_id)
            await tp.result(run_id)
            await self._do(tp, result)
        stands = await tp.result(run_id)
        with contextlib.suppress(RunConflict):
            if stands.status in ("paused", "cancelled"):
                await (await (tp.resume if stands.status == "paused" else tp.retry)(run_id)).result()
        return True

    async def _do(self, tp: Toolpath, result: RunResult) -> bool:
        """What is to be done now, of one question. False: nothing is."""
        now = tp.clock.time()
        for question in result.questions:
            if isinstance(question, ev.ApprovalRequested):
                # It may not wait any more, where something else has happened.
                with contextlib.suppress(RunConflict):
                    allows = self.world.allows(question.path)
                    await (tp.approve if allows else tp.deny)(result.run_id, question.path)
                return True
            if now >= question.at + self._after(question):
                with contextlib.suppress(RunConflict):
                    await tp.answer(result.run_id, question.path, {"n": drawn(_place(question.path)) % 100})
                return True
        for step in result.results:
            if step.status == "unknown":
                with contextlib.suppress(RunConflict):
                    await settle(tp, result.run_id, step, self.world)
                return True
        return False

    async def _wait(self, tp: Toolpath, result: RunResult) -> None:
        """Until somebody answers, or the time to do so is over, and a little longer."""
        now = tp.clock.time()
        due = [question.at + self._after(question) - now for question in result.questions]
        ends = [one.deadline - now for one in result.questions if one.deadline is not None]
        await asyncio.sleep(max(0.0, min([*due, *ends])) + 0.001)
        for question in result.questions:
            if question.deadline is None or tp.clock.time() < question.deadline or self._after(question) < LATE:
                continue
            try:
                await tp.answer(result.run_id, question.path, {"n": 1})
            except RunConflict:
                continue
            self.faults.append(f"{question.path} was answered after its time was over")

    def _after(self, question: ev.ApprovalRequested | ev.InputRequested) -> float:
        """Seconds until somebody answers."""
        if question.deadline is None:
            return 0.0
        return (0.0, 0.0, SLOW, LATE)[drawn("answers", self.seed, _place(question.path)) % 4]


def _place(path: str) -> str:
    """The path without counts of how often its blocks were begun."""
    return re.sub(r"~\d+", "", path)
