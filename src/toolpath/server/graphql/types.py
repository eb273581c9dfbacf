"""Types of GraphQL's answers: plans, executions, tools, questions, events. Values of any shape travel as JSON text."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import msgspec
import strawberry

from toolpath.values import Json

JsonText = Annotated[str, strawberry.argument(description="JSON as text.")]


@strawberry.type(description="Input and output as texts, as the chaining system keeps plans.")
class Plan:
    """A plan as two texts."""

    id: strawberry.ID
    input: str
    output: str
    created_at: str
    updated_at: str


@strawberry.type(description="Input and output as texts, as the chaining system keeps executions.")
class Execution:
    """An execution as two texts."""

    id: strawberry.ID
    input: str
    output: str
    created_at: str
    updated_at: str


@strawberry.type(description="A tool that plans may use.")
class Tool:
    """A tool."""

    name: str
    description: str
    category: str | None
    parameters: str = strawberry.field(description="JSON Schema of its parameters, as JSON text.")


@strawberry.type(description="One call of a plan.")
class ToolExecution:
    """A call."""

    tool_name: str
    parameters: str = strawberry.field(description="JSON text; `{{tool.field}}` reads an earlier output.")
    depends_on: str | None = strawberry.field(description="The tool whose output it waits for last; null: none.")
    output_mapping: str | None = strawberry.field(description="JSON text: field of the output to variable.")
    step_id: str = strawberry.field(description="Its id in the plan, by which results are kept.")


@strawberry.type(description="A plan of a request: one version of it.")
class PlanWithRequest:
    """A stored plan."""

    id: strawberry.ID
    request_id: str
    plan_id: str
    query: str
    plan: str = strawberry.field(description="What it will do, for people.")
    selected_tools: list[ToolExecution]
    tool_order: list[str]
    execution_state: str = strawberry.field(description="pending, in-progress, completed or failed.")
    execution_results: str | None = strawberry.field(
        description="JSON text: output by tool, and `errors`; null before it was executed."
    )
    validation_result: str | None = strawberry.field(description="JSON text: `{isValid, errors}`.")
    created_at: str
    updated_at: str
    version: int = strawberry.field(description="Among the plans of its request, from 1.")
    document: str = strawberry.field(description="The plan in its own notation, as JSON text.")


@strawberry.type(description="A plan that was made of a query.")
class PlanWithTools:
    """A stored plan with the tools that it uses."""

    id: strawberry.ID
    query: str
    plan: str
    selected_tools: list[Tool]
    validation_result: str | None
    created_at: str
    updated_at: str


@strawberry.type(description="What a person is asked before a run can go on.")
class Question:
    """A question."""

    run_id: str
    step: str
    kind: str = strawberry.field(description="approval, input or settle.")
    title: str
    tool: str
    inputs: str | None = strawberry.field(description="JSON text: what the step would be called with.")
    form: str | None = strawberry.field(description="JSON text: the fields of the form.")
    deadline: str | None


@strawberry.type(description="What came of a plan.")
class ExecutionWithChaining:
    """A run of a stored plan."""

    id: strawberry.ID
    request_id: str
    plan_id: str
    total_executions: int
    successful: int
    failed: int
    results: str = strawberry.field(
        description="JSON text: a list of `{tool, output}`, or `left_out` where too large, and why each failed."
    )
    outputs: str = strawberry.field(description="JSON text: output by tool.")
    errors: list[str]
    created_at: str
    updated_at: str
    run_id: str
    state: str = strawberry.field(description="pending, in-progress, completed or failed.")
    status: str = strawberry.field(description="The run's own word, e.g. waiting or completed_with_errors.")
    questions: list[Question]


@strawberry.type(description="What came of tools that were executed at once.")
class ExecutionWithResults:
    """A run of tools that were given with the call."""

    id: strawberry.ID
    plan: str
    total_executions: int
    successful: int
    failed: int
    results: str
    errors: list[str]
    created_at: str
    updated_at: str


@strawberry.type(description="One event of a run's journal.")
class RunEvent:
    """An event."""

    run_id: str
    seq: int
    type: str
    at: str
    data: str = strawberry.field(description="The whole event, as JSON text.")


def text(value: Json) -> str:
    """The value as JSON text."""
    return msgspec.json.encode(value).decode()


def moment(at: float) -> str:
    """Unix time as ISO 8601 in UTC."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
