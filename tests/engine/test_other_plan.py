"""A failed run that goes on with another plan: what is begun anew leaves nothing behind, in the run or in its forks."""

from __future__ import annotations

from typing import Any

from engine_cases import identity, opened

from toolpath import Toolpath
from toolpath.model import events as ev
from toolpath.model.plan import Plan
from toolpath.runs.run import Run
from toolpath.testing.scripted import scripted

COUNTING = {
    "steps": [
        {
            "id": "all",
            "loop": {
                "over": [1, 2, 3],
                "as": "item",
                "flow": "chain",
                "steps": [
                    {
                        "id": "one",
                        "tool": "third",
                        "inputs": {"v": "{{ item }}"},
                        "on_success": {"transform": {"n": "{{ (state.n | default(0, true)) + 1 }}"}},
                    }
                ],
            },
        },
        {"id": "told", "tool": "t", "inputs": {"v": "{{ state.n }}"}, "depends_on": ["all"]},
    ]
}


async def go_on_with(tp: Toolpath, run_id: str, plan: Plan, *kept: str) -> Run:
    program = await tp._preparation.runnable(plan)

    async def make() -> ev.PlanRevised:
        return ev.PlanRevised(0, 0.0, plan=program.frozen, tools=program.fingerprints, kept=kept)

    return await tp._drives.replan(run_id, make, expected=(await tp.store.get_run(run_id)).epoch)


async def test_what_is_begun_anew_writes_its_variables_anew() -> None:
    third: list[Any] = [{"v": 1}, {"v": 2}, ValueError("no"), {"v": 1}, {"v": 2}, {"v": 3}]
    async with opened(identity("t"), scripted("third", *third)) as tp:
        plan = tp.read(COUNTING)
        first = await tp.run(plan)
        assert first.status == "failed"
        result = await (await go_on_with(tp, first.run_id, plan)).result()
        assert result.outputs == {"told": {"v": 3}}
        # What the first plan left is nothing that a fork keeps.
        fork = await (await tp.fork(first.run_id, from_step="told")).result()
        assert fork.outputs == {"told": {"v": 3}}
        begun = [event for event in await tp.events(fork.run_id) if isinstance(event, ev.StepStarted)]
        assert [event.path for event in begun].count("all") == 1


async def test_calls_of_a_fork_of_it_are_named_alike_by_whoever_drives_them() -> None:
    third: list[Any] = [{"v": 1}, {"v": 2}, ValueError("no"), *[{"v": v} for v in (1, 2, 3)] * 2]
    async with opened(identity("t"), scripted("third", *third)) as tp:
        plan = tp.read(COUNTING)
        first = await tp.run(plan)
        await (await go_on_with(tp, first.run_id, plan)).result()
        fork = await (await tp.fork(first.run_id, from_step="all", repeat_writes=True)).result()
        keys = [event.key for event in await tp.events(fork.run_id) if isinstance(event, ev.StepStarted) and event.key]
        assert keys == [f"{fork.run_id}/{path}/0" for path in ("all[0]/one", "all[1]/one", "all[2]/one", "told")]
