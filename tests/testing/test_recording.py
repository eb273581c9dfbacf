"""Record and replay: what was recorded answers again, everything else fails loudly."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolpath.errors import ReadError, ToolRetry, ToolUnavailable
from toolpath.model.plan import Plan
from toolpath.model.redaction import Redactor
from toolpath.model.tool import Body, Tool, ToolResult
from toolpath.testing.recording import RecordedError, Recorder, read_recording
from toolpath.testing.replay import Replay, ReplayMiss, revived
from toolpath.testing.scripted import scripted


async def call(tool: Tool, **inputs: Any) -> Any:
    assert isinstance(tool.body, Body)
    returned = tool.body.invoke(inputs, None)
    return await returned if asyncio.iscoroutine(returned) else returned


async def outcome(tool: Tool, **inputs: Any) -> Any:
    try:
        return await call(tool, **inputs)
    except Exception as error:
        return type(error).__name__, str(error)


def slow(name: str) -> Tool:
    async def invoke(inputs: dict[str, Any], context: Any) -> Any:
        await asyncio.sleep(0)
        return {"echo": inputs}

    return Tool(name=name, body=Body(invoke=invoke))


async def test_what_was_recorded_answers_again(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    live = scripted("blog.create", {"id": 1}, ToolRetry("busy", retry_after=2.0), KeyError("gone"), {"id": 2})
    with Recorder(file) as recorder:
        recorded, echo = recorder.record([live, slow("echo")])
        first = [await outcome(recorded, n=n) for n in (1, 2, 2, 2)] + [await outcome(echo, x=[1, None])]
    replay = Replay(file)
    again, echo = replay.replay([scripted("blog.create"), slow("echo")])
    # Another order of different inputs does not matter; that of equal ones does.
    second = [await outcome(again, n=n) for n in (2, 2, 2, 1)] + [await outcome(echo, x=[1, None])]
    assert [second[3], *second[:3], second[4]] == first
    replay.assert_complete()


async def test_inputs_are_compared_by_value(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    with Recorder(file) as recorder:
        await call(recorder.record([slow("echo")])[0], a=1.0, b={"x": 1, "y": 2})
    (tool,) = Replay(file).replay([slow("echo")])
    assert await call(tool, b={"y": 2, "x": 1.0}, a=1) == {"echo": {"a": 1.0, "b": {"x": 1, "y": 2}}}


async def test_a_miss_fails_and_shows_the_nearest_recorded_call(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    with Recorder(file) as recorder:
        (tool,) = recorder.record([slow("echo")])
        await call(tool, city="Paris", days=3)
        await call(tool, city="Rome", days=30)
    replay = Replay(file)
    (tool,) = replay.replay([slow("echo")])
    with pytest.raises(ReplayMiss) as caught:
        await call(tool, city="Rome", days=31)
    assert '-  "days": 30' in str(caught.value)
    assert '+  "days": 31' in str(caught.value)
    with pytest.raises(AssertionError, match=r"echo: 2 recorded calls were not made\."):
        replay.assert_complete()


async def test_one_call_too_many_and_unknown_tools_are_misses(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    with Recorder(file) as recorder:
        await call(recorder.record([slow("echo")])[0], a=1)
    replay = Replay(file)
    echo, other = replay.replay([slow("echo"), slow("other")])
    await call(echo, a=1)
    with pytest.raises(ReplayMiss, match="called 2 times with these inputs; 1 such"):
        await call(echo, a=1)
    with pytest.raises(ReplayMiss, match=r"No call of other is recorded in calls\.jsonl; it holds: echo"):
        await call(other)
    assert len(replay.misses) == 2


async def test_strict_order_refuses_calls_that_come_in_another_order(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    with Recorder(file) as recorder:
        a, b = recorder.record([slow("a"), slow("b")])
        await call(a)
        await call(b)
    a, b = Replay(file, order="strict").replay([slow("a"), slow("b")])
    with pytest.raises(ReplayMiss, match="Call 1 is not the recorded one"):
        await call(b)
    await call(a)
    await call(b)
    with pytest.raises(ReplayMiss, match="after the recording's last call"):
        await call(b)


async def test_secrets_are_not_written_and_still_match(tmp_path: Path) -> None:
    file, redactor = tmp_path / "calls.jsonl", Redactor(["hunter22"])
    with Recorder(file, redactor=redactor) as recorder:
        await call(recorder.record([slow("echo")])[0], token="Bearer hunter22")
    assert "hunter22" not in file.read_text()
    (tool,) = Replay(file, redactor=redactor).replay([slow("echo")])
    assert await call(tool, token="Bearer hunter22") == {"echo": {"token": "Bearer [redacted]"}}


async def test_what_a_tool_told_of_its_result_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    told = ToolResult(output=[1], confidence=0.4, sources=("s",), cost=0.01, tokens=7)
    with Recorder(file) as recorder:
        assert await call(recorder.record([scripted("t", told)])[0]) is told
    (tool,) = Replay(file).replay([scripted("t")])
    assert await call(tool) == told


async def test_a_cancelled_call_waits_to_be_cancelled_again(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"

    async def forever(inputs: dict[str, Any], context: Any) -> None:
        await asyncio.Event().wait()

    async def cut_off(tool: Tool) -> bool:
        task = asyncio.create_task(call(tool))
        for _ in range(5):
            await asyncio.sleep(0)
        if task.done():
            return False
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return task.cancelled()

    tool = Tool(name="t", body=Body(invoke=forever))
    with Recorder(file) as recorder:
        assert await cut_off(recorder.record([tool])[0])
    assert await cut_off(Replay(file).replay([tool])[0])


def test_composites_are_left_since_their_calls_are_recorded(tmp_path: Path) -> None:
    composite = Tool(name="c", body=Plan())
    with Recorder(tmp_path / "calls.jsonl") as recorder:
        assert recorder.record([composite]) == [composite]
    assert Replay(tmp_path / "calls.jsonl").replay([composite]) == [composite]


async def test_a_tool_made_of_a_plain_function_is_recorded_and_keeps_its_schema(tmp_path: Path) -> None:
    def double(x: int) -> int:
        return 2 * x

    with Recorder(tmp_path / "calls.jsonl") as recorder:
        (recorded,) = recorder.record([Tool(name="double", body=double)])
        assert await call(recorded, x=4) == 8
    (again,) = Replay(tmp_path / "calls.jsonl").replay([Tool(name="double", body=double)])
    assert await call(again, x=4) == 8
    assert again.input_schema == recorded.input_schema
    assert recorded.input_schema["required"] == ["x"]


@pytest.mark.parametrize("text", ["{", '{"inputs": {}}', '{"tool": 1}', "[]", '{"tool": "t"}\n\x00'])
def test_a_file_that_is_no_recording_is_refused_with_its_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "calls.jsonl"
    file.write_text(text)
    with pytest.raises(ReadError, match=r"calls\.jsonl:\d is no recorded call"):
        Replay(file)


def test_a_recording_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="cannot be read"):
        Replay(tmp_path / "none.jsonl")


def test_errors_come_back_as_what_they_were() -> None:
    assert type(revived(RecordedError(type="ConnectionError", message="refused"))) is ConnectionError
    assert type(revived(RecordedError(type="ToolUnavailable", message="gone"))) is ToolUnavailable
    own = revived(RecordedError(type="QuotaError", message="full", code="rate_limit", retryable=True))
    assert (type(own).__name__, str(own), own.retryable) == ("QuotaError", "full", True)  # type: ignore[attr-defined]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(min_size=1), json_values, max_size=4))
def test_any_inputs_and_outputs_survive_the_file(tmp_path_factory: Any, inputs: dict[str, Any]) -> None:
    file = tmp_path_factory.mktemp("recording") / "calls.jsonl"

    async def both() -> tuple[Any, Any]:
        tool = scripted("t", inputs)
        with Recorder(file) as recorder:
            (recorded,) = recorder.record([tool])
            assert isinstance(recorded.body, Body)
            live = recorded.body.invoke(inputs, None)
        (again,) = Replay(file).replay([tool])
        assert isinstance(again.body, Body)
        return live, await again.body.invoke(inputs, None)

    live, replayed = asyncio.run(both())
    assert replayed == live
    assert len(read_recording(file)) == 1


@pytest.mark.parametrize(
    ("kind", "code"), [("ToolRetry", "rate_limit"), ("ToolFailed", "not_found"), ("ToolRetry", "tool_retry")]
)
def test_a_recorded_failure_comes_back_with_the_code_it_had(kind: str, code: str) -> None:
    error = revived(RecordedError(type=kind, message="no", code=code))
    assert (type(error).__name__, error.code) == (kind, code)
