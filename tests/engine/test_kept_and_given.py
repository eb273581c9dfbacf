"""What is kept of results, what is read of keys and inputs, and what a server's pause says: each as it was given."""

from __future__ import annotations

import asyncio
import threading
import time
from email.utils import formatdate
from typing import Any

import pytest
from engine_cases import after, identity, opened, run, run_in

from toolpath import tool
from toolpath.machine import SystemClock
from toolpath.model import events as ev
from toolpath.model.http_failures import seconds_of
from toolpath.model.tool import Tool, ToolResult
from toolpath.notation.plan import read_plan
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted

CACHE = {"ttl": 60}


async def test_a_kept_result_is_as_sure_as_it_was_and_asks_the_same_fallback() -> None:
    sources = ["https://example.org/a"]
    doubtful = scripted("t", then=ToolResult(output={"v": 1}, confidence=0.1, sources=sources))
    step = {"tool": "t", "cache": CACHE, "fallback": {"tool": "sure", "condition": "on_low_confidence"}}
    plan = {
        "flow": "chain",
        "steps": [{"id": "a", **step}, {"id": "b", **step}, {"id": "c", "tool": "t", "cache": CACHE}],
    }
    found = await run(plan, doubtful, scripted("sure", then=ToolResult(output={"v": 2}, confidence=0.9)))
    assert len(doubtful.calls) == 1
    assert [found.result.step(name).output for name in "ab"] == [{"v": 2}, {"v": 2}]
    kept = found.result.step("c")
    assert (kept.output, kept.confidence, list(kept.sources), kept.cached) == ({"v": 1}, 0.1, sources, True)


async def test_a_read_begun_before_a_write_does_not_answer_a_step_after_it() -> None:
    clock = FakeClock(auto=True)
    store = {"v": "old"}

    async def look(_: Any) -> Any:
        seen = dict(store)
        await clock.sleep(10)
        return seen

    async def write(_: Any) -> Any:
        await clock.sleep(1)
        store["v"] = "new"
        return {}

    plan = {
        "steps": [
            {"id": "early", "tool": "g.look", "cache": CACHE},
            {"id": "write", "tool": "g.write"},
            {"id": "late", "tool": "g.look", "cache": CACHE, "depends_on": "write"},
            {"id": "latest", "tool": "g.look", "cache": CACHE, "depends_on": ["late", "early"]},
        ]
    }
    reading = scripted("g.look", then=look)
    found = await run(plan, reading, scripted("g.write", then=write, effect="write"), clock=clock)
    assert [found.result.step(name).output["v"] for name in ("early", "late", "latest")] == ["old", "new", "new"]


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize(
    ("schema", "given", "read"),
    [
        ({"type": ["string", "null"], "default": "d"}, {"x": None}, None),
        ({"anyOf": [{"$ref": "#/$defs/s"}, {"type": "null"}], "default": "d"}, {"x": None}, None),
        ({"type": ["string", "null"], "default": "d"}, {}, "d"),
        ({"type": "string", "default": "d"}, {"x": None}, "d"),
        ({"type": "string"}, {}, None),
    ],
)
async def test_null_that_was_given_stays_null_where_the_input_may_be(
    schema: Any, given: dict[str, Any], read: Any, nested: bool
) -> None:
    inputs = {"type": "object", "properties": {"x": schema}, "$defs": {"s": {"type": "string"}}}
    plan = {"name": "p", "inputs": inputs, "steps": [{"id": "a", "tool": "t", "inputs": {"v": "{{ inputs.x }}"}}]}
    plan["outputs"] = {"x": "{{ inputs.x }}"}
    async with opened(identity("t"), Tool(name="p", input_schema=inputs, body=read_plan(plan))) as tp:
        outer = {"steps": [{"id": "o", "tool": "p", "inputs": given}], "outputs": "{{ o }}"}
        found = await (run_in(tp, outer) if nested else run_in(tp, plan, given))
    assert found.outputs == {"x": read}


@pytest.mark.parametrize("number", [770, 7706410293, 0, -1])
async def test_on_an_object_a_number_names_the_key_of_that_text(number: int) -> None:
    values = {str(number): {"name": "found"}, "other": 1}
    written = f"{{{{ (a.variants)[{number}] }}}}"
    plan = {
        "steps": [
            {"id": "a", "tool": "a"},
            {"id": "b", "tool": "t", "inputs": {"v": f"{{{{ a.variants[{number}].name }}}}"}},
            {
                "id": "c",
                "tool": "t",
                "inputs": {"v": "{{ a.variants[a.key].name }}", "w": written},
            },
        ]
    }
    found = await run(plan, scripted("a", {"variants": values, "key": number}), identity("t"))
    assert found.status == "completed", found.result.error
    assert found.result.step("b").output == {"v": "found"}
    assert found.result.step("c").output == {"v": "found", "w": {"name": "found"}}


async def test_the_check_knows_a_number_as_a_key_of_an_object() -> None:
    output = {"type": "object", "properties": {"m": {"type": "object", "properties": {"7": {"type": "string"}}}}}
    output["properties"]["m"]["required"] = ["7"]
    source = scripted("a", {"m": {"7": "x"}}, output_schema={**output, "required": ["m"]}, output_validation="strict")
    async with opened(source, identity("t")) as tp:
        for number, wrong in ((7, False), (8, True)):
            plan = tp.read(
                {"steps": [{"id": "a", "tool": "a"}, {"tool": "t", "inputs": {"v": f"{{{{ a.m[{number}] }}}}"}}]}
            )
            codes = {finding.code for finding in tp.check(plan)}
            assert ("outside_schema" in codes) is wrong


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"Retry-After": "0"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Wed, 99 Oct 2015"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_a_pause_is_seconds_or_a_date(headers: Any, seconds: float | None) -> None:
    assert seconds_of(headers) == seconds


async def test_a_date_in_retry_after_is_heeded_before_the_next_attempt() -> None:
    class Busy(Exception):
        status_code = 429

    error = Busy("busy")
    now = time.time()
    headers = {"retry-after": formatdate(now + 90, usegmt=True), "date": formatdate(now, usegmt=True)}
    error.response = type("Response", (), {"headers": headers})()  # type: ignore[attr-defined]
    found = await run({"steps": [{"id": "a", "tool": "t"}]}, scripted("t", error, {"v": 1}))
    (retrying,) = found.of(ev.StepRetrying)
    assert retrying.delay == 90.0
    assert found.status == "completed"


async def test_a_tool_that_keeps_the_loop_from_cutting_it_off_has_timed_out() -> None:
    @tool(name="blocking", effect="read", timeout=0.1, retry={"max_retries": 0})
    async def blocking() -> int:
        time.sleep(0.4)  # noqa: ASYNC251  # that it blocks is what is tried
        return 1

    async with opened(blocking, clock=SystemClock()) as tp:
        found = await run_in(tp, {"steps": [{"id": "a", "tool": "blocking"}]})
    assert found.statuses() == {"a": "timed_out"}


@pytest.mark.parametrize("kind", ["waits", "is called", "thread"])
async def test_a_read_that_is_back_in_time_succeeds_though_another_tool_held_the_loop(kind: str) -> None:
    began = asyncio.Event()
    thread_began = threading.Event()

    @tool(name="hog", effect="read", timeout=60)
    async def hog() -> int:
        if kind == "thread":
            while not thread_began.is_set():  # noqa: ASYNC110  # it is set in a thread
                await asyncio.sleep(0)
        else:
            await began.wait()
        time.sleep(0.6)  # noqa: ASYNC251  # that it blocks is what is tried
        return 1

    async def waits() -> int:
        began.set()
        await asyncio.sleep(0.02)
        await asyncio.sleep(0)
        return 1

    async def called() -> int:
        back = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(0.02, back.set_result, 1)
        began.set()
        return await back

    def works() -> int:
        thread_began.set()
        return 1

    read = {"waits": waits, "is called": called, "thread": works}[kind]
    quick = tool(name="quick", effect="read", timeout=0.15, retry={"max_retries": 0})(read)
    async with opened(hog, quick, clock=SystemClock()) as tp:
        found = await run_in(tp, {"steps": [{"id": "hog", "tool": "hog"}, {"id": "a", "tool": "quick"}]})
    assert found.statuses() == {"hog": "succeeded", "a": "succeeded"}


async def test_a_function_in_a_thread_that_took_too_long_has_timed_out_though_the_loop_was_held() -> None:
    began = threading.Event()

    @tool(name="hog", effect="read", timeout=60)
    async def hog() -> int:
        while not began.is_set():  # noqa: ASYNC110  # it is set in a thread
            await asyncio.sleep(0)
        time.sleep(0.8)  # noqa: ASYNC251  # that it blocks is what is tried
        return 1

    @tool(name="slow", effect="read", timeout=0.1, retry={"max_retries": 0})
    def slow() -> int:
        began.set()
        time.sleep(0.5)
        return 1

    async with opened(hog, slow, clock=SystemClock()) as tp:
        plan = {"failure_mode": "isolate", "steps": [{"id": "hog", "tool": "hog"}, {"id": "a", "tool": "slow"}]}
        found = await run_in(tp, plan)
    assert found.statuses() == {"hog": "succeeded", "a": "timed_out"}


async def test_a_budget_of_steps_says_what_would_be_too_many() -> None:
    back = {"id": "b", "tool": "t", "when": "state.go", "on_success": {"next": "a"}}
    steps = [{"id": "a", "tool": "t", "on_success": {"next": "b"}}, back]
    plan = {"limits": {"steps": 2}, "flow": "chain", "state": {"go": True}, "steps": steps}
    clock = FakeClock(auto=True)
    found = await run(plan, scripted("t", then=lambda _: after(clock, 1)), clock=clock)
    assert found.result.error is not None
    assert "is 2" in found.result.error.message
    assert "make it 3" in found.result.error.message
