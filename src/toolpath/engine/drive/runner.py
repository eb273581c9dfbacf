"""Runner of a run: drives it from its start, or from where another driver left it, and leaves it when nothing is left.

Journal first, then act. The parts of a drive are put together here.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from toolpath.engine.compile.program import Program
from toolpath.engine.decide.recover import recover
from toolpath.engine.drive.alarms import Alarms
from toolpath.engine.drive.attempt import Attempt
from toolpath.engine.drive.cache import CachedCalls, clear_group, written_groups
from toolpath.engine.drive.calls import CallMaker
from toolpath.engine.drive.children import Children
from toolpath.engine.drive.departure import Departure
from toolpath.engine.drive.dispatch import Dispatch
from toolpath.engine.drive.drive import GRACE, Drive, DriveHooks
from toolpath.engine.drive.inbox import Inbox
from toolpath.engine.drive.loop_items import LoopItems
from toolpath.engine.drive.places import Places
from toolpath.engine.drive.rounds import Rounds
from toolpath.engine.drive.services import Services
from toolpath.engine.drive.verify_writes import WriteVerifier
from toolpath.engine.drive.workers import Workers
from toolpath.engine.state import ends
from toolpath.engine.state.fold import apply, fold
from toolpath.engine.state.instances import StepState
from toolpath.errors import ToolpathError
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.model.run import ENDED_RUN
from toolpath.ports import Authority, Journal

#: Events of a journal that are folded in one turn of the loop.
FOLDED = 1_000


class Runner:
    """Drives one run. `start` and `resume` return when it has ended, is paused, or waits for people alone."""

    def __init__(self, program: Program, services: Services, journal: Journal) -> None:
        hooks = DriveHooks(wake=self.wake, expired=self._expired, items_of=self._items_of)
        self._drive = drive = Drive(program, services, journal, hooks)
        self.program = drive.program
        self.state = drive.state
        self.commits = drive.commits
        self.large = drive.large
        self.loop = drive.loop
        self.gone = drive.gone
        """Set when everything of the drive has ended."""
        self.inbox = Inbox(drive)
        self._places = Places(drive)
        self._children = Children(drive, self._places)
        self._dispatch = Dispatch(drive, self._children, Rounds(drive, self._children), self._places)
        self._verifier = WriteVerifier(drive, self._children)
        self._alarms = Alarms(drive)
        self._departure = Departure(
            drive, alarms=self._alarms, children=self._children, inbox=self.inbox, verifier=self._verifier
        )
        cached = CachedCalls(drive, self._places, self._dispatch.unaffordable)
        self._workers = Workers(
            drive,
            places=self._places,
            dispatch=self._dispatch,
            calls=CallMaker(drive, self._places, cached),
            children=self._children,
            alarms=self._alarms,
            inbox=self.inbox,
            departure=self._departure,
        )

    @property
    def over(self) -> bool:
        """The drive has ended: what is still awake does nothing more."""
        return self._drive.over

    @property
    def tells_all(self) -> bool:
        """The run has ended, and all that was written of it is at hand."""
        return self.state.status in ENDED_RUN and self.commits.written is not None

    @property
    def held(self) -> bool:
        """A tool has changed: nothing but a cancel is applied and nothing begun, until a person accepts it."""
        return self._drive.held

    @property
    def knows_secrets(self) -> bool:
        """People have told the run secrets."""
        return self._drive.secrets.any

    def wake(self) -> None:
        """Something changed outside of a worker: keep what was written, then go on."""
        self._workers.wake()

    def _expired(self, attempt: Attempt) -> None:
        self._workers.cutoffs.expired(attempt)

    def _items_of(self, owner: StepState) -> LoopItems | None:
        return self._dispatch.items_of(owner)

    def heed(self, run_id: str) -> None:
        """Note from now on what this process says to the run, whose drive is about to begin."""
        self._drive.services.store.on_signal(run_id, self.inbox.note)

    async def start(self, started: ev.RunStarted, *, unheard: bool = True) -> None:
        """Begin a new run whose first event the journal has. Not `unheard`: what it was told meanwhile was noted."""
        drive = self._drive
        # It may have waited for a worker.
        drive.decisions.at = max(started.at, drive.services.clock.time())
        apply(drive.state, started)
        drive.commits.committed = drive.state.seq
        drive.taken([started])
        # What another process says meanwhile comes to light with the first commit, where it wakes nobody.
        await self._go(self._open, unheard=unheard or drive.services.store.hears_others)

    def _open(self) -> None:
        drive, state = self._drive, self.state
        drive.program.rank(drive.services.statistics)
        self._dispatch.arm()
        if state.root is not None:
            ends.open_block(state, state.root)
            drive.control.settle()
        drive.commits.weighty = bool(drive.decisions.batch)

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
        `authority`: of the caller who has it go on; `to_end`: it was told to end, which goes before all else."""
        drive, state, decisions = self._drive, self.state, self._drive.decisions
        await drive.large.load(events, drive.services.store)
        first = events[0]
        assert isinstance(first, ev.RunStarted)
        await drive.secrets.load(first.run_id)
        await self._fold(events)
        drive.commits.committed = state.seq
        drive.taken(events)
        decisions.at = drive.services.clock.time()
        if state.status in ENDED_RUN and reason != "retry":
            return
        for group in written_groups(drive.program):
            # Who drove it may have gone before it could say so.
            clear_group(drive.services, group)
        epoch = drive.commits.journal.epoch
        decisions.emit(ev.RunResumed(decisions.seq, decisions.at, epoch, reason, accepted or {}))
        decisions.authorize(authority)
        await self._go(None if to_end else self._take_up, then=self._take_up if to_end else None)

    async def _fold(self, events: list[AnyEvent]) -> None:
        """Bring the state to where the events leave it; of a long journal so much in a turn of the loop."""
        for begin in range(0, len(events), FOLDED):
            if begin:
                await self._drive.services.turns.next(self.state.run_id)
            fold(self.state, events[begin : begin + FOLDED])

    def _take_up(self) -> None:
        drive = self._drive
        drive.program.rank(drive.services.statistics)
        self._dispatch.arm()
        if drive.hold_if_changed():
            self._departure.is_wanted = True
        else:
            recover(drive.control)
        self._verifier.ask()

    async def _go(
        self, begin: Callable[[], None] | None, *, unheard: bool = True, then: Callable[[], None] | None = None
    ) -> None:
        drive, state, inbox = self._drive, self.state, self.inbox
        services = drive.services
        drive.left = left = asyncio.get_running_loop().create_future()
        try:
            await services.turns.room(state.run_id)
            self._safely(begin or self._dispatch.arm)
            services.store.on_signal(state.run_id, inbox.call)
            if drive.commits.durable:
                inbox.listen()
            self._safely(self._alarms.arm_run)
            if (unheard or inbox.called) and not drive.over:
                await inbox.read()
            if then is not None and state.status not in ENDED_RUN and not drive.over:
                self._safely(then)  # the signal was taken back, or another driver has applied it
            self._safely(self._workers.go_on)
            await left
        finally:
            if not left.done():
                left.cancel()
            services.store.on_signal(state.run_id, None)
            inbox.close()
            drive.deadlines.close()
            drive.commits.close()
            self._alarms.close()
            self._dispatch.close()
            services.turns.forget(state.run_id)
            try:
                await self._end_tasks()
                services.learned()
                released = self._departure.released()
                if released is not None:
                    with contextlib.suppress(ToolpathError):
                        await released
            finally:
                drive.let_go()

    def _safely(self, act: Callable[[], None]) -> None:
        try:
            act()
        except Exception as error:  # noqa: BLE001  # nobody must be left with a run that says it is running
            self._drive.fail(error)

    async def _end_tasks(self) -> None:
        drive = self._drive
        for items in drive.decisions.loop_items.values():
            items.close()
        for attempt in drive.running.values():
            attempt.stopped = attempt.stopped or "left"
            attempt.abandoned = True
        tasks = [task for task in drive.tasks if not task.done()]
        for task in tasks:
            task.cancel()
        try:
            if tasks:
                # Calls that were cut off get a moment to clean up, but cannot hold the run.
                await asyncio.wait(tasks, timeout=GRACE)
        finally:
            self._places.let_go()

    def let_go(self) -> None:
        """Let go of the run's state, which nobody asks for any more: a search for garbage would find it late."""
        state = self.state
        # Instances know one another, and the parts of the drive know it.
        for scope in state.scopes.values():
            scope.steps.clear()
        state.steps.clear()
        state.scopes.clear()
        state.unblocked.clear()
        state.finished.clear()
        state.root = None
        self._drive.decisions.ready.close()
        del self.program, self._drive.program, self.state.program

    def leave(self) -> None:
        """Begin nothing more, and go when what is under way has ended: another driver goes on."""
        self._departure.is_wanted = self._dispatch.leaving = True
        self.wake()
