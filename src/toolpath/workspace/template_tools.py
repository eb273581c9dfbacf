"""Plan templates as tools: which they are, and which can be none. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import Finding, PlanInvalid, SchemaError
from toolpath.model.plan import Plan
from toolpath.model.policy import requirement_of
from toolpath.model.template import PlanTemplate
from toolpath.model.tool import Requires, Tool
from toolpath.notation.template import TemplateDocument
from toolpath.runs.opening import tools_of
from toolpath.values import digest

_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9_-]+")


def tool_of(template: PlanTemplate, plan: Plan) -> Tool:
    """The template as a tool: its group and title are the key, with `_` for what a key cannot hold."""
    return Tool(
        name=_legal(template.title) or template.template_id,
        group=_legal(template.group),
        title=template.title,
        description=template.description,
        category="workflow",
        version=str(template.published),
        input_schema=plan.inputs or {"type": "object"},
        requires=requirement_of(plan) or Requires(auth=True, permissions=("*",)),
        body=plan,
        # Over MCP it is told of where it is published there as well.
        metadata={"template_id": template.template_id, "published": "mcp" in template.channels},
    )


def check_tool(
    template: PlanTemplate, document: TemplateDocument, plan: Plan, catalog: Catalog, *, house: Collection[str]
) -> None:
    """Raise `SchemaError` where the template can be no tool, `PlanInvalid` where it calls itself.

    `house`: the groups of tools that providers of the house have for themselves.
    """
    if document.fixed:
        use = document.fixed[0]
        raise SchemaError(
            f"A tool is checked before it is called: <<{use.name}>> cannot stand at {use.path}.",
            hint="Put parameters where templates may stand.",
        )
    tool = tool_of(template, plan)
    there = catalog.get(tool.key)
    if there is not None and there.key != tool.key and not template.tenant:
        # Another name of a tool of the house gives way to a key of the house, and to no tenant's.
        there = None
    is_taken = there is not None and there.metadata.get("template_id") != template.template_id
    if is_taken or (template.tenant and tool.group in house):
        raise SchemaError(f"There is already a tool {tool.key!r}.", hint="Give the template another title or group.")
    way = way_to_itself(tool, catalog)
    if way:
        message = f"The template calls itself: {' → '.join(way)}."
        raise PlanInvalid((Finding(code="calls_itself", severity="error", message=message, path="/steps"),))


def way_to_itself(tool: Tool, catalog: Catalog) -> tuple[str, ...]:
    """Keys from the tool over those that its plan calls to itself; empty where it does not call itself."""
    seen: set[str] = set()
    ways: list[tuple[Tool, tuple[str, ...]]] = [(tool, (tool.key,))]
    while ways:
        each, way = ways.pop()
        for name in sorted(tools_of(each.body)) if isinstance(each.body, Plan) else ():
            found = catalog.get(name)
            key = name if found is None else found.key
            if key == tool.key:
                return (*way, key)
            if found is not None and key not in seen:
                seen.add(key)
                ways.append((found, (*way, key)))
    return ()


def _legal(text: str) -> str:
    made = _ILLEGAL.sub("_", text).strip("_")[:100]
    # What is written in other letters has a name all the same, and always the same one.
    return made or f"t_{digest(text)[7:15]}"
