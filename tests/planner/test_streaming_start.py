"""Runs that begin while a real client still reads the plan, piece by piece, from a server that takes its time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE
from tests.planner.planning_cases import answer, schema

from toolpath import Settings, Toolpath
from toolpath.errors import NoToolFits, PlanInvalid, PlanningFailed, ToolFailed
from toolpath.llm.chat import ChatLimits, ModelChat
from toolpath.llm.choice import ModelChoice
from toolpath.model.events import StepStarted, StepSucceeded
from toolpath.model.model_providers import Api
from toolpath.testing.model_replies import Breaks, Reply, Says
from toolpath.testing.model_server import ModelServer
from toolpath.testing.scripted import scripted
from toolpath.values import encode

REQUEST = "Search the web for cats, fetch the page and save its text"
#: Without an act that the plans below leave out.
READS = "Search the web for cats and fetch the page"
FIND = {"id": "find", "tool": "web.search", "inputs": {"query": "cats"}}
BIRDS = {"id": "birds", "tool": "web.search", "inputs": {"query": "cats of the web"}}
PAGE = {"id": "page", "tool": "web.fetch", "inputs": {"url": "{{ find.url }}"}}
SAVE = {"id": "save", "tool": "files.save", "inputs": {"text": "{{ page.text }}"}}


class Web:
    """Tools that tell when they are called."""

    def __init__(self) -> None:
        self.called = {name: asyncio.Event() for name in ("search", "fetch", "save")}
        self.hold = asyncio.Event()
        self.hold.set()
        self.search = self._tool("web.search", {"url": "u1"}, "query", effect="read")
        self.fetch = self._tool("web.fetch", {"text": "meow"}, "url", effect="read")
        self.save = self._tool("files.save", {"saved": True}, "text", effect="write")

    def _tool(self, key: str, output: Any, *names: str, effect: str) -> Any:
        async def reply(_inputs: Any) -> Any:
            self.called[key.rpartition(".")[2]].set()
            await self.hold.wait()
            return output

        kind = {name: {"type": "string"} for name in output} if "saved" not in output else {}
        output_schema = {"type": "object", "properties": kind} if kind else None
        return scripted(key, then=reply, effect=effect, input_schema=schema(*names), output_schema=output_schema)

    @property
    def counts(self) -> list[int]:
        return [len(tool.calls) for tool in (self.search, self.fetch, self.save)]


def slowly(*steps: dict[str, Any], pause: float = 0.002) -> Says:
    return Says(text=encode(answer(*steps)).decode(), piece=4, pause=pause)


@asynccontextmanager
async def writing(web: Web, *replies: Reply | str, api: Api = "openai", store: Any = None) -> AsyncIterator[Toolpath]:
    async with ModelServer(*replies) as server:
        url = server.url if api in ("anthropic", "google") else f"{server.url}/v1"
        choice = ModelChoice(api=api, model="some-model", key="k" * 12, base_url=url)
        async with (
            ModelChat(choice, limits=ChatLimits(initial_delay=0.001)) as chat,
            Toolpath(store, chat=chat, settings=Settings()) as tp,
        ):
            tp.add(web.search, web.fetch, web.save)
            yield tp


@pytest.mark.parametrize("api", ["anthropic", "openai", "google", "ollama"])
async def test_reads_begin_before_the_plan_is_whole_and_are_made_once(api: Api) -> None:
    web = Web()
    async with writing(web, slowly(FIND, PAGE, SAVE), api=api) as tp:
        async with tp.ahead(REQUEST) as ahead:
            planning = asyncio.create_task(ahead.plan())
            await asyncio.wait_for(web.called["fetch"].wait(), PATIENCE)
            assert not planning.done()
            plan = await planning
            assert ahead.early == ("find", "page")
            assert web.counts == [1, 1, 0]
            run = await ahead.start()
            result = await run.result()
        assert (result.status, result.outputs) == ("completed", {"save": {"saved": True}})
        assert web.counts == [1, 1, 1]
        assert web.save.calls == [{"text": "meow"}]
        assert [step.id for step in plan.steps] == ["find", "page", "save"]
        assert [step.status for step in result.results] == ["succeeded"] * 3
        events = await tp.events(result.run_id)
        assert [event.path for event in events if isinstance(event, StepStarted)] == ["find", "page", "save"]
        early = [info for info in await tp.runs() if info.parent == result.run_id]
        assert sorted(info.name for info in early) == ["early find", "early page"]


async def test_what_writes_waits_for_the_whole_plan() -> None:
    web = Web()
    async with writing(web, slowly(FIND, PAGE, SAVE, BIRDS)) as tp, tp.ahead(REQUEST) as ahead:
        await ahead.plan()
        assert set(ahead.early) == {"find", "page", "birds"}
        assert web.counts[2] == 0


async def test_a_read_that_is_still_at_work_is_waited_for_by_its_step_alone() -> None:
    web = Web()
    other = {"id": "save", "tool": "files.save", "inputs": {"text": "now"}}
    async with writing(web, slowly(FIND, other)) as tp, tp.ahead("Search for cats and save the text 'now'") as ahead:
        web.hold.clear()
        await ahead.plan()
        run = await ahead.start()
        await asyncio.wait_for(web.called["save"].wait(), PATIENCE)
        web.hold.set()
        result = await run.result()
        assert (result.status, web.counts) == ("completed", [1, 0, 1])
        assert result.step("find").output == {"url": "u1"}


async def test_plan_and_run_in_one_with_and_without_a_stream() -> None:
    for stream in (False, True):
        web = Web()
        async with writing(web, slowly(FIND, PAGE, SAVE, pause=0)) as tp:
            result = await tp.plan_and_run(REQUEST, stream=stream)
            assert (result.success, web.counts) == (True, [1, 1, 1])
            assert len(await tp.runs()) == (3 if stream else 1)


async def test_a_read_that_the_mended_plan_does_not_want_is_dropped() -> None:
    web = Web()
    wrong = {**PAGE, "tool": "web.fech"}
    async with writing(web, slowly(FIND, wrong), slowly(BIRDS)) as tp:
        result = await tp.plan_and_run(READS, stream=True)
        assert result.success
        assert [step.path for step in result.results] == ["birds"]


async def test_an_early_read_that_fails_is_made_by_the_run_itself() -> None:
    web = Web()
    flaky = scripted(
        "web.search",
        ToolFailed("Later."),
        {"url": "u1"},
        effect="read",
        input_schema=schema("query"),
        output_schema={"type": "object", "properties": {"url": {"type": "string"}}},
    )
    web.search = flaky
    async with writing(web, slowly(FIND, PAGE)) as tp, tp.ahead(READS) as ahead:
        await ahead.plan()
        result = await (await ahead.start()).result()
        assert result.success
        assert len(flaky.calls) == 2


@pytest.mark.parametrize(
    "broken",
    [
        Breaks(text=encode(answer(FIND, PAGE)).decode(), after=20, piece=4),
        slowly(FIND, {"id": "x", "tool": "no.such", "inputs": {}}),
    ],
)
async def test_where_no_plan_comes_of_it_what_has_begun_is_stopped(broken: Reply) -> None:
    web = Web()
    web.hold.clear()
    async with writing(web, broken, "No.", "No.", "No.") as tp:
        tp.settings = tp.settings
        tp.planning.options = type(tp.planning.options)(fallback="error")
        with pytest.raises((PlanningFailed, NoToolFits)):
            await tp.plan_and_run(REQUEST, stream=True)
        assert web.counts[1:] == [0, 0]
        assert {info.status for info in await tp.runs()} <= {"cancelled"}


async def test_a_plan_that_asks_is_not_run() -> None:
    web = Web()
    async with writing(web, slowly(FIND, {"id": "save", "tool": "files.save", "inputs": {}}), "No.", "No.") as tp:
        tp.planning.options = type(tp.planning.options)(fallback="error", max_repairs=0)
        with pytest.raises((PlanningFailed, PlanInvalid)):
            await tp.plan_and_run(REQUEST, stream=True)
        assert web.counts[2] == 0


async def test_without_a_model_the_plan_is_there_at_once() -> None:
    web = Web()
    async with Toolpath(settings=Settings()) as tp:
        tp.add(web.search)
        result = await tp.plan_and_run('Search the web for query "cats"', stream=True)
        assert (result.success, web.search.calls) == (True, [{"query": "cats"}])


async def test_the_run_outlives_its_process(tmp_path: Path) -> None:
    web, store = Web(), tmp_path / "runs.db"
    async with writing(web, slowly(FIND, PAGE, {**SAVE}), store=store) as tp:
        result = await tp.plan_and_run(REQUEST, stream=True)
    async with Toolpath(store) as later:
        again = await later.result(result.run_id)
        assert again.step("page").output == {"text": "meow"}
        ends = [event.path for event in await later.events(result.run_id) if isinstance(event, StepSucceeded)]
        assert sorted(ends) == ["find", "page", "save"]
