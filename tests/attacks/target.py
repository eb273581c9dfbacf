"""A server under attack: `toolpath serve` in a process of its own, which tells how long it was deaf, and what it held.

A turn of its loop is measured in processor time: how busy the machine is does not count.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from tests.prepared.prepared import prepared

TOOLS = '''
import asyncio, time
from asyncio.base_events import BaseEventLoop
from typing import Any

from toolpath import tool

worst = {"turn": 0.0}
_once = BaseEventLoop._run_once


def _measured(self):
    began = time.thread_time()
    _once(self)
    worst["turn"] = max(worst["turn"], time.thread_time() - began)


BaseEventLoop._run_once = _measured


def _memory(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(name))


@tool(group="probe", effect="read")
async def worst_turn() -> dict:
    """Seconds of the longest turn, megabytes held now and at most, since this was asked last."""
    found = {"turn": worst["turn"], "held": _memory("VmRSS"), "peak": _memory("VmHWM")}
    worst["turn"] = 0.0
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    return found


@tool(effect="read")
async def echo(x: Any = None) -> Any:
    """Give it back."""
    return x


ANY = {"$ref": "#/$defs/any"}
ALL = {"type": "array", "items": ANY}
LEAF = {"field": {"type": "string"}, "value": {"type": "integer"}}
FILTER = {
    "type": "object",
    "properties": {"filter": ANY},
    "$defs": {
        "any": {"anyOf": [{"$ref": "#/$defs/" + kind} for kind in ("and", "or", "not", "leaf")]},
        "and": {"type": "object", "properties": {"items": ALL}, "required": ["items"]},
        "or": {"type": "object", "properties": {"items": ALL}, "required": ["items"]},
        "not": {"type": "object", "properties": {"items": ALL}, "required": ["items"]},
        "leaf": {"type": "object", "properties": LEAF, "required": ["field", "value"]},
    },
}


@tool(effect="read", input_schema=FILTER)
async def find(filter: Any = None) -> Any:
    """Find by a filter."""
    return []
'''


class Measured(NamedTuple):
    """What an attack did to its server, and to others there."""

    turn: float
    """Seconds of processor time of the longest turn of the loop."""
    held: float
    """Megabytes that were held at most, beyond those that were held before."""
    waits: dict[str, float]
    """Seconds that somebody else waited for an answer while the server worked, at most, by what was asked."""


class Target:
    """The server, and what came of an attack on it."""

    def __init__(
        self,
        address: str,
        process: subprocess.Popen[str],
        client: httpx.Client,
        measuring: httpx.Client,
        others: subprocess.Popen[str],
    ) -> None:
        self.address = address
        self.process = process
        self.client = client
        """Asks with a key that may read and run."""
        self._measuring = measuring
        """Asks with a key of its own: what the attacker has asked does not count against its rate."""
        self._others = others
        self._before = 0.0

    def begin(self) -> None:
        """Forget what was measured."""
        self._told()
        # The second one has warmed what the first one loads.
        self._before = self._told()["held"]
        self._ask_others("begin")

    def measured(self) -> Measured:
        """What came of what was done since `begin`."""
        waits = self._ask_others("end")
        found = self._told()
        return Measured(found["turn"], found["peak"] - self._before, waits)

    def _ask_others(self, what: str) -> dict[str, float]:
        assert self._others.stdin is not None
        assert self._others.stdout is not None
        # One that was answered amiss has said so, and is gone.
        with suppress(BrokenPipeError):
            self._others.stdin.write(f"{what}\n")
            self._others.stdin.flush()
        found: dict[str, float] = json.loads(self._others.stdout.readline())
        assert "error" not in found, found
        return found

    def _told(self) -> Any:
        """What the server tells of itself."""
        answer = self._measuring.post("/api/v1/tools/probe.worst_turn/call", json={"inputs": {}}, timeout=120)
        assert answer.status_code == 200, answer.text[:500]
        return answer.json()["output"]

    def let_in(self, method: str, path: str, **asked: Any) -> httpx.Response:
        """The answer to an attacker who comes again when it is told that it asks too often."""
        while True:
            answer = self.client.request(method, path, **{"timeout": 120, **asked})
            if answer.status_code != 429:
                return answer
            time.sleep(float(answer.headers["Retry-After"]))

    def run(self, plan: Any, inputs: Any = None, seconds: float = 60) -> dict[str, Any]:
        """What came of a run: it was refused, has ended, or was cancelled after so many seconds."""
        # By this it is found among the runs of others.
        body = {"plan": plan, "conversation_id": "attack"} | ({} if inputs is None else {"inputs": inputs})
        answer = self.let_in("POST", "/api/v1/runs", json=body)
        if answer.status_code != 202:
            return {"status": answer.status_code, **answer.json()}
        return self.ended(answer.json()["run_id"], seconds)

    def ended(self, run_id: str, seconds: float = 60, *, name: str = "") -> dict[str, Any]:
        """The run when it has ended; it is cancelled after so many seconds. A fork is found by its plan's `name`."""
        until = time.monotonic() + seconds
        told = False
        while True:
            wanted: dict[str, Any] = {"limit": 5} | ({"name": name} if name else {"conversation_id": "attack"})
            rows = self.let_in("GET", "/api/v1/runs", params=wanted).json()["runs"]
            found: dict[str, Any] = next(row for row in rows if row["run_id"] == run_id)
            if found["status"] not in ("pending", "running"):
                return found
            if time.monotonic() > until and not told:
                told = True
                self.let_in("POST", f"/api/v1/runs/{run_id}/cancel", json={})
            time.sleep(0.1)

    def graphql(self, query: str, **variables: Any) -> dict[str, Any]:
        """What GraphQL answers."""
        answer = self.client.post("/graphql", json={"query": query, "variables": variables}, timeout=180)
        found: dict[str, Any] = answer.json()
        return found

    def mcp(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """What a tool of the MCP service answers."""
        heads = {"Accept": "application/json, text/event-stream"}
        info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "attack", "version": "1"}}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info}
        begun = self.let_in("POST", "/mcp", json=asked, headers=heads)
        heads["Mcp-Session-Id"] = begun.headers["mcp-session-id"]
        self.client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=heads)
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        heads["Content-Type"] = "application/json"
        answer = self.let_in("POST", "/mcp", content=written(call), headers=heads)
        lines = [line[6:] for line in answer.text.splitlines() if line.startswith("data: {")]
        found: dict[str, Any] = json.loads(lines[-1] if lines else answer.text)
        return found


def written(value: Any) -> bytes:
    """JSON of any depth."""
    parts: list[str] = []
    todo: list[tuple[bool, Any]] = [(False, value)]
    while todo:
        done, value = todo.pop()
        if done:
            parts.append(value)
            continue
        try:
            parts.append(json.dumps(value))
        except RecursionError:
            pairs = value.items() if isinstance(value, dict) else ((None, one) for one in value)
            opening, closing = "{}" if isinstance(value, dict) else "[]"
            within: list[tuple[bool, Any]] = []
            for number, (key, one) in enumerate(pairs):
                head = "" if key is None else f"{json.dumps(key)}:"
                within += [(True, f"{',' if number else opening}{head}"), (False, one)]
            todo += reversed([*within, (True, closing)])
    return "".join(parts).encode()


@contextmanager
def target(folder: Path, *options: str, tools: str = TOOLS, **settings: str) -> Iterator[Target]:
    """A server with a store in the folder, asked with a key of the scopes `read` and `run`."""
    (folder / "own_tools.py").write_text(tools)
    environment = {
        **os.environ,
        "TOOLPATH_AUTH": "required",
        **{f"TOOLPATH_{k.upper()}": v for k, v in settings.items()},
    }
    base = [sys.executable, "-m", "toolpath", "--store", "runs.db"]
    attacker, bystander, observer = _keys(folder, environment)
    process = subprocess.Popen(
        [*base, "--tools", "own_tools.py", "serve", "--port", "0", *options],
        cwd=folder,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    reading = threading.Thread(target=process.stderr.read, daemon=True)
    try:
        told = next(line for line in process.stderr if "Listening" in line)
        where = re.search(r"http://\S+", told)
        assert where is not None
        # Its log is long, and a pipe that nobody reads would stop it.
        reading.start()
        with (
            _asking(where[0], attacker) as client,
            _asking(where[0], observer) as measuring,
            _bystanders(where[0], process.pid, bystander) as others,
        ):
            yield Target(where[0], process, client, measuring, others)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if reading.ident is not None:
            reading.join(10)
        process.stderr.close()


def _asking(address: str, key: str) -> httpx.Client:
    return httpx.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=120)


def _keys(folder: Path, environment: dict[str, str]) -> list[str]:
    """Those of the store in the folder: of the attacker, of the bystander, and of who measures."""
    made = folder / "keys.json"
    if not made.exists():
        made.write_text(json.dumps([_key(who, folder, environment) for who in ("attacker", "bystander", "observer")]))
    found: list[str] = json.loads(made.read_text())
    return found


def _key(name: str, folder: Path, environment: dict[str, str]) -> str:
    made = subprocess.run(
        [*prepared("toolpath", "--store", "runs.db"), "keys", "create", name, "--scope", "read", "--scope", "run"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.search(r"tpk_\S+", made.stdout)
    assert found is not None, made.stdout + made.stderr
    return found[0]


@contextmanager
def _bystanders(address: str, process: int, key: str) -> Iterator[subprocess.Popen[str]]:
    asking = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("probe.py")), address, str(process), key],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield asking
    finally:
        asking.kill()
        asking.communicate()
