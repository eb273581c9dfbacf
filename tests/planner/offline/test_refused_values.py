"""A value that a tool refuses is asked about at every door, with what the tool takes; it is no error."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolpath import Plan, Toolpath
from toolpath.catalog.snapshot import Catalog
from toolpath.checks.check import check
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call
from toolpath.model.tool import Tool
from toolpath.planner.decompose import Decomposition, SubQuery
from toolpath.planner.in_parts import along, text_in_parts
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.records import PlannerOptions, PlanRequest
from toolpath.testing.scripted import scripted
from toolpath.values import JsonObject


def a_tool(name: str, description: str, /, **properties: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return scripted(name, then={}, effect="write", description=description, input_schema=schema)


WHOLE: JsonObject = {"type": "integer", "minimum": 0, "maximum": 100}
CURRENCY: JsonObject = {"type": "string", "enum": ["USD", "EUR", "GBP"]}
TEXT: JsonObject = {"type": "string"}
VOLUME = a_tool("set_volume", "Set the volume of the speaker.", level=WHOLE)
MONEY = a_tool("send_money", "Send money to somebody.", amount={"type": "number"}, currency=CURRENCY, to=TEXT)
TICKET = a_tool("create_ticket", "Create a ticket.", title=TEXT, details={"type": "object"})
CODE = a_tool("set_code", "Set the code of the alarm.", code={"type": "string", "pattern": "^[0-9]{4}$"})
TAGS = a_tool("tag_photo", "Tag a photo.", photo=TEXT, tags={"type": "array", "items": {"enum": ["cat", "dog"]}})
TOOLS = (VOLUME, MONEY, TICKET, CODE, TAGS)

REFUSED = pytest.mark.parametrize(
    ("request_", "names", "allowed"),
    [
        ("Set the volume of the speaker to 4.5", "level", "integer 0 to 100"),
        ("Set the volume to 250", "level", "at most 100"),
        ("Send money: amount 50, currency JPY, to Bob", "currency", '"USD", "EUR", "GBP"'),
        ("Send 50 JPY to Bob", "currency", '"USD", "EUR", "GBP"'),
        ("Create a ticket titled 'Broken door' with details 'it squeaks'", "details", "object"),
        ("Set the code of the alarm to 12", "code", "^[0-9]{4}$"),
    ],
)


def made_of(request: str, *tools: Tool) -> Plan:
    return plan_offline(request, Catalog({tool.key: tool for tool in tools or TOOLS}))


def assert_asked(questions: Any, name: str, allowed: str) -> None:
    assert any(repr(name) in one and allowed in one for one in questions), questions


@REFUSED
async def test_python_asks_for_it_and_says_what_is_allowed(request_: str, names: str, allowed: str) -> None:
    async with Toolpath() as tp:
        tp.add(*TOOLS)
        plan = await tp.plan(request_)
        assert_asked(plan.questions, names, allowed)
        (step,) = plan.steps
        assert isinstance(step, Call)
        assert names not in step.inputs
        assert {one.code for one in tp.check(plan) if one.severity == "error"} <= {"missing_input"}
        assert plan.confidence is not None
        assert plan.confidence <= 0.4


EXAMPLES = settings().max_examples
_SAID = "4.5|-3|250|1e9|JPY|purple|'it squeaks'|abcd|12|2026-02-30|{{ x }}|[1, 2]|none|true"
_VALUES = st.sampled_from(_SAID.split("|"))
_SCHEMAS: Any = st.sampled_from(
    [
        WHOLE,
        CURRENCY,
        {"type": "object"},
        {"type": "array", "items": {"type": "integer"}, "minItems": 2},
        {"type": "boolean"},
        {"type": "string", "pattern": "^[0-9]{4}$"},
        {"type": "string", "maxLength": 2},
        {"type": "string", "format": "date"},
        {"type": "integer", "multipleOf": 7},
        {"const": "x"},
        {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        {"type": "array", "items": {"enum": ["cat", "dog"]}, "uniqueItems": True},
    ]
)


@settings(max_examples=2 * EXAMPLES)
@given(value=_VALUES, schema=_SCHEMAS, other=_SCHEMAS, many=st.booleans())
def test_whatever_is_said_for_whatever_schema_is_planned_or_asked(
    value: str, schema: JsonObject, other: JsonObject, many: bool
) -> None:
    tool = a_tool("set_level", "Set the level of the lamp.", level=schema, lamp=other)
    said = f"Set the level of the lamp to {value}" + (" and to 9 for lamp L-3, then set level JPY" if many else "")
    try:
        plan = made_of(said, tool)
    except NoToolFits:
        return
    errors = {one.code for one in check(plan, Catalog({tool.key: tool})) if one.severity == "error"}
    assert not errors or plan.questions
    assert errors <= {"missing_input"}


def test_a_value_that_is_asked_about_is_not_told_as_said_by_the_request() -> None:
    plan = made_of("Send money: amount 50, currency JPY, to Bob")
    (step,) = plan.steps
    assert isinstance(step, Call)
    assert "currency" not in step.inputs
    assert set(plan.origin.rests_on[step.id]) == set(step.inputs)


def test_what_is_wrong_with_the_parts_is_a_sentence_of_its_own() -> None:
    parts = (
        SubQuery(id="a", query="Set the volume to 5", suggested_tool=VOLUME.key, dependencies=("b",)),
        SubQuery(id="b", query="Tag the photo me.png", suggested_tool=TAGS.key, dependencies=("a",)),
    )
    text = "Set the volume to 5 and tag the photo me.png"
    asked = PlanRequest(text=text, decomposition=Decomposition(original_query=text, sub_queries=parts))
    catalog = Catalog({tool.key: tool for tool in TOOLS})
    plan = along(made_of(text_in_parts(asked, PlannerOptions())), asked, catalog, PlannerOptions())
    circle = [one for one in plan.questions if one.startswith("Circular dependency")]
    assert circle
    assert circle[0].endswith(". What is meant?")


RATE = a_tool("get_rate", "Get the exchange rate.", base=CURRENCY, target=CURRENCY)
CONVERT = a_tool(
    "convert_currency",
    "Convert an amount from one currency to another.",
    amount={"type": "number"},
    from_currency=CURRENCY,
    to_currency=CURRENCY,
)
LENGTHS = a_tool(
    "convert_unit", "Convert a length.", from_unit={"enum": ["metre", "mile"]}, to_unit={"enum": ["metre", "mile"]}
)


def _inputs_of(plan: Plan) -> JsonObject:
    (step,) = plan.steps
    assert isinstance(step, Call)
    return step.inputs


@pytest.mark.parametrize("effect", ["read", "write"])
@pytest.mark.parametrize(
    ("said", "tool", "twice"),
    [
        ("Get the exchange rate from JPY to EUR", RATE, {"base", "target"}),
        ("Get the exchange rate from EUR to JPY", RATE, {"base", "target"}),
        ("get the exchange rate base JPY target EUR", RATE, {"base", "target"}),
        ("Convert 200 JPY to EUR", CONVERT, {"from_currency", "to_currency"}),
        ("Convert 200 yen to EUR", CONVERT, {"from_currency", "to_currency"}),
        ("Convert 200 EUR to yen", CONVERT, {"from_currency", "to_currency"}),
        ("Convert a length to mile", LENGTHS, {"from_unit", "to_unit"}),
    ],
)
def test_what_is_said_once_does_not_fill_two_parameters(said: str, tool: Tool, twice: set[str], effect: Any) -> None:
    plan = made_of(said, msgspec.structs.replace(tool, effect=effect))
    assert plan.questions
    assert len(_inputs_of(plan).keys() & twice) < 2, plan.steps


@pytest.mark.parametrize("effect", ["read", "write"])
@pytest.mark.parametrize(
    ("said", "tool", "inputs"),
    [
        ("Get the exchange rate from USD to EUR", RATE, {"base": "USD", "target": "EUR"}),
        ("Get the exchange rate base EUR target USD", RATE, {"base": "EUR", "target": "USD"}),
        ("Get the exchange rate to EUR from GBP", RATE, {"base": "GBP", "target": "EUR"}),
        (
            "Convert 200 USD to EUR",
            CONVERT,
            {"amount": 200, "from_currency": "USD", "to_currency": "EUR"},
        ),
        (
            "Convert 200 EUR to EUR",
            CONVERT,
            {"amount": 200, "from_currency": "EUR", "to_currency": "EUR"},
        ),
    ],
)
def test_what_is_said_twice_fills_two_parameters(said: str, tool: Tool, inputs: JsonObject, effect: Any) -> None:
    plan = made_of(said, msgspec.structs.replace(tool, effect=effect))
    assert _inputs_of(plan) == inputs
    if effect == "read":
        assert plan.questions == ()


def test_what_is_said_for_both_fills_both() -> None:
    plan = made_of("Get the exchange rate with EUR for both", msgspec.structs.replace(RATE, effect="read"))
    assert _inputs_of(plan) == {"base": "EUR", "target": "EUR"}
