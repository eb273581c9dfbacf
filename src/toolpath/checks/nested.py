"""Rules on plans inside plans: a tool whose body is a plan is checked too, once, and never holds itself. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.context import Context, NestedPlanFacts
from toolpath.checks.memory import SchemaMemory
from toolpath.checks.remarks import error, remark
from toolpath.checks.views import agents_tools, called_tools
from toolpath.errors import Finding
from toolpath.model.plan import Agent, Call, Plan, every_step
from toolpath.model.tool import Tool

#: Plans inside one another that anything here looks into, whatever the plan's own limit says.
MAX_DEPTH = 50


class Bodies:
    """Facts about the plans inside tools, found once each within one check."""

    __slots__ = ("_below", "_catalog", "_memory", "_secrets", "contexts", "limit")

    def __init__(self, catalog: Catalog, secrets: Collection[str] | None, limit: int, memory: SchemaMemory) -> None:
        """`limit`: how many plans the outermost one lets nest; those inside it have no say."""
        self.limit = min(limit, MAX_DEPTH)
        self._catalog = catalog
        self._secrets = secrets
        self._memory = memory
        self._below: dict[str, tuple[str, ...]] = {}
        self.contexts: dict[str, Context] = {}
        """The plans that were looked into, by the keys of their tools."""

    def context(self, tool: Tool, plan: Plan) -> Context:
        """The plan inside a tool as the rules see it. Only for a tool without a ring."""
        known = self.contexts.get(tool.key)
        if known is None:
            known = self.contexts[tool.key] = Context(
                plan, self._catalog, secrets=self._secrets, body_of=self.body, memory=self._memory
            )
        return known

    def body(self, tool: Tool) -> NestedPlanFacts | None:
        """Type and least spending of the plan inside a tool; None where it is none, or cannot be looked into."""
        if not isinstance(tool.body, Plan) or self.ring(tool) or self.depth(tool) > self.limit:
            return None
        context = self.context(tool, tool.body)
        return NestedPlanFacts(context.types.plan(), context.least)

    def called_by(self, tool: Tool) -> tuple[str, ...]:
        """The keys of the tools with a plan as body that this one's plan calls."""
        known = self._below.get(tool.key)
        if known is None:
            known = self._below[tool.key] = tuple(dict.fromkeys(self._nested(tool)))
        return known

    def _nested(self, tool: Tool) -> Iterator[str]:
        if not isinstance(tool.body, Plan):
            return
        for _, step in every_step(tool.body.block):
            names = [step.tool] if isinstance(step, Call) else list(step.tools) if isinstance(step, Agent) else []
            for name in [*names, *(fallback.tool for fallback in step.fallback)]:
                inner = self._catalog.get(name)
                if inner is not None and isinstance(inner.body, Plan):
                    yield inner.key

    def ring(self, tool: Tool) -> tuple[str, ...]:
        """Way by which the tool's plan comes to call the tool, or any on that way, again; empty: it does not."""
        finished: set[str] = set()
        way: dict[str, Iterator[str]] = {tool.key: iter(self.called_by(tool))}
        while way:
            here = next(reversed(way))
            following = next(way[here], None)
            if following is None:
                finished.add(here)
                way.pop(here)
            elif following in way:
                keys = list(way)
                return (*keys[keys.index(following) :], following)
            elif following not in finished:
                way[following] = iter(self.called_by(self._catalog.tools[following]))
        return ()

    def depth(self, tool: Tool) -> int:
        """How many plans deep a tool without a ring goes, itself included; 0: its body is no plan."""
        if not isinstance(tool.body, Plan):
            return 0
        depths: dict[str, int] = {}
        stack = [tool.key]
        while stack:
            here = stack[-1]
            below = self.called_by(self._catalog.tools[here])
            unknown = [key for key in below if key not in depths]
            if unknown:
                stack += unknown
            else:
                stack.pop()
                depths[here] = 1 + max((depths[key] for key in below), default=0)
        return depths[tool.key]


def nested_plans_are_sound(
    context: Context, bodies: Bodies, check_body: Callable[[Tool, Plan], tuple[Finding, ...]]
) -> Iterator[Finding]:
    """recursive_plan, too_deep, and the findings of nested plans, at the first step that calls each."""
    said: set[str] = set()
    for view in context.views.steps:
        for path, tool in (*called_tools(context.catalog, view), *agents_tools(context.catalog, view)):
            if tool.key in said or not isinstance(tool.body, Plan):
                continue
            said.add(tool.key)
            ring = bodies.ring(tool)
            if ring:
                yield error(
                    "recursive_plan",
                    path,
                    f"The plan '{tool.key}' comes to call itself: {' → '.join(ring)}.",
                    hint="A plan cannot hold itself; use a loop.",
                )
            elif (depth := bodies.depth(tool)) > bodies.limit:
                yield error(
                    "too_deep",
                    path,
                    f"'{tool.key}' nests {depth} plans, and the limit is {bodies.limit}.",
                    hint="Raise 'limits.depth', or flatten the plans.",
                )
            else:
                yield from _inside(path, tool, check_body(tool, tool.body))


def _inside(path: str, tool: Tool, findings: Collection[Finding]) -> Iterator[Finding]:
    for finding in findings:
        if finding.severity != "information":
            yield remark(
                finding.severity,
                finding.code,
                path,
                f"In '{tool.key}'{f' at {finding.path}' if finding.path else ''}: {finding.message}",
                hint=finding.hint,
                suggestions=finding.suggestions,
            )
