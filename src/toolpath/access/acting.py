"""Acting caller: the one for whom the running code acts, known to the audit trail without being handed on."""

from __future__ import annotations

import contextvars
from collections.abc import Iterator
from contextlib import contextmanager

from toolpath.access.caller import Caller

_acting: contextvars.ContextVar[Caller | None] = contextvars.ContextVar("toolpath_caller", default=None)


@contextmanager
def acting(caller: Caller) -> Iterator[None]:
    """Have all that happens inside done for this caller."""
    token = _acting.set(caller)
    try:
        yield
    finally:
        _acting.reset(token)


def who_acts() -> Caller | None:
    """The caller for whom this is done; None where nobody said."""
    return _acting.get()


def tenant_of(given: str | None) -> str:
    """The tenant for whom this is done: the one given, else that of the caller; empty: the house itself."""
    if given is not None:
        return given
    caller = _acting.get()
    return "" if caller is None else caller.tenant
