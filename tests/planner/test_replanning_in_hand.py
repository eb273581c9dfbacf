"""While a failed run is planned anew it is in hand: a cancel reaches it, and nobody else takes it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.planner.replanning_cases import ALICE, ELSEWHERE, HELLO, REQUEST, Blog, answer
from tests.workers.worker_cases import Ground, queue_name

from toolpath import Toolpath
from toolpath.errors import PlanningFailed, RunConflict, ToolFailed
from toolpath.model.chat import ChatReply, ChatRequest
from toolpath.model.events import PlanRevised, RunAuthorized, RunCancelled, RunFailed, RunResumed
from toolpath.model.run import RunContext, RunResult
from toolpath.planner.replan import Replanning
from toolpath.ports import Authority
from toolpath.runs.intent import REPLANNING, Intent
from toolpath.testing.scripted_chat import ScriptedChat

#: By whose word, and by which plan, a run goes on.
Word = RunAuthorized | PlanRevised
FREELY = Replanning(new_writes=True)


class Thinking(ScriptedChat):
    """Answers the first request at once; each later one when it is let go."""

    def __init__(self, *replies: Any) -> None:
        super().__init__(*replies)
        self.asked, self.let_go = asyncio.Event(), asyncio.Event()

    async def __call__(self, request: ChatRequest) -> ChatReply:
        if self.requests:
            self.asked.set()
            await self.let_go.wait()
        return await super().__call__(request)


@asynccontextmanager
async def failing(store: Any, chat: ScriptedChat, blog: Blog) -> AsyncIterator[Toolpath]:
    async with Toolpath(store, chat=chat) as tp:
        tp.add(*blog.tools)
        yield tp


async def test_a_cancel_from_another_door_reaches_a_run_that_plans_itself_anew(tmp_path: Path) -> None:
    is_full = [True]

    def post(_: object) -> dict[str, str]:
        if is_full.pop():
            raise ToolFailed("The blog is full.")
        return {"_id": "b1"}

    chat, blog, store = Thinking(answer(ALICE, HELLO)), Blog(fails=post), tmp_path / "runs.db"
    async with failing(store, chat, blog) as tp, failing(store, chat, blog) as other:
        run = await tp.start(await tp.plan(REQUEST), replan=FREELY)
        await chat.asked.wait()
        assert (await other.store.get_run(run.id)).status == "running"
        with pytest.raises(RunConflict, match="is running"):
            await other.retry(run.id)
        with pytest.raises(RunConflict, match="drives the run"):
            await other.resume(run.id)
        await other.cancel(run.id, reason="enough")
        result = await run.result()
        info = await other.store.get_run(run.id)
        assert [(one.status, one.reason) for one in (result, info)] == [("cancelled", "enough")] * 2
        assert (info.driver, await other.store.take_signals(run.id)) == ("", [])
        assert isinstance((await tp.events(run.id))[-1], RunCancelled)
        assert [len(tool.calls) for tool in blog.tools] == [1, 1, 0]
        # It is a run like any other that was cancelled.
        is_full.append(False)
        assert (await (await other.retry(run.id)).result()).status == "completed"


@pytest.mark.parametrize("how", ["run", "replan"])
async def test_a_cancel_through_the_same_door_reaches_a_run_that_is_planned_anew(how: str) -> None:
    chat, blog = Thinking(answer(ALICE, HELLO), answer(ALICE, ELSEWHERE)), Blog()
    async with failing(None, chat, blog) as tp:
        plan = await tp.plan(REQUEST)

        async def replanned() -> RunResult:
            if how == "run":
                return await tp.run(plan, replan=FREELY)
            failed = await tp.run(plan)
            return await (await tp.replan(failed.run_id, limits=FREELY)).result()

        running = asyncio.create_task(replanned())
        await chat.asked.wait()
        (info,) = await tp.runs()
        await tp.cancel(info.run_id)
        result = await running
        assert (result.status, len(blog.other.calls)) == ("cancelled", 0)
        assert (await tp.runs())[0].status == "cancelled"


async def test_a_run_that_could_not_be_planned_anew_is_as_it_was() -> None:
    chat, blog = ScriptedChat(answer(ALICE, HELLO), *["No."] * 3), Blog()
    async with failing(None, chat, blog) as tp:
        failed = await tp.run(await tp.plan(REQUEST))
        before = await tp.store.get_run(failed.run_id)
        with pytest.raises(PlanningFailed):
            await tp.replan(failed.run_id)
        after = await tp.store.get_run(failed.run_id)
        assert (after.status, after.reason, after.ended_at, after.driver, after.last_seq) == (
            before.status,
            before.reason,
            before.ended_at,
            "",
            before.last_seq,
        )


async def test_of_two_who_have_a_run_planned_anew_one_does() -> None:
    chat, blog = Thinking(answer(ALICE, HELLO), answer(ALICE, ELSEWHERE)), Blog()
    async with failing(None, chat, blog) as tp:
        failed = await tp.run(await tp.plan(REQUEST))
        first = asyncio.create_task(tp.replan(failed.run_id, limits=FREELY))
        await chat.asked.wait()
        with pytest.raises(RunConflict, match="is running"):
            await tp.replan(failed.run_id)
        chat.let_go.set()
        assert (await (await first).result()).success
        assert len(blog.other.calls) == 1


async def test_a_run_whose_process_died_while_it_was_planned_anew_is_planned_by_the_next(tmp_path: Path) -> None:
    blog, store = Blog(), tmp_path / "runs.db"
    chat = Thinking(answer(ALICE, HELLO))
    async with failing(store, chat, blog) as tp:
        run = await tp.start(await tp.plan(REQUEST), replan=FREELY)
        await chat.asked.wait()
    async with failing(store, ScriptedChat(answer(ELSEWHERE)), blog) as tp:
        result = await (await tp.resume(run.id)).result()
        assert (result.status, result.outputs) == ("completed", {"post2": {"_id": "p1"}})
        assert [len(tool.calls) for tool in blog.tools] == [1, 1, 1]


async def test_whoever_s_word_it_was_to_replan_is_kept_where_the_process_died(tmp_path: Path) -> None:
    blog, store = Blog(), tmp_path / "runs.db"
    bob = Authority(("blog:write",), "bob")
    chat = Thinking(answer(ALICE, HELLO))
    async with failing(store, chat, blog) as tp:
        context = RunContext("ann", permissions=("*",))
        run = await tp.start(await tp.plan(REQUEST), context=context, replan=FREELY)
        await chat.asked.wait()
    async with failing(store, ScriptedChat(answer(ELSEWHERE)), blog) as tp:
        change = Intent(REPLANNING, bob).taking()
        await tp.store.drive(run.id, "elsewhere:9:a", change=change)
        assert (await (await tp.resume(run.id, force=True)).result()).status == "completed"
        events = await tp.events(run.id)
    said = [event.by if isinstance(event, RunAuthorized) else "plan" for event in events if isinstance(event, Word)]
    assert said == ["bob", "plan"]


async def test_with_a_queue_a_worker_goes_on_with_the_other_plan(tmp_path: Path) -> None:
    blog = Blog()
    async with queue_name() as name:
        ground = Ground(str(tmp_path / "runs.db"), name, blog.tools)
        async with failing(ground.store, ScriptedChat(answer(ALICE, HELLO)), blog) as alone:
            failed = await alone.run(await alone.plan(REQUEST))
        queue = ground.queue()
        async with Toolpath(ground.store, chat=ScriptedChat(answer(ELSEWHERE)), queue=queue) as door:
            door.add(*blog.tools)
            run = await door.replan(failed.run_id, limits=FREELY)
            info = await door.store.get_run(run.id)
            assert (info.status, info.driver, len(blog.other.calls)) == ("running", "", 0)
            async with ground.worker():
                assert (await run.result()).success
            kinds = [type(event) for event in await door.events(run.id)]
    assert kinds.index(RunFailed) < kinds.index(PlanRevised) < kinds.index(RunResumed)
    assert [len(tool.calls) for tool in blog.tools] == [1, 1, 1]
