"""A run that ends every server that drives it: put aside after some of them, gone on with or ended by a person."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from tests.patience import PATIENCE
from tests.server.test_serve import serving

TOOLS = '''
import os
from toolpath import tool

@tool(effect="read")
async def deadly() -> str:
    """End the process that calls it."""
    with open("calls", "a") as file:
        file.write("x")
    if os.path.exists("mended"):
        return "well"
    os._exit(9)
'''
LOSSES = 2


@contextmanager
def server(folder: Path) -> Iterator[tuple[httpx.Client, subprocess.Popen[bytes]]]:
    """A server in this folder, and a client of it."""
    (folder / "toolpath.toml").write_text(f'store = "runs.db"\nmax_losses = {LOSSES}\n')
    with serving(folder, tools=TOOLS) as (address, process), httpx.Client(base_url=address, timeout=PATIENCE) as client:
        yield client, process


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of servers that were lost with a run until it was put aside."""
    folder = tmp_path_factory.mktemp("lost")
    plan = {"name": "deadly", "steps": [{"id": "s", "tool": "deadly"}]}
    with server(folder) as (client, process):
        with suppress(httpx.HTTPError):
            client.post("/api/v1/runs", json={"plan": plan})
        assert process.wait(PATIENCE) == 9
    for _ in range(LOSSES + 1):
        with server(folder) as (client, process):
            # Nobody asks for it: it is taken up at the start.
            try:
                the_run(client, "paused")
                break
            except httpx.HTTPError:
                assert process.wait(PATIENCE) == 9
    return folder


def driven(folder: Path) -> int:
    """How often the run was driven. A server that dies before it has written anything counts for no step."""
    return len((folder / "calls").read_text())


def the_run(client: httpx.Client, status: str) -> dict[str, str]:
    """The one run, once it stands so."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        [row] = client.get("/api/v1/runs").json()["runs"]
        if row["status"] == status:
            break
        time.sleep(0.01)
    assert row["status"] == status
    found: dict[str, str] = row
    return found


def test_a_run_that_ends_every_server_is_put_aside_without_a_queue_and_can_be_resumed(
    lost: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "resumed"
    shutil.copytree(lost, folder)
    before = driven(folder)
    assert before <= LOSSES + 1
    with server(folder) as (client, _):
        row = the_run(client, "paused")
        assert row["reason"] == f"put aside: {LOSSES} drivers were lost while s ran"
        (folder / "mended").write_text("")
        assert client.post(f"/api/v1/runs/{row['run_id']}/resume", json={}).status_code == 202
        the_run(client, "completed")
    assert driven(folder) == before + 1


def test_a_run_that_was_put_aside_is_cancelled_without_being_driven(lost: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cancelled"
    shutil.copytree(lost, folder)
    before = driven(folder)
    with server(folder) as (client, _):
        row = the_run(client, "paused")
        assert client.post(f"/api/v1/runs/{row['run_id']}/cancel", json={}).status_code == 202
        the_run(client, "cancelled")
    assert driven(folder) == before
