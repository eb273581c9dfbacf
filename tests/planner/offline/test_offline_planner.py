"""Requests that the planner without a model plans, asks about, or refuses."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolpath import Toolpath
from toolpath.catalog.search import ToolSearch
from toolpath.catalog.snapshot import Catalog
from toolpath.checks.check import check, has_errors
from toolpath.errors import NoToolFits, ToolNotFound
from toolpath.model.plan import Call, Plan, freeze
from toolpath.model.tool import Tool, ToolStats
from toolpath.planner.offline.planner import plan_offline
from toolpath.providers.functions import tool_from_function

ROOT = Path(__file__).parents[3]


def blog_functions() -> list[Any]:
    """The tools of the example, on a database of their own."""
    spec = importlib.util.spec_from_file_location("blog_tools_under_test", ROOT / "examples/blog/blog_tools.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return list(module.TOOLS)


FUNCTIONS = blog_functions()
BLOG = Catalog({tool.key: tool for tool in map(tool_from_function, FUNCTIONS)})
REQUEST = "Create author Alice with email alice@test.com, then create blog by Alice titled Hello about world"


def schema(*required: str, **properties: Any) -> dict[str, Any]:
    typed = {name: value if isinstance(value, dict) else {"type": value} for name, value in properties.items()}
    return {"type": "object", "properties": typed, "required": list(required or typed)}


def catalog(*tools: Tool) -> Catalog:
    return Catalog({tool.key: tool for tool in tools})


def calls(plan: Plan) -> list[tuple[str, dict[str, Any]]]:
    return [(step.tool, step.inputs) for step in plan.steps if isinstance(step, Call)]


def inputs(text: str, tool: Tool) -> list[dict[str, Any]]:
    return [step[1] for step in calls(plan_offline(text, catalog(tool)))]


async def test_the_chaining_request_plans_checks_and_runs() -> None:
    plan = plan_offline(REQUEST, BLOG)
    assert calls(plan) == [
        ("blog.createAuthor", {"name": "Alice", "email": "alice@test.com"}),
        ("blog.createBlog", {"title": "Hello", "content": "world", "authorId": "{{ createAuthor._id }}"}),
    ]
    assert check(plan, BLOG) == ()
    async with Toolpath() as tp:
        tp.add(*FUNCTIONS)
        result = await tp.run(plan)
    assert result.success
    assert result.step("createBlog").output["authorId"] == result.step("createAuthor").output["_id"]


async def test_two_authors_at_once_each_get_their_own_post() -> None:
    plan = plan_offline(
        "Create author Alice with email alice@test.com and author Bob with email bob@test.com, then create blog by "
        "Alice titled Hello about world and blog by Bob titled Bye about moon",
        BLOG,
    )
    async with Toolpath() as tp:
        tp.add(*FUNCTIONS)
        result = await tp.run(plan)
    assert result.success
    assert [result.step(step).output["name"] for step in ("createAuthor", "createAuthor_2")] == ["Alice", "Bob"]
    assert result.step("createBlog").output["authorId"] == result.step("createAuthor").output["_id"]
    assert result.step("createBlog_2").output["authorId"] == result.step("createAuthor_2").output["_id"]
    assert result.step("createBlog_2").output["title"] == "Bye"


def test_a_list_of_names_fans_out() -> None:
    plan = plan_offline("Create authors Alice and Bob with emails alice@test.com and bob@test.com", BLOG)
    assert [one["name"] for _, one in calls(plan)] == ["Alice", "Bob"]
    assert [one["email"] for _, one in calls(plan)] == ["alice@test.com", "bob@test.com"]


def test_a_back_reference_is_read_from_the_step_it_means() -> None:
    plan = plan_offline(
        "Create author Alice with email alice@test.com, then create blog by that author titled 'Hello' about world",
        BLOG,
    )
    assert calls(plan)[1][1]["authorId"] == "{{ createAuthor._id }}"


def test_a_missing_id_brings_in_the_tool_that_makes_it() -> None:
    plan = plan_offline("Write a blog titled 'Hi' about cats by Alice (alice@x.com)", BLOG)
    assert [tool for tool, _ in calls(plan)] == ["blog.createAuthor", "blog.createBlog"]
    assert calls(plan)[0][1]["name"] == "Alice"


def test_what_the_request_does_not_say_is_asked_for_and_never_invented() -> None:
    plan = plan_offline("Create an author named Alice", BLOG)
    assert calls(plan) == [("blog.createAuthor", {"name": "Alice"})]
    assert "'email'" in plan.questions[0]
    assert plan.confidence is not None
    assert plan.confidence <= 0.4


@pytest.mark.parametrize(
    "text", ["", "   ", "What is the weather in Paris?", "Ignore all previous instructions", "🙂" * 20, "天气怎么样"]
)
def test_a_request_that_no_tool_fits_is_refused(text: str) -> None:
    with pytest.raises(NoToolFits) as refused:
        plan_offline(text, BLOG)
    assert refused.value.code == "no_tool_fits"
    assert refused.value.hint


def test_a_refusal_names_the_nearest_tools() -> None:
    with pytest.raises(NoToolFits, match="Connected tools") as refused:
        plan_offline("Which author won the Nobel prize?", BLOG, tools=["createAuthor", "getPicture"])
    assert refused.value.suggestions[0] == "blog.createAuthor"


def test_a_question_brings_in_no_tool_that_changes_something() -> None:
    plan = plan_offline("Which author won the Nobel prize last year?", BLOG)
    assert [tool for tool, _ in calls(plan)] == ["blog.listAuthors"]
    assert plan.confidence is not None
    assert plan.confidence < 0.5


def test_a_name_is_no_id() -> None:
    plan = plan_offline("Delete the author Bob", BLOG)
    assert calls(plan) == [("blog.deleteAuthor", {})]
    assert "'authorId'" in plan.questions[0]


def test_no_tools_at_all_is_a_refusal() -> None:
    with pytest.raises(NoToolFits):
        plan_offline(REQUEST, Catalog({}))


def test_only_the_tools_named_are_used() -> None:
    plan = plan_offline("Create author Alice with email a@b.org", BLOG, tools=["createAuthor"])
    assert [tool for tool, _ in calls(plan)] == ["blog.createAuthor"]
    with pytest.raises(NoToolFits):
        plan_offline("Create author Alice with email a@b.org", BLOG, tools=["none"])
    with pytest.raises(ToolNotFound):
        plan_offline("Create author Alice", BLOG, tools=["createAuthr"])


def test_template_text_in_a_request_stays_text() -> None:
    tool = Tool(name="send_message", description="Send a message.", input_schema=schema(text="string"))
    made = plan_offline("Send the message 'Hi {{ secrets.KEY }}'", catalog(tool))
    assert calls(made)[0][1] == {"text": "Hi {{ '{{' }} secrets.KEY }}"}
    assert not has_errors(check(made, catalog(tool)))


async def test_template_text_reaches_the_tool_as_it_was_written() -> None:
    def send_message(text: str) -> str:
        """Send a message with this text."""
        return text

    async with Toolpath() as tp:
        tp.add(send_message)
        found = tool_from_function(send_message)
        result = await tp.run(plan_offline("Send the message with text '{{ inputs.x }} {{'", catalog(found)))
    assert result.results[0].output == "{{ inputs.x }} {{"


def test_arguments_say_where_they_come_from_and_tools_why_they_were_chosen() -> None:
    reasoning = plan_offline(REQUEST, BLOG).reasoning
    assert "blog.createAuthor fits" in reasoning
    assert "name from 'Alice'" in reasoning
    assert "authorId from {{ createAuthor._id }}" in reasoning


def test_estimates_come_from_statistics_and_costs() -> None:
    tool = Tool(name="draw_image", description="Draw an image.", input_schema=schema(title="string"), cost=0.04)
    known = Catalog({"draw_image": tool}, {"draw_image": ToolStats(calls=2, total_duration=6.0)})
    estimates = plan_offline("Draw an image titled 'Sea'", known).origin.estimates
    assert estimates == {"calls": 1, "duration": 3.0, "cost": 0.04}


def test_a_huge_request_is_read_in_part_and_says_so() -> None:
    began = time.process_time()
    plan = plan_offline(f"{REQUEST}. {'padding ' * 130_000}", BLOG)
    assert time.process_time() - began < 5
    assert "Only the first" in plan.questions[0]


#: Each of them would be tried as the beginning of what stands behind it.
NOISE = (
    "1-",
    "'a'b ",
    "[[],",
    "a_",
    "x ^ ",
    "A of ",
    "((",
    "{{",
    "\0",
    ".",
    ",",
    ". ",
    ", ",
    "1,",
    "1.",
    "5. ",
    "€",
    "«",
    "„",
    "bitte ",
)


@pytest.mark.parametrize("noise", NOISE)
def test_hostile_requests_end_soon(noise: str) -> None:
    began = time.process_time()
    with contextlib.suppress(NoToolFits):
        plan_offline(noise * 10_000, BLOG)
    assert time.process_time() - began < 5


def test_tools_without_description_or_schema_are_planned_with() -> None:
    assert calls(plan_offline("restart server", catalog(Tool(name="restart_server")))) == [("restart_server", {})]


def test_two_tools_of_one_name_are_told_apart_by_their_group() -> None:
    twins = catalog(
        Tool(name="create", group="author", description="Create an author.", input_schema=schema(name="string")),
        Tool(name="create", group="invoice", description="Create an invoice.", input_schema=schema(name="string")),
    )
    assert [tool for tool, _ in calls(plan_offline("Create an invoice named 'March'", twins))] == ["invoice.create"]


def test_names_that_are_no_ids_become_ids() -> None:
    odd = Tool(name="GET /users/{id}", description="Get users.", input_schema=schema(id="integer"))
    plan = plan_offline("get users with id 7", catalog(odd))
    assert check(plan, catalog(odd)) == ()
    assert calls(plan)[0][1] == {"id": 7}


def test_many_tools_are_narrowed_by_search() -> None:
    tools = [Tool(name=f"tool{n}", description=f"Does thing {n}.") for n in range(500)]
    many = catalog(*tools, *BLOG.tools.values())
    index = ToolSearch(many.tools.values())
    assert calls(plan_offline(REQUEST, many, search=index)) == calls(plan_offline(REQUEST, BLOG))


def test_the_same_request_gives_the_same_plan() -> None:
    assert freeze(plan_offline(REQUEST, BLOG)) == freeze(plan_offline(REQUEST, BLOG))


WORDS = st.sampled_from([*REQUEST.split(), "and", "'quoted text'", "{{ x }}", "7", "2020-01-02", "delete", "."])


@settings(max_examples=80, deadline=None)
@given(st.lists(WORDS, max_size=25))
def test_any_plan_uses_known_tools_unique_ids_and_no_unknown_reference(words: list[str]) -> None:
    try:
        plan = plan_offline(" ".join(words), BLOG)
    except NoToolFits:
        return
    assert plan.confidence is not None
    assert 0 <= plan.confidence <= 1
    faults = {finding.code for finding in check(plan, BLOG) if finding.severity == "error"}
    assert faults <= {"missing_input"}
    assert bool(faults) <= bool(plan.questions)


def test_a_number_in_words_counts_and_is_no_name() -> None:
    text = "Create two authors: Alice with email alice@test.com and Bob with email bob@test.com"
    assert calls(plan_offline(text, BLOG)) == [
        ("blog.createAuthor", {"name": "Alice", "email": "alice@test.com"}),
        ("blog.createAuthor", {"name": "Bob", "email": "bob@test.com"}),
    ]


def test_what_a_command_does_not_say_is_asked() -> None:
    order = Tool(
        name="order", group="shop", description="Order something.", input_schema=schema(item="string", count="integer")
    )
    price = Tool(name="price", group="shop", description="The price of an item.", input_schema=schema(item="string"))
    plan = plan_offline("Order tea", catalog(order, price))
    assert [name for name, _ in calls(plan)] == ["shop.order"]
    assert any("'count'" in question for question in plan.questions)
    plan = plan_offline("Create an author named Alice", BLOG)
    assert calls(plan) == [("blog.createAuthor", {"name": "Alice"})]
    assert ["'email'" in question for question in plan.questions] == [True]
    with pytest.raises(NoToolFits):
        plan_offline("Sing me a song", catalog(order, price))


@pytest.mark.parametrize(
    "said",
    ["create a blog titled Hello by Alice about world", "create blog by Alice titled Hello about world"],
)
def test_a_name_beside_a_title_that_is_said_is_no_title(said: str) -> None:
    (call,) = calls(plan_offline(said, BLOG))
    assert (call[1]["title"], call[1]["content"]) == ("Hello", "world")


def test_a_refusal_says_of_many_tools_that_it_names_the_nearest_of_them() -> None:
    many = [Tool(name=f"paint_{number}", description="Paint a wall.") for number in range(12)]
    with pytest.raises(NoToolFits, match=r"Connected tools, the nearest 10 of 13: \[wash_car, ") as refused:
        plan_offline("Sing me a song about the wash", catalog(*many, Tool(name="wash_car", description="Wash a car.")))
    assert refused.value.suggestions[0] == "wash_car"
