"""A run begins a worker for what is ready, and no more: what a step costs does not grow with the plan."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from toolpath import Toolpath, tool


@tool(group="w", effect="read")
async def add(numbers: list[int]) -> int:
    await asyncio.sleep(0)
    return sum(numbers) + 1


def layers(count: int, width: int) -> dict[str, Any]:
    """Layers of steps, each after two of the layer before."""
    steps = [
        {
            "id": f"s{layer}_{place}",
            "tool": "w.add",
            "inputs": {
                "numbers": [f"{{{{ s{layer - 1}_{(place + next) % width} }}}}" for next in (0, 1)] if layer else []
            },
        }
        for layer in range(count)
        for place in range(width)
    ]
    return {"name": "layers", "steps": steps, "concurrency": count * width}


class Tasks:
    """Counts the tasks that a loop is given."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, loop: Any, coroutine: Any, **named: Any) -> asyncio.Task[Any]:
        self.count += 1
        return asyncio.Task(coroutine, loop=loop, **named)


@pytest.mark.parametrize("durable", [False, True])
async def test_a_step_takes_no_more_tasks_in_a_larger_plan(tmp_path: Path, durable: bool) -> None:
    counted = {}
    async with Toolpath(str(tmp_path / "runs.db")) if durable else Toolpath() as toolpath:
        toolpath.add(add)
        loop = asyncio.get_running_loop()
        for count in (4, 40):
            tasks = Tasks()
            loop.set_task_factory(tasks)
            result = await toolpath.run(layers(count, 10))
            loop.set_task_factory(None)
            assert result.success
            counted[count] = tasks.count / (count * 10)
    assert counted[40] <= max(counted[4], 1.0), f"tasks a step, by layers: {counted}"


async def test_items_of_a_durable_loop_that_may_run_at_once_do(tmp_path: Path) -> None:
    """The items of a loop stand among the ready as one entry, and still share their commits."""
    begun = 0
    all_begun = asyncio.Event()

    @tool(group="w", effect="read", timeout=20, retry={"max_retries": 0})
    async def item(n: int) -> int:
        nonlocal begun
        begun += 1
        if begun == 8:
            all_begun.set()
        await all_begun.wait()
        return n

    body = [{"id": "one", "tool": "w.item", "inputs": {"n": "{{ n }}"}}]
    plan = {
        "name": "items",
        "concurrency": 8,
        "steps": [{"id": "all", "loop": {"over": list(range(20)), "as": "n", "concurrency": 8, "steps": body}}],
    }
    async with Toolpath(str(tmp_path / "runs.db")) as toolpath:
        toolpath.add(item)
        result = await toolpath.run(plan)
    assert result.success, "they wait for one another, and not all eight began"
