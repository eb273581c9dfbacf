"""Schedules: when they are due, what each tick begins, and that it begins it once."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolpath import PlanInvalid, Toolpath
from toolpath.errors import RecordConflict, RecordNotFound, SchemaError
from toolpath.model.schedule import Schedule
from toolpath.testing.clock import FakeClock
from toolpath.values import JsonObject
from toolpath.workspace.scheduler import Scheduler
from toolpath.workspace.schedules import LATE, ScheduleDraft
from toolpath.workspace.ticks import ticks_after, ticks_until

#: A Monday, 08:00:30 UTC.
START = datetime(2026, 3, 2, 8, 0, 30, tzinfo=UTC).timestamp()
GREET: JsonObject = {
    "name": "Greet",
    "steps": [{"id": "said", "tool": "say", "inputs": {"text": "Hello <<name>>"}, "timeout": "1h"}],
    "outputs": "{{ said }}",
}


class Desk:
    """A Toolpath whose time is told, with a template to be run."""

    def __init__(self, tp: Toolpath, clock: FakeClock) -> None:
        self.tp = tp
        self.clock = clock
        self.said: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def say(self, text: str) -> str:
        """Say it."""
        self.said.append(text)
        await self.gate.wait()
        return text

    async def schedule(self, cron: str = "* * * * *", **more: Any) -> Schedule:
        draft = ScheduleDraft(template_id="Greet", inputs={"name": "Bo"}, cron=cron or None, **more)
        return await self.tp.schedules.create(draft, user="ada")

    def scheduler(self) -> Scheduler:
        return Scheduler(self.tp.schedules, self.clock, self.tp.redact)

    async def after(self, seconds: float, *schedulers: Scheduler) -> None:
        """Let so much time go by, and have these look after what is due."""
        await self.clock.advance(seconds)
        await asyncio.gather(*(scheduler.look() for scheduler in schedulers or (self.scheduler(),)))
        for info in await self.tp.store.list_runs(limit=500):
            if self.gate.is_set():
                await self.tp.result(info.run_id)


@pytest.fixture
async def desk() -> Any:
    clock = FakeClock(START)
    async with Toolpath(clock=clock) as tp:
        found = Desk(tp, clock)
        tp.add(found.say, effect="write")
        await tp.templates.save(GREET)
        yield found


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


async def test_a_schedule_runs_its_template_with_its_inputs_when_it_is_due(desk: Desk) -> None:
    schedule = await desk.schedule("*/5 * * * *")
    assert (schedule.title, schedule.next_at) == ("Greet", at("2026-03-02T08:05:00+00:00"))
    await desk.after(200)
    assert desk.said == []
    await desk.after(70)
    assert desk.said == ["Hello Bo"]
    kept = await desk.tp.schedules.get(schedule.schedule_id)
    assert kept.next_at == at("2026-03-02T08:10:00+00:00")
    (tick,) = kept.ticks
    assert (tick.at, tick.outcome) == (at("2026-03-02T08:05:00+00:00"), "started")
    run = await desk.tp.store.get_run(tick.run_id)
    assert (run.user, run.status) == ("ada", "completed")


async def test_however_many_look_at_once_a_tick_begins_one_run(tmp_path: Path) -> None:
    clock = FakeClock(START)
    async with Toolpath(tmp_path / "runs.db", clock=clock) as one, Toolpath(tmp_path / "runs.db", clock=clock) as two:
        desks = [Desk(tp, clock) for tp in (one, two)]
        for each in desks:
            each.tp.add(each.say, effect="write")
        await one.templates.save(GREET)
        await desks[0].schedule("* * * * *")
        schedulers = [each.scheduler() for each in desks for _ in range(3)]
        for minute in range(4):
            await desks[minute % 2].after(60, *schedulers)
        assert len(desks[0].said) + len(desks[1].said) == 4
        assert len(await one.runs()) == 4


async def test_a_process_that_dies_after_it_began_the_run_leaves_no_second_one(desk: Desk) -> None:
    schedule = await desk.schedule()
    await desk.clock.advance(60)
    # It dies before it has marked the tick: the schedule is as it was.
    await desk.tp.schedules.fire(schedule)
    record = await desk.tp.store.get_record("schedule", schedule.schedule_id)
    assert record is not None
    fresh = await desk.tp.store.put_record(
        record.__class__(
            **{
                **{f: getattr(record, f) for f in record.__struct_fields__},
                "data": {**record.data, "since": schedule.since, "next_at": schedule.next_at, "ticks": []},
            }
        )
    )
    assert fresh.version == 3
    await desk.after(0)
    assert desk.said == ["Hello Bo"]
    (tick,) = (await desk.tp.schedules.get(schedule.schedule_id)).ticks
    assert tick.run_id == (await desk.tp.runs())[0].run_id


@pytest.mark.parametrize(
    ("overlap", "runs", "outcomes"),
    [("skip", 1, ["started", "overlapped", "overlapped"]), ("allow", 3, ["started"] * 3)],
)
async def test_while_its_run_goes_on_a_schedule_does_as_it_says(
    desk: Desk, overlap: Any, runs: int, outcomes: list[str]
) -> None:
    schedule = await desk.schedule(overlap=overlap)
    desk.gate.clear()
    for _ in range(3):
        await desk.after(60)
    kept = await desk.tp.schedules.get(schedule.schedule_id)
    assert [tick.outcome for tick in kept.ticks] == outcomes
    assert len(await desk.tp.runs()) == runs
    desk.gate.set()
    await desk.after(60)
    assert (await desk.tp.schedules.get(schedule.schedule_id)).ticks[-1].outcome == "started"


@pytest.mark.parametrize(("missed", "runs"), [("skip", 1), ("last", 1), ("all", 10)])
async def test_what_nobody_was_there_for_is_made_up_for_as_it_says(desk: Desk, missed: Any, runs: int) -> None:
    schedule = await desk.schedule(missed=missed, overlap="allow")
    await desk.after(600)
    assert len(desk.said) == runs
    kept = await desk.tp.schedules.get(schedule.schedule_id)
    assert len(kept.ticks) == 10
    assert sum(tick.outcome == "missed" for tick in kept.ticks) == 10 - runs


async def test_when_nobody_was_there_at_all_the_last_tick_is_run_or_none(desk: Desk) -> None:
    last = await desk.schedule("0 9 * * *", title="last")
    none = await desk.schedule("0 9 * * *", title="none", missed="skip")
    # Twelve hours after nine on the fourth day.
    await desk.after(at("2026-03-05T21:00:00+00:00") - START)
    assert desk.said == ["Hello Bo"]
    (*_, tick) = (await desk.tp.schedules.get(last.schedule_id)).ticks
    assert (tick.at, tick.outcome) == (at("2026-03-05T09:00:00+00:00"), "started")
    kept = await desk.tp.schedules.get(none.schedule_id)
    assert {tick.outcome for tick in kept.ticks} == {"missed"}
    assert kept.next_at == at("2026-03-06T09:00:00+00:00")


async def test_a_line_of_each_second_that_was_left_for_a_year_is_caught_up_with_at_once(desk: Desk) -> None:
    schedule = await desk.schedule("* * * * * *", overlap="allow", missed="all")
    await desk.after(365 * 86_400)
    kept = await desk.tp.schedules.get(schedule.schedule_id)
    assert kept.next_at is not None
    assert kept.next_at > desk.clock.time()
    assert len(desk.said) <= 100 + LATE + 1


async def test_a_time_that_comes_once_is_run_once(desk: Desk) -> None:
    schedule = await desk.schedule("", once=START + 90)
    await desk.after(80)
    assert desk.said == []
    for _ in range(3):
        await desk.after(60)
    assert desk.said == ["Hello Bo"]
    assert (await desk.tp.schedules.get(schedule.schedule_id)).next_at is None
    with pytest.raises(SchemaError, match="is over"):
        await desk.schedule("", once=START)


async def test_what_is_paused_is_not_run_and_not_made_up_for(desk: Desk) -> None:
    schedule = await desk.schedule()
    schedule = await desk.tp.schedules.change(schedule, ScheduleDraft(paused=True))
    assert schedule.next_at is None
    await desk.after(600)
    schedule = await desk.tp.schedules.change(schedule, ScheduleDraft(paused=False), user="bo")
    await desk.after(10)
    assert desk.said == []
    await desk.after(60)
    assert desk.said == ["Hello Bo"]
    assert (await desk.tp.runs())[0].user == "bo"


async def test_it_can_be_run_by_hand_and_says_so(desk: Desk) -> None:
    schedule = await desk.schedule("0 0 1 1 *")
    run = await desk.tp.schedules.run_now(schedule)
    assert (await run.result()).outputs == "Hello Bo"
    (tick,) = (await desk.tp.schedules.get(schedule.schedule_id)).ticks
    assert (tick.run_id, tick.by_hand) == (run.run_id, True)


async def test_a_template_that_went_fails_the_tick_and_not_the_schedule(desk: Desk) -> None:
    schedule = await desk.schedule()
    await desk.tp.templates.delete(await desk.tp.templates.get("Greet"))
    await desk.after(60)
    await desk.tp.templates.save(GREET)
    kept = await desk.tp.schedules.get(schedule.schedule_id)
    assert (kept.ticks[-1].outcome, "no template" in kept.ticks[-1].error) == ("failed", True)
    kept = await desk.tp.schedules.change(kept, ScheduleDraft(paused=True))
    assert (kept.paused, kept.next_at) == (True, None)
    with pytest.raises(RecordNotFound):
        await desk.tp.schedules.change(kept, ScheduleDraft(paused=False))
    other = await desk.tp.templates.get("Greet")
    await desk.tp.schedules.change(kept, ScheduleDraft(template_id=other.template_id, paused=False))
    await desk.after(60)
    assert desk.said == ["Hello Bo"]


async def test_the_published_version_is_run_and_a_stored_plan_can_be(desk: Desk) -> None:
    template = await desk.tp.templates.publish(await desk.tp.templates.get("Greet"), ["http"])
    step: Any = GREET["steps"]
    await desk.tp.templates.save({**GREET, "steps": [{**step[0], "inputs": {"text": "New"}}]}, template=template)
    await desk.schedule()
    plan = await desk.tp.plans.add({"name": "p", "steps": [{"id": "s", "tool": "say", "inputs": {"text": "planned"}}]})
    await desk.tp.schedules.create(ScheduleDraft(plan_id=plan.plan_id, cron="* * * * *"))
    await desk.after(60)
    assert sorted(desk.said) == ["Hello Bo", "planned"]


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        ({"cron": "61 * * * *"}, "cannot be read"),
        ({"cron": "* * * *"}, "cannot be read"),
        ({"cron": "x" * 300}, "at most 200"),
        ({"cron": "* * */20 * 1L"}, "never comes"),
        ({"cron": "* * * * *", "time_zone": "Europe/Berln"}, "Did you mean 'Europe/Berlin'"),
        ({"cron": "* * * * *", "time_zone": "../etc/passwd"}, "no time zone"),
        ({"cron": "* * * * *", "time_zone": "localtime"}, "no time zone"),
        ({"cron": "* * * * *", "time_zone": "posixrules"}, "no time zone"),
        ({"cron": "* * * * *", "time_zone": "right/UTC"}, "no time zone"),
        ({}, "cron line or one time"),
        ({"cron": "* * * * *", "once": START + 100}, "and not both"),
        ({"cron": "* * * * *", "plan_id": "plan_1"}, "and not both"),
        ({"cron": "* * * * *", "title": "a\nb"}, "at most 200"),
    ],
)
async def test_what_can_be_no_schedule_is_refused(desk: Desk, draft: dict[str, Any], said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        await desk.tp.schedules.create(ScheduleDraft(template_id="Greet", inputs={"name": "Bo"}, **draft))
    assert await desk.tp.schedules.newest() == []


async def test_inputs_that_do_not_fit_and_templates_that_are_not_there_are_refused(desk: Desk) -> None:
    with pytest.raises(PlanInvalid, match="name"):
        await desk.tp.schedules.create(ScheduleDraft(template_id="Greet", cron="* * * * *"))
    with pytest.raises(RecordNotFound):
        await desk.tp.schedules.create(ScheduleDraft(template_id="Nobody", cron="* * * * *"))
    with pytest.raises(RecordNotFound):
        await desk.tp.schedules.create(ScheduleDraft(template_id="Greet", cron="* * * * *"), tenant="them")
    schedule = await desk.schedule()
    with pytest.raises(RecordConflict):
        await desk.tp.schedules.change(schedule, ScheduleDraft(paused=True), expected=7)
    with pytest.raises(RecordNotFound):
        await desk.tp.schedules.get(schedule.schedule_id, tenant="them")
    await desk.tp.schedules.delete(schedule)
    await desk.after(60)
    assert desk.said == []


async def test_a_scheduler_wakes_for_the_next_tick_and_for_what_is_saved_meanwhile(desk: Desk) -> None:
    working = asyncio.ensure_future(desk.scheduler().run())
    try:
        await desk.clock.advance(0)
        await desk.schedule("*/10 * * * * *")
        for _ in range(4):
            await desk.clock.advance(10)
        assert len(desk.said) == 4
    finally:
        working.cancel()


@pytest.mark.parametrize(
    ("cron", "start", "ticks"),
    [
        # The clocks go forward at 02:00 on March 29, and back at 03:00 on October 25.
        ("30 2 * * *", "2026-03-28T00:00:00+01:00", ["2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00"]),
        ("30 2 * * *", "2026-10-25T00:00:00+02:00", ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"]),
        ("0 * * * *", "2026-10-25T01:30:00+02:00", ["2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00"]),
        ("0 9 ? * MON-FRI", "2026-03-27T12:00:00+01:00", ["2026-03-30T09:00:00+02:00", "2026-03-31T09:00:00+02:00"]),
    ],
)
def test_in_a_time_zone_a_line_is_due_as_cron_is(cron: str, start: str, ticks: list[str]) -> None:
    found = ticks_after(cron, "Europe/Berlin", at(start))
    assert [next(found) for _ in ticks] == [at(tick) for tick in ticks]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(
        ["*/7 * * * *", "30 2 * * *", "0 0 1 * *", "15,45 1-3 * * SUN", "*/20 30 2 * * *", "0 12 * * MON#2"]
    ),
    st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]),
    st.integers(1_740_000_000, 1_800_000_000),
    st.integers(3_600, 4 * 86_400),
)
def test_ticks_looked_up_backwards_are_those_that_come_forwards(cron: str, zone: str, start: int, length: int) -> None:
    end = start + length
    forwards = []
    for tick in ticks_after(cron, zone, start):
        if tick > end:
            break
        forwards.append(tick)
    backwards = []
    for tick in ticks_until(cron, zone, end):
        if tick <= start:
            break
        backwards.append(tick)
    assert backwards[::-1] == forwards


async def test_a_run_by_hand_is_who_asks_for_it_and_the_schedule_stays_whose_it_was(desk: Desk) -> None:
    schedule = await desk.schedule()
    run = await desk.tp.schedules.run_now(schedule, user="root", permissions=("*",))
    await run.result()
    kept = await desk.tp.schedules.get(schedule.schedule_id)
    assert (kept.user, kept.permissions) == ("ada", ())
    assert (await desk.tp.store.get_run(run.run_id)).user == "root"


async def test_a_run_that_goes_on_for_long_is_never_overlapped_nor_hidden_by_one_by_hand(desk: Desk) -> None:
    schedule = await desk.schedule()
    desk.gate.clear()
    await desk.after(60)
    step: Any = {"name": "p", "steps": [], "outputs": 1}
    quick = await desk.tp.plans.add(step)
    other = await desk.tp.schedules.create(ScheduleDraft(plan_id=quick.plan_id, cron="0 0 1 1 *"))
    await (await desk.tp.schedules.run_now(other)).result()
    for _ in range(58):
        await desk.after(60)
    assert len(await desk.tp.store.list_runs(status="running")) == 1
    kept = await desk.tp.schedules.get(schedule.schedule_id)
    assert {tick.outcome for tick in kept.ticks} == {"overlapped"}
    desk.gate.set()


@pytest.mark.parametrize("ahead", [1_800.0, 365 * 86_400.0])
async def test_a_clock_that_was_ahead_stops_no_schedule_and_repeats_no_tick(desk: Desk, ahead: float) -> None:
    schedule = await desk.schedule()
    kept = await desk.tp.store.get_record("schedule", schedule.schedule_id)
    assert kept is not None
    # Another process looked while its clock was wrong.
    later = {**kept.data, "since": START + ahead, "next_at": START + ahead + 60}
    await desk.tp.store.put_record(msgspec.structs.replace(kept, data=later))
    for _ in range(3):
        await desk.after(60)
    assert len(desk.said) == 3


async def test_what_is_changed_otherwise_loses_no_tick_and_an_older_schedule_overwrites_none(desk: Desk) -> None:
    schedule = await desk.schedule("0 9 * * *")
    await desk.clock.advance(at("2026-03-02T11:00:00+00:00") - desk.clock.time())
    changed = await desk.tp.schedules.change(schedule, ScheduleDraft(title="Else", cron="0 9 * * *"), user="ada")
    with pytest.raises(RecordConflict):
        await desk.tp.schedules.change(schedule, ScheduleDraft(title="Old"), expected=changed.revision)
    await desk.after(0)
    assert desk.said == ["Hello Bo"]


async def test_a_template_that_has_the_title_of_an_id_is_not_run_in_the_place_of_one_that_went(desk: Desk) -> None:
    schedule = await desk.schedule()
    await desk.tp.templates.delete(await desk.tp.templates.get("Greet"))
    await desk.tp.templates.save({**GREET, "name": schedule.template_id})
    await desk.after(60)
    assert desk.said == []
    assert (await desk.tp.schedules.get(schedule.schedule_id)).ticks[-1].outcome == "failed"


async def test_a_run_by_hand_of_a_schedule_that_is_deleted_meanwhile_goes_on(desk: Desk) -> None:
    schedule = await desk.schedule()
    await desk.tp.schedules.delete(schedule)
    run = await desk.tp.schedules.run_now(schedule)
    assert (await run.result()).outputs == "Hello Bo"


async def test_uploads_are_stored_with_a_schedule_and_each_of_its_runs_has_the_files(desk: Desk) -> None:
    files = desk.tp.files
    upload, other = await files.create(), await files.create(tenant="acme")
    await files.upload(upload, "prices.csv", b"tea,3")
    for wrong in (other.upload_id, "upload_none", "../" + upload.upload_id):
        with pytest.raises(RecordNotFound):
            await desk.schedule(uploads=(upload.upload_id, wrong))
    with pytest.raises(SchemaError, match="at most 20"):
        await desk.schedule(uploads=(upload.upload_id,) * 21)
    schedule = await desk.schedule(uploads=(upload.upload_id,))
    await desk.after(60)
    # They are kept for its later runs, however old: what no schedule has is not.
    await files.create()
    await desk.clock.advance((desk.tp.settings.upload_days + 1) * 86_400)
    await files.sweep()
    await desk.after(60)
    runs = await desk.tp.runs()
    assert len(runs) >= 2
    for run in runs:
        assert await files.read(run.run_id, "prices.csv") == b"tea,3"
    # A tick without its files begins no run, and says why.
    await files.delete(await files.get(upload.upload_id))
    await desk.after(60)
    told = (await desk.tp.schedules.get(schedule.schedule_id)).ticks[-1]
    assert (told.outcome, upload.upload_id in told.error) == ("failed", True)
    changed = await desk.tp.schedules.change(
        schedule=await desk.tp.schedules.get(schedule.schedule_id), draft=ScheduleDraft(uploads=())
    )
    assert changed.uploads == ()
    await desk.after(60)
    assert (await desk.tp.schedules.get(schedule.schedule_id)).ticks[-1].outcome == "started"
