"""Credentials of a request, read as its caller: an API key, a token, or, on an open server, nothing."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from toolpath.access.caller import OPEN, Caller
from toolpath.access.keys import PREFIX, Keys
from toolpath.access.tokens import Tokens, tokens_of
from toolpath.config import Settings
from toolpath.errors import ConfigError, CredentialsRefused
from toolpath.ports import Clock, Store

_HINT = "Send it as `Authorization: Bearer …`; `toolpath keys create` makes a key."
#: Header → the field of the caller that it sets, for callers who may ask for others.
DELEGATED = {
    "x-toolpath-user": "user",
    "x-toolpath-session": "session",
    "x-toolpath-case": "case",
    "x-toolpath-case-state": "case_state",
}
LONGEST_NAME = 200


class Credentials:
    """Knows the keys and tokens that are taken here. `open_as`: who asks that shows nothing; None: they are refused."""

    def __init__(
        self, *, keys: Keys | None = None, tokens: Tokens | None = None, open_as: Caller | None = None
    ) -> None:
        self._keys = keys
        self._tokens = tokens
        self.open_as = open_as

    async def caller(self, presented: str | None) -> Caller:
        """Caller who presents this, which has to be right also on an open server. Raises `CredentialsRefused`."""
        if presented is None:
            if self.open_as is not None:
                return self.open_as
            raise CredentialsRefused("Credentials are needed.", "no credentials", hint=_HINT)
        if presented.startswith(PREFIX) and self._keys is not None:
            return (await self._keys.verify(presented)).caller()
        if presented.count(".") == 2 and self._tokens is not None:
            return self._tokens.verify(presented)
        raise CredentialsRefused("These credentials are not known.", "unknown credentials", hint=_HINT)


def credentials_of(
    settings: Settings, store: Store, clock: Clock, env: Mapping[str, str], *, is_local: bool
) -> Credentials:
    """The credentials that these settings accept. `is_local`: the server is reached from this machine alone.

    Raises `ConfigError`.
    """
    is_open = is_local and settings.auth == "auto"
    tokens = tokens_of(settings, env)
    return Credentials(keys=Keys(store, clock), tokens=tokens, open_as=OPEN if is_open else None)


async def require_credentials(settings: Settings, store: Store, clock: Clock, env: Mapping[str, str]) -> None:
    """Raise `ConfigError` unless somebody could show credentials that are taken. The store is open."""
    if tokens_of(settings, env) is None and not await Keys(store, clock).any_active():
        raise ConfigError(
            "The server would ask everybody for credentials, and there are none: no active key, no keys of tokens.",
            hint="Make one with `toolpath keys create NAME`, or set jwt_keys.",
        )


def delegated(caller: Caller, headers: Mapping[str, str]) -> Caller:
    """The caller with the user, session and case that the headers name. Raises `CredentialsRefused`."""
    said = {field: headers[header] for header, field in DELEGATED.items() if header in headers}
    if not said:
        return caller
    if not caller.delegates:
        # To name what one is anyway is no harm.
        other = [field for field, value in said.items() if value != (getattr(caller, field) or "")]
        if not other:
            return caller
        raise CredentialsRefused(
            f"These credentials may not ask for another {other[0]}.",
            "delegation not allowed",
            key=caller.key,
            hint="Make a key with --delegates for services that ask for others.",
        )
    for field, value in said.items():
        if not value or len(value) > LONGEST_NAME or not value.isprintable():
            raise CredentialsRefused(f"The {field} that is asked for is no name.", "odd delegation", key=caller.key)
    return msgspec.structs.replace(caller, **said)
