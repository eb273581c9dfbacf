"""Taking runs up where another drive left them."""

from __future__ import annotations

import contextlib
from functools import partial

from toolpath.drives.looking import Looking
from toolpath.drives.run import Run
from toolpath.engine.runner import Runner
from toolpath.errors import RunConflict, RunNotFound
from toolpath.model.run import ENDED_RUN
from toolpath.projections.questions import open_questions


class Taking(Looking):
    """The part of `Drives` that takes runs up."""

    async def take_up(self, run_id: str, *, reason: str = "", accept: bool = False, to_end: bool = False) -> Run:
        """Drive the run from where it stands. `reason="retry"` goes on from what failed.

        With `to_end` it is about to be cancelled: then it does not matter that tools are not there any more.
        """
        # One at a time: two that take up the same run would fence one another.
        async with self._taking:
            if run_id in self._runners:
                return Run(run_id, self)
            store = self._services.store
            info = await store.get_run(run_id)
            if info.status in ENDED_RUN and reason != "retry":
                return Run(run_id, self)
            program = await self.program_of(await store.read_events(run_id), to_end=to_end)
            journal = await store.drive(run_id, self._services.driver)
            events = await store.read_events(run_id)
            accepted = program.latest.fingerprints if accept else None
            known = self._services.secrets
            self._services.redactor.add([known[name] for name in program.latest.secrets if name in known])
            runner = Runner(program, self._services, journal)
            self._keep(run_id, runner, partial(runner.resume, events, reason=reason, accepted=accepted))
        return Run(run_id, self)

    async def _late(self, run_id: str) -> None:
        """Take the run up for what is due, unless somebody else has seen to it meanwhile."""
        store, clock = self._services.store, self._services.clock
        with contextlib.suppress(RunConflict, RunNotFound):
            info = await store.get_run(run_id)
            if info.status in ENDED_RUN or self.driven_elsewhere(info):
                return
            questions = open_questions(await store.read_events(run_id))
            if any(q.deadline is not None and q.deadline <= clock.time() for q in questions):
                await self.take_up(run_id)
