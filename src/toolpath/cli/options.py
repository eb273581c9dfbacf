"""The global options, and how they may stand anywhere in the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: Global options that take a value, and those that do not.
WITH_VALUE = ("--store", "--config", "--tools", "--folder", "--mcp")
WITHOUT_VALUE = ("--json", "--quiet", "--verbose", "-q", "-v")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was given before (or after) the verb."""

    store: str = ""
    config: str = ""
    tools: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    mcp: tuple[str, ...] = ()
    json: bool = False
    quiet: bool = False
    verbose: bool = False

    def as_arguments(self) -> list[str]:
        """The same options as text, for another process."""
        arguments = []
        for name, value in (("--store", self.store), ("--config", self.config)):
            arguments += [name, value] if value else []
        for name, values in (("--tools", self.tools), ("--folder", self.folders), ("--mcp", self.mcp)):
            for value in values:
                arguments += [name, value]
        return arguments


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
