"""The cases that the systems this one unites fail: numbered as on the page of their behaviour."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from toolpath import PlanInvalid, Settings, Tool, ToolContext, Toolpath, tool
from toolpath.errors import SchemaError
from toolpath.model import events as ev
from toolpath.notation.composite import read_composite
from toolpath.notation.plan import read_plan
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import ScriptedTool, scripted


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(auto=True)


@pytest.fixture
async def tp(clock: FakeClock) -> AsyncIterator[Toolpath]:
    async with Toolpath(clock=clock, settings=Settings()) as door:
        yield door


def identity(name: str, **fields: Any) -> ScriptedTool:
    return scripted(name, then=lambda inputs: inputs, **fields)


def slow(clock: FakeClock, name: str, seconds: float, value: Any = None, **fields: Any) -> ScriptedTool:
    async def answer(inputs: dict[str, Any]) -> Any:
        await clock.sleep(seconds)
        if isinstance(value, BaseException):
            raise value
        return value or {}

    return scripted(name, then=answer, **fields)


def composite(name: str, *calls: str) -> Tool:
    """A tool that calls these tools, one after the other."""
    steps = [{"tool": call} for call in calls]
    return read_composite(
        {"name": name, "parameters": [], "implementation": {"type": "composite", "composite": {"steps": steps}}}
    )


async def test_two_authors_and_a_blog_by_each_keep_their_own_ids(tp: Toolpath) -> None:
    """Case 1."""
    count = iter(range(1, 9))
    author = scripted("createAuthor", then=lambda i: {"_id": f"a{next(count)}", **i}, effect="write")
    tp.add(author, blog := scripted("createBlog", then={}, effect="write"))
    plan = {
        "steps": [
            {"tool": "createAuthor", "inputs": {"name": "Alice"}},
            {"tool": "createAuthor", "inputs": {"name": "Bob"}},
            {
                "tool": "createBlog",
                "inputs": {"by": "{{ steps.createAuthor.output.name }}", "id": "{{ steps.createAuthor.output._id }}"},
            },
            {"tool": "createBlog", "inputs": {"by": "{{ createAuthor_2.name }}", "id": "{{ createAuthor_2._id }}"}},
        ]
    }
    with pytest.raises(PlanInvalid, match="createAuthor"):
        # The tool's name alone could mean either of them.
        await tp.run(tp.read(plan))
    plan["steps"][0]["id"] = "alice"
    plan["steps"][1]["id"] = "bob"
    for step, who in zip(plan["steps"][2:], ("alice", "bob"), strict=True):
        step["inputs"] = {"by": f"{{{{ {who}.name }}}}", "id": f"{{{{ {who}._id }}}}"}
    result = await tp.run(tp.read(plan))
    assert result.success
    ids = {call["by"]: call["id"] for call in blog.calls}
    assert set(ids) == {"Alice", "Bob"}
    assert ids["Alice"] != ids["Bob"]


@pytest.mark.parametrize("size", [1, 2, 3, 2000])
async def test_a_cycle_is_one_clear_error_and_nothing_is_executed(tp: Toolpath, size: int) -> None:
    """Case 2, also with a cycle as long as no stack is deep."""
    tp.add(t := identity("t"))
    steps = [{"id": f"s{n}", "tool": "t", "depends_on": f"s{(n + 1) % size}"} for n in range(size)]
    with pytest.raises(PlanInvalid) as caught:
        await tp.run(tp.read({"steps": steps}))
    said = "depends on itself" if size == 1 else "Circular dependency detected between tools"
    cycles = [finding for finding in caught.value.findings if said in finding.message]
    assert len(cycles) == 1
    assert t.calls == []


@pytest.mark.parametrize("value", [0, "", False, None, 0.0, [], {}])
async def test_values_that_look_like_nothing_pass_unchanged_in_type(tp: Toolpath, value: Any) -> None:
    """Case 3."""
    tp.add(scripted("give", {"v": value}), see := identity("see"))
    plan = {
        "steps": [
            {"id": "a", "tool": "give"},
            {"tool": "see", "inputs": {"v": "{{ a.v }}", "deep": [{"x": "{{ a.v }}"}]}},
        ]
    }
    assert (await tp.run(tp.read(plan))).success
    (call,) = see.calls
    assert call == {"v": value, "deep": [{"x": value}]}
    assert type(call["v"]) is type(value)


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("Created by {{createAuthor.name}} ({{createAuthor.email}})", "Created by Älice 名 (a@b.c)"),
        ("{{ createAuthor.list[0].id }}", 7),
        (
            {"a": [{"b": "{{ createAuthor.name }}"}], "c": {"d": ["{{ createAuthor.list }}"]}},
            {"a": [{"b": "Älice 名"}], "c": {"d": [[{"id": 7}]]}},
        ),
        ("名 {{ createAuthor.name }} 🎉", "名 Älice 名 🎉"),
        ("a literal {{ '{{' }} here", "a literal {{ here"),
        ("{% raw %} {# no #} {{ createAuthor.list[0].id }}", "{% raw %} {# no #} 7"),
        ("{{ createAuthor['na me'] }}", "odd"),
    ],
)
async def test_templates_in_text_in_depth_in_any_script_and_literal_braces(
    tp: Toolpath, template: Any, value: Any
) -> None:
    """Case 4."""
    author = {"name": "Älice 名", "email": "a@b.c", "list": [{"id": 7}], "na me": "odd"}
    tp.add(scripted("createAuthor", author), see := identity("see"))
    plan = {
        "steps": [{"tool": "createAuthor"}, {"tool": "see", "depends_on": "createAuthor", "inputs": {"v": template}}]
    }
    assert (await tp.run(tp.read(plan))).success
    assert see.calls == [{"v": value}]


async def test_when_the_first_of_three_fails_the_others_are_skipped_and_no_write_is_made(tp: Toolpath) -> None:
    """Case 5."""
    tp.add(scripted("one", then=ValueError("no"), effect="write"), two := identity("two", effect="write"))
    plan = {
        "steps": [
            {"id": "a", "tool": "one"},
            {"id": "b", "tool": "two", "inputs": {"v": "{{ a.x }}"}},
            {"id": "c", "tool": "two", "inputs": {"v": "{{ b.v }}"}},
        ]
    }
    result = await tp.run(tp.read(plan))
    assert result.status == "failed"
    assert [step.status for step in result.results] == ["failed", "skipped", "skipped"]
    assert two.calls == []


@pytest.mark.parametrize(
    ("mode", "status", "dependent", "independent"),
    [
        ("stop", "failed", "skipped", "skipped"),
        ("isolate", "failed", "skipped", "succeeded"),
        ("continue", "completed_with_errors", "succeeded", "succeeded"),
    ],
)
async def test_an_independent_branch_under_each_failure_mode(
    tp: Toolpath, clock: FakeClock, mode: str, status: str, dependent: str, independent: str
) -> None:
    """Case 6."""
    tp.add(slow(clock, "bad", 1, ValueError("no")), slow(clock, "good", 3))
    plan = {
        "failure_mode": mode,
        "steps": [
            {"id": "a", "tool": "bad"},
            {"id": "b", "tool": "good", "depends_on": "a"},
            {"id": "x", "tool": "good"},
            {"id": "y", "tool": "good", "depends_on": "x"},
        ],
    }
    result = await tp.run(tp.read(plan))
    found = {step.path: step.status for step in result.results}
    assert (result.status, found) == (status, {"a": "failed", "b": dependent, "x": "succeeded", "y": independent})


async def test_retry_three_times_then_continue_with_the_backup(tp: Toolpath) -> None:
    """Case 7."""
    tp.add(primary := scripted("primary", then=ValueError("down")), scripted("backup", {"ok": 1}))
    plan = {
        "flow": "chain",
        "steps": [
            {
                "tool": "primary",
                "on_failure": {"action": "retry", "max_retries": 3, "continue_on_max_retries": True, "next": "backup"},
            },
            {"tool": "backup"},
        ],
    }
    result = await tp.run(tp.read(plan))
    assert len(primary.calls) == 4
    assert result.outputs == {"ok": 1}
    starts = [
        e.at - result.step("primary").started_at
        for e in await tp.events(result.run_id)
        if isinstance(e, ev.StepStarted)
    ]
    assert starts == [0, 1, 3, 7, 7]


async def test_two_steps_of_one_tool_have_counters_of_their_own(tp: Toolpath) -> None:
    """Case 8."""
    no = ValueError("no")
    tp.add(t := scripted("t", no, no, {}, no, no, {}))
    retry = {"on_failure": {"action": "retry", "max_retries": 2}}
    result = await tp.run(tp.read({"flow": "chain", "steps": [{"tool": "t", **retry}, {"tool": "t", **retry}]}))
    assert result.status == "completed"
    t.assert_complete()


async def test_three_echoes_that_jump_to_echo_are_refused_with_the_ids_it_could_mean(tp: Toolpath) -> None:
    """Case 9."""
    tp.add(t := identity("echo_tool"))
    jump = {"on_success": {"next": "echo_tool"}}
    with pytest.raises(PlanInvalid) as caught:
        await tp.run(tp.read({"flow": "chain", "steps": [{"tool": "echo_tool", **jump} for _ in range(3)]}))
    assert "echo_tool_2" in str(caught.value)
    assert t.calls == []


async def test_on_failure_with_next_alone_branches(tp: Toolpath) -> None:
    """Case 10."""
    tp.add(scripted("bad", then=ValueError("no")), identity("t"))
    plan = {
        "flow": "chain",
        "steps": [
            {"id": "a", "tool": "bad", "on_failure": {"next": "x"}},
            {"id": "b", "tool": "t"},
            {"id": "x", "tool": "t"},
        ],
    }
    result = await tp.run(tp.read(plan))
    assert [step.path for step in result.results] == ["a", "x"]
    assert result.success


@pytest.mark.parametrize(
    "value", [{"error": "broken"}, {"success": False}, {"success": False, "data": 1}, {"error": {"code": 1}}]
)
async def test_a_returned_error_counts_as_a_failure(tp: Toolpath, value: Any) -> None:
    """Case 11."""
    tp.add(scripted("t", value), after := identity("after"))
    result = await tp.run(tp.read({"steps": [{"id": "a", "tool": "t"}, {"tool": "after", "depends_on": "a"}]}))
    assert (result.status, result.failed_steps, after.calls) == ("failed", ("a",), [])


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ([{"tool": "serch"}], "unknown_tool"),
        ([{"tool": "search", "inputs": {"qery": "x"}}], "missing_input"),
        ([{"tool": "search", "inputs": {"query": "{{ nobody.x }}"}}], ""),
        (
            [
                {"id": "a", "tool": "search", "inputs": {"query": "x"}},
                {"id": "a", "tool": "search", "inputs": {"query": "y"}},
            ],
            "duplicate_id",
        ),
    ],
)
async def test_what_a_model_got_wrong_is_refused_before_anything_runs(
    tp: Toolpath, steps: list[Any], code: str
) -> None:
    """Case 12, as far as a plan that was read goes: unknown tools, inputs and names."""
    schema = {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
        "additionalProperties": False,
    }
    tp.add(search := scripted("search", then={}, input_schema=schema))
    with pytest.raises(PlanInvalid) as caught:
        await tp.run(tp.read({"steps": steps}))
    assert not code or code in [finding.code for finding in caught.value.findings]
    assert search.calls == []


async def test_a_tool_that_sleeps_beyond_its_time_is_cancelled_and_a_later_step_sees_it(
    tp: Toolpath, clock: FakeClock
) -> None:
    """Case 14."""
    tp.add(slow(clock, "sleepy", 100), slow(clock, "sibling", 20, {"ok": 1}), see := identity("see"))
    plan = {
        "failure_mode": "isolate",
        "steps": [
            {"id": "a", "tool": "sleepy", "timeout": 5, "retry": {"max_retries": 0}},
            {"id": "b", "tool": "sibling"},
            {"id": "c", "tool": "see", "inputs": {"status": "{{ steps.a.status }}"}},
        ],
    }
    result = await tp.run(tp.read(plan))
    assert {step.path: step.status for step in result.results} == {"a": "timed_out", "b": "succeeded", "c": "succeeded"}
    assert see.calls == [{"status": "timed_out"}]
    assert result.total_duration == pytest.approx(20)


async def test_twenty_calls_with_a_limit_of_five_take_four_rounds(tp: Toolpath, clock: FakeClock) -> None:
    """Case 15."""
    now = most = 0

    async def count(inputs: dict[str, Any]) -> dict[str, Any]:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await clock.sleep(1)
        now -= 1
        return {}

    tp.add(scripted("t", then=count))
    result = await tp.run(tp.read({"steps": [{"id": f"s{n}", "tool": "t"} for n in range(20)]}))
    assert most == 5
    assert result.total_duration == pytest.approx(4)


async def test_calls_made_in_parallel_by_a_tool_are_made_exactly_once(tp: Toolpath) -> None:
    """Case 16: what an agent does, through the same door."""
    calls = 0

    def count(inputs: dict[str, Any]) -> dict[str, Any]:
        nonlocal calls
        calls += 1
        return {"n": calls}

    @tool(effect="read")
    async def agent(context: ToolContext) -> int:
        found = await asyncio.gather(*(context.call("counter", {"n": n}) for n in range(12)))
        return len(found)

    tp.add(agent, scripted("counter", then=count, effect="write"))
    result = await tp.run(tp.read({"steps": [{"id": "a", "tool": "agent"}]}))
    assert result.outputs == {"a": 12}
    assert calls == 12


@pytest.mark.parametrize("while_", ["a tool runs", "a form waits", "a sub-plan runs"])
async def test_cancel_reaches_running_tools_waiting_forms_and_sub_plans(while_: str) -> None:
    """Case 17."""
    clock = FakeClock()
    async with Toolpath(clock=clock, settings=Settings()) as tp:
        tp.add(slow(clock, "slow", 100), after := identity("after"), composite("sub", "slow", "after"))
        step: dict[str, Any] = {
            "a tool runs": {"id": "a", "tool": "slow"},
            "a form waits": {"id": "a", "ask": {"title": "?", "inputs": [{"name": "n"}]}},
            "a sub-plan runs": {"id": "a", "tool": "sub"},
        }[while_]
        run = await tp.start(tp.read({"flow": "chain", "steps": [step, {"id": "b", "tool": "after"}]}))
        await clock.advance(1)
        await tp.cancel(run.id, reason="enough")
        result = await tp.result(run.id)
    assert (result.status, result.reason) == ("cancelled", "enough")
    assert {step.status for step in result.results} == {"cancelled"}
    assert after.calls == []


async def test_a_form_and_a_running_step_are_still_there_after_a_restart_and_nothing_is_done_twice(
    tmp_path: Path,
) -> None:
    """Case 19, on a store of a file."""
    clock = FakeClock()
    path = tmp_path / "runs.db"
    plan = {
        "flow": "chain",
        "steps": [
            {"id": "w", "tool": "write"},
            {"id": "f", "ask": {"title": "?", "inputs": [{"name": "n"}]}},
            {"id": "z", "tool": "write", "inputs": {"n": "{{ f.n }}"}},
        ],
    }
    first, second = identity("write", effect="write"), identity("write", effect="write")
    async with Toolpath(path, clock=clock, settings=Settings()) as tp:
        tp.add(first)
        waiting = await tp.run(tp.read(plan))
        assert waiting.status == "waiting"
    async with Toolpath(path, clock=clock, settings=Settings()) as tp:
        tp.add(second)
        again = await tp.result(waiting.run_id)
        assert again.questions[0].path == "f"
        result = await (await tp.answer(waiting.run_id, "f", {"n": "x"})).result()
    assert result.status == "completed"
    assert (first.calls, second.calls) == ([{}], [{"n": "x"}])


async def test_a_write_that_ran_when_the_process_died_is_not_repeated_without_a_word(tmp_path: Path) -> None:
    """Case 19, with the write in flight."""
    clock = FakeClock()
    path = tmp_path / "runs.db"
    async with Toolpath(path, clock=clock, settings=Settings()) as tp:
        tp.add(hanging := slow(clock, "write", 1000, effect="write"))
        run = await tp.start(tp.read({"steps": [{"id": "w", "tool": "write"}]}))
        while not hanging.calls:  # the store's own thread answers when it does
            await clock.settle()
    async with Toolpath(path, clock=clock, settings=Settings()) as tp:
        tp.add(again := identity("write", effect="write"))
        result = await (await tp.resume(run.id)).result()
        assert (result.status, result.step("w").status, again.calls) == ("waiting", "unknown", [])
        settled = await (await tp.settle(run.id, "w", output={"done": True})).result()
    assert (settled.status, settled.outputs) == ("completed", {"w": {"done": True}})


async def test_two_fields_of_one_label_and_a_required_one_that_is_missing(tp: Toolpath) -> None:
    """Case 20."""
    form = {
        "title": "?",
        "inputs": [{"name": "first", "label": "Name"}, {"name": "second", "label": "Name", "required": False}],
    }
    waiting = await tp.run(tp.read({"steps": [{"id": "f", "ask": form}]}))
    with pytest.raises(SchemaError, match="first"):
        await tp.answer(waiting.run_id, "f", {"second": "b"})
    with pytest.raises(SchemaError):
        # The label means two fields.
        await tp.answer(waiting.run_id, "f", {"Name": "b"})
    result = await (await tp.answer(waiting.run_id, "f", {"first": "a", "second": "b"})).result()
    assert result.outputs == {"f": {"first": "a", "second": "b"}}


@pytest.mark.parametrize("calls", [{"a": ["a"]}, {"a": ["b"], "b": ["a"]}, {"a": ["b"], "b": ["c"], "c": ["a"]}])
async def test_a_template_that_calls_itself_directly_or_through_others_is_refused(
    tp: Toolpath, calls: dict[str, list[str]]
) -> None:
    """Case 21."""
    tp.add(*(composite(name, *called) for name, called in calls.items()))
    with pytest.raises(PlanInvalid):
        await tp.run(tp.read({"steps": [{"tool": "a"}]}))
    assert await tp.runs() == []


async def test_depth_eleven_is_refused_and_depth_ten_is_not(tp: Toolpath) -> None:
    """Case 21, the depth."""
    tp.add(leaf := identity("leaf"))
    below = "leaf"
    for level in range(1, 12):
        tp.add(composite(f"level{level}", below))
        below = f"level{level}"
    assert (await tp.run("level10")).success or leaf.calls
    calls = len(leaf.calls)
    try:
        result = await tp.run(tp.read({"steps": [{"tool": "level11"}]}))
    except PlanInvalid:
        return
    assert result.status == "failed"
    assert len(leaf.calls) == calls


async def test_names_with_underscores_and_dots_stay_apart(tp: Toolpath) -> None:
    """Case 22."""
    tp.add(one := scripted("a_b.c", then={"from": "a_b.c"}), two := scripted("a.b_c", then={"from": "a.b_c"}))
    plan = read_plan(
        {"steps": [{"id": "x", "tool": "a_b.c"}, {"id": "y", "tool": "a.b_c"}, {"id": "z", "tool": "b_c"}]}
    )
    result = await tp.run(plan)
    assert {step.path: step.output["from"] for step in result.results} == {"x": "a_b.c", "y": "a.b_c", "z": "a.b_c"}
    assert (len(one.calls), len(two.calls)) == (1, 2)
