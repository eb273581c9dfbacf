"""Secrets in options of built-in tools: `{{ secrets.NAME }}`, filled in at the last moment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from toolpath.errors import ConfigError

_SECRET = re.compile(r"\{\{\s*secrets\.([A-Za-z_]\w*)\s*\}\}")


class ToldSecrets(Mapping[str, str]):
    """Secrets, each reported when it is used, so that redaction knows it."""

    def __init__(self, secrets: Mapping[str, str], tell: Callable[[Iterable[str]], None]) -> None:
        self._secrets = secrets
        self._tell = tell

    def __getitem__(self, name: str) -> str:
        value = self._secrets[name]
        self._tell((value,))
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._secrets)

    def __len__(self) -> int:
        return len(self._secrets)


def filled(text: str, secrets: Mapping[str, str]) -> str:
    """The text with each `{{ secrets.NAME }}` in it replaced. Raises `ConfigError` naming what is not set."""

    def value(match: re.Match[str]) -> str:
        found = secrets.get(match[1])
        if found is None:
            hint = f"Set TOOLPATH_SECRET_{match[1]}, or give Toolpath(secrets={{…}})."
            raise ConfigError(f"The secret {match[1]!r} is not set.", hint=hint)
        return found

    return _SECRET.sub(value, text)
