"""Inputs of a plan whose schema is split over parts: the check and the start read them as if they were whole."""

from __future__ import annotations

import random
from typing import Any

import pytest

from toolpath import Plan, PlanInvalid, Toolpath, tool
from toolpath.checks.start import check_inputs, fill_inputs
from toolpath.model.plan import Call

MEMBERS: dict[str, dict[str, Any]] = {
    "name": {"type": "string"},
    "count": {"type": "integer", "minimum": 1},
    "size": {"type": "integer", "default": 3},
    "note": {"type": "string"},
}
GIVEN = [
    {},
    {"name": "Ada"},
    {"name": "Ada", "count": 2},
    {"name": "Ada", "count": "2"},
    {"name": "Ada", "count": 0},
    {"name": None, "count": 2},
    {"name": "Ada", "count": 2, "note": None},
    {"name": "Ada", "count": 2, "size": 9},
    {"name": "Ada", "count": 2, "nmae": "x"},
]


@tool(group="t", effect="read")
def echo(text: str) -> str:
    """Echo a text."""
    return text


def split(chance: random.Random) -> dict[str, Any]:
    """The schema of `MEMBERS`, its members and what is required scattered over parts."""
    schema: dict[str, Any] = {"type": "object"}
    parts: list[dict[str, Any]] = [schema]
    for number in range(chance.randint(1, 3)):
        part: dict[str, Any] = {}
        above = chance.choice(parts)
        if chance.random() < 0.5:
            schema.setdefault("$defs", {})[f"part{number}"] = part
            above.setdefault("allOf", []).append({"$ref": f"#/$defs/part{number}"})
        else:
            above.setdefault("allOf", []).append(part)
        parts.append(part)
    for name, member in MEMBERS.items():
        chance.choice(parts).setdefault("properties", {})[name] = member
    for name in ("name", "count", "size"):
        chance.choice(parts).setdefault("required", []).append(name)
    return schema


def document(schema: dict[str, Any], text: str = "{{ inputs.name }}") -> dict[str, Any]:
    return {"name": "p", "inputs": schema, "steps": [{"id": "s", "tool": "t.echo", "inputs": {"text": text}}]}


@pytest.mark.parametrize("seed", range(60))
def test_a_schema_in_parts_is_checked_and_started_with_as_the_whole_one(seed: int) -> None:
    tp = Toolpath()
    tp.add(echo)
    whole = {"type": "object", "properties": MEMBERS, "required": ["name", "count", "size"]}
    known, parted = tp.read(document(whole)), tp.read(document(split(random.Random(seed))))
    assert tp.check(parted) == tp.check(known) == ()
    for given in GIVEN:
        expected = [(finding.code, finding.path) for finding in check_inputs(known, given)]
        assert [(finding.code, finding.path) for finding in check_inputs(parted, given)] == expected, given
        if not expected:
            assert fill_inputs(parted, given) == fill_inputs(known, given)


async def test_what_the_check_admits_is_started_with() -> None:
    parts = {"allOf": [{"properties": {"name": {"type": "string"}}, "required": ["name"]}]}
    made = Plan(inputs=parts, steps=(Call(id="s", tool="t.echo", inputs={"text": "{{ inputs.name }}"}),))
    async with Toolpath() as tp:
        tp.add(echo)
        for plan in (made, document(parts)):
            result = await tp.run(plan, inputs={"name": "Ada"})
            assert result.outputs == {"s": "Ada"}
            with pytest.raises(PlanInvalid, match="needs the input 'name'"):
                await tp.run(plan, inputs={})


def test_a_member_of_an_alternative_may_be_given_and_may_be_missing() -> None:
    tp = Toolpath()
    tp.add(echo)
    either = {
        "type": "object",
        "anyOf": [
            {"properties": {"name": {"type": "string"}}, "required": ["name"]},
            {"properties": {"id": {"type": "integer"}}, "required": ["id"]},
        ],
    }
    plan = tp.read(document(either, "x"))
    assert check_inputs(plan, {"id": 3}) == ()
    assert [finding.code for finding in check_inputs(plan, {})] == ["wrong_input"]
    assert [finding.code for finding in check_inputs(plan, {"idd": 3})] == ["unknown_input", "wrong_input"]
    # Which of them is given nobody knows before the start.
    assert tp.check(tp.read(document(either)))


def test_parts_that_lead_back_to_themselves_end() -> None:
    tp = Toolpath()
    tp.add(echo)
    around = {"allOf": [{"$ref": "#"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}}
    assert tp.read(document(around, "x")).inputs.get("properties", {}) == {}
