"""Inbox of a run: what people and other processes tell it."""

from __future__ import annotations

import asyncio
import contextlib

from toolpath.engine.decide.cancel import cancel_run
from toolpath.engine.decide.control import Control
from toolpath.engine.decide.people import apply_signal
from toolpath.engine.decide.sub_plans import cancel_plan
from toolpath.engine.drive.cache import clear_group
from toolpath.engine.drive.drive import Drive
from toolpath.errors import RunConflict, SchemaError, StoreError
from toolpath.model import events as ev
from toolpath.model.run import ENDED_RUN
from toolpath.model.stand_ins import names_in
from toolpath.ports import Signal

#: How often a driver on a durable store looks for what other processes told its run, in seconds.
LISTEN = 1.0


class Inbox:
    """Listens for one drive."""

    def __init__(self, drive: Drive) -> None:
        self._drive = drive
        self.called = False
        """A signal from this process is not read yet."""
        self._one_at_a_time = asyncio.Lock()
        self._all_read: asyncio.Event | None = None
        """Set when everything is read that this process has said, where somebody waits for that."""
        self._next_look: asyncio.TimerHandle | None = None

    def is_busy(self) -> bool:
        """A signal is not read yet, or is being applied just now."""
        return self.called or self._one_at_a_time.locked()

    def note(self) -> None:
        """Note a signal from this process before the drive has begun: it is read then."""
        self.called = True

    def call(self) -> None:
        """Call the drive: there is a signal from this process."""
        if not self.called:
            self.called = True
            self._drive.spawn(self._read_and_go_on())

    async def heard(self) -> None:
        """Return when everything is read that this process has said."""
        if self.is_busy():
            self._all_read = asyncio.Event()
            await self._all_read.wait()

    async def _read_and_go_on(self) -> None:
        await self.read()
        self._drive.wake()

    def listen(self) -> None:
        """From now on give a sign of life once a second; look for signals where other processes cannot wake it."""
        # A timer, and a task when it is due: most runs are over before.
        self._next_look = self._drive.loop.call_later(LISTEN, self._spawn_look)

    def close(self) -> None:
        """Listen no more."""
        if self._next_look is not None:
            self._next_look.cancel()
            self._next_look = None

    def _spawn_look(self) -> None:
        self._drive.spawn(self._look())

    async def _look(self) -> None:
        services = self._drive.services
        now = self._drive.loop.time()
        if now - services.beaten_at > LISTEN * 0.9:
            # One beat serves all runs of the process.
            services.beaten_at = now
            # A store that is away is noticed by the drive itself.
            with contextlib.suppress(StoreError):
                await services.store.beat(services.driver)
        if not services.store.hears_others:
            await services.turns.room(self._drive.state.run_id)
            await self._read_and_go_on()
        if self._next_look is not None:
            self.listen()

    async def read(self) -> None:
        """Apply the signals that came since the last look."""
        # A signal that is being applied is still in the store.
        async with self._one_at_a_time:
            self.called = False
            await self._read()
        if self._all_read is not None and not self.is_busy():
            self._all_read.set()

    async def _read(self) -> None:
        drive = self._drive
        store, run_id = drive.services.store, drive.state.run_id
        signals = await store.take_signals(run_id)
        if drive.held:
            signals = [signal for signal in signals if signal.kind == "cancel"]
        if not signals or drive.state.status in ENDED_RUN:
            return
        if any(any(names_in(signal.data)) for signal in signals if signal.kind == "answer"):
            await drive.secrets.load(run_id)
        drive.decisions.at = drive.services.clock.time()
        for signal in signals:
            self._apply(signal)
        drive.commits.weighty = True
        commit = drive.commits.flush()
        if commit is not None:
            await commit
        await store.drop_signals(run_id, [signal.id for signal in signals])

    def _apply(self, signal: Signal) -> None:
        drive = self._drive
        control, decisions, state = drive.control, drive.decisions, drive.state
        # Before it is applied: what goes on because of it may be nothing that they may not do.
        decisions.authorize(signal.authority)
        try:
            match signal.kind:
                case "settle":
                    self._clear_cached()
                    apply_signal(control, signal)
                case "cancel" if signal.path:
                    cancel_plan(control, signal.path, str(signal.data.get("reason", "")))
                case "cancel":
                    cancel_run(decisions, signal.data.get("reason", ""))
                case "pause":
                    if state.status == "running":
                        decisions.emit(ev.RunPaused(decisions.seq, decisions.at, signal.data.get("reason", "")))
                case "resume":
                    if state.status == "paused":
                        decisions.emit(ev.RunResumed(decisions.seq, decisions.at, drive.commits.journal.epoch))
                        queue_again(control)
                case _:
                    apply_signal(control, signal)
        except (RunConflict, SchemaError) as error:
            # Said to a run that has moved on: the sender was told what it could be told; the journal keeps the rest.
            drive.warn(signal.path, "signal_refused", str(error))

    def _clear_cached(self) -> None:
        """A write in doubt may have happened: what is cached of its group may be no more true."""
        drive = self._drive
        for step in drive.state.steps.values():
            if step.status == "unknown" and step.node.targets:
                clear_group(drive.services, step.node.targets[step.target].tool.group)


def queue_again(control: Control) -> None:
    """After a pause: queue what was ready. Whatever else was open is still watched by this driver."""
    decisions = control.decisions
    queued = {id(entry[2]) for entry in decisions.ready.entries} | decisions.gate.held_back()
    for step in list(decisions.state.steps.values()):
        if step.status == "ready" and step.due is None and id(step) not in queued:
            control.begin(step)
    # A plan that has waited for a limit has first steps.
    control.settle()
