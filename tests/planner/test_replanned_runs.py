"""Runs that fail and are planned anew: what is finished stays, the rest goes another way, in the same run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.planner.planning_cases import schema
from tests.planner.replanning_cases import ALICE, ELSEWHERE, HELLO, REQUEST, Blog, modelled, said

from toolpath import Settings, Toolpath
from toolpath.errors import NoToolFits, PlanningFailed, RunConflict, ToolFailed
from toolpath.model.events import PlanRevised, RunFailed, RunResumed, RunStarted, StepStarted, Warned
from toolpath.model.plan import Budget, Call, Plan, Retry
from toolpath.model.tool import Tool
from toolpath.planner.replan import Replanning
from toolpath.testing.scripted import scripted

FREELY = Replanning(new_writes=True)


async def of_kind(tp: Toolpath, run_id: str, kind: type[Any]) -> list[Any]:
    return [event for event in await tp.events(run_id) if isinstance(event, kind)]


async def test_what_failed_goes_another_way_in_the_same_run_and_nothing_finished_is_called_again() -> None:
    blog = Blog()
    async with modelled(said(ALICE, HELLO), said(ALICE, ELSEWHERE), tools=blog.tools) as (tp, server):
        plan = await tp.plan(REQUEST)
        result = await tp.run(plan, replan=FREELY)
        assert (result.status, result.outputs) == ("completed", {"post2": {"_id": "p1"}})
        assert [len(tool.calls) for tool in blog.tools] == [1, 1, 1]
        assert blog.other.calls == [{"authorId": "a1", "text": "Hello about world"}]
        (revised,) = await of_kind(tp, result.run_id, PlanRevised)
        assert (revised.kept, revised.planner) == (("author",), "model")
        assert revised.tokens > 0
        assert "full" in revised.reason
        assert "The blog is full." in server.requests[1].text
        assert [step.status for step in result.results] == ["succeeded", "failed", "succeeded"]
        assert len(await tp.runs()) == 1


async def test_without_leave_a_run_that_fails_stays_failed() -> None:
    blog = Blog()
    async with modelled(said(ALICE, HELLO), tools=blog.tools) as (tp, server):
        result = await tp.run(await tp.plan(REQUEST))
        assert result.status == "failed"
        assert len(server.requests) == 1


async def test_the_setting_gives_leave_and_the_caller_can_withhold_it() -> None:
    blog = Blog(other_effect="read")
    answers = (said(ALICE, HELLO), said(ALICE, ELSEWHERE), said(ALICE, HELLO))
    async with modelled(*answers, tools=blog.tools, max_replans=1) as (tp, server):
        plan = await tp.plan(REQUEST)
        assert (await tp.run(plan)).success
        assert not (await tp.run(plan, replan=0)).success
        assert len(server.requests) == 2


async def test_a_tool_that_writes_and_that_nobody_has_seen_waits_for_consent() -> None:
    blog = Blog()
    async with modelled(said(ALICE, HELLO), said(ALICE, ELSEWHERE), tools=blog.tools) as (tp, _):
        result = await tp.run(await tp.plan(REQUEST), replan=1)
        assert (result.status, blog.other.calls) == ("waiting", [])
        (question,) = result.questions
        assert question.tool == "other.writePost"
        assert (await (await tp.approve(result.run_id)).result()).success


async def test_replanning_is_bounded_by_count() -> None:
    blog = Blog()
    answers = (said(ALICE, HELLO), said({**HELLO, "id": "again"}), said({**HELLO, "id": "third"}))
    async with modelled(*answers, tools=blog.tools) as (tp, server):
        result = await tp.run(await tp.plan(REQUEST), replan=2)
        assert result.status == "failed"
        assert [len(tool.calls) for tool in blog.tools] == [1, 3, 0]
        assert len(await of_kind(tp, result.run_id, PlanRevised)) == 2
        assert len(server.requests) == 3


@pytest.mark.parametrize("limits", [Replanning(max_tokens=1), Replanning(max_cost=0.0), Replanning(timeout=0.0)])
async def test_replanning_is_bounded_by_tokens_money_and_time(limits: Replanning) -> None:
    blog = Blog()
    async with modelled(said(ALICE, HELLO), said(HELLO), said(HELLO), tools=blog.tools) as (tp, server):
        result = await tp.run(await tp.plan(REQUEST), replan=limits)
        assert result.status == "failed"
        assert len(server.requests) <= 2
        assert "not planned anew" in (await of_kind(tp, result.run_id, Warned))[-1].message


async def test_a_model_that_gives_no_plan_leaves_the_run_failed_and_says_why() -> None:
    blog = Blog()
    answers = (said(ALICE, HELLO), *["I would rather not."] * 3)
    async with modelled(*answers, tools=(blog.author, blog.post)) as (tp, _):
        result = await tp.run(await tp.plan(REQUEST), replan=1)
        assert result.status == "failed"
        assert "full" in result.error.message
        (warning,) = await of_kind(tp, result.run_id, Warned)
        assert warning.code == "not_replanned"


@pytest.mark.parametrize("why", ["denied", "budget"])
async def test_no_way_is_looked_for_around_what_a_person_or_a_limit_forbids(why: str) -> None:
    blog = Blog()
    async with modelled(said(ALICE, HELLO), tools=blog.tools) as (tp, server):
        plan = await tp.plan(REQUEST)
        if why == "budget":
            result = await tp.run(plan, replan=1, context=tp.context(budget=Budget(calls=1)))
        else:
            careful = tp.read({"steps": [{**ALICE, "requires_approval": True}], "origin": {"request": REQUEST}})
            result = await tp.run(careful, replan=1)
            result = await (await tp.deny(result.run_id)).result()
        assert result.status == "failed"
        assert len(server.requests) == 1


async def test_limits_of_the_plan_hold_for_the_one_that_takes_its_place() -> None:
    blog = Blog()
    async with modelled(said(ALICE, HELLO), said(ELSEWHERE), tools=blog.tools) as (tp, _):
        plan = await tp.plan(REQUEST)
        plan = Plan(steps=plan.steps, origin=plan.origin, budget=Budget(calls=2))
        result = await tp.run(plan, replan=FREELY)
        assert (result.status, len(blog.other.calls)) == ("failed", 0)
        assert result.error.code == "budget"


async def test_a_replanned_run_is_left_and_taken_up_like_any_other(tmp_path: Path) -> None:
    blog, store = Blog(), tmp_path / "runs.db"
    async with modelled(said(ALICE, HELLO), said(ELSEWHERE), tools=blog.tools, store=store) as (tp, _):
        result = await tp.run(await tp.plan(REQUEST), replan=1)
        assert result.status == "waiting"
    async with Toolpath(store) as later:
        later.add(*blog.tools)
        done = await (await later.approve(result.run_id)).result()
        assert (done.status, done.outputs) == ("completed", {"post2": {"_id": "p1"}})
        assert [len(tool.calls) for tool in blog.tools] == [1, 1, 1]
        fork = await later.fork(result.run_id, from_step="post2", repeat_writes=True)
        assert (await fork.result()).status == "waiting"
        fork = await (await later.approve(fork.id)).result()
        assert fork.outputs == done.outputs
        assert [len(tool.calls) for tool in blog.tools] == [1, 1, 2]


async def test_a_failed_run_can_be_planned_anew_later_by_hand() -> None:
    blog = Blog()
    async with modelled(said(ALICE, HELLO), said(ELSEWHERE), tools=blog.tools) as (tp, _):
        result = await tp.run(await tp.plan(REQUEST))
        run = await tp.replan(result.run_id, limits=FREELY)
        assert run.id == result.run_id
        assert (await run.result()).success
        with pytest.raises(RunConflict, match="only one that failed"):
            await tp.replan(result.run_id)
        kinds = [type(event) for event in await tp.events(result.run_id)]
        assert kinds.index(RunFailed) < kinds.index(PlanRevised) < kinds.index(RunResumed)


async def test_the_leave_is_in_the_journal_so_that_whoever_drives_the_run_has_it(tmp_path: Path) -> None:
    blog, store = Blog(), tmp_path / "runs.db"
    gated = {**ALICE, "requires_approval": True}
    async with modelled(said(), tools=blog.tools, store=store) as (tp, _):
        plan = tp.read({"steps": [gated, HELLO], "origin": {"request": REQUEST}})
        result = await tp.run(plan, replan=FREELY)
        assert result.status == "waiting"
        (started,) = await of_kind(tp, result.run_id, RunStarted)
        assert started.replan["times"] == 2
    async with modelled(said(ELSEWHERE), tools=blog.tools, store=store) as (tp, _):
        assert (await (await tp.approve(result.run_id)).result()).success
        assert [len(tool.calls) for tool in blog.tools] == [1, 1, 1]


async def test_a_write_in_doubt_is_not_repeated_without_a_person() -> None:
    post = schema("authorId", "title", "content")
    doubt = scripted("blog.createBlog", TimeoutError("gone"), {"_id": "b"}, effect="write", input_schema=post)
    answers = (said(ALICE, HELLO), said({**HELLO, "id": "again"}))
    async with modelled(*answers, tools=(Blog().author, doubt)) as (tp, _):
        result = await tp.run(await tp.plan(REQUEST), replan=FREELY)
        assert (result.status, len(doubt.calls)) == ("waiting", 1)


# Without a model.

SAY = "Create author Alice with email alice@test.com, then create a weather report of city Berlin"


def weather(name: str, *replies: Any, **fields: Any) -> Any:
    return scripted(
        name,
        *replies,
        effect="read",
        description="The weather report of a city.",
        input_schema=schema("city"),
        retry=Retry(max_retries=0),
        **fields,
    )


async def test_rules_take_another_tool_for_the_one_that_failed() -> None:
    blog = Blog()
    broken = weather("meteo.weatherReport", ToolFailed("Closed."))
    other = weather("sky.cityWeather", {"sky": "blue"})
    async with Toolpath(settings=Settings()) as tp:
        tp.add(blog.author, broken, other)
        plan = await tp.plan(SAY, tools=["blog.createAuthor", "meteo.weatherReport"])
        result = await tp.run(plan, replan=1)
        assert result.success, result.error
        assert [len(tool.calls) for tool in (blog.author, broken, other)] == [1, 1, 1]
        assert other.calls == [{"city": "Berlin"}]
        (revised,) = await of_kind(tp, result.run_id, PlanRevised)
        assert (revised.planner, revised.tokens, len(revised.kept)) == ("offline", 0, 1)


async def test_rules_say_where_there_is_no_other_way() -> None:
    broken = weather("meteo.weatherReport", ToolFailed("Closed."))
    async with Toolpath(settings=Settings()) as tp:
        tp.add(broken)
        result = await tp.run(await tp.plan("The weather report of city Berlin"), replan=2)
        assert (result.status, len(broken.calls)) == ("failed", 1)
        (warning,) = await of_kind(tp, result.run_id, Warned)
        assert "No other tool" in warning.message
        with pytest.raises((PlanningFailed, NoToolFits)):
            await tp.replan(result.run_id)


async def test_a_plan_that_came_from_no_request_is_not_planned_anew_by_rules() -> None:
    broken = weather("meteo.weatherReport", ToolFailed("Closed."))
    async with Toolpath(settings=Settings()) as tp:
        tp.add(broken)
        plan = tp.read({"steps": [{"id": "w", "tool": "meteo.weatherReport", "inputs": {"city": "Berlin"}}]})
        result = await tp.run(plan, replan=2)
        assert result.status == "failed"
        assert "no request" in (await of_kind(tp, result.run_id, Warned))[0].message


async def test_a_fork_keeps_a_step_that_a_composite_had_done_as_its_fallback_before_another_plan() -> None:
    blog, person = Blog(), schema("name", "email")
    broken = scripted("old.createAuthor", then=ToolFailed("Gone."), effect="read", input_schema=person)
    given = {"name": "{{ inputs.name }}", "email": "{{ inputs.email }}"}
    inner = Plan(inputs=person, steps=(Call(id="inner", tool=ALICE["tool"], inputs=given),), outputs="{{ inner }}")
    composite = Tool(name="byHand", group="old", input_schema=person, effect="write", body=inner)
    async with modelled(said(ELSEWHERE), tools=(*blog.tools, broken, composite)) as (tp, _):
        author = {**ALICE, "tool": "old.createAuthor", "fallback": {"tool": "old.byHand", "inputs": ALICE["inputs"]}}
        plan = tp.read({"flow": "chain", "steps": [author, HELLO], "origin": {"request": REQUEST}})
        result = await tp.run(plan, replan=FREELY)
        fork = await (await tp.fork(result.run_id, from_step="post2", repeat_writes=True)).result()
        assert (fork.status, fork.outputs) == ("completed", result.outputs)
        assert [len(tool.calls) for tool in (*blog.tools, broken)] == [1, 1, 2, 1]


async def test_a_fork_keeps_what_a_chain_did_more_than_once_before_a_graph_took_its_place() -> None:
    blog = Blog()
    check = scripted("blog.check", ToolFailed("Once more."), {"ok": True}, effect="read")
    again = {"id": "check", "tool": "blog.check", "inputs": {}, "on_failure": {"next": "author"}}
    async with modelled(said(ELSEWHERE), tools=(*blog.tools, check)) as (tp, _):
        steps = [ALICE, {**again, "on_success": {"next": "post"}}, HELLO]
        plan = tp.read({"flow": "chain", "steps": steps, "origin": {"request": REQUEST}})
        result = await tp.run(plan, replan=FREELY)
        assert len(blog.author.calls) == 2
        fork = await (await tp.fork(result.run_id, from_step="post2", repeat_writes=True)).result()
        assert (fork.status, fork.outputs) == ("completed", result.outputs)
        assert len(blog.author.calls) == 2


async def test_items_of_another_plans_loop_have_idempotency_keys_of_their_own() -> None:
    blog = Blog()
    answers = ({"_id": "a1"}, ToolFailed("Full."), {"_id": "a3"})
    blog.author = scripted("blog.createAuthor", *answers, effect="write", input_schema=schema("name"))

    def loop(*names: str) -> dict[str, Any]:
        call = {"id": "one", "tool": "blog.createAuthor", "inputs": {"name": "{{ author }}"}}
        return {"id": "authors", "loop": {"over": list(names), "as": "author", "steps": [call]}}

    async with modelled(said(loop("Carol")), tools=blog.tools) as (tp, _):
        plan = tp.read({"steps": [loop("Alice", "Bob")], "origin": {"request": "Create author Carol"}})
        result = await tp.run(plan, replan=FREELY)
        assert result.status == "completed"
        keys = {event.inputs["name"]: event.key for event in await of_kind(tp, result.run_id, StepStarted) if event.key}
        assert list(keys) == ["Alice", "Bob", "Carol"]
        assert len(set(keys.values())) == 3
