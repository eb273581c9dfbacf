"""The only loop: journal first, then act. Drives one run from its start, or from where another driver left it.

A worker is a task that makes one call after another and holds one slot; what came of a call is kept together with what
starts next, and the worker goes straight on. Nothing polls and nothing waits at a barrier.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from toolpath.engine.compile.program import Program
from toolpath.engine.decide.cancel import fail_run
from toolpath.engine.decide.recover import recover
from toolpath.engine.drive.after_call import AfterCall
from toolpath.engine.drive.alarms import Alarms
from toolpath.engine.drive.attempt import Attempt
from toolpath.engine.drive.calls import outcome_of
from toolpath.engine.drive.children import Children
from toolpath.engine.drive.dispatch import Dispatch
from toolpath.engine.drive.drive import GRACE, Drive
from toolpath.engine.drive.inbox import Inbox
from toolpath.engine.drive.loop_items import ItemAttempt
from toolpath.engine.drive.outcomes import timed_out
from toolpath.engine.drive.places import Places
from toolpath.engine.drive.services import Services
from toolpath.engine.drive.verify_writes import WriteVerifier
from toolpath.engine.state.fold import apply, fold
from toolpath.engine.state.results import Done
from toolpath.errors import ToolpathError
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent, Failure
from toolpath.model.run import ENDED_RUN
from toolpath.ports import Authority, Journal

#: Workers that are begun at once where each of them begins others.
TWO = 2
#: After so many calls a worker lets others have their turn.
BREATH = 16


class Runner(Drive):
    """Drives one run. `start` and `resume` return when it has ended, is paused, or waits for people alone."""

    def __init__(self, program: Program, services: Services, journal: Journal) -> None:
        super().__init__(program, services, journal)
        self.places = Places(self)
        self.children = Children(self, self.places)
        self.takes = Dispatch(self, self.children, self.places)
        self.control.lane_of = self.takes.lane_of
        self.linger = False  # or go on while a running tool waits for a person, instead of leaving it
        self.endings = AfterCall(self, self.takes)
        self.alarms, self.ears = Alarms(self), Inbox(self)
        self.commits.told = self.ears.told
        self.doubts = WriteVerifier(self, self.children)
        self._leaving = self._parking = False
        self._released: asyncio.Future[None] | None = None
        """Done when the store knows that nobody drives the run any more."""
        self.starting = 0
        """Workers that have a slot and have not begun."""

    # The life of a drive.

    async def start(self, started: ev.RunStarted, *, unheard: bool = True) -> None:
        """Begin a new run whose first event the journal has. Not `unheard`: nobody can have told it anything yet."""
        # It may have waited for a worker.
        self.control.at = max(started.at, self.services.clock.time())
        apply(self.state, started)
        self.commits.kept = self.state.seq
        self.taken([started])
        # What another process says meanwhile comes to light with the first commit, where it wakes nobody.
        await self._drive(self._open, unheard=unheard or self.services.store.hears_others)

    def _open(self) -> None:
        self.program.rank(self.services.statistics)
        self.takes.arm()
        if self.state.root is not None and self.state.plan_question is None:
            self.control.open_block(self.state.root)
            self.control.settle()
        self.commits.weighty = bool(self.control.batch)

    async def resume(
        self,
        events: list[AnyEvent],
        *,
        reason: str = "",
        accepted: dict[str, str] | None = None,
        authority: Authority | None = None,
        to_end: bool = False,
    ) -> None:
        """Go on with a run that another driver left. `accepted`: fingerprints of changed tools that are allowed;
        `authority`: of whoever has it go on; `to_end`: it was told to end, which is heard before all else."""
        await self.large.load(events, self.services.store)
        fold(self.state, events)
        self.commits.kept = self.state.seq
        self.taken(events)
        self.control.at = self.services.clock.time()
        if self.state.status in ENDED_RUN and reason != "retry":
            return
        control = self.control
        control.emit(ev.RunResumed(control.seq, control.at, self.commits.journal.epoch, reason, accepted or {}))
        control.authorize(authority)
        await self._drive(None if to_end else self._take_up, then=self._take_up if to_end else None)

    def _take_up(self) -> None:
        self.program.rank(self.services.statistics)
        self.takes.arm()
        if self.state.plan_question is None:
            if self.hold_if_changed():
                self._leaving = True
            else:
                recover(self.control)
        self.doubts.ask()

    async def _drive(
        self, begin: Callable[[], None] | None, *, unheard: bool = True, then: Callable[[], None] | None = None
    ) -> None:
        services, state = self.services, self.state
        self.left = asyncio.get_running_loop().create_future()
        listener: asyncio.Task[None] | None = None
        try:
            await services.turns.room(state.run_id)
            self._safely(begin or self.takes.arm)
            services.store.on_signal(state.run_id, self.ears.call)
            if self.commits.durable:
                listener = self.spawn(self.ears.listen())
            self._safely(self.alarms.arm_run)
            if unheard and not self.over:
                await self.ears.hear()
            if then is not None and state.status not in ENDED_RUN and not self.over:
                self._safely(then)  # what it was told was taken back, or heard by somebody else
            self._safely(self.go_on)
            await self.left
        finally:
            if not self.left.done():
                self.left.cancel()
            services.store.on_signal(state.run_id, None)
            self.deadlines.close()
            self.commits.close()
            self.alarms.close()
            self.takes.close()
            services.turns.forget(state.run_id)
            try:
                await self._end_tasks(listener)
                services.learned()
                released = self._released or self._release()
                if released is not None:
                    with contextlib.suppress(ToolpathError):
                        await released
            finally:
                self.let_go()

    def _safely(self, act: Callable[[], None]) -> None:
        try:
            act()
        except Exception as error:  # noqa: BLE001  # nobody must be left with a run that says it is running
            self.fail(error)

    async def _end_tasks(self, listener: asyncio.Task[None] | None) -> None:
        for lane in self.control.lanes.values():
            lane.close()
        for attempt in self.running.values():
            attempt.stopped = attempt.stopped or "left"
            attempt.abandoned = True
        tasks = [task for task in (*self.tasks, listener) if task is not None and not task.done()]
        for task in tasks:
            task.cancel()
        try:
            if tasks:
                # Calls that were cut off get a moment to clean up, but cannot hold the run.
                await asyncio.wait(tasks, timeout=GRACE)
        finally:
            self.places.let_go()

    # Act.

    def go_on(self) -> None:
        """Do what was decided: stop calls, wake replies, arm timers, begin calls; or leave if nothing is left to do."""
        control = self.control
        if self.over:
            return
        while True:
            control.has_commands = False
            if control.stops:
                self.stop_calls()
            if control.replies:
                self.children.reply()
            if control.timers or control.deadlines or control.block_timers or control.unwatched or control.unsettled:
                self.alarms.arm()
            self.places.let_back()
            if self._may_begin() and self.takes.are_open:
                self.busy += 1
                self.starting += 1
                # A worker lets go of itself: a callback for each would cost a turn of the loop.
                self.tasks.add(asyncio.create_task(self._work()))
            elif not control.has_commands:
                break
        if not control.ready:
            self.places.lapse()
        if not self.busy:
            self._leave_if_idle()
        elif control.batch and not self.commits.durable:
            self.commits.flush_soon()

    def _may_begin(self) -> bool:
        """Whether one more worker is to be begun: two at a time, or all at once where they will wait for one commit.

        Never more than there is to take: each costs a task, found work or not.
        """
        ready = self.control.ready
        if not ready or self.busy >= self.slots:
            return False
        first = ready[0][2]
        if self.starting >= len(ready) and (first.lane is None or self.starting >= len(ready) + first.lane.room):
            return False
        return self.starting < TWO or (self.commits.durable and self.commits.holds(first))

    def wake(self) -> None:
        """Something changed outside of a worker: keep what was written, then go on."""
        try:
            commit = None if self.over else self.commits.flush()
            if commit is None:
                self.go_on()
            else:
                self.spawn(self._go_on_after(commit))
        except Exception as error:  # noqa: BLE001  # goes to whoever awaits the drive
            self.fail(error)

    async def _go_on_after(self, commit: asyncio.Future[None]) -> None:
        await commit
        self.go_on()

    async def _work(self) -> None:
        """Make calls until none is ready; the worker keeps its slot meanwhile."""
        task = asyncio.current_task()
        try:
            await self._work_on(await self._next(None), task)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001  # goes to whoever awaits the drive
            self.fail(error)
        finally:
            self.tasks.discard(task)

    async def _next(self, last: Attempt | None) -> Attempt | None:
        """The next call of a worker that has made this one, or begins; a dear run waits for its turn."""
        turns, run_id = self.services.turns, self.state.run_id
        if turns.is_dear(run_id):
            await turns.next(run_id)
        began = turns.begin()
        if last is not None:
            attempt = self.takes.next(last)
        else:
            self.starting -= 1
            attempt = self.takes.take() if self.busy <= self.slots else None
        turns.spent(run_id, began)
        return attempt

    async def _work_on(self, attempt: Attempt | None, task: asyncio.Task[Any] | None) -> None:
        commits, control, turns, run_id = self.commits, self.control, self.services.turns, self.state.run_id
        made = 0
        while attempt is not None:
            attempt.task = task
            if commits.durable:
                await commits.allow(attempt.needs, crowded=self.busy > 1)
            elif not commits.soon:
                commits.flush_soon()
            if control.has_commands or self._may_begin():
                self.go_on()
            if self.over:
                return
            if turns.is_dear(run_id):
                await turns.next(run_id)
            outcome = await outcome_of(attempt, self)
            if not turns.have(run_id):
                await turns.next(run_id)
            if attempt.abandoned:
                return
            began = turns.begin()
            self.conclude(attempt, outcome)
            turns.spent(run_id, began)
            made += 1
            if not made % BREATH:
                # Tools that never suspend would keep the loop from everything else.
                await asyncio.sleep(0)
            if self.ears.called:
                await self.ears.hear()
            attempt = await self._next(attempt)
        self.busy -= 1
        if commits.durable:
            commits.end_of_turn()
        self.go_on()

    def conclude(self, attempt: Attempt, outcome: Done | Failure | None) -> None:
        """Write what came of a call, and what follows from it."""
        control = self.control
        control.at = self.services.clock.time()
        if type(attempt) is ItemAttempt and type(outcome) is Done and attempt.lane.succeed(attempt, outcome):
            self.commits.weighty = True
            self.endings.learn(attempt.target, outcome)
            if control.has_commands:
                self.go_on()
            return
        step = attempt.step
        self.running.pop(step, None)
        if outcome is not None and step.status in ("running", "waiting"):
            self.commits.weighty = True
            if isinstance(outcome, Failure):
                self.endings.failed(attempt, outcome)
            else:
                self.endings.succeeded(attempt, outcome)
        if attempt.account is not None and not attempt.resting:
            self.vacate(attempt.account)
        if control.gate.closings:
            control.settle()
        if attempt.held or attempt.around:
            # After the end is written: the journal never shows more at once than may be.
            self.places.release(attempt)
        if control.has_commands:
            self.go_on()

    def unaffordable(self, attempt: Attempt) -> Failure | None:
        """Why the call may not be made."""
        return self.takes.unaffordable(attempt.step, attempt.target)

    def abandon(self, attempt: Attempt) -> None:
        """It does not heed being cut off: its slot is given away, what it gives later thrown away."""
        if not attempt.calling or attempt.abandoned:
            return
        attempt.abandoned = True
        self.deadlines.remove(attempt)
        if not attempt.resting:
            self.busy -= 1
        outcome = timed_out(attempt.target, attempt.timeout) if attempt.stopped == "timeout" else None
        self.conclude(attempt, outcome)
        self.wake()

    # Leaving.

    def leave(self) -> None:
        """Begin nothing more, and go when what is under way has ended: another driver goes on."""
        self._leaving = self.takes.leaving = True
        self.wake()

    def _leave_if_idle(self) -> None:
        if self.left is None or self.over:
            return
        if self.state.status in ENDED_RUN or (self._leaving and not self.running):
            self._leave()
            return
        control = self.control
        if (
            control.halted is not None
            and not self.alarms.settling
            and all(attempt.paused for attempt in self.running.values())
        ):
            fail_run(control, *control.halted)
            self.wake()
            return
        if self._parking or self.alarms.settling:
            return
        if self.running and ((self.linger and not self.held) or not self.children.all_ask(self.running)):
            return
        if self.state.status == "paused":
            self._leave()
        elif self.held or not self._goes_on():
            self._parking = self.commits.parked = True
            self.spawn(self._park())

    def _goes_on(self) -> bool:
        """Something else than people will go on: a ready step, an answered one, a retry that is due, a limit."""
        if any((self.control.ready, self.control.replies, self.control.unsettled, self.places.queued, self.doubts)):
            return True
        return any(step.status == "ready" and step.watched and step.due for step in self.state.steps.values())

    async def _park(self) -> None:
        """Look once more whether somebody has said something, then leave nothing but the journal."""
        await self.ears.hear()
        if self._stays_parked():
            await self.commits.keep()
            await self.commits.mark()
            # Whoever speaks after the mark sees that nobody listens; what was said before it is heard now.
            await self.ears.hear()
        if self._stays_parked() and not self.ears.busy:
            self._leave()
            return
        self._parking = self.commits.parked = False
        await self.commits.mark()
        self.go_on()

    def _stays_parked(self) -> bool:
        waits = self.state.status == "running" and (self.held or not self._goes_on())
        return waits and (not self.running or self.children.all_ask(self.running))

    def _leave(self) -> None:
        commit = self.commits.flush()
        if commit is None:
            self._leave_now()
            return
        if self._released is None and self.state.status in ENDED_RUN and not self.running:
            # Nothing is left to drive: said now, it goes into the commit of the end.
            self._released = self._release()
        commit.add_done_callback(lambda _: self._leave_now())

    def _release(self) -> asyncio.Future[None] | None:
        released = self.commits.journal.release()
        return None if released is None else asyncio.ensure_future(released)

    def _leave_now(self) -> None:
        if self.left is None or self.over:
            return
        if self.ears.busy and self.state.status not in ENDED_RUN:
            # Whoever speaks now is heard first; that ends in a wake, which comes here again.
            self._parking = self.commits.parked = False
            return
        self.left.set_result(None)
