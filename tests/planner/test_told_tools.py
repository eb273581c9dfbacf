"""What a model is told: tools as signatures, the moment, who asks, what went well, what its plan leaves out."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.planner.planning_cases import ALICE, BLOG, HELLO, answer, catalog_of, ground, reading, schema

from toolpath import Toolpath
from toolpath.access.acting import acting
from toolpath.access.caller import Caller
from toolpath.catalog.snapshot import Catalog
from toolpath.config import Settings
from toolpath.model.tool import Tool
from toolpath.planner.by_model.planner import plan_with_model
from toolpath.planner.by_model.signatures import DETAILS, signature
from toolpath.planner.decompose import Decomposition, SubQuery
from toolpath.planner.records import Lesson, PlannerOptions, PlanRequest
from toolpath.testing.scripted import scripted
from toolpath.testing.scripted_chat import ScriptedChat
from toolpath.values import JsonObject, decode

VERBS = ("create", "list", "update", "delete", "search", "send", "archive", "export", "import", "share")
THINGS = ("invoice", "contact", "event", "file", "ticket", "order", "payment", "report", "task", "page")


def many(number: int) -> Catalog:
    tools = []
    for index in range(number):
        verb, thing = VERBS[index % 10], THINGS[index // 10 % 10]
        properties = {
            f"{thing}_id": {"type": "string", "description": f"The id of the {thing}, as it stands in its list."},
            "status": {
                "type": "string",
                "enum": ["open", "closed", "draft"],
                "description": "Only those in this state.",
            },
            "limit": {"type": "integer", "default": 20, "description": "At most so many."},
        }
        tools.append(
            Tool(
                group=f"app{index // 100}",
                name=f"{verb}_{thing}",
                description=f"{verb.title()} {thing}s of the workspace, by their id, and say what has become of them.",
                effect="read" if verb in ("list", "search", "export") else "write",
                input_schema={"type": "object", "properties": properties, "required": [f"{thing}_id"]},
                output_schema={
                    "type": "object",
                    "properties": {"id": {"type": "string"}, "status": {"type": "string"}},
                },
            )
        )
    return catalog_of(*tools)


async def told(catalog: Catalog, text: str, **fields: Any) -> JsonObject:
    chat = ScriptedChat(then=answer(reasoning="No.", questions=["Which?"]))
    await plan_with_model(PlanRequest(text=text, **fields), ground(chat, catalog))
    found: JsonObject = decode(chat.requests[0].messages[0].text)
    return found


async def test_three_hundred_tools_are_told_whole_in_32_kb() -> None:
    found = await told(many(300), "Archive ticket T-4")
    assert len(found["tools"]) == 300
    assert sum(map(len, found["tools"])) <= 32_000
    assert all(" -> {id, status}" in one for one in found["tools"][:20])
    assert all("(" in one and " -> {" in one for one in found["tools"])
    assert "more_tools" not in found
    assert "app0.archive_ticket(ticket_id: str" in found["tools"][0]


@pytest.mark.parametrize("number", [400, 1_000, 1_200, 1_400])
async def test_where_not_all_tools_are_told_none_that_fits_gives_way_to_one_that_does_not(number: int) -> None:
    animals = ("lion", "zebra", "panda", "otter", "rhino", "koala", "heron", "camel")
    fitting = [
        reading(f"{animal}.feeding{index}", "animal", description=f"When the {animal}s of zoo {index} are fed.")
        for animal in animals
        for index in range(5)
    ]
    found = await told(catalog_of(*many(number).tools.values(), *fitting), "When are animals of the zoos fed?")
    assert found["more_tools"]
    names = {one.partition("(")[0] for one in found["tools"]}
    assert [tool.key for tool in fitting if tool.key not in names] == []


async def test_of_ten_thousand_tools_those_like_the_request_are_told() -> None:
    catalog = catalog_of(
        *many(9_999).tools.values(),
        reading("zoo.feeding_times", "animal", description="When an animal of the zoo is fed."),
    )
    found = await told(catalog, "When are the penguins of the zoo fed?")
    assert found["tools"][0].startswith("zoo.feeding_times(animal: str)")
    assert len((await told(catalog, "Rechnung ablegen"))["tools"]) > 100, "a word that no tool has refuses nothing"
    found = await told(catalog, "Archive ticket T-4")
    assert len(found["tools"]) > 100
    assert "archive_ticket" in found["tools"][0]
    assert sum(map(len, found["tools"])) <= 32_000
    assert found["more_tools"]


async def test_ninety_tools_with_their_effects_take_half_of_their_schemas() -> None:
    catalog = many(90)
    found = await told(catalog, "Archive ticket T-4")
    as_json = sum(
        len(msgspec.json.encode([tool.key, tool.description, tool.input_schema])) for tool in catalog.tools.values()
    )
    short = sum(len(signature(tool, DETAILS[3])) for tool in catalog.tools.values())
    assert short * 2 < as_json
    assert sum(" [write]" in one for one in found["tools"]) == 63


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"a": {"type": "string"}, "b": {"enum": ["x", "y"]}}, "(a: str, b?: x|y)"),
        ({"a": {"type": "array", "items": {"type": "integer"}}}, "(a: [int])"),
        ({"a": {"anyOf": [{"type": "number"}, {"type": "null"}]}}, "(a: num)"),
        ({"a": {"type": "string", "format": "date"}}, "(a: date)"),
        (
            {"a": {"type": "object", "properties": {"c": {"type": "boolean"}, "d": {"type": "string"}}}},
            "(a: {c: bool, d})",
        ),
        ({"a": {"$ref": "#/$defs/Me"}}, "(a: {me: {me: {me: {me: {…}}}}})"),
        ({"a": {"type": "integer", "default": 3}}, "(a: int = 3)"),
        ({"a": {"$ref": "#/nowhere"}, "b": True}, "(a: any, b?: any)"),
    ],
)
def test_a_signature_says_what_a_tool_takes(given: JsonObject, expected: str) -> None:
    me = {"type": "object", "properties": {"me": {"$ref": "#/$defs/Me"}}}
    tool = Tool(
        group="g",
        name="f",
        effect="read",
        input_schema={"type": "object", "properties": given, "required": ["a"], "$defs": {"Me": me}},
    )
    assert signature(tool, DETAILS[0]) == f"g.f{expected}"


@pytest.mark.parametrize(
    "again",
    [
        {"anyOf": [{"$ref": "#/$defs/A"}] * 8},
        {"type": "object", "properties": {f"p{number}": {"$ref": "#/$defs/A"} for number in range(40)}},
        {"type": "object", "properties": {f"{'long ' * 99}\n{number}": {"type": "string"} for number in range(2_000)}},
    ],
    ids=["any of itself", "forty of itself", "two thousand long names"],
)
def test_a_signature_is_short_however_large_a_schema_is(again: JsonObject) -> None:
    given = {**again, "$defs": {"A": again}}
    tool = Tool(name="t", input_schema={"type": "object", "properties": {"x": given}, **given}, output_schema=given)
    # Without a bound, forty of itself are as many types as no test lives to see.
    for detail in DETAILS:
        text = signature(tool, detail)
        assert len(text) < 10_000
        assert "\n" not in text


async def test_a_tool_whose_signature_is_too_long_hides_no_other() -> None:
    huge = {"type": "object", "properties": {f"{'parameter' * 9}{number}": {} for number in range(400)}}
    large = [Tool(name=f"tickets_{number}", input_schema=huge, effect="write") for number in range(9)]
    small = Tool(name="close_ticket", input_schema=schema("ticket"), effect="write")
    content = await told(catalog_of(*large, small), f"Run {', '.join(tool.name for tool in large)}")
    assert any(one.startswith("close_ticket(") for one in content["tools"])
    assert sum(map(len, content["tools"])) <= PlannerOptions().tools_size


async def test_the_model_is_told_who_asks_the_locale_and_the_kind_of_query() -> None:
    parts = (SubQuery(id="q1", query="Create author Alice"),)
    chat = ScriptedChat(answer(ALICE))
    await plan_with_model(
        PlanRequest(
            text="Create author Alice with email alice@test.com",
            asker={"user": "ann"},
            decomposition=Decomposition(original_query="x", query_type="multi_hop", sub_queries=parts),
        ),
        ground(chat, options=PlannerOptions(locale="de-DE")),
    )
    found = decode(chat.requests[0].messages[0].text)
    assert (found["user"], found["locale"], found["query_type"]) == ("ann", "de-DE", "multi_hop")


async def test_what_went_well_is_an_example_with_its_steps() -> None:
    chat = ScriptedChat(then=answer(ALICE))
    tool = scripted("blog.createAuthor", then={"_id": "a"}, effect="write", input_schema=schema("name", "email"))
    async with Toolpath(chat=chat, settings=Settings()) as tp:
        tp.add(tool)
        with acting(Caller(user="ann")):
            plan = await tp.plan("Create author Alice with email alice@test.com")
            assert (await tp.run(plan)).success
            await tp.plan("Create the author Alice now with email alice@test.com, please")
    first, *_, last = (decode(one.messages[0].text) for one in chat.requests)
    assert "went_well_before" not in first
    assert first["user"] == "ann"
    (example,) = last["went_well_before"]
    assert example["steps"][0]["inputs"] == ALICE["inputs"]


async def test_what_a_plan_leaves_out_is_told_once_and_a_worse_answer_is_not_taken() -> None:
    request = PlanRequest(
        text="Create author Alice with email alice@test.com, then create a blog of Alice titled Hello about world"
    )
    for second, steps in ((answer(ALICE, HELLO), 2), ("nonsense", 1), (answer(ALICE), 1)):
        chat = ScriptedChat(answer(ALICE), second)
        found = await plan_with_model(request, ground(chat, BLOG))
        assert len(chat.requests) == 2
        assert "said_and_not_done" in chat.requests[1].messages[-1].text
        assert len(found.plan.steps) == steps
        assert found.plan.confidence is not None
        assert bool(found.plan.questions) == (steps == 1)


def test_lessons_from_before_have_no_steps() -> None:
    assert msgspec.convert({"request": "r", "tools": ["a"]}, Lesson).steps == ()
