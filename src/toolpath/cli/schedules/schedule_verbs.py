"""`toolpath schedules …` at work."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, get_args

import msgspec

from toolpath.cli.exits import ExitCode, UsageError
from toolpath.cli.findings import show_findings
from toolpath.cli.inputs import read_inputs
from toolpath.cli.kept import change_kept, forget_kept, list_kept, show_kept
from toolpath.cli.options import GlobalOptions
from toolpath.cli.questions import person
from toolpath.cli.runs.execution import finish
from toolpath.cli.session import CommandSession, perform
from toolpath.errors import PlanInvalid, closest
from toolpath.model.schedule import Missed, Overlap
from toolpath.model.time_zone import zone_of
from toolpath.values import JsonObject
from toolpath.workspace.schedules import ScheduleDraft


class NewSchedule(msgspec.Struct, frozen=True, kw_only=True):
    """Words that were typed after `schedules create`."""

    template: str
    plan: str
    cron: str
    at: str
    zone: str
    inputs: tuple[str, ...]
    input_file: str
    permissions: tuple[str, ...]
    title: str
    overlap: str
    missed: str


def create_schedule(options: GlobalOptions, wanted: NewSchedule) -> int:
    """Keep one; 3 where it does not fit its template."""
    overlap: Any = _one_of(wanted.overlap, get_args(Overlap), "--overlap")
    missed: Any = _one_of(wanted.missed, get_args(Missed), "--missed")
    once = _time(wanted.at, wanted.zone) if wanted.at else None

    async def work(session: CommandSession) -> int:
        tp = session.tp
        schema: JsonObject = {}
        if wanted.template:
            schema = (await tp.templates.parameters(await tp.templates.get(wanted.template))).schema
        draft = ScheduleDraft(
            title=wanted.title or None,
            template_id=wanted.template or None,
            plan_id=wanted.plan or None,
            inputs=read_inputs(wanted.inputs, wanted.input_file, schema),
            cron=wanted.cron or None,
            once=once,
            time_zone=wanted.zone,
            overlap=overlap,
            missed=missed,
        )
        try:
            made = await tp.schedules.create(draft, user=person(), permissions=wanted.permissions)
        except PlanInvalid as error:
            return show_findings(error.findings, wanted.template or wanted.plan, session.output, left="kept")
        session.output.done(f"{made.title} is due {_when(made.next_at)}: {made.schedule_id}", made)
        return ExitCode.DONE

    return perform(options, work, begins=True, sources=False)


def list_schedules(options: GlobalOptions) -> int:
    """The schedules, one a line."""
    return list_kept(
        options,
        lambda tp: tp.schedules.newest(limit=1_000),
        lambda each: (
            each.schedule_id,
            each.title,
            each.cron or "once",
            "paused" if each.paused else _when(each.next_at),
        ),
        header=("schedule", "title", "cron", "due"),
        none="No schedules. `toolpath schedules create TEMPLATE --cron LINE` makes one.",
    )


def show_schedule(options: GlobalOptions, schedule_id: str) -> int:
    """Show all that is kept of one."""
    return show_kept(options, lambda tp: tp.schedules.get(schedule_id))


def pause_schedule(options: GlobalOptions, schedule_id: str, *, paused: bool) -> int:
    """Have it rest, or go on."""
    draft = ScheduleDraft(paused=paused)
    return change_kept(
        options,
        lambda tp: tp.schedules.get(schedule_id),
        lambda tp, known: tp.schedules.change(known, draft, user=known.user, permissions=known.permissions),
        lambda made: f"{made.title} is {'paused' if paused else f'due {_when(made.next_at)}'}.",
    )


def run_schedule(options: GlobalOptions, schedule_id: str) -> int:
    """Run it in the foreground."""

    async def work(session: CommandSession) -> int:
        run = await session.tp.schedules.run_now(await session.tp.schedules.get(schedule_id))
        return await finish(session.tp, run, session.output, no_input=False)

    return perform(options, work)


def delete_schedule(options: GlobalOptions, schedule_id: str) -> int:
    """Forget it."""
    return forget_kept(
        options,
        lambda tp: tp.schedules.get(schedule_id),
        lambda tp, known: tp.schedules.delete(known, user=person()),
        lambda known: known.title,
    )


def _one_of(given: str, allowed: tuple[str, ...], option: str) -> str:
    if given not in allowed:
        raise UsageError(
            f"{option} is {given!r}.", hint=f"Write {' or '.join(allowed)}.", suggestions=closest(given, allowed)
        )
    return given


def _time(text: str, zone: str) -> float:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is no time.", hint="Write it as 2030-01-31T09:00.") from None
    return (found if found.tzinfo is not None else found.replace(tzinfo=zone_of(zone))).timestamp()


def _when(at: float | None) -> str:
    return "never again" if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}Z"
