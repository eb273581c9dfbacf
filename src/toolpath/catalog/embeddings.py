"""How near tools are to a text by meaning: static word embeddings that come with a package, offline.

Wants the extra `embed`; nothing of it is imported until an `Embeddings` is made. Search works without.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module, util
from pathlib import Path
from typing import Any

from toolpath.catalog.words import raw_words
from toolpath.errors import ConfigError
from toolpath.model.tool import Tool

_LONGEST_TEXT = 700


class Embeddings:
    """The meanings of tools; a `Similarity` for `ToolSearch`. Raises `ConfigError` without the extra `embed`."""

    def __init__(self) -> None:
        # Both are heavy and optional: whoever searches by words alone never loads them.
        found = util.find_spec("wordllama")
        if found is None or not found.submodule_search_locations:
            raise ConfigError(
                "Search by meaning needs the package wordllama.",
                hint="Install toolpath with its extra: toolpath[embed].",
            )
        self._numpy: Any = import_module("numpy")
        weights = Path(found.submodule_search_locations[0])
        model: Any = import_module("wordllama").WordLlama
        self._model: Any = model.load(cache_dir=weights, disable_download=True)
        self._pending: dict[str, str] = {}
        self._vectors: dict[str, Any] = {}
        self._keys: list[str] = []
        self._rows: dict[str, int] = {}
        self._matrix: Any = None

    def add(self, key: str, tool: Tool) -> None:
        """Take in a tool; its vector is computed with those of others when the next question comes."""
        self._pending[key] = _text(tool)
        self._matrix = None

    def remove(self, key: str) -> None:
        """Forget a tool."""
        self._pending.pop(key, None)
        if self._vectors.pop(key, None) is not None:
            self._matrix = None

    def near(self, parts: Sequence[str], limit: int, also: Iterable[str]) -> Mapping[str, float]:
        """Key → nearness of the `limit` nearest tools and of `also`: half to the whole text, half to its nearest part.

        The first of `parts` is the whole text.
        """
        if self._matrix is None:
            self._stack()
        if not self._keys:
            return {}
        nearness = self._matrix @ self._model.embed(list(parts), norm=True).T
        total = nearness[:, 0] if len(parts) == 1 else (nearness[:, 0] + nearness[:, 1:].max(axis=1)) / 2
        count = min(limit, len(self._keys))
        best = self._numpy.argpartition(-total, count - 1)[:count]
        near = {self._keys[index]: float(total[index]) for index in best}
        near.update((key, float(total[self._rows[key]])) for key in also if key in self._rows)
        return near

    def _stack(self) -> None:
        keys = list(self._pending)
        if keys:
            vectors = self._model.embed(list(self._pending.values()), norm=True)
            self._vectors.update(zip(keys, vectors, strict=True))
            self._pending.clear()
        self._keys = list(self._vectors)
        self._rows = {key: row for row, key in enumerate(self._keys)}
        self._matrix = self._numpy.array([self._vectors[key] for key in self._keys])


def _text(tool: Tool) -> str:
    properties = tool.input_schema.get("properties")
    names = properties if isinstance(properties, dict) else {}
    words = [*raw_words(" ".join((tool.name, tool.title))), ".", tool.description[:_LONGEST_TEXT]]
    words += [" ".join(raw_words(str(name))) for name in names]
    return " ".join(words) or "tool"
