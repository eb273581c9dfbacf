"""Chains as the composition system has them: `ChainExecutor`, and composites called as functions.

A thin face of `Toolpath`: a chain is a plan like any other; here its result is told in that system's words.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from toolpath.app import Toolpath, entered
from toolpath.errors import ChainExecutionError, Finding, NoToolpath, PlanInvalid, PolicyViolationError
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent, Failure
from toolpath.model.plan import Call, Plan, Step
from toolpath.model.policy import refusal
from toolpath.model.run import RunContext, RunResult
from toolpath.notation.composite import read_composite
from toolpath.notation.plan import read_plan
from toolpath.projections.steps import step_results
from toolpath.values import Json, JsonObject

#: How a run stands → what the context says of its chain; all else is a failure.
_STANDING = {"completed": "completed", "completed_with_errors": "completed", "waiting": "waiting", "paused": "waiting"}
_NO_VARIABLE = "Variable not found in chain state"
_UNKNOWN_TOOL = re.compile(r"No tool is called '(.*)'\.", re.DOTALL)
_UNKNOWN_VARIABLE = re.compile(r"Nothing sets the variable '(.*)'\.", re.DOTALL)


class ChainExecutor:
    """Runs chains of tool steps in a context. Each chain has its own history."""

    def __init__(self, ctx: RunContext) -> None:
        self.ctx = ctx

    async def execute_chain(
        self,
        steps: Sequence[JsonObject],
        initial_state: JsonObject | None = None,
        chain_name: str | None = None,
        *,
        raise_on_error: bool = False,
    ) -> JsonObject:
        """Run the steps in order and tell what came of it; a dictionary also when the chain failed.

        `{success, chain_id, chain_name, steps_executed, steps_succeeded, steps_failed, results, execution_history,
        final_state, completed_at}`. With `raise_on_error`, raises `ChainExecutionError` that carries it. Raises
        `PlanInvalid` for steps that do not check.
        """
        state = dict(initial_state or {})
        document: JsonObject = {
            "name": chain_name or "chain",
            "flow": "chain",
            "inputs": {"type": "object", "properties": {name: {} for name in state}},
            "steps": list(steps),
        }
        plan = _as_composite(read_plan(document))
        return await self.run_plan(plan, state, chain_name=chain_name, raise_on_error=raise_on_error)

    async def run_plan(
        self, plan: Plan, inputs: JsonObject, *, chain_name: str | None = None, raise_on_error: bool = False
    ) -> JsonObject:
        """Run a plan and tell it as a chain. Raises `PlanInvalid`, in the composition system's words."""
        door = _door(self.ctx)
        chain = self._planned(plan, chain_name)
        chain_id: str = chain["chain_id"]
        # Before anything is waited for: nobody else may take this planned chain for theirs.
        chain["status"] = "running"
        try:
            run = await door.start(plan, inputs, context=self.ctx, run_id=chain_id)
        except BaseException as error:
            self.ctx.no_longer_next(chain_id)
            chain["status"] = "refused"
            if isinstance(error, PlanInvalid):
                raise PlanInvalid(tuple(_in_its_words(finding) for finding in error.findings)) from None
            raise
        try:
            result = await run.result()
        except asyncio.CancelledError:
            # Who awaits the chain is the one who runs it: what they no longer want goes no further.
            await run.cancel("the chain was cancelled")
            chain["status"] = "cancelled"
            raise
        finally:
            self.ctx.no_longer_next(chain_id)
        told = chain_result(result, await door.events(result.run_id), chain_name=chain_name)
        chain.update(status=_STANDING.get(result.status, "failed"), steps=told["steps_executed"])
        self.ctx.previous_tools += [{"tool": entry["step"], "status": entry["status"]} for entry in told["results"]]
        if raise_on_error and not result.success:
            raise _error(told, result)
        return told

    def _planned(self, plan: Plan, chain_name: str | None) -> JsonObject:
        """The chain as the context knows it: planned before under that name, else planned now."""
        known = self.ctx.active_chains.get(chain_name or "")
        if known is not None and known["status"] == "planned":
            return known
        tools: list[JsonObject] = [{"tool": _called(step)} for step in plan.steps]
        chain_id = self.ctx.plan_tool_chain(tools, chain_name=chain_name)
        return self.ctx.active_chains[chain_name or chain_id]


async def run_composite(ctx: RunContext, document: JsonObject, inputs: JsonObject) -> JsonObject:
    """Run a composite as a generated function does: `{tool, status, chain_id, steps_executed, data}`.

    `data` holds both the chain's result and its final variables. Raises `PolicyViolationError` when the context lacks
    what the composite asks for, `PlanInvalid` when the inputs do not fit.
    """
    tool = read_composite(document)
    refused = refusal(tool, ctx)
    if refused is not None:
        raise PolicyViolationError(refused.message, missing=refused.details or (), hint=refused.hint)
    if not isinstance(tool.body, Plan):
        raise PlanInvalid(())
    told = await ChainExecutor(ctx).run_plan(tool.body, inputs, chain_name=tool.name)
    return {
        "tool": tool.name,
        "status": "success" if told["success"] else "failure",
        "chain_id": told["chain_id"],
        "steps_executed": told["steps_executed"],
        "data": {**told["final_state"], **told},
    }


def chain_result(result: RunResult, events: Sequence[AnyEvent], *, chain_name: str | None = None) -> JsonObject:
    """A run in the words of the composition system. Retries count as executed steps."""
    history = _history(events)
    results = [
        {
            "step": entry["step_name"],
            "status": entry["status"],
            **{k: entry[k] for k in ("result", "error") if k in entry},
        }
        for entry in history
    ]
    failed = sum(1 for entry in history if entry["status"] == "failure")
    return {
        "success": result.success,
        "chain_id": result.run_id,
        "chain_name": chain_name,
        "steps_executed": len(history),
        "steps_succeeded": len(history) - failed,
        "steps_failed": failed,
        "results": results,
        "execution_history": history,
        "final_state": _final_state(result, events, chain_name),
        "completed_at": datetime.fromtimestamp(events[-1].at, UTC).isoformat(),
        "error": result.error.message if result.error else None,
    }


def _as_composite(plan: Plan) -> Plan:
    fields = {name: getattr(plan, name) for name in plan.__struct_fields__}
    return Plan(**{**fields, "composite": True})


def _door(ctx: RunContext) -> Toolpath:
    door = ctx.door if ctx.door is not None else entered.get()
    if door is None:
        raise NoToolpath(
            "This context belongs to no Toolpath.",
            hint="Use it inside `async with Toolpath() as tp:`, or make it with `tp.context(user_id=…)`.",
        )
    return door


def _history(events: Sequence[AnyEvent]) -> list[JsonObject]:
    """One entry per attempt at a step of the chain itself, in the order in which they ended."""
    # A block calls nothing itself: it goes by its id.
    tools = {event.path: event.tool for event in events if isinstance(event, ev.StepStarted) and event.tool}
    order = list(dict.fromkeys(r.path for r in step_results(events) if "/" not in r.path))
    history: list[JsonObject] = []
    for event in events:
        path = getattr(event, "path", "")
        if not path or "/" in path or path.endswith("]"):
            continue
        entry: JsonObject = {
            "step_index": order.index(path),
            "step_name": _bare(tools[path]) if path in tools else path,
            "step_id": path,
        }
        match event:
            case ev.StepSucceeded():
                entry |= {"status": "success", "result": event.output}
            case ev.StepFailed() | ev.StepTimedOut():
                entry |= {"status": "failure", "error": event.error.message}
            case ev.StepRetrying():
                entry |= {"status": "failure", "error": event.error.message, "retry": event.attempt}
            case _:
                continue
        entry["timestamp"] = datetime.fromtimestamp(event.at, UTC).isoformat()
        history.append(entry)
    return history


def _called(step: Step) -> str:
    """How results name a step: by its tool, a block by its id."""
    return _bare(step.tool) or step.id if isinstance(step, Call) else step.id


def _in_its_words(finding: Finding) -> Finding:
    """The finding as the composition system says it."""
    for pattern, words in ((_UNKNOWN_TOOL, "Tool not found in registry"), (_UNKNOWN_VARIABLE, _NO_VARIABLE)):
        found = pattern.search(finding.message)
        if found is not None:
            return msgspec.structs.replace(finding, message=f"{words}: {found[1]}")
    return finding


def _bare(tool: str) -> str:
    return tool.rpartition(".")[2]


def _final_state(result: RunResult, events: Sequence[AnyEvent], chain_name: str | None) -> JsonObject:
    started = events[0]
    assert isinstance(started, ev.RunStarted)
    state: dict[str, Json] = {
        **started.plan.get("state", {}),
        **started.inputs,
        "chain_id": result.run_id,
        "chain_name": chain_name,
        "started_at": datetime.fromtimestamp(started.at, UTC).isoformat(),
    }
    retries: dict[str, int] = {}
    for event in events:
        if isinstance(event, ev.StateWritten) and not event.path:
            state.update(event.values)
        elif isinstance(event, ev.StepRetrying) and "/" not in event.path:
            retries[event.path] = event.attempt
    paths = [r.path for r in step_results(events) if "/" not in r.path]
    return state | {f"step_{paths.index(path)}_retry_count": count for path, count in retries.items() if path in paths}


def _error(told: JsonObject, result: RunResult) -> ChainExecutionError:
    failure = result.error or Failure(type="ChainFailed", message=f"The chain is {result.status}.")
    last = next((entry for entry in reversed(told["execution_history"]) if entry["status"] == "failure"), None)
    index: Any = last["step_index"] if last else None
    name: Any = last["step_name"] if last else None
    return ChainExecutionError(
        f"Chain execution stopped at step {index}: {name}. {failure.message}",
        step_index=index,
        step_name=name,
        result=told,
    )
