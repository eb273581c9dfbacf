"""Reach of requests: the public Internet, and what is allowed besides. Looked at as a name, and as an address."""

from __future__ import annotations

import asyncio
import contextlib
import fnmatch
import ipaddress
import socket
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

import msgspec

from toolpath.errors import ToolFailed, ToolUnavailable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
#: IPv6 addresses that stand for the IPv4 address in their last four bytes.
_NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
_HINT = (
    "Who runs this may allow it, by host or network: the option `allow` of the built-in tools, the setting http_allow, "
    "or HttpLimits(reach=Reach(allow=…))."
)
_ONLY_HINT = "Who runs this names the hosts that may be reached: the option `hosts` of the built-in tools."
#: Addresses of one host that are tried.
_MOST = 4


class HostRefused(ToolFailed):
    """A host that may not be reached from here."""

    code = "policy"


class Reach(msgspec.Struct, frozen=True):
    """Names may begin with `*.`; networks are written as `10.0.0.0/8` or as one address."""

    allow: tuple[str, ...] = ()
    """Hosts and networks that may be reached besides those of the public Internet."""
    only: tuple[str, ...] = ()
    """Hosts that may be reached at all; empty: any."""

    async def addresses(self, host: str, port: int) -> list[str]:
        """The addresses that the host may be reached at: connected to as they are, so that no later answer counts.

        Raises `HostRefused` where it may not be, `ToolUnavailable` where there is no such host.
        """
        name = host.lower().rstrip(".")
        if self.only and not is_among(name, self.only):
            raise HostRefused(f"{host} may not be reached: it is none of the hosts that may be.", hint=_ONLY_HINT)
        try:
            found = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise ToolUnavailable(f"{host} cannot be reached: no such host is known.", reached=False) from None
        known = list(dict.fromkeys(str(where[0]) for *_, where in found))
        trusted = is_among(name, self.allow)
        good = known if trusted else [address for address in known if self._may(ipaddress.ip_address(address))]
        if not good:
            message = f"{host} may not be reached: it is an address of this machine or of a network that is not public."
            raise HostRefused(message, hint=_HINT)
        return good[:_MOST]

    async def check(self, url: str) -> None:
        """Raise `HostRefused` where the URL's host may not be reached. One that is away now may be there later."""
        split = urlsplit(url)
        with contextlib.suppress(ToolUnavailable):
            await self.addresses(split.hostname or "", split.port or 443)

    def _may(self, address: Address) -> bool:
        return all(is_public(meant) or _is_in(meant, self.allow) for meant in _meant(address))


def is_public(address: Address) -> bool:
    """Whether it is of the public Internet: not this machine's, private, link-local, shared, multicast or reserved."""
    odd = address.is_multicast or address.is_reserved or address.is_unspecified
    return address.is_global and not odd and not getattr(address, "is_site_local", False)


def _meant(address: Address) -> Iterator[Address]:
    """The address, and those that it stands for: an IPv4 address has several ways to be written as an IPv6 one."""
    if isinstance(address, ipaddress.IPv4Address):
        yield address
        return
    mapped = address.ipv4_mapped
    if mapped is not None:
        yield mapped
        return
    if any(address in network for network in _NAT64):
        yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    yield ipaddress.IPv6Address(int(address))
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo


def _is_in(address: Address, networks: tuple[str, ...]) -> bool:
    for text in networks:
        try:
            if address in ipaddress.ip_network(text.strip("[]"), strict=False):
                return True
        except ValueError:
            # The name of a host.
            continue
    return False


def is_among(name: str, patterns: Iterable[str]) -> bool:
    """The host is one of these; a pattern may have `*` in it."""
    return any(fnmatch.fnmatchcase(name, pattern.lower().rstrip(".")) for pattern in patterns)
