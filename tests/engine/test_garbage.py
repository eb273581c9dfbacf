"""What a run needed goes with it: a search for garbage, which stops everybody, finds next to nothing of it."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from toolpath import Toolpath
from toolpath.errors import ReadError

STEPS = 400
#: Parts of the plan and of its steps alone are a multiple of this.
LITTLE = STEPS // 2


def echo(x: Any = None) -> Any:
    """Give it back."""
    return x


def long_plan() -> dict[str, Any]:
    # Each reads another step: what is equal could be shared.
    steps = [{"id": f"s{n}", "tool": "echo", "inputs": {"x": f"{{{{ s{n - 1} }}}}" if n else 0}} for n in range(STEPS)]
    return {"steps": steps, "outputs": {"done": True}}


@pytest.fixture
def no_search() -> Iterator[None]:
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.freeze()


async def tools(tp: Toolpath) -> None:
    tp.add(echo, effect="read")
    await tp.call("echo", {"x": 1})


@pytest.mark.usefixtures("no_search")
async def test_a_run_that_has_ended_leaves_no_garbage(tmp_path: Path) -> None:
    async with Toolpath(tmp_path / "runs.db") as tp:
        await tools(tp)
        gc.collect()
        run = await tp.start(long_plan())
        result = await run.result()
        assert result.status == "completed"
        assert gc.collect() < LITTLE


@pytest.mark.usefixtures("no_search")
async def test_a_run_that_was_waited_for_leaves_no_garbage() -> None:
    async with Toolpath() as tp:
        await tools(tp)
        gc.collect()
        result = await tp.run(long_plan())
        assert result.status == "completed"
        assert gc.collect() < LITTLE


@pytest.mark.usefixtures("no_search")
async def test_a_check_leaves_no_garbage() -> None:
    async with Toolpath() as tp:
        await tools(tp)
        plan = tp.read(long_plan())
        gc.collect()
        assert {finding.code for finding in tp.check(plan)} == {"unknown_type"}
        assert gc.collect() < LITTLE


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("ask", ["explain", "review"])
async def test_an_explanation_leaves_no_garbage(ask: str) -> None:
    async with Toolpath() as tp:
        await tools(tp)
        plan = tp.read({**long_plan(), "name": ask})
        gc.collect()
        if ask == "explain":
            tp.explain(plan)
        else:
            await tp.plans.review(plan)
        assert gc.collect() < LITTLE


@pytest.mark.usefixtures("no_search")
async def test_what_is_refused_goes_with_its_refusal() -> None:
    """It is read beside the loop, and its error would hold the frames that have read it."""
    steps = [{"stepRequirement": f"Do {number} of <<x>>"} for number in range(STEPS * 5)]
    async with Toolpath() as tp:
        for _ in range(2):
            # The first one has loaded what stays.
            gc.collect()
            before = sys.getallocatedblocks()
            with pytest.raises(ReadError, match="it may have 300"):
                await tp.templates.save({"title": "long", "steps": steps})
        assert sys.getallocatedblocks() - before < STEPS
