"""Drives of the runs of a store, as this process may begin and steer them: the parts of `runs/` put together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Unpack

from toolpath.access.trail import Trail
from toolpath.engine.compile.program import Program
from toolpath.engine.drive.services import Services
from toolpath.errors import RunConflict
from toolpath.model.events import AnyEvent
from toolpath.model.run import ENDED_RUN, RunInfo, RunResult
from toolpath.model.sub_plan import split_plan_id
from toolpath.ports import Authority, Signal
from toolpath.projections.sub_plans import sub_plans, sub_result
from toolpath.recovery.presence import drives_here, is_driven_elsewhere
from toolpath.runs.beside_the_loop import BesideTheLoop
from toolpath.runs.claims import Claim, Claims
from toolpath.runs.file_answers import FileAnswers
from toolpath.runs.held import HeldRuns, PreparedDrive
from toolpath.runs.opening import Load
from toolpath.runs.reader import RunReader
from toolpath.runs.replanner import MakePlan, ReplanFailed, Replanner
from toolpath.runs.replay_program import ReplayPrograms
from toolpath.runs.run import Run
from toolpath.runs.run_queue import RunQueue
from toolpath.runs.run_signals import RunSignals
from toolpath.runs.secret_answers import SecretAnswers
from toolpath.runs.starter import NewKeyedRun, NewRunDetails, Starter
from toolpath.runs.supervisor import Ended, Learn, Supervisor
from toolpath.runs.worker_driver import WorkerDriver
from toolpath.values import JsonObject


def _no_sources() -> JsonObject:
    return {}


class Drives:
    """The runs that this process drives, and what may be done to any run of the store.

    `sources`: where the tools come from, as `run.started` records it. `replan_failed` gives another plan for a run that
    was begun with leave for that; `learn` is told of each run that has ended of a plan made for a request,
    `ended` of the conversation of each run that has ended and belongs to one.
    """

    def __init__(
        self,
        services: Services,
        load: Load,
        trail: Trail,
        aside: BesideTheLoop,
        *,
        sources: Callable[[], JsonObject] = _no_sources,
        replan_failed: ReplanFailed | None = None,
        learn: Learn | None = None,
        ended: Ended | None = None,
    ) -> None:
        self.sources = sources
        self._services = services
        self._held = held = HeldRuns(services)
        self._queue = queue = RunQueue(services, held)
        self._programs = programs = ReplayPrograms(load, services.settings, aside, services.models)
        self._reader = RunReader(services, held, aside)
        secrets = SecretAnswers(services.store, services.sealer)
        # What parks or fails goes on by parts that drive in turn: these two hooks close the circle.
        self._supervisor = supervisor = Supervisor(
            services,
            held,
            trail,
            after_failure=self._after_failure,
            take_up_due=self._take_up_due,
            secrets=secrets,
            learn=learn,
            ended=ended,
        )
        self._replanner = Replanner(
            services, held, queue, programs, spawn=supervisor.spawn, replan_failed=replan_failed
        )
        self._starter = Starter(
            services, held, queue, supervisor, self._reader, trail, secrets=secrets, sources=sources
        )
        self._claims = Claims(services, held, queue, programs, supervisor)
        files = FileAnswers(services.store, services.folders)
        self._signals = RunSignals(services, held, queue, self._claims, trail, secrets, files)
        self._worker = WorkerDriver(services, held, queue, self._claims)
        drives_here(held)

    async def open(self) -> None:
        """Reach the queue, where there is one."""
        await self._queue.open()

    async def close(self) -> None:
        """Leave every run where it stands; another process, or a later one, takes them up."""
        await self._supervisor.close()
        await self._queue.close()

    async def _after_failure(self, failed: PreparedDrive) -> PreparedDrive | None:
        return await self._replanner.after_failure(failed)

    async def _take_up_due(self, run_id: str) -> None:
        await self._claims.take_up_due(run_id)

    # Any run of the store.

    @property
    def live(self) -> frozenset[str]:
        """Ids of the runs that this process drives now, or is about to."""
        return self._held.live

    def is_driven_elsewhere(self, info: RunInfo) -> bool:
        """Whether another process, or another Toolpath of this one, drives it."""
        return is_driven_elsewhere(info, self._services.clock.time(), self._services.driver)

    async def program_of(self, events: Sequence[AnyEvent]) -> Program:
        """The program that a journal was written by, followed by those that took its place."""
        return await self._programs.of(events)

    async def start(self, program: Program, inputs: JsonObject, **new: Unpack[NewKeyedRun]) -> Run:
        """Store a new run and begin it."""
        stored = await self._starter.start(program, inputs, **new)
        return Run(stored.run_id, self, stored)

    async def run(self, program: Program, inputs: JsonObject, **new: Unpack[NewRunDetails]) -> RunResult:
        """Run to the end, or until only people can go on; no task of its own, so that a cancel reaches it."""
        return await self._starter.run(program, inputs, **new)

    async def begin_fork(self, program: Program, events: tuple[AnyEvent, ...], *, priority: int = 0) -> Run:
        """Store the run that begins with these events, and go on from there."""
        return Run(await self._starter.begin_fork(program, events, priority=priority), self)

    async def result(self, run_id: str) -> RunResult:
        """The result of the run; waits for its drive."""
        return await self._reader.result(run_id)

    async def info(self, run_id: str) -> RunResult:
        """How the run stands now. Raises `RunNotFound`."""
        return await self._reader.info(run_id)

    def watch(self, run_id: str, after: int = 0) -> AsyncIterator[AnyEvent]:
        """The events beyond `after` as they come, until the run ends or is left to people."""
        return self._reader.watch(run_id, after)

    async def cancel(self, run_id: str, reason: str) -> Run:
        """Stop the run, or a plan inside it alone. Raises `RunConflict` where it has ended."""
        root, path = split_plan_id(run_id)
        if path:
            whole = await self._reader.info(root)
            plan = sub_result(whole, path)
            if plan.status in ENDED_RUN:
                raise RunConflict(f"The plan {run_id} has ended: {plan.status}.")
            if all(each.call != path for each in sub_plans(root, whole.results)):
                raise RunConflict(f"{path} is a call and no plan.", hint="Cancel the plan around it.")
        await self._signals.send(root, Signal(kind="cancel", path=path, data={"reason": reason}))
        return Run(run_id, self)

    async def tell(self, run_id: str, signal: Signal) -> Run:
        """Tell the run something: see `RunSignals.send`."""
        await self._signals.send(run_id, signal)
        return Run(run_id, self)

    async def take_up(self, run_id: str, **claim: Unpack[Claim]) -> Run:
        """Drive the run from where it stands: see `Claims.take_up`."""
        await self._claims.take_up(run_id, **claim)
        return Run(run_id, self)

    async def replan(self, run_id: str, make: MakePlan, *, expected: int, authority: Authority | None = None) -> Run:
        """Go on with a failed run by another plan: see `Replanner.replan`."""
        await self._replanner.replan(run_id, make, expected=expected, authority=authority)
        return Run(run_id, self)

    # For workers and servers.

    async def take_turn(self, called_for: str = "") -> str | None:
        """The run that this process is to drive next; None where none waits for it. Raises `StoreError`."""
        return await self._queue.next_run(called_for)

    async def drive(self, run_id: str) -> None:
        """Drive the run until it ends, parks, or this process is told to leave: see `WorkerDriver.drive`."""
        await self._worker.drive(run_id)

    async def take_left(self, info: RunInfo) -> None:
        """Go on here with a run that another process left or lost, unless it is put aside. Raises `RunConflict`."""
        await self._worker.take_left(info)

    async def left_runs(self) -> list[str]:
        """Runs whose drivers have gone, in any order. Raises `StoreError`."""
        return await self._worker.left_runs()

    def offer_lost(self, take: Callable[[str], bool]) -> None:
        """Offer runs that nobody drives to `take`, which says whether it takes one, before they are enqueued."""
        self._queue.offer_lost(take)

    def leave(self, *, at_once: bool = False) -> None:
        """Begin nothing more in any run; other drivers go on."""
        self._supervisor.leave(at_once=at_once)

    async def beat(self) -> None:
        """Give a sign of life of this process. Raises `StoreError`."""
        await self._worker.beat()
