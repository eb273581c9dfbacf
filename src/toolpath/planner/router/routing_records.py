"""Records of routing: entries of tools, decisions with their scores, the whole trace. Frozen."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from toolpath.errors import Finding
from toolpath.model.chat import Usage
from toolpath.model.plan import Plan
from toolpath.values import Json, JsonObject

How = Literal["exact", "alias", "fuzzy", "none", "several"]
OnMultiple = Literal["best", "all", "error"]
Outcome = Literal["tools", "text", "no_match", "refused", "failed"]


class ToolEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A connected tool as the router knows it."""

    id: str
    """Its key in the catalogue."""
    name: str
    provider: str
    operation: str
    description: str
    capabilities: tuple[str, ...]
    """In their plain form; `provider.operation` is always among them."""
    parameters: JsonObject
    """JSON Schema of its inputs."""

    @property
    def call_name(self) -> str:
        """`provider.operation`, or the one of them that there is."""
        return f"{self.provider}.{self.operation}" if self.operation else self.provider


class RouterOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a router. Times are seconds."""

    threshold: float = 0.8
    """How alike a name has to be to count as meant, 0 to 1."""
    margin: float = 0.05
    """How much less alike the next tool has to be."""
    on_multiple: OnMultiple | None = None
    """Where a name fits several tools; None: all of them where all only read, else an error."""
    max_repairs: int = 1
    max_tools: int = 50
    max_calls: int = 20
    max_request: int = 50_000
    """Characters of a request that a model is shown."""
    timeout: float = 60.0
    max_answer: int = 4_000
    """Tokens of an answer."""


DEFAULTS: Final = RouterOptions()


class Candidate(msgspec.Struct, frozen=True):
    """A tool and how well a name fits it."""

    tool: str
    score: float


class ToolMatch(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Match of one name with tools: what was asked for, what it was taken for, and why."""

    asked: str
    """The name as the model wrote it, or the words of the request."""
    how: How
    tools: tuple[str, ...] = ()
    """Keys of the tools that are called for it; none: it was refused."""
    candidates: tuple[Candidate, ...] = ()
    """The tools that were weighed, best first."""
    reason: str = ""


class RouteRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Record of how one request was routed."""

    request: str
    outcome: Outcome
    id: str = ""
    """Of the record in the store; empty: it is not kept."""
    at: float = 0.0
    """Unix time."""
    user: str = ""
    """Who asked."""
    run_id: str = ""
    """The run of its plan that ended last."""
    prompt: str = ""
    """What a model was asked first: what it is told, a blank line, the request."""
    connected: tuple[str, ...] = ()
    """Keys of the tools it could choose from."""
    answers: tuple[str, ...] = ()
    """What the model wrote, round by round."""
    calls: tuple[tuple[str, Json], ...] = ()
    """What the last answer asks for: name and arguments."""
    decisions: tuple[ToolMatch, ...] = ()
    order: tuple[str, ...] = ()
    """Keys of the tools that are called, in their order."""
    findings: tuple[Finding, ...] = ()
    """What is wrong with the calls that were asked for."""
    error: str = ""
    """Why the model's answer could not be had or read."""
    used_model: bool = False
    usage: Usage = Usage()
    cost: float | None = None
    duration: float = 0.0


class Routed(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of a request: calls as a plan, a text for people, or a message that says why neither."""

    plan: Plan | None = None
    text: str = ""
    message: str = ""
    suggestions: tuple[str, ...] = ()
    """Tools that may have been meant."""
    record: RouteRecord
