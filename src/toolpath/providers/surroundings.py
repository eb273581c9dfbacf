"""Surroundings of a provider: the parts of one Toolpath that tools may use, in one record. Light."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

from toolpath.ports import Provider
from toolpath.providers.run_files.folders import Folders
from toolpath.providers.secret_values import EnvironmentSecrets


def _hide_nothing(_texts: Iterable[str]) -> None:
    """Outside of a Toolpath nothing is shown, so that nothing need be hidden."""


class Surroundings(NamedTuple):
    """Parts of one Toolpath that its tools use; what is not given is as outside of one."""

    secrets: Mapping[str, str] = EnvironmentSecrets()
    """Where `{{ secrets.NAME }}` in options is found."""
    hide: Callable[[Iterable[str]], None] = _hide_nothing
    """Told each secret that an option of a built-in tool was filled with: nothing is to show it."""
    now: Callable[[], float] = time.time
    """Unix time in seconds."""
    folders: Folders | None = None
    """The folders of runs."""
    schedules: Callable[[], Any] | None = None
    """Gives what keeps schedules, as `builtin.schedules.ScheduleDoor`."""


#: Of a provider that no Toolpath has.
OUTSIDE: Final = Surroundings()


@runtime_checkable
class UsesSurroundings(Protocol):
    """Provider whose tools use the Toolpath that they are added to."""

    def within(self, surroundings: Surroundings) -> Provider:
        """The same provider within this Toolpath; what it was made of stays as it is."""
        ...
