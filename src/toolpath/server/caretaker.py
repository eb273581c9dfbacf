"""Caretaker of runs that nobody drives: those that a process left behind, and forms whose time to answer ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging

from toolpath.app import Toolpath
from toolpath.errors import RunConflict, RunNotFound, StoreError, ToolpathError
from toolpath.model.open_questions import AskingRun
from toolpath.model.run import RunInfo
from toolpath.recovery import timing
from toolpath.server.questions import OpenQuestions

#: Runs on one page of a look.
MOST = 1_000

_log = logging.getLogger("toolpath.server")


class Caretaker:
    """Takes runs up for one server. Several of them on one store do no harm: the journal is one driver's at a time."""

    def __init__(self, tp: Toolpath, questions: OpenQuestions) -> None:
        self._tp = tp
        self._questions = questions
        self._tried: dict[str, float] = {}
        """When a run that was taken up, or could not be, may be tried again."""

    async def run(self) -> None:
        """Look after runs until cancelled; at once after a start, when more than usual may have been left."""
        silent = 0.0
        while True:
            try:
                await self.look(silent)
                silent = timing.TAKEN_UP_AFTER
            except StoreError as error:
                # It comes back; until then there is nothing to be done.
                _log.warning("runs cannot be looked after: %s", self._tp.redact(str(error)))
            except Exception as error:  # noqa: BLE001  # one run that nobody foresaw must not end the care for all
                _log.error("looking after runs failed: %s", type(error).__name__, exc_info=error)
            await asyncio.sleep(timing.CARE)

    async def look(self, silent: float = timing.TAKEN_UP_AFTER) -> list[str]:
        """Take up what nobody has driven for `silent` seconds, and what is due; gives the ids of these runs."""
        now = self._tp.clock.time()
        self._tried = {run: again for run, again in self._tried.items() if again > now}
        # Those that cannot be taken up stay the longest unseen: they must not hide the others.
        most = MOST + len(self._tried)
        lost = [] if self._tp.queue is not None else await self._tp.store.lost_runs(now - silent, limit=most)
        wanted = {info.run_id: info for info in (*lost, *await self._due(now))}
        return [run_id for run_id, info in wanted.items() if await self._take_up(info)]

    async def _due(self, now: float) -> list[RunInfo]:
        """The waiting runs whose time to answer is over, of all that ask people something, a page at a time."""
        due: list[RunInfo] = []
        page = await self._tp.store.asking_runs(limit=MOST)
        while page:
            late = [run.run_id for run in page if (at := await self._deadline(run)) is not None and at <= now]
            for run_id in late:
                with contextlib.suppress(RunNotFound):
                    info = await self._tp.store.get_run(run_id)
                    due += [info] if info.status == "waiting" else []
            page = await self._tp.store.asking_runs(limit=MOST, after=(page[-1].since, page[-1].run_id))
        return due

    async def _deadline(self, run: AskingRun) -> float | None:
        if run.asked is not None:
            return min((asked.due for asked in run.asked if asked.due is not None), default=None)
        return min(
            (asked.deadline for asked in await self._questions.of(run) if asked.deadline is not None), default=None
        )

    async def _take_up(self, info: RunInfo) -> bool:
        if info.run_id in self._tried or self._tp.is_driven_elsewhere(info):
            return False
        # One that stays due, as where a tool has changed, is not taken up all the time.
        self._tried[info.run_id] = self._tp.clock.time() + timing.TAKE_UP_AGAIN
        try:
            await self._tp.take_left(info.run_id)
        except (RunConflict, RunNotFound):
            # Somebody else has it, or it is gone.
            return False
        except StoreError:
            raise
        except ToolpathError as error:
            _log.warning("the run %s cannot be taken up: %s", info.run_id, self._tp.redact(str(error)))
            return False
        return True
