"""Workers of a run: tasks that make one call after another, and what is done between two calls.

A worker holds one slot; the outcome of a call is kept together with what starts next, and the worker goes straight on.
Nothing polls and nothing waits at a barrier.
"""

from __future__ import annotations

import asyncio
from typing import Any

from toolpath.engine.decide.commands import (
    AwaitAnswer,
    AwaitBlock,
    AwaitRetry,
    Command,
    Reply,
    SettleLater,
    StopCall,
    StopTimers,
)
from toolpath.engine.drive.after_call import AfterCall
from toolpath.engine.drive.alarms import Alarms
from toolpath.engine.drive.attempt import Attempt
from toolpath.engine.drive.calls import CallMaker
from toolpath.engine.drive.children import Children
from toolpath.engine.drive.cutoffs import Cutoffs
from toolpath.engine.drive.departure import Departure
from toolpath.engine.drive.dispatch import Dispatch
from toolpath.engine.drive.drive import Drive
from toolpath.engine.drive.inbox import Inbox
from toolpath.engine.drive.loop_items import ItemAttempt
from toolpath.engine.drive.one_attempt import AT_ONCE
from toolpath.engine.drive.places import Places
from toolpath.engine.state.results import Done
from toolpath.model.events import Failure

#: Workers that are begun at once where each of them begins others.
TWO = 2
#: After so many calls a worker lets others have their turn.
BREATH = 16


class Workers:
    """The workers of one run."""

    def __init__(
        self,
        drive: Drive,
        *,
        places: Places,
        dispatch: Dispatch,
        calls: CallMaker,
        children: Children,
        alarms: Alarms,
        inbox: Inbox,
        departure: Departure,
    ) -> None:
        self._drive = drive
        self._decisions = drive.decisions
        self._time = drive.services.clock.time
        self._places = places
        self._dispatch = dispatch
        self._calls = calls
        self._children = children
        self._alarms = alarms
        self._inbox = inbox
        self._departure = departure
        self._after_call = AfterCall(drive)
        self.cutoffs = Cutoffs(drive, self.conclude)
        self._starting = 0
        """Workers that have a slot and have not begun."""

    def go_on(self) -> None:
        """Do what was decided, begin calls, or leave if nothing is left to do."""
        drive = self._drive
        if drive.over:
            return
        decisions = drive.decisions
        while True:
            commands, decisions.commands = decisions.commands, []
            for command in commands:
                self._obey(command)
            if self._places.returning:
                self._places.let_back()
            if self._may_begin() and self._dispatch.is_open():
                drive.slots.busy += 1
                self._starting += 1
                # A worker lets go of itself: a callback for each would cost a turn of the loop.
                drive.tasks.add(asyncio.create_task(self._work()))
            elif not decisions.commands:
                break
        if not decisions.ready.entries:
            drive.limited_plans.lapse()
        if not drive.slots.busy:
            self._departure.leave_if_idle()
        elif decisions.batch and not drive.commits.durable:
            drive.commits.flush_soon()

    def _obey(self, command: Command) -> None:
        match command:
            case StopCall(step):
                self.cutoffs.stop(step)
            case Reply(step):
                self._children.reply(step)
            case AwaitRetry(step, due):
                self._alarms.retry_at(step, due)
            case AwaitAnswer(step, deadline):
                self._alarms.expire_at(step, deadline)
            case AwaitBlock(step, deadline, entry):
                self._alarms.end_block_at(step, deadline, entry)
            case StopTimers(step):
                self._alarms.forget(step)
            case SettleLater():
                self._alarms.settle_later()

    def _may_begin(self) -> bool:
        """Whether one more worker is to be begun: two at a time, or all at once where they will wait for one commit.

        Never more than there is to take: each costs a task, found work or not.
        """
        starting, commits, slots = self._starting, self._drive.commits, self._drive.slots
        if starting >= TWO and not commits.durable:
            return False
        ready = self._decisions.ready.entries
        if not ready or slots.busy >= slots.most:
            return False
        first = ready[0][2]
        if starting >= TWO and not commits.holds(first):
            return False
        waiting = len(ready)
        return starting < waiting or (first.loop_items is not None and starting < waiting + first.loop_items.room)

    def wake(self) -> None:
        """Something changed outside of a worker: keep what was written, then go on."""
        drive = self._drive
        try:
            commit = None if drive.over else drive.commits.flush()
            if commit is None:
                self.go_on()
            else:
                drive.spawn(self._go_on_after(commit))
        except Exception as error:  # noqa: BLE001  # raised where the drive is awaited
            drive.fail(error)

    async def _go_on_after(self, commit: asyncio.Future[None]) -> None:
        await commit
        self.go_on()

    async def _work(self) -> None:
        """Make calls until none is ready; the worker keeps its slot meanwhile."""
        drive, task = self._drive, asyncio.current_task()
        try:
            await self._work_on(await self._first(), task)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001  # raised where the drive is awaited
            drive.fail(error)
        finally:
            drive.tasks.discard(task)

    async def _first(self) -> Attempt | None:
        """The first call of a worker; a dear run waits for its turn."""
        drive = self._drive
        turns, run_id = drive.services.turns, drive.state.run_id
        if run_id in turns.dear:
            await turns.next(run_id)
        began = turns.begin(drive.loop)
        self._starting -= 1
        attempt = self._dispatch.take() if drive.slots.busy <= drive.slots.most else None
        turns.spent(run_id, began)
        return attempt

    async def _pause(self, made: int) -> None:
        """Let others have their turn where that is due, and read the signals to the run."""
        inbox, turns, run_id = self._inbox, self._drive.services.turns, self._drive.state.run_id
        if not made % BREATH:
            # Tools that never suspend would keep the loop from everything else.
            await asyncio.sleep(0)
        if inbox.called:
            await inbox.read()
        if run_id in turns.dear:
            await turns.next(run_id)

    async def _allowed(self, attempt: Attempt) -> None:
        """Return when the journal has what the call needs, and the signals that came meanwhile are read."""
        drive, inbox = self._drive, self._inbox
        await drive.commits.allow(attempt.needs, crowded=drive.slots.busy > 1)
        if inbox.is_busy():
            # What the commit brought to light may be a cancel: then the call is not made.
            await inbox.read()

    async def _work_on(self, attempt: Attempt | None, task: asyncio.Task[Any] | None) -> None:
        drive, inbox, dispatch = self._drive, self._inbox, self._dispatch
        commits, decisions, slots, turns = drive.commits, drive.decisions, drive.slots, drive.services.turns
        run_id, ready, made = drive.state.run_id, decisions.ready, 0
        assert drive.left is not None
        is_over, dear, loop, begin = drive.left.done, turns.dear, drive.loop, self._calls.begin
        while attempt is not None:
            attempt.task = task
            if commits.durable:
                if not commits.allows(attempt.needs, crowded=slots.busy > 1) or inbox.is_busy():
                    await self._allowed(attempt)
            elif not commits.soon:
                commits.flush_soon()
            if decisions.commands or (ready.entries and self._may_begin()):
                self.go_on()
            if is_over():
                return
            if run_id in dear:
                await turns.next(run_id)
            begun = begin(attempt)
            outcome: Any = begun if type(begun) in AT_ONCE else await begun  # type: ignore[misc]
            began = attempt.back or turns.begin(loop)
            if not turns.have(run_id, loop, began):
                turns.spent(run_id, began)
                await turns.next(run_id)
                began = turns.begin(loop)
            if attempt.abandoned:
                return
            self.conclude(attempt, outcome)
            made += 1
            if inbox.called or dear or not made % BREATH:
                turns.spent(run_id, began)
                await self._pause(made)
                began = turns.begin(loop)
            attempt = dispatch.next(attempt)
            turns.spent(run_id, began)
        slots.busy -= 1
        if commits.durable:
            commits.end_of_turn()
        self.go_on()

    def conclude(self, attempt: Attempt, outcome: Done | Failure | None) -> None:
        """Write the outcome of a call, and what follows from it."""
        drive, decisions = self._drive, self._decisions
        time = self._time
        decisions.at = time()
        if type(attempt) is ItemAttempt and type(outcome) is Done and attempt.loop_items.succeed(attempt, outcome):
            drive.commits.weighty = True
            self._after_call.learn(attempt.target, outcome)
            if decisions.commands:
                self.go_on()
            return
        step = attempt.step
        drive.running.pop(step, None)
        if outcome is not None and step.status in ("running", "waiting"):
            drive.commits.weighty = True
            if isinstance(outcome, Done):
                self._after_call.succeeded(attempt, outcome)
            else:
                self._after_call.failed(attempt, outcome)
        if attempt.account is not None and not attempt.resting:
            drive.slots.vacate(attempt.account)
        if decisions.gate.closings:
            drive.control.settle()
        if attempt.held or attempt.around:
            # After the end is written: the journal never shows more at once than may be.
            self._places.release(attempt)
        if decisions.commands:
            self.go_on()
