"""How the queue is kept at the broker, and what is told of a broker that does not let one in."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.workers.worker_cases import URL, Ground, queue_name

from toolpath.cli.project.reaching import reach
from toolpath.config import load_settings
from toolpath.errors import QueueError
from toolpath.queues import rabbitmq
from toolpath.queues.rabbitmq import RabbitQueue

pytestmark = pytest.mark.rabbitmq

PLAN = {"steps": [{"id": "say", "tool": "say.mark", "inputs": {"word": "x"}}]}


async def test_runs_go_through_a_queue_that_a_cluster_keeps_on_several_nodes(ground: Ground) -> None:
    queue, fetched = (RabbitQueue(URL, name=ground.name, kind="quorum", heartbeat=20) for _ in range(2))
    ground.queue = lambda *_, **__: fetched  # type: ignore[method-assign]
    async with ground.door(queue) as tp, ground.worker():
        assert (await tp.run(PLAN)).success
        assert await queue.put_aside() == 0


async def test_a_queue_that_is_there_as_another_kind_is_said_to_be(ground: Ground) -> None:
    first, second = RabbitQueue(URL, name=ground.name), RabbitQueue(URL, name=ground.name, kind="quorum")
    await first.open()
    await second.open()
    with pytest.raises(QueueError, match="with other settings"):
        await second.depth()
    await second.close()
    await first.close()


async def test_who_is_not_let_in_is_told_so_and_not_that_the_broker_is_away() -> None:
    async with queue_name() as name:
        settings = load_settings(
            env={}, queue=URL.replace("guest:guest@", "guest:wrong-word@"), queue_name=name, queue_prefix="own-"
        )
        [queue, *_] = await reach(settings, {})
    assert queue.verdict == "bad"
    assert "does not let this user in" in queue.text
    assert "wrong-word" not in queue.text
    assert "away" not in queue.text


async def test_an_acknowledgement_that_is_cut_off_cuts_off_no_drive() -> None:
    gone_on = asyncio.Event()

    class Message:
        acknowledged = 0

        async def ack(self) -> None:
            # What the library does to whoever waits for a connection that is lost.
            self.acknowledged += 1
            raise asyncio.CancelledError

    async def drive() -> None:
        await asyncio.sleep(0.05)
        gone_on.set()

    message: Any = Message()
    await rabbitmq._held(drive(), message, 0.001)
    assert gone_on.is_set()
    assert message.acknowledged == 2


async def test_a_worker_that_is_told_to_end_at_once_ends_its_drive() -> None:
    ended: list[str] = []

    async def drive() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cut off")
            raise

    class Silent:
        async def ack(self) -> None:
            await asyncio.Event().wait()

    message: Any = Silent()
    holding = asyncio.ensure_future(rabbitmq._held(drive(), message, 0.001))
    await asyncio.sleep(0.05)
    holding.cancel()
    await asyncio.wait({holding})
    assert ended == ["cut off"]
