"""What became of a planned plan is learned however its run was begun, and whoever drives it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.planner.planning_cases import schema
from tests.workers.worker_cases import Ground, queue_name, until

from toolpath import Toolpath
from toolpath.errors import ToolFailed
from toolpath.model.plan import Plan
from toolpath.testing.scripted import scripted

REQUEST = "Create author Ann with email ann@b.org"


def author(*replies: Any) -> Any:
    return scripted(
        "blog.createAuthor",
        *replies,
        then={"_id": "a"},
        effect="write",
        description="Create an author.",
        input_schema=schema("name", "email"),
    )


async def begun(tp: Toolpath, plan: Plan) -> None:
    await (await tp.start(plan)).result()


async def streamed(tp: Toolpath, plan: Plan) -> None:
    async for _ in tp.stream(plan):
        pass


async def run(tp: Toolpath, plan: Plan) -> None:
    await tp.run(plan)


@pytest.mark.parametrize("way", [run, begun, streamed])
async def test_an_outcome_is_learned_once_however_the_run_was_begun(
    way: Callable[[Toolpath, Plan], Awaitable[None]],
) -> None:
    async with Toolpath() as tp:
        tp.add(author(ToolFailed("No.")))
        for _ in range(2):
            await way(tp, await tp.plan(REQUEST))
        report = await tp.planning.report()
        (rules,) = [arm for arm in report.ways.arms if arm.name == "rules"]
        assert (rules.tally.trials, rules.tally.successes) == (2, 1)
        (lesson,) = report.lessons
        assert (lesson.tools, lesson.successes, lesson.failures) == (("blog.createAuthor",), 1, 1)


async def test_what_a_run_did_after_its_retry_is_learned_too() -> None:
    async with Toolpath() as tp:
        tp.add(author(ToolFailed("No.")))
        failed = await tp.run(await tp.plan(REQUEST))
        assert (await (await tp.retry(failed.run_id)).result()).success
        (lesson,) = (await tp.planning.report()).lessons
        assert (lesson.successes, lesson.failures) == (1, 1)


async def test_a_worker_learns_which_tools_did_what_another_process_planned(tmp_path: Path) -> None:
    async with queue_name() as name:
        ground = Ground(str(tmp_path / "runs.db"), name, (author(),))
        async with ground.door() as door:
            plan = await door.plan(REQUEST)
            run = await door.start(plan)
            async with ground.worker():
                assert (await run.result()).success

                async def is_left() -> bool:
                    return not (await door.store.get_run(run.run_id)).driver

                await until(is_left)
    async with Toolpath(tmp_path / "runs.db") as tp:
        (lesson,) = (await tp.planning.report()).lessons
        assert (lesson.request, lesson.successes) == (REQUEST, 1)
