"""A server is killed in the middle of a turn: nothing is asked or called twice, and the conversation has the answer."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from tests.patience import PATIENCE

PROGRAM = Path(__file__).parent.parent / "servers" / "talking.py"


@contextmanager
def server(folder: Path) -> Iterator[tuple[httpx.Client, subprocess.Popen[str]]]:
    process = subprocess.Popen([sys.executable, str(PROGRAM), str(folder)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1/", timeout=PATIENCE) as client:
            yield client, process
    finally:
        process.kill()
        process.communicate()


def noted(folder: Path) -> list[str]:
    file = folder / "calls"
    return file.read_text().splitlines() if file.exists() else []


def test_a_turn_goes_on_after_its_server_was_killed(tmp_path: Path) -> None:
    message = {"text": "Post it.", "message_id": "m-1"}
    with server(tmp_path) as (client, process):
        talk = client.post("conversations", json={}).json()["conversation_id"]
        with client.stream("POST", f"conversations/{talk}/messages", json=message) as stream:
            for line in stream.iter_lines():
                if line.startswith('data: {"type":"question"'):
                    asked = json.loads(line.removeprefix("data: "))
                    place = f"runs/{asked['run_id']}/approvals/{asked['step']}"
                    assert client.post(place, json={}).status_code == 202
                if line.startswith('data: {"type":"result"'):
                    break
            give_up = time.monotonic() + PATIENCE
            while "think 2" not in noted(tmp_path):
                assert time.monotonic() < give_up
                time.sleep(0.01)
            process.kill()
            process.wait()
    (tmp_path / "go").touch()
    with server(tmp_path) as (client, _process):
        # The same message again, as a client would that had no answer.
        with client.stream("POST", f"conversations/{talk}/messages", json=message) as stream:
            kinds = [line.removeprefix("event: ") for line in stream.iter_lines() if line.startswith("event: ")]
        assert [kind for kind in kinds if kind != "text"] == ["turn", "call", "result", "end"]
        said = client.get(f"conversations/{talk}/messages").json()["messages"]
        assert [(each["text"], each.get("status", "")) for each in said] == [
            ("Post it.", ""),
            ("It is done.", "completed"),
        ]
        assert client.get(f"conversations/{talk}").json()["turn"] is None
    # The reply that was being written is asked for once more; nothing else is.
    assert noted(tmp_path) == ["think 1", "post Tea", "think 2", "think 2"]
