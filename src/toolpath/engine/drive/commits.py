"""Commits of a run's events to its journal: in batches, in order, and who has to wait for which."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from toolpath.engine.decide.decisions import Decisions
from toolpath.engine.state.instances import StepState
from toolpath.model.event_log import EventLog
from toolpath.model.events import AnyEvent
from toolpath.model.open_questions import Asking
from toolpath.model.run import ENDED_RUN
from toolpath.ports import Blob, Clock, Journal, Observer, RunChange, Timer

#: Starts of reads wait this long for company before they are written alone.
COMPANY = 0.05
#: Seconds for which a commit shows that the run is still this driver's. Others take a run no sooner after its driver
#: last gave a sign of life.
FRESH = 1.0


class Commits:
    """Hands a run's events to its journal.

    In memory they are committed at once. On a durable store `flush` gives a future; whatever the events allow may
    begin when it is done.
    """

    def __init__(
        self,
        journal: Journal,
        decisions: Decisions,
        clock: Clock,
        failed: Callable[[BaseException], None],
        observer: Observer | None = None,
        *,
        full: Callable[[], bool] = lambda: True,
        blobs: list[Blob] | None = None,
    ) -> None:
        self.journal = journal
        self.durable = journal.durable
        """Committing takes time, and other processes can see and stop the run."""
        self.weighty = True
        """The batch holds more than starts of reads."""
        self.committed = 0
        """Number of the last event of which this driver knows that a durable journal has it."""
        self.written: EventLog | None = None
        """All events handed over, where somebody is about to ask for them: else they would be read back."""
        self.most_written: int | None = None
        """So many are kept at most; where there are more, none are. None: all of them."""
        self.parked = False
        self._blobs = [] if blobs is None else blobs
        """Large values that no journal has yet."""
        self._decisions = decisions
        self._clock = clock
        self._failed = failed
        self._observer = observer
        self._last: asyncio.Future[None] | None = None
        self._is_refused = False
        """A hand-over was refused at once: the journal takes no more."""
        self._timer: Timer | None = None
        self._full = full
        """Whether every slot is taken."""
        self._turn: asyncio.Future[None] | None = None
        """Done when what was written in this turn of the loop is committed."""
        self._row = ""
        """The status that the run's row tells; empty: nobody knows."""
        self.asking = Asking()
        """Questions that wait for people, as the run's row is to tell."""
        self._closed = False
        self.soon = False
        """A hand-over is on its way."""
        # The loop's own time: what counts is how long this process may have stood still.
        self._loop = asyncio.get_running_loop()
        self._now = self._loop.time
        self._held_at = self._now()
        """The latest time at which the run is known to have been this driver's."""

    def begin_with(self, status: str) -> None:
        """Note how the row of a run that was stored just now stands, so that it is not written again."""
        self._row = status
        self.asking.are_none()

    def is_refused(self) -> bool:
        """The last hand-over could not be committed."""
        last = self._last
        if last is None or not last.done():
            return self._is_refused
        return last.cancelled() or last.exception() is not None

    def flush(self, *, awaited: bool = False) -> asyncio.Future[None] | None:
        """Hand over all events so far. None: they are committed; else await it. `awaited`: nothing else is done before.

        Raises what hindered the store from committing an earlier batch: nothing may follow a gap.
        """
        last = self._last
        if last is not None and last.done():
            last.result()
            self._last = None
        decisions = self._decisions
        if decisions.ready.unannounced and self._full():
            # Where there is a slot they start in this turn or the next, and nothing need be said.
            decisions.announce_ready()
        batch = decisions.batch
        if not batch:
            return self._last
        decisions.batch = []
        if self.written is not None:
            self.written.extend(batch)
            if self.most_written is not None and len(self.written) > self.most_written:
                self.written = None
        self.weighty = False
        self.asking.follow(batch)
        blobs = self._blobs[:]
        self._blobs.clear()
        begun = self._now()
        try:
            future = self.journal.append(batch, blobs=blobs, change=self._change(), awaited=awaited)
        except BaseException:
            self._is_refused = True
            raise
        if future is None:
            self._note(begun, batch)
            return None
        # A store may give any awaitable; a future of it can be awaited by many.
        commit = future if isinstance(future, asyncio.Future) else asyncio.ensure_future(future)
        self._last = commit
        # One callback: each is a place of its own in the loop's line.
        commit.add_done_callback(partial(self._done, begun, batch))
        return commit

    def holds(self, step: StepState) -> bool:
        """Whether a call of the ready step has to wait for a commit."""
        targets = step.node.targets
        return step.needs > self.committed or (bool(targets) and not targets[step.target].repeatable)

    async def commit(self, *, crowded: bool = False) -> None:
        """Hand over all events so far, and wait until they are committed.

        `crowded`: other calls are under way, and those that end in this turn of the loop share one hand-over.
        """
        if crowded:
            await self.end_of_turn()
            return
        commit = self.flush(awaited=True)
        if commit is not None:
            await commit

    def end_of_turn(self) -> asyncio.Future[None]:
        """Hand over at the end of this turn of the loop what was written in it; the future tells of the commit."""
        if self._turn is None:
            self._turn = self._loop.create_future()
            self._loop.call_soon(self._end_turn, self._turn)
        return self._turn

    def _end_turn(self, turn: asyncio.Future[None]) -> None:
        self._turn = None
        if self._closed:
            turn.cancel()
            return
        try:
            commit = self.flush()
        except Exception as error:  # noqa: BLE001  # raised where the drive is awaited
            self._failed(error)
            turn.cancel()
            return
        if commit is None:
            _pass_on(None, turn)
        else:
            commit.add_done_callback(lambda done: _pass_on(done, turn))

    def allows(self, needs: int, *, crowded: bool) -> bool:
        """Whether a call may begin without waiting for a commit, as `allow` has it; what is written is on its way."""
        if needs > self.committed or self.is_refused():
            # Who is alone with the store has its commit where it stands, and waits for nothing.
            return not crowded and self.flush(awaited=True) is None and self._now() - self._held_at <= FRESH
        if self._now() - self._held_at > FRESH:
            return False
        if self.weighty:
            self.end_of_turn()
        else:
            self.flush_soon()
        return True

    async def allow(self, needs: int, *, crowded: bool) -> None:
        """Return when a call may begin: all events up to `needs` are committed, and the run is still this driver's.

        What others have written since then, it does not wait for: that is handed over at the end of the turn.
        A process that was stopped for a while and goes on must not call anything: what it knew after its last commit
        says nothing of now.
        """
        if needs > self.committed or self.is_refused():
            await self.commit(crowded=crowded)
        elif self.weighty:
            self.end_of_turn()
        else:
            self.flush_soon()
        now = self._now()
        if now - self._held_at > FRESH:
            future = self.journal.append(())
            if future is not None:
                await future
            self._held_at = now

    async def mark(self) -> None:
        """Bring the run's row up to date where no event does."""
        change = self._change()
        if change is None:
            return
        future = self.journal.append((), change=change)
        if future is not None:
            await future

    def _done(self, begun: float, batch: list[AnyEvent], future: asyncio.Future[None]) -> None:
        if future.cancelled():
            return
        if (error := future.exception()) is not None:
            self._failed(error)
            return
        self._note(begun, batch)

    def _note(self, begun: float, batch: list[AnyEvent]) -> None:
        """Note that the batch is committed, and tell of it."""
        seconds = 0.0
        if self.durable:
            self._held_at = begun
            self.committed = batch[-1].seq
            seconds = self._now() - begun if self._observer is not None else 0.0
        if self._observer is not None:
            self._observer.committed(self._decisions.state.run_id, batch, seconds)

    def _change(self) -> RunChange | None:
        state = self._decisions.state
        status = "waiting" if self.parked and state.status == "running" else state.status
        asked = self.asking.news()
        if status == self._row:
            return None if asked is None else RunChange(asked=asked)
        self._row = status
        ended_at = self._decisions.at if status in ENDED_RUN else None
        return RunChange(status=status, reason=state.reason, ended_at=ended_at, asked=asked)

    def flush_soon(self) -> None:
        """Hand the events over in a moment: nothing waits for them.

        In memory that is the loop's next turn, so that one hand-over serves all that happens in this one.
        """
        if self.soon:
            return
        self.soon = True
        if self.durable:
            self._timer = self._clock.call_at(self._clock.monotonic() + COMPANY, self._flush_alone)
        else:
            self._loop.call_soon(self._flush_alone)

    def _flush_alone(self) -> None:
        self._timer = None
        self.soon = False
        if self._closed:
            return
        try:
            self.flush()
        except Exception as error:  # noqa: BLE001  # raised where the drive is awaited
            self._failed(error)

    def close(self) -> None:
        """Hand nothing over by timer any more."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _pass_on(commit: asyncio.Future[None] | None, turn: asyncio.Future[None]) -> None:
    """Tell all who wait for the turn the outcome of the hand-over; why it failed is told to the drive alone."""
    if turn.done():
        return
    if commit is not None and (commit.cancelled() or commit.exception() is not None):
        turn.cancel()
    else:
        turn.set_result(None)
