"""A tool: what is known of it, how it may be called, and its body, a callable or a plan. Pure data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from toolpath.model.plan import Cache, OutputValidation, Plan, Retry
from toolpath.values import JsonObject, digest

Effect = Literal["read", "write", "destructive"]
Isolation = Literal["none", "process"]
Category = Literal["search", "validation", "synthesis", "external", "workflow", "general"]


class Example(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request and the call that answers it, for selection."""

    query: str
    parameters: JsonObject = {}
    expected_result: Any = None


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """At most `calls` in any `seconds`."""

    calls: int
    seconds: float = 60.0


class Requires(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Requirements on a caller, without which the tool may not be called."""

    auth: bool = False
    permissions: tuple[str, ...] = ()
    case: bool = False
    approval: bool = False
    case_states: tuple[str, ...] = ()
    session: bool = False


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """Result that a tool may return instead of a bare value, to say how sure it is and where it knows it from."""

    output: Any = None
    confidence: float | None = None
    """0 to 1."""
    sources: tuple[Any, ...] = ()
    cost: float | None = None
    """USD that this call did cost."""
    tokens: int | None = None


class CallsOther(msgspec.Struct, frozen=True, kw_only=True):
    """How a body calls one other tool that its inputs name: the effect of such a call is that tool's."""

    named_by: str
    """The input that names the tool."""
    writes_by: str
    """The input with which the body writes by itself, whatever it calls."""
    reading: Callable[[JsonObject, Any], Any]
    """`invoke` of a call that was taken for a read: it refuses to call what writes."""


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """Body of a tool that is no plan, as the engine calls it.

    `invoke(inputs, context)` gives the result, or an awaitable of it when it runs in the loop. `context` is None
    unless `wants_context`.
    """

    invoke: Callable[[JsonObject, Any], Any]
    runs: Literal["loop", "thread", "process"] = "loop"
    wants_context: bool = False
    reference: str = ""
    """`module:name` or `file.py:name` of the function that `invoke` has another process call; else empty."""
    calls_other: CallsOther | None = None


class Tool(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, dict=True):
    """One tool: MCP's shape, and what an orchestrator must know besides."""

    name: str
    group: str = ""
    title: str = ""
    description: str = ""
    category: Category | str = "general"
    version: str = ""
    input_schema: JsonObject = {}
    output_schema: JsonObject | None = None
    """None: the type of the result is not known."""
    capabilities: tuple[str, ...] = ()
    limitations: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    aliases: tuple[str, ...] = ()
    effect: Effect = "write"
    """Not known = write."""
    idempotent: bool = False
    verify: str | None = None
    cost: float | None = None
    timeout: float | None = None
    retry: Retry | None = None
    cache: Cache | None = None
    max_concurrency: int | None = None
    rate: Rate | None = None
    requires: Requires = Requires()
    isolation: Isolation = "none"
    output_validation: OutputValidation = "warn"
    strict_formats: bool = False
    """Assert `format` in the tool's schemas, not only describe it."""
    server: str = ""
    """Name of the server that the tool lives on, for its limit; empty: none."""
    server_identity: str = ""
    undo: Any = None
    reads: Any = None
    sends: Any = None
    annotations: JsonObject = {}
    metadata: JsonObject = {}
    body: Body | Plan | Callable[..., Any] | None = None

    @property
    def key(self) -> str:
        """`group.name`, or the bare name of a tool without a group."""
        return f"{self.group}.{self.name}" if self.group else self.name

    @property
    def fingerprint(self) -> str:
        """Digest of name, description, schemas, annotations and server identity: what a caller relied on."""
        known = self.__dict__.get("_fingerprint")
        if known is None:
            known = digest(
                {
                    "key": self.key,
                    "description": self.description,
                    "input_schema": self.input_schema,
                    "output_schema": self.output_schema,
                    "annotations": self.annotations,
                    "effect": self.effect,
                    "idempotent": self.idempotent,
                    "server": self.server_identity,
                }
            )
            self.__dict__["_fingerprint"] = known
        return str(known)

    @property
    def is_read(self) -> bool:
        """The tool changes nothing."""
        return self.effect == "read"

    @property
    def is_repeatable(self) -> bool:
        """Calling it twice with the same input does no more than calling it once."""
        return self.effect == "read" or self.idempotent


def called_inside(tool: Tool, inputs: JsonObject, get: Callable[[str], Tool | None]) -> Tool | None:
    """The one other tool that a call with these inputs, as the plan has them, calls in turn; None: none, or not known.

    `get` gives the tool of a name; a template is the name of none.
    """
    other = tool.body.calls_other if isinstance(tool.body, Body) else None
    name = inputs.get(other.named_by) if other is not None else None
    return get(name) if isinstance(name, str) else None


def as_called(tool: Tool, inputs: JsonObject, get: Callable[[str], Tool | None]) -> Tool:
    """The tool with the effect that a call with these inputs has: that of the tool which it calls in turn, if known."""
    inner = called_inside(tool, inputs, get)
    body = tool.body
    if inner is None or not isinstance(body, Body) or body.calls_other is None or tool.is_read:
        return tool
    writes = inputs.get(body.calls_other.writes_by) is not None
    effect: Effect = "write" if writes and inner.is_read else inner.effect
    if effect == tool.effect:
        return tool
    known: Tool | None = tool.__dict__.get(f"_{effect}")
    if known is None:
        if effect == "read":
            body = msgspec.structs.replace(body, invoke=body.calls_other.reading)
        known = msgspec.structs.replace(tool, effect=effect, body=body)
        # It is the same tool to a caller that relied on it.
        known.__dict__["_fingerprint"] = tool.fingerprint
        tool.__dict__[f"_{effect}"] = known
    return known


class ToolStats(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Statistics of a tool from its calls so far. Durations in seconds."""

    calls: int = 0
    failures: int = 0
    timeouts: int = 0
    total_duration: float = 0.0
    durations: tuple[float, ...] = ()
    """Of the latest successes, at most 200, oldest first."""
    confidence_total: float = 0.0
    confidences: int = 0
    cost: float = 0.0
    updated_at: float = 0.0

    @property
    def average_duration(self) -> float | None:
        """Mean of all calls, or None before the first."""
        return self.total_duration / self.calls if self.calls else None

    @property
    def failure_rate(self) -> float | None:
        """Failures and timeouts per call, 0 to 1, or None before the first."""
        return (self.failures + self.timeouts) / self.calls if self.calls else None

    @property
    def average_confidence(self) -> float | None:
        """Mean of what the tool said of itself, or None where it said nothing."""
        return self.confidence_total / self.confidences if self.confidences else None

    def percentile(self, share: float) -> float | None:
        """The duration that this share (0 to 1) of the latest successes did not exceed."""
        if not self.durations:
            return None
        ordered = sorted(self.durations)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
