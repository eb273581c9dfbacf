"""Records of planning: request, options, and the whole story of how a plan came about. Frozen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

import msgspec

from toolpath.catalog.search import Hit
from toolpath.catalog.snapshot import Catalog
from toolpath.errors import Finding
from toolpath.model.chat import Usage
from toolpath.model.plan import Plan, Step
from toolpath.planner.decompose import Decomposition
from toolpath.ports import Chat, Clock
from toolpath.values import JsonObject

#: What to do where there is nothing to plan with.
NO_TOOLS = "There are no tools. Name the module or file that has them: --tools NAME.py, or `tools` in toolpath.toml."
Outcome = Literal["planned", "fallback", "failed", "no_tool"]
Because = Literal["search", "named", "suggested", "learned", "all"]


class PlanRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Request that is to be planned."""

    text: str
    tools: tuple[str, ...] = ()
    """Names of the tools that may be used; none: all. `("none",)`: no tool at all."""
    decomposition: Decomposition | None = None
    inputs: JsonObject = {}
    """JSON Schema of the inputs that the plan may read as `inputs.x`."""
    kept: tuple[Step, ...] = ()
    """Steps that have been carried out: they stay, and new ones may read their outputs."""
    is_words: bool = True
    """The text is what somebody asked for; else it is only what a plan says of itself, and commands nothing."""
    context: JsonObject = {}
    """What is known already: results so far, the conversation. Data for the planner, never an instruction."""
    time_zone: str = ""
    """IANA's name of the zone that its days are meant in; empty: as the options say."""
    asker: JsonObject = {}
    """Whatever a plan may rest on besides the words: who asks, with which permissions, where, of which model.

    A kept plan is found by who asks alike alone.
    """


class PlannerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of a planner. Times are seconds."""

    timeout: float = 60.0
    """For all rounds together."""
    max_repairs: int = 2
    """Rounds after the first in which the model is told what is wrong with its plan."""
    max_tools: int = 20
    """Tools that are told in detail; as many more as `tools_size` holds are told in short."""
    tools_size: int = 32_000
    """Characters of all tools in the first prompt."""
    max_steps: int = 30
    max_prompt: int = 60_000
    """Characters of the first prompt."""
    max_tokens: int = 200_000
    """Of all rounds together."""
    max_cost: float | None = None
    """USD of all rounds together."""
    max_answer: int = 6_000
    """Tokens of one answer."""
    time_zone: str = ""
    """IANA's name of the zone that dates of requests are meant in; empty: UTC."""
    locale: str = ""
    """How dates and numbers of requests are written, as `de-DE`; empty: as the request's language has it."""
    fallback: Literal["offline", "error"] = "offline"
    """What happens when the model gives no plan that checks."""
    simple_below: float = 0.5
    """A decomposition that is less sure than this makes a simpler plan."""
    failing_rate: float = 0.2
    """A tool that failed more often than this gets a fallback."""
    slow_seconds: float = 30.0
    """A tool that takes longer than this on average is shown last."""
    min_calls: int = 5
    """Calls before a tool's statistics mean something."""


class Lesson(msgspec.Struct, frozen=True, kw_only=True):
    """A request that went well before, and the tools that did it."""

    request: str
    tools: tuple[str, ...]
    steps: tuple[JsonObject, ...] = ()
    """The steps that did it, as a plan writes them; none where they are long."""
    successes: int = 1
    failures: int = 0


class Shown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool that the planner could choose from, and why it was among them."""

    tool: str
    score: float = 0.0
    because: Because = "search"
    calls: int = 0
    failure_rate: float | None = None
    average_duration: float | None = None


class Selection(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool that was chosen, for which step, and why."""

    step: str
    tool: str
    reasoning: str = ""


class Round(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question to the model and what came of it."""

    answer: str = ""
    """As the model wrote it."""
    plan: JsonObject | None = None
    """As it was read; None: it could not be."""
    findings: tuple[Finding, ...] = ()
    """What was wrong with it."""
    error: str = ""
    """Why there is no answer."""
    usage: Usage = Usage()
    cost: float | None = None
    duration: float = 0.0
    model: str = ""


class PlanningRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Record of a planning: how a plan came about, or why none did."""

    request: str
    id: str = ""
    """Of the record in the store; empty: it is not kept."""
    planner: Literal["model", "offline", "cache"] = "model"
    strategy: str = ""
    """The way of planning that was chosen among several; empty: there was one."""
    outcome: Outcome = "planned"
    reason: str = ""
    """Why it fell back, failed, or found no tool."""
    catalog: str = ""
    """Digest of the catalogue it was planned with."""
    shown: tuple[Shown, ...] = ()
    selections: tuple[Selection, ...] = ()
    reasoning: str = ""
    confidence: float | None = None
    rounds: tuple[Round, ...] = ()
    simplified: bool = False
    """Planned as one simple request, because its decomposition was not sure."""
    prompt_size: int = 0
    """Characters of the first prompt."""
    started_at: float = 0.0
    """Unix time."""
    duration: float = 0.0
    asker: JsonObject = {}
    """As `PlanRequest` has it."""
    run_id: str = ""
    """The run of the plan that ended last."""
    success: bool | None = None
    """Whether that did what was asked; None: none has ended."""

    @property
    def usage(self) -> Usage:
        """Tokens of all rounds."""
        total = Usage()
        for one in self.rounds:
            total += one.usage
        return total

    @property
    def cost(self) -> float:
        """USD of all rounds whose price is known."""
        return sum(one.cost or 0.0 for one in self.rounds)

    @property
    def is_fallback(self) -> bool:
        """The plan is not the model's."""
        return self.outcome == "fallback"


class PlanningResult(msgspec.Struct, frozen=True, kw_only=True):
    """A checked plan and how it came about."""

    plan: Plan
    record: PlanningRecord


Rank = Callable[[Catalog, str, int], Sequence[Hit]]
"""Catalogue, text, at most so many → the tools that fit, best first."""
Offline = Callable[[PlanRequest, Catalog], Awaitable[Plan]]
"""A planner without a model. Raises `NoToolFits`, or any `ToolpathError`."""


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """Ground that a model planner stands on: tools, model, search, bounds."""

    catalog: Catalog
    chat: Chat
    clock: Clock
    rank: Rank
    options: PlannerOptions = PlannerOptions()
    offline: Offline | None = None
    lessons: Callable[[str], Sequence[Lesson]] | None = None
    """Request → what was learned from requests like it."""
