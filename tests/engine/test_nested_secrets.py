"""Secrets that a nested plan is given: the tools get them, also after a resume, and nothing that is kept tells them."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import Ran, opened, ran, run

from toolpath import Tool, Toolpath
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent, encode_event
from toolpath.model.run import RunInfo
from toolpath.store.memory import MemoryStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import ScriptedTool, scripted

SECRET = "hunter2secret"
LONG = "correct-horse-" * 30
EACH = {"id": "w", "tool": "w", "inputs": {"x": "{{ q }}"}}
LOOP: dict[str, Any] = {"id": "l", "loop": {"over": "{{ ['first', inputs.k] }}", "as": "q", "steps": [EACH]}}
INNER_LOOP = {"id": "m", "loop": {"over": "{{ [p] }}", "as": "q", "steps": [EACH]}}
LOOPS = {"id": "l", "loop": {"over": "{{ ['first', inputs.k] }}", "as": "p", "steps": [INNER_LOOP]}}
TEXT = {"type": "object", "properties": {"k": {"type": "string"}}}
OUTER = {"steps": [{"id": "n", "tool": "comp", "inputs": {"k": "{{ secrets.KEY }}"}}], "outputs": "{{ n }}"}


def composite(schema: dict[str, Any], *steps: dict[str, Any]) -> Tool:
    body = Toolpath().read({"name": "comp", "inputs": schema, "steps": list(steps)})
    return Tool(name="comp", body=body, input_schema=schema, effect="read")


def told(found: Ran) -> str:
    return "\n".join(encode_event(event).decode() for event in found.events) + repr(found.result.as_json())


async def test_the_items_of_a_loop_are_redacted_in_the_journal_alone() -> None:
    found = await run(OUTER, w := scripted("w", then={}), composite(TEXT, LOOP), secrets={"KEY": SECRET})
    assert found.status == "completed"
    assert w.calls == [{"x": "first"}, {"x": SECRET}]
    assert SECRET not in told(found)


async def test_what_a_loop_collects_is_redacted() -> None:
    collecting = {"id": "l", "loop": {**LOOP["loop"], "collect": "{{ q }}"}}
    found = await run(OUTER, scripted("w", then={}), composite(TEXT, collecting), secrets={"KEY": SECRET})
    assert found.outputs == {"l": ["first", "[redacted]"]}
    assert SECRET not in told(found)


@pytest.mark.parametrize("secret", [SECRET, LONG], ids=["short", "long"])
@pytest.mark.parametrize("rule", [{"type": "string", "pattern": "^[0-9]+$"}, {"enum": ["a"]}, {"type": "integer"}])
async def test_inputs_that_do_not_fit_do_not_tell_the_secret_nor_a_piece_of_it(
    rule: dict[str, Any], secret: str
) -> None:
    nested = composite({"type": "object", "properties": {"k": rule}}, {"id": "w", "tool": "w"})
    found = await run(OUTER, scripted("w", then={}), nested, secrets={"KEY": secret})
    assert found.status == "failed"
    assert found.result.error is not None
    assert "/k" in found.result.error.message
    assert secret[:12] not in told(found)


@pytest.mark.parametrize("loop", [LOOP, LOOPS], ids=["loop", "loop in a loop"])
async def test_a_loop_that_is_taken_up_again_gives_the_secret_itself(loop: dict[str, Any]) -> None:
    tools = (scripted("w", then={}), composite(TEXT, loop))
    found = await run(OUTER, *tools, secrets={"KEY": SECRET})
    starts = [event.seq for event in found.of(ev.StepStarted)]
    for end in starts:
        again = scripted("w", then={})
        resumed = await resumed_after(found.events[:end], again, tools[1])
        assert resumed.status == "completed"
        assert [call["x"] for call in again.calls][-1] == SECRET
        assert all(call["x"] in ("first", SECRET) for call in again.calls)
        assert SECRET not in told(resumed)


async def resumed_after(events: list[AnyEvent], tool: ScriptedTool, nested: Tool) -> Ran:
    """What comes of a run of which only these events are left."""
    clock = FakeClock(auto=True)
    store = MemoryStore(clock=clock.time)
    started = events[0]
    assert isinstance(started, ev.RunStarted)
    async with opened(tool, nested, clock=clock, store=store, secrets={"KEY": SECRET}) as tp:
        await store.create_run(RunInfo(run_id=started.run_id, status="running"))
        journal = await store.drive(started.run_id, "dead")
        kept = journal.append(events)
        if kept is not None:
            await kept
        # Nobody has heard of the driver since: it has died.
        await clock.sleep(3600)
        return await ran(tp, await (await tp.resume(started.run_id)).result())
