"""What checks remember of schemas changes no finding, and does not grow without end."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from plans_at_random import World, Writer

from toolpath import Toolpath, tool
from toolpath.catalog.snapshot import Catalog
from toolpath.checks.check import check
from toolpath.checks.memory import SchemaMemory
from toolpath.model.plan import Plan
from toolpath.model_output.documents import read_document


@tool(effect="read")
def echo(values: list[str]) -> list[str]:
    return values


def plans(chance: Random, world: World, count: int) -> list[Plan]:
    read = [read_document(Writer(chance, world).plan()) for _ in range(count)]
    return [plan for plan in read if isinstance(plan, Plan)]


def test_a_check_finds_the_same_whatever_was_checked_before_it() -> None:
    findings = 0
    for seed in range(6):
        chance = Random(seed)
        world = World(chance)
        other = World(chance)
        memory = SchemaMemory()
        for offered in (world, other):
            catalog = Catalog({tool.key: tool for tool in offered.tools})
            for plan in plans(chance, offered, 12):
                alone = check(plan, catalog)
                assert check(plan, catalog, memory=memory) == alone
                findings += len(alone)
    assert findings > 50


def test_equal_schemas_are_one() -> None:
    memory = SchemaMemory()
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert memory.one({**schema}) is memory.one({**schema})
    assert memory.one({"const": 1}) is not memory.one({"const": 1.0})
    assert memory.literal(1) is not memory.literal(True)
    assert memory.validator({**schema}, formats=False) is memory.validator({**schema}, formats=False)
    assert memory.validator(schema, formats=False) is not memory.validator(schema, formats=True)


async def test_what_is_kept_of_many_plans_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolpath.checks.memory.MOST_KEPT", 500)
    async with Toolpath() as toolpath:
        toolpath.add(echo)
        preparation = toolpath._preparation
        memories = {id(preparation._memory): preparation._memory}
        for number in range(1_000):
            values = ["{{ inputs.b }}", f"{number}" * 200]
            toolpath.check({"name": "many", "steps": [{"tool": "echo", "inputs": {"values": values}}]})
            assert not preparation._memory.is_full
            memories[id(preparation._memory)] = preparation._memory
    assert len(memories) > 1
