"""Steering of a run, wherever it is driven: go on, stop, approve, answer, settle, retry, fork."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from toolpath.access.acting import who_acts
from toolpath.access.permits import own_authority, permit_again, permit_rest
from toolpath.access.trail import Trail
from toolpath.checks.start import check_inputs, secrets_given
from toolpath.engine.compile.program import Program
from toolpath.engine.compile.remaining import remaining_tools
from toolpath.errors import Finding, PlanInvalid, PolicyViolationError, RunConflict
from toolpath.machine import new_id
from toolpath.model.events import AnyEvent, RunStarted
from toolpath.model.plan import Plan
from toolpath.model.run import RunContext, RunInfo
from toolpath.model.tool import Tool
from toolpath.ports import Clock, Signal, Store
from toolpath.runs.beside_the_loop import BesideTheLoop, weight_of
from toolpath.runs.claims import first_of
from toolpath.runs.drives import Drives
from toolpath.runs.forks import PreparedFork, fork_events
from toolpath.runs.opening import check_priority
from toolpath.runs.run import Run
from toolpath.values import Json, JsonObject, plain


class Steering:
    """Steering of the runs of one store by callers at a door. `Toolpath` says what the methods mean."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        drives: Drives,
        trail: Trail,
        aside: BesideTheLoop,
        *,
        open_points: Callable[[Plan, str], tuple[Finding, ...]],
    ) -> None:
        self._store = store
        self._clock = clock
        self._drives = drives
        self._trail = trail
        self._aside = aside
        self._open_points = open_points

    async def resume(self, run_id: str, *, accept_tool: bool = False, force: bool = False) -> Run:
        """Go on with a run that was paused, left, or whose driver died. `accept_tool`: changed tools are allowed.

        Raises `RunConflict` where another process drives it, unless `force`: then it is taken from that one;
        `PolicyViolationError` where who asks at a door may not do what it writes.
        """
        info = await self._store.get_run(run_id)
        await self._may_go_on("run.resume", run_id)
        elsewhere = not force and self._drives.is_driven_elsewhere(info)
        if info.status == "paused" and (elsewhere or run_id in self._drives.live):
            return await self._drives.tell(run_id, Signal(kind="resume", authority=own_authority()))
        if elsewhere:
            raise RunConflict(
                f"The process {_process_of(info)} drives the run {run_id}.",
                hint=f"Look on with `toolpath runs watch {run_id}`, or take it with force=True (--force).",
            )
        await self._asked("run.resume", info, accept_tool=accept_tool, force=force)
        expected = None if force else info.epoch
        return await self._drives.take_up(
            run_id, reason="resume", accept=accept_tool, expected=expected, authority=own_authority()
        )

    async def take_left(self, run_id: str) -> None:
        """Go on with a run that its process has left: what a server does that drives its runs itself.

        A run that was lost with several processes while the same step ran is put aside instead: it is `paused`, its
        reason says so, and a person may resume it. Raises `RunConflict` where another process drives it.
        """
        info = await self._store.get_run(run_id)
        if self._drives.is_driven_elsewhere(info):
            raise RunConflict(f"The process {_process_of(info)} drives the run {run_id}.")
        await self._asked("run.resume", info, accept_tool=False, force=False)
        await self._drives.take_left(info)

    async def retry(self, run_id: str) -> Run:
        """Go on from what failed; what was finished stays finished.

        Raises `PolicyViolationError` where who asks at a door may not do what it writes, `PlanInvalid` for a plan that
        leaves questions open.
        """
        info = await self._store.get_run(run_id)
        if info.status not in ("failed", "cancelled", "completed_with_errors"):
            raise RunConflict(f"The run {run_id} is {info.status}: there is nothing to retry.")
        await self._may_go_on("run.retry", run_id)
        program = (await self._drives.program_of(await self._store.read_events(run_id))).latest
        if faults := self._open_points(program.plan, info.tenant):
            raise PlanInvalid(faults)
        await self._asked("run.retry", info)
        return await self._drives.take_up(run_id, reason="retry", expected=info.epoch, authority=own_authority())

    async def fork(
        self,
        run_id: str,
        *,
        from_step: str | None = None,
        inputs: JsonObject | None = None,
        repeat_writes: bool = False,
        context: RunContext | None = None,
        priority: int | None = None,
    ) -> Run:
        """A new run that keeps what this one finished up to `from_step`, and does the rest with these inputs.

        `context` is who forks it, with whose permissions it goes on; without it, that of this run, with the permissions
        of the caller at a door. Its `priority` is that of this run where none is said.

        Raises `RunConflict` naming the writes that it would make again, unless `repeat_writes`: also those in doubt;
        `PolicyViolationError` where who forks it may not do what it writes or calls.
        """
        info = await self._store.get_run(run_id)
        if priority is not None:
            check_priority(priority)
        events = await self._store.read_events(run_id)
        # A run that was planned anew is forked with the plan it went by in the end.
        began = await self._drives.program_of(events)
        program = began.latest
        started = first_of(events)
        context = context or _forker(RunContext.from_json(started.context))
        if faults := self._open_points(program.plan, info.tenant):
            raise PlanInvalid(faults)
        weight = weight_of([events, inputs])
        fork = await self._aside.do(lambda: self._forked(began, events, from_step, inputs or {}), weight)
        if fork.repeats and not repeat_writes:
            raise RunConflict(
                f"The fork would make these writes again: {', '.join(fork.repeats)}.",
                hint="Allow it with repeat_writes=True (--repeat-writes), or fork from a later step.",
            )
        first, *kept = fork.events
        assert isinstance(first, RunStarted)
        async with self._trail.refusing("run.fork", context):
            if context is not None:
                permit_rest(program.plan, await self._remaining(program, fork.events), program.secrets, context)
                first = msgspec.structs.replace(first, context=_in_conversation(context, started).as_json())
            if (first.inputs, first.tools) != (started.inputs, started.tools):
                await self._not_approved(info, first)
                first = msgspec.structs.replace(first, approval=None)
        if program is not began:
            # Its calls are named as those of a run that begins with this plan.
            program = await self._drives.program_of(fork.events)
        return await self._drives.begin_fork(
            program, (first, *kept), priority=info.priority if priority is None else priority
        )

    def _forked(
        self, began: Program, events: Sequence[AnyEvent], from_step: str | None, inputs: JsonObject
    ) -> PreparedFork:
        """The beginning of the fork. Raises `PlanInvalid` where the inputs do not fit, and as `fork_events`."""
        given = {**first_of(events).inputs, **inputs}
        faults = secrets_given(inputs, self._trail.redactor) or check_inputs(began.latest.plan, given)
        if faults:
            raise PlanInvalid(faults)
        now = self._clock.time()
        return fork_events(began, events, run_id=new_id("run", now), at=now, from_step=from_step, inputs=inputs)

    async def _not_approved(self, info: RunInfo, first: RunStarted) -> None:
        """Raise `PolicyViolationError` where a fork differs from what was approved, and its plan needs that."""
        if first.approval is None:
            return
        record = await self._store.get_record("plan", info.plan_id)
        if record is None or record.data.get("requires_approval"):
            raise PolicyViolationError(
                f"The run {info.run_id} was approved with other inputs or tools.",
                missing=["approval"],
                hint="Have the plan approved with these inputs, and run it.",
            )

    async def _may_go_on(self, action: str, run_id: str) -> None:
        """Raise `PolicyViolationError` where who acts now may not have the run go on."""
        if who_acts() is None:
            return
        events = await self._store.read_events(run_id)
        # One that was never begun goes on as it was accepted.
        if not events:
            return
        program = (await self._drives.program_of(events)).latest
        started = RunContext.from_json(first_of(events).context)
        async with self._trail.refusing(action, started, run_id):
            permit_again(program.plan, await self._remaining(program, events), program.secrets, started)

    async def _remaining(self, program: Program, events: Sequence[AnyEvent]) -> list[Tool]:
        return await self._aside.do(lambda: remaining_tools(program, events), weight_of([events]))

    async def _asked(self, action: str, info: RunInfo, **data: Json) -> None:
        await self._trail.record(action, info.run_id, tenant=info.tenant, user=info.user, **data)

    async def approve(self, run_id: str, step: str = "", *, by: str = "", comment: str = "") -> Run:
        """Allow a step that waits for it. Raises `RunConflict` where none does."""
        await self._may_go_on("step.approve", run_id)
        said = Signal(kind="approve", path=step, data={"comment": comment}, by=by, authority=own_authority())
        return await self._drives.tell(run_id, said)

    async def deny(self, run_id: str, step: str = "", *, by: str = "", comment: str = "") -> Run:
        """Forbid a step that waits for approval: it has failed, without retry or fallback."""
        return await self._drives.tell(run_id, Signal(kind="deny", path=step, data={"comment": comment}, by=by))

    async def answer(
        self, run_id: str, step: str = "", values: JsonObject | None = None, *, by: str = "", declined: bool = False
    ) -> Run:
        """Answer a form. Raises `SchemaError` with every fault when the answers do not fit it."""
        if declined:
            return await self._drives.tell(run_id, Signal(kind="answer", path=step, data={"declined": True}, by=by))
        await self._may_go_on("step.answer", run_id)
        data: JsonObject = {"values": plain(values or {})[0]}
        said = Signal(kind="answer", path=step, data=data, by=by, authority=own_authority())
        return await self._drives.tell(run_id, said)

    async def settle(
        self,
        run_id: str,
        step: str = "",
        *,
        retry: bool = False,
        failed: bool = False,
        accept_tool: bool = False,
        force: bool = False,
        by: str = "",
        **output: Json,
    ) -> Run:
        """Say what became of a write in doubt: `retry=True`, `output=…` (it succeeded with this) or `failed=True`.

        `accept_tool=True` accepts the tools that changed since the run began; with `force` also where another process
        drives it.
        """
        if accept_tool:
            return await self.resume(run_id, accept_tool=True, force=force)
        if set(output) - {"output"} or (retry + failed + bool(output)) != 1:
            raise RunConflict("Say one of retry=True, output=…, failed=True, accept_tool=True.")
        data: JsonObject = {"retry": True} if retry else {"failed": True} if failed else plain(output)[0]
        await self._may_go_on("step.settle", run_id)
        said = Signal(kind="settle", path=step, data=data, by=by, authority=own_authority())
        return await self._drives.tell(run_id, said)


def _in_conversation(context: RunContext, started: RunStarted) -> RunContext:
    """The context of a fork, in the conversation of the run that it comes of where it is the same person's."""
    before = RunContext.from_json(started.context)
    if context.conversation_id or (context.tenant, context.user_id) != (before.tenant, before.user_id):
        return context
    said = {"conversation_id": before.conversation_id, "conversation": list(before.conversation)}
    return RunContext.from_json({**context.as_json(), **said})


def _forker(started: RunContext) -> RunContext | None:
    """Who forks a run at a door that leaves the rest of its context: they are allowed what they are allowed today.

    A caller who may do everything forks it with the permissions that it had.
    """
    caller = who_acts()
    if caller is None or "*" in caller.permissions:
        return None
    return started.with_permissions(caller.permissions)


def _process_of(info: RunInfo) -> str:
    """The driver as a person looks for it: its number and its machine."""
    match info.driver.rsplit(":", 2):
        case [host, pid, _]:
            return f"{pid} on {host}"
        case _:
            return info.driver
