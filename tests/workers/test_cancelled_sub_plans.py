"""Plans inside a run that another process drives, or that its driver left: one is cancelled, the rest goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE
from tests.workers.worker_cases import Ground, lines, until

from toolpath import Settings, Tool, Toolpath, tool
from toolpath.errors import RunConflict
from toolpath.model.sub_plan import plan_id
from toolpath.notation.plan import read_plan

INNER = read_plan(
    {
        "name": "inner",
        "flow": "chain",
        "steps": [
            {"id": "gate", "tool": "say.wait", "inputs": {"name": "open"}},
            {"id": "after", "tool": "say.mark", "inputs": {"word": "after"}},
        ],
        "outputs": "{{ after }}",
    }
)
WHOLE: dict[str, Any] = {
    "name": "whole",
    "failure_mode": "isolate",
    "steps": [
        {"id": "sub", "tool": "plans.inner"},
        {"id": "other", "tool": "say.mark", "inputs": {"word": "other"}},
    ],
    "outputs": {"other": "{{ other }}"},
}


def inner() -> Tool:
    return Tool(name="inner", group="plans", effect="write", input_schema={"type": "object"}, body=INNER)


@pytest.mark.rabbitmq
async def test_a_plan_inside_a_run_is_cancelled_where_a_worker_drives(ground: Ground, tmp_path: Path) -> None:
    ground.tools = (*ground.tools, inner())
    async with ground.door() as tp, ground.worker():
        run = await tp.start(WHOLE)
        await until(lambda: {"waits for open", "other"} <= set(lines(tmp_path / "marks")))
        called = plan_id(run.run_id, "sub")
        assert (await tp.info(called)).status == "running"
        await tp.cancel(called, reason="not needed")
        result = await asyncio.wait_for(run.result(), PATIENCE)
        assert (result.step("sub").status, result.step("other").status) == ("failed", "succeeded")
        assert result.step("sub/gate").status == "cancelled"
        with pytest.raises(RunConflict, match="has ended"):
            await tp.cancel(called)
    assert "after" not in lines(tmp_path / "marks")


async def test_a_plan_inside_a_run_that_its_driver_left_is_cancelled(tmp_path: Path) -> None:
    began: list[str] = []
    entered, never = asyncio.Event(), asyncio.Event()

    def tools() -> list[Any]:
        @tool(group="say", effect="read")
        async def wait(name: str) -> str:
            began.append(f"wait {name}")
            entered.set()
            await never.wait()
            return name

        @tool(group="say", effect="write")
        async def mark(word: str) -> str:
            began.append(word)
            return word

        return [wait, mark, inner()]

    store = tmp_path / "runs.db"
    async with Toolpath(store, settings=Settings()) as tp:
        tp.add(*tools())
        run = await tp.start(WHOLE)
        await asyncio.wait_for(entered.wait(), PATIENCE)
        await until(lambda: "other" in began)
    # Its process has gone, and left the run in the middle of the plan inside.
    async with Toolpath(store, settings=Settings()) as tp:
        tp.add(*tools())
        called = plan_id(run.run_id, "sub")
        assert (await tp.info(called)).status == "running"
        await tp.cancel(called, reason="not needed")
        result = await asyncio.wait_for(tp.result(run.run_id), PATIENCE)
        assert (result.step("sub").status, result.step("other").status) == ("failed", "succeeded")
        assert (await tp.info(called)).status == "failed"
        assert began.count("other") == 1
        assert "after" not in began
