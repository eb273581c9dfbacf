"""Rules on tools: that each one named is there, once. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from toolpath.checks.context import Context
from toolpath.checks.remarks import error, information, listed, warning
from toolpath.errors import Finding
from toolpath.model.plan import Agent, Call
from toolpath.model.tool import Tool


def tools_exist(context: Context) -> Iterator[Finding]:
    """unknown_tool, ambiguous_tool: what a step or fallback calls is in the catalogue."""
    for view in context.views.steps:
        match view.step:
            # A step without an action has no tool; the reader has said so.
            case Call(tool=name) if view.tool is None and name:
                yield missing_tool(context, name, f"{view.path}/tool")
            case _:
                pass
        for number, fallback in enumerate(view.step.fallback):
            if context.catalog.get(fallback.tool) is None:
                yield missing_tool(context, fallback.tool, f"{view.path}/fallback/{number}/tool")


def missing_tool(context: Context, name: str, path: str, *, others: Collection[str] = ()) -> Finding:
    """The finding on a name that no one tool answers to. `others`: names that may have been meant besides keys."""
    candidates = context.catalog.candidates(name)
    if candidates:
        return error(
            "ambiguous_tool",
            path,
            f"'{name}' could be any of {len(candidates)} tools: {listed(candidates)}.",
            hint="Write the full key.",
            suggestions=candidates[:3],
        )
    problem = context.catalog.problem_of(name)
    if problem is not None:
        return error("unknown_tool", path, f"'{name}' is not there: {problem.message}", hint=problem.hint)
    near = context.suggest(name, [*context.catalog.keys(), *others] if others else context.catalog.keys())
    hint = "" if near else _how_many(len(context.catalog))
    return error("unknown_tool", path, f"No tool is called '{name}'.", hint=hint, suggestions=near)


def _how_many(tools: int) -> str:
    if tools == 0:
        return "There are no tools."
    return "There is one tool." if tools == 1 else f"There are {tools} tools."


def fields_belong(context: Context) -> Iterator[Finding]:
    """misplaced: a field that tool calls and agents have stands on another kind of step, where it does nothing."""
    for view in context.views.steps:
        if isinstance(view.step, Call):
            continue
        for field, given in (("fallback", view.step.fallback), ("cache", view.step.cache), ("retry", view.step.retry)):
            if given and not (field != "cache" and isinstance(view.step, Agent)):
                yield warning(
                    "misplaced",
                    f"{view.path}/{field}",
                    f"'{field}' belongs to a step that calls a tool; on '{view.step.id}' it does nothing.",
                    hint="Put it on the steps inside.",
                )


def verify_tools_exist(context: Context) -> Iterator[Finding]:
    """unknown_verify: a write names a tool that is to tell whether it happened, and there is none of that name."""
    for view in context.views.steps:
        tool = view.tool
        if tool is not None and tool.verify and context.catalog.get(tool.verify) is None:
            yield warning(
                "unknown_verify",
                f"{view.path}/tool",
                f"'{tool.key}' names '{tool.verify}' to verify its writes, and there is no such tool: "
                "a write in doubt will wait for a person.",
                suggestions=context.suggest(tool.verify, context.catalog.keys()),
            )


def reserved_fields(context: Context) -> Iterator[Finding]:
    """reserved_field: what is kept for later does nothing yet."""
    for name in context.plan.policy:
        if name != "requires":
            yield information("reserved_field", f"/policy/{name}", f"'policy.{name}' is kept, but does nothing yet.")
    said: set[str] = set()
    for view in context.views.steps:
        tool = view.tool
        if tool is None or tool.key in said:
            continue
        said.add(tool.key)
        fields = _reserved_of(tool)
        if fields:
            yield information(
                "reserved_field",
                f"{view.path}/tool",
                f"{listed(fields)} of '{tool.key}' is kept, but does nothing yet.",
            )


def _reserved_of(tool: Tool) -> list[str]:
    return [name for name in ("undo", "reads", "sends") if getattr(tool, name) is not None]
