"""Spans as the conventions for generative AI have them: one per run, one per attempt, one trace for all of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv.attributes import error_attributes, http_attributes, url_attributes
from opentelemetry.trace import StatusCode, get_current_span
from tests.telemetry.telemetry_cases import ASKING, PLAN, Desk, desk_of

from toolpath import RunContext, ToolContext, Toolpath
from toolpath.model.traceparent import current_trace, trace_in
from toolpath.telemetry import conventions
from toolpath.telemetry.traces import Traces

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Spans:
    """What was exported, by name."""

    def __init__(self, **provider: Any) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False, **provider)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    def traces(self, **options: Any) -> Traces:
        return Traces(self.provider, **options)

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.exporter.get_finished_spans() if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        (span,) = self.named(name)
        return span


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


async def test_a_run_is_one_trace_with_a_span_for_each_attempt() -> None:
    spans = Spans()
    async with desk_of(None, spans.traces()) as tp:
        result = await tp.run(tp.read(PLAN), context=RunContext(conversation_id="talk-1"))
    assert result.status == "completed_with_errors"
    run = spans.one("invoke_workflow letter")
    assert run.parent is None
    assert attributes(run) == {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": "letter",
        "gen_ai.conversation.id": "talk-1",
        "toolpath.run.id": result.run_id,
        "toolpath.run.status": "completed_with_errors",
    }
    everything = spans.exporter.get_finished_spans()
    assert {span.context.trace_id for span in everything} == {run.context.trace_id}
    calls = [span for span in everything if span is not run]
    assert {span.parent.span_id for span in calls if span.parent} == {run.context.span_id}
    first, second = spans.named("execute_tool desk.flaky")
    assert (first.status.status_code, second.status.status_code) == (StatusCode.ERROR, StatusCode.UNSET)
    assert attributes(first)["error.type"] == "connection"
    assert [attributes(span)["toolpath.step.attempt"] for span in (first, second)] == [1, 2]
    assert attributes(first)["gen_ai.tool.call.id"] == f"{result.run_id}/flaky/0"
    assert first.context.span_id != second.context.span_id
    model = attributes(spans.one("execute_tool desk.model"))
    assert (model["toolpath.usage.tokens"], model["toolpath.usage.cost"]) == (120, 0.25)
    assert attributes(spans.one("execute_tool desk.lost"))["error.type"] == "ValueError"
    starts = [span.start_time for span in calls]
    assert all(run.start_time <= start <= run.end_time for start in starts)


async def test_no_argument_and_no_result_is_in_a_span_unless_it_is_wanted() -> None:
    quiet, full = Spans(), Spans()
    for spans, content in ((quiet, False), (full, True)):
        async with desk_of(None, spans.traces(content=content)) as tp:
            await tp.run(tp.read(PLAN))
    assert "dear ann" not in str([attributes(span) for span in quiet.exporter.get_finished_spans()])
    read = attributes(full.one("execute_tool desk.read"))
    assert read["gen_ai.tool.call.arguments"] == '{"name":"ann"}'
    assert read["gen_ai.tool.call.result"] == '{"text":"dear ann"}'


async def test_the_callers_trace_is_gone_on_with_and_is_current_in_the_tool() -> None:
    spans, seen = Spans(), []

    async def look(context: ToolContext) -> None:
        """Look at the trace."""
        seen.append(get_current_span().get_span_context())

    def look_in_thread() -> None:
        """Look at the trace from a thread."""
        seen.append(get_current_span().get_span_context())

    async with Toolpath(observer=spans.traces()) as tp:
        tp.add(look, look_in_thread, effect="read")
        context = RunContext(metadata={"traceparent": PARENT, "tracestate": "a=b"})
        plan = {"name": "looks", "steps": [{"id": "one", "tool": "look"}, {"id": "two", "tool": "look_in_thread"}]}
        assert (await tp.run(plan, context=context)).success
    run = spans.one("invoke_workflow looks")
    assert f"{run.context.trace_id:032x}" == "4bf92f3577b34da6a3ce929d0e0e4736"
    assert f"{run.parent.span_id:016x}" == "00f067aa0ba902b7"
    made = [spans.one("execute_tool look").context, spans.one("execute_tool look_in_thread").context]
    assert sorted(context.span_id for context in seen) == sorted(context.span_id for context in made)
    assert {context.trace_id for context in seen} == {run.context.trace_id}
    assert seen[0].trace_state.to_header() == "a=b"
    assert not get_current_span().get_span_context().is_valid, "nothing is left current"


async def test_a_run_that_another_process_goes_on_with_stays_one_trace(tmp_path: Path) -> None:
    spans = Spans()
    async with desk_of(tmp_path / "runs.db", spans.traces()) as tp:
        result = await tp.run(tp.read(ASKING))
    assert result.status == "waiting"
    assert not spans.named("invoke_workflow asking")
    async with desk_of(tmp_path / "runs.db", spans.traces()) as tp:
        run = await tp.approve(result.run_id, "send")
        assert (await run.result()).success
    whole = spans.one("invoke_workflow asking")
    read, send = spans.one("execute_tool desk.read"), spans.one("execute_tool desk.send")
    assert {span.parent.span_id for span in (read, send)} == {whole.context.span_id}
    assert {span.context.trace_id for span in (read, send)} == {whole.context.trace_id}
    assert whole.start_time <= read.start_time


async def test_a_retried_run_has_a_span_of_its_own() -> None:
    spans, desk = Spans(), Desk()
    desk.failures = 2
    async with desk_of(None, spans.traces(), desk) as tp:
        result = await tp.run(tp.read(PLAN))
        assert result.status == "failed"
        again = await tp.retry(result.run_id)
        assert (await again.result()).success
    first, second = spans.named("invoke_workflow letter")
    assert first.context.trace_id == second.context.trace_id
    assert first.context.span_id != second.context.span_id
    assert first.status.status_code is StatusCode.ERROR
    ids = [span.context.span_id for span in spans.exporter.get_finished_spans()]
    assert len(ids) == len(set(ids))


async def test_calls_inside_a_tool_hang_under_it() -> None:
    spans = Spans()

    async def outer(context: ToolContext) -> Any:
        """Call another."""
        return await context.call("inner", {})

    async def inner() -> int:
        """The other."""
        return 1

    async with Toolpath(observer=spans.traces()) as tp:
        tp.add(outer, inner, effect="read")
        assert await tp.call("outer") == 1
    assert spans.one("execute_tool inner").parent.span_id == spans.one("execute_tool outer").context.span_id


async def test_what_is_not_sampled_is_not_made_but_passed_on() -> None:
    spans, seen = Spans(sampler=ParentBased(ALWAYS_OFF)), []

    async def look() -> None:
        """Look at the trace."""
        seen.append(current_trace())

    async with Toolpath(observer=spans.traces()) as tp:
        tp.add(look, effect="read")
        await tp.call("look")
        await tp.call("look", context=RunContext(metadata={"traceparent": PARENT}))
    assert seen[0]["traceparent"].endswith("-00")
    assert len(spans.exporter.get_finished_spans()) == 2, "the second, whose caller samples"


async def test_a_span_that_is_current_where_a_run_starts_is_its_parent() -> None:
    spans = Spans()
    async with desk_of(None, spans.traces()) as tp:
        with spans.provider.get_tracer("app").start_as_current_span("request") as request:
            await tp.call("desk.read", {"name": "ann"})
    run = next(s for s in spans.exporter.get_finished_spans() if s.name.startswith("invoke_workflow"))
    assert run.parent.span_id == request.get_span_context().span_id


async def test_spans_hold_no_secret() -> None:
    spans = Spans()

    async def leak(key: str) -> None:
        """Tell what must not be told."""
        raise RuntimeError(f"cannot log in with {key}")

    async with Toolpath(observer=spans.traces(content=True), secrets={"KEY": "s3cr3t-value"}) as tp:
        tp.add(leak, effect="read")
        plan = {
            "steps": [{"id": "a", "tool": "leak", "inputs": {"key": "{{ secrets.KEY }}"}, "retry": {"max_attempts": 1}}]
        }
        await tp.run(plan)
    assert spans.one("execute_tool leak").status.description == "cannot log in with [redacted]"
    assert not [span for span in spans.exporter.get_finished_spans() if "s3cr3t" in span.to_json()]


@pytest.mark.parametrize(
    "value",
    [
        "",
        "00-0-0-01",
        PARENT.upper(),
        PARENT.replace("00-4", "ff-4"),
        f"{PARENT}-x",
        "00-" + "0" * 32 + PARENT[35:],
        7,
        None,
    ],
)
def test_a_broken_traceparent_is_as_good_as_none(value: Any) -> None:
    assert trace_in({"traceparent": value}) == {}


def test_a_huge_or_unprintable_tracestate_is_left_out() -> None:
    for state in ("a=" + "b" * 2000, "a=\nb", 7):
        assert trace_in({"traceparent": PARENT, "tracestate": state}) == {"traceparent": PARENT}


def test_names_are_those_of_the_installed_conventions() -> None:
    known = {
        getattr(module, name)
        for module in (gen_ai_attributes, error_attributes, http_attributes, url_attributes)
        for name in dir(module)
        if re.fullmatch("[A-Z_]+", name) and isinstance(getattr(module, name), str)
    }
    used = {value for name, value in vars(conventions).items() if name.isupper()}
    operations = {value.value for value in gen_ai_attributes.GenAiOperationNameValues}
    assert {value for value in used if not value.startswith("toolpath.")} <= known | operations


def test_a_provider_that_is_switched_off_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    traces = Traces(TracerProvider(shutdown_on_exit=False))
    traces.taken("run_1", [])
    assert trace.get_current_span() is trace.INVALID_SPAN
    traces.calling("run_1", "a", 1)()
