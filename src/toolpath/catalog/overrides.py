"""Overrides of what tools say of themselves: pattern of names → fields, read once and laid over tools. Pure."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from typing import Any

import msgspec

from toolpath.catalog.fields import OVERRIDABLE, read_fields
from toolpath.errors import ConfigError
from toolpath.model.tool import Tool


class Override(msgspec.Struct, frozen=True):
    """Fields that win over what the tools of these names say."""

    pattern: str
    """A name, or a pattern such as `git.*`."""
    fields: dict[str, Any]


def read_override(pattern: str, fields: Any, *, where: str) -> Override:
    """The override as it was written. Raises `ConfigError`, naming the place, for fields that no override has."""
    if not isinstance(fields, Mapping):
        raise ConfigError(f"{where} is no table of fields.", hint='Write {"effect": "read"}.')
    return Override(pattern, read_fields(fields, where=where, allowed=OVERRIDABLE))


def read_overrides(written: Any, *, where: str) -> tuple[Override, ...]:
    """A table of pattern → fields, in its order. Raises `ConfigError`."""
    if not isinstance(written, Mapping):
        raise ConfigError(f"{where} is no table of tools.", hint='Write {"read_*": {"effect": "read"}}.')
    return tuple(
        read_override(str(pattern), fields, where=f"{where}: {pattern!r}") for pattern, fields in written.items()
    )


def overridden(tool: Tool, name: str, overrides: tuple[Override, ...]) -> Tool:
    """The tool, known as `name`, with what is laid over it: later ones win, and an exact name over every pattern."""
    fields: dict[str, Any] = {}
    exact: dict[str, Any] = {}
    for one in overrides:
        if one.pattern == name:
            exact |= one.fields
        elif fnmatch.fnmatchcase(name, one.pattern):
            fields |= one.fields
    fields |= exact
    return msgspec.structs.replace(tool, **fields) if fields else tool
