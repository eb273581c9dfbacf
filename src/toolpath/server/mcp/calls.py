"""A call of a published tool: a run of one step, begun or gone on with, and its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types import Tool as McpTool

from toolpath.app import Toolpath
from toolpath.engine.drive.large import LargeValues, digests_of
from toolpath.errors import RunNotFound, SchemaError, ToolpathError
from toolpath.json_schema.coerce import coerce
from toolpath.json_schema.validate import Validator
from toolpath.model.run import RunResult
from toolpath.model.template import TemplateRun
from toolpath.projections.questions import Question
from toolpath.runs.opening import call_plan
from toolpath.server.mcp.answers import error_answer, failure_answer, output_answer, raised_answer, waiting_answer
from toolpath.server.mcp.client import McpClient
from toolpath.server.mcp.following import follow
from toolpath.server.mcp.listing import Published
from toolpath.server.mcp.questions import bring_answer, elicitation_of, may_be_elicited
from toolpath.server.visibility import visible_run
from toolpath.values import Json, JsonObject

#: Arguments of one call.
_MOST_ARGUMENTS = 1_000


#: Gives what is run for these arguments.
Runs = Callable[[JsonObject], Awaitable[TemplateRun]]


async def call_published(
    tp: Toolpath,
    published: Published,
    client: McpClient,
    params: CallToolRequestParams,
    *,
    runs: Runs | None = None,
) -> CallToolResult | InputRequiredResult:
    """Call the tool, or go on with the call whose questions are answered now; None: the tool of the catalogue."""
    refused = scope_refusal(client, "run")
    if refused is not None:
        return refused
    try:
        if params.request_state is not None:
            run_id, said = await take_answers(tp, client, params)
        else:
            run_id, said = await _begin(tp, published, client, params.arguments or {}, runs), {}
        result = await follow(tp, run_id, client)
    except ToolpathError as error:
        return raised_answer(error)
    if result.status in ("waiting", "paused"):
        return input_required(result, client, said) or waiting_answer(result)
    if not result.success:
        return failure_answer(result)
    result.outputs = await restored(tp, result)
    return output_answer(published, result)


async def _begin(tp: Toolpath, published: Published, client: McpClient, given: JsonObject, runs: Runs | None) -> str:
    arguments = accepted(published.told, given)
    what = call_plan(published.tool.key, arguments) if runs is None else await runs(arguments)
    run = await tp.start(what, arguments, context=client.caller.context(), priority=client.caller.priority)
    return run.run_id


def scope_refusal(client: McpClient, scope: str) -> CallToolResult | None:
    """The answer to a client whose credentials do not allow it."""
    if client.caller.may(scope):
        return None
    return error_answer("scope", f"These credentials lack the scope {scope!r}.", hint="Ask for others that have it.")


def accepted(tool: McpTool, given: JsonObject) -> JsonObject:
    """The arguments, checked. Raises `SchemaError` with every fault."""
    if len(given) > _MOST_ARGUMENTS:
        raise SchemaError(f"{len(given):,} arguments; a call has at most {_MOST_ARGUMENTS:,}.")
    arguments = coerce(given, tool.input_schema)
    faults = Validator(tool.input_schema).faults(arguments)
    if faults:
        told = "; ".join(f"{at or '/'}: {what}" for at, what in faults)
        raise SchemaError(f"The arguments do not fit {tool.name!r}: {told}", faults=list(faults))
    accepted: JsonObject = arguments
    return accepted


# Questions as results, as the newer generation has them.


#: What is wrong with each answer by its key, empty: nothing; None: the person would not say now.
Said = dict[str, str | None]


def input_required(result: RunResult, client: McpClient, said: Said) -> InputRequiredResult | None:
    """The open questions for the client's person; None where they cannot be asked this way."""
    if not client.is_modern or not client.has_forms or not result.questions:
        return None
    if None in said.values() or not all(map(may_be_elicited, result.questions)):
        return None
    requests = {
        str(question.seq): ElicitRequest(params=elicitation_of(question, said.get(str(question.seq)) or ""))
        for question in result.questions
    }
    # Another round has another state; the run alone says what it is.
    state = f"{result.run_id}/{result.questions[-1].seq}"
    return InputRequiredResult(input_requests=dict(requests), request_state=state)


async def take_answers(tp: Toolpath, client: McpClient, params: CallToolRequestParams) -> tuple[str, Said]:
    """The run that the client was asked for, its answers brought to it; and what came of each. Raises `MCPError`."""
    run_id = await _asking_run(tp, client, params.request_state or "")
    result = await tp.result(run_id)
    said: Said = {}
    for question in result.questions if client.has_forms else ():
        answer = (params.input_responses or {}).get(str(question.seq))
        if isinstance(answer, ElicitResult) and may_be_elicited(question):
            said[str(question.seq)] = await bring_answer(tp, run_id, question, answer, by=client.caller.user)
    return run_id, said


async def _asking_run(tp: Toolpath, client: McpClient, state: str) -> str:
    """The run that a `requestState` names. It needs no seal: it opens nothing that the caller may not see anyway.

    The state is the protocol's, not an argument: who sends a wrong one breaks the protocol and gets an `MCPError`.
    """
    run_id, _, number = state[:200].partition("/")
    try:
        await visible_run(tp, client.caller, run_id)
    except RunNotFound as error:
        raise MCPError(INVALID_PARAMS, f"requestState names no run: {error.message}", {"code": error.code}) from None
    asked = {str(event.seq) for event in await tp.events(run_id) if isinstance(event, Question)}
    if number not in asked:
        raise MCPError(INVALID_PARAMS, "requestState is none that this server gave.", {"code": "request_state"})
    return run_id


async def restored(tp: Toolpath, result: RunResult) -> Json:
    """The outputs with large values in place of their handles."""
    large = LargeValues()
    wanted = frozenset(digests_of(result.outputs))
    if wanted:
        await large.load(await tp.events(result.run_id), tp.store, only=wanted)
    return large.restored(result.outputs)
