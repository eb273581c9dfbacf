"""A preview tells of the very plan that a run then runs, whatever it is made from."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from cli_cases import Command, Ran
from tests.soak import scaled

from toolpath.values import JsonObject

ITEMS = ("tea", "cake")
PARAMETERS = [{"name": "item", "type": "string", "required": True}, {"name": "count", "type": "integer", "default": 3}]


def call(chance: random.Random, number: int) -> JsonObject:
    """A step that calls one of the tools, with inputs of the plan, of its own, or of no step."""
    item = chance.choice(["{{ inputs.item }}", *ITEMS, "{{ inputs.item | lower }}"])
    if chance.random() < 0.5:
        return {"id": f"s{number}", "tool": "shop.price", "inputs": {"item": item}}
    count = chance.choice([1, "{{ inputs.count }}", "{{ inputs.count + 1 }}"])
    return {"id": f"s{number}", "tool": "order", "inputs": {"item": item, "count": count}}


def steps(chance: random.Random, *, deep: bool = True) -> list[JsonObject]:
    """Steps, blocks of them and conditions on what is known."""
    found: list[JsonObject] = []
    for number in range(chance.randint(1, 4)):
        step = call(chance, number)
        kind = chance.random()
        if deep and kind < 0.2:
            branches = [{**call(chance, one), "id": f"b{number}{one}"} for one in range(chance.randint(1, 3))]
            step = {"id": f"s{number}", "parallel": branches}
        elif deep and kind < 0.4:
            over = chance.choice([["tea"], ["tea", "cake"], [], "{{ [inputs.item] }}"])
            inner = {"id": f"l{number}", "tool": "shop.price", "inputs": {"item": "{{ one }}"}}
            step = {"id": f"s{number}", "loop": {"over": over, "as": "one", "steps": [inner]}}
        if chance.random() < 0.3:
            step["when"] = chance.choice([True, False, "{{ inputs.count > 2 }}", "{{ inputs.item == 'cake' }}"])
        found.append(step)
    return found


def of_state(value: Any) -> Any:
    """The same, as a composite writes it."""
    return json.loads(json.dumps(value).replace("inputs.", "state."))


def made(chance: random.Random, kind: str) -> JsonObject:
    """A document of that kind."""
    match kind:
        case "graph" | "chain":
            inputs = {
                "type": "object",
                "properties": {"item": {"type": "string"}, "count": {"type": "integer", "default": 3}},
                "required": ["item"],
            }
            return {"name": "made", "flow": kind, "inputs": inputs, "steps": steps(chance)}
        case "composite" | "by_name":
            body = {"type": "composite", "composite": {"steps": of_state(steps(chance))}}
            return {"name": "made", "parameters": PARAMETERS, "implementation": body}
    plain = [
        {"name": one["tool"].removeprefix("shop."), "parameters": {k: literal(v) for k, v in one["inputs"].items()}}
        for one in {step["tool"]: step for step in (call(chance, number) for number in range(3))}.values()
    ]
    if kind == "executionOrder":
        names = [one["name"] for one in plain]
        return {"tools": [{**one, "dependsOn": None} for one in plain], "executionOrder": names}
    if kind == "toolChain":
        return {
            "reasoning": "why",
            "toolChain": [
                {"subQuery": "q", "tool": one["name"], "parameters": one["parameters"], "confidence": 0.9}
                for one in plain
            ],
        }
    return {
        "steps": [
            {
                "id": f"i{number}",
                "tool": one["name"],
                "parameters": one["parameters"],
                "dependencies": [f"i{number - 1}"] if number else [],
                "executionMode": "sequential",
                "timeout": 30_000,
            }
            for number, one in enumerate(plain)
        ],
        "reasoning": "why",
        "estimatedDuration": 1000,
        "estimatedCost": 0,
    }


def literal(value: Any) -> Any:
    """What a format without inputs has in place of one."""
    return {"{{ inputs.count }}": 2, "{{ inputs.count + 1 }}": 4}.get(
        str(value), "tea" if "{{" in str(value) else value
    )


def compare(preview: list[JsonObject], started: dict[str, JsonObject]) -> None:
    """Every call that was made was told of, with its tool and its inputs as far as they were known; and the reverse."""
    told = {entry["path"]: entry for entry in preview if entry["kind"] == "call"}
    made = {without_items(path): event for path, event in started.items() if event.get("tool")}
    for path, event in made.items():
        assert told[path]["tool"] == event["tool"]
        assert told[path].get("condition", "runs") != "skipped"
        if "{{" not in json.dumps(told[path].get("inputs")):
            assert told[path].get("inputs", {}) == event["inputs"]
    blocks = {entry["path"]: entry for entry in preview if entry["kind"] != "call"}
    for path in told.keys() - made.keys():
        above = [blocks[one] for one in blocks if path.startswith(f"{one}/")]
        skipped = [told[path], *above]
        # A condition on state is decided by the run: the preview shows it as it is written.
        assert any(one.get("condition", "runs") != "runs" or one.get("items") == 0 for one in skipped), path


def without_items(path: str) -> str:
    """The path of a step without the numbers of the items that it is in."""
    return "/".join(part.partition("[")[0].partition("#")[0] for part in path.split("/"))


def started_in(toolpath: Command, run_id: str) -> dict[str, JsonObject]:
    """Path of each step that began → its event."""
    lines = toolpath("runs", "events", run_id, "--json").out.splitlines()
    events = [json.loads(line) for line in lines]
    return {event["path"]: event for event in events if event["type"] == "step.started"}


def check(toolpath: Command, shop: Path, seed: int, kind: str) -> bool:
    """Whether what was made could be run; it was told of rightly either way."""
    chance = random.Random(f"{kind} {seed}")
    document = made(chance, kind)
    (shop / "flows").mkdir(exist_ok=True)
    (shop / "flows" / "made.plan.json").write_text(json.dumps(document))
    what = "made" if kind == "by_name" else "flows/made.plan.json"
    has_inputs = kind in ("graph", "chain", "composite", "by_name")
    inputs = ("-i", f"item={chance.choice(ITEMS)}") if has_inputs else ()
    common = (*(("--folder", "flows") if kind == "by_name" else ()), "run", what, *inputs, "--json", "--no-input")
    before: Ran = toolpath(*common, "--dry-run")
    assert not (shop / "orders.txt").exists()
    after: Ran = toolpath(*common)
    if before.code:
        assert (before.code, before.out) == (after.code, after.out), after.err
        return False
    assert after.code == 0, (document, after.err)
    started = started_in(toolpath, after.json["run_id"])
    if kind == "by_name":
        # The run calls the tool whose body the plan is; the preview tells of that one call.
        assert [entry["tool"] for entry in before.json] == ["made"]
        started = {path: event for path, event in started.items() if "/" not in path}
    compare(before.json, started)
    (shop / "orders.txt").unlink(missing_ok=True)
    return True


KINDS = ("graph", "chain", "composite", "by_name", "executionOrder", "toolChain", "IToolPlan")


@pytest.mark.parametrize("kind", KINDS)
def test_a_preview_is_of_the_plan_that_runs(toolpath: Command, shop: Path, kind: str) -> None:
    assert sum(check(toolpath, shop, seed, kind) for seed in range(3)) >= 2


@pytest.mark.soak
@pytest.mark.parametrize("kind", KINDS)
def test_a_preview_is_of_the_plan_that_runs_in_large(toolpath: Command, shop: Path, kind: str) -> None:
    assert sum(check(toolpath, shop, seed, kind) for seed in range(100, 100 + scaled(150))) >= scaled(100)


@pytest.mark.parametrize(
    "arguments",
    [
        ("shop.price",),
        ("shop.price", "-i", "item=7", "-i", "more=1"),
        ("shop.order", "-i", "item=tea", "-i", "count=many"),
        ("faulty.yaml",),
        ("away.yaml",),
        ("needs.yaml",),
    ],
)
def test_what_a_run_refuses_its_preview_refuses_in_the_same_words(
    toolpath: Command, shop: Path, arguments: tuple[str, ...]
) -> None:
    (shop / "faulty.yaml").write_text("steps: [{tool: shop.prize}, {tol: x}]")
    (shop / "needs.yaml").write_text(
        "inputs: {type: object, properties: {q: {type: string}}, required: [q]}\n"
        "steps: [{tool: shop.price, inputs: {item: tea}}]"
    )
    before, after = toolpath("run", *arguments, "--dry-run"), toolpath("run", *arguments)
    assert (before.code, before.out, before.err) == (after.code, after.out, after.err)
    assert before.code in (2, 3)
