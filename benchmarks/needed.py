"""The floor with what the contract asks of each call, and nothing else of an engine: how low a ratio can get at all.

Each call has inputs of its own that were checked, a result of its own that was checked, a time, a weight for the
limits of memory, and its events. There are no decisions, no limits, no retries, no deadlines and no journal.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

import jsonschema_rs
import msgspec

from benchmarks import mixed
from toolpath.model import events as ev
from toolpath.model.tool import Tool
from toolpath.values import plain

_text_of = msgspec.json.Encoder().encode


class Contract:
    """Calls one tool as the contract has it, and keeps the events of all calls."""

    def __init__(self, tool: Tool, call: Callable[..., Awaitable[dict[str, Any]]]) -> None:
        self._key = f"{tool.group}.{tool.name}"
        self._takes = jsonschema_rs.validator_for(tool.input_schema)
        self._gives = jsonschema_rs.validator_for(tool.output_schema)
        self._call = call
        self.events: list[Any] = []

    async def call(self, path: str, inputs: dict[str, Any]) -> Any:
        """The result of a call with these inputs."""
        if not self._takes.is_valid(inputs):
            raise ValueError(path)
        len(_text_of(inputs))
        number = len(self.events)
        self.events.append(ev.StepStarted(number, 0.0, path, 1, self._key, inputs, 60.0, f"run:{path}"))
        given, began = msgspec.to_builtins(inputs), time.monotonic()
        value, data = plain(await self._call(**given))
        duration = time.monotonic() - began
        if not self._gives.is_valid(value):
            raise ValueError(path)
        len(data)
        self.events.append(ev.StepSucceeded(number + 1, 0.0, path, value, duration, False, None, (), None, None))
        return value


def step_tool(step: int, contract: Contract) -> Callable[[list[Any]], Awaitable[Any]]:
    """The step of a graph, as `mixed.floor_tool`."""
    options = {"mode": "fast", "limit": 10}

    async def run(inputs: list[Any]) -> Any:
        return await contract.call(f"s{step}", mixed.step_inputs(step, inputs, options))

    return run


class ContractMap(mixed.MixedMap):
    """The map of `mixed.py`, with what a loop collects of each item and its event."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.contract = Contract(mixed.map_tool(), mixed.price)

    async def tool(self, item: int) -> Any:
        """The price of one line."""
        path = f"each[{item}]"
        line = {"n": item, "name": "Ada"}
        value = await self.contract.call(f"{path}/price", {"line": line, "options": {"mode": "fast"}})
        given = {"v": value["v"], "name": value["customer"]["name"]}
        len(_text_of(given))
        self.contract.events.append(ev.StepSucceeded(0, 0.0, path, given))
        return given
