"""What the parts of one drive share: the program, its state, the way into the journal, the calls under way.

The runner is a drive with the loop; what takes steps, serves running tools and keeps results sees only this.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from toolpath.engine.attempt import Attempt
from toolpath.engine.commits import Commits
from toolpath.engine.control import Control
from toolpath.engine.instances import StepState
from toolpath.engine.large import LargeValues
from toolpath.engine.program import Program
from toolpath.engine.services import Services
from toolpath.engine.state import State
from toolpath.engine.time_limits import TimeLimits
from toolpath.engine.timers import Deadlines
from toolpath.model.events import AnyEvent, Failure
from toolpath.ports import Journal
from toolpath.values import writable


class Drive:
    """One process's hold on one run."""

    def __init__(self, program: Program, services: Services, journal: Journal) -> None:
        self.program = program.latest
        self.services = services
        self.state = State(program)
        self.state.secrets = services.secrets
        self.large = LargeValues()
        self.control = Control(self.state, chance=services.chance, view=self.large.view)
        self.control.restore = self.large.restored
        self.control.redactor = services.redactor
        self.commits = Commits(journal, self.control, services.clock, self.fail, services.observer)
        self.time_limits = TimeLimits(services.statistics, services.settings)
        self.deadlines = Deadlines(services.clock, self.expired)
        self.running: dict[StepState, Attempt] = {}
        """Calls under way."""
        self.slots = self.program.concurrency
        self.busy = 0
        """Slots taken."""
        self.commits.full = lambda: self.busy >= self.slots
        self.left: asyncio.Future[None] | None = None
        """Done when the drive is over."""
        self.gone = asyncio.Event()
        """Set when everything of the drive has ended."""
        self.held = False
        """A tool has changed: nothing is begun or heard but a cancel, until a person has accepted it."""
        self.tasks: set[asyncio.Task[Any]] = set()
        self.loop = asyncio.get_running_loop()

    @property
    def over(self) -> bool:
        """The drive has ended: what is still awake does nothing more."""
        return self.left is not None and self.left.done()

    def taken(self, events: list[AnyEvent]) -> None:
        """Let who looks on know that the run is driven here; `events` are in its journal."""
        self.commits.asking.follow(events)
        if self.services.observer is not None:
            self.services.observer.taken(self.state.run_id, events)

    def let_go(self) -> None:
        """Everything of the drive has ended: tell those who wait for it, and who looks on."""
        self.gone.set()
        if self.services.observer is not None:
            self.services.observer.left(self.state.run_id)

    def spawn(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run it beside; its errors end the drive."""
        task = asyncio.create_task(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """The journal cannot be written, or an error of our own: the drive ends and its caller learns why."""
        if self.left is not None and not self.left.done():
            self.left.set_exception(error)

    def warn(self, path: str, code: str, message: str) -> None:
        """Journal something to know."""
        self.control.warn(path, code, writable(self.services.redactor.text(message)))

    def unaffordable(self, attempt: Attempt) -> Failure | None:
        """Why the call may not be made, where a budget says so."""
        raise NotImplementedError

    def expired(self, attempt: Attempt) -> None:
        """A call took longer than it may."""
        raise NotImplementedError

    def wake(self) -> None:
        """Something changed outside of a worker: keep what was written, then go on."""
        raise NotImplementedError
