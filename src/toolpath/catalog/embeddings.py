"""How near tools are to a text by meaning: static word embeddings that come with a package, offline.

Wants the extra `embed`; nothing of it is imported until an `Embeddings` is made. Search works without.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module, util
from pathlib import Path
from typing import Any

from toolpath.catalog.words import raw_words
from toolpath.errors import ConfigError
from toolpath.model.tool import Tool

_LONGEST_TEXT = 700
_TINY = 1e-9


class Embeddings:
    """The meanings of tools; a `Similarity` for `ToolSearch`. Raises `ConfigError` without the extra `embed`."""

    def __init__(self, like: Embeddings | None = None) -> None:
        """`like`: take the weights of another one, which are large, instead of reading them again."""
        given: tuple[Any, Any] = _weights() if like is None else (like._numpy, like._model)
        self._numpy: Any = given[0]
        self._model: Any = given[1]
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
        nearness = self._matrix @ self._embed(list(parts)).T
        total = nearness[:, 0] if len(parts) == 1 else (nearness[:, 0] + nearness[:, 1:].max(axis=1)) / 2
        count = min(limit, len(self._keys))
        best = self._numpy.argpartition(-total, count - 1)[:count]
        near = {self._keys[index]: float(total[index]) for index in best}
        near.update((key, float(total[self._rows[key]])) for key in also if key in self._rows)
        return near

    def _embed(self, texts: list[str]) -> Any:
        """A vector of length 1 for each text; for one without a word, a vector that is near nothing."""
        vectors = self._model.embed(texts)
        return vectors / self._numpy.maximum(self._numpy.linalg.norm(vectors, axis=1, keepdims=True), _TINY)

    def _stack(self) -> None:
        keys = list(self._pending)
        if keys:
            vectors = self._embed(list(self._pending.values()))
            self._vectors.update(zip(keys, vectors, strict=True))
            self._pending.clear()
        self._keys = list(self._vectors)
        self._rows = {key: row for row, key in enumerate(self._keys)}
        self._matrix = self._numpy.array([self._vectors[key] for key in self._keys])


def _weights() -> tuple[Any, Any]:
    """numpy, and the model that the package brings. Both are heavy and optional: search by words never loads them."""
    found = util.find_spec("wordllama")
    if found is None or not found.submodule_search_locations:
        raise ConfigError(
            "Search by meaning needs the package wordllama.",
            hint="Install toolpath with its extra: toolpath[embed].",
        )
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    numpy = import_module("numpy")
    model: Any = import_module("wordllama").WordLlama
    # Its import turns on the logging of the whole process: what is logged, and where to, is for others to say.
    root.setLevel(level)
    root.handlers[:] = handlers
    return numpy, model.load(cache_dir=Path(found.submodule_search_locations[0]), disable_download=True)


def _text(tool: Tool) -> str:
    properties = tool.input_schema.get("properties")
    names = properties if isinstance(properties, dict) else {}
    words = [*raw_words(" ".join((tool.name, tool.title))), ".", tool.description[:_LONGEST_TEXT]]
    words += [" ".join(raw_words(str(name))) for name in names]
    return " ".join(words) or "tool"
