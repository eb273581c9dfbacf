"""Answers to a client: outputs, failures, runs that wait. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from mcp_types import CallToolResult, ContentBlock, TextContent
from pydantic import TypeAdapter, ValidationError

from toolpath.errors import Finding, ToolpathError
from toolpath.expressions.extent import extent
from toolpath.model.events import ApprovalRequested, Failure, InputRequested
from toolpath.model.run import ENDED_RUN, RunResult, StepResult
from toolpath.projections.questions import Question
from toolpath.server.mcp.listing import Published
from toolpath.server.problems import hint_of, in_short, words_of
from toolpath.values import Json, JsonObject

#: Bytes of one answer; a larger output stays with its run.
LARGEST_ANSWER = 5_000_000
#: Where an answer names its run, for programs.
RUN = "toolpath/run"
ERROR = "toolpath/error"
_BLOCKS = {"text", "image", "audio", "resource", "resource_link"}
_MOST_STEPS = 200
_MOST_FINDINGS = 50
_blocks: TypeAdapter[list[ContentBlock]] = TypeAdapter(list[ContentBlock])


def output_answer(published: Published, result: RunResult) -> CallToolResult:
    """The output of a run of this tool."""
    output = result.outputs
    # Told before it is written out: it may hold one large value many times.
    if (least := extent(output).characters) > LARGEST_ANSWER:
        return _too_large(least, result.run_id)
    structured, fault = published.structured(output)
    if fault:
        return error_answer(
            "invalid_output",
            f"The tool did its work, but its output is not what it promises: {fault}. Output: {text_of(output)[:4000]}",
            run_id=result.run_id,
        )
    text = text_of(output)
    if len(text) > LARGEST_ANSWER:
        return _too_large(len(text), result.run_id)
    blocks = _blocks_of(output) if published.told.output_schema is None else None
    return CallToolResult(
        content=blocks if blocks is not None else [TextContent(type="text", text=text)],
        structured_content=structured,
        _meta={RUN: result.run_id},
    )


def _too_large(characters: int, run_id: str) -> CallToolResult:
    return error_answer(
        "too_large",
        f"The output has {characters:,} characters; an answer has at most {LARGEST_ANSWER:,}.",
        hint="Take what you need of it in a plan (`run_plan`): a step reads the output of the one before.",
        run_id=run_id,
    )


def json_answer(value: JsonObject, *, is_error: bool = False) -> CallToolResult:
    """A record, as text and as structured content."""
    return CallToolResult(
        content=[TextContent(type="text", text=text_of(value))], structured_content=value, is_error=is_error
    )


def error_answer(
    code: str, message: str, *, hint: str = "", run_id: str = "", more: JsonObject | None = None
) -> CallToolResult:
    """An error: its stable code, what is wrong, what to do, and the run where there is one."""
    text = f"{code}: {message} {hint}".rstrip()
    if run_id and run_id not in text:
        text += f"\nRun: {run_id}"
    error: JsonObject = {"code": code, "message": message, **({"hint": hint} if hint else {}), **(more or {})}
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        is_error=True,
        _meta={ERROR: error, **({RUN: run_id} if run_id else {})},
    )


def raised_answer(error: ToolpathError) -> CallToolResult:
    """The answer for an error of the engine, in its own words, with every finding."""
    findings: tuple[Finding, ...] = tuple(getattr(error, "findings", ()))
    faults: Iterable[tuple[str, str]] = getattr(error, "faults", ())
    more: JsonObject = {
        "suggestions": list(error.suggestions),
        "findings": [msgspec.to_builtins(finding) for finding in findings[:_MOST_FINDINGS]],
        "faults": [list(fault) for fault in list(faults)[:_MOST_FINDINGS]],
        "missing": list(getattr(error, "missing", ())),
    }
    text = in_short(words_of(error))
    if error.suggestions:
        text += f" Did you mean {' or '.join(repr(name) for name in error.suggestions)}?"
    # `PlanInvalid` names its findings in its message already.
    lines = [str(finding) for finding in findings[:_MOST_FINDINGS] if finding.message not in text]
    return error_answer(
        error.code,
        "\n  ".join([text, *lines]),
        hint=hint_of(error),
        more={name: value for name, value in more.items() if value},
    )


def failure_answer(result: RunResult) -> CallToolResult:
    """A run that ended otherwise than well."""
    failure = result.error or _last_failure(result.results)
    if failure is None:
        reason = f": {result.reason}" if result.reason else "."
        hint = "" if result.status in ENDED_RUN else "Look at it with `get_run`."
        return error_answer(result.status, f"The run is {result.status}{reason}", hint=hint, run_id=result.run_id)
    more: JsonObject = {"type": failure.type, "retryable": failure.retryable, "details": failure.details}
    return error_answer(
        failure.code,
        failure.message,
        hint=failure.hint,
        run_id=result.run_id,
        more={name: value for name, value in more.items() if value},
    )


def _last_failure(steps: tuple[StepResult, ...]) -> Failure | None:
    return next((step.error for step in reversed(steps) if step.error is not None), None)


def waiting_answer(result: RunResult) -> CallToolResult:
    """A run that only people can bring on, for a client that cannot ask one: what it asks, and how to answer."""
    if result.status == "paused":
        return error_answer(
            "paused", f"The run {result.run_id} is paused.", hint=f"toolpath runs resume {result.run_id}"
        )
    asked = [question_record(question) for question in result.questions]
    lines = [f"The run {result.run_id} waits for a person."]
    for record in asked:
        lines.append(f"- {record['step'] or 'the run'}: {record['title']}")
        lines.append(f"  Answer with the tool `answer`: {text_of(how_to_answer(result.run_id, record))}")
    for step in result.results:
        if step.status == "unknown":
            lines.append(f"- {step.path}: it is not known whether this write was made.")
            lines.append(f"  toolpath settle {result.run_id} {step.path} --retry | --output JSON | --failed")
    return error_answer("waiting", "\n".join(lines), run_id=result.run_id, more={"questions": asked})


def question_record(question: Question) -> JsonObject:
    """The question to a person, as JSON."""
    match question:
        case InputRequested():
            form = question.form
            record: JsonObject = {
                "step": question.path,
                "kind": "form",
                "title": form.get("title") or "A question",
                "description": form.get("description") or "",
                "fields": form.get("inputs") or [],
                "deadline": question.deadline,
            }
        case ApprovalRequested():
            record = {
                "step": question.path,
                "kind": "approval",
                "title": f"May {question.tool or question.path} be run?",
                "tool": question.tool,
                "inputs": question.inputs,
            }
    return {name: value for name, value in record.items() if value not in ("", None)}


def how_to_answer(run_id: str, record: JsonObject) -> JsonObject:
    """The arguments of `answer` that answer it."""
    if record["kind"] == "approval":
        return {"run_id": run_id, "step": record.get("step", ""), "approve": True}
    return {
        "run_id": run_id,
        "step": record.get("step", ""),
        "values": {str(field.get("name")): "…" for field in record.get("fields", [])},
    }


def run_record(result: RunResult) -> JsonObject:
    """A run as the meta-tools tell it."""
    record: JsonObject = {
        "run_id": result.run_id,
        "status": result.status,
        "success": result.success,
        "outputs": result.outputs,
        "duration": round(result.total_duration, 3),
        "steps": [_step_record(step) for step in result.results[:_MOST_STEPS]],
    }
    if len(result.results) > _MOST_STEPS:
        record["more_steps"] = len(result.results) - _MOST_STEPS
    if result.reason:
        record["reason"] = result.reason
    failure = result.error
    if failure is not None:
        record["error"] = {"code": failure.code, "message": failure.message, "hint": failure.hint}
    if result.questions:
        record["questions"] = [
            {**asked, "answer_with": how_to_answer(result.run_id, asked)}
            for asked in map(question_record, result.questions)
        ]
    return record


def _step_record(step: StepResult) -> JsonObject:
    record: JsonObject = {"step": step.path, "tool": step.tool, "status": step.status}
    if step.error is not None:
        record["error"] = {"code": step.error.code, "message": step.error.message}
    if step.reason:
        record["reason"] = step.reason
    return record


def text_of(value: Json) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _blocks_of(output: Json) -> list[Any] | None:
    """The content blocks that a tool of an MCP server gave; None for any other output."""
    if not isinstance(output, list) or not output:
        return None
    if not all(isinstance(item, dict) and item.get("type") in _BLOCKS for item in output):
        return None
    try:
        return list(_blocks.validate_python(output, by_name=False))
    except ValidationError:
        return None
