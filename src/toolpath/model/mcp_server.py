"""MCP servers by name: the record of one that is stored. Pure data."""

from __future__ import annotations

from typing import Literal

import msgspec

Transport = Literal["stdio", "http"]
"""How a server is spoken with: a program that is run, or an address that is asked (streamable HTTP)."""


class McpServer(msgspec.Struct, frozen=True, kw_only=True):
    """An MCP server that is stored. The values in `env` and `headers` are masked: what they are is sealed."""

    server_id: str
    name: str
    """The group of its tools; a store has a name once."""
    transport: Transport = "http"
    url: str = ""
    command: str = ""
    """The program alone; what it is given is in `args`."""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    """Names with asterisks."""
    headers: dict[str, str] = {}
    """Names with asterisks."""
    enabled: bool = True
    """Its tools are there for runs that begin."""
    timeout: float = 30.0
    """Seconds for its start, and for listing its tools."""
    trust_annotations: bool = True
    """What it says of its tools' effects is believed; else all of them write."""
    revision: int = 0
    created_at: float = 0.0
    updated_at: float = 0.0
