"""Nearness of tools to a text by meaning, offline. Wants the extra `embed`; search works without."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from toolpath.catalog.sentence_model import SentenceModel
from toolpath.catalog.text_vectors import TextVectors
from toolpath.catalog.words import raw_words
from toolpath.model.tool import Tool

_LONGEST_TEXT = 700
#: How much of the nearness is the nearest part's instead of the whole text's.
_PART_SHARE = 0.7
#: Texts whose vectors are worth waiting for before a question: about a second.
_FEW = 100


class Embeddings:
    """The meanings of tools; a `Similarity` for `ToolSearch`. Raises `ConfigError` without the extra `embed`.

    Vectors are computed in the background. Until all are there nothing is near and words alone decide, so that no tool
    comes first only because its turn came early.
    """

    def __init__(self, like: Embeddings | None = None, *, file: Path | None = None) -> None:
        """`like`: share model and vectors of another one. `file`: where vectors are kept between processes."""
        self._texts: TextVectors = TextVectors(SentenceModel(), file) if like is None else like._texts
        self._numpy: Any = import_module("numpy")
        self._waiting: dict[str, str] = {}
        self._vectors: dict[str, Any] = {}
        self._keys: list[str] = []
        self._rows: dict[str, int] = {}
        self._matrix: Any = None

    def add(self, key: str, tool: Tool) -> None:
        """Take in a tool; its vector is computed after the next question."""
        self._waiting[key] = _text(tool)
        self._matrix = None

    def remove(self, key: str) -> None:
        """Forget a tool."""
        self._waiting.pop(key, None)
        if self._vectors.pop(key, None) is not None:
            self._matrix = None

    def settle(self, most: int | None = None) -> None:
        """Wait for the vectors of all tools; where more than `most` are missing, do not wait. Blocks its thread."""
        texts = list(self._waiting.values())
        missing = len(texts) - len(self._texts.known(texts))
        if missing and (most is None or missing <= most):
            self._texts.wait()

    def settle_few(self) -> None:
        """Wait where it takes about a second at most. Blocks its thread."""
        self.settle(_FEW)

    def near(self, parts: Sequence[str], limit: int, also: Iterable[str]) -> Mapping[str, float]:
        """Key → nearness of the `limit` nearest tools and of `also`, to the whole text and to its nearest part.

        The first of `parts` is the whole text.
        """
        if not self._is_ready():
            return {}
        nearness = self._matrix @ self.encode(parts).T
        total = nearness[:, 0]
        if len(parts) > 1:
            total = (1 - _PART_SHARE) * total + _PART_SHARE * nearness[:, 1:].max(axis=1)
        count = min(limit, len(self._keys))
        best = self._numpy.argpartition(-total, count - 1)[:count]
        near = {self._keys[index]: float(total[index]) for index in best}
        near.update((key, float(total[self._rows[key]])) for key in also if key in self._rows)
        return near

    def encode(self, parts: Sequence[str]) -> Any:
        """The vectors of texts, for `near_to`. May be asked from any thread."""
        return self._texts.encoder.encode(parts)

    def near_to(self, vectors: Any) -> Mapping[str, float]:
        """Key → nearness of every tool to the first of these vectors."""
        if not self._is_ready():
            return {}
        nearness = self._matrix @ vectors[0]
        return {key: float(nearness[row]) for key, row in self._rows.items()}

    def _is_ready(self) -> bool:
        if self._waiting:
            self._collect()
        if self._waiting or not self._vectors:
            return False
        if self._matrix is None:
            self._stack()
        return True

    def _collect(self) -> None:
        known = self._texts.known(self._waiting.values())
        for key in [key for key, text in self._waiting.items() if text in known]:
            self._vectors[key] = known[self._waiting.pop(key)]

    def _stack(self) -> None:
        self._keys = list(self._vectors)
        self._rows = {key: row for row, key in enumerate(self._keys)}
        self._matrix = self._numpy.array([self._vectors[key] for key in self._keys])


def _text(tool: Tool) -> str:
    properties = tool.input_schema.get("properties")
    names = properties if isinstance(properties, dict) else {}
    words = [*raw_words(" ".join((tool.name, tool.title))), ".", tool.description[:_LONGEST_TEXT]]
    words += [" ".join(raw_words(str(name))) for name in names]
    return " ".join(words) or "tool"
