"""Whole runs on PostgreSQL, seen and told by two Toolpaths that share nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.patience import PATIENCE
from tests.store.breakable import relayed
from tests.store.store_cases import emptied, postgres_url

from toolpath import Tool, Toolpath
from toolpath.model import events as ev
from toolpath.testing.scripted import scripted

pytestmark = pytest.mark.postgres

ASKING = {
    "flow": "chain",
    "steps": [{"id": "f", "ask": {"title": "?", "inputs": [{"name": "n"}]}}, {"id": "a", "tool": "echo"}],
}


def echo() -> Tool:
    return scripted("echo", then=lambda inputs: inputs)


@pytest.fixture
async def schema(own_schema: str) -> str:
    await emptied(own_schema)
    return own_schema


@pytest.fixture
async def pair(schema: str) -> AsyncIterator[tuple[Toolpath, Toolpath]]:
    async with Toolpath(postgres_url()) as one, Toolpath(postgres_url()) as other:
        for toolpath in (one, other):
            toolpath.add(echo())
        # As processes of two machines are called.
        one._drives._services.driver = "elsewhere:1:a"
        yield one, other


async def test_a_run_is_answered_from_elsewhere_and_goes_on_there(pair: tuple[Toolpath, Toolpath]) -> None:
    one, other = pair
    waiting = await one.run(ASKING)
    assert waiting.status == "waiting"
    assert [info.status for info in await other.runs()] == ["waiting"]
    result = await (await other.answer(waiting.run_id, "f", {"n": "x"})).result()
    assert result.status == "completed"
    assert (await one.result(waiting.run_id)).status == "completed"


@pytest.mark.parametrize(("told", "status"), [("cancel", "cancelled"), ("pause", "paused")])
async def test_a_driver_hears_at_once_what_it_is_told_from_elsewhere(
    pair: tuple[Toolpath, Toolpath], told: str, status: str
) -> None:
    one, other = pair
    begun, ended = asyncio.Event(), asyncio.Event()

    async def until_told(_: object) -> int:
        begun.set()
        await ended.wait()
        return 1

    for toolpath in pair:
        toolpath.add(scripted("long", then=until_told))
    run = await one.start({"flow": "chain", "steps": [{"tool": "long"}, {"tool": "echo"}]})
    await begun.wait()
    await getattr(other, told)(run.run_id)
    async with asyncio.timeout(PATIENCE):
        async for event in run.events():
            if isinstance(event, ev.RunPaused | ev.RunCancelled):
                break
    ended.set()
    assert (await run.result()).status == status


async def test_events_are_watched_from_elsewhere_as_they_come(pair: tuple[Toolpath, Toolpath]) -> None:
    one, other = pair
    gate = asyncio.Event()

    async def slow(_: object) -> int:
        await gate.wait()
        return 1

    for toolpath in pair:
        toolpath.add(scripted("gated", then=slow))
    run = await one.start({"flow": "chain", "steps": [{"tool": "gated"}, {"tool": "echo"}]})
    seen: list[str] = []
    async with asyncio.timeout(PATIENCE):
        async for event in other.watch(run.run_id):
            seen.append(type(event).__name__)
            if isinstance(event, ev.StepStarted):
                gate.set()
    assert seen[-1] == "RunCompleted"
    assert seen.count("StepSucceeded") == 2


async def test_many_runs_at_once_keep_apart(pair: tuple[Toolpath, Toolpath]) -> None:
    one, other = pair
    plan = {
        "inputs": {"type": "object", "properties": {"n": {"type": "integer"}}},
        "steps": [{"id": f"s{n}", "tool": "echo", "inputs": {"n": "{{ inputs.n }}"}} for n in range(5)],
        "outputs": "{{ [s0.n, s4.n] }}",
    }
    starts = (toolpath.run(plan, inputs={"n": n}) for n in range(20) for toolpath in (one, other))
    results = await asyncio.gather(*starts)
    assert [result.outputs for result in results] == [[n, n] for n in range(20) for _ in pair]


async def test_a_run_outlives_the_loss_of_its_database(schema: str) -> None:
    async with relayed() as relay, Toolpath(relay.url(schema)) as toolpath:
        gate = asyncio.Event()

        async def cut(inputs: dict[str, object]) -> dict[str, object]:
            if not gate.is_set():
                gate.set()
                await relay.cut()
            return inputs

        tool = scripted("cut", then=cut)
        toolpath.add(tool, echo())
        run = await toolpath.start({"flow": "chain", "steps": [{"tool": "cut"}, {"tool": "echo"}, {"tool": "cut"}]})
        await gate.wait()
        await relay.open()
        async with asyncio.timeout(PATIENCE):
            result = await run.result()
        assert result.status == "completed"
        assert len(tool.calls) == 2
