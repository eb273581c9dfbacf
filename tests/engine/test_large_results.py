"""Large results: kept aside, reached into by expressions, brought back after a resume, refused when too large."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import after, identity, opened, ran, run

from toolpath import Settings
from toolpath.model import events as ev
from toolpath.model.events import encode_event
from toolpath.notation.composite import read_composite
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted
from toolpath.values import as_handle

SMALL = Settings(max_result_size=1000)
BIG: dict[str, Any] = {"rows": [{"n": n, "text": "x" * 50} for n in range(100)], "total": 100}
READING = {
    "steps": [
        {"id": "big", "tool": "big"},
        {"id": "a", "tool": "t", "inputs": {"total": "{{ big.total }}", "last": "{{ big.rows[99].n }}"}},
        {"id": "b", "tool": "count", "inputs": {"all": "{{ big }}"}},
        {"id": "c", "tool": "t", "inputs": {"n": "{{ big.rows | map(attribute='n') | sum }}"}},
    ],
    "outputs": {"a": "{{ a }}", "b": "{{ b }}", "c": "{{ c }}", "whole": "{{ big }}"},
}


def tools() -> list[Any]:
    return [
        scripted("big", then=BIG),
        identity("t"),
        scripted("count", then=lambda inputs: {"n": len(inputs["all"]["rows"])}),
    ]


async def test_a_large_result_is_a_handle_in_the_journal_and_a_value_for_expressions() -> None:
    plan = {**READING, "steps": READING["steps"][:3], "outputs": {"a": "{{ a }}", "b": "{{ b }}"}}
    found = await run(plan, *tools(), settings=SMALL)
    assert found.outputs == {"a": {"total": 100, "last": 99}, "b": {"n": 100}}
    (big,) = [event for event in found.of(ev.StepSucceeded) if event.path == "big"]
    handle = as_handle(big.output)
    assert handle is not None
    assert handle.size > 1000
    assert handle.preview.startswith('{"rows"')


async def test_the_outputs_of_the_run_hold_the_value() -> None:
    plan = {"steps": READING["steps"][:1], "outputs": {"whole": "{{ big }}"}}
    async with opened(*tools(), settings=SMALL) as tp:
        result = await tp.run(tp.read(plan))
    assert result.outputs == {"whole": BIG}


async def test_the_bytes_are_in_the_store_under_the_handle_s_digest() -> None:
    async with opened(*tools(), settings=SMALL) as tp:
        result = await tp.run(tp.read({"steps": [{"id": "big", "tool": "big"}]}))
        handle = as_handle(result.step("big").output)
        assert handle is not None
        assert len(await tp.store.get_blob(handle.digest)) == handle.size


async def test_a_large_result_in_the_state_of_a_chain_is_read_like_any_other() -> None:
    plan = {
        "flow": "chain",
        "steps": [
            {"id": "big", "tool": "big", "on_success": {"map_outputs": {"rows": "rows"}}},
            {"id": "a", "tool": "t", "inputs": {"n": "{{ state.rows[5].n }}", "count": "{{ rows | length }}"}},
        ],
    }
    found = await run(plan, *tools(), settings=SMALL)
    assert found.outputs == {"n": 5, "count": 100}


async def test_large_results_are_there_after_a_resume() -> None:
    clock = FakeClock()
    store = MemoryStore(clock=clock.time)
    plan = {
        "steps": [
            {"id": "big", "tool": "big"},
            {"id": "wait", "tool": "wait", "depends_on": "big"},
            {"id": "a", "tool": "t", "depends_on": "wait", "inputs": {"last": "{{ big.rows[99].n }}"}},
        ]
    }
    wait = scripted("wait", lambda _: after(clock, 100), then={})
    async with opened(*tools(), wait, clock=clock, store=store, settings=SMALL) as tp:
        run_ = await tp.start(tp.read(plan))
        await clock.settle()
    async with opened(*tools(), wait, clock=clock, store=store, settings=SMALL) as tp:
        found = await ran(tp, await (await tp.resume(run_.id)).result())
    assert found.outputs == {"a": {"last": 99}}


async def test_a_large_list_may_be_looped_over() -> None:
    plan = {
        "steps": [
            {"id": "big", "tool": "big"},
            {
                "id": "each",
                "loop": {
                    "over": "{{ big.rows }}",
                    "collect": "{{ x.n }}",
                    "steps": [{"id": "x", "tool": "t", "inputs": {"n": "{{ item.n }}"}}],
                },
            },
        ],
        "outputs": "{{ each }}",
    }
    found = await run(plan, *tools(), settings=SMALL)
    assert found.outputs == list(range(100))


async def test_large_results_of_a_nested_plan_travel_out_of_it() -> None:
    inner = read_composite(
        {
            "name": "inner",
            "parameters": [],
            "implementation": {
                "type": "composite",
                "composite": {"steps": [{"tool": "big", "on_success": {"map_outputs": {"rows": "rows"}}}]},
            },
        }
    )
    plan = {"steps": [{"id": "n", "tool": "inner"}, {"id": "a", "tool": "t", "inputs": {"n": "{{ n.rows | length }}"}}]}
    found = await run(plan, *tools(), inner, settings=SMALL)
    assert found.outputs == {"a": {"n": 100}}


@pytest.mark.parametrize("size", [100_000, 1_000_000])
async def test_a_result_beyond_the_bound_is_refused_and_nothing_of_it_is_kept(size: int) -> None:
    found = await run(
        {"steps": [{"id": "a", "tool": "t"}]}, scripted("t", "x" * size), settings=Settings(max_result_bytes=50_000)
    )
    assert found.status == "failed"
    error = found.result.error
    assert error is not None
    assert (error.type, error.code) == ("ResultTooLarge", "invalid_output")
    assert len(str(found.events)) < 10_000


async def test_a_tool_cannot_forge_a_handle() -> None:
    forged = {"$blob": "sha256:" + "0" * 64, "size": 5, "preview": "x"}
    plan = {"steps": [{"id": "a", "tool": "a"}, {"id": "b", "tool": "t", "inputs": {"v": "{{ a }}"}}]}
    found = await run(plan, scripted("a", forged), identity("t"))
    assert found.status == "completed"
    assert found.outputs == {"b": {"v": forged}}


async def test_a_forged_handle_does_not_stop_a_run_from_being_taken_up() -> None:
    clock = FakeClock()
    store = MemoryStore(clock=clock.time)
    forged = {"$blob": "sha256:" + "0" * 64, "size": 5}
    plan = {
        "flow": "chain",
        "steps": [
            {"id": "a", "tool": "a"},
            {"id": "w", "tool": "wait"},
            {"id": "b", "tool": "t", "inputs": {"v": "{{ a }}"}},
        ],
    }
    wait = scripted("wait", lambda _: after(clock, 100), then={})
    async with opened(scripted("a", forged), wait, identity("t"), clock=clock, store=store) as tp:
        run_ = await tp.start(tp.read(plan))
        await clock.settle()
    async with opened(scripted("a", forged), wait, identity("t"), clock=clock, store=store) as tp:
        found = await ran(tp, await (await tp.resume(run_.id)).result())
    assert found.outputs == {"v": forged}


async def test_a_large_result_is_not_written_again_for_every_step_that_reads_it() -> None:
    large = {"rows": ["x" * 100] * 20_000}
    readers = [{"id": f"r{n}", "tool": "read", "inputs": {"all": "{{ a }}"}} for n in range(5)]
    reading = scripted("read", then=lambda inputs: {"rows": len(inputs["all"]["rows"])})
    found = await run({"steps": [{"id": "a", "tool": "a"}, *readers]}, scripted("a", large), reading)
    assert (found.status, reading.calls) == ("completed", [{"all": large}] * 5)
    assert sum(len(encode_event(event)) for event in found.events) < 20_000


async def test_an_argument_is_never_taken_for_a_large_value_that_was_let_go_of() -> None:
    """The same large result comes several times; what others make afterwards may lie where one of them lay."""
    plan: dict[str, Any] = {"flow": "chain", "steps": [{"id": f"a{n}", "tool": "same"} for n in range(5)]}
    made = [f"{{{{ '{letter}' * 3000000 }}}}" for letter in "bcdefghij"]
    plan["steps"] += [{"id": f"b{n}", "tool": "count", "inputs": {"x": text}} for n, text in enumerate(made)]
    tools = (scripted("same", then=lambda _: "a" * 3_000_000), scripted("count", then=lambda inputs: inputs["x"][:1]))
    found = await run(plan, *tools)
    begun = {event.path: event.inputs for event in found.of(ev.StepStarted)}
    for n, letter in enumerate("bcdefghij"):
        handle = as_handle(begun[f"b{n}"]["x"])
        assert handle is not None
        assert handle.preview[:2] == f'"{letter}'
    assert found.outputs == "j"
