"""Somebody else at a server under attack: asks it one small thing after the other, and tells how long the answers took.

Runs as a process of its own, so that what the attacker does costs it nothing. A wait is the time in which the asker
waited and the server worked: where other programs hold the processors, the server's own clock stands still.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import time
from collections.abc import Callable
from threading import Thread
from typing import Any

Ask = Callable[[http.client.HTTPConnection], None]
#: Seconds between two of its requests: three who ask stay below the rate that a key has.
_PAUSE = 0.025


def _tell(found: dict[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(found)}\n")
    sys.stdout.flush()


def _processor_time(process: int) -> float:
    """Seconds that all threads of the process have worked."""
    return time.clock_gettime((~process << 3) | 2)


def _asking(key: str, method: str, path: str, body: str | None = None) -> Ask:
    heads = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def ask(connection: http.client.HTTPConnection) -> None:
        connection.request(method, path, body, heads)
        answer = connection.getresponse()
        found = answer.read()
        if answer.status != 200:
            raise AssertionError(f"{method} {path}: {answer.status} {found[:300]!r}")

    return ask


class Bystander:
    """Asks for one thing again and again."""

    def __init__(self, address: str, process: int, ask: Ask) -> None:
        self._address = address
        self._process = process
        self._ask = ask
        self._since = 0.0
        self._waits: list[tuple[float, float]] = []
        """When each was asked, and its wait."""
        Thread(target=self._go_on, daemon=True).start()

    def begin(self) -> None:
        """Forget what was measured, and what is still under way."""
        self._since = time.monotonic()

    def waits(self) -> list[float]:
        """Seconds of each wait since `begin`; one that is under way is waited for."""
        now = time.monotonic()
        while not (self._waits and self._waits[-1][0] > now):
            time.sleep(_PAUSE / 4)
        return [wait for began, wait in self._waits if began >= self._since]

    def _go_on(self) -> None:
        connection = http.client.HTTPConnection(self._address.removeprefix("http://"), timeout=300)
        try:
            while True:
                began, worked = time.monotonic(), _processor_time(self._process)
                self._ask(connection)
                wait = min(time.monotonic() - began, _processor_time(self._process) - worked)
                self._waits.append((began, wait))
                time.sleep(_PAUSE)
        except BaseException as error:  # nobody else would tell of it
            _tell({"error": f"{type(error).__name__}: {error}"})
            os._exit(1)


def main(address: str, process: str, key: str) -> None:
    """Ask until nobody reads: `begin` forgets, `end` tells the worst waits in seconds, by what was asked."""
    call = json.dumps({"inputs": {"x": 1}})
    asked = {
        "health": _asking(key, "GET", "/health"),
        "list": _asking(key, "GET", "/api/v1/runs?limit=1"),
        "call": _asking(key, "POST", "/api/v1/tools/echo/call", call),
    }
    bystanders = {name: Bystander(address, int(process), ask) for name, ask in asked.items()}
    for line in sys.stdin:
        if line.strip() == "begin":
            for bystander in bystanders.values():
                bystander.begin()
            _tell({})
        else:
            _tell({name: max(one.waits()) for name, one in bystanders.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
