"""The address of a PostgreSQL store: what is ours in it, what is the driver's, and how it may be shown. Pure."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

import msgspec

from toolpath.errors import ConfigError

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,39}")
_EXAMPLE = "postgresql://user:password@host:5432/database?schema=toolpath"


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """Address of the store."""

    dsn: str
    """For the driver; with the password."""
    shown: str
    """For people: without the password."""
    secrets: tuple[str, ...] = ()
    """What must not be shown."""
    schema: str = "toolpath"
    pool: int = 5
    """The most connections for reads and rows; four more write the journal, tell of it, listen, and say who lives."""
    patience: float = 90.0
    """Seconds for which a driver goes on trying when the database is away."""

    def without_secrets(self, text: str) -> str:
        """The text, with nothing in it that must not be shown."""
        for secret in self.secrets:
            text = text.replace(secret, "…")
        return text

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"


def read_address(url: str) -> Address:
    """The address in a URL. Of its parameters `schema`, `pool` and `patience` are ours, all others the driver's.

    Raises `ConfigError`, without the password.
    """
    try:
        parts = urlsplit(url)
        given = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise _unreadable() from None
    credentials, at, place = parts.netloc.rpartition("@")
    if parts.scheme not in ("postgresql", "postgres") or parts.fragment or (not at and "@" in parts.path):
        raise _unreadable()
    ours = {name: value for name, value in given if name in ("schema", "pool", "patience")}
    rest = [(name, value) for name, value in given if name not in ours]
    schema = ours.get("schema", "toolpath")
    if not _SCHEMA.fullmatch(schema) or schema.startswith("pg_"):
        raise ConfigError(
            f"{schema!r} cannot be the schema of a store.",
            hint="A schema's name has at most 40 lower-case letters, digits and underscores, and no pg_ before it.",
        )
    user, _, password = credentials.partition(":")
    passwords = [password, unquote(password), *(value for name, value in rest if "password" in name)]
    return Address(
        dsn=urlunsplit(("postgresql", parts.netloc, parts.path, urlencode(rest), "")),
        shown=f"postgresql://{user}{at}{place}{parts.path}?schema={schema}",
        secrets=tuple(dict.fromkeys(secret for secret in passwords if secret)),
        schema=schema,
        pool=int(_number(ours, "pool", 5, least=1)),
        patience=_number(ours, "patience", 90.0, least=0),
    )


def _number(given: dict[str, str], name: str, usual: float, *, least: int) -> float:
    text = given.get(name)
    if text is None:
        return usual
    if not re.fullmatch(r"\d{1,6}", text) or int(text) < least:
        raise ConfigError(f"{name}={text} in the store's address is no number from {least} on.")
    return float(text)


def _unreadable() -> ConfigError:
    # Nothing of it is shown: a password that is not percent-encoded could be anywhere in it.
    return ConfigError(
        "The address of the PostgreSQL store cannot be read.",
        hint=f"Write it like {_EXAMPLE}, with /, @, #, ? and : in the password percent-encoded.",
    )
