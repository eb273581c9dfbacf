"""Provider of published plan templates: what plans and agents call in the channel `tool`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import ConfigError, Finding, ToolpathError
from toolpath.model.record import Record
from toolpath.model.tool import Tool
from toolpath.ports import Store
from toolpath.values import JsonObject
from toolpath.workspace.template_records import PUBLISHED, revision_of
from toolpath.workspace.template_tools import tool_of

if TYPE_CHECKING:
    from toolpath.workspace.templates import Templates


async def published_tools(templates: Templates, tenant: str) -> tuple[dict[str, Tool], dict[str, ToolpathError]]:
    """Key → tool of each template that the tenant has published as one, and key → why a template is none."""
    tools: dict[str, Tool] = {}
    unusable: dict[str, ToolpathError] = {}
    async for template in templates.every(tenant=tenant):
        if not template.published or "tool" not in template.channels:
            continue
        try:
            tool = tool_of(template, (await templates.read(template, template.published)).plan())
        except ToolpathError as error:
            unusable[template.key] = ConfigError(f"Template {template.key}: {error.message}", hint=error.hint)
            continue
        if tool.key in tools:
            unusable[template.key] = ConfigError(
                f"Template {template.key}: Another template is already the tool {tool.key!r}."
            )
        tools.setdefault(tool.key, tool)
    return tools, unusable


class TemplateProvider:
    """A provider of the house's templates that are published as tools. Those of tenants: `Catalogs`."""

    name = "toolpath-templates"
    kind = "templates"
    is_local = True
    """Listing it starts nothing."""

    def __init__(self, store: Store, templates: Callable[[], Templates]) -> None:
        self._store = store
        self._templates = templates
        self._seen = -1
        self._tools: dict[str, Tool] = {}
        self._changed: Callable[[], None] = lambda: None
        self.findings: tuple[Finding, ...] = ()
        """Which templates could not be read, since they were last listed."""

    async def list_tools(self) -> Sequence[Tool]:
        """A tool for each template that is published as one."""
        self._seen = await revision_of(self._store)
        if not self._seen:
            return []
        self._tools, unusable = await published_tools(self._templates(), tenant="")
        self.findings = tuple(_finding(why.message) for why in unusable.values())
        return list(self._tools.values())

    async def refresh(self, names: set[str] | None, catalog: Catalog) -> None:
        """Have the tools listed again where templates were published since and one of these may be among them."""
        if self._seen < 0:
            return
        if names is not None and catalog.keys() >= names and self._tools.keys().isdisjoint(names):
            return
        if await revision_of(self._store) != self._seen:
            self._changed()

    async def mark(self) -> None:
        """Tell every process of the store that the published templates have changed."""
        await self._store.put_record(Record(kind=PUBLISHED[0], id=PUBLISHED[1]))
        self._changed()

    async def close(self) -> None:
        """There is nothing to let go of."""

    def watch(self, changed: Callable[[], None]) -> None:
        """`changed` is called when a template is published or withdrawn."""
        self._changed = changed

    def describe(self) -> JsonObject:
        """Nothing: every process of the store has them."""
        return {}


def _finding(message: str) -> Finding:
    return Finding(code="template_no_tool", severity="warning", message=message)
