"""The ground goes away under workers: database and broker at once, or the worker itself in the middle of a write."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.patience import PATIENCE
from tests.store.breakable import relayed
from tests.store.store_cases import dropped, postgres_connection, postgres_url
from tests.workers.worker_cases import URL, Ground, lines, until

from toolpath.model.events import RunResumed
from toolpath.providers.functions import tool

pytestmark = pytest.mark.rabbitmq


@pytest.fixture
async def schema() -> AsyncIterator[str]:
    await (await postgres_connection()).close()
    schema = f"test_outages_{os.getpid()}"
    await dropped(schema)
    yield schema
    await dropped(schema)


def gated(number: int) -> dict[str, object]:
    """A write, a read that goes on until a file is there, and a write."""
    return {
        "name": f"gated {number}",
        "flow": "chain",
        "steps": [
            {"id": "before", "tool": "say.mark", "inputs": {"word": f"before {number}"}},
            {"id": "gate", "tool": "say.wait", "inputs": {"name": "open"}, "timeout": "10m"},
            {"id": "after", "tool": "say.mark", "inputs": {"word": f"after {number}"}},
        ],
        "outputs": "{{ after }}",
    }


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize(
    "seconds",
    [
        3,
        pytest.param(60, marks=[pytest.mark.soak, pytest.mark.timeout(300)]),
    ],
)
async def test_runs_in_flight_outlast_database_and_broker(
    ground: Ground, tmp_path: Path, schema: str, seconds: int
) -> None:
    broker = urlsplit(URL)
    async with relayed() as database, relayed((broker.hostname or "127.0.0.1", broker.port or 5672)) as queues:
        url = URL.replace(broker.netloc, f"{broker.netloc.rpartition('@')[0]}@127.0.0.1:{queues.port}")
        looking = Ground(postgres_url(schema), ground.name, ground.tools)
        working = Ground(database.url(schema), ground.name, ground.tools)
        async with looking.door() as tp, working.worker(url=url), working.worker(url=url):
            runs = [await tp.start(gated(number)) for number in range(6)]
            await until(lambda: lines(tmp_path / "marks").count("waits for open") == 6)
            await database.cut()
            await queues.cut()
            # What ends meanwhile waits for its journal, and nothing follows from it.
            (tmp_path / "open").touch()
            later = await tp.start(gated(6))
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(seconds):
                    await runs[0].result()
            assert not [line for line in lines(tmp_path / "marks") if line.startswith("after")]
            await database.open()
            await queues.open()
            async with asyncio.timeout(PATIENCE):
                results = [await run.result() for run in (*runs, later)]
            assert [result.outputs for result in results] == [f"after {number}" for number in range(7)]
            events = [event for run in runs for event in await tp.events(run.run_id)]
    written = [line for line in lines(tmp_path / "marks") if not line.startswith("waits")]
    assert sorted(written) == sorted(f"{when} {number}" for when in ("before", "after") for number in range(7))
    assert not [event for event in events if isinstance(event, RunResumed)], "a driver that lived was given up"


@pytest.mark.slow
@pytest.mark.postgres
async def test_a_worker_goes_on_by_itself_when_its_database_was_away_for_longer_than_it_waits(
    ground: Ground, tmp_path: Path, schema: str
) -> None:
    async with relayed() as database:
        looking = Ground(postgres_url(schema), ground.name, ground.tools)
        working = Ground(database.url(schema, patience=1), ground.name, ground.tools)
        async with looking.door() as tp, working.worker():
            run = await tp.start(gated(0))
            await until(lambda: lines(tmp_path / "marks") == ["before 0", "waits for open"])
            await database.cut()
            (tmp_path / "open").touch()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(4):
                    await run.result()
            await database.open()
            async with asyncio.timeout(PATIENCE):
                assert (await run.result()).outputs == "after 0"
    assert lines(tmp_path / "marks").count("before 0") == 1
    assert lines(tmp_path / "marks").count("after 0") == 1


def slow_write(folder: Path) -> object:
    @tool(group="slow", effect="write")
    async def write(word: str) -> str:
        """Write a word down slowly.

        Args:
            word: What to write.
        """
        with (folder / "marks").open("a") as file:
            file.write("begins\n")
        while not (folder / "open").exists():  # noqa: ASYNC110  # a file tells nobody
            await asyncio.sleep(0.01)
        with (folder / "marks").open("a") as file:
            file.write(f"{word}\n")
        return word

    return write


SLOW = {
    "name": "slow",
    "steps": [{"id": "slow", "tool": "slow.write", "inputs": {"word": "done"}}],
    "outputs": "{{ slow }}",
}


async def test_a_worker_that_is_told_to_stop_in_the_middle_of_a_write_lets_it_end(
    ground: Ground, tmp_path: Path
) -> None:
    own = Ground(ground.store, ground.name, (slow_write(tmp_path),))
    async with own.door() as tp:
        async with asyncio.timeout(PATIENCE), own.worker(grace=600) as worker:
            run = await tp.start(SLOW)
            await until(lambda: lines(tmp_path / "marks") == ["begins"])
            worker.stop()
            (tmp_path / "open").touch()
        async with own.worker():
            assert (await run.result()).outputs == "done"
    assert lines(tmp_path / "marks") == ["begins", "done"]


async def test_a_write_that_a_stop_cuts_off_is_in_doubt_and_asked_about(ground: Ground, tmp_path: Path) -> None:
    own = Ground(ground.store, ground.name, (slow_write(tmp_path),))
    async with own.door() as tp:
        async with own.worker(grace=0.1) as worker:
            run = await tp.start(SLOW)
            await until(lambda: lines(tmp_path / "marks") == ["begins"])
            worker.stop()
        (tmp_path / "open").touch()
        async with own.worker():
            assert (await run.result()).status == "waiting"
            assert lines(tmp_path / "marks") == ["begins"], "it was made again unasked"
            settled = await tp.settle(run.run_id, "slow", output="done")
            assert (await settled.result()).outputs == "done"
    assert lines(tmp_path / "marks") == ["begins"]
