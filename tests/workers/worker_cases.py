"""A queue of the test's own, workers in its loop, and tools that leave a line for every call."""

from __future__ import annotations

import asyncio
import contextlib
import os
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aio_pika
import pytest
from tests.patience import PATIENCE

from toolpath.app import Toolpath
from toolpath.config import Settings
from toolpath.queues.rabbitmq import RabbitQueue
from toolpath.server.worker import Worker

URL = os.environ.get("TOOLPATH_TEST_RABBITMQ", "amqp://guest:guest@127.0.0.1:5672/")


@asynccontextmanager
async def queue_name() -> AsyncIterator[str]:
    """The name of a queue that nobody else has; it is deleted in the end."""
    name = f"toolpath-test-{uuid.uuid4().hex}"
    try:
        connection = await aio_pika.connect(URL, timeout=PATIENCE)
    except Exception as error:
        pytest.skip(f"no RabbitMQ at {URL}: {error!r}")
    try:
        yield name
    finally:
        channel = await connection.channel()
        for queue in (name, f"{name}.dead"):
            await channel.queue_delete(queue)
        await channel.exchange_delete(name)
        await connection.close()


class Ground:
    """One store and one queue, for as many processes as a test wants."""

    def __init__(self, store: str, name: str, tools: tuple[Any, ...]) -> None:
        self.store = store
        self.name = name
        self.tools = tools
        self.settings = Settings()

    def queue(self, url: str = URL, **options: Any) -> RabbitQueue:
        return RabbitQueue(url, name=self.name, **options)

    @asynccontextmanager
    async def door(self, queue: RabbitQueue | None = None) -> AsyncIterator[Toolpath]:
        """What `serve` is: it stores runs and enqueues them."""
        async with Toolpath(self.store, settings=self.settings, queue=queue or self.queue()) as tp:
            tp.add(*self.tools)
            yield tp

    @asynccontextmanager
    async def worker(self, **options: Any) -> AsyncIterator[Worker]:
        """A worker at work, with the `chat` given; it is stopped in the end."""
        queue = self.queue(**{name: options.pop(name) for name in ("hold", "url") if name in options})
        chat = options.pop("chat", None)
        async with Toolpath(self.store, settings=self.settings, queue=queue, chat=chat) as tp:
            tp.add(*self.tools)
            worker = Worker(tp, queue, **options)
            running = asyncio.create_task(worker.run())
            try:
                yield worker
            finally:
                worker.stop()
                await running


async def until(true: Any, within: float = PATIENCE) -> None:
    """Wait until what is asked for holds."""
    async with asyncio.timeout(within):
        while not (await true() if asyncio.iscoroutinefunction(true) else true()):  # noqa: ASYNC110  # whatever it may be
            await asyncio.sleep(0.01)


def lines(file: Path) -> list[str]:
    """What tools have written."""
    with contextlib.suppress(FileNotFoundError):
        return file.read_text().splitlines()
    return []
