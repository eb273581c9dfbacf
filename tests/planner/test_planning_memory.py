"""What planning remembers outlives the process: plans, lessons, outcomes of the ways of planning."""

from __future__ import annotations

import asyncio
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.planner.planning_cases import ALICE, answer, schema

from toolpath import Settings, Toolpath
from toolpath.access.acting import acting
from toolpath.access.caller import Caller
from toolpath.errors import ConfigError, ToolFailed
from toolpath.model.chat import ChatRequest
from toolpath.testing.model_server import ModelServer
from toolpath.testing.scripted import scripted
from toolpath.testing.scripted_chat import ScriptedChat
from toolpath.values import encode

ONE = "Create author Alice with email alice@test.com"
TWO = "Create author Bob with email bob@test.org"


def author(*replies: Any) -> Any:
    return scripted(
        "blog.createAuthor",
        *replies,
        then={"_id": "a"},
        effect="write",
        description="Create an author.",
        input_schema=schema("name", "email"),
    )


def door(store: Path | None, chat: ScriptedChat | None, *replies: Any, **settings: Any) -> Toolpath:
    tp = Toolpath(store, chat=chat, settings=Settings(**settings))
    tp.add(author(*replies))
    return tp


async def test_a_plan_is_found_by_the_next_process(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    chat = ScriptedChat(answer(ALICE))
    async with door(store, chat) as tp:
        await tp.plan(ONE)
    async with door(store, chat) as tp:
        plan = await tp.plan(TWO)
        assert plan.steps[0].inputs == {"name": "Bob", "email": "bob@test.org"}  # type: ignore[union-attr]
        report = await tp.planning.report()
        assert (report.plans, report.hits, report.misses, report.hit_rate) == (1, 1, 1, 0.5)
    assert len(chat.requests) == 1


async def test_what_a_model_was_paid_for_outlives_a_process_that_never_closes(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    chat = ScriptedChat(answer(ALICE))
    async with door(store, chat) as first, door(store, chat) as other:
        result = await first.run(await first.plan(ONE))
        assert result.success
        await other.plan(TWO)
        report = await other.planning.report()
        assert (report.hits, [lesson.successes for lesson in report.lessons]) == (1, [1])
    assert len(chat.requests) == 1


async def test_the_settings_model_asks_a_real_client_once_for_two_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ModelServer(encode(answer(ALICE)).decode()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody-0123456789")
        for request in (ONE, TWO):
            async with door(tmp_path / "runs.db", None, planner_llm="openai", planner_model="m") as tp:
                assert (await tp.plan(request)).steps
        assert len(server.requests) == 1


async def test_lessons_and_outcomes_are_there_in_the_next_process(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    async with door(store, None) as tp:
        for name in ("Ann", "Ben", "Cid"):
            assert (await tp.run(await tp.plan(f"Create author {name} with email {name.lower()}@b.org"))).success
    async with door(store, None, ToolFailed("No.")) as tp:
        assert not (await tp.run(await tp.plan("Create author Dan with email d@b.org"))).success
    async with door(store, None) as tp:
        report = await tp.planning.report()
        rules = next(arm for arm in report.ways.arms if arm.name == "rules")
        assert (rules.tally.trials, rules.tally.successes) == (4, 3)
        assert {lesson.tools for lesson in report.lessons} == {("blog.createAuthor",)}
        assert "rules: 3 of 4 succeeded" in str(report)


async def test_two_processes_at_once_add_up(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"

    async def one(name: str) -> None:
        async with door(store, None) as tp:
            plan = await tp.plan(f"Create author {name} with email {name.lower()}@b.org")
            assert (await tp.run(plan)).success

    await asyncio.gather(*[one(name) for name in ("Ann", "Ben", "Cid", "Dan")])
    async with door(store, None) as tp:
        rules = next(arm for arm in (await tp.planning.report()).ways.arms if arm.name == "rules")
        assert rules.tally.trials == 4


async def test_what_one_tenant_asked_is_not_known_to_another(tmp_path: Path) -> None:
    chat = ScriptedChat(answer(ALICE), answer(ALICE))
    async with door(tmp_path / "runs.db", chat) as tp:
        await tp.planning.plan(ONE, tenant="a")
        await tp.planning.plan(ONE, tenant="b")
        with acting(Caller(tenant="a")):
            assert (await tp.planning.report()).plans == 1
            assert (await tp.plan(ONE)).steps
        assert (await tp.planning.report("c")).plans == 0
    assert len(chat.requests) == 2


@pytest.mark.parametrize("other", [{"user": "bob"}, {"permissions": frozenset({"blog"})}], ids=str)
async def test_what_one_user_was_planned_is_not_taken_for_another(tmp_path: Path, other: Any) -> None:
    chat = ScriptedChat(answer(ALICE), answer(ALICE))
    async with door(tmp_path / "runs.db", chat) as tp:
        for who in ({"user": "ann"}, {"user": "ann"}, {"user": "ann"} | other):
            with acting(Caller(tenant="a", **who)):
                await tp.plan(ONE)
    assert len(chat.requests) == 2


async def test_another_time_zone_is_planned_anew(tmp_path: Path) -> None:
    chat = ScriptedChat(answer(ALICE), answer(ALICE))
    for zone in ("Europe/Berlin", "Europe/Berlin", "Asia/Tokyo"):
        async with door(tmp_path / "runs.db", chat, time_zone=zone) as tp:
            await tp.plan(ONE)
    assert len(chat.requests) == 2


async def test_ways_of_planning_share_the_requests_and_the_report_says_whether_they_differ(tmp_path: Path) -> None:
    def wrong(asked: ChatRequest) -> Any:
        (name,) = set(re.findall(r"author (\w+) with", asked.messages[0].text))
        inputs = {"name": name, "email": "n@b.org", "note": "author"}
        return answer({"id": "author", "tool": "blog.createAuthor", "inputs": inputs})

    chat = ScriptedChat(then=wrong)

    def reply(inputs: Any) -> Any:
        return ToolFailed("It takes no notes.") if inputs.get("note") else {"_id": "a"}

    tp = Toolpath(
        tmp_path / "runs.db", chat=chat, settings=Settings(planner_experiment=("model=1", "rules=1"), planner_floor=0)
    )
    async with tp:
        tp.add(
            scripted(
                "blog.createAuthor",
                then=reply,
                effect="write",
                description="Create an author.",
                input_schema=schema("name", "email", note={"type": "string"}),
            )
        )
        for polite, verb, thing in product(
            ("", "Please ", "Kindly ", "Now ", "First "), ("create", "add", "make", "register"), ("author", "an author")
        ):
            plan = await tp.plan(f"{polite}{verb} {thing} Alice with email n@b.org")
            await tp.run(plan)
        report = await tp.planning.report()
        model, rules = report.ways.arms
        assert (model.tally.successes, rules.tally.rate) == (0, 1.0)
        assert min(model.tally.trials, rules.tally.trials) >= 5
        assert report.ways.comparisons[0].is_real
        assert "a real difference" in str(report)


def test_an_experiment_that_makes_no_sense_is_a_fault_of_configuration() -> None:
    for wrong in ("magic=1", "model=many"):
        with pytest.raises(ConfigError):
            _ = Toolpath(settings=Settings(planner_experiment=(wrong,))).planning


async def test_what_is_kept_is_bounded(tmp_path: Path) -> None:
    async with door(tmp_path / "runs.db", None) as tp:
        text = "Create author Alice with email alice@test.com. " + "please " * 100_000
        plan = await tp.plan(text)
        record = tp.planning.record(plan)
        assert record is not None
        assert len(record.request) <= 10_000
