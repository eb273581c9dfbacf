"""Stored schedules: templates and plans that are run at times, and the outcome of each tick."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol

import msgspec

from toolpath.access.trail import Trail
from toolpath.checks.start import check_inputs
from toolpath.errors import (
    KeyReused,
    PlanInvalid,
    RecordConflict,
    RecordNotFound,
    RunNotFound,
    SchemaError,
    StoreError,
    ToolpathError,
)
from toolpath.machine import new_id
from toolpath.model.run import ENDED_RUN, RunContext
from toolpath.model.schedule import Missed, Overlap, Schedule, Tick
from toolpath.model.stored import StoredPlan
from toolpath.model.template import TemplateRun
from toolpath.ports import Store
from toolpath.runs.naming import OwnName
from toolpath.runs.run import Run
from toolpath.values import JsonObject
from toolpath.workspace.files.files import Files
from toolpath.workspace.plans import Plans
from toolpath.workspace.record_form import RecordForm
from toolpath.workspace.templates import Templates
from toolpath.workspace.ticks import check_times, ticks_after, ticks_until

_LONGEST: Final = 200
_MOST_UPLOADS: Final = 20
#: Ticks that a schedule tells of.
_TOLD: Final = 50
#: Seconds after its time at which a tick counts as missed.
LATE: Final = 60.0
#: Missed ticks that are made up for at most, the latest of them.
_MOST_MISSED: Final = 100
#: How often a change is tried again that somebody else made another one before.
_TRIES: Final = 20
_FORM: Final = RecordForm("schedule", Schedule, id="schedule_id", copied={"title": "name"})


class ScheduleDraft(msgspec.Struct, frozen=True, kw_only=True):
    """Draft of a schedule; None: as it was, or the usual."""

    title: str | None = None
    template_id: str | None = None
    plan_id: str | None = None
    inputs: JsonObject | None = None
    uploads: tuple[str, ...] | None = None
    cron: str | None = None
    once: float | None = None
    time_zone: str | None = None
    overlap: Overlap | None = None
    missed: Missed | None = None
    paused: bool | None = None


class StartsTicks(Protocol):
    """Starter of runs."""

    def __call__(
        self,
        what: TemplateRun | StoredPlan,
        inputs: JsonObject,
        *,
        context: RunContext,
        run_id: str | None = None,
        idempotency_key: str = "",
    ) -> Awaitable[Run]:
        """Begin a run; where one has the key already, that is the run."""
        ...


class Schedules:
    """The schedules of one Toolpath."""

    def __init__(
        self,
        store: Store,
        trail: Trail,
        *,
        start: StartsTicks,
        plans: Callable[[], Plans],
        templates: Callable[[], Templates],
        files: Callable[[], Files],
    ) -> None:
        self._store = store
        self._trail = trail
        self._clock = trail.clock
        self._start = start
        self._plans = plans
        self._templates = templates
        self._files = files
        self.sooner = asyncio.Event()
        """Set when a schedule of this process may be due earlier than before."""

    # Keeping.

    async def create(
        self, draft: ScheduleDraft, *, tenant: str = "", user: str = "", permissions: tuple[str, ...] = ()
    ) -> Schedule:
        """Keep a new one.

        Raises `SchemaError` for what it cannot be, `RecordNotFound` for a template that is not there, `PlanInvalid` for
        inputs that do not fit.
        """
        now = self._clock.time()
        made = Schedule(schedule_id=new_id("sched", now), title="", tenant=tenant, since=now)
        return await self._put(made, draft, "schedule.create", user=user, permissions=permissions, expected=0)

    async def change(
        self,
        schedule: Schedule,
        draft: ScheduleDraft,
        *,
        expected: int | None = None,
        user: str = "",
        permissions: tuple[str, ...] = (),
    ) -> Schedule:
        """Change what it says. It runs for `user` from now on, with these permissions. Raises as `create`.

        What would have been due while it was paused is not made up for. Raises `RecordConflict` where it is not at the
        revision `expected`.
        """
        revision = schedule.revision if expected is None else expected
        return await self._put(
            schedule, draft, "schedule.update", user=user, permissions=permissions, expected=revision
        )

    async def delete(self, schedule: Schedule, *, user: str = "") -> None:
        """Forget it; its runs stay and go on."""
        await self._recorded("schedule.delete", schedule, user)
        await self._store.delete_record("schedule", schedule.schedule_id)

    async def get(self, schedule_id: str, *, tenant: str | None = None) -> Schedule:
        """The schedule. Raises `RecordNotFound`."""
        record = await self._store.get_record("schedule", schedule_id)
        if record is None or (tenant is not None and record.tenant != tenant):
            raise RecordNotFound(f"There is no schedule {schedule_id[:100]!r}.")
        return _FORM.read(record)

    async def newest(self, *, tenant: str | None = None, limit: int = 50, before: str | None = None) -> list[Schedule]:
        """The newest first; `before` is the last id of the page before."""
        found = await self._store.list_records("schedule", tenant=tenant, limit=limit, before=before)
        return [_FORM.read(record) for record in found]

    # Running.

    async def run_now(
        self, schedule: Schedule, *, user: str | None = None, permissions: tuple[str, ...] | None = None
    ) -> Run:
        """Begin a run of it at once, beside its ticks: for this user with these permissions, else as its ticks do.

        Raises what beginning a run raises.
        """
        now = self._clock.time()
        given = {name: value for name, value in (("user", user), ("permissions", permissions)) if value is not None}
        run = await self._begun(msgspec.structs.replace(schedule, **given), "")
        await self._told(schedule, Tick(at=now, outcome="started", run_id=run.run_id, by_hand=True))
        return run

    async def fire(self, schedule: Schedule) -> Schedule:
        """Deal with every tick that is due: each begins one run, however many processes do this at once.

        A run is begun under a name made of schedule and tick before the tick is marked as done: a process that dies in
        between leaves it to the next one, which finds the run there. Raises `StoreError`.
        """
        now = self._clock.time()
        # A clock that was ahead has left its mark there. What was begun then is found by its name, and not begun again.
        if schedule.since > now:
            schedule = msgspec.structs.replace(schedule, since=now - LATE)
        due = _due(schedule, now)
        wanted, ticks = _chosen(schedule.missed, due, now)
        last_run = schedule.last_run
        for at in wanted:
            tick = await self._tick(schedule, at, last_run)
            last_run = tick.run_id or last_run
            ticks.append(tick)
        told = tuple(sorted(ticks, key=lambda tick: tick.at))
        done = msgspec.structs.replace(
            schedule,
            ticks=(*schedule.ticks, *told)[-_TOLD:],
            since=max(due, default=schedule.since),
            next_at=_next(schedule, now),
            last_run=last_run,
        )
        try:
            return _FORM.read(await self._store.put_record(_FORM.written(done), expected=schedule.revision))
        except RecordConflict:
            # Another process has dealt with these ticks; or somebody has changed the schedule: they are looked at anew.
            return await self.get(schedule.schedule_id)

    async def _tick(self, schedule: Schedule, at: float, last_run: str) -> Tick:
        if schedule.overlap == "skip" and await self._goes_on(last_run):
            return Tick(at=at, outcome="overlapped")
        name = OwnName(f"schedule {schedule.schedule_id} {at!r}")
        try:
            run = await self._begun(schedule, name)
        except StoreError:
            raise
        except KeyReused:
            # Another process has begun it, from the schedule as it was before a change.
            return Tick(at=at, outcome="started")
        except ToolpathError as error:
            return Tick(at=at, outcome="failed", error=str(error)[:1_000])
        return Tick(at=at, outcome="started", run_id=run.run_id)

    async def _goes_on(self, run_id: str) -> bool:
        """Whether there is such a run, and it has not ended."""
        if not run_id:
            return False
        try:
            return (await self._store.get_run(run_id)).status not in ENDED_RUN
        except RunNotFound:
            return False

    async def _begun(self, schedule: Schedule, name: str) -> Run:
        context = RunContext(schedule.user, tenant=schedule.tenant, permissions=schedule.permissions)
        what = await self._what(schedule)
        if schedule.uploads:
            return await self._files().start(
                what, schedule.inputs, uploads=schedule.uploads, context=context, idempotency_key=name
            )
        return await self._start(what, schedule.inputs, context=context, idempotency_key=name)

    async def _what(self, schedule: Schedule) -> TemplateRun | StoredPlan:
        if schedule.plan_id:
            return await self._plans().get(schedule.plan_id)
        template = await self._templates().by_id(schedule.template_id)
        if template is None or template.tenant != schedule.tenant:
            raise RecordNotFound(f"There is no template {schedule.template_id[:100]!r} any more.")
        version = template.published or template.version
        return await self._templates().run_of(template, schedule.inputs, version=version)

    async def _told(self, schedule: Schedule, tick: Tick) -> None:
        for _ in range(_TRIES):
            changed = msgspec.structs.replace(schedule, ticks=(*schedule.ticks, tick)[-_TOLD:])
            try:
                await self._store.put_record(_FORM.written(changed), expected=schedule.revision)
            except RecordConflict:
                try:
                    schedule = await self.get(schedule.schedule_id)
                except RecordNotFound:
                    # It was deleted meanwhile; the run that it began goes on.
                    return
            else:
                return

    # Within.

    async def _put(
        self,
        schedule: Schedule,
        draft: ScheduleDraft,
        action: str,
        *,
        user: str,
        permissions: tuple[str, ...],
        expected: int,
    ) -> Schedule:
        given = {name: value for name, value in msgspec.structs.asdict(draft).items() if value is not None}
        for one, other in (("cron", "once"), ("once", "cron"), ("template_id", "plan_id"), ("plan_id", "template_id")):
            if given.get(one) and not given.get(other):
                given[other] = None if other == "once" else ""
        if expected != schedule.revision:
            raise RecordConflict(
                f"The schedule {schedule.schedule_id} was changed meanwhile.", hint="Look at it again."
            )
        made = msgspec.structs.replace(schedule, **given, user=user, permissions=permissions)
        now = self._clock.time()
        is_moved = (made.cron, made.once, made.time_zone) != (schedule.cron, schedule.once, schedule.time_zone)
        if schedule.paused or is_moved:
            made = msgspec.structs.replace(made, since=now)
        if given == {"paused": True}:
            # Whatever has become of what it runs.
            made = msgspec.structs.replace(made, next_at=None)
        else:
            made = await self._checked(made, now, is_moved=is_moved)
        await self._recorded(action, made, user)
        kept = await self._store.put_record(_FORM.written(made), expected=expected)
        self.sooner.set()
        return _FORM.read(kept)

    async def _checked(self, schedule: Schedule, now: float, *, is_moved: bool) -> Schedule:
        if bool(schedule.cron) == (schedule.once is not None):
            raise SchemaError("A schedule has a cron line or one time, and not both.", hint="Give one of the two.")
        if bool(schedule.template_id) == bool(schedule.plan_id):
            raise SchemaError("A schedule runs a template or a stored plan, and not both.", hint="Give one of the two.")
        if schedule.cron:
            check_times(schedule.cron, schedule.time_zone, now)
        elif schedule.once is not None and schedule.once <= now and is_moved:
            raise SchemaError("The time of the schedule is over.", hint="Give one that is to come.")
        title = schedule.title
        if schedule.template_id:
            template = await self._templates().get(schedule.template_id, tenant=schedule.tenant)
            schedule = msgspec.structs.replace(schedule, template_id=template.template_id)
            title = title or template.title
        else:
            stored = await self._plans().get(schedule.plan_id)
            if stored.tenant != schedule.tenant:
                raise RecordNotFound(f"There is no plan {schedule.plan_id[:100]!r}.")
            title = title or stored.name or stored.plan_id
        what = await self._what(schedule)
        plan = what.plan if isinstance(what, TemplateRun) else await self._plans().plan(what)
        faults = check_inputs(plan, schedule.inputs)
        if faults:
            raise PlanInvalid(faults)
        if len(schedule.uploads) > _MOST_UPLOADS:
            raise SchemaError(f"A schedule has at most {_MOST_UPLOADS} uploads.")
        for upload_id in schedule.uploads:
            await self._files().get(upload_id, tenant=schedule.tenant)
        if len(title) > _LONGEST or "\0" in title or "\n" in title:
            raise SchemaError(f"The title of a schedule has at most {_LONGEST} characters, all in one line.")
        return msgspec.structs.replace(schedule, title=title, next_at=_next(schedule, schedule.since))

    async def _recorded(self, action: str, schedule: Schedule, user: str) -> None:
        said: dict[str, Any] = {"schedule": schedule.title, "paused": schedule.paused}
        await self._trail.record(action, schedule.schedule_id, tenant=schedule.tenant, user=user, **said)


def _due(schedule: Schedule, now: float) -> list[float]:
    """The latest ticks after `since` that are due, earliest first."""
    if schedule.paused:
        return []
    if schedule.once is not None:
        return [schedule.once] if schedule.since < schedule.once <= now else []
    latest = itertools.islice(ticks_until(schedule.cron, schedule.time_zone, now), _MOST_MISSED + int(LATE) + 1)
    return list(itertools.takewhile(lambda at: at > schedule.since, latest))[::-1]


def _next(schedule: Schedule, after: float) -> float | None:
    """The first tick after this time that is not dealt with."""
    if schedule.paused:
        return None
    if schedule.once is not None:
        return schedule.once if schedule.once > max(schedule.since, after) else None
    return next(ticks_after(schedule.cron, schedule.time_zone, after), None)


def _chosen(missed: Missed, due: list[float], now: float) -> tuple[list[float], list[Tick]]:
    """Which of the due ticks are run, and what is told of the others."""
    late = [at for at in due if at < now - LATE]
    kept: list[float] = []
    if missed == "all":
        kept = late[-_MOST_MISSED:]
    elif missed == "last" and late and late[-1] == due[-1]:
        kept = late[-1:]
    left = [at for at in late if at not in kept]
    return [*kept, *due[len(late) :]], [Tick(at=at, outcome="missed") for at in left[-_TOLD:]]
