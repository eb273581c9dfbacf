"""The provider of built-in tools: those of the groups that are switched on, and of no others."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toolpath.errors import ConfigError
from toolpath.model.tool import Tool
from toolpath.providers.builtin.groups import BuiltinGroup, group_of, kind_of
from toolpath.providers.builtin.option_secrets import ToldSecrets
from toolpath.providers.surroundings import OUTSIDE, Surroundings
from toolpath.values import JsonObject


class BuiltinProvider:
    """The built-in tools of one Toolpath. Nothing is on that is not named."""

    name = "toolpath-builtin"
    kind = "builtin"
    is_local = True
    """Listing it starts nothing."""

    def __init__(self, groups: Mapping[str, Mapping[str, Any]], surroundings: Surroundings = OUTSIDE) -> None:
        """Group → its options, as in the setting `builtin`. Raises `ConfigError` for what cannot be switched on so."""
        told = ToldSecrets(surroundings.secrets, surroundings.hide)
        own = surroundings._replace(secrets=told)
        self._options = groups
        self._groups: dict[str, BuiltinGroup] = {name: group_of(name, options, own) for name, options in groups.items()}

    def within(self, surroundings: Surroundings) -> BuiltinProvider:
        """The same groups within a Toolpath, whose folders, secrets, clock and schedules they use."""
        return BuiltinProvider(self._options, surroundings)

    @property
    def groups(self) -> Mapping[str, BuiltinGroup]:
        """The groups that are switched on, by name."""
        return self._groups

    def lacks(self, name: str) -> str:
        """The lack for which the group cannot work: a package that is not installed, and how to; empty: none."""
        kind = kind_of(name)
        if not kind.module or importlib.util.find_spec(kind.module) is not None:
            return ""
        return f"switched on, but {kind.module} is not installed; pip install 'toolpath[{kind.extra}]'"

    async def list_tools(self) -> Sequence[Tool]:
        """The tools of all groups that are switched on."""
        return [tool for group in self._groups.values() for tool in group.tools]

    async def close(self) -> None:
        """Let go of connections and programs."""
        for group in self._groups.values():
            if group.close is not None:
                await group.close()

    def watch(self, changed: Callable[[], None]) -> None:
        """Nothing changes: what is on is on from the beginning."""

    def describe(self) -> JsonObject:
        """Nothing: what is switched on says each process for itself, never the record of a run."""
        return {}


def builtin_providers(groups: Any, surroundings: Surroundings) -> list[BuiltinProvider]:
    """The provider of these groups, `{name: options}` or names alone. Raises `ConfigError`."""
    if isinstance(groups, str):
        groups = {groups: {}}
    if not isinstance(groups, Mapping) or not all(isinstance(options, Mapping) for options in groups.values()):
        raise ConfigError("Built-in tools are named as {group: options}.", hint='Write {"http": {"hosts": ["…"]}}.')
    return [BuiltinProvider(groups, surroundings)] if groups else []
