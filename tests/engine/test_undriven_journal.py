"""A run that nobody drives is let go of, whatever becomes of what is written into its journal."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from toolpath import Toolpath
from toolpath.errors import StoreError
from toolpath.model.run import RunInfo
from toolpath.runs.undriven_journal import UndrivenJournal


class Broken:
    """A journal that cannot be written, in a store that gives its release to be awaited."""

    epoch = 1
    durable = True

    def __init__(self) -> None:
        self.is_released = False

    def append(self, events: object, **more: object) -> asyncio.Future[None]:
        failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        failed.set_exception(StoreError("The disk is full."))
        return failed

    async def release(self) -> None:
        self.is_released = True


async def test_a_run_whose_rest_cannot_be_written_is_released_all_the_same() -> None:
    async with Toolpath() as tp:
        await tp.store.begin_run(RunInfo(run_id="run_1"), "", [])
        journal: Any = Broken()
        with pytest.raises(StoreError):
            await UndrivenJournal("run_1", journal, tp._services).pause("", interrupted=None)
        assert journal.is_released
