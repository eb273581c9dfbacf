"""Standard output is for results alone: what modules, tools and their children print there goes to standard error."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import TextIO


@contextlib.contextmanager
def results_alone() -> Iterator[TextIO]:
    """A stream to standard output; until the end whatever else is written there goes to standard error."""
    ours = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        if not _is_descriptor(ours, 1) or not _is_descriptor(sys.stderr, 2):
            yield ours
            return
        ours.flush()
        # Below Python too: a tool's own programs inherit the descriptor.
        results = os.fdopen(os.dup(1), "w", encoding=ours.encoding, errors=ours.errors)
        os.dup2(2, 1)
        try:
            yield results
        finally:
            with contextlib.suppress(OSError):
                # What tools left in the buffer, before the descriptor is the results' again.
                ours.flush()
            os.dup2(results.fileno(), 1)
            # A reader that went away early has been noticed when it was written to.
            with contextlib.suppress(OSError):
                results.close()


def _is_descriptor(stream: TextIO, number: int) -> bool:
    try:
        return stream.fileno() == number
    except (OSError, ValueError, AttributeError, io.UnsupportedOperation):
        return False
