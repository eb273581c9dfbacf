"""Lookup of the tools that fit a request: in an index of them all, or in what was found there beforehand. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import msgspec

from toolpath.catalog.search import Hit

#: An id with the comma behind it.
_IDS: Final = re.compile(r"(?<![\w-])[A-Za-z]{1,8}-\d+(?![\w-]),?")


def sought(text: str) -> str:
    """The words of a request that tools are looked up by: ids are of one thing, and their numbers of any tool."""
    return _IDS.sub(" ", text)


class Lookup(Protocol):
    """An index of tools that a request is looked up in."""

    def search(self, text: str, limit: int = 10) -> Sequence[Hit]:
        """The tools that fit a text, best first."""


class LookedUp(msgspec.Struct, frozen=True):
    """Hits of one request, found beforehand: planning it beside others then reads no index that they change."""

    hits: tuple[Hit, ...]
    near: Mapping[str, float] = {}
    """Tool → nearness to the request by what both mean, where that is looked for."""

    def search(self, text: str, limit: int = 10) -> Sequence[Hit]:
        """The hits of the request, whichever part of it is looked up."""
        return self.hits[:limit]


def nearness_of(search: Lookup | None) -> Mapping[str, float]:
    """How near the tools are to the request by what they mean; nothing where only words were looked up."""
    return search.near if isinstance(search, LookedUp) else {}
