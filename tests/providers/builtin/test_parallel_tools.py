"""`parallel.map` and `parallel.read`: each item once, in order, in bounds, and no way round what holds for a call."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from toolpath import Toolpath
from toolpath.checks.check import check
from toolpath.checks.explainer import explain
from toolpath.checks.preview import planned
from toolpath.checks.request.mandate import mandated
from toolpath.config import Settings
from toolpath.errors import ConfigError, ToolFailed
from toolpath.model.run import RunContext
from toolpath.notation.plan import read_plan
from toolpath.testing.scripted_model import ScriptedModel, done


class Shop:
    """A shop that counts."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.now = self.most = 0

    async def price(self, item: str, tax: int = 0) -> dict[str, Any]:
        """The price."""
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1
        self.calls.append(item)
        if item == "none":
            raise ToolFailed("There is none.")
        return {"item": item, "price": len(item) + tax}

    async def order(self, item: str) -> str:
        """Order it."""
        self.calls.append(item)
        return f"ordered {item}"


async def opened(shop: Shop, *, patterns: tuple[str, ...] = ("shop.*",), **options: Any) -> Toolpath:
    tp = Toolpath(settings=Settings(max_retries=0), chat=options.pop("chat", None))
    tp.add(shop.price, group="shop", effect="read")
    tp.add(shop.order, group="shop", **options.pop("order", {}))
    tp.sources.add_source("builtin", {"shell": {}, "parallel": {"tools": list(patterns), **options}})
    return tp


async def test_each_item_is_called_once_in_bounds_and_told_in_order():
    shop = Shop()
    async with await opened(shop, concurrency=4) as tp:
        items = [{"item": "x" * number} for number in range(1, 21)] + [{"item": "none"}]
        found = await tp.call("parallel.read", {"tool": "shop.price", "items": items, "inputs": {"tax": 1}})
    assert [result.get("output", {}).get("price") for result in found["results"][:-1]] == list(range(2, 22))
    assert found["results"][-1]["status"] == "failed"
    assert "There is none." in found["results"][-1]["error"]
    assert (found["succeeded"], found["failed"]) == (20, 1)
    assert len(shop.calls) == 21
    assert shop.most <= 4


async def test_items_may_be_values_of_one_input():
    shop = Shop()
    async with await opened(shop) as tp:
        found = await tp.call("parallel.map", {"tool": "shop.order", "items": ["tea", "cup"], "as": "item"})
        assert [result["output"] for result in found["results"]] == ["ordered tea", "ordered cup"]
        with pytest.raises(ToolFailed, match="no object"):
            await tp.call("parallel.map", {"tool": "shop.order", "items": ["tea"]})
        assert (await tp.call("parallel.read", {"tool": "shop.price", "items": []}))["results"] == []


async def test_items_and_results_may_be_files_of_the_run():
    shop = Shop()
    async with await opened(shop) as tp:
        inputs = {"tool": "shop.order", "items_file": "in.json", "as": "item", "results_file": "out/results.json"}
        plan = {
            "flow": "chain",
            "steps": [
                {"id": "shell", "tool": "shell.run", "inputs": {"command": 'echo \'["tea", "cup"]\' > in.json'}},
                {"id": "map", "tool": "parallel.map", "inputs": inputs},
                {"id": "seen", "tool": "shell.run", "inputs": {"command": "cat out/results.json", "json": True}},
            ],
        }
        result = await tp.run(plan)
        assert result.success, result.error
        assert result.step("map").output == {
            "results": [],
            "results_file": "out/results.json",
            "succeeded": 2,
            "failed": 0,
        }
        assert [one["output"] for one in result.step("seen").output["value"]] == ["ordered tea", "ordered cup"]
        for path in ("none.json", "../../etc/passwd", "/etc/passwd"):
            with pytest.raises(ToolFailed):
                await tp.call("parallel.map", {**inputs, "items_file": path})
        with pytest.raises(ToolFailed, match="one of the two"):
            await tp.call("parallel.map", {"tool": "shop.order"})
    assert shop.calls == ["tea", "cup"]


@pytest.mark.parametrize(
    ("name", "inputs", "said"),
    [
        ("parallel.read", {"tool": "shop.order", "items": [{"item": "tea"}]}, "writes"),
        ("parallel.map", {"tool": "other.order", "items": [{}]}, "may not be called"),
        ("parallel.map", {"tool": "parallel.map", "items": [{}]}, "may not be called"),
        ("parallel.map", {"tool": "toolpath.chat", "items": [{}]}, "may not be called"),
        ("parallel.map", {"tool": "shop.oder", "items": [{}]}, "shop.order"),
    ],
)
async def test_what_may_not_be_called_is_not(name: str, inputs: dict[str, Any], said: str):
    shop = Shop()
    async with await opened(shop, patterns=("shop.*", "parallel.*", "toolpath.*")) as tp:
        tp.add(shop.order, group="other")
        with pytest.raises(ToolFailed) as caught:
            await tp.call(name, inputs)
        assert said in str(caught.value)
    assert shop.calls == []


async def test_effects_and_what_may_be_called_are_known_before():
    async with await opened(Shop()) as tp:
        tools = (await tp.tools()).tools
        assert (tools["parallel.read"].effect, tools["parallel.map"].effect) == ("read", "write")
        assert tools["parallel.map"].annotations == {"calls": ["shop.*"]}
        before = tools["parallel.map"].fingerprint
    async with await opened(Shop(), patterns=("*",)) as tp:
        assert (await tp.tools()).tools["parallel.map"].fingerprint != before
    with pytest.raises(ConfigError, match="no tool"):
        Toolpath().sources.add_source("builtin", {"parallel": {}})


async def test_approvals_and_permissions_stand_before_each_call():
    shop = Shop()
    items = [{"item": "tea"}, {"item": "cup"}]
    async with await opened(shop, order={"requires": {"approval": True}}) as tp:
        inputs = {"tool": "shop.order", "items": items}
        waiting = await tp.run({"steps": [{"id": "a", "tool": "parallel.map", "inputs": inputs}], "outputs": "{{ a }}"})
        assert (waiting.status, shop.calls) == ("waiting", [])
        paths = sorted(asked.path for asked in waiting.questions)
        assert len(paths) == 2
        await tp.approve(waiting.run_id, paths[0])
        ended = await (await tp.deny(waiting.run_id, paths[1])).result()
        assert [result["status"] for result in ended.outputs["results"]] == ["succeeded", "failed"]
        assert len(shop.calls) == 1
    shop = Shop()
    async with await opened(shop, order={"requires": {"permissions": ["order"]}}) as tp:
        for permissions, count in (((), 0), (("order",), 2)):
            context = RunContext("ann", permissions=permissions)
            found = await tp.call("parallel.map", {"tool": "shop.order", "items": items}, context=context)
            assert (found["succeeded"], len(shop.calls)) == (count, count)


@pytest.mark.parametrize(
    ("inputs", "effect"),
    [
        ({"tool": "shop.price"}, "read"),
        ({"tool": "price"}, "read"),
        ({"tool": "shop.price", "results_file": "out.json"}, "write"),
        ({"tool": "shop.price", "results_file": None}, "read"),
        ({"tool": "shop.order"}, "write"),
        ({"tool": "shop.drop"}, "destructive"),
        ({"tool": "shop.none"}, "write"),
        ({"tool": "{{ inputs.tool }}"}, "write"),
        ({"tool": 7}, "write"),
        ({}, "write"),
    ],
)
async def test_a_step_has_the_effect_of_the_tool_that_it_names(inputs: dict[str, Any], effect: str):
    shop = Shop()
    async with await opened(shop) as tp:
        tp.add(shop.order, group="shop", name="drop", effect="destructive")
        given = {**inputs, "items": [{"item": "tea"}]}
        plan = read_plan(
            {
                "inputs": {"tool": {"type": "string"}},
                "steps": [{"id": "a", "tool": "parallel.map", "inputs": given, "cache": True}],
            }
        )
        catalog = await tp.tools()
        explained = explain(plan, catalog)
        assert explained.block.steps[0].effect == effect
        assert (explained.writes, explained.destroys) == (("a",) * (effect == "write"), ("a",) * (effect[0] == "d"))
        assert [entry.effect for entry in planned(plan, catalog, {"tool": "shop.price"})] == [effect]
        codes = {finding.code for finding in check(plan, catalog)}
        assert ("cached_write" in codes) is (effect != "read")
        asking = mandated(plan, "What does tea cost?", catalog).questions
        assert any("would act" in question for question in asking) is (effect != "read")
    assert shop.calls == []


async def test_the_tool_inside_is_fixed_with_the_run(tmp_path: Path):
    shop = Shop()
    steps = [
        {"id": "first", "ask": {"inputs": [{"name": "go", "type": "text"}]}},
        {"id": "a", "tool": "parallel.map", "inputs": {"tool": "shop.price", "items": [{"item": "tea"}]}},
    ]
    tp = Toolpath(str(tmp_path / "runs.db"))
    tp.add(shop.price, group="shop", effect="read")
    tp.sources.add_source("builtin", {"parallel": {"tools": ["shop.*"]}})
    async with tp:
        waiting = await tp.run({"flow": "chain", "steps": steps})
        assert waiting.status == "waiting"
    tp = Toolpath(str(tmp_path / "runs.db"))
    tp.add(shop.order, name="price", group="shop")
    tp.sources.add_source("builtin", {"parallel": {"tools": ["shop.*"]}})
    async with tp:
        held = await (await tp.answer(waiting.run_id, "first", {"go": "on"})).result()
        assert held.status == "waiting"
        assert any(warning.code == "tool_changed" and "shop.price" in warning.message for warning in held.warnings)
    assert shop.calls == []


async def test_a_file_that_changes_gives_no_item_the_result_of_another():
    shop = Shop()
    async with await opened(shop, order={"requires": {"approval": True}}) as tp:
        inputs = {"tool": "shop.order", "items_file": "in.json", "as": "item"}
        steps = [
            {
                "id": "shell",
                "tool": "shell.run",
                "inputs": {"command": 'pwd; echo \'["tea", "cup", "tea"]\' > in.json'},
            },
            {"id": "map", "tool": "parallel.map", "inputs": inputs},
        ]
        run = await tp.run({"flow": "chain", "steps": steps, "outputs": "{{ map }}"})
        assert (run.status, len(run.questions)) == ("waiting", 3)
        folder = Path(run.step("shell").output["stdout"].strip())
        run = await (await tp.approve(run.run_id, sorted(asked.path for asked in run.questions)[0])).result()
        assert (run.status, len(shop.calls)) == ("waiting", 1)
        await asyncio.to_thread((folder / "in.json").write_text, '["cup", "pot", "tea"]')
        for _ in range(8):
            if run.status != "waiting":
                break
            run = await (await tp.approve(run.run_id, run.questions[0].path)).result()
        outputs = [result["output"] for result in run.outputs["results"]]
        assert outputs == ["ordered cup", "ordered pot", "ordered tea"]
        assert shop.calls.count("cup") == shop.calls.count("pot") == 1


async def test_an_agent_calls_through_it_only_what_it_may_call_itself():
    shop = Shop()
    items = [{"item": "tea"}]
    script = [
        [("parallel.map", {"tool": "shop.order", "items": items})],
        [("parallel.map", {"tool": "shop.price", "items": items})],
    ]
    async with await opened(shop, chat=ScriptedModel(*script, done("done"))) as tp:
        step = {"id": "a", "agent": {"requirement": "Look.", "tools": ["parallel.map", "shop.price"]}}
        result = await tp.run({"steps": [step]})
        assert result.success, result.error
        told = json.dumps([record.error.message for record in result.results if record.error is not None])
    assert "may not call shop.order" in told
    assert shop.calls == ["tea"]


CRASHING = """
import asyncio, os, sys
from toolpath import Toolpath
from toolpath.checks.check import check
from toolpath.checks.explainer import explain
from toolpath.checks.preview import planned
from toolpath.checks.request.mandate import mandated

store, log = sys.argv[1:3]

async def pay(item: int) -> int:
    with open(log, "a") as file:
        file.write(f"{item}\\n")
    return item

async def main():
    tp = Toolpath(store)
    tp.add(pay, group="shop", effect="write")
    tp.sources.add_source("builtin", {"parallel": {"tools": ["shop.pay"], "concurrency": 1}})
    async with tp:
        items = [{"item": number} for number in range(6)]
        run = await tp.start(
            {
                "steps": [{"id": "a", "tool": "parallel.map", "inputs": {"tool": "shop.pay", "items": items}}],
                "outputs": "{{ a }}",
            }
        )
        async for event in run.events():
            if type(event).__name__ == "StepSucceeded" and event.path.endswith("item-2"):
                print(run.run_id, flush=True)
                os.kill(os.getpid(), 9)

asyncio.run(main())
"""


async def test_after_a_kill_no_item_is_done_twice(tmp_path: Path):
    store, log = tmp_path / "runs.db", tmp_path / "log"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CRASHING, str(store), str(log), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert process.returncode == -9
    before = await asyncio.to_thread(log.read_text)
    assert before.split()[:3] == ["0", "1", "2"]

    def pay(item: int) -> int:
        with log.open("a") as file:
            file.write(f"{item}\n")
        return item

    async with Toolpath(str(store)) as tp:
        tp.add(pay, group="shop", effect="write")
        tp.sources.add_source("builtin", {"parallel": {"tools": ["shop.pay"], "concurrency": 1}})
        run = await tp.resume(out.decode().strip(), force=True)
        result = await run.result()
        doubtful = [int(step.path.rpartition("-")[2]) for step in result.results if step.status == "unknown"]
        if doubtful:
            # A write that was in flight: a person says what became of it.
            result = await (await tp.settle(result.run_id, output=doubtful[0])).result()
        assert result.success, result.error
        assert [found["output"] for found in result.outputs["results"]] == list(range(6))
    paid = [int(line) for line in (await asyncio.to_thread(log.read_text)).split()]
    assert sorted({*paid, *doubtful}) == list(range(6))
    assert len(paid) == len(set(paid))
