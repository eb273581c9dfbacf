"""The life of the catalogue: tools and providers that come and go, overrides, statistics.

A provider is asked for its tools only when one of them is needed. What is handed out are frozen snapshots.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from toolpath.catalog.overrides import Override, overridden, read_override, read_overrides
from toolpath.catalog.snapshot import Catalog
from toolpath.catalog.statistics import Statistics
from toolpath.errors import ConfigError, Finding, ToolpathError
from toolpath.json_schema.validate import schema_faults
from toolpath.model.language_model import UNKNOWN_MODELS, KnownModels
from toolpath.model.tool import Tool, ToolStats
from toolpath.ports import Provider
from toolpath.values import Json

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_GROUP = re.compile(r"[A-Za-z0-9_-]{1,128}")
#: Seconds for which a provider that failed is not asked again.
_PAUSE = 5.0


def check_tool(tool: Tool) -> None:
    """Raise `ConfigError` when the tool's name, group or schemas cannot be used."""
    _check_call(tool)
    _check_output(tool)


def _check_call(tool: Tool) -> None:
    if not _NAME.fullmatch(tool.name):
        raise ConfigError(
            f"A tool cannot be called {tool.name[:200]!r}.", hint="Use 1 to 128 letters, digits, '_', '-' and '.'."
        )
    if tool.group and not _GROUP.fullmatch(tool.group):
        raise ConfigError(
            f"Tool {tool.name!r}: {tool.group[:200]!r} cannot be a group.",
            hint="Use 1 to 128 letters, digits, '_' and '-'; a group has no dots.",
        )
    fault = _schema_fault(tool.input_schema)
    if fault:
        raise ConfigError(f"Tool {tool.key!r}: its input_schema is no JSON Schema: {fault}")
    if tool.input_schema.get("type", "object") != "object":
        raise ConfigError(
            f"Tool {tool.key!r}: its input_schema describes {tool.input_schema['type']!r}, not an object.",
            hint="Inputs are an object with one property for each parameter.",
        )


def _check_output(tool: Tool) -> None:
    fault = "" if tool.output_schema is None else _schema_fault(tool.output_schema)
    if fault:
        raise ConfigError(f"Tool {tool.key!r}: its output_schema is no JSON Schema: {fault}")


def _schema_fault(schema: Json) -> str:
    if not isinstance(schema, dict):
        return f"it is {type(schema).__name__}, not an object"
    faults = schema_faults(schema)
    return f"{faults[0][0] or '/'}: {faults[0][1]}" if faults else ""


class _Source:
    """A provider with what is known of it."""

    __slots__ = ("failed_at", "faults", "is_listed", "listing", "problem", "provider", "tools")

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.tools: dict[str, Tool] = {}
        self.is_listed = False
        """Its tools are known and have not changed since."""
        self.problem: ToolpathError | None = None
        """Why its tools could not be listed."""
        self.faults: dict[str, ToolpathError] = {}
        """Key of each tool that could not be taken as it is → why."""
        self.failed_at: float | None = None
        self.listing: asyncio.Task[None] | None = None


class Registry:
    """All tools and where they come from. Used from one event loop."""

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, overrides: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        self._clock = clock
        self.on_listing: Callable[[Provider], None] | None = None
        """Told of each provider just before it is asked for its tools: a server may take seconds to start."""
        self._own: dict[str, Tool] = {}
        self._sources: dict[str, _Source] = {}
        self._overrides: tuple[Override, ...] = read_overrides(overrides or {}, where="overrides")
        self.statistics = Statistics()
        """What is known of each tool, by key, as its calls end."""
        self._models = UNKNOWN_MODELS
        self._catalog: Catalog | None = None
        self._listeners: dict[object, Callable[[], None]] = {}
        self.revision = 0
        """Grows with every change of the tools; statistics are none."""

    def add(self, tool: Tool) -> None:
        """Make the tool known, in place of an earlier one of the same key.

        Raises `ConfigError` for a name, group or schema that cannot be used.
        """
        check_tool(tool)
        self._own[tool.key] = tool
        self._change()

    def remove(self, key: str) -> bool:
        """Forget a tool that was added; false when there was none."""
        if self._own.pop(key, None) is None:
            return False
        self._change()
        return True

    def add_provider(self, provider: Provider) -> None:
        """Make a provider known. It is asked for tools when one named `<provider.name>.…` is needed, or one unknown.

        Raises `ConfigError` when the name is taken or cannot be a group.
        """
        name = provider.name
        if not _GROUP.fullmatch(name):
            raise ConfigError(
                f"A provider cannot be called {name[:200]!r}.", hint="Use letters, digits, '_' and '-', no dots."
            )
        if name in self._sources:
            raise ConfigError(f"There is already a provider called {name!r}.", hint="Give one of them another name.")
        source = _Source(provider)
        self._sources[name] = source
        provider.watch(lambda: self._forget(source))

    def remove_provider(self, name: str) -> Provider | None:
        """Forget a provider and its tools; gives it, still open: snapshots that were handed out may call its tools.

        None where there is none of that name.
        """
        source = self._sources.pop(name, None)
        if source is None:
            return None
        self._change()
        return source.provider

    @property
    def providers(self) -> Mapping[str, Provider]:
        """Name → provider, in the order in which they were added."""
        return {name: source.provider for name, source in self._sources.items()}

    def origin(self, key: str) -> str:
        """The kind of provider that the tool comes from, as `mcp`; `program` for one that was added by itself."""
        if key not in self._own:
            for source in self._sources.values():
                if key in source.tools:
                    return str(getattr(source.provider, "kind", "program"))
        return "program"

    @property
    def problems(self) -> Mapping[str, ToolpathError]:
        """Name of each provider that could not list its tools → why, and key of each tool with a fault → what."""
        found = {name: source.problem for name, source in self._sources.items() if source.problem is not None}
        for source in self._sources.values():
            found |= source.faults
        return found

    def findings(self) -> tuple[Finding, ...]:
        """The problems as warnings, together with the findings that providers have of their own."""
        found = [
            Finding(
                code="provider_problem",
                severity="warning",
                message=f"{name}: {problem.message}",
                hint=problem.hint,
                suggestions=problem.suggestions,
            )
            for name, problem in self.problems.items()
        ]
        for source in self._sources.values():
            found += getattr(source.provider, "findings", ())
        return tuple(found)

    async def load(self, names: Iterable[str] | None = None, *, refresh: bool = False) -> None:
        """Have the providers that these tools may come from list them; None: all providers.

        Providers that read local files always list theirs. A name whose group is no provider's, and that is not known
        yet, needs all of them. Concurrent loads share one listing. A provider that fails keeps what it listed before,
        is named in `problems` and is asked again after a pause; the others go on. `refresh` asks again in any case.
        """
        if names is None:
            await self._list(self._sources.values(), refresh)
            return
        if not refresh and not any(source.listing or self._is_due(source) for source in self._sources.values()):
            # As before nearly every run: whatever is named, nobody is to be asked.
            return
        wanted = list(dict.fromkeys(names))
        named = {name.partition(".")[0] for name in wanted}
        await self._list(
            [
                source
                for name, source in self._sources.items()
                if name in named or getattr(source.provider, "is_local", False)
            ],
            refresh,
        )
        catalog = self.snapshot()
        if any(not catalog.candidates(name) and name.partition(".")[0] not in self._sources for name in wanted):
            await self._list(self._sources.values(), refresh)

    async def _list(self, sources: Iterable[_Source], refresh: bool) -> None:
        listings = []
        for source in sources:
            if source.listing is None and (refresh or self._is_due(source)):
                source.listing = asyncio.get_running_loop().create_task(self._list_one(source))
            if source.listing is not None:
                listings.append(source.listing)
        if listings:
            # A caller that gives up must not take the listing away from the others.
            await asyncio.shield(asyncio.gather(*listings, return_exceptions=True))

    def _is_due(self, source: _Source) -> bool:
        if source.is_listed:
            return False
        return source.failed_at is None or self._clock() - source.failed_at >= _PAUSE

    async def _list_one(self, source: _Source) -> None:
        if self.on_listing is not None:
            self.on_listing(source.provider)
        # Set before the listing: a change announced during it makes the tools due again.
        source.is_listed = True
        told = _troubles(source)
        try:
            tools = await source.provider.list_tools()
        except Exception as error:  # noqa: BLE001 - whatever a provider raises is that provider's problem
            source.problem = error if isinstance(error, ToolpathError) else _wrap(source.provider.name, error)
            source.failed_at = self._clock()
            source.is_listed = False
        else:
            source.problem = None
            source.failed_at = None
            self._take(source, tools)
        finally:
            source.listing = None
            if _troubles(source) != told:
                self._change()

    def _take(self, source: _Source, tools: Sequence[Tool]) -> None:
        taken: dict[str, Tool] = {}
        faulty = set(source.faults)
        source.faults.clear()
        for tool in tools:
            try:
                _check_call(tool)
                taken[tool.key] = tool
                _check_output(tool)
            except ToolpathError as error:
                source.faults[tool.key] = error
                if tool.key in taken:
                    # What it gives is not known then; it can be called all the same.
                    taken[tool.key] = msgspec.structs.replace(tool, output_schema=None)
        if taken != source.tools or faulty != set(source.faults):
            source.tools = taken
            self._change()

    def set_override(self, key: str, fields: Mapping[str, Any]) -> None:
        """Have these fields win over what tools say of themselves: effect, timeout, retry, cache, cost, and so on.

        `key` is a tool's key or a pattern such as `git.*`. Later overrides win over earlier ones, and an exact key over
        every pattern. Durations are seconds or text. Raises `ConfigError` for fields that are unknown or unreadable.
        """
        self._overrides += (read_override(key, fields, where=f"override of {key!r}"),)
        self._change()

    def set_models(self, models: KnownModels) -> None:
        """Say which models the house's plans may name."""
        if models is not self._models:
            self._models = models
            self._change()

    def snapshot(self) -> Catalog:
        """All tools known now, frozen: the same object until something changes. A tool added wins over a listed one."""
        if self._catalog is None:
            tools: dict[str, Tool] = {}
            for source in self._sources.values():
                for key, tool in source.tools.items():
                    tools.setdefault(key, tool)
            tools |= self._own
            known = {key: overridden(tool, key, self._overrides) for key, tool in tools.items()}
            broken: dict[str, ToolpathError] = {}
            for source in self._sources.values():
                broken |= getattr(source.provider, "broken", {})
            self._catalog = Catalog(known, problems={**broken, **self.problems}).with_models(self._models)
        self._catalog = self._catalog.with_stats(self.statistics.frozen)
        return self._catalog

    @property
    def groups(self) -> Collection[str]:
        """The names of all providers: groups of tools that are theirs alone."""
        return self._sources.keys()

    def overridden(self, tools: Mapping[str, Tool]) -> dict[str, Tool]:
        """Tools by key, that are none of the registry's, with what is laid over all tools of such keys."""
        return {key: overridden(tool, key, self._overrides) for key, tool in tools.items()}

    @property
    def stats(self) -> Mapping[str, ToolStats]:
        """Key → statistics, as they are now."""
        return self.statistics

    def update_stats(self, key: str, change: ToolStats) -> ToolStats:
        """Add the calls of `change` to the tool's statistics and return the sum."""
        return self.statistics.add(key, change)

    async def close(self) -> None:
        """Close every provider, whatever the others do. Raises nothing."""
        listings = [source.listing for source in self._sources.values() if source.listing is not None]
        for listing in listings:
            listing.cancel()
        await asyncio.gather(*listings, return_exceptions=True)
        closings = [source.provider.close() for source in self._sources.values()]
        results = await asyncio.gather(*closings, return_exceptions=True)
        for source, result in zip(self._sources.values(), results, strict=True):
            source.is_listed = False
            if isinstance(result, Exception):
                source.problem = _wrap(source.provider.name, result)

    def on_change(self, told: Callable[[], None]) -> Callable[[], None]:
        """Have `told` called whenever the tools have changed, or a provider says that its own may have.

        Gives what ends that. `told` must return at once and raise nothing.
        """
        ticket = object()
        self._listeners[ticket] = told

        def end() -> None:
            self._listeners.pop(ticket, None)

        return end

    def _change(self) -> None:
        self._catalog = None
        self.revision += 1
        self._tell()

    def _forget(self, source: _Source) -> None:
        source.is_listed = False
        source.failed_at = None
        self._tell()

    def _tell(self) -> None:
        for told in tuple(self._listeners.values()):
            told()


def _troubles(source: _Source) -> tuple[str, ...]:
    """The troubles that a catalogue tells of a source besides its tools."""
    broken: dict[str, ToolpathError] = getattr(source.provider, "broken", {})
    return (str(source.problem), *(f"{name}: {why}" for name, why in broken.items()))


def _wrap(name: str, error: Exception) -> ToolpathError:
    return ConfigError(f"Provider {name!r} failed: {type(error).__name__}: {error}")
