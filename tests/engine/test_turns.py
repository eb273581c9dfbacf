"""However many calls end together, each turn of the loop sees to a few of them, and everybody else has their turn."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE

from toolpath import Toolpath, tool
from toolpath.engine.drive.loop_turns import STALE, LoopTurns
from toolpath.engine.drive.workers import Workers
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted


async def test_so_many_in_a_turn_and_the_rest_in_order() -> None:
    turns = LoopTurns(most=3)
    done: list[tuple[int, int]] = []
    turn = 0

    async def one(number: int) -> None:
        if not turns.have():
            await turns.next("run")
        done.append((turn, number))

    tasks = [asyncio.create_task(one(number)) for number in range(10)]
    while not all(task.done() for task in tasks):
        turn += 1
        await asyncio.sleep(0)
    assert [number for _, number in done] == list(range(10))
    assert all(sum(1 for at, _ in done if at == turn) <= 3 for turn, _ in done)


async def test_one_that_gives_up_takes_nobodys_turn() -> None:
    turns = LoopTurns(most=1, now=lambda: 0.0)
    assert turns.have()
    waiting = [asyncio.create_task(turns.next("run")) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*waiting[1:])


def test_a_loop_that_ended_in_the_middle_of_a_turn_stops_no_other() -> None:
    turns = LoopTurns(most=1)

    async def take() -> None:
        for _ in range(3):
            if not turns.have():
                await asyncio.wait_for(turns.next("run"), PATIENCE)

    for _ in range(2):
        loop = asyncio.new_event_loop()
        loop.run_until_complete(take())
        loop.close()


async def turns_of(turns: LoopTurns, costs: dict[str, list[float]], spend: Callable[[float], None]) -> list[list[str]]:
    """Whose calls were concluded in each turn of the loop; a call takes as long as it says."""
    done: list[list[str]] = [[]]

    async def one(run_id: str, cost: float) -> None:
        await turns.room(run_id)
        spend(cost)
        done[-1].append(run_id)

    tasks = [asyncio.create_task(one(run_id, cost)) for run_id, all_ in costs.items() for cost in all_]
    while not all(task.done() for task in tasks):
        await asyncio.sleep(0)
        done.append([])
    return [turn for turn in done if turn]


async def test_a_turn_is_over_when_it_has_taken_its_time() -> None:
    now = 0.0

    def spend(seconds: float) -> None:
        nonlocal now
        now += seconds

    turns = LoopTurns(seconds=1.0, now=lambda: now)
    done = await turns_of(turns, {"cheap": [0.01] * 30, "dear": [0.4] * 30}, spend)
    assert sum(map(len, done)) == 60
    # No more than began while there was time left, or the fewest that go on in any case.
    assert max(turn.count("dear") for turn in done) <= 3
    assert len(done) >= 10


async def test_where_others_take_all_the_time_runs_still_go_on() -> None:
    now = 0.0

    def later() -> float:
        nonlocal now
        now += 100.0
        return now

    turns = LoopTurns(seconds=1.0, now=later)
    async with asyncio.timeout(PATIENCE):
        assert sum(map(len, await turns_of(turns, {"run": [0.0] * 20}, lambda _: None))) == 20


async def test_who_has_one_call_does_not_wait_for_all_of_another_run() -> None:
    turns = LoopTurns(most=4)
    done = [
        run_id
        for turn in await turns_of(turns, {"heavy": [0.0] * 400, "small": [0.0]}, lambda _: None)
        for run_id in turn
    ]
    assert done.index("small") <= 2 * 4


@pytest.mark.parametrize("durable", [False, True])
async def test_calls_of_many_runs_that_end_together_do_not_go_on_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durable: bool
) -> None:
    ended = asyncio.Event()
    waiting = concluded = 0
    most = 8

    @tool(group="crowd", effect="read", timeout=3600)
    async def wait() -> int:
        """Wait for the others."""
        nonlocal waiting
        waiting += 1
        await ended.wait()
        return waiting

    def conclude(workers: Workers, attempt: Any, outcome: Any) -> None:
        nonlocal concluded
        concluded += 1
        conclude_really(workers, attempt, outcome)

    conclude_really = Workers.conclude
    monkeypatch.setattr(Workers, "conclude", conclude)
    monkeypatch.setattr(LoopTurns.__init__, "__defaults__", (most,))
    async with Toolpath(tmp_path / "runs.db" if durable else None) as tp:
        tp.add(wait)
        plan = tp.read({"name": "crowd", "steps": [{"id": "wait", "tool": "crowd.wait"}]})
        runs = [await tp.start(plan) for _ in range(20 * most)]
        while waiting < len(runs):  # noqa: ASYNC110  # the loop's turns are what is tested
            await asyncio.sleep(0)
        ended.set()
        in_a_turn = []
        results = asyncio.gather(*(run.result() for run in runs))
        while not results.done():
            before = concluded
            await asyncio.sleep(0)
            in_a_turn.append(concluded - before)
        assert all(result.success for result in await results)
    assert sum(in_a_turn) == len(runs)
    # What a turn of the loop sees to may fall into two turns of ours.
    assert max(in_a_turn) <= 2 * most


async def test_who_goes_on_in_small_pieces_passes_a_run_of_long_ones() -> None:
    turns = LoopTurns(worked=itertools.count(1).__next__)
    done: list[str] = []

    async def long() -> None:
        for _ in range(40):
            await turns.room("long")
            # It says that it took a tenth of a second.
            turns.spent("long", time.monotonic() - 0.1)
            done.append("long")

    async def small() -> None:
        for _ in range(12):
            await turns.room("small")
            await asyncio.sleep(0)
            done.append("small")

    runs = [asyncio.create_task(long()) for _ in range(3)]
    while "long" not in done:  # noqa: ASYNC110  # the loop's turns are what is tested
        await asyncio.sleep(0)
    await small()
    # Each piece of it had a turn of its own, and of the long ones only few came in between.
    between = done[done.index("small") :]
    assert between.count("long") <= 3
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*runs)
    assert done.count("long") == 120


async def test_a_run_that_was_kept_from_the_processor_is_no_dear_one() -> None:
    turns = LoopTurns(worked=lambda: 1.0)
    turns.begin()
    turns.spent("run", time.monotonic() - 0.1)
    assert "run" not in turns.dear


async def test_a_run_whose_pieces_are_short_again_waits_behind_nobody() -> None:
    now = 100.0
    turns = LoopTurns(now=lambda: now, worked=itertools.count(1).__next__)
    turns.spent("run", now - 0.1)
    assert "run" in turns.dear
    while "run" in turns.dear:
        turns.spent("run", now)
    assert turns.have("run")
    turns.spent("run", now - 0.1)
    turns.forget("run")
    assert "run" not in turns.dear


async def test_a_machine_that_is_busy_changes_no_order_where_the_clock_stands_still(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Whoever looked at the machine's own clock would find its turn over each time.
    monkeypatch.setitem(LoopTurns.__init__.__kwdefaults__, "now", itertools.count(0.0, 1.0).__next__)
    began: list[list[str]] = [[]]

    async def begin(inputs: dict[str, Any]) -> dict[str, Any]:
        began[-1].append(inputs["v"])
        asyncio.get_running_loop().call_soon(began.append, [])
        return inputs

    names = [f"s{number}" for number in range(40)]
    steps = [{"id": name, "tool": "r", "inputs": {"v": name}} for name in names]
    async with Toolpath(clock=FakeClock(auto=True)) as tp:
        tp.add(scripted("r", then=begin))
        assert (await tp.run(tp.read({"concurrency": 50, "steps": steps}))).success
    assert [some for some in began if some] == [names]


async def test_the_time_of_the_thread_is_not_asked_for_in_each_turn() -> None:
    now, asked = 100.0, itertools.count()
    turns = LoopTurns(now=lambda: now, worked=lambda: float(next(asked)))
    for _ in range(10):
        turns.begin()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert next(asked) == 1
    now += 2 * STALE
    turns.begin()
    assert next(asked) == 3
