"""The MCP server over a pipe: one client, this process's own."""

from __future__ import annotations

import io
import signal
from contextlib import suppress
from typing import TextIO

import anyio
from mcp.server.stdio import stdio_server

from toolpath.app import Toolpath
from toolpath.server.mcp.service import McpService


async def serve_stdio(tp: Toolpath, wire: TextIO) -> None:
    """Serve the client at the other end of standard input and `wire`, until it hangs up.

    Calls that are under way then are cancelled. Nothing but the protocol may be written to `wire`.
    """
    # A thread waits for the next line, and nothing but the line's coming ends that: a signal has to end the process.
    # What was committed is in the journal.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    service = McpService(tp)
    text = io.TextIOWrapper(wire.buffer, encoding="utf-8", newline="\n")
    try:
        async with stdio_server(stdout=anyio.wrap_file(text)) as (read, write):
            await service.server.run(read, write, service.server.create_initialization_options())
    except* (BrokenPipeError, ConnectionResetError):
        # The client is gone: there is nobody to tell.
        pass
    finally:
        with suppress(OSError):
            text.detach()
