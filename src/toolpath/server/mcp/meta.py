"""The server's own tools: search, plan, check, run, look, answer. One plan instead of many calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
from mcp_types import CallToolRequestParams, CallToolResult, InputRequiredResult
from mcp_types import Tool as McpTool

from toolpath.app import Toolpath
from toolpath.catalog.embeddings import Embeddings
from toolpath.catalog.search import ToolSearch
from toolpath.catalog.vector_cache import cache_file
from toolpath.checks.check import has_errors
from toolpath.errors import RunConflict, SchemaError, ToolpathError
from toolpath.expressions.extent import extent
from toolpath.model.events import ApprovalRequested
from toolpath.model.plan import Plan
from toolpath.model.run import RunResult
from toolpath.model_output.documents import read_document
from toolpath.notation.printing import plan_to_dict
from toolpath.projections.questions import Question
from toolpath.projections.results import run_end, run_result
from toolpath.runs.beside_the_loop import weight_of
from toolpath.server.mcp.answers import LARGEST_ANSWER, json_answer, raised_answer, run_record
from toolpath.server.mcp.calls import accepted, input_required, restored, scope_refusal, take_answers
from toolpath.server.mcp.client import McpClient
from toolpath.server.mcp.following import follow
from toolpath.server.mcp.listing import ToolListing
from toolpath.server.mcp.meta_schemas import META_TOOLS, SCOPES
from toolpath.server.visibility import visible_run
from toolpath.values import JsonObject

Answer = CallToolResult | InputRequiredResult


class MetaTools:
    """The server's own tools, for one Toolpath."""

    def __init__(self, tp: Toolpath, listing: Callable[[], Awaitable[ToolListing]]) -> None:
        self._tp = tp
        self._listing = listing
        # Each change, also of where a tool is published, brings another listing; each tenant has one.
        self._searches: WeakKeyDictionary[ToolListing, ToolSearch] = WeakKeyDictionary()
        self._meanings: Embeddings | None = None
        self._known: Mapping[str, McpTool] = {tool.name: tool for tool in META_TOOLS}

    @property
    def names(self) -> Mapping[str, McpTool]:
        """Name → tool."""
        return self._known

    async def call(self, client: McpClient, params: CallToolRequestParams) -> Answer:
        """The answer of one of them."""
        refused = scope_refusal(client, SCOPES[params.name])
        if refused is not None:
            return refused
        try:
            given = accepted(self._known[params.name], params.arguments or {})
            match params.name:
                case "search_tools":
                    return await self._search_tools(given)
                case "plan":
                    return await self._plan(given)
                case "route":
                    return await self._route(given)
                case "check_plan":
                    return await self._check(given)
                case "run_plan":
                    return await self._run(client, params, given)
                case "get_run":
                    return await self._look(client, given)
                case _:
                    return await self._answer(client, given)
        except ToolpathError as error:
            return raised_answer(error)

    # Before a run.

    async def _search_tools(self, given: JsonObject) -> CallToolResult:
        listing = await self._listing()
        index = self._searches.get(listing)
        if index is None:
            tools = [published.tool for published in listing.published.values()]
            index = ToolSearch(tools, stats=listing.catalog.stats, similarity=await self._similarity())
            self._searches[listing] = index
        if self._meanings is not None:
            await asyncio.to_thread(self._meanings.settle_few)
        found = [
            {
                "key": hit.tool.key,
                "name": listing.name_of(hit.tool),
                "description": hit.tool.description,
                "effect": hit.tool.effect,
                "inputs": hit.tool.input_schema,
                "score": round(hit.score, 4),
                **({"output": hit.tool.output_schema} if hit.tool.output_schema is not None else {}),
            }
            for hit in index.search(given["query"], given.get("limit", 10))
        ]
        return json_answer({"tools": found})

    async def _similarity(self) -> Embeddings | None:
        """Of an index of its own; model and vectors are those of the one before, and loaded beside the event loop."""
        if self._tp.settings.search == "words":
            return None
        before = self._meanings
        self._meanings = (
            await asyncio.to_thread(Embeddings, file=cache_file()) if before is None else Embeddings(like=before)
        )
        return self._meanings

    async def _plan(self, given: JsonObject) -> CallToolResult:
        how: Any = {name: given.get(name) for name in ("tools", "planner", "decomposition")}
        plan = await self._tp.plan(given["request"], time_zone=given.get("time_zone", ""), **how)
        return json_answer({**await self._judged(plan), "plan": plan_to_dict(plan), "reasoning": plan.reasoning})

    async def _route(self, given: JsonObject) -> CallToolResult:
        how = {name: given.get(name) for name in ("planner", "on_multiple")}
        routed = await self._tp.route(given["request"], tools=given.get("tools") or (), **how)
        plan, record = routed.plan, routed.record
        found: JsonObject = {
            "route_id": record.id,
            "outcome": record.outcome,
            "text": routed.text,
            "message": routed.message,
            "suggestions": list(routed.suggestions),
            "decisions": [msgspec.to_builtins(decision) for decision in record.decisions],
        }
        if plan is not None:
            found |= {"plan": plan_to_dict(plan), "questions": list(plan.questions)}
        return json_answer(found)

    async def _check(self, given: JsonObject) -> CallToolResult:
        return json_answer(await self._judged(await self._read(given["plan"])))

    async def _read(self, source: str | JsonObject) -> Plan:
        return await self._tp.aside.do(lambda: _plan_of(source, self._tp.settings.max_plan_steps), weight_of([source]))

    async def _judged(self, plan: Plan) -> JsonObject:
        review = await self._tp.plans.review(plan)
        findings = review.findings
        is_valid = not has_errors(findings)
        found: JsonObject = {
            "valid": is_valid,
            "findings": [msgspec.to_builtins(finding) for finding in findings],
            "questions": list(plan.questions),
        }
        if plan.confidence is not None:
            found["confidence"] = plan.confidence
        if is_valid:
            found["explanation"] = review.explanation.text()
        return found

    # Runs.

    async def _run(self, client: McpClient, params: CallToolRequestParams, given: JsonObject) -> Answer:
        if params.request_state is not None:
            run_id, said = await take_answers(self._tp, client, params)
        else:
            run = await self._tp.start(
                await self._read(given["plan"]),
                given.get("inputs") or {},
                context=client.caller.context(),
                idempotency_key=given.get("idempotency_key", ""),
                priority=client.caller.priority,
            )
            run_id, said = run.run_id, {}
            if not given.get("wait", True):
                return json_answer({"run_id": run_id, "status": "running"})
        result = await follow(self._tp, run_id, client)
        return input_required(result, client, said) or await self._told(result)

    async def _look(self, client: McpClient, given: JsonObject) -> CallToolResult:
        run_id = given["run_id"]
        await visible_run(self._tp, client.caller, run_id)
        if given.get("wait"):
            return await self._told(await follow(self._tp, run_id, client, owns=False))
        return await self._told(await self._stands(run_id), is_asked=True)

    async def _answer(self, client: McpClient, given: JsonObject) -> Answer:
        run_id, by = given["run_id"], client.caller.user
        await visible_run(self._tp, client.caller, run_id)
        result = await self._stands(run_id)
        question = _meant(result, given.get("step", ""))
        comment = given.get("comment", "")
        match question:
            case ApprovalRequested() if given.get("approve") is True:
                await self._tp.approve(run_id, question.path, by=by, comment=comment)
            case ApprovalRequested() if given.get("approve") is False:
                await self._tp.deny(run_id, question.path, by=by, comment=comment)
            case ApprovalRequested():
                raise SchemaError(f"{question.path or 'The run'} waits for approval: give approve, true or false.")
            case _ if given.get("decline"):
                await self._tp.answer(run_id, question.path, by=by, declined=True)
            case _ if "values" not in given:
                raise SchemaError(f"{question.path} asks for values: give them, or decline.")
            case _:
                await self._tp.answer(run_id, question.path, given["values"], by=by)
        if not given.get("wait", True):
            return json_answer({"run_id": run_id, "status": "running"})
        return await self._told(await follow(self._tp, run_id, client, owns=False))

    async def _stands(self, run_id: str) -> RunResult:
        """How the run stands now."""
        events = await self._tp.events(run_id)
        return await self._tp.aside.do(lambda: run_result(run_id, events), weight_of([events]))

    async def _told(self, result: RunResult, *, is_asked: bool = False) -> CallToolResult:
        """The run as it stands; an error where it failed, unless that is what was asked for."""
        result.outputs = await restored(self._tp, result)
        if extent(result.outputs).characters > LARGEST_ANSWER:
            # Too much to be written out: as the journal has them, large values by their handles.
            end = run_end(await self._tp.events(result.run_id))
            result.outputs = None if end is None else end.outputs
        has_failed = result.status in ("failed", "cancelled") and not is_asked
        events = (await self._tp.store.get_run(result.run_id)).last_seq
        # What a long run gave is made of its events only now.
        return await self._tp.aside.do(
            lambda: json_answer(run_record(result), is_error=has_failed), events + weight_of([result.outputs])
        )


def _plan_of(source: str | JsonObject, most_steps: int) -> Plan:
    """The plan that is written there, never one in a file of this machine. Raises `ReadError`, `SchemaError`."""
    document = read_document(source, most_steps=most_steps)
    if isinstance(document, Plan):
        return document
    if isinstance(document.body, Plan):
        return document.body
    raise SchemaError("This is a tool without a plan of its own.", faults=[("/plan", "it has no steps")])


def _meant(result: RunResult, step: str) -> Question:
    """The question that is answered. Raises `RunConflict` where it is none or several."""
    asked: tuple[Question, ...] = result.questions
    found = [question for question in asked if step in ("", question.path)]
    if len(found) == 1:
        return found[0]
    waiting = ", ".join(question.path or "the run" for question in asked)
    if not asked:
        raise RunConflict(f"Nothing of the run {result.run_id} waits for an answer: it is {result.status}.")
    if not found:
        raise RunConflict(f"{step[:200]!r} does not wait for an answer.", hint=f"Waiting: {waiting}.")
    raise RunConflict(f"Several steps wait: {waiting}.", hint="Name the step.")
