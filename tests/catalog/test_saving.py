"""What is learned of tools outlives the process, and is not written for each run alone."""

from __future__ import annotations

from pathlib import Path

from toolpath import Settings, Toolpath
from toolpath.model.tool import ToolStats
from toolpath.store.sqlite.store import SqliteStore
from toolpath.testing.scripted import scripted


class Counting(SqliteStore):
    """A store that counts how often statistics are written."""

    saved = 0

    async def add_stats(self, changes: dict[str, ToolStats]) -> None:
        self.saved += 1
        await super().add_stats(changes)


async def test_the_calls_of_many_runs_are_saved_together_and_all_at_the_end(tmp_path: Path) -> None:
    store = Counting(tmp_path / "runs.db")
    async with Toolpath(store, settings=Settings()) as tp:
        tp.add(scripted("t", then={}))
        for _ in range(20):
            await tp.run("t")
        assert tp.stats()["t"].calls == 20
    assert 1 <= store.saved < 10
    async with Toolpath(tmp_path / "runs.db", settings=Settings()) as tp:
        assert tp.stats()["t"].calls == 20
