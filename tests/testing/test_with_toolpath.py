"""The fakes where they are meant to stand: in a Toolpath."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from toolpath.app import Toolpath
from toolpath.errors import ToolRetry
from toolpath.model.events import StepSucceeded
from toolpath.model.tool import Tool
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.crashing import CrashingStore, Died
from toolpath.testing.recording import Recorder
from toolpath.testing.replay import Replay
from toolpath.testing.scripted import scripted

CHAIN = {
    "name": "pair",
    "steps": [
        {"id": "first", "tool": "t.read", "inputs": {"n": 1}},
        {"id": "second", "tool": "t.write", "inputs": {"n": "{{ first.v }}"}},
    ],
}


async def test_a_back_off_of_hours_takes_no_time() -> None:
    tool = scripted("t.read", ToolRetry("1"), ToolRetry("2"), ToolRetry("3"), {"v": 9})
    clock = FakeClock(auto=True)
    async with Toolpath(clock=clock) as toolpath:
        toolpath.add(tool)
        hours = {"initial_delay": "1h", "max_delay": "1d"}
        result = await toolpath.run({"name": "p", "steps": [{"id": "a", "tool": "t.read", "retry": hours}]})
    assert (result.status, result.step("a").attempts) == ("completed", 4)
    assert clock.monotonic() == 3_600 * (1 + 2 + 4)
    tool.assert_complete()


async def test_a_call_that_never_ends_times_out_at_once() -> None:
    clock = FakeClock(auto=True)
    async with Toolpath(clock=clock) as toolpath:
        toolpath.add(scripted("t.read", then=lambda inputs: asyncio.Event().wait()))
        step = {"id": "a", "tool": "t.read", "timeout": "10m", "retry": {"max_retries": 0}}
        result = await toolpath.run({"name": "p", "steps": [step]})
    assert (result.status, result.step("a").status, clock.monotonic()) == ("failed", "timed_out", 600.0)


async def test_a_def_tool_that_works_in_a_thread_is_waited_for() -> None:
    def slow() -> int:
        time.sleep(0.05)
        return 1

    clock = FakeClock(auto=True)
    async with Toolpath(clock=clock) as toolpath:
        toolpath.add(slow, effect="read")
        result = await toolpath.run({"name": "p", "steps": [{"id": "a", "tool": "slow", "timeout": 1}]})
    assert (result.status, clock.monotonic()) == ("completed", 0.0)


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_run_survives_the_death_of_its_store_and_repeats_nothing_that_was_kept(when: Any) -> None:
    def succeeded(events: Any) -> bool:
        return any(isinstance(event, StepSucceeded) and event.path == "first" for event in events)

    inner = MemoryStore()
    dying = CrashingStore(inner, cue=succeeded, when=when, how="die")
    read = scripted("t.read", then={"v": 5})
    write = scripted("t.write", {"done": True}, effect="write")

    async def run_until_it_dies() -> None:
        async with Toolpath(dying) as toolpath:
            toolpath.add(read, write)
            await toolpath.run(CHAIN)

    with pytest.raises(Died):
        await run_until_it_dies()
    assert len(write.calls) == 0
    async with Toolpath(dying.reopen()) as toolpath:
        toolpath.add(read, write)
        run = await toolpath.resume((await toolpath.runs())[0].run_id)
        result = await run.result()
        if when == "after":
            # The start of the write was kept with the success before it: nobody knows whether it was made.
            assert (result.status, result.step("second").status) == ("waiting", "unknown")
            result = await (await toolpath.settle(run.run_id, "second", retry=True)).result()
    assert (result.status, result.outputs) == ("completed", {"second": {"done": True}})
    assert write.calls == [{"n": 5}]
    # What was kept is not called again; what was not is a read, and may be.
    assert len(read.calls) == (2 if when == "before" else 1)


async def test_a_recorded_run_is_replayed_without_its_tools(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"

    async def run(tools: list[Tool]) -> Any:
        async with Toolpath(clock=FakeClock(auto=True)) as toolpath:
            toolpath.add(*tools)
            return await toolpath.run(CHAIN)

    with Recorder(file) as recorder:
        live = await run(recorder.record([scripted("t.read", ToolRetry("busy"), {"v": 5}), scripted("t.write", "ok")]))
    replay = Replay(file)
    again = await run(replay.replay([scripted("t.read"), scripted("t.write")]))
    assert again.outputs == live.outputs == {"second": "ok"}
    assert [step.attempts for step in again.results] == [step.attempts for step in live.results] == [2, 1]
    replay.assert_complete()


async def test_a_replay_that_misses_fails_the_run_and_shows_the_difference(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    file.write_text('{"tool": "t.read", "inputs": {"n": 2}, "output": {"v": 5}}\n')
    replay = Replay(file)
    async with Toolpath() as toolpath:
        toolpath.add(*replay.replay([scripted("t.read"), scripted("t.write")]))
        result = await toolpath.run(CHAIN)
    assert result.status == "failed"
    assert '-  "n": 2\n+  "n": 1' in result.step("first").error.message  # type: ignore[union-attr]
    assert len(replay.misses) == 1
