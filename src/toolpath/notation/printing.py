"""`Plan` → the plan notation, as a tree or as text: only what differs from the defaults, in the contract's names.

Law: `read_plan(print_plan(plan)) == plan`, in both formats.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from toolpath.model.plan import (
    Agent,
    AgentBudget,
    Ask,
    Block,
    Budget,
    Cache,
    Call,
    Fallback,
    Field,
    Flow,
    Limits,
    Loop,
    OnFailure,
    OnSuccess,
    Origin,
    Parallel,
    Plan,
    Retry,
    Step,
)
from toolpath.notation.reading.durations import spelled
from toolpath.notation.yaml_printing import print_yaml
from toolpath.values import Json, JsonObject


def print_plan(plan: Plan, format: Literal["yaml", "json"] = "yaml") -> str:
    """The plan as text that `read_plan` reads as an equal plan; ends with a line end."""
    return print_tree(plan_to_dict(plan), format)


def print_tree(tree: Json, format: Literal["yaml", "json"] = "yaml") -> str:
    """A JSON value as YAML or indented JSON text. Raises `ValueError` for what is no JSON."""
    if format == "yaml":
        return print_yaml(tree)
    return json.dumps(tree, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def plan_to_dict(plan: Plan) -> JsonObject:
    """The plan as a tree of plain values in the notation."""
    found: JsonObject = {"name": plan.name}
    _add(found, "description", plan.description, "")
    _add(found, "version", plan.version, "1.0.0")
    _add(found, "composite", plan.composite, False)
    _add(found, "inputs", plan.inputs, {})
    found |= body_to_dict(plan)
    _add(found, "origin", _origin(plan.origin), {})
    _add(found, "policy", plan.policy, {})
    _add(found, "metadata", plan.metadata, {})
    return found


def body_to_dict(plan: Plan, default_flow: Flow = "graph") -> JsonObject:
    """What a plan and the body of a composite share: flow, steps, outputs and how it runs."""
    found: JsonObject = {}
    # A plan that jumps and does not say its flow is read as a chain (`notation.plan`): such a graph has to say it.
    if plan.flow != default_flow or (plan.flow == "graph" and any(_jumps(step) for step in plan.steps)):
        found["flow"] = plan.flow
    _add(found, "initial_state", plan.state, {})
    _add(found, "failure_mode", plan.failure_mode, "stop")
    _add(found, "concurrency", plan.concurrency, None)
    _add(found, "timeout", plan.timeout and spelled(plan.timeout), None)
    _add(found, "budget", _plain(plan.budget, Budget()), {})
    _add(found, "limits", _plain(plan.limits, Limits()), {})
    _add(found, "on_unresolved", plan.on_unresolved, "error")
    found["steps"] = [step_to_dict(step, plan.flow) for step in plan.steps]
    _add(found, "outputs", plan.outputs, None)
    return found


def _add(found: JsonObject, name: str, value: Json, default: Json) -> None:
    if value != default or type(value) is not type(default):
        found[name] = value


def _plain(record: Any, usual: Any) -> JsonObject:
    """The fields of a flat record that differ from those of the usual one."""
    names = record.__struct_fields__
    return {name: getattr(record, name) for name in names if getattr(record, name) != getattr(usual, name)}


def _origin(origin: Origin) -> JsonObject:
    found = _plain(origin, Origin())
    if "questions" in found:
        found["questions"] = list(origin.questions)
    if "uncovered" in found:
        found["uncovered"] = list(origin.uncovered)
    return found


def _jumps(step: Step) -> bool:
    return step.on_success.next is not None or step.on_failure.next is not None


def step_to_dict(step: Step, flow: Flow) -> JsonObject:
    """One step; `flow` is that of the block around it, which the blocks inside it need not repeat."""
    found: JsonObject = {"id": step.id}
    _add(found, "derived_id", step.derived_id, False)
    found |= _action(step, flow)
    _add(found, "depends_on", list(step.depends_on), [])
    _add(found, "when", step.when, None)
    _add(found, "exclusive", step.exclusive, False)
    if step.timeout is not None and not isinstance(step, Ask):
        found["timeout"] = spelled(step.timeout)
    if step.retry is not None:
        found["retry"] = _retry(step.retry)
    if step.fallback:
        each = [_fallback(fallback) for fallback in step.fallback]
        found["fallback"] = each[0] if len(each) == 1 else each
    _add(found, "critical", step.critical, True)
    if step.cache is not None:
        found["cache"] = _cache(step.cache)
    _add(found, "requires_approval", step.requires_approval, False)
    _add(found, "on_success", _on_success(step.on_success), {})
    _add(found, "on_failure", _plain(step.on_failure, OnFailure()), {})
    _add(found, "on_unresolved", step.on_unresolved, None)
    _add(found, "output_validation", step.output_validation, None)
    return found


def _action(step: Step, flow: Flow) -> JsonObject:
    match step:
        case Call():
            found: JsonObject = {"tool": step.tool}
            _add(found, "inputs", step.inputs, {})
            return found
        case Parallel():
            found = {} if step.wait_for == "all" else {"wait_for": step.wait_for}
            return {**found, "parallel": [_branch(branch, flow) for branch in step.branches]}
        case Loop():
            return {"loop": _loop(step, flow)}
        case Agent():
            return {"agent": _agent(step)}
        case Ask():
            return {"ask": _ask(step)}


def _branch(branch: Block, flow: Flow) -> JsonObject:
    if len(branch.steps) == 1 and branch.flow == flow and branch.steps[0].id == branch.id:
        return step_to_dict(branch.steps[0], flow)
    return {"id": branch.id, **_block(branch, flow)}


def _block(block: Block, around: Flow) -> JsonObject:
    found: JsonObject = {} if block.flow == around else {"flow": block.flow}
    return {**found, "steps": [step_to_dict(step, block.flow) for step in block.steps]}


def _loop(step: Loop, flow: Flow) -> JsonObject:
    found: JsonObject = {"over": step.over}
    _add(found, "as", step.item, "item")
    _add(found, "id", step.body.id, "")
    _add(found, "concurrency", step.concurrency, 1)
    found |= _block(step.body, flow)
    _add(found, "collect", step.collect, None)
    return found


def _agent(step: Agent) -> JsonObject:
    found: JsonObject = {"requirement": step.requirement}
    _add(found, "tools", list(step.tools), [])
    _add(found, "model", step.model, None)
    _add(found, "output", list(step.output), [])
    _add(found, "max_rounds", step.max_rounds, 30)
    _add(found, "budget", _agent_budget(step.budget), {})
    _add(found, "instructions", step.instructions, "")
    return found


def _agent_budget(budget: AgentBudget) -> JsonObject:
    found = _plain(budget, AgentBudget())
    return found if budget.time is None else {**found, "time": spelled(budget.time)}


def _ask(step: Ask) -> JsonObject:
    found: JsonObject = {}
    _add(found, "title", step.title, "")
    _add(found, "description", step.description, "")
    _add(found, "inputs", [_field(field) for field in step.fields], [])
    if step.timeout is not None:
        found["timeout"] = spelled(step.timeout)
    return found


def _field(field: Field) -> JsonObject:
    found = _plain(field, Field(name=""))
    if "options" in found:
        found["options"] = list(field.options)
    return found


def _retry(retry: Retry) -> JsonObject:
    found: JsonObject = {"max_retries": retry.max_retries}
    found |= _plain(retry, Retry(max_retries=retry.max_retries))
    for name in ("initial_delay", "max_delay"):
        if name in found:
            found[name] = spelled(found[name])
    if retry.retry_on is not None:
        found["retry_on"] = list(retry.retry_on)
    return found


def _fallback(fallback: Fallback) -> JsonObject:
    return {"tool": fallback.tool, **_plain(fallback, Fallback(tool=fallback.tool))}


def _cache(cache: Cache) -> Json:
    if cache == Cache():
        return True
    found: JsonObject = {} if cache.ttl is None else {"ttl": spelled(cache.ttl)}
    _add(found, "key", cache.key, None)
    return False if cache == Cache(ttl=0.0) else found


def _on_success(policy: OnSuccess) -> JsonObject:
    return _plain(policy, OnSuccess())
