"""A frozen view of all known tools: look-up by key, alias or bare name. Pure; the life is in `registry`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, KeysView, Mapping
from functools import cached_property
from types import MappingProxyType

from toolpath.errors import AmbiguousTool, ToolNotFound, ToolpathError, ToolUnavailable, closest
from toolpath.model.language_model import UNKNOWN_MODELS, KnownModels
from toolpath.model.plan import Plan
from toolpath.model.tool import Tool, ToolStats, as_called
from toolpath.values import JsonObject, digest

_FILES = (".yaml", ".yml", ".json")


class Catalog:
    """The tools at one moment. Never changes; two catalogs of equal digest offer the same tools."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        stats: Mapping[str, ToolStats] | None = None,
        problems: Mapping[str, ToolpathError] | None = None,
    ) -> None:
        self.tools: Mapping[str, Tool] = MappingProxyType(dict(tools))
        """Key → tool, in the order in which they were added."""
        self.stats: Mapping[str, ToolStats] = MappingProxyType(dict(stats or {}))
        """Key → what is known from calls."""
        self.problems: Mapping[str, ToolpathError] = MappingProxyType(dict(problems or {}))
        """Group whose provider could not list its tools, or key of a tool that cannot be used → why."""
        self.models = UNKNOWN_MODELS
        """The models that agents may ask; not known where nobody said."""

    def with_models(self, models: KnownModels) -> Catalog:
        """The same tools with these models; indices and digest are shared."""
        if models is self.models:
            return self
        twin = Catalog.__new__(Catalog)
        twin.__dict__.update(self.__dict__)
        twin.models = models
        return twin

    def with_problems(self, problems: Mapping[str, ToolpathError]) -> Catalog:
        """The same tools with these problems beside those that are known."""
        if not problems:
            return self
        twin = Catalog.__new__(Catalog)
        twin.__dict__.update(self.__dict__)
        twin.problems = MappingProxyType({**problems, **self.problems})
        return twin

    def with_stats(self, stats: Mapping[str, ToolStats]) -> Catalog:
        """The same tools with other statistics, which never change; indices and digest are shared."""
        if stats is self.stats:
            return self
        twin = Catalog.__new__(Catalog)
        # What was computed of the tools holds for the twin as well.
        twin.__dict__.update(self.__dict__)
        twin.stats = stats
        return twin

    def beside(self, tools: Mapping[str, Tool], reserved: Collection[str] = ()) -> Catalog:
        """These tools with others, by key, beside them: what a name means here it means there, too.

        A tool is left out whose key means something here already, is among the `reserved` names, or is of a group with
        a problem; bare names are given under the same terms. The same catalogue where nothing is left to add.
        """

        def is_free(name: str) -> bool:
            return not self.candidates(name) and self.problem_of(name) is None and name not in reserved

        added = {key: tool for key, tool in tools.items() if is_free(key)}
        if not added:
            return self
        both = Catalog({**self.tools, **added}, self.stats, self.problems).with_models(self.models)
        bare = {name: keys for name, keys in Catalog(added)._other_names.items() if is_free(name)}
        both.__dict__["_other_names"] = {**bare, **self._other_names}
        return both

    @cached_property
    def digest(self) -> str:
        """`sha256:…` of all keys and fingerprints."""
        return digest({key: tool.fingerprint for key, tool in self.tools.items()})

    @cached_property
    def calling(self) -> frozenset[str]:
        """Keys of the tools that need others: whose body is a plan, or whose writes another tool verifies."""
        return frozenset(
            key for key, tool in self.tools.items() if tool.verify is not None or isinstance(tool.body, Plan)
        )

    @cached_property
    def _other_names(self) -> dict[str, tuple[str, ...]]:
        """Alias, or else bare name → keys of the tools that answer to it."""
        aliases: dict[str, dict[str, None]] = {}
        bare: dict[str, dict[str, None]] = {}
        for key, tool in self.tools.items():
            for alias in tool.aliases:
                aliases.setdefault(alias, {})[key] = None
            if tool.group:
                bare.setdefault(tool.name, {})[key] = None
        return {name: tuple(keys) for name, keys in (bare | aliases).items()}

    def find(self, name: str) -> Tool:
        """The tool of that exact key, else of that alias, else of that bare name where it is unique.

        Raises `AmbiguousTool`, naming the candidates, `ToolUnavailable` where its provider has a problem, or
        `ToolNotFound`, naming the nearest keys.
        """
        tool = self.tools.get(name)
        if tool is not None:
            return tool
        keys = self._other_names.get(name, ())
        match keys:
            case (key,):
                return self.tools[key]
            case () if (problem := self.problem_of(name)) is not None:
                raise ToolUnavailable(f"{name!r} is not there: {problem.message}", reached=False, hint=problem.hint)
            case ():
                raise ToolNotFound(
                    f"No tool is called {name!r}.",
                    suggestions=self.nearest(name),
                    hint="A file is read first: tp.read(path)." if name.endswith(_FILES) else "",
                )
            case _:
                raise AmbiguousTool(
                    f"{name!r} could be any of {len(keys)} tools: {', '.join(keys[:10])}.",
                    suggestions=keys[:3],
                    hint="Write the full key.",
                )

    def get(self, name: str) -> Tool | None:
        """The tool `find` gives, or None where it raises."""
        tool = self.tools.get(name)
        if tool is None and len(keys := self._other_names.get(name, ())) == 1:
            return self.tools[keys[0]]
        return tool

    def called(self, name: str, inputs: JsonObject) -> Tool | None:
        """The tool `get` gives, with the effect that a call with these inputs, as a plan has them, has."""
        tool = self.get(name)
        return None if tool is None else as_called(tool, inputs, self.get)

    def candidates(self, name: str) -> tuple[str, ...]:
        """The keys of all tools that `name` could mean; empty: none."""
        return (name,) if name in self.tools else self._other_names.get(name, ())

    def problem_of(self, name: str) -> ToolpathError | None:
        """Why there is no tool of that name, where its provider or the tool itself has a problem."""
        return self.problems.get(name) or self.problems.get(name.rpartition(".")[0])

    def nearest(self, name: str, limit: int = 3) -> tuple[str, ...]:
        """The keys most like `name`, nearest first."""
        return closest(name, self.tools, limit)

    def by_capability(self, capability: str) -> tuple[Tool, ...]:
        """The tools that say they have this capability."""
        wanted = capability.casefold()
        return tuple(
            tool for tool in self.tools.values() if any(wanted == known.casefold() for known in tool.capabilities)
        )

    def selectable(self) -> list[Tool]:
        """Every tool that an agent may be given: all that are switched on and do not say otherwise."""
        return [
            tool
            for tool in self.tools.values()
            if tool.metadata.get("selectable") is not False and tool.metadata.get("enabled") is not False
        ]

    def keys(self) -> KeysView[str]:
        """All keys."""
        return self.tools.keys()

    def __contains__(self, name: object) -> bool:
        """Whether `name` is the exact key of a tool."""
        return name in self.tools

    def __iter__(self) -> Iterator[str]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)

    def __repr__(self) -> str:
        return f"Catalog({len(self.tools)} tools)"
