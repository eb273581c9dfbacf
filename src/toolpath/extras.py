"""Parts that are installed only when asked for: what a missing one says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from toolpath.errors import ConfigError


@contextmanager
def needs_extra(extra: str, purpose: str) -> Iterator[None]:
    """Around imports: a package that is not there becomes a `ConfigError` that names the extra which brings it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "toolpath":
            raise
        raise ConfigError(
            f"{purpose} needs the package {error.name!r}, which is not installed.",
            hint=f"pip install 'toolpath[{extra}]'",
        ) from None
