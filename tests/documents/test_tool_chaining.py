"""Tool chaining: what its document shows and promises, on this engine. Section names are the document's."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from toolpath import PlanInvalid, RunResult, Settings, Toolpath
from toolpath.model import events as ev
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import ScriptedTool, scripted

AUTHOR = {"_id": "507f1f77bcf86cd799439011", "name": "Alice", "email": "alice@test.com"}
BLOG = {"_id": "507f1f77bcf86cd799439012", "title": "Hello", "authorId": "507f1f77bcf86cd799439011"}


def strings(*required: str, optional: tuple[str, ...] = ()) -> dict[str, Any]:
    names = (*required, *optional)
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": list(required)}


class Blogging:
    """The document's tools, which note what they are asked."""

    def __init__(self) -> None:
        self.author = self._tool("createAuthor", strings("name", "email", optional=("bio",)), self._author)
        self.blog = self._tool("createBlog", strings("title", "content", "authorId"), lambda i: {**BLOG, **i})
        self.comment = self._tool(
            "createComment", strings("blogId", "content", optional=("authorId",)), lambda i: {"_id": "c1", **i}
        )
        self.count = 0

    def _author(self, inputs: dict[str, Any]) -> dict[str, Any]:
        self.count += 1
        return {**AUTHOR, "_id": AUTHOR["_id"] if self.count == 1 else f"author_{self.count}", **inputs}

    @staticmethod
    def _tool(name: str, schema: dict[str, Any], answer: Any) -> ScriptedTool:
        return scripted(f"blog.{name}", then=answer, effect="write", input_schema=schema)

    @property
    def tools(self) -> tuple[ScriptedTool, ...]:
        return self.author, self.blog, self.comment


@pytest.fixture
def blogging() -> Blogging:
    return Blogging()


@pytest.fixture
async def tp(blogging: Blogging) -> AsyncIterator[Toolpath]:
    async with Toolpath(clock=FakeClock(auto=True), settings=Settings()) as door:
        door.add(*blogging.tools)
        yield door


def chaining(*steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A plan with the preset of the chaining system: what does not resolve is kept."""
    return {"on_unresolved": "keep", "steps": list(steps), **fields}


CREATE_AUTHOR = {"id": "createAuthor", "tool": "createAuthor", "inputs": {"name": "Alice", "email": "alice@test.com"}}
CREATE_BLOG = {
    "id": "createBlog",
    "tool": "createBlog",
    "inputs": {"authorId": "{{createAuthor._id}}", "title": "Hello", "content": "about world"},
    "dependsOn": "createAuthor",
}
EVERY_OUTPUT = {"createAuthor": "{{ createAuthor }}", "createBlog": "{{ createBlog }}"}


async def outputs(tp: Toolpath, plan: dict[str, Any]) -> Any:
    result = await tp.run(tp.read(plan))
    assert result.status == "completed", result.error
    return result.outputs


async def test_overview_the_output_of_one_tool_is_the_input_of_the_next(tp: Toolpath, blogging: Blogging) -> None:
    found = await outputs(tp, chaining(CREATE_AUTHOR, CREATE_BLOG, outputs=EVERY_OUTPUT))
    assert blogging.blog.calls == [{"authorId": AUTHOR["_id"], "title": "Hello", "content": "about world"}]
    assert found["createAuthor"]["_id"] == "507f1f77bcf86cd799439011"
    assert found["createBlog"]["_id"] == "507f1f77bcf86cd799439012"


async def test_request_and_plan_ids_a_run_has_an_id_of_prefix_time_and_chance(tp: Toolpath) -> None:
    result = await tp.run(tp.read(chaining(CREATE_AUTHOR)))
    assert re.fullmatch(r"run_1700000000\d{3}_[0-9a-z]{9}", result.run_id)
    assert (await tp.result(result.run_id)).status == "completed"


async def test_tool_selection_what_the_model_wrote_is_a_plan(tp: Toolpath, blogging: Blogging) -> None:
    """The answer of the document's model, with `name`, `parameters`, `dependsOn: null`, as steps."""
    plan = {
        "steps": [
            {"tool": "createAuthor", "parameters": {"name": "Alice", "email": "alice@test.com"}, "dependsOn": None},
            {
                "tool": "createBlog",
                "parameters": {"authorId": "{{createAuthor._id}}", "title": "Hello", "content": "about world"},
                "dependsOn": "createAuthor",
            },
        ]
    }
    assert (await tp.run(tp.read(plan))).success
    assert blogging.blog.calls[0]["authorId"] == AUTHOR["_id"]


async def test_execution_order_is_topological_whatever_order_the_steps_are_written_in(tp: Toolpath) -> None:
    result = await tp.run(tp.read(chaining(CREATE_BLOG, CREATE_AUTHOR)))
    started = [event.path for event in await tp.events(result.run_id) if isinstance(event, ev.StepStarted)]
    assert started == ["createAuthor", "createBlog"]


async def test_template_resolution_the_journal_shows_what_was_sent(tp: Toolpath) -> None:
    result = await tp.run(tp.read(chaining(CREATE_AUTHOR, CREATE_BLOG)))
    assert result.step("createBlog").inputs["authorId"] == "507f1f77bcf86cd799439011"


async def test_sequential_execution_each_tool_starts_after_the_one_before_has_ended(tp: Toolpath) -> None:
    result = await tp.run(tp.read(chaining(CREATE_AUTHOR, CREATE_BLOG)))
    order = [
        (type(event).__name__, event.path)
        for event in await tp.events(result.run_id)
        if isinstance(event, ev.StepStarted | ev.StepSucceeded)
    ]
    assert order == [
        ("StepStarted", "createAuthor"),
        ("StepSucceeded", "createAuthor"),
        ("StepStarted", "createBlog"),
        ("StepSucceeded", "createBlog"),
    ]


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{{createAuthor._id}}", AUTHOR["_id"]),
        ("{{ createAuthor.name }}", "Alice"),
        ("Created by {{createAuthor.name}} ({{createAuthor.email}})", "Created by Alice (alice@test.com)"),
        ("{{createAuthor['email']}}", "alice@test.com"),
    ],
)
async def test_template_syntax_fields_and_several_templates_in_one_text(
    tp: Toolpath, blogging: Blogging, template: str, value: str
) -> None:
    step = {**CREATE_BLOG, "inputs": {**CREATE_BLOG["inputs"], "content": template}}
    await outputs(tp, chaining(CREATE_AUTHOR, step))
    assert blogging.blog.calls[0]["content"] == value


async def test_template_syntax_nested_fields(tp: Toolpath) -> None:
    tp.add(scripted("deep", {"blog": {"author": {"names": ["Al", "Ice"]}}}), scripted("see", then=lambda i: i))
    plan = {
        "steps": [
            {"id": "deep", "tool": "deep"},
            {"id": "see", "tool": "see", "inputs": {"v": ["{{ deep.blog.author.names[1] }}"]}},
        ]
    }
    assert await outputs(tp, plan) == {"see": {"v": ["Ice"]}}


async def test_deep_chaining_author_blog_comment(tp: Toolpath, blogging: Blogging) -> None:
    comment = {
        "id": "createComment",
        "tool": "createComment",
        "inputs": {"blogId": "{{createBlog._id}}", "content": "Nice, {{ createAuthor.name }}"},
    }
    await outputs(tp, chaining(CREATE_AUTHOR, CREATE_BLOG, comment))
    assert blogging.comment.calls == [{"blogId": BLOG["_id"], "content": "Nice, Alice"}]


async def test_parallel_execution_alice_and_bob_are_created_at_once(blogging: Blogging) -> None:
    clock = FakeClock(auto=True)

    async def slow(inputs: dict[str, Any]) -> dict[str, Any]:
        await clock.sleep(3)
        return {"_id": inputs["name"].lower()}

    async with Toolpath(clock=clock, settings=Settings()) as door:
        door.add(scripted("blog.createAuthor", then=slow, effect="write"), blogging.blog)
        authors = [{"tool": "createAuthor", "id": name, "inputs": {"name": name}} for name in ("Alice", "Bob")]
        blogs = [
            {
                "id": f"by_{name}",
                "tool": "createBlog",
                "inputs": {"title": "t", "content": "c", "authorId": f"{{{{ {name}._id }}}}"},
            }
            for name in ("Alice", "Bob")
        ]
        result = await door.run(door.read({"steps": [*authors, *blogs]}))
    assert result.status == "completed"
    assert result.total_duration == pytest.approx(3)
    assert sorted(call["authorId"] for call in blogging.blog.calls) == ["alice", "bob"]


@pytest.mark.parametrize(("blog_fails", "comments"), [(False, 1), (True, 0)])
async def test_conditional_execution_a_comment_only_if_there_is_a_blog(
    tp: Toolpath, blogging: Blogging, blog_fails: bool, comments: int
) -> None:
    if blog_fails:
        tp.add(scripted("blog.createBlog", then=ValueError("no"), effect="write"))
    blog = {**CREATE_BLOG, "on_failure": {"action": "continue"}}
    comment = {
        "id": "createComment",
        "tool": "createComment",
        "when": "{{ createBlog }}",
        "inputs": {"blogId": "{{ createBlog._id }}", "content": "first"},
    }
    result = await tp.run(tp.read(chaining(CREATE_AUTHOR, blog, comment)))
    assert result.success
    assert len(blogging.comment.calls) == comments


async def failing(tp: Toolpath) -> RunResult:
    tp.add(scripted("blog.createAuthor", then=ValueError("duplicate e-mail"), effect="write"))
    comment = {
        "id": "createComment",
        "tool": "createComment",
        "inputs": {"blogId": "{{createBlog._id}}", "content": "x"},
    }
    return await tp.run(tp.read(chaining(CREATE_AUTHOR, CREATE_BLOG, comment)))


async def test_tool_failure_execution_stops_the_error_is_kept_the_state_is_failed_and_no_more_tools_run(
    tp: Toolpath, blogging: Blogging
) -> None:
    result = await failing(tp)
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.message == "duplicate e-mail"
    assert (await tp.store.get_run(result.run_id)).status == "failed"
    assert blogging.blog.calls == blogging.comment.calls == []
    counts = [step.status for step in result.results]
    assert (counts.count("failed"), counts.count("skipped"), counts.count("succeeded")) == (1, 2, 0)


async def test_template_failure_the_original_is_used_with_a_warning_and_execution_goes_on(
    tp: Toolpath, blogging: Blogging
) -> None:
    step = {**CREATE_BLOG, "inputs": {**CREATE_BLOG["inputs"], "content": "{{createAuthor.nickname}}"}}
    result = await tp.run(tp.read(chaining(CREATE_AUTHOR, step)))
    assert result.status == "completed"
    assert blogging.blog.calls[0]["content"] == "{{createAuthor.nickname}}"
    assert [warning.code for warning in result.warnings] == ["unresolved"]


async def test_a_cycle_is_refused_with_the_document_s_words_and_nothing_runs(tp: Toolpath, blogging: Blogging) -> None:
    cyclic = {**CREATE_AUTHOR, "dependsOn": "createBlog"}
    with pytest.raises(PlanInvalid, match="Circular dependency detected between tools"):
        await tp.run(tp.read(chaining(cyclic, CREATE_BLOG)))
    assert blogging.author.calls == []
    assert await tp.runs() == []


async def test_best_practices_required_parameters_are_checked_before_anything_runs(
    tp: Toolpath, blogging: Blogging
) -> None:
    step = {**CREATE_BLOG, "inputs": {"authorId": "{{createAuthor._id}}", "title": "Hello"}}
    with pytest.raises(PlanInvalid, match="content"):
        await tp.run(tp.read(chaining(CREATE_AUTHOR, step)))
    assert blogging.author.calls == []


async def test_best_practices_a_template_alone_is_a_dependency(tp: Toolpath) -> None:
    step = {key: value for key, value in CREATE_BLOG.items() if key != "dependsOn"}
    assert await outputs(tp, chaining(step, CREATE_AUTHOR))


@pytest.mark.parametrize("value", [0, "", False, None, [], {}])
async def test_resolve_parameters_values_that_are_empty_pass_unchanged(tp: Toolpath, value: Any) -> None:
    """The document's resolver kept the template where the value was falsy."""
    tp.add(scripted("give", {"v": value}), see := scripted("see", then={}))
    await outputs(tp, {"steps": [{"id": "a", "tool": "give"}, {"tool": "see", "inputs": {"v": "{{a.v}}"}}]})
    assert see.calls == [{"v": value}]
