"""Secrets that a nested plan is given: the tools get them, also after a resume, and nothing that is kept tells them."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import Ran, resumed_after, run

from toolpath import Tool, Toolpath
from toolpath.model import events as ev
from toolpath.model.events import encode_event
from toolpath.testing.scripted import scripted

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
        resumed = await resumed_after(found.events[:end], again, tools[1], secrets={"KEY": SECRET})
        assert resumed.status == "completed"
        assert [call["x"] for call in again.calls][-1] == SECRET
        assert all(call["x"] in ("first", SECRET) for call in again.calls)
        assert SECRET not in told(resumed)


@pytest.mark.parametrize("loop", [LOOP, LOOPS], ids=["loop", "loop in a loop"])
async def test_a_plan_that_was_open_inside_an_item_gives_the_secret_itself(loop: dict[str, Any]) -> None:
    chain = [{"id": "before", "tool": "before"}, {"id": "w", "tool": "w", "inputs": {"x": "{{ inputs.k }}"}}]
    body = Toolpath().read({"name": "deep", "inputs": TEXT, "flow": "chain", "steps": chain})
    deep = Tool(name="deep", body=body, input_schema=TEXT, effect="read")
    tools = (deep, scripted("before", then={}), composite(TEXT, deeper(loop)))
    found = await run(OUTER, scripted("w", then={}), *tools, secrets={"KEY": SECRET})
    assert found.status == "completed"
    for start in (event for event in found.of(ev.StepStarted) if event.path.endswith("/before")):
        again = scripted("w", then={})
        resumed = await resumed_after(found.events[: start.seq], again, *tools, secrets={"KEY": SECRET})
        assert resumed.status == "completed"
        assert [call["x"] for call in again.calls][-1] == SECRET
        assert all(call["x"] in ("first", SECRET) for call in again.calls)
        assert SECRET not in told(resumed)


def deeper(step: dict[str, Any]) -> dict[str, Any]:
    """The loop with a plan of its own in place of each call."""
    if "loop" not in step:
        return {"id": "d", "tool": "deep", "inputs": {"k": step["inputs"]["x"]}}
    loop = step["loop"]
    return {**step, "loop": {**loop, "steps": [deeper(inner) for inner in loop["steps"]]}}


STRICT = {"type": "object", "properties": {"x": {"type": "integer"}}}


@pytest.mark.parametrize("mode", ["error", "null"])
async def test_a_call_whose_inputs_do_not_fit_tells_no_piece_of_a_long_secret(mode: str) -> None:
    steps = [{"id": "w", "tool": "w", "inputs": {"x": "{{ secrets.KEY }}", "y": "{{ inputs.y.z }}"}}]
    plan = {"steps": steps, "on_unresolved": mode, "inputs": {"properties": {"y": {}}}}
    given = {"y": {"z": 1}} if mode == "error" else {"y": {}}
    found = await run(plan, scripted("w", then={}, input_schema=STRICT), inputs=given, secrets={"KEY": LONG})
    assert found.status == "failed"
    assert found.result.error is not None
    assert "/x" in found.result.error.message
    assert LONG[:12] not in told(found)


@pytest.mark.parametrize("validation", ["strict", "warn"])
async def test_a_result_that_does_not_fit_tells_no_piece_of_a_long_secret(validation: Any) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
    echo = scripted("w", then=lambda inputs: inputs, output_schema=schema, output_validation=validation)
    plan = {"steps": [{"id": "w", "tool": "w", "inputs": {"x": "{{ secrets.KEY }}"}}]}
    found = await run(plan, echo, secrets={"KEY": LONG})
    assert found.status == ("failed" if validation == "strict" else "completed")
    assert LONG[:12] not in told(found)
