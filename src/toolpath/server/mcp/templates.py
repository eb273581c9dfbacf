"""Plan templates that are published in the channel `mcp`, as tools of who asks."""

from __future__ import annotations

from collections.abc import AsyncIterator

from mcp_types import Tool as McpTool

from toolpath.app import Toolpath
from toolpath.errors import ToolpathError
from toolpath.model.template import PlanTemplate, TemplateRun
from toolpath.server.mcp.listing import Published, ToolListing, published_tool
from toolpath.values import JsonObject
from toolpath.workspace.template_tools import tool_of


class McpTemplates:
    """The templates of one Toolpath, for clients of each tenant."""

    def __init__(self, tp: Toolpath) -> None:
        self._tp = tp

    async def told(self, tenant: str, listing: ToolListing) -> list[McpTool]:
        """The tools that a client of the tenant has beside those of the listing."""
        return [published.told async for _, published in self._every(tenant, listing)]

    async def find(self, name: str, tenant: str, listing: ToolListing) -> tuple[PlanTemplate, Published] | None:
        """The template whose tool has this name for clients of the tenant, and its tool; None where there is none."""
        async for template, published in self._every(tenant, listing):
            if published.name == name:
                return template, published
        return None

    async def run_of(self, template: PlanTemplate, inputs: JsonObject) -> TemplateRun:
        """The run of the version that is published in the channel. Raises `PolicyViolationError` where none is."""
        version = self._tp.templates.open_to(template, "mcp")
        return await self._tp.templates.run_of(template, inputs, version=version)

    async def _every(self, tenant: str, listing: ToolListing) -> AsyncIterator[tuple[PlanTemplate, Published]]:
        names = {tool.name for tool in listing.tools}
        async for template in self._tp.templates.every(tenant=tenant):
            if not template.published or "mcp" not in template.channels:
                continue
            try:
                document = await self._tp.templates.read(template, template.published)
            except ToolpathError:
                # Gone meanwhile, or no plan of this version of ours: it can be called by nobody.
                continue
            tool = tool_of(template, document.plan())
            known = listing.catalog.get(tool.key)
            if known is not None and known.metadata.get("template_id") == template.template_id:
                # As a tool of the catalogue it is in the listing.
                continue
            published = published_tool(tool, names)
            names.add(published.name)
            yield template, published
