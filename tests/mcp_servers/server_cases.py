"""The probe server behind HTTP on a free port, and how tests name it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager

from tests.prepared.prepared import prepared
from tests.providers.test_mcp_http import HttpServer

from toolpath import Settings
from toolpath.workspace.mcp_servers.checking import ServerDraft

COMMAND, *ARGS = prepared("probe")
#: Tests' servers are on this machine, which is no public host.
NEAR = Settings(http_allow=("127.0.0.1",))
SECRET = "hush-hush-4711"
PROGRAM = ServerDraft(name="probe", command=COMMAND, args=tuple(ARGS), env={"PROBE_WORDS": SECRET})


@contextmanager
def over_http() -> Iterator[str]:
    """The URL of a server."""
    server = HttpServer()
    server.start()
    try:
        yield f"http://127.0.0.1:{server.port}/mcp"
    finally:
        server.stop()


def end_of(pid: int) -> asyncio.Future[None]:
    """The end of a process that runs now, as the system tells it."""
    loop, told = asyncio.get_running_loop(), os.pidfd_open(pid)
    ended: asyncio.Future[None] = loop.create_future()
    ended.add_done_callback(lambda _: (loop.remove_reader(told), os.close(told)))
    loop.add_reader(told, lambda: ended.done() or ended.set_result(None))
    return ended
