"""Bound on the results that one answer shows: each may be small, and all of them too much."""

from __future__ import annotations

import msgspec

from toolpath.model.run import StepResult
from toolpath.values import encode

#: Bytes of the inputs and outputs of all results that one answer shows.
MOST_SHOWN = 20_000_000


def shown_results(results: tuple[StepResult, ...], most: int = MOST_SHOWN) -> tuple[tuple[StepResult, ...], int]:
    """The results, the values of those left out that come when so much is shown, and how many these are."""
    size = 0
    for index, step in enumerate(results):
        size += len(encode([step.inputs, step.output]))
        if size > most:
            rest = (msgspec.structs.replace(other, inputs=None, output=None) for other in results[index:])
            return (*results[:index], *rest), len(results) - index
    return results, 0
