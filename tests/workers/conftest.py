"""The ground that workers stand on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.workers.worker_cases import Ground, queue_name

from toolpath.providers.functions import tool


@pytest.fixture
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    @tool(group="say", effect="write")
    async def mark(word: str) -> str:
        """Write a word down.

        Args:
            word: What to write.
        """
        with (tmp_path / "marks").open("a") as file:
            file.write(f"{word}\n")
        return word

    @tool(group="say", effect="read")
    async def wait(name: str) -> str:
        """Wait until a file is there.

        Args:
            name: The file's name.
        """
        with (tmp_path / "marks").open("a") as file:
            file.write(f"waits for {name}\n")
        while not (tmp_path / name).exists():  # noqa: ASYNC110  # a file tells nobody
            await asyncio.sleep(0.01)
        return name

    async with queue_name() as name:
        yield Ground(str(tmp_path / "runs.db"), name, (mark, wait))
