"""The global options, and how they may stand anywhere in the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolpath.providers.source_kinds import SOURCE_KINDS

#: Global options that take a value, and those that do not.
WITH_VALUE = ("--store", "--config", *(kind.option for kind in SOURCE_KINDS))
WITHOUT_VALUE = ("--json", "--quiet", "--verbose", "-q", "-v")


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalOptions:
    """Global options, given before (or after) the verb."""

    store: str = ""
    config: str = ""
    sources: Mapping[str, Any] = field(default_factory=dict)
    """Setting that lists sources of tools → those that were named."""
    json: bool = False
    quiet: bool = False
    verbose: bool = False

    def as_arguments(self) -> list[str]:
        """The same options as text, for another process."""
        arguments = []
        for name, value in (("--store", self.store), ("--config", self.config)):
            arguments += [name, value] if value else []
        for kind in SOURCE_KINDS:
            for value in self.sources.get(kind.setting, ()):
                arguments += [kind.option, value]
        return arguments


def named_sources(given: Mapping[str, Any]) -> dict[str, Any]:
    """The sources of tools among the parameters of a command, by the settings that list such ones."""
    named = {kind.setting: given.get(kind.option.removeprefix("--")) for kind in SOURCE_KINDS}
    return {setting: tuple(values) for setting, values in named.items() if values}


def hoisted(arguments: Sequence[str]) -> list[str]:
    """The arguments with the global options first, so that they may be written after the verb too."""
    front: list[str] = []
    rest: list[str] = []
    waiting = list(arguments)
    while waiting:
        argument = waiting.pop(0)
        if argument == "--":
            return [*front, *rest, argument, *waiting]
        if argument in WITHOUT_VALUE or argument.partition("=")[0] in WITH_VALUE:
            front.append(argument)
            if argument in WITH_VALUE and waiting:
                front.append(waiting.pop(0))
        else:
            rest.append(argument)
    return front + rest
