"""Vectors of many texts: computed in a thread of their own, kept in memory and in a file."""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from toolpath.catalog.vector_cache import VectorCache

_LOG = logging.getLogger(__name__)
_LOOKED_UP = 512
"""Texts that are looked up in the file at once."""
_PORTION = 32
"""Texts that are computed and written at once: half a second or less, so that a process that ends need not wait."""
_MOST = 100_000
"""Vectors held in memory, about 150 MB; when there are more, those that nobody asks for go before others come."""


class Encoder(Protocol):
    """Maker of vectors of texts, called from any thread."""

    name: str
    """Vectors of one name may be compared."""

    def encode(self, texts: Sequence[str]) -> Any:
        """An array of float32 with a row for each text."""


class TextVectors:
    """Text → vector. What is wanted is computed in the background, by a thread that ends when nothing is left."""

    def __init__(self, encoder: Encoder, file: Path | None) -> None:
        """`file`: where vectors are kept between processes; None: nowhere."""
        self.encoder = encoder
        self._numpy: Any = import_module("numpy")
        self._file = file
        self._changed = threading.Condition()
        self._known: dict[str, Any] = {}
        self._wanted: dict[str, None] = {}
        self._is_working = False
        self._has_failed = False

    def known(self, texts: Iterable[str]) -> dict[str, Any]:
        """Vectors that are there; the others are computed from now on. Never waits."""
        with self._changed:
            found = {text: self._known.get(text) for text in texts}
            missing = [text for text, vector in found.items() if vector is None]
            if missing and not self._has_failed:
                self._wanted.update(dict.fromkeys(missing))
                if not self._is_working:
                    self._is_working = True
                    if len(self._known) > _MOST:
                        self._known = {text: vector for text, vector in found.items() if vector is not None}
                    # Not a daemon: one that is cut off within native code takes the process down with it.
                    threading.Thread(target=self._work, name="toolpath-vectors", daemon=False).start()
        return {text: vector for text, vector in found.items() if vector is not None}

    def wait(self) -> None:
        """Until nothing is wanted any more. Blocks its thread."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_working)

    def _work(self) -> None:
        try:
            with self._cache() as cache:
                while texts := self._next():
                    for found in self._found(texts, cache):
                        self._take(found)
        except Exception:  # noqa: BLE001 - whatever the runtime raises, search by words goes on
            _LOG.exception("The meaning of tools could not be computed; they are found by their words.")
            with self._changed:
                self._has_failed = True
                self._stop()

    def _next(self) -> list[str]:
        """The texts to look up next; none where the thread is to end."""
        with self._changed:
            texts = list(self._wanted)[:_LOOKED_UP]
            if texts and threading.main_thread().is_alive():
                return texts
            self._stop()
            return []

    def _stop(self) -> None:
        """Under the lock, so that nothing is wanted between the last look and this."""
        self._wanted.clear()
        self._is_working = False
        self._changed.notify_all()

    def _take(self, found: dict[str, Any]) -> None:
        with self._changed:
            self._known.update(found)
            for text in found:
                self._wanted.pop(text, None)

    def _found(self, texts: list[str], cache: VectorCache | None) -> Iterator[dict[str, Any]]:
        """The vectors of these texts, portion by portion: first what the file has."""
        digests = {text: self._digest(text) for text in texts}
        kept = {} if cache is None else cache.read(list(digests.values()))
        numpy = self._numpy
        yield {
            text: numpy.frombuffer(kept[digest], numpy.float16).astype(numpy.float32)
            for text, digest in digests.items()
            if digest in kept
        }
        missing = sorted((text for text, digest in digests.items() if digest not in kept), key=len)
        for start in range(0, len(missing), _PORTION):
            if not threading.main_thread().is_alive():
                return
            portion = missing[start : start + _PORTION]
            vectors = dict(zip(portion, self.encoder.encode(portion), strict=True))
            if cache is not None:
                cache.write({digests[text]: row.astype(numpy.float16).tobytes() for text, row in vectors.items()})
            yield vectors

    def _digest(self, text: str) -> bytes:
        """Tells texts apart, and what made their vectors."""
        return hashlib.blake2b(f"{self.encoder.name}\n{text}".encode("utf-8", "replace"), digest_size=16).digest()

    @contextmanager
    def _cache(self) -> Iterator[VectorCache | None]:
        """The file, where there is one that can be opened."""
        cache: VectorCache | None = None
        if self._file is not None:
            try:
                cache = VectorCache(self._file)
            except (OSError, sqlite3.Error) as error:
                _LOG.warning("Vectors are not kept: %s: %s", self._file, error)
        try:
            yield cache
        finally:
            if cache is not None:
                cache.close()
