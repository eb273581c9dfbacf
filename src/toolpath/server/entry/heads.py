"""Checks of a request's head before anybody looks at who asks: its host, its origin, its headers. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from toolpath.server.problems import Problem

#: Headers of which a second one could mean something else to a proxy before us.
_ONCE = ("host", "origin", "authorization", "x-api-key", "content-length", "transfer-encoding", "content-type")
#: Headers that only a proxy writes.
FORWARDED = (
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-proto",
    "x-forwarded-server",
    "x-real-ip",
    "x-client-ip",
    "true-client-ip",
    "cf-connecting-ip",
)
#: Holds the key or token of a person who signed in to the page.
COOKIE = "toolpath_session"
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?", re.IGNORECASE)
_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
_MOST_HEADERS = 200
_LARGEST_HEAD = 65_536


def headers_of(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The headers by their names in lower case. Raises `Problem` where one is there twice that must not be."""
    pairs = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in raw]
    if len(pairs) > _MOST_HEADERS or sum(len(name) + len(value) for name, value in pairs) > _LARGEST_HEAD:
        raise Problem(431, "head_too_large", "The head of the request is too large.")
    counts = Counter(name for name, _ in pairs)
    for name in _ONCE:
        if counts[name] > 1:
            raise Problem(400, "header_twice", f"The header {name} is given twice.")
    if counts["content-length"] and counts["transfer-encoding"]:
        raise Problem(400, "header_twice", "The length of the body is said in two ways.")
    found = dict(pairs)
    if counts["cookie"] > 1:
        # HTTP/2 sends them apart.
        found["cookie"] = "; ".join(value for name, value in pairs if name == "cookie")
    return found


def check_host(headers: Mapping[str, str], allowed: tuple[str, ...], *, is_open: bool) -> None:
    """Raise `Problem` where the request is for a name that is not ours: a page of another name that was rebound to us.

    Where no names are set, an open server answers to those of this machine, another one to all.
    """
    match = _HOST.fullmatch(headers.get("host", ""))
    if match is None:
        raise Problem(400, "bad_host", "The request names no host, or one that is none.")
    name = match["name"].lower().rstrip(".")
    if allowed:
        names = {host.lower() for host in allowed} | (_LOCAL_NAMES if is_open else frozenset())
        is_ours = name in names
    else:
        is_ours = not is_open or name in _LOCAL_NAMES or _is_loopback(name)
    if not is_ours:
        raise Problem(
            421,
            "wrong_host",
            f"This server does not answer to the name {name[:100]!r}.",
            hint="Where it should, add it to the setting allowed_hosts.",
        )


def check_origin(headers: Mapping[str, str], allowed: tuple[str, ...]) -> None:
    """Raise `Problem` where the request comes from a web page of another origin."""
    origin = headers.get("origin")
    if origin is not None and origin in allowed:
        return
    is_foreign = headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
    if origin is not None:
        # A page without an origin of its own sends `null`; that is never this server's.
        parts = urlsplit(origin) if "://" in origin else None
        is_foreign = parts is None or parts.netloc.lower() != headers.get("host", "").lower()
    if is_foreign:
        raise Problem(
            403,
            "wrong_origin",
            f"Web pages of {origin or 'other origins'} may not call this server."[:300],
            hint="Where one should, add its origin to the setting allowed_origins.",
        )


def check_nearness(client: tuple[str, int] | None, headers: Mapping[str, str]) -> None:
    """Raise `Problem` where a request to an open server came from elsewhere: over the network or through a proxy."""
    hint = "Set auth = required, and give credentials to those who need them."
    if client is not None and _is_address(client[0]) and not _is_loopback(client[0]):
        raise Problem(403, "open_to_this_machine", "This server is open to this machine alone.", hint=hint)
    if any(name in headers for name in FORWARDED):
        raise Problem(403, "open_to_this_machine", "This server is open, and may not stand behind a proxy.", hint=hint)


def credentials_in(headers: Mapping[str, str]) -> str | None:
    """The key or token that the request shows, or None. Raises `Problem` where it shows two, or one of another kind.

    A page's cookie counts where no header shows one.
    """
    key, authorization = headers.get("x-api-key"), headers.get("authorization")
    if authorization is None:
        return key or _in_cookie(headers.get("cookie", ""))
    kind, _, text = authorization.partition(" ")
    if kind.lower() != "bearer" or not text.strip():
        raise Problem(
            401, "unauthorized", "Credentials must be of the kind Bearer.", headers={"WWW-Authenticate": "Bearer"}
        )
    if key is not None and key != text.strip():
        raise Problem(400, "credentials_twice", "The request shows two different credentials.")
    return text.strip()


def _in_cookie(text: str) -> str | None:
    found = [value for name, _, value in (part.strip().partition("=") for part in text.split(";")) if name == COOKIE]
    if len(found) > 1:
        # A second one may have been put there by another page of this host.
        raise Problem(400, "credentials_twice", "The request brings two sessions.")
    return found[0].strip('"') or None if found else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(name: str) -> bool:
    try:
        address = ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)
