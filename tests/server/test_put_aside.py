"""A run that ends every server that drives it: put aside after some of them, gone on with or ended by a person."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import httpx
from tests.attacks.target import Target, target
from tests.patience import PATIENCE

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


def lost(folder: Path) -> int:
    """Begin a run that servers are lost with until it is put aside; how often it was driven.

    A server that dies before it has written anything counts for no step.
    """
    plan = {"name": "deadly", "steps": [{"id": "s", "tool": "deadly"}]}
    with target(folder, tools=TOOLS, max_losses=str(LOSSES)) as server:
        with suppress(httpx.HTTPError):
            server.client.post("/api/v1/runs", json={"plan": plan})
        assert server.process.wait(PATIENCE) == 9
    for _ in range(LOSSES + 1):
        with target(folder, tools=TOOLS, max_losses=str(LOSSES)) as server:
            # Nobody asks for it: it is taken up at the start.
            try:
                the_run(server, "paused")
                break
            except httpx.HTTPError:
                assert server.process.wait(PATIENCE) == 9
    return len((folder / "calls").read_text())


def the_run(server: Target, status: str) -> dict[str, str]:
    """The one run, once it stands so."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        [row] = server.client.get("/api/v1/runs").json()["runs"]
        if row["status"] == status:
            break
    assert row["status"] == status
    found: dict[str, str] = row
    return found


def test_a_run_that_ends_every_server_is_put_aside_without_a_queue_and_can_be_resumed(tmp_path: Path) -> None:
    driven = lost(tmp_path)
    assert driven <= LOSSES + 1
    with target(tmp_path, tools=TOOLS, max_losses=str(LOSSES)) as server:
        row = the_run(server, "paused")
        assert row["reason"] == f"put aside: {LOSSES} drivers were lost while s ran"
        (tmp_path / "mended").write_text("")
        assert server.client.post(f"/api/v1/runs/{row['run_id']}/resume", json={}).status_code == 202
        the_run(server, "completed")
    assert len((tmp_path / "calls").read_text()) == driven + 1


def test_a_run_that_was_put_aside_is_cancelled_without_being_driven(tmp_path: Path) -> None:
    driven = lost(tmp_path)
    assert driven <= LOSSES + 1
    with target(tmp_path, tools=TOOLS, max_losses=str(LOSSES)) as server:
        row = the_run(server, "paused")
        assert server.client.post(f"/api/v1/runs/{row['run_id']}/cancel", json={}).status_code == 202
        the_run(server, "cancelled")
    assert len((tmp_path / "calls").read_text()) == driven
