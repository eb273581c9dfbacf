"""The door of one process: looks that do not wait, keys that were used, threads after the end, loops that run."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE

from toolpath import RunContext, Toolpath, tool
from toolpath.errors import KeyReused, RunConflict, RunNotFound
from toolpath.ports import Store
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.crashing import CrashingStore

FORM = {"id": "form", "ask": {"title": "Name?", "inputs": [{"name": "name", "label": "Name"}]}}


@tool(group="t", effect="read")
def plain(x: int = 1) -> int:
    """Add one."""
    return x + 1


@pytest.mark.parametrize("kind", ["memory", "file"])
async def test_a_look_at_a_run_does_not_wait_for_it(kind: str, tmp_path: Path) -> None:
    hold = asyncio.Event()

    @tool(group="t", effect="read")
    async def slow() -> int:
        await hold.wait()
        return 3

    async with Toolpath(None if kind == "memory" else tmp_path / "runs.db") as tp:
        tp.add(plain, slow)
        run = await tp.start({"steps": [{"id": "a", "tool": "t.plain"}, {"id": "b", "tool": "t.slow"}, FORM]})
        async with asyncio.timeout(PATIENCE):
            async for event in tp.watch(run.run_id):
                if type(event).__name__ == "StepSucceeded":
                    break
            info = await tp.info(run.run_id)
            assert info.status in ("running", "waiting")
            assert info.step("a").output == 2
            assert [question.path for question in info.questions] == ["form"]
            hold.set()
            await tp.answer(run.run_id, "form", {"name": "Ada"})
            assert (await run.result()).success
        assert (await tp.info(run.run_id)).status == "completed"
        with pytest.raises(RunNotFound):
            await tp.info("run_of_nobody")


@pytest.mark.parametrize("kind", ["memory", "file"])
async def test_a_key_that_was_used_for_something_else_is_a_conflict(kind: str, tmp_path: Path) -> None:
    async with Toolpath(None if kind == "memory" else tmp_path / "runs.db") as tp:
        tp.add(plain)
        plan = tp.read(
            {
                "inputs": {"type": "object", "properties": {"x": {"type": "integer"}}},
                "steps": [{"tool": "t.plain", "inputs": {"x": "{{ inputs.x | default(1) }}"}}],
            }
        )
        first = await tp.start(plan, {"x": 1}, idempotency_key="k")
        again = await tp.start(plan, {"x": 1}, idempotency_key="k")
        assert again.run_id == first.run_id
        for what, inputs in ((plan, {"x": 2}), (plan, {}), ({"steps": [{"tool": "t.plain"}]}, {})):
            with pytest.raises(KeyReused) as caught:
                await tp.start(what, inputs, idempotency_key="k")
            assert caught.value.code == "idempotency_key_reused"
        other = await tp.start(plan, {"x": 2}, context=RunContext(tenant="other"), idempotency_key="k")
        assert other.run_id != first.run_id
        assert len(await tp.runs()) == 2


async def test_a_function_after_the_end_is_called_or_refused_at_once_and_waits_for_no_thread() -> None:
    tp = Toolpath()
    tp.add(plain)
    async with tp:
        assert await tp.call("t.plain", {"x": 1}) == 2
    async with asyncio.timeout(PATIENCE):
        result: Any = await tp.run({"steps": [{"id": "a", "tool": "t.plain"}]})
    assert result.step("a").output == 2


async def test_a_door_may_be_opened_again_and_has_its_threads() -> None:
    tp = Toolpath()
    tp.add(plain)
    for _ in range(3):
        async with tp, asyncio.timeout(PATIENCE):
            assert [await tp.call("t.plain", {"x": number}) for number in range(5)] == [1, 2, 3, 4, 5]


def test_run_sync_says_what_to_do_inside_a_loop() -> None:
    tp = Toolpath()
    tp.add(plain)

    async def inside() -> None:
        with pytest.raises(RunConflict, match="running event loop") as caught:
            tp.run_sync({"steps": [{"tool": "t.plain"}]})
        assert "await tp.run" in caught.value.hint

    asyncio.run(inside())
    assert tp.run_sync({"steps": [{"id": "a", "tool": "t.plain"}]}).success
    assert threading.current_thread() is threading.main_thread()


def test_a_store_of_ones_own_may_say_by_a_property_whether_it_hears_others() -> None:
    inner: Store = MemoryStore()
    tp = Toolpath(CrashingStore(inner))
    assert tp.store.hears_others is False
