"""Policies of a step on failure, repetition and results: retry, fallback, cache, on_success, on_failure."""

from __future__ import annotations

from typing import Literal, cast

from toolpath.model.plan import AgentBudget, Cache, Fallback, OnFailure, OnSuccess, Retry
from toolpath.notation.nodes import Node
from toolpath.notation.reading.fields import Fields
from toolpath.notation.reading.notes import below, shown

RETRY_FIELDS = ("max_retries", "max_attempts", "backoff", "initial_delay", "factor", "max_delay", "jitter", "retry_on")
FALLBACK_FIELDS = ("tool", "inputs", "condition", "threshold")
CACHE_FIELDS = ("ttl", "key")
ON_SUCCESS_FIELDS = ("map_outputs", "transform", "next")
ON_FAILURE_FIELDS = ("action", "max_retries", "continue_on_max_retries", "next")
INPUT_ALIASES = ("parameters", "arguments", "args", "with")
AGENT_BUDGET_FIELDS = ("calls", "cost", "tokens", "time")
ACTIONS = ("stop", "retry", "continue")


def read_retry(fields: Fields) -> Retry:
    """`{max_retries | max_attempts, backoff, initial_delay, factor, max_delay, jitter, retry_on}`."""
    retries = fields.integer("max_retries")
    attempts = fields.integer("max_attempts", least=1)
    if retries is not None and attempts is not None:
        fields.notes.error(
            "alias_twice",
            "'max_retries' and 'max_attempts' say the same; both are given.",
            below(fields.path, "max_retries"),
            fields.node,
            hint="Keep 'max_retries': the attempts after the first.",
        )
    if retries is None:
        retries = 3 if attempts is None else attempts - 1
    if fields.are_read:
        return Retry(max_retries=retries)
    backoff = fields.choice("backoff", ("exponential", "fixed", "none")) or "exponential"
    initial = fields.duration("initial_delay", zero=True)
    factor = fields.number("factor")
    longest = fields.duration("max_delay", zero=True)
    codes = fields.texts("retry_on") if fields.node_of("retry_on") is not None else None
    jitter = fields.flag("jitter", False)
    fields.finish("A retry", RETRY_FIELDS)
    return Retry(
        max_retries=retries,
        backoff=cast(Literal["exponential", "fixed", "none"], backoff),
        initial_delay=1.0 if initial is None else initial,
        factor=2.0 if factor is None else factor,
        max_delay=60.0 if longest is None else longest,
        jitter=jitter,
        retry_on=codes,
    )


def read_fallbacks(fields: Fields) -> tuple[Fallback, ...]:
    """A fallback, or a list of them in the order in which they are tried."""
    node = fields.node_of("fallback")
    if node is None:
        return ()
    path = below(fields.path, "fallback")
    if not isinstance(node.value, list):
        found = _read_fallback(node, path, fields)
        return () if found is None else (found,)
    each = (_read_fallback(item, below(path, index), fields) for index, item in enumerate(node.value))
    return tuple(found for found in each if found is not None)


def _read_fallback(node: Node, path: str, around: Fields) -> Fallback | None:
    fields = Fields.of(node, path, around.notes, "Write fallback: {tool: name}.")
    if fields is None:
        return None
    named = fields.require("tool")
    tool = fields.text_in(named, below(path, "tool")) if named is not None else None
    given = fields.node_of("inputs", *INPUT_ALIASES)
    inputs = fields.mapping("inputs", *INPUT_ALIASES) if given is not None else None
    condition = fields.choice("condition", ("on_error", "on_low_confidence")) or "on_error"
    threshold = fields.number("threshold", most=1.0)
    fields.finish("A fallback", FALLBACK_FIELDS)
    if not tool:
        return None
    return Fallback(
        tool=tool,
        inputs=inputs,
        condition=cast(Literal["on_error", "on_low_confidence"], condition),
        threshold=0.5 if threshold is None else threshold,
    )


def read_cache(fields: Fields) -> Cache | None:
    """`true`, `false` (never, even where the tool keeps its results: a time of 0) or `{ttl, key}`."""
    node = fields.node_of("cache")
    if node is None:
        return None
    if isinstance(node.value, bool):
        return Cache() if node.value else Cache(ttl=0.0)
    inner = Fields.of(node, below(fields.path, "cache"), fields.notes, "Write cache: true or cache: {ttl: 5m}.")
    if inner is None:
        return None
    ttl = inner.duration("ttl", zero=True)
    key = inner.optional_text("key")
    inner.finish("A cache", CACHE_FIELDS)
    return Cache(ttl=ttl, key=key)


def read_on_success(fields: Fields) -> OnSuccess:
    """`{map_outputs: {field: variable}, transform: {variable: template}, next: id}`."""
    outputs: dict[str, str] = {}
    mapped = fields.node_of("map_outputs")
    if mapped is not None:
        path = below(fields.path, "map_outputs")
        inner = Fields.of(mapped, path, fields.notes, "Write map_outputs: {field: variable}.")
        for name, node in inner.members.items() if inner is not None else ():
            if isinstance(node.value, str) and node.value:
                fields.notes.place(below(path, name), node)
                outputs[name] = node.value
            else:
                fields.notes.wrong_type(below(path, name), node, "The name of a variable")
    transform = fields.mapping("transform")
    jump = fields.optional_text("next")
    fields.finish("on_success", ON_SUCCESS_FIELDS)
    return OnSuccess(map_outputs=outputs, transform=transform, next=jump)


def read_on_failure(fields: Fields) -> tuple[OnFailure, Retry | None]:
    """`{action, max_retries, continue_on_max_retries, next}`; `action: retry` gives the step's retry as well."""
    action = _action(fields)
    count = fields.integer("max_retries")
    goes_on = fields.flag("continue_on_max_retries", False)
    jump = fields.optional_text("next")
    fields.finish("on_failure", ON_FAILURE_FIELDS, {"retry": "Write retry beside on_failure, or action: retry."})
    if action != "retry":
        for name in ("max_retries", "continue_on_max_retries"):
            if fields.node_of(name) is not None:
                _unused(fields, name, "it counts only with 'action: retry'", "Add 'action: retry'.")
        return OnFailure(action=cast(Literal["stop", "continue"] | None, action), next=jump), None
    if not goes_on and jump is not None:
        _unused(fields, "next", "the chain stops after the last retry", "Add 'continue_on_max_retries: true'.")
        jump = None
    policy = OnFailure(action="continue" if goes_on else "stop", next=jump)
    return policy, Retry(max_retries=3 if count is None else count)


def _action(fields: Fields) -> str | None:
    node = fields.node_of("action")
    if node is None:
        return None
    message = f"Unknown failure action: {shown(node.value).strip(chr(39))}" if isinstance(node.value, str) else ""
    return fields.choice_in(node, below(fields.path, "action"), ACTIONS, message)


def _unused(fields: Fields, name: str, reason: str, hint: str) -> None:
    fields.notes.warning(
        "unused_field",
        f"'{name}' has no effect: {reason}.",
        below(fields.path, name),
        fields.members.get(name),
        hint=hint,
    )


def agent_budget(fields: Fields) -> AgentBudget:
    """What an agent may spend."""
    budget = AgentBudget(
        calls=fields.integer("calls"),
        cost=fields.number("cost"),
        tokens=fields.integer("tokens"),
        time=fields.duration("time"),
    )
    fields.finish("The budget of an agent", AGENT_BUDGET_FIELDS)
    return budget
