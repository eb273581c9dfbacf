"""Changes of what is configured: followed whole, again where that failed, and waited for by who asks meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from toolpath import Toolpath
from toolpath.errors import StoreError
from toolpath.workspace.changes import StoredChanges


async def test_a_change_that_could_not_be_followed_is_followed_at_the_next_look() -> None:
    async with Toolpath() as tp:
        changes = StoredChanges(tp.store, tp.clock)
        heard: list[str] = []

        async def fails_once() -> None:
            heard.append("first")
            if len(heard) == 1:
                raise StoreError("The connection was lost.")

        async def second() -> None:
            heard.append("second")

        changes.follow(fails_once)
        changes.follow(second)
        with pytest.raises(StoreError):
            await changes.tell()
        await changes.catch_up()
        assert heard == ["first", "first", "second"]
        await changes.catch_up()
        assert len(heard) == 3


async def test_who_asks_while_a_change_is_followed_goes_on_after_it() -> None:
    async with Toolpath() as tp:
        changes = StoredChanges(tp.store, tp.clock)
        begun, go_on = asyncio.Event(), asyncio.Event()
        done: list[str] = []

        async def follower() -> None:
            begun.set()
            await go_on.wait()
            done.append("followed")

        async def asks() -> None:
            await changes.catch_up()
            done.append("asked")

        changes.follow(follower)
        async with asyncio.TaskGroup() as group:
            group.create_task(changes.tell())
            await begun.wait()
            group.create_task(asks())
            # What is told meanwhile is followed, too, by whoever told it.
            group.create_task(changes.tell())
            await asyncio.sleep(0)
            assert done == []
            go_on.set()
        assert done.count("followed") == 2
        assert done.index("asked") > done.index("followed")


def test_changes_are_followed_in_one_loop_after_another() -> None:
    tp = Toolpath()
    changes = StoredChanges(tp.store, tp.clock)
    heard: list[int] = []

    async def follower() -> None:
        await asyncio.sleep(0)
        heard.append(1)

    async def together() -> None:
        await asyncio.gather(changes.tell(), changes.tell())

    changes.follow(follower)
    asyncio.run(together())
    asyncio.run(together())
    assert len(heard) >= 2
