"""Ceilings of a run: how long its journal may become, and how much its values may weigh. Pure."""

from __future__ import annotations

import sys
from typing import NamedTuple, Protocol


class TenantRuns(Protocol):
    """The runs of one tenant in this process, of which this is one."""

    most: int
    """Bytes that they may hold together."""

    @property
    def held(self) -> int:
        """Bytes that they hold."""
        ...

    def is_too_much(self, weight: int) -> bool:
        """True if the tenant's runs together exceed the limit, and this one, holding `weight`, at least its share."""
        ...


class Aside(Protocol):
    """Values that are aside of the journal."""

    weight: int
    """Their weight together."""


class _Nothing:
    weight = 0


class _NoOthers:
    most = sys.maxsize
    held = 0

    def is_too_much(self, weight: int) -> bool:
        return False


class Ceilings(NamedTuple):
    """Bounds beyond which a run begins nothing more."""

    events: int = sys.maxsize
    """How long the journal may become."""
    bytes: int = sys.maxsize
    """How much the values in the journal may weigh, with those aside."""
    inline: int = sys.maxsize
    """Weight beyond which the large parts of a value stand by their handles."""
    aside: Aside = _Nothing()
    tenant: TenantRuns = _NoOthers()


UNBOUNDED = Ceilings()
