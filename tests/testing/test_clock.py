"""The fake clock: timers in order, consequences first, and jumps only when the loop is idle."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
import time
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.patience import PATIENCE

from toolpath.ports import Clock
from toolpath.testing.clock import FakeClock


async def test_time_stands_still_until_it_is_moved() -> None:
    clock: Clock = FakeClock(start=1000.0)
    assert (clock.time(), clock.monotonic()) == (1000.0, 0.0)
    await asyncio.sleep(0)
    assert clock.monotonic() == 0.0


async def test_timers_fire_in_order_each_at_its_own_time() -> None:
    clock, fired = FakeClock(), []
    for when in (3.0, 1.0, 2.0):
        clock.call_at(when, lambda: fired.append(clock.monotonic()))
    await clock.advance(2.5)
    assert fired == [1.0, 2.0]
    assert clock.monotonic() == 2.5
    await clock.advance(0.5)
    assert fired == [1.0, 2.0, 3.0]


async def test_a_cancelled_timer_does_not_fire() -> None:
    clock, fired = FakeClock(), []
    timer = clock.call_at(1.0, lambda: fired.append("cancelled"))
    clock.call_at(1.0, lambda: fired.append("kept"))
    timer.cancel()
    assert clock.pending == (1.0,)
    await clock.advance(1)
    assert fired == ["kept"]


async def test_a_timer_in_the_past_fires_at_the_next_turn_of_the_loop() -> None:
    clock, fired = FakeClock(), []
    clock.call_at(0.0, lambda: fired.append(1))
    assert fired == []
    await asyncio.sleep(0)
    assert fired == [1]


async def test_timers_set_by_what_a_timer_wakes_fire_within_the_same_advance() -> None:
    clock, seen = FakeClock(), []

    async def back_off() -> None:
        for delay in (1, 2, 4):
            await clock.sleep(delay)
            seen.append(clock.monotonic())

    task = asyncio.create_task(back_off())
    await clock.advance(7)
    assert seen == [1.0, 3.0, 7.0]
    await task


async def test_a_clock_does_not_go_back() -> None:
    with pytest.raises(ValueError, match="back"):
        await FakeClock().advance(-1)


async def test_the_automatic_clock_waits_for_days_in_no_time() -> None:
    clock = FakeClock(auto=True)
    await clock.sleep(86_400 * 3)
    assert clock.monotonic() == 86_400 * 3


async def test_the_automatic_clock_interleaves_sleepers_by_their_times() -> None:
    clock, seen = FakeClock(auto=True), []

    async def sleeper(name: str, *delays: float) -> None:
        for delay in delays:
            await clock.sleep(delay)
            seen.append((clock.monotonic(), name))

    await asyncio.gather(sleeper("a", 2, 2), sleeper("b", 1, 4), sleeper("c", 3))
    assert seen == [(1.0, "b"), (2.0, "a"), (3.0, "c"), (4.0, "a"), (5.0, "b")]


async def test_automatic_clocks_of_one_loop_do_not_wait_for_each_other() -> None:
    left, clock = FakeClock(auto=True), FakeClock(auto=True)
    # As something leaves one that is over.
    left.call_at(1.0, lambda: None)
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(clock.sleep(5), left.sleep(3))
    assert (clock.monotonic(), left.monotonic()) == (5.0, 3.0)


async def test_the_automatic_clock_lets_ready_work_go_first() -> None:
    clock, turns = FakeClock(auto=True), 0

    async def work() -> None:
        nonlocal turns
        for _ in range(500):
            await asyncio.sleep(0)
            turns += 1

    task = asyncio.create_task(work())
    await clock.sleep(1)
    assert turns == 500
    await task


async def test_the_automatic_clock_waits_for_a_short_real_sleep() -> None:
    clock, done = FakeClock(auto=True), []

    async def work() -> None:
        await asyncio.sleep(0.02)
        done.append(clock.monotonic())

    task = asyncio.create_task(work())
    await clock.sleep(30)
    assert done == [0.0]
    await task


async def test_the_automatic_clock_waits_for_a_thread_at_work() -> None:
    clock, done = FakeClock(auto=True), []

    def work() -> None:
        time.sleep(0.05)
        done.append(clock.monotonic())

    task = asyncio.create_task(asyncio.to_thread(work))
    await clock.sleep(30)
    assert done == [0.0]
    await task


async def test_the_automatic_clock_says_whom_it_waits_for() -> None:
    clock = FakeClock(auto=True, warn_after=0.02)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")

        def work() -> None:
            deadline = time.monotonic() + 60
            while not said and time.monotonic() < deadline:
                time.sleep(0.001)

        thread = threading.Thread(target=work, name="the work")
        thread.start()
        await clock.sleep(3)
    thread.join()
    assert "the work at " in str(said[0].message)
    assert clock.monotonic() == 3


async def test_the_automatic_clock_does_not_wait_for_a_thread_that_waits_itself() -> None:
    clock, gate = FakeClock(auto=True), threading.Event()
    task = asyncio.create_task(asyncio.to_thread(gate.wait))
    await clock.sleep(30)
    assert clock.monotonic() == 30.0
    gate.set()
    await task


async def test_the_automatic_clock_does_not_wait_for_a_thread_that_waits_for_callers() -> None:
    # As a plugin of the test runner does for as long as the tests run: its line is one of `socket.py` by then.
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            server.accept()[0].close()

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        try:
            clock = FakeClock(auto=True)
            async with asyncio.timeout(PATIENCE):
                await clock.sleep(3)
            assert clock.monotonic() == 3
        finally:
            socket.create_connection(server.getsockname()).close()
            thread.join()


async def test_a_timeout_on_the_automatic_clock_cuts_off_what_never_ends() -> None:
    clock = FakeClock(auto=True)
    task = asyncio.create_task(asyncio.Event().wait())
    clock.call_at(30.0, task.cancel)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert clock.monotonic() == 30.0


async def test_settling_returns_only_when_the_loop_is_idle() -> None:
    clock, turns = FakeClock(), 0

    async def work() -> None:
        nonlocal turns
        for _ in range(100):
            await asyncio.sleep(0)
            turns += 1
        await clock.sleep(1)
        turns = -1

    task = asyncio.create_task(work())
    await clock.settle()
    assert turns == 100
    await clock.advance(1)
    assert turns == -1
    await task


async def test_settling_gives_up_on_a_loop_that_never_rests() -> None:
    clock = FakeClock()

    async def spin() -> None:
        while True:  # noqa: ASYNC110  # the point is that it never rests
            await asyncio.sleep(0)

    task = asyncio.create_task(spin())
    with pytest.raises(TimeoutError, match="the loop itself"):
        await clock.settle(limit=0.05)
    task.cancel()


async def test_a_program_that_still_runs_is_not_waited_for() -> None:
    clock = FakeClock()
    program = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
    try:
        # What waits for its end may be a thread.
        await clock.settle(limit=0.3)
    finally:
        await program.communicate(b"\n")


@pytest.mark.parametrize("turns", [1, 4])
async def test_a_process_that_stood_still_is_not_told_that_it_never_rests(turns: int) -> None:
    clock, done = FakeClock(), 0

    async def stand_still() -> None:
        nonlocal done
        for _ in range(turns):
            time.sleep(0.15)  # noqa: ASYNC251  # as a process does that others leave no processor
            await asyncio.sleep(0)
        done = turns

    task = asyncio.create_task(stand_still())
    await clock.settle(limit=0.3)
    assert done == turns
    await task


async def test_a_fault_in_a_timer_does_not_stop_the_automatic_clock() -> None:
    clock, faults = FakeClock(auto=True), []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context["exception"]))
    clock.call_at(1.0, lambda: 1 / 0)
    await clock.sleep(2)
    assert [type(fault) for fault in faults] == [ZeroDivisionError]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 50), max_size=12), st.lists(st.integers(1, 30), min_size=1, max_size=6))
def test_however_the_span_is_cut_the_same_timers_fire_at_the_same_times(whens: list[int], cuts: list[int]) -> None:
    def fired(spans: list[int]) -> list[tuple[int, float]]:
        async def scenario() -> list[tuple[int, float]]:
            clock, seen = FakeClock(), []
            for number, when in enumerate(whens):
                clock.call_at(float(when), lambda number=number: seen.append((number, clock.monotonic())))
            for span in spans:
                await clock.advance(span)
            return seen

        return asyncio.run(scenario())

    assert fired(cuts) == fired([sum(cuts)])
