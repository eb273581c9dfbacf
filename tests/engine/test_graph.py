"""Graphs: what starts when, what a step may read, and what the plan gives."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import after, identity, most_at_once, opened, plan_text, run
from hypothesis import given, settings
from hypothesis import strategies as st

from toolpath import PlanInvalid, RunContext
from toolpath.model import events as ev
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted


async def test_a_step_reads_what_another_gave() -> None:
    ran = await run(
        """
        steps:
          - {id: writer, tool: author}
          - {id: post, tool: blog, inputs: {author: "{{ writer._id }}", by: "By {{ writer.name }}"}}
        outputs: {post: "{{ post._id }}"}
        """,
        scripted("author", {"_id": "a1", "name": "Alice"}),
        blog := scripted("blog", {"_id": "b1"}),
    )
    assert (ran.status, ran.outputs) == ("completed", {"post": "b1"})
    assert blog.calls == [{"author": "a1", "by": "By Alice"}]


async def test_a_step_starts_as_soon_as_its_own_dependencies_have_ended_and_waits_for_no_stage() -> None:
    clock = FakeClock(auto=True)
    ran = await run(
        """
        steps:
          - {id: quick, tool: quick}
          - {id: slow, tool: slow}
          - {id: next, tool: next, depends_on: quick}
        """,
        scripted("quick", then=lambda _: after(clock, 1)),
        scripted("slow", then=lambda _: after(clock, 10)),
        scripted("next", then=lambda _: after(clock, 1)),
        clock=clock,
    )
    assert ran.result.step("next").started_at == pytest.approx(clock.start + 1)
    assert ran.result.total_duration == pytest.approx(10)


async def test_dependencies_are_the_written_ones_and_those_read_out_of_templates_and_conditions() -> None:
    ran = await run(
        """
        steps:
          - {id: d, tool: t, when: "{{ c.ok }}"}
          - {id: c, tool: t, inputs: {deep: [{x: "{{ b.ok }}"}], ok: true}}
          - {id: b, tool: t, depends_on: [a], inputs: {ok: true}}
          - {id: a, tool: t}
        """,
        identity("t"),
    )
    assert ran.trace("step.succeeded") == [f"step.succeeded {name}" for name in "abcd"]


@pytest.mark.parametrize("name", ["depends_on", "dependsOn", "dependencies", "needs"])
async def test_a_dependency_may_be_one_id_under_any_of_its_names(name: str) -> None:
    ran = await run({"steps": [{"id": "z", "tool": "t", name: "a"}, {"id": "a", "tool": "t"}]}, identity("t"))
    assert ran.trace("step.started") == ["step.started a", "step.started z"]


async def test_without_outputs_a_graph_gives_what_its_last_steps_gave() -> None:
    ran = await run(
        """
        steps:
          - {id: a, tool: t, inputs: {v: 1}}
          - {id: b, tool: t, inputs: {v: "{{ a.v + 1 }}"}}
          - {id: c, tool: t, inputs: {v: "{{ a.v + 2 }}"}}
        """,
        identity("t"),
    )
    assert ran.outputs == {"b": {"v": 2}, "c": {"v": 3}}


async def test_outputs_may_be_any_template_or_literal() -> None:
    ran = await run(
        {"steps": [{"id": "a", "tool": "t"}], "outputs": ["{{ a }}", 1, "x {{ a.n }}"]}, scripted("t", {"n": 2})
    )
    assert ran.outputs == [{"n": 2}, 1, "x 2"]


async def test_a_template_that_is_the_whole_text_keeps_the_type_of_its_value() -> None:
    values = {"zero": 0, "empty": "", "no": False, "nothing": None, "list": [1, {"a": []}], "real": 1.5, "big": 2**53}
    ran = await run(
        {
            "steps": [
                {"id": "a", "tool": "a"},
                {"id": "b", "tool": "b", "inputs": {k: f"{{{{ a.{k} }}}}" for k in values}},
            ]
        },
        scripted("a", values),
        b := scripted("b", {}, input_schema={"type": "object", "required": ["nothing"]}),
    )
    assert ran.status == "completed"
    assert b.calls == [values]
    assert {k: type(v) for k, v in b.calls[0].items()} == {k: type(v) for k, v in values.items()}


async def test_inputs_are_read_as_inputs_dot_name_and_defaults_are_filled_in() -> None:
    ran = await run(
        """
        inputs:
          type: object
          properties: {name: {type: string}, size: {type: integer, default: 7}, note: {type: string}}
          required: [name]
        steps:
          - {tool: t, inputs: {name: "{{ inputs.name }}", size: "{{ inputs.size }}", note: "{{ inputs.note }}"}}
        """,
        t := scripted("t", {}, input_schema={"type": "object", "properties": {"note": {"type": "string"}}}),
        inputs={"name": "x"},
    )
    assert ran.status == "completed"
    # The note is null, which the tool neither requires nor admits: it is left out.
    assert t.calls == [{"name": "x", "size": 7}]


@pytest.mark.parametrize(
    ("schema", "seen"),
    [
        ({"type": "object", "properties": {"note": {"type": "string"}}}, {}),
        ({"type": "object", "properties": {"note": {"type": ["string", "null"]}}}, {"note": None}),
        ({"type": "object", "properties": {"note": {}}}, {"note": None}),
    ],
)
async def test_an_argument_that_is_null_is_left_out_only_where_the_tool_does_not_admit_null(
    schema: dict[str, Any], seen: dict[str, Any]
) -> None:
    plan = {
        "inputs": {"type": "object", "properties": {"note": {"type": "string"}}},
        "steps": [{"tool": "t", "inputs": {"note": "{{ inputs.note }}"}}],
    }
    ran = await run(plan, t := scripted("t", {}, input_schema=schema))
    assert ran.status == "completed"
    assert t.calls == [seen]


async def test_an_argument_that_is_null_and_required_is_given_and_refused_by_the_schema() -> None:
    schema = {"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]}
    plan = {
        "inputs": {"type": "object", "properties": {"note": {}}},
        "steps": [{"id": "a", "tool": "t", "inputs": {"note": "{{ inputs.note }}"}}],
    }
    ran = await run(plan, t := scripted("t", {}, input_schema=schema))
    assert ran.status == "failed"
    assert ran.result.error is not None
    assert ran.result.error.code == "validation"
    assert t.calls == []


@pytest.mark.parametrize(
    ("inputs", "code"), [({}, "missing_input"), ({"n": "x"}, "wrong_input"), ({"n": 1, "m": 2}, "unknown_input")]
)
async def test_inputs_that_do_not_fit_start_nothing(inputs: dict[str, Any], code: str) -> None:
    t = identity("t")
    plan = """
        inputs: {type: object, properties: {n: {type: integer}}, required: [n]}
        steps: [{tool: t, inputs: {n: "{{ inputs.n }}"}}]
        """
    async with opened(t) as tp:
        with pytest.raises(PlanInvalid) as caught:
            await tp.run(tp.read(plan_text(plan)), inputs)
        assert code in [finding.code for finding in caught.value.findings]
        assert await tp.runs() == []
    assert t.calls == []  # type: ignore[attr-defined]


async def test_inputs_are_brought_into_the_form_that_the_schema_wants_without_loss() -> None:
    ran = await run(
        """
        inputs: {type: object, properties: {n: {type: integer}, yes: {type: boolean}, t: {type: string}}}
        steps: [{id: a, tool: t, inputs: {n: "{{ inputs.n }}", yes: "{{ inputs.yes }}", t: "{{ inputs.t }}"}}]
        """,
        t := identity("t"),
        inputs={"n": "3", "yes": "true", "t": 5},
    )
    assert t.calls == [{"n": 3, "yes": True, "t": "5"}]  # type: ignore[attr-defined]
    assert ran.status == "completed"


async def test_arguments_are_brought_into_the_form_that_the_tool_wants_and_the_journal_tells_what_was_sent() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    ran = await run(
        {"steps": [{"id": "a", "tool": "a"}, {"id": "b", "tool": "b", "inputs": {"n": "{{ a.n }}"}}]},
        scripted("a", {"n": "12"}),
        b := scripted("b", {}, input_schema=schema),
    )
    assert b.calls == [{"n": 12}]
    assert ran.result.step("b").inputs == {"n": 12}


async def test_arguments_that_do_not_fit_fail_the_step_without_calling_the_tool_and_without_a_retry() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    ran = await run(
        {
            "steps": [
                {"id": "a", "tool": "a"},
                {"id": "b", "tool": "b", "inputs": {"n": "{{ a.n }}"}, "retry": {"max_retries": 5}},
            ]
        },
        scripted("a", {"n": "many"}),
        b := scripted("b", {}, input_schema=schema),
    )
    assert ran.status == "failed"
    assert b.calls == []
    assert ran.result.step("b").error is not None
    assert ran.result.step("b").error.code == "validation"  # type: ignore[union-attr]
    assert ran.of(ev.StepRetrying) == []


async def test_every_step_has_a_slot_of_the_run_and_no_more_than_the_plan_says() -> None:
    clock = FakeClock(auto=True)
    plan = {"concurrency": 3, "steps": [{"id": f"s{n}", "tool": "t"} for n in range(10)]}
    ran = await run(plan, scripted("t", then=lambda _: after(clock, 1)), clock=clock)
    assert most_at_once(ran.events) == 3
    assert ran.result.total_duration == pytest.approx(4)


async def test_five_calls_run_at_once_where_the_plan_does_not_say() -> None:
    clock = FakeClock(auto=True)
    plan = {"steps": [{"id": f"s{n}", "tool": "t"} for n in range(20)]}
    ran = await run(plan, scripted("t", then=lambda _: after(clock, 1)), clock=clock)
    assert most_at_once(ran.events) == 5
    assert ran.result.total_duration == pytest.approx(4)


async def test_ready_steps_are_taken_by_critical_path() -> None:
    plan = """
        concurrency: 1
        steps:
          - {id: lone, tool: t}
          - {id: first, tool: t}
          - {id: second, tool: t, depends_on: first}
          - {id: third, tool: t, depends_on: second}
        """
    ran = await run(plan, identity("t"))
    assert ran.of(ev.StepStarted)[0].path == "first"
    assert [event.path for event in ran.of(ev.StepStarted)].index("lone") >= 2


@pytest.mark.parametrize("field", [{"exclusive": True}, {"executionMode": "sequential"}])
async def test_nothing_runs_beside_an_exclusive_step(field: dict[str, Any]) -> None:
    clock = FakeClock(auto=True)
    steps = [{"id": f"s{n}", "tool": "t"} for n in range(4)]
    plan = {"steps": [*steps[:2], {"id": "alone", "tool": "t", **field}, *steps[2:]]}
    ran = await run(plan, scripted("t", then=lambda _: after(clock, 1)), clock=clock)
    flying: set[str] = set()
    for event in ran.events:
        if isinstance(event, ev.StepStarted):
            assert not (event.path == "alone" and flying)
            assert "alone" not in flying
            flying.add(event.path)
        elif isinstance(event, ev.StepSucceeded):
            flying.discard(event.path)
    assert ran.status == "completed"


async def test_nothing_runs_inside_a_block_beside_an_exclusive_step_either() -> None:
    clock = FakeClock(auto=True)
    plan = """
        steps:
          - id: both
            parallel:
              - {id: x, tool: t}
              - {id: y, tool: t}
          - {id: alone, tool: t, exclusive: true}
        """
    ran = await run(plan, scripted("t", then=lambda _: after(clock, 1)), clock=clock)
    start, end = ran.seq("step.started", "alone"), ran.seq("step.succeeded", "alone")
    inside = [e.path for e in ran.events if start < e.seq < end and isinstance(e, ev.StepStarted | ev.StepSucceeded)]
    assert inside == []


async def test_ids_that_are_not_given_come_from_the_tool() -> None:
    plan = {"steps": [{"tool": "blog.make-post"}, {"tool": "blog.make-post"}, {"tool": "end"}]}
    ran = await run(plan, identity("blog.make-post"), identity("end"))
    assert list(ran.statuses()) == ["make-post", "make-post_2", "end_2"]


async def test_a_name_of_a_tool_that_one_step_alone_uses_reads_that_step() -> None:
    plan = {
        "steps": [
            {"id": "first", "tool": "createAuthor"},
            {"id": "second", "tool": "t", "inputs": {"id": "{{ createAuthor._id }}"}},
        ]
    }
    ran = await run(plan, scripted("createAuthor", {"_id": 5}), identity("t"))
    assert ran.outputs == {"second": {"id": 5}}


async def test_ids_with_a_dash_are_read_through_steps() -> None:
    plan = {
        "steps": [{"id": "a-b", "tool": "a"}, {"id": "c", "tool": "t", "inputs": {"v": "{{ steps['a-b'].output.n }}"}}]
    }
    ran = await run(plan, scripted("a", {"n": 1}), identity("t"))
    assert ran.outputs == {"c": {"v": 1}}


async def test_run_id_and_start_are_known_everywhere() -> None:
    ran = await run(
        {"steps": [{"id": "a", "tool": "t", "inputs": {"id": "{{ run.id }}", "at": "{{ run.started_at }}"}}]},
        identity("t"),
    )
    assert ran.outputs["a"] == {"id": ran.result.run_id, "at": "2023-11-14T22:13:20+00:00"}


async def test_a_step_knows_how_long_another_took_and_how_it_ended() -> None:
    clock = FakeClock(auto=True)
    plan = {
        "steps": [
            {"id": "a", "tool": "a"},
            {
                "id": "b",
                "tool": "t",
                "inputs": {"d": "{{ steps.a.duration }}", "s": "{{ steps.a.status }}", "e": "{{ steps.a.error }}"},
            },
        ]
    }
    ran = await run(plan, scripted("a", then=lambda _: after(clock, 2.5, {})), identity("t"), clock=clock)
    assert ran.outputs["b"] == {"d": 2.5, "s": "succeeded", "e": None}


async def test_in_a_graph_reading_a_variable_waits_for_the_step_that_writes_it() -> None:
    plan = """
        steps:
          - {id: reader, tool: t, inputs: {v: "{{ state.total }}"}}
          - {id: writer, tool: w, on_success: {map_outputs: {n: total}}}
        """
    ran = await run(plan, scripted("w", {"n": 3}), identity("t"))
    assert ran.trace("step.succeeded") == ["step.succeeded writer", "step.succeeded reader"]
    assert ran.outputs == {"reader": {"v": 3}}


async def test_two_unordered_writers_of_a_variable_in_a_graph_are_refused() -> None:
    plan = """
        steps:
          - {id: a, tool: t, on_success: {map_outputs: {n: total}}}
          - {id: b, tool: t, on_success: {map_outputs: {n: total}}}
        """
    with pytest.raises(PlanInvalid, match="total"):
        await run(plan, identity("t"))


async def test_a_cycle_is_named_and_nothing_is_executed() -> None:
    t = identity("t")
    plan = {"steps": [{"id": "a", "tool": "t", "depends_on": "b"}, {"id": "b", "tool": "t", "depends_on": "a"}]}
    with pytest.raises(PlanInvalid, match="Circular dependency detected between tools: a → b → a"):
        await run(plan, t)
    assert t.calls == []  # type: ignore[attr-defined]


async def test_what_a_tool_returned_is_never_read_as_a_template() -> None:
    evil = "{{ inputs.secret }} {{ run.id }} <<x>> {% raw %}"
    plan = {
        "steps": [{"id": "a", "tool": "a"}, {"id": "b", "tool": "t", "inputs": {"v": "{{ a.v }}", "t": "x{{ a.v }}"}}]
    }
    ran = await run(plan, scripted("a", {"v": evil}), identity("t"))
    assert ran.outputs["b"] == {"v": evil, "t": f"x{evil}"}


async def test_a_plan_is_not_changed_by_running_and_may_run_many_times_at_once() -> None:
    plan = {"steps": [{"id": "a", "tool": "t", "inputs": {"list": [{"n": 1}]}}]}

    def change(inputs: dict[str, Any]) -> dict[str, Any]:
        inputs["list"][0]["n"] += 1
        inputs["list"].append(2)
        return {"seen": inputs["list"][0]["n"]}

    async with opened(scripted("t", then=change)) as tp:
        read = tp.read(plan)
        first, second = await tp.run(read), await tp.run(read)
    assert first.outputs == second.outputs == {"a": {"seen": 2}}


async def test_a_run_tells_for_whom_it_runs() -> None:
    async with opened(identity("t")) as tp:
        result = await tp.run({"steps": [{"tool": "t"}]}, context=RunContext("ann", tenant="acme"))
        assert [(info.user, info.tenant, info.status) for info in await tp.runs()] == [("ann", "acme", "completed")]
        started = (await tp.events(result.run_id))[0]
    assert isinstance(started, ev.RunStarted)
    assert started.context == {"user_id": "ann", "tenant": "acme"}


async def test_run_started_freezes_plan_inputs_and_fingerprints() -> None:
    ran = await run(
        {"name": "frozen", "inputs": {"type": "object", "properties": {"n": {}}}, "steps": [{"id": "a", "tool": "t"}]},
        t := identity("t"),
        inputs={"n": 1},
    )
    started = ran.events[0]
    assert isinstance(started, ev.RunStarted)
    assert started.plan["name"] == "frozen"
    assert started.inputs == {"n": 1}
    assert started.tools == {"t": t.fingerprint}


async def test_a_step_announces_that_it_is_ready_where_it_cannot_start_at_once() -> None:
    clock = FakeClock(auto=True)
    plan = {"concurrency": 1, "steps": [{"id": "a", "tool": "t"}, {"id": "b", "tool": "t"}]}
    ran = await run(plan, scripted("t", then=lambda _: after(clock, 1)), clock=clock)
    assert ran.seq("step.ready", "b") < ran.seq("step.succeeded", "a")


@st.composite
def graphs(draw: st.DrawFn) -> list[tuple[str, ...]]:
    """For each step, the earlier steps it depends on."""
    count = draw(st.integers(1, 12))
    return [
        tuple(f"s{d}" for d in sorted(draw(st.sets(st.integers(0, n - 1), max_size=3)))) if n else ()
        for n in range(count)
    ]


@settings(max_examples=60, deadline=None)
@given(
    graph=graphs(),
    limit=st.integers(1, 5),
    chance=st.randoms(use_true_random=False),
    failing=st.sets(st.integers(0, 11), max_size=3),
    mode=st.sampled_from(["stop", "isolate", "continue"]),
)
async def test_whatever_the_graph_each_step_starts_after_its_dependencies_ended_and_within_the_slots(
    graph: list[tuple[str, ...]], limit: int, chance: Any, failing: set[int], mode: str
) -> None:
    clock = FakeClock(auto=True)
    delays = {f"s{n}": chance.randint(0, 3) for n in range(len(graph))}

    def answer(inputs: dict[str, Any]) -> Any:
        step = inputs["step"]
        return after(clock, delays[step], ValueError("no") if int(step[1:]) in failing else {"n": step})

    chosen = [
        {"id": f"s{n}", "tool": "t", "inputs": {"step": f"s{n}"}, "depends_on": list(d)} for n, d in enumerate(graph)
    ]
    chance.shuffle(chosen)
    plan = {"concurrency": limit, "failure_mode": mode, "steps": chosen}
    ran = await run(plan, scripted("t", then=answer), clock=clock)
    assert most_at_once(ran.events) <= limit
    ends = {e.path: e.seq for e in ran.events if isinstance(e, ev.StepSucceeded | ev.StepFailed | ev.StepSkipped)}
    statuses = ran.statuses()
    assert set(ends) == set(statuses) == {f"s{n}" for n in range(len(graph))}
    for event in ran.of(ev.StepStarted):
        needs = graph[int(event.path[1:])]
        assert all(ends[need] < event.seq for need in needs)
        if mode != "continue":
            assert all(statuses[need] == "succeeded" for need in needs)
    if failing & set(range(len(graph))) and any(s == "failed" for s in statuses.values()):
        assert ran.status == ("completed_with_errors" if mode == "continue" else "failed")
    else:
        assert ran.status == "completed"
