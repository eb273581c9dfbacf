"""Turns that workers drive while other processes follow them, on one PostgreSQL store."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.patience import PATIENCE
from tests.store.store_cases import dropped, postgres_url
from tests.workers.worker_cases import URL, lines, queue_name, until
from tests.workspace.conversation_cases import short, told

from toolpath import Toolpath, tool
from toolpath.errors import RunConflict
from toolpath.model.run import RunContext
from toolpath.queues.rabbitmq import RabbitQueue
from toolpath.testing.scripted_model import ScriptedModel
from toolpath.workspace.conversations.message import MessageDraft

pytestmark = [pytest.mark.rabbitmq, pytest.mark.postgres]

WORKER = Path(__file__).parent.parent / "servers" / "talking.py"


@tool(group="web", effect="read")
async def search(query: str) -> str:
    """Find a page."""
    raise AssertionError("a server that has workers calls nothing")


@pytest.fixture
async def store() -> AsyncIterator[str]:
    schema = f"test_talks_{os.getpid()}"
    await dropped(schema)
    yield postgres_url(schema)
    await dropped(schema)


@asynccontextmanager
async def worker(folder: Path, store: str, name: str) -> AsyncIterator[asyncio.subprocess.Process]:
    words = [sys.executable, str(WORKER), str(folder), store, URL, name]
    process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def server(store: str, name: str) -> Toolpath:
    tp = Toolpath(store, chat=ScriptedModel(), queue=RabbitQueue(URL, name=name))
    tp.add(search)
    return tp


async def test_two_servers_follow_a_turn_whose_worker_is_killed_and_say_one_message_of_many(
    tmp_path: Path, store: str
) -> None:
    calls = tmp_path / "calls"
    async with queue_name() as name, server(store, name) as one, server(store, name) as two:
        talk = (await one.conversations.create()).conversation_id

        async def say(tp: Toolpath, number: int) -> str:
            known = await tp.conversations.get(talk)
            turn = await tp.conversations.begin(known, MessageDraft(text=f"Tea? {number}"), context=RunContext())
            return turn.run_id

        async with asyncio.timeout(4 * PATIENCE):
            tries = await asyncio.gather(
                *(say(tp, number) for number in range(5) for tp in (one, two)), return_exceptions=True
            )
            (run_id,) = [each for each in tries if isinstance(each, str)]
            assert sum(isinstance(each, RunConflict) for each in tries) == 9
            readers = [
                asyncio.create_task(told(tp.conversations.follow(await tp.conversations.get(talk))))
                for tp in (one, two)
            ]
            async with worker(tmp_path, store, name) as killed:
                await until(lambda: "think 2" in lines(calls))
                killed.kill()
                await killed.wait()
            (tmp_path / "go").touch()
            async with worker(tmp_path, store, name):
                parts = await asyncio.gather(*readers)

                # The worker keeps the answer itself: nobody looks here but at what is kept.
                async def is_kept() -> bool:
                    kept = await one.conversations._records.get(talk)
                    return kept is not None and kept.turn is None

                await until(is_kept)
            for each in parts:
                assert short(each) == ["call web.search", "result succeeded", "text It is done.", "end completed"]
            # The reply that was being written is asked for once more; nothing else is.
            assert lines(calls) == ["think 1", "search tea", "think 2", "think 2"]
            for tp in (one, two):
                found = await tp.conversations.history(await tp.conversations.get(talk))
                assert [(each.number, each.run_id, each.status) for each in found] == [
                    (1, run_id, ""),
                    (2, run_id, "completed"),
                ]
                assert found[1].text == "It is done."
