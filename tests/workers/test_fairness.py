"""One tenant's many runs do not delay another's single one; messages that no worker can read stop nobody."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aio_pika
import pytest
from tests.patience import PATIENCE
from tests.workers.worker_cases import URL, Ground, until

from toolpath.config import load_settings
from toolpath.model.run import RunContext
from toolpath.providers.functions import tool
from toolpath.queues.rabbitmq import RabbitQueue, is_readable
from toolpath.recovery import timing
from toolpath.recovery.pending_sweep import PendingSweep
from toolpath.runs import run_queue

pytestmark = pytest.mark.rabbitmq


def calling(name: str, who: str = "") -> dict[str, Any]:
    return {"name": who or name, "steps": [{"id": "one", "tool": name, "inputs": {"who": who}}]}


@pytest.mark.parametrize("tenant_calls", [0, 2])
async def test_the_single_run_of_a_tenant_is_not_behind_the_many_of_another(ground: Ground, tenant_calls: int) -> None:
    order: list[str] = []

    @tool(group="work", effect="read")
    async def do(who: str) -> str:
        """Take a moment.

        Args:
            who: For whom.
        """
        await asyncio.sleep(0.01)
        order.append(who)
        return who

    ground.tools = (do,)
    ground.settings = load_settings(env={}, tenant_calls=tenant_calls)
    async with ground.door() as tp:
        for _ in range(60):
            await tp.start(calling("work.do", "a"), context=RunContext(tenant="a"))
        single = await tp.start(calling("work.do", "b"), context=RunContext(tenant="b"))
        async with ground.worker(concurrency=3), ground.worker(concurrency=3):
            assert (await single.result()).success
            assert order.index("b") < 20, "it waited for the other tenant's runs"
            await until(lambda: len(order) == 61)


async def test_a_tenant_s_runs_that_wait_for_its_calls_leave_places_to_others(ground: Ground) -> None:
    """With four calls at once for a tenant and ten places of the worker, its runs do not take all ten."""
    held = asyncio.Event()
    begun: list[str] = []

    @tool(group="work", effect="read")
    async def hold(who: str) -> str:
        """Wait for the test.

        Args:
            who: For whom.
        """
        begun.append(who)
        if who == "a":
            await held.wait()
        return who

    ground.tools = (hold,)
    ground.settings = load_settings(env={}, tenant_calls=4)
    async with ground.door() as tp, ground.worker(concurrency=10):
        many = [await tp.start(calling("work.hold", "a"), context=RunContext(tenant="a")) for _ in range(30)]
        await until(lambda: begun.count("a") == 4)
        single = await tp.start(calling("work.hold", "b"), context=RunContext(tenant="b"))
        assert (await single.result()).success
        assert begun.count("a") == 4
        held.set()
        for run in many:
            assert (await run.result()).success


async def test_a_backlog_of_any_age_sends_no_messages_again_and_one_process_sends_what_is_missing(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "SWEPT_AFTER", 0.0)
    monkeypatch.setattr(timing, "SWEEP", 1_000_000.0)
    queue = ground.queue()
    async with ground.door(queue) as tp:
        plan = {"steps": [{"id": "say", "tool": "say.mark", "inputs": {"word": "x"}}]}
        runs = [(await tp.start(plan)).run_id for _ in range(30)]
        sweeps = [PendingSweep(tp.store, queue, tp.clock, lambda: 0.5) for _ in range(4)]
        for _ in range(5):
            assert [await sweep.once() for sweep in sweeps] == [[]] * 4
        assert await queue.depth() == 30
        # Whoever took these turns has died before it drove the runs.
        taken = [await tp.store.next_run() for _ in range(6)]
        assert taken == runs[:6]
        found = await asyncio.gather(*(sweep.once() for sweep in sweeps))
        assert sorted(run for each in found for run in each) == sorted(runs[:6]), "each by one process"
        assert await queue.depth() == 36


async def test_what_the_broker_has_lost_is_driven_without_a_message_for_each(ground: Ground) -> None:
    nowhere = RabbitQueue("amqp://guest:guest@127.0.0.1:1/", name=ground.name)
    queue = ground.queue()
    async with ground.door(queue) as tp:
        async with ground.door(nowhere) as cut:
            runs = [
                await cut.start({"steps": [{"id": "say", "tool": "say.mark", "inputs": {"word": str(number)}}]})
                for number in range(25)
            ]
        assert await PendingSweep(tp.store, queue, tp.clock, lambda: 0.5).once() == []
        assert 0 < await queue.depth() <= 10
        async with ground.worker():
            for run in runs:
                assert (await tp.result(run.run_id)).success


def message(task: str = "toolpath.drive", args: tuple[Any, ...] = (), **kwargs: Any) -> bytes:
    return json.dumps({"task_name": task, "task_id": "1", "labels": {}, "args": args, "kwargs": kwargs}).encode()


BAD = [
    b"",
    b"no json",
    b"{}",
    b"[]",
    message(),
    message(args=(1,)),
    message(args=("a", "b")),
    message("toolpath.later", args=("a",)),
    message(id="a"),
    message(args=("a",), run_id="b"),
]


async def test_messages_that_no_worker_can_read_are_put_aside_and_stop_nobody(ground: Ground) -> None:
    assert not any(map(is_readable, BAD))
    queue = ground.queue()
    async with ground.door(queue) as tp:
        connection = await aio_pika.connect(URL)
        channel = await connection.channel()
        exchange = await channel.get_exchange(ground.name)
        for body in BAD * 3:
            await exchange.publish(aio_pika.Message(body), routing_key=ground.name)
        await connection.close()
        async with ground.worker(concurrency=2):
            step = {"id": "say", "tool": "say.mark", "inputs": {"word": "through"}}
            assert (await tp.run({"steps": [step]})).success

            async def are_aside() -> bool:
                return await queue.put_aside() == len(BAD) * 3

            await until(are_aside)
        assert await queue.depth() == 0


async def test_a_message_of_a_run_that_is_driven_is_done_with_at_once(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker may hand out a message twice: nobody waits meanwhile for what another one drives."""
    held, begun = asyncio.Event(), asyncio.Event()

    @tool(group="work", effect="read")
    async def hold(who: str) -> str:
        """Wait for the test.

        Args:
            who: For whom.
        """
        begun.set()
        await held.wait()
        return who

    ground.tools = (hold,)
    monkeypatch.setattr(run_queue, "DYING", 3_600.0)
    async with ground.door() as tp, ground.worker(concurrency=1):
        run = await tp.start(calling("work.hold"))
        await begun.wait()
        async with ground.door() as other, asyncio.timeout(PATIENCE):
            assert [await other.take_turn(run.run_id) for _ in range(20)] == [None] * 20
        held.set()
        assert (await run.result()).success
