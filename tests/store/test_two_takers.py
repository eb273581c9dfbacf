"""Two Toolpaths on one store that take the same run at the same moment: one drives it, the other sees that it does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE
from tests.store.store_cases import STORES, Now, emptied, postgres_url

from toolpath import Toolpath
from toolpath.errors import RunConflict, ToolFailed
from toolpath.model import events as ev
from toolpath.model.run import RunResult
from toolpath.ports import Signal
from toolpath.testing.scripted import ScriptedTool, scripted

Doors = tuple[Toolpath, Toolpath]

SHAKY = {"flow": "chain", "steps": [{"id": "a", "tool": "t.shaky"}]}
ASKING = {
    "steps": [
        {"id": "a", "tool": "t.read", "requires_approval": True},
        {"id": "b", "tool": "t.read", "requires_approval": True},
    ]
}


@pytest.fixture
def shaky() -> ScriptedTool:
    """Fails once."""
    return scripted("t.shaky", ToolFailed("not yet"), 1, effect="read")


@pytest.fixture(params=["memory", "sqlite-file", pytest.param("postgres", marks=pytest.mark.postgres)])
async def doors(request: pytest.FixtureRequest, tmp_path: Path, shaky: ScriptedTool) -> AsyncIterator[Doors]:
    if request.param == "postgres":
        await emptied(request.getfixturevalue("own_schema"))
        stores: list[Any] = [postgres_url(), postgres_url()]
    elif request.param == "memory":
        stores = [STORES["memory"](tmp_path, Now())] * 2
    else:
        stores = [tmp_path / "runs.db"] * 2
    async with Toolpath(stores[0]) as one, Toolpath(stores[1]) as two:
        for tp in (one, two):
            tp.add(shaky, scripted("t.read", then=1, effect="read"))
        if request.param == "postgres":
            # As processes of two machines are called.
            one._drives._services.driver = "elsewhere:1:a"
        yield one, two


class Take:
    """The first take through this door ends in the store, and is heard of when it is let go."""

    def __init__(self, tp: Toolpath, monkeypatch: pytest.MonkeyPatch) -> None:
        self.taken, self.let_go = asyncio.Event(), asyncio.Event()
        self._drive = tp.store.drive
        monkeypatch.setattr(tp.store, "drive", self._held)

    async def _held(self, *who: Any, **how: Any) -> Any:
        journal = await self._drive(*who, **how)
        if not self.taken.is_set():
            self.taken.set()
            await self.let_go.wait()
        return journal


async def resumed(tp: Toolpath, run_id: str) -> list[str]:
    return [event.reason for event in await tp.events(run_id) if isinstance(event, ev.RunResumed)]


async def went_on(begun: asyncio.Task[Any], take: Take) -> RunResult:
    """What came of the run where it was taken first."""
    take.let_go.set()
    result: RunResult = await (await begun).result()
    return result


async def test_a_run_that_is_being_retried_is_retried_by_nobody_else(
    doors: Doors, shaky: ScriptedTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = doors
    failed = await one.run(SHAKY)
    take = Take(one, monkeypatch)
    retried = asyncio.create_task(one.retry(failed.run_id))
    await take.taken.wait()
    with pytest.raises(RunConflict, match="is running"):
        await two.retry(failed.run_id)
    assert (await went_on(retried, take)).status == "completed"
    assert (await resumed(one, failed.run_id), len(shaky.calls)) == (["retry"], 2)


async def test_a_run_that_is_being_taken_up_is_resumed_by_nobody_else(
    doors: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = doors
    waiting = await one.run(ASKING)
    take = Take(one, monkeypatch)
    begun = asyncio.create_task(one.resume(waiting.run_id))
    await take.taken.wait()
    with pytest.raises(RunConflict, match="drives the run"):
        await two.resume(waiting.run_id)
    assert (await went_on(begun, take)).status == "waiting"
    assert await resumed(one, waiting.run_id) == ["resume"]


async def test_of_two_who_approve_at_once_one_drives_and_both_are_heard(
    doors: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = doors
    waiting = await one.run(ASKING)
    take = Take(one, monkeypatch)
    begun = asyncio.create_task(one.approve(waiting.run_id, "a"))
    await take.taken.wait()
    await two.approve(waiting.run_id, "b")
    assert (await went_on(begun, take)).status == "completed"
    assert await resumed(one, waiting.run_id) == [""]


async def test_a_cancel_reaches_a_run_that_is_being_retried(
    doors: Doors, shaky: ScriptedTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = doors
    failed = await one.run(SHAKY)
    take = Take(one, monkeypatch)
    retried = asyncio.create_task(one.retry(failed.run_id))
    await take.taken.wait()
    await two.cancel(failed.run_id)
    assert (await went_on(retried, take)).status == "cancelled"
    assert len(shaky.calls) == 1


async def test_a_cancel_that_came_too_late_for_a_run_does_not_cancel_its_retry(doors: Doors) -> None:
    one, two = doors
    failed = await one.run(SHAKY)
    # As it is left by who saw the run still going on.
    await two.store.put_signal(failed.run_id, Signal(kind="cancel"))
    assert (await (await two.retry(failed.run_id)).result()).status == "completed"


async def test_a_retry_whose_process_died_before_it_wrote_anything_goes_on_as_one(
    doors: Doors, shaky: ScriptedTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = doors
    failed = await one.run(SHAKY)
    take = Take(one, monkeypatch)
    retried = asyncio.create_task(one.retry(failed.run_id))
    await take.taken.wait()
    retried.cancel()
    await asyncio.wait({retried})
    result = await (await two.resume(failed.run_id, force=True)).result()
    assert (result.status, len(shaky.calls)) == ("completed", 2)


async def test_an_ended_run_that_is_taken_by_force_as_it_ends_stays_as_it_ended(
    doors: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = doors
    waiting = await one.run(ASKING)
    read, seen, let_go = two.store.read_events, asyncio.Event(), asyncio.Event()

    async def slow(*of: Any, **how: Any) -> Any:
        if not seen.is_set():
            seen.set()
            await let_go.wait()
        return await read(*of, **how)

    monkeypatch.setattr(two.store, "read_events", slow)
    forced = asyncio.create_task(two._drives.take_up(waiting.run_id, reason="resume"))
    await seen.wait()
    monkeypatch.setattr(two.store, "read_events", read)
    cancelled = await (await one.cancel(waiting.run_id)).result()
    let_go.set()
    assert (await (await forced).result()).status == "cancelled"
    info = await one.store.get_run(waiting.run_id)
    assert (info.status, info.driver, info.ended_at is not None) == ("cancelled", "", True)
    assert cancelled.status == "cancelled"


async def test_whoever_s_run_was_taken_gets_what_came_of_it_elsewhere(doors: Doors) -> None:
    one, two = doors
    begun, let_go = asyncio.Event(), asyncio.Event()

    async def held(_: object) -> int:
        begun.set()
        await let_go.wait()
        return 1

    for tp in doors:
        tp.add(scripted("t.held", then=held, effect="read"))
    plan = {"steps": [{"id": "a", "tool": "t.held"}], "outputs": "{{ a }}"}
    started = await one.start(plan)
    await begun.wait()
    direct = asyncio.create_task(one.run(plan))
    async with asyncio.timeout(PATIENCE):
        while len(runs := await two.runs()) < 2:  # noqa: ASYNC110  # it has told nobody its id
            await asyncio.sleep(0)
    for info in runs:
        await two.resume(info.run_id, force=True)
    let_go.set()
    results = [await started.result(), await direct]
    assert [(result.status, result.outputs) for result in results] == [("completed", 1)] * 2
