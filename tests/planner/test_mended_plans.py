"""Plans in the manners of many models: what is clear of them is mended without a round."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest
from tests.planner.planning_cases import ALICE, BLOG, HELLO, REQUEST, answer, ground

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import PlanningFailed, ReadError
from toolpath.model.plan import Call, Loop, Step
from toolpath.model.tool import Tool
from toolpath.planner.by_model.mending import mended, mended_text
from toolpath.planner.by_model.planner import plan_with_model
from toolpath.planner.by_model.reading import read_answer
from toolpath.planner.by_model.streaming import PlanWritten, StepWritten, stream_plan
from toolpath.planner.records import PlannerOptions, PlanRequest
from toolpath.testing.scripted_chat import ScriptedChat
from toolpath.values import JsonObject, encode

PATHS = "Search the web for cats and fetch each page"
FIND = {"id": "find", "tool": "web.search", "inputs": {"query": "cats"}}
GET = {"id": "get", "tool": "web.fetch", "inputs": {"url": "{{ page.url }}"}}
EACH = {"id": "each", "loop": {"over": "{{ find }}", "as": "page", "steps": [GET]}}
Change = Callable[[list[JsonObject]], list[JsonObject]]


def reading_by(text: str) -> Change:
    return lambda steps: [steps[0], {**steps[1], "inputs": {**steps[1]["inputs"], _key(steps[1]): text}}]


def _key(step: JsonObject) -> str:
    return next(key for key in step["inputs"] if key.lower().startswith("author"))


def tool_as(change: Callable[[str], str]) -> Change:
    return lambda steps: [{**step, "tool": change(step["tool"])} for step in steps]


def with_inputs(change: Callable[[JsonObject], Any], field: str = "inputs") -> Change:
    def changed(steps: list[JsonObject]) -> list[JsonObject]:
        return [{**{k: v for k, v in step.items() if k != "inputs"}, field: change(step["inputs"])} for step in steps]

    return changed


def also(**fields: Any) -> Change:
    return lambda steps: [steps[0], {**steps[1], **fields}]


TOOLS: dict[str, Change] = {
    "case": tool_as(str.title),
    "snake": tool_as(lambda key: key.replace("createB", "create_b").replace("createA", "create_a")),
    "bare": tool_as(lambda key: key.rpartition(".")[2]),
    "dashes": tool_as(lambda key: key.replace(".", "--")),
    "underscore": tool_as(lambda key: key.replace(".", "_")),
    "functions": tool_as(lambda key: f"functions.{key}"),
}
INPUTS: dict[str, Change] = {
    "args": with_inputs(lambda inputs: inputs, "args"),
    "parameters": with_inputs(lambda inputs: inputs, "parameters"),
    "arguments as text": with_inputs(json.dumps, "arguments"),
    "names in capitals": with_inputs(lambda inputs: {key.capitalize(): value for key, value in inputs.items()}),
    "names in snake": with_inputs(lambda inputs: {key.replace("Id", "_id"): value for key, value in inputs.items()}),
}
READS: dict[str, Change] = {
    text: reading_by(text)
    for text in (
        "${author._id}", "$author._id", "{author._id}", "<author._id>", "${{ author._id }}", "{{ author.output._id }}",
        "{{ author.result._id }}", "{{ steps.author.output._id }}", "{{ steps.author._id }}",
        "$.steps.author.output._id",
        "{{ Author._id }}", "{{ author._ID }}", "{{author._id}}",
    )
}  # fmt: skip
REST: dict[str, Change] = {
    "remarks": also(description="The post.", reason="Asked.", output="post", type="tool"),
    "nothing": also(when=None, loop=None),
    "depends on a text": also(depends_on="author"),
    "dependsOn": also(dependsOn=["author"]),
}


async def planned(steps: list[JsonObject], request: str = REQUEST, outputs: JsonObject | None = None) -> Any:
    chat = ScriptedChat({**answer(*steps), **({"outputs": outputs} if outputs else {})})
    found = await plan_with_model(
        PlanRequest(text=request), ground(chat, options=PlannerOptions(max_repairs=0, fallback="error"))
    )
    assert len(chat.requests) == 1
    return found.plan


def shape(steps: tuple[Step, ...]) -> Any:
    found: list[Any] = []
    for step in steps:
        if isinstance(step, Loop):
            found.append((step.over, step.item, shape(step.body.steps)))
        elif isinstance(step, Call):
            found.append((step.tool, {key: plain(str(value)) for key, value in step.inputs.items()}))
    return found


def plain(text: str) -> str:
    return text.replace(" ", "").replace("steps.", "").replace(".output", "")


RIGHT = [("blog.createAuthor", ALICE["inputs"]), ("blog.createBlog", {**HELLO["inputs"], "authorId": "{{author._id}}"})]


@pytest.mark.parametrize("pair", [*combinations((TOOLS, INPUTS, READS, REST), 2)], ids=range(6))
async def test_each_two_manners_together_cost_no_round(pair: tuple[dict[str, Change], dict[str, Change]]) -> None:
    one, other = pair
    for name, change in one.items():
        for more, after in other.items():
            # Inputs come last, since reads change them by name.
            first, second = (after, change) if one is INPUTS else (change, after)
            plan = await planned(second(first([ALICE, HELLO])))
            assert shape(plan.steps) == RIGHT, (name, more)
            assert plan.questions == (), (name, more)


@pytest.mark.parametrize("name", ["1", 1, "create-author", "create author", "first", "Author", "step 1"])
async def test_ids_of_any_form_are_ids(name: Any) -> None:
    post = {**HELLO, "inputs": {**HELLO["inputs"], "authorId": f"{{{{ {name}._id }}}}"}, "depends_on": [name]}
    if " " in str(name):
        post["inputs"] = HELLO["inputs"] | {"authorId": "{{ " + str(name).replace(" ", "_") + "._id }}"}
    if name == "step 1":
        post["inputs"]["authorId"] = "{{ step_1._id }}"
    plan = await planned([{**ALICE, "id": name}, post])
    assert plan.steps[1].depends_on in ((plan.steps[0].id,), ())
    assert plan.steps[1].inputs["authorId"] == f"{{{{ {plan.steps[0].id}._id }}}}"


@pytest.mark.parametrize(
    ("field", "condition", "expected"),
    [
        ("when", "{{ author._id && author.name }}", "author._id and author.name"),
        ("if", "author._id !== null || !author.name", "author._id != none or not author.name"),
        ("condition", "${author.name} === 'a && b'", "author.name == 'a && b'"),
        ("only_if", "{{ author.name }} == 'Alice'", "author.name == 'Alice'"),
        ("if", "${author.name === 'a OR b' && author._id}", "author.name == 'a OR b' and author._id"),
        (
            "when",
            "author.name = 'AND = x' AND NOT author._id OR author._id <> 'x'",
            "author.name == 'AND = x' and not author._id or author._id != 'x'",
        ),
    ],
)
async def test_conditions_of_other_notations_are_conditions(field: str, condition: str, expected: str) -> None:
    plan = await planned([ALICE, {**HELLO, field: condition}])
    assert str(plan.steps[1].when).strip("{} ") == expected


@pytest.mark.parametrize(
    "step",
    [
        EACH,
        {**EACH, "tool": None},
        {"id": "each", "loop": {**EACH["loop"], "over": "find"}},
        {"id": "each", "loop": {**EACH["loop"], "over": "${find}"}},
        {"id": "each", "for_each": {"items": "{{ find }}", "as": "page", "steps": [GET]}},
        {"id": "each", "forEach": {"in": "$find", "item": "page", "do": [GET]}},
        {"id": "each", "loop": "{{ find }}", "as": "page", "steps": [GET]},
        {"id": "each", "type": "loop", **EACH["loop"]},
        {**GET, "id": "each", "loop": {"over": "{{ find }}", "as": "page"}},
        {**GET, "id": "each", "foreach": "{{ find }}", "as": "page"},
        {"id": "each", "tool": "web.fetch", "for_each": "{{ find }}", "as": "page", "args": {"URL": "${page.url}"}},
    ],
)
async def test_loops_of_other_notations_are_loops(step: JsonObject) -> None:
    plan = await planned([FIND, step], PATHS, {"pages": "${each}"})
    assert shape(plan.steps[1:]) == [("{{ find }}", "page", [("web.fetch", {"url": "{{page.url}}"})])]
    assert plan.outputs == {"pages": "{{ each }}"}


@pytest.mark.parametrize(
    ("field", "condition"),
    [("if", "page.url && page.url != 'x'"), ("condition", "${page.url !== 'y'}"), ("when", "{{ page.url }}")],
)
async def test_what_a_step_says_of_each_item_holds_for_each(field: str, condition: str) -> None:
    step = {**GET, "id": "each", "for_each": "{{ find }}", "as": "page", field: condition}
    plan = await planned([FIND, step], PATHS)
    loop = plan.steps[1]
    assert isinstance(loop, Loop)
    assert loop.when is None
    assert "page.url" in str(loop.body.steps[0].when)
    whole = await planned([FIND, {**step, field: "find"}], PATHS)
    assert whole.steps[1].when is not None


async def test_an_answer_that_is_nothing_but_steps_is_a_plan() -> None:
    plan = await plan_with_model(PlanRequest(text=PATHS), ground(ScriptedChat(encode([FIND, EACH]).decode())))
    assert shape(plan.plan.steps[1:]) == [("{{ find }}", "page", [("web.fetch", {"url": "{{page.url}}"})])]


@pytest.mark.parametrize("over", ["{{ 1 }}", "{{ 1.result }}", "{{ steps.1.output }}"])
async def test_a_list_goes_by_the_number_of_its_step(over: str) -> None:
    steps = [{**FIND, "id": 1}, {"id": 2, "loop": {**EACH["loop"], "over": over}}]
    plan = await planned(steps, PATHS)
    assert [step.over for step in plan.steps[1:] if isinstance(step, Loop)] in (
        ["{{ step_1 }}"], ["{{ steps.step_1.output }}"], ["{{step_1}}"], ["{{ step_1.result }}"]
    )  # fmt: skip


async def test_what_a_model_says_beside_its_steps_costs_no_round() -> None:
    said = {**answer(ALICE, HELLO), "thoughts": "First the author.", "goal": "A post.", "notes": ["none"]}
    plan = (await plan_with_model(PlanRequest(text=REQUEST), ground(ScriptedChat(encode(said).decode())))).plan
    assert shape(plan.steps) == RIGHT


def test_an_option_is_written_as_its_schema_has_it() -> None:
    schema = {"type": "object", "properties": {"a": {"enum": ["Low", "High"]}, "b": {"enum": ["x", "X"]}}}
    tool = Tool(group="t", name="f", input_schema=schema)
    plan = {"steps": [{"id": "s", "tool": "t.f", "inputs": {"a": "low", "b": "X"}}]}
    assert mended(plan, Catalog({tool.key: tool}), "x")["steps"][0]["inputs"] == {"a": "Low", "b": "X"}


def test_a_name_of_several_words_is_one_outside_quotes_alone() -> None:
    steps = [{**ALICE, "id": "step 1"}, {**HELLO, "when": "{{ step 1.name != 'step 1' }}"}]
    assert mended({"steps": steps}, BLOG, "x")["steps"][1]["when"] == "{{ step_1.name != 'step 1' }}"


async def test_a_stream_is_mended_step_by_step() -> None:
    steps = [{**ALICE, "tool": "blog_createAuthor"}, *READS["${author._id}"]([ALICE, HELLO])[1:]]
    chat = ScriptedChat(encode(answer(*steps)).decode())
    parts = [part async for part in stream_plan(PlanRequest(text=REQUEST), ground(chat))]
    assert [type(part) for part in parts] == [StepWritten, StepWritten, PlanWritten]


def test_what_is_not_clear_stays_as_it_is() -> None:
    two = {
        key: Tool(group="a", name=key.partition(".")[2], input_schema={"type": "object"}) for key in ("a.x_y", "a.xy")
    }
    for text in ("${nobody.id}", "<b>bold</b>", "{json}", "$5", "costs $author", "a && b", "{{ '${author.id}' }}"):
        step = {"id": "author", "tool": "a.XY", "inputs": {"text": text}}
        found = mended({"steps": [step]}, Catalog(two), "costs $author")
        assert found["steps"] == [step]
    kept = {"steps": [{"id": "a", "agent": {"requirement": "x"}}, "no step", {"id": [1], "tool": 5}]}
    assert mended(kept, BLOG, "") == kept


@pytest.mark.parametrize(
    "given",
    [
        {"inputs": {"name": "{{" * 30_000}},
        {"when": " " * 60_000},
        {"when": "'\\" * 30_000},
        {"inputs": {"name": "${" * 30_000}},
        {"inputs": {"name": "{{ a " * 20_000, "email": "<a." * 20_000}},
    ],
    ids=["braces", "blanks", "quotes", "other braces", "open references"],
)
def test_an_answer_that_repeats_itself_is_looked_into_in_moments(given: JsonObject) -> None:
    began = time.process_time()
    text = encode({"steps": [{"id": "a", "tool": "blog.createAuthor", **given}]}).decode()
    found = mended_text(text, BLOG, "Create author Alice")
    assert found is not None
    assert found["steps"][0]["inputs" if "inputs" in given else "when"]
    # Unbounded, each takes more than that many times as long.
    assert time.process_time() - began < 5


def test_thousands_of_ids_that_are_one_without_their_signs_are_told_apart() -> None:
    signs = [f"{one}{two}{three}" for one in "-+*.:!" for two in "-+*.:!" for three in "-+*.:!"]
    steps = [{"id": f"a{sign}b", "tool": "blog.createAuthor"} for sign in signs]
    found = mended_text(encode({"steps": steps}).decode(), BLOG, "Create author Alice")
    assert found is not None
    ids = [step["id"] for step in found["steps"]]
    assert len(set(ids)) == len(steps)
    assert max(map(len, ids)) < 10


def test_an_answer_that_is_too_large_is_not_read() -> None:
    with pytest.raises(ReadError, match="at most 200,000 are read"):
        read_answer("Well. " * 40_000, PlanRequest(text="Create author Alice"), BLOG)


async def test_a_plan_of_a_thousand_steps_is_refused_in_moments() -> None:
    steps = [{**HELLO, "id": f"s{number}", "depends_on": []} for number in range(1_000)]
    began = time.process_time()
    with pytest.raises(PlanningFailed, match="still has errors"):
        await plan_with_model(PlanRequest(text=REQUEST), ground(ScriptedChat(then=answer(*steps)), BLOG))
    # Where each step is compared with each, a minute.
    assert time.process_time() - began < 10
