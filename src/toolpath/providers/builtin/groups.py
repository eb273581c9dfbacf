"""Groups of built-in tools: what each is called, what is for it, and what loads it. Light: every command reads this."""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from toolpath.errors import ConfigError, closest
from toolpath.model.tool import Tool
from toolpath.providers.surroundings import Surroundings
from toolpath.values import JsonObject

_Options = TypeVar("_Options", bound=msgspec.Struct)


class GroupKind(NamedTuple):
    """One group that may be switched on."""

    name: str
    """Its key in the setting `builtin`, and the group of its tools."""
    help: str
    loader: str
    """`module:function`: options and `Surroundings` → `BuiltinGroup`."""
    module: str = ""
    """A module that it cannot work without, and that is not the package's own."""
    extra: str = ""
    """The extra that brings this module."""


_HERE = "toolpath.providers.builtin"
GROUPS = (
    GroupKind("http", "requests to hosts that are named", f"{_HERE}.http:http_group"),
    GroupKind("files", "files in the folder of the run", f"{_HERE}.files:files_group"),
    GroupKind("documents", "documents as Markdown", f"{_HERE}.documents:documents_group", "pypdf", "documents"),
    GroupKind("shell", "commands of a shell", f"{_HERE}.code:shell_group"),
    GroupKind("database", "named databases", f"{_HERE}.database:database_group", "sqlalchemy", "database"),
    GroupKind("browser", "pages of hosts that are named", f"{_HERE}.browser:browser_group", "playwright", "browser"),
    GroupKind("parallel", "one tool for each item of a list", f"{_HERE}.parallel:parallel_group"),
    GroupKind("schedules", "runs at times", f"{_HERE}.schedules:schedules_group"),
    GroupKind("time", "the time of day", f"{_HERE}.moments:time_group"),
    GroupKind("util", "new ids", f"{_HERE}.moments:util_group"),
    GroupKind("python", "programs in Python", f"{_HERE}.code:python_group"),
    GroupKind("examples", "tools of the examples, which keep nothing", f"{_HERE}.examples.tools:examples_group"),
)


class BuiltinGroup(NamedTuple):
    """The tools of one group that is switched on."""

    tools: Sequence[Tool]
    close: Callable[[], Awaitable[None]] | None = None
    """Lets go of what the tools hold."""
    said: str = ""
    """What is switched on, in words for `toolpath doctor`; no secrets."""


def kind_of(name: str) -> GroupKind:
    """The group of this name. Raises `ConfigError`."""
    for kind in GROUPS:
        if kind.name == name:
            return kind
    names = [kind.name for kind in GROUPS]
    raise ConfigError(
        f"Setting 'builtin' names {name[:100]!r}, which is no group of built-in tools.",
        suggestions=closest(name, names),
        hint=f"Groups are {', '.join(names)}.",
    )


def group_of(name: str, options: Mapping[str, Any], surroundings: Surroundings) -> BuiltinGroup:
    """The tools of the group with these options. Raises `ConfigError` for options that it does not have."""
    module, _, function = kind_of(name).loader.partition(":")
    load: Callable[[JsonObject, Surroundings], BuiltinGroup] = getattr(importlib.import_module(module), function)
    return load(dict(options), surroundings)


def options_of(group: str, given: Mapping[str, Any], wanted: type[_Options]) -> _Options:
    """The options of a group as its record. Raises `ConfigError`, which shows no value: it may be a secret."""
    known = wanted.__struct_fields__
    for name in given:
        if name not in known:
            raise ConfigError(
                f"Setting 'builtin.{group}' has no option {name[:100]!r}.",
                suggestions=closest(name, known),
                hint=f"Its options are {', '.join(known)}." if known else "It has no options.",
            )
    try:
        return msgspec.convert(dict(given), wanted, strict=False)
    except msgspec.ValidationError as error:
        raise ConfigError(f"Setting 'builtin.{group}' cannot be read: {error}.") from None
