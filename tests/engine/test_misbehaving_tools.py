"""Tools that do what no tool should: the run still ends with a record of it, and nothing else is harmed."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import enum
import threading
from typing import Any

import pytest
from engine_cases import identity, opened, run, run_in

from toolpath import Settings, Tool, ToolContext, ToolFailed, ToolpathError, ToolRetry, tool
from toolpath.model.events import encode_event
from toolpath.model.tool import Body, ToolResult
from toolpath.testing.scripted import scripted

ONE = {"steps": [{"id": "a", "tool": "t", "retry": {"max_retries": 0}}]}


def raising(error: BaseException, runs: Any = "loop") -> Tool:
    def invoke(inputs: Any, context: Any) -> Any:
        raise error

    return Tool(name="t", effect="read", input_schema={"type": "object"}, body=Body(invoke=invoke, runs=runs))


class OwnBase(BaseException):
    pass


class BrokenText(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class BrokenEverything(Exception):
    def __str__(self) -> str:
        raise SystemExit(3)

    __repr__ = __str__


ERRORS = [
    SystemExit(1),
    KeyboardInterrupt(),
    asyncio.CancelledError(),
    GeneratorExit(),
    OwnBase("own"),
    BrokenText(),
    StopIteration(3),
    StopAsyncIteration(),
    RecursionError("deep"),
    MemoryError(),
    ExceptionGroup("many", [ValueError("1"), KeyError("2")]),
    BaseExceptionGroup("many", [OwnBase("1")]),
    Exception("x" * 1_000_000),
    Exception("\ud800 lone"),
    ValueError(),
]


@pytest.mark.parametrize("runs", ["loop", "thread"])
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
async def test_whatever_a_tool_raises_is_a_recorded_failure_and_the_next_run_is_not_harmed(
    error: BaseException, runs: Any
) -> None:
    async with opened(raising(error, runs), identity("ok")) as tp:
        found = await run_in(tp, ONE)
        assert (found.status, found.statuses()) == ("failed", {"a": "failed"})
        recorded = found.result.error
        assert recorded is not None
        assert recorded.type == type(error).__name__ or runs == "thread"
        assert recorded.message
        assert len(recorded.message) <= 10_000
        assert (await run_in(tp, {"steps": [{"tool": "ok"}]})).status == "completed"


async def test_an_error_whose_text_ends_the_process_is_a_failure_too() -> None:
    found = await run(ONE, raising(BrokenEverything()))
    assert found.status == "failed"


async def test_a_tool_that_raises_cancelled_is_not_taken_for_a_cancelled_run() -> None:
    plan = {"failure_mode": "isolate", "steps": [{"id": "a", "tool": "t"}, {"id": "b", "tool": "ok"}]}
    found = await run(plan, scripted("t", then=asyncio.CancelledError()), identity("ok"))
    assert found.status == "failed"
    assert found.statuses() == {"a": "failed", "b": "succeeded"}


async def test_an_async_tool_that_cancels_its_own_task_only_fails_itself() -> None:
    async def suicide(inputs: Any) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    plan = {"failure_mode": "isolate", "steps": [{"id": "a", "tool": "t"}, {"id": "b", "tool": "ok"}]}
    found = await run(plan, scripted("t", then=suicide), identity("ok"))
    assert found.statuses()["b"] == "succeeded"
    assert found.status in ("failed", "cancelled")


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def cyclic() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


def generator() -> Any:
    yield 1


async def coroutine() -> int:
    return 5


async def async_generator() -> Any:
    yield 1


class Plain:
    pass


class Lying(dict[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise RuntimeError("no")

    def items(self) -> Any:
        raise RuntimeError("no")


NO_JSON: list[tuple[str, Any]] = [
    ("object", Plain),
    ("generator", generator),
    ("async generator", async_generator),
    ("function", lambda: len),
    ("class", lambda: int),
    ("nan", lambda: float("nan")),
    ("nan inside", lambda: {"a": [1, {"b": float("inf")}]}),
    ("cyclic", cyclic),
    ("deep", lambda: nested(100_000)),
    ("lone surrogate", lambda: {"a": "\ud800"}),
    ("lone surrogate as key", lambda: {"\ud800": 1}),
    ("module", lambda: asyncio),
    ("lock", threading.Lock),
    ("keys that are no text", lambda: {(1, 2): 3}),
    ("exception", lambda: ValueError("returned")),
]


@pytest.mark.parametrize(("name", "make"), NO_JSON, ids=[name for name, _ in NO_JSON])
async def test_a_result_that_is_no_json_has_failed_and_says_so(name: str, make: Any) -> None:
    async with opened(bare(make), identity("ok")) as tp:
        found = await run_in(tp, ONE)
        assert found.status == "failed", found.outputs
        assert found.result.error is not None
        assert found.result.error.code in ("invalid_output", "tool_failed")
        assert (await run_in(tp, {"steps": [{"tool": "ok"}]})).status == "completed"


def bare(make: Any, runs: Any = "loop") -> Tool:
    """A tool that gives just what this makes."""
    return Tool(
        name="t", effect="read", input_schema={"type": "object"}, body=Body(invoke=lambda i, c: make(), runs=runs)
    )


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    y: int


PLAIN: list[tuple[str, Any, Any]] = [
    ("tuple", lambda: (1, (2, 3)), [1, [2, 3]]),
    ("set", lambda: {1}, [1]),
    ("bytes", lambda: b"abc", "YWJj"),
    ("int keys", lambda: {1: "a", 2: "b"}, {"1": "a", "2": "b"}),
    ("enum", lambda: Colour.RED, "red"),
    ("dataclass", lambda: Point(1, 2), {"x": 1, "y": 2}),
    ("date", lambda: datetime.date(2026, 1, 2), "2026-01-02"),
    ("none", lambda: None, None),
    ("empty", dict, {}),
    ("deep enough", lambda: nested(150), nested(150)),
    ("coroutine", coroutine, 5),
    ("big number", lambda: 2**60, 2**60),
]


@pytest.mark.parametrize(("name", "make", "value"), PLAIN, ids=[name for name, _, _ in PLAIN])
async def test_what_json_has_a_form_for_becomes_plain(name: str, make: Any, value: Any) -> None:
    found = await run(ONE, bare(make))
    assert (found.status, found.outputs) == ("completed", {"a": value})


async def test_a_result_deeper_than_anything_here_goes_is_refused_or_carried_whole() -> None:
    plan = {"steps": [{"id": "a", "tool": "t"}, {"id": "b", "tool": "u", "inputs": {"v": "{{ a }}"}}]}
    found = await run(plan, bare(lambda: nested(900)), identity("u"))
    assert found.status == "failed" or found.outputs == {"b": {"v": nested(900)}}


async def test_a_result_of_a_hundred_megabytes_is_refused_without_harm() -> None:
    found = await run(ONE, bare(lambda: "x" * 100_000_001))
    assert found.status == "failed"
    assert found.result.error is not None
    assert found.result.error.type == "ResultTooLarge"
    assert len(found.result.error.message) < 500


async def test_a_tool_that_prints_does_not_spoil_anything(capsys: pytest.CaptureFixture[str]) -> None:
    @tool(effect="read")
    def t() -> int:
        print("noise")  # noqa: T201
        return 1

    found = await run(ONE, t)
    assert found.outputs == {"a": 1}


@pytest.mark.parametrize("runs", ["loop", "thread"])
async def test_a_tool_that_changes_its_inputs_changes_only_its_own_copy(runs: Any) -> None:
    def spoil(inputs: dict[str, Any], context: Any) -> Any:
        inputs["v"]["rows"].append("spoilt")
        inputs["given"].clear()
        inputs["lit"][0]["k"] = "spoilt"
        return {}

    spoiler = Tool(name="spoil", effect="read", input_schema={"type": "object"}, body=Body(invoke=spoil, runs=runs))
    plan = {
        "flow": "chain",
        "inputs": {"type": "object", "properties": {"given": {"type": "array"}}},
        "steps": [
            {"id": "a", "tool": "src", "on_success": {"map_outputs": {"rows": "rows"}}},
            {"id": "s", "tool": "spoil", "inputs": {"v": "{{ a }}", "given": "{{ inputs.given }}", "lit": [{"k": 1}]}},
            {
                "id": "b",
                "tool": "t",
                "inputs": {"v": "{{ a }}", "given": "{{ inputs.given }}", "rows": "{{ state.rows }}"},
            },
        ],
    }
    given = {"given": [1]}
    found = await run(plan, scripted("src", {"rows": [1]}), spoiler, identity("t"), inputs=given)
    assert found.outputs == {"v": {"rows": [1]}, "given": [1], "rows": [1]}
    assert found.result.step("s").inputs == {"v": {"rows": [1]}, "given": [1], "lit": [{"k": 1}]}
    assert given == {"given": [1]}


async def test_a_tool_that_changes_its_inputs_and_is_retried_sees_them_as_they_were() -> None:
    seen: list[Any] = []

    def spoil(inputs: dict[str, Any]) -> Any:
        seen.append(list(inputs["v"]))
        inputs["v"].append(2)
        return ValueError("again") if len(seen) < 3 else {}

    plan = {"steps": [{"id": "a", "tool": "t", "inputs": {"v": [1]}, "retry": {"max_retries": 3, "backoff": "none"}}]}
    found = await run(plan, scripted("t", then=spoil))
    assert found.status == "completed"
    assert seen == [[1], [1], [1]]


async def test_a_tool_that_changes_its_result_afterwards_changes_nothing() -> None:
    kept: list[dict[str, Any]] = []

    def give() -> Any:
        kept.append({"rows": [1]})
        return kept[0]

    def spoil(inputs: dict[str, Any]) -> Any:
        kept[0]["rows"].append(2)
        return {}

    plan = {
        "flow": "chain",
        "steps": [
            {"id": "a", "tool": "t"},
            {"id": "s", "tool": "spoil"},
            {"id": "b", "tool": "u", "inputs": {"v": "{{ a }}"}},
        ],
    }
    found = await run(plan, bare(give), scripted("spoil", then=spoil), identity("u"))
    assert found.outputs == {"v": {"rows": [1]}}


async def test_many_tools_that_all_misbehave_at_once_end_the_run_in_order() -> None:
    def answer(inputs: dict[str, Any]) -> Any:
        return [OwnBase("x"), SystemExit(1), asyncio.CancelledError(), ValueError("y"), object(), {"ok": 1}][
            inputs["n"] % 6
        ]

    plan = {
        "failure_mode": "isolate",
        "concurrency": 7,
        "steps": [{"id": f"s{n}", "tool": "t", "inputs": {"n": n}, "retry": {"max_retries": 0}} for n in range(36)],
    }
    found = await run(plan, scripted("t", then=answer))
    assert found.status == "failed"
    assert list(found.statuses().values()).count("succeeded") == 6
    assert list(found.statuses().values()).count("failed") == 30


async def test_a_tool_that_closes_the_toolpath_s_run_from_inside_gets_its_answer() -> None:
    async with opened() as tp:

        async def meddle(inputs: dict[str, Any]) -> Any:
            (info,) = await tp.runs()
            await tp.pause(info.run_id)
            return {"ok": 1}

        tp.add(scripted("t", then=meddle), identity("u"))
        found = await run_in(tp, {"flow": "chain", "steps": [{"id": "a", "tool": "t"}, {"id": "b", "tool": "u"}]})
    assert found.status in ("paused", "completed")
    assert found.statuses()["a"] == "succeeded"


async def test_a_tool_may_start_runs_of_its_own() -> None:
    async with opened() as tp:

        async def start(inputs: dict[str, Any]) -> Any:
            result = await tp.run({"steps": [{"id": "x", "tool": "u", "inputs": {"v": 1}}]})
            return result.outputs

        tp.add(scripted("t", then=start), identity("u"))
        found = await run_in(tp, ONE)
    assert found.outputs == {"a": {"x": {"v": 1}}}


async def test_a_tool_whose_schema_lies_is_found_out() -> None:
    lying = scripted(
        "t",
        {"n": "text"},
        output_schema={"type": "object", "properties": {"n": {"type": "integer"}}},
        output_validation="strict",
    )
    found = await run(ONE, lying)
    assert found.result.error is not None
    assert found.result.error.code == "invalid_output"


async def test_a_dict_that_lies_about_itself_is_plain_or_refused() -> None:
    found = await run(ONE, bare(lambda: Lying(a=1)))
    assert found.status in ("completed", "failed")


async def test_an_awaitable_that_is_no_coroutine_is_awaited() -> None:
    class Later:
        def __await__(self) -> Any:
            yield from asyncio.sleep(0).__await__()
            return {"n": 1}

    found = await run(ONE, bare(Later))
    assert found.outputs == {"a": {"n": 1}}


async def test_a_def_tool_that_returns_a_coroutine_from_its_thread_is_awaited_or_refused_and_leaves_no_warning() -> (
    None
):
    found = await run(ONE, bare(coroutine, "thread"))
    assert found.status == "failed" or found.outputs == {"a": 5}


async def test_a_failure_with_details_that_are_no_json_is_recorded() -> None:
    found = await run(ONE, scripted("t", ToolFailed("no", details={"x": object()})))
    assert found.status == "failed"
    assert found.result.as_json()["error"]["message"] == "no"


async def test_results_that_are_large_but_allowed_do_not_slow_the_journal_down() -> None:
    plan = {
        "steps": [{"id": "each", "loop": {"over": list(range(20)), "steps": [{"id": "x", "tool": "t"}]}}],
        "outputs": 1,
    }
    found = await run(plan, bare(lambda: "x" * 200_000), settings=Settings(max_result_size=10_000))
    assert found.status == "completed"
    assert sum(len(str(event)) for event in found.events) < 200_000


LONE = "\ud800"


@pytest.mark.parametrize(
    "reply",
    [
        ToolFailed(LONE, details={"x": LONE}, hint=LONE),
        ToolRetry(LONE),
        {"error": LONE},
        {"success": False, "message": LONE},
        ToolResult(output=1, sources=(LONE,)),
    ],
)
async def test_text_that_is_no_unicode_in_what_a_tool_says_can_be_written(reply: Any) -> None:
    found = await run(ONE, scripted("t", reply))
    assert found.status in ("failed", "completed")


async def test_text_that_is_no_unicode_in_a_report_of_progress_can_be_written() -> None:
    @tool(effect="read")
    async def t(context: ToolContext) -> int:
        context.progress(1, 2, f"part {LONE}")
        return 1

    found = await run(ONE, t)
    assert found.status == "completed"


async def test_text_that_is_no_unicode_in_the_inputs_of_a_run_is_refused_before_it_starts() -> None:
    plan = {
        "inputs": {"type": "object", "properties": {"v": {}}},
        "steps": [{"id": "a", "tool": "t", "inputs": {"v": "{{ inputs.v }}"}}],
    }
    async with opened(identity("t")) as tp:
        with pytest.raises(ToolpathError):
            await tp.run(tp.read(plan), {"v": [LONE]})
        assert await tp.runs() == []


@pytest.mark.parametrize(
    "value",
    [object(), float("nan"), iter([1]), nested(5000), {"a": object()}],
    ids=["object", "nan", "iterator", "deep", "inside"],
)
async def test_inputs_of_a_run_that_are_no_json_are_refused_before_it_starts(value: Any) -> None:
    plan = {
        "inputs": {"type": "object", "properties": {"v": {}}},
        "steps": [{"id": "a", "tool": "t", "inputs": {"v": "{{ inputs.v }}"}}],
    }
    async with opened(t := identity("t")) as tp:
        with pytest.raises(ToolpathError):
            await tp.run(tp.read(plan), {"v": value})
        assert await tp.runs() == []
    assert t.calls == []  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "fields",
    [
        {"confidence": "high"},
        {"confidence": float("nan")},
        {"confidence": 7},
        {"sources": (object(),)},
        {"sources": 3},
        {"sources": ("x" * 5_000_000,)},
        {"cost": float("nan")},
        {"cost": -1000.0},
        {"cost": "much"},
        {"tokens": "many"},
        {"tokens": -5},
        {"tokens": 1.5},
    ],
    ids=lambda fields: repr(fields)[:30],
)
async def test_what_a_tool_says_of_its_result_is_checked_too(fields: dict[str, Any]) -> None:
    """Nonsense is left out or fails the call; it never breaks the run, the sums or the journal."""
    plan = {"flow": "chain", "steps": [{"id": "a", "tool": "t", "retry": {"max_retries": 0}}, {"id": "b", "tool": "u"}]}
    found = await run(plan, scripted("t", then=ToolResult(output=1, **fields)), identity("u"))
    assert found.status in ("completed", "failed")
    step = found.result.step("a")
    assert step.confidence is None or 0 <= step.confidence <= 1
    assert found.result.cost == 0
    assert sum(len(encode_event(event)) for event in found.events) < 1_000_000


@pytest.mark.parametrize("after_", ["soon", float("nan"), -5, float("inf"), 1e300, "9" * 5000])
async def test_a_wish_for_a_later_retry_that_makes_no_sense_does_not_stop_the_run(after_: Any) -> None:
    t = scripted("t", ToolRetry("later", retry_after=after_), {"ok": 1})
    plan = {"timeout": 3600, "steps": [{"id": "a", "tool": "t", "retry": {"max_retries": 1}}]}
    found = await run(plan, t)
    assert found.status in ("completed", "failed")
    assert found.result.total_duration <= 3600
