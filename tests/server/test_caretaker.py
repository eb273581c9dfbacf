"""What a server takes up that nobody drives, however much else waits in its store."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.patience import PATIENCE
from tests.server.rest_cases import FORM, tools

from toolpath import Toolpath
from toolpath.server import caretaker
from toolpath.server.caretaker import Caretaker
from toolpath.server.questions import OpenQuestions
from toolpath.testing.clock import FakeClock

TIMED = {"steps": [{"id": "who", "ask": {**FORM, "timeout": "60s"}}]}
UNTIMED = {"steps": [{"id": "who", "ask": FORM}]}


async def test_a_form_whose_time_is_over_is_found_behind_any_number_that_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caretaker, "MOST", 2)
    clock = FakeClock(patience=0)
    async with tools(Toolpath(tmp_path / "runs.db", clock=clock)) as tp:
        timed = (await tp.run(TIMED)).run_id
        for _ in range(5):
            # One that is younger is on a page before.
            await clock.advance(1)
            await tp.run(UNTIMED)
    await clock.advance(3600)
    async with tools(Toolpath(tmp_path / "runs.db", clock=clock)) as tp:
        care = Caretaker(tp, OpenQuestions(tp))
        assert await care.look() == [timed]
        async with asyncio.timeout(PATIENCE):
            result = await tp.result(timed)
        assert result.status == "failed"
        assert await care.look() == []


async def test_runs_that_cannot_be_taken_up_do_not_hide_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caretaker, "MOST", 2)
    clock = FakeClock(patience=0)

    async def hold() -> str:
        await asyncio.Event().wait()
        return ""

    first = Toolpath(tmp_path / "runs.db", clock=clock)
    first.add(hold, effect="read", name="gone")
    first.add(hold, effect="read", name="kept")
    async with first as tp:
        for name in ("gone", "gone", "gone", "gone", "kept"):
            kept = (await tp.start({"steps": [{"tool": name}]})).run_id
            await clock.advance(1)
    await clock.advance(60)
    second = Toolpath(tmp_path / "runs.db", clock=clock)
    second.add(hold, effect="read", name="kept")
    async with second as tp:
        care = Caretaker(tp, OpenQuestions(tp))
        taken = [run_id for _ in range(3) for run_id in await care.look()]
        assert taken == [kept]
