"""The probe server behind HTTP on a free port, and how tests name it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.providers.test_mcp_http import HttpServer

from toolpath import Settings
from toolpath.workspace.mcp_servers.checking import ServerDraft

SCRIPT = str(Path(__file__).parent.parent / "servers" / "probe_server.py")
#: Tests' servers are on this machine, which is no public host.
NEAR = Settings(http_allow=("127.0.0.1",))
SECRET = "hush-hush-4711"
PROGRAM = ServerDraft(name="probe", command=sys.executable, args=(SCRIPT,), env={"PROBE_WORDS": SECRET})


@contextmanager
def over_http() -> Iterator[str]:
    """The URL of a server."""
    server = HttpServer()
    server.start()
    try:
        yield f"http://127.0.0.1:{server.port}/mcp"
    finally:
        server.stop()


def runs(pid: int) -> bool:
    """Whether the process is there and no corpse."""
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(found.strip()) and not found.startswith("Z")
