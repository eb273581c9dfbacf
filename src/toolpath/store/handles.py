"""Handles in an event: the blobs it points to, read from its encoded form. Pure."""

from __future__ import annotations

import re

from toolpath.values import HANDLE_KEY

_KEY = HANDLE_KEY.encode()
_FIRST = _KEY[:1]
_REFERENCE = re.compile(rb'"' + re.escape(_KEY) + rb'":"(sha256:[0-9a-f]{64})"')


def digests_in(data: bytes) -> frozenset[str]:
    """Digests of all handles in JSON text, also in what only looks like one: too many keep a blob, too few lose it."""
    # The search for the bare key is far cheaper than the pattern, that for its first sign cheaper still: nearly always
    # one of them says no. `in` would ask first whether it is a number.
    if data.find(_FIRST) < 0 or data.find(_KEY) < 0:
        return frozenset()
    return frozenset(found.decode() for found in _REFERENCE.findall(data))
