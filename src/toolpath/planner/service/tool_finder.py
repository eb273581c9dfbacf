"""Finder of tools for planners and people: an index of all tools by words, and one by meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from toolpath.catalog.embeddings import Embeddings
from toolpath.catalog.search import Hit, ToolSearch
from toolpath.catalog.snapshot import Catalog
from toolpath.catalog.vector_cache import cache_file
from toolpath.model.tool import Tool


class ToolFinder:
    """Finds the tools of one Toolpath. `by_meaning`: by what texts mean too, where the model for that is there."""

    def __init__(self, *, by_meaning: bool) -> None:
        self._uses_meaning = by_meaning
        self._by_words = ToolSearch()
        self._meanings: Embeddings | None = None
        self._by_meaning: ToolSearch | None = None
        self._whole: Mapping[str, Tool] | None = None
        """The tools that the indexes are for."""

    def follow(self, catalog: Catalog) -> None:
        """Take the catalogue for the whole one, which the indexes are brought to when they are asked."""
        self._whole = catalog.tools

    def words(self, catalog: Catalog) -> ToolSearch:
        """The index by words, brought to this catalogue; a part of the whole one gets an index of its own.

        The rules of planning keep to it: they are measured by it.
        """
        if catalog.tools is not self._whole:
            return ToolSearch(catalog.tools.values(), stats=catalog.stats)
        self._by_words.follow(catalog)
        return self._by_words

    def search(self, catalog: Catalog, text: str, limit: int) -> Sequence[Hit]:
        """The tools that fit a text, best first."""
        return self._index(catalog).search(text, limit)

    async def learn_meanings(self, catalog: Catalog) -> None:
        """Load the model beside the event loop, and give few tools the time until their meanings are known."""
        if not self._uses_meaning:
            return
        if self._meanings is None:
            loaded = await asyncio.to_thread(Embeddings, file=cache_file())
            if self._meanings is None:
                self._use(loaded)
        self._index(catalog)
        if self._meanings is not None:
            await asyncio.to_thread(self._meanings.settle_few)

    def _index(self, catalog: Catalog) -> ToolSearch:
        if not self._uses_meaning:
            return self.words(catalog)
        if self._meanings is None:
            self._use(Embeddings(file=cache_file()))
        if self._by_meaning is None or catalog.tools is not self._whole:
            similarity = Embeddings(like=self._meanings)
            return ToolSearch(catalog.tools.values(), stats=catalog.stats, similarity=similarity)
        self._by_meaning.follow(catalog)
        return self._by_meaning

    def _use(self, meanings: Embeddings) -> None:
        self._meanings = meanings
        self._by_meaning = ToolSearch(similarity=meanings)
