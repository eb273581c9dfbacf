"""What workers do when a driver, a broker or a place in the queue is lost."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.patience import PATIENCE
from tests.prepared.prepared import prepared
from tests.workers.worker_cases import URL, Ground, lines, until

from toolpath.model.events import RunResumed
from toolpath.ports import RunChange, Signal
from toolpath.queues.rabbitmq import RabbitQueue
from toolpath.recovery import timing
from toolpath.recovery.pending_sweep import PendingSweep

pytestmark = pytest.mark.rabbitmq

POISON = """
import os
from toolpath import tool

@tool(group="bad", effect="read")
async def poison() -> str:
    "End the process that calls it."
    with open("calls", "a") as file:
        file.write("poison\\n")
    os._exit(9)

@tool(group="bad", effect="write")
async def fine(word: str) -> str:
    \"\"\"Write a word down.

    Args:
        word: What to write.
    \"\"\"
    with open("calls", "a") as file:
        file.write(word + "\\n")
    return word
"""


@asynccontextmanager
async def worker_process(folder: Path, ground: Ground) -> AsyncIterator[asyncio.subprocess.Process]:
    """`toolpath worker` as a process of its own."""
    words = prepared("toolpath", "worker", "--store", ground.store, "--tools", "tools.py")
    given = {"TOOLPATH_QUEUE": URL, "TOOLPATH_QUEUE_NAME": ground.name, "TOOLPATH_MAX_LOSSES": "2"}
    process = await asyncio.create_subprocess_exec(
        *words, cwd=folder, env={**os.environ, **given}, stderr=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.mark.slow
async def test_a_run_that_ends_every_worker_is_put_aside_and_shown_while_others_go_on(
    ground: Ground, tmp_path: Path
) -> None:
    (tmp_path / "tools.py").write_text(POISON)
    async with ground.door() as tp:
        tp.add_module(str(tmp_path / "tools.py"))
        run = await tp.start({"name": "bad", "steps": [{"id": "bad", "tool": "bad.poison"}]})
        for _ in range(2):
            async with worker_process(tmp_path, ground) as process:
                await process.wait()
                assert process.returncode == 9
        async with worker_process(tmp_path, ground) as process:
            result = await run.result()
            good = {"name": "good", "steps": [{"id": "good", "tool": "bad.fine", "inputs": {"word": "good"}}]}
            assert (await tp.run(good)).success
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0
        assert (result.status, lines(tmp_path / "calls")) == ("paused", ["poison", "poison", "good"])
        info = await tp.store.get_run(run.run_id)
        assert info.reason == "put aside: 2 drivers were lost as they went on with it"
        # A person may have it tried again.
        await tp.resume(run.run_id)
        async with worker_process(tmp_path, ground) as process:
            await process.wait()
        assert lines(tmp_path / "calls").count("poison") == 3


async def test_a_run_without_a_place_in_the_queue_is_found_by_the_sweep(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "SWEPT_AFTER", 0.0)
    queue = ground.queue()
    async with ground.door(queue) as tp:
        # The broker is away: the run is stored, and nobody is told of it.
        nowhere = RabbitQueue("amqp://guest:guest@127.0.0.1:1/", name=ground.name)
        async with ground.door(nowhere) as cut:
            plan = {"name": "word", "steps": [{"id": "say", "tool": "say.mark", "inputs": {"word": "found"}}]}
            run = await cut.start(plan)
            told = await cut.start(
                {"name": "ask", "steps": [{"id": "form", "ask": {"title": "Word?", "inputs": [{"name": "word"}]}}]}
            )
        assert (await tp.store.get_run(run.run_id)).status == "pending"
        assert await queue.depth() == 0
        sweep = PendingSweep(tp.store, queue, tp.clock, lambda: 0.5)
        for _ in range(2):
            assert await sweep.once() == [], "both have their turn; only a message is missing"
            assert await queue.depth() == 2, "what was enqueued just now was enqueued again"
        async with ground.worker():
            assert (await tp.result(run.run_id)).success
            assert (await tp.result(told.run_id)).status == "waiting"
            assert await sweep.once() == [], "a run that waits for a person is not lost"
        await tp.store.put_signal(told.run_id, Signal(kind="answer", path="form", data={"values": {"word": "x"}}))
        assert await PendingSweep(tp.store, queue, tp.clock, lambda: 0.5).once() == [told.run_id]
        async with ground.worker():
            assert (await tp.result(told.run_id)).success


async def test_runs_that_wait_in_a_long_queue_are_not_enqueued_again(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "SWEPT_AFTER", 0.0)
    queue = ground.queue()
    async with ground.door(queue) as tp:
        plan = {"name": "word", "steps": [{"id": "say", "tool": "say.mark", "inputs": {"word": "found"}}]}
        for _ in range(5):
            await tp.start(plan)
        for _ in range(3):
            assert await PendingSweep(tp.store, queue, tp.clock, lambda: 0.5).once() == []
        assert await queue.depth() == 5


async def test_runs_of_a_driver_that_stands_still_are_taken_from_the_store_without_any_message(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "SILENT", 1.0)
    monkeypatch.setattr(timing, "SWEPT_AFTER", 1_000_000.0)
    plan = {"name": "word", "steps": [{"id": "say", "tool": "say.mark", "inputs": {"word": "found"}}]}
    # Whatever is put there arrives nowhere, like a message that lies in a worker that stands still.
    nowhere = RabbitQueue("amqp://guest:guest@127.0.0.1:1/", name=ground.name)
    async with ground.door(nowhere) as tp:
        runs = [await tp.start(plan) for _ in range(5)]
        for run in runs:
            journal = await tp.store.drive(run.run_id, "elsewhere:1:still")
            kept = journal.append((), change=RunChange(status="running"))
            assert kept is not None
            await kept
        async with ground.worker(concurrency=2), asyncio.timeout(PATIENCE):
            assert [(await run.result()).status for run in runs] == ["completed"] * 5
    assert lines(tmp_path / "marks") == ["found"] * 5


class Broker:
    """A way to the broker that can be cut and mended."""

    def __init__(self) -> None:
        self.writers: set[asyncio.StreamWriter] = set()
        self.server: asyncio.Server | None = None
        self.port = 0

    async def mend(self) -> None:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self.server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        assert self.server is not None
        self.server.close()
        for writer in list(self.writers):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", 5672)
        self.writers |= {writer, back}
        await asyncio.gather(self._pump(reader, back), self._pump(there, writer))

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.transport.abort()


async def test_a_broker_that_is_away_for_a_while_loses_nothing_and_disturbs_no_drive(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "SWEEP", 0.2)
    monkeypatch.setattr(timing, "SWEPT_AFTER", 3.0)
    broker = Broker()
    await broker.mend()
    url = f"amqp://guest:guest@127.0.0.1:{broker.port}/"
    plan = {"name": "gate", "steps": [{"id": "gate", "tool": "say.wait", "inputs": {"name": "open"}}]}
    async with ground.door(RabbitQueue(url, name=ground.name)) as tp:
        async with ground.worker(url=url):
            first = await tp.start(plan)
            await until(lambda: lines(tmp_path / "marks") == ["waits for open"])
            await broker.cut()
            while_away = await tp.start(plan)
            assert (await tp.store.get_run(while_away.run_id)).status == "pending"
            await broker.mend()
            (tmp_path / "open").touch()
            assert (await first.result()).success
            assert (await while_away.result()).success
        await broker.cut()
        events = await tp.events(first.run_id)
    assert not [event for event in events if isinstance(event, RunResumed)], "a drive was disturbed"
