"""Planning what is unfinished after a run that failed."""

from __future__ import annotations

import pytest
from tests.planner.planning_cases import (
    ALICE,
    CREATE_AUTHOR,
    CREATE_BLOG,
    HELLO,
    REQUEST,
    answer,
    catalog_of,
    ground,
    reading,
)

from toolpath.app import Toolpath
from toolpath.catalog.snapshot import Catalog
from toolpath.checks.check import check
from toolpath.errors import PlanningFailed, ToolFailed
from toolpath.model.events import Failure
from toolpath.model.plan import Block, Call, Loop, Origin, Plan
from toolpath.model.run import StepResult
from toolpath.planner.records import PlannerOptions, PlanRequest
from toolpath.planner.replan import replan, replan_request
from toolpath.testing.scripted import scripted
from toolpath.testing.scripted_chat import ScriptedChat
from toolpath.values import decode

WRITE = reading("other.writePost", "authorId", "text", effect="write", description="Write a post.")
CATALOG = catalog_of(CREATE_AUTHOR, CREATE_BLOG, WRITE)
AUTHOR = Call(id="author", tool="blog.createAuthor", inputs={"name": "Alice", "email": "alice@test.com"})
POST = Call(id="post", tool="blog.createBlog", inputs={**HELLO["inputs"]})
PLAN = Plan(steps=(AUTHOR, POST), origin=Origin(request=REQUEST))
DONE = StepResult(step="author", path="author", status="succeeded", inputs=AUTHOR.inputs, output={"_id": "a1"})


def failed(**fields: object) -> StepResult:
    error = Failure(type="ToolFailed", message="The blog is full.", **fields)  # type: ignore[arg-type]
    return StepResult(step="post", path="post", status="failed", error=error)


ELSEWHERE = {"id": "post2", "tool": "other.writePost", "inputs": {"authorId": "{{ author._id }}", "text": "Hello"}}


async def test_what_is_done_stays_and_only_the_rest_is_planned() -> None:
    chat = ScriptedChat(answer(ELSEWHERE))
    found = await replan(PLAN, [DONE, failed()], ground(chat, CATALOG))
    assert found.planned.plan.steps[0] == AUTHOR
    assert [step.id for step in found.planned.plan.steps] == ["author", "post2"]
    assert found.kept == ("author",)
    assert not [one for one in check(found.planned.plan, CATALOG) if one.severity == "error"]
    told = decode(chat.requests[0].messages[0].text)
    assert told["known"]["finished"] == [{"id": "author", "tool": "blog.createAuthor", "output": {"_id": "a1"}}]
    assert told["known"]["failed"][0]["error"] == "The blog is full."


async def test_a_step_that_is_done_is_never_written_anew() -> None:
    again = {**ALICE, "inputs": {"name": "Mallory", "email": "m@test.com"}}
    found = await replan(PLAN, [DONE, failed()], ground(ScriptedChat(answer(again, ELSEWHERE)), CATALOG))
    assert found.planned.plan.steps[0] == AUTHOR


async def test_replanning_is_bounded() -> None:
    with pytest.raises(PlanningFailed, match="replanned 2 times"):
        await replan(PLAN, [DONE, failed()], ground(ScriptedChat(), CATALOG), replans=2)


async def ready_made(request: PlanRequest, catalog: Catalog) -> Plan:
    return PLAN


async def test_a_model_that_fails_makes_no_plan() -> None:
    chat = ScriptedChat(then="no plan")
    with pytest.raises(PlanningFailed):
        await replan(PLAN, [DONE, failed()], ground(chat, CATALOG, offline=ready_made))
    assert len(chat.requests) == PlannerOptions().max_repairs + 1


async def test_a_write_that_may_have_happened_waits_for_consent() -> None:
    same = {**HELLO, "id": "again"}
    found = await replan(PLAN, [DONE, failed(in_doubt=True)], ground(ScriptedChat(answer(same)), CATALOG))
    assert found.in_doubt == ("post",)
    assert [step.requires_approval for step in found.planned.plan.steps] == [False, True]


def test_a_kept_step_that_waited_for_what_is_gone_holds_its_values() -> None:
    report = Call(id="report", tool="other.writePost", inputs={"authorId": "x", "text": "{{ steps.post.status }}"})
    plan = Plan(steps=(POST, report), origin=Origin(request=REQUEST))
    inputs = {"authorId": "x", "text": "{{ failed"}
    done = StepResult(step="report", path="report", status="succeeded", inputs=inputs, output={})
    request = replan_request(plan, [failed(), done], CATALOG)
    assert request.kept == (
        Call(id="report", tool="other.writePost", inputs={"authorId": "x", "text": "{{ '{{' }} failed"}),
    )


def test_large_outputs_are_shown_in_part() -> None:
    big = StepResult(step="author", path="author", status="succeeded", inputs={}, output={"_id": "x" * 1_000_000})
    request = replan_request(PLAN, [big, failed()], CATALOG)
    assert len(str(request.context)) < 5_000


async def test_after_a_real_run_the_results_serve_as_they_are() -> None:
    async with Toolpath() as tp:
        tp.add(
            scripted("blog.createAuthor", {"_id": "a1"}, effect="write"),
            scripted("blog.createBlog", ToolFailed("Full."), effect="write"),
            scripted("other.writePost", effect="write"),
        )
        result = await tp.run(PLAN)
        assert not result.success
        chat = ScriptedChat(answer(ELSEWHERE))
        found = await replan(PLAN, result.results, ground(chat, tp.registry.snapshot()))
    assert found.kept == ("author",)
    assert "Full." in chat.requests[0].messages[0].text


def test_a_loop_that_failed_is_not_done_because_an_item_of_it_is() -> None:
    plan = Plan(steps=(Loop(id="all", over=[1, 2], body=Block(steps=(POST,))),), origin=Origin(request=REQUEST))
    error = Failure(type="ToolFailed", message="The blog is full.")
    results = [
        StepResult(step="all", path="all", status="failed", error=error),
        StepResult(step="all", path="all[0]", status="succeeded", output={"_id": "p1"}),
    ]
    request = replan_request(plan, results, CATALOG)
    assert request.kept == ()
    assert request.context["failed"] == [{"id": "all", "tool": "", "error": "The blog is full.", "code": "tool_failed"}]
