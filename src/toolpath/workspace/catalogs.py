"""Catalogues of one Toolpath: the house's tools, and for each tenant what it has published beside them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Final

from toolpath.access.acting import tenant_of
from toolpath.catalog.registry import Registry
from toolpath.catalog.snapshot import Catalog
from toolpath.errors import ConfigError, ToolpathError
from toolpath.model.tool import Tool
from toolpath.ports import Store
from toolpath.runs.opening import load_tools, names_in
from toolpath.workspace.template_provider import TemplateProvider, published_tools
from toolpath.workspace.template_records import revision_of

if TYPE_CHECKING:
    from toolpath.workspace.configured import Configured
    from toolpath.workspace.templates import Templates

#: Tenants whose tools are kept at hand; of those that were asked for least lately, they are listed again.
_KEPT: Final = 1_000


class _TenantTools:
    """What one tenant has published as tools, and the catalogue that it sees by that."""

    def __init__(self, revision: int, tools: Mapping[str, Tool], problems: Mapping[str, ToolpathError]) -> None:
        self.revision = revision
        """Of what is published in the store, when they were listed."""
        self.tools = tools
        self.problems = problems
        self._seen: tuple[Catalog, Catalog] | None = None

    def view(self, house: Catalog, registry: Registry) -> Catalog:
        """The house's tools with the tenant's: the same tools object as long as neither changes."""
        if not self.tools and not self.problems:
            return house
        if self._seen is None or self._seen[0].tools is not house.tools:
            self._seen = (house, self._made(house, registry))
        return self._seen[1].with_stats(house.stats).with_models(house.models)

    def _made(self, house: Catalog, registry: Registry) -> Catalog:
        theirs = {key: tool for key, tool in self.tools.items() if tool.group not in registry.groups}
        # What a composite of the house calls and does not find must be nobody's to give it.
        reserved = {name for key in house.calling for name in names_in(house.tools[key])}
        view = house.beside(registry.overridden(theirs), reserved)
        taken = {key: _taken(key) for key in self.tools if key in house or key not in view}
        return view.with_problems({**self.problems, **taken})


class Catalogs:
    """The catalogues of one Toolpath. A tenant has the house's tools, and its own; nobody else knows of these."""

    def __init__(
        self,
        registry: Registry,
        store: Store,
        configured: Callable[[], Configured],
        templates: Callable[[], Templates],
    ) -> None:
        self._registry = registry
        self._store = store
        self._configured = configured
        self._templates = templates
        self._tenants: dict[str, _TenantTools] = {}
        self._house_templates = TemplateProvider(store, templates)
        registry.add_provider(self._house_templates)

    async def load(self, names: Collection[str] | None, tenant: str | None = None) -> Catalog:
        """The catalogue with these tools and all that calling them may call; None: with every tool there is.

        It is the tenant's; None: the acting caller's. Raises `StoreError`.
        """
        await self._configured().catch_up()
        wanted = None if names is None else set(names)
        await self._house_templates.refresh(wanted, self._registry.snapshot())
        tenant = tenant_of(tenant)
        if not tenant:
            return await load_tools(self._registry, wanted)
        await self._refresh(tenant, wanted)
        own = self._tenants.get(tenant)
        if own is None:
            return await load_tools(self._registry, wanted)
        return await load_tools(
            self._registry, wanted, beside=own.tools.keys(), view=lambda house: own.view(house, self._registry)
        )

    def known(self, tenant: str | None = None) -> Catalog:
        """The tenant's catalogue as it is known now: nobody is asked."""
        house = self._registry.snapshot()
        own = self._tenants.get(tenant_of(tenant))
        return house if own is None else own.view(house, self._registry)

    def source_of(self, tool: Tool) -> str:
        """The kind of provider that a tool of the acting caller comes from, as `mcp`; `program` where it has none."""
        own = self._tenants.get(tenant_of(None))
        if own is not None and tool.key in own.tools and tool.key not in self._registry.snapshot().tools:
            return self._house_templates.kind
        return self._registry.origin(tool.key)

    async def mark(self) -> None:
        """Tell every process of the store that the published templates have changed."""
        await self._house_templates.mark()

    async def _refresh(self, tenant: str, names: set[str] | None) -> None:
        """List the tenant's templates where one of these names may be among them, and some were published since."""
        if names is not None and self._registry.snapshot().keys() >= names:
            return
        revision = await revision_of(self._store)
        # It is known by what was listed last, until it is listed again.
        known = self._tenants.get(tenant)
        if known is None or known.revision != revision:
            tools, unusable = await published_tools(self._templates(), tenant) if revision else ({}, {})
            if known is None or known.tools != tools or known.problems.keys() != unusable.keys():
                known = _TenantTools(revision, tools, unusable)
            known.revision = revision
        # The one asked for latest stands last.
        self._tenants.pop(tenant, None)
        self._tenants[tenant] = known
        while len(self._tenants) > _KEPT:
            del self._tenants[next(iter(self._tenants))]


def _taken(key: str) -> ToolpathError:
    return ConfigError(
        f"The template is no tool: {key!r} is a name of the house.", hint="Give the template another title or group."
    )
