"""Finder of tools for planners and people: an index of all tools by words, and one by meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from toolpath.catalog.embeddings import Embeddings
from toolpath.catalog.search import Hit, ToolSearch
from toolpath.catalog.snapshot import Catalog
from toolpath.catalog.vector_cache import cache_file
from toolpath.model.tool import Tool

#: Tenants with tools of their own whose indexes are kept; the house's is kept beside them.
_KEPT: Final = 8
#: More of a text says nothing more of its meaning.
_LONGEST: Final = 2_000
#: Tools that are indexed in the loop's turn.
_FEW: Final = 100


class _Indexes:
    """Indexes of one catalogue, brought to it when they are asked."""

    def __init__(self) -> None:
        self.whole: Mapping[str, Tool] | None = None
        """The tools that the indexes are for."""
        self.by_words = ToolSearch()
        self.building = asyncio.Lock()
        self.meanings: Embeddings | None = None
        self.by_meaning: ToolSearch | None = None


class ToolFinder:
    """Finds the tools of one Toolpath. `by_meaning`: by what texts mean too, where the model for that is there."""

    def __init__(self, *, by_meaning: bool) -> None:
        self._uses_meaning = by_meaning
        self._meanings: Embeddings | None = None
        self._indexes: dict[str, _Indexes] = {"": _Indexes()}
        """By tenant; the tenant that asked latest stands last."""

    def follow(self, catalog: Catalog, tenant: str = "") -> None:
        """Take the catalogue for the whole one of the tenant, which its indexes are brought to when they are asked."""
        if self._of(catalog) is not None:
            # The house's, which is also that of every tenant without tools of its own.
            return
        indexes = self._indexes.pop(tenant, None) or _Indexes()
        indexes.whole = catalog.tools
        self._indexes[tenant] = indexes
        if len(self._indexes) > _KEPT + 1:
            del self._indexes[next(name for name in self._indexes if name)]

    def _of(self, catalog: Catalog) -> _Indexes | None:
        return next((each for each in self._indexes.values() if each.whole is catalog.tools), None)

    async def settle(self, catalog: Catalog) -> None:
        """Index many tools beside the event loop, where they are not indexed yet: thousands take a second."""
        indexes = self._of(catalog)
        if indexes is None or len(catalog) - len(indexes.by_words) <= _FEW:
            return
        async with indexes.building:
            if len(catalog) - len(indexes.by_words) <= _FEW:
                return
            built = await asyncio.to_thread(_indexed, catalog)
            if indexes.whole is catalog.tools:
                indexes.by_words = built

    def words(self, catalog: Catalog) -> ToolSearch:
        """The index by words, brought to this catalogue; a part of a whole one gets an index of its own.

        The rules of planning keep to it: they are measured by it.
        """
        indexes = self._of(catalog)
        if indexes is None:
            return ToolSearch(catalog.tools.values(), stats=catalog.stats)
        indexes.by_words.follow(catalog)
        return indexes.by_words

    def by_words(self, catalog: Catalog, text: str, limit: int) -> Sequence[Hit]:
        """The tools whose words fit a text, best first."""
        return self.words(catalog).search(text, limit)

    def search(self, catalog: Catalog, text: str, limit: int) -> Sequence[Hit]:
        """The tools that fit a text, best first."""
        return self._index(catalog).search(text, limit)

    async def near(self, catalog: Catalog, text: str) -> Mapping[str, float]:
        """Tool → nearness to a text by meaning, worked out beside the event loop; nothing where words alone decide.

        Of a catalogue that is a part of a whole one nothing is near: its tools have no vectors of their own.
        """
        if not self._uses_meaning:
            return {}
        await self.learn_meanings(catalog)
        indexes = self._of(catalog)
        if indexes is None or indexes.meanings is None:
            return {}
        vectors = await asyncio.to_thread(indexes.meanings.encode, [text[:_LONGEST]])
        return indexes.meanings.near_to(vectors)

    async def learn_meanings(self, catalog: Catalog) -> None:
        """Load the model beside the event loop, and give few tools the time until their meanings are known."""
        if not self._uses_meaning:
            return
        if self._meanings is None:
            loaded = await asyncio.to_thread(Embeddings, file=cache_file())
            if self._meanings is None:
                self._meanings = loaded
        self._index(catalog)
        indexes = self._of(catalog)
        await asyncio.to_thread(((indexes and indexes.meanings) or self._meanings).settle_few)

    def _index(self, catalog: Catalog) -> ToolSearch:
        if not self._uses_meaning:
            return self.words(catalog)
        indexes = self._of(catalog)
        if self._meanings is None:
            self._meanings = Embeddings(file=cache_file())
        if indexes is None:
            similarity = Embeddings(like=self._meanings)
            return ToolSearch(catalog.tools.values(), stats=catalog.stats, similarity=similarity)
        if indexes.by_meaning is None:
            indexes.meanings = Embeddings(like=self._meanings)
            indexes.by_meaning = ToolSearch(similarity=indexes.meanings)
        indexes.by_meaning.follow(catalog)
        return indexes.by_meaning


def _indexed(catalog: Catalog) -> ToolSearch:
    index = ToolSearch()
    index.follow(catalog)
    return index
