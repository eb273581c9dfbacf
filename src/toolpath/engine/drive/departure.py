"""Departure of a drive: when it has nothing left to do, it parks the run for people, or ends."""

from __future__ import annotations

import asyncio

from toolpath.engine.decide.cancel import fail_run
from toolpath.engine.drive.alarms import Alarms
from toolpath.engine.drive.children import Children
from toolpath.engine.drive.drive import Drive
from toolpath.engine.drive.inbox import Inbox
from toolpath.engine.drive.verify_writes import WriteVerifier
from toolpath.model.run import ENDED_RUN


class Departure:
    """Ends one drive, after the last look for signals of people."""

    def __init__(
        self, drive: Drive, *, alarms: Alarms, children: Children, inbox: Inbox, verifier: WriteVerifier
    ) -> None:
        self._drive = drive
        self._alarms = alarms
        self._children = children
        self._inbox = inbox
        self._verifier = verifier
        self.is_wanted = False
        """Another driver goes on as soon as what is under way has ended."""
        self._parking = False
        self._released: asyncio.Future[None] | None = None
        """Done when the store knows that nobody drives the run any more."""

    def leave_if_idle(self) -> None:
        """Leave where neither calls nor timers of this drive will go on with the run."""
        drive = self._drive
        decisions, running = drive.decisions, drive.running
        if drive.left is None or drive.over:
            return
        if drive.state.status in ENDED_RUN or (self.is_wanted and not running):
            self._leave()
            return
        settling = self._alarms.settling
        if decisions.halted is not None and not settling and all(attempt.is_waiting for attempt in running.values()):
            fail_run(decisions, *decisions.halted)
            drive.wake()
            return
        if self._parking or settling:
            return
        if running and not self._children.all_ask(running.values()):
            return
        if drive.state.status == "paused":
            self._leave()
        elif drive.held or not self._goes_on():
            self._parking = drive.commits.parked = True
            drive.spawn(self._park())

    def _goes_on(self) -> bool:
        """Something else than people will go on: a ready step, an answered one, a retry that is due, a limit."""
        drive = self._drive
        ready = drive.decisions.ready
        if ready.entries or ready.at_limits or drive.decisions.commands or drive.control.unsettled or self._verifier:
            return True
        return any(step.status == "ready" and step.watched and step.due for step in drive.state.steps.values())

    async def _park(self) -> None:
        """Look once more for signals, then leave nothing but the journal."""
        inbox, commits = self._inbox, self._drive.commits
        await inbox.read()
        if self._stays_parked():
            await commits.commit()
            await commits.mark()
            # A signal after the mark finds that nobody listens; those before it are taken now.
            await inbox.read()
        if self._stays_parked() and not inbox.is_busy():
            self._leave()
            return
        self._parking = commits.parked = False
        await commits.mark()
        self._drive.wake()

    def _stays_parked(self) -> bool:
        drive = self._drive
        waits = drive.state.status == "running" and (drive.held or not self._goes_on())
        return waits and (not drive.running or self._children.all_ask(drive.running.values()))

    def _leave(self) -> None:
        drive = self._drive
        commit = drive.commits.flush()
        if commit is None:
            self._leave_now()
            return
        if self._released is None and drive.state.status in ENDED_RUN and not drive.running:
            # Nothing is left to drive: said now, it goes into the commit of the end.
            self._released = self._release()
        commit.add_done_callback(lambda _: self._leave_now())

    def released(self) -> asyncio.Future[None] | None:
        """Done when the store knows that nobody drives the run any more; None: it knows."""
        return self._released or self._release()

    def _release(self) -> asyncio.Future[None] | None:
        released = self._drive.commits.journal.release()
        return None if released is None else asyncio.ensure_future(released)

    def _leave_now(self) -> None:
        drive = self._drive
        if drive.left is None or drive.over:
            return
        if self._inbox.is_busy() and drive.state.status not in ENDED_RUN:
            # A signal that comes now is read first; that ends in a wake, which comes here again.
            self._parking = drive.commits.parked = False
            return
        drive.left.set_result(None)
