"""The graphs and maps of `workloads.py` as users write them: plans that are data, tools that are data, nested schemas.

A step's tool gets an object and a list of objects, partly whole results of other steps, partly built of their fields,
and gives an object with objects in it. What is the default is written out here and there, as models and people do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.workloads import MODULUS, Graph, Map
from toolpath.model.tool import Tool

#: Tools that the steps of a graph take turns with.
TOOLS = 12

_MONEY = {
    "type": "object",
    "properties": {"amount": {"type": "number", "minimum": 0}, "currency": {"type": "string", "enum": ["EUR", "USD"]}},
    "required": ["amount", "currency"],
}


def order() -> dict[str, Any]:
    """The schema of what each tool gives: each tool has one of its own, as tools read from data have."""
    return {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "v": {"type": "integer", "minimum": 0},
            "customer": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
                "required": ["name", "tags"],
            },
            "total": dict(_MONEY),
            "note": {"type": ["string", "null"]},
        },
        "required": ["id", "v", "customer", "total"],
    }


def request() -> dict[str, Any]:
    """The schema of what each tool takes."""
    return {
        "type": "object",
        "properties": {
            "number": {"type": "integer", "minimum": 0},
            "orders": {"type": "array", "items": order()},
            "lines": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"v": {"type": "integer"}, "name": {"type": "string"}, "price": dict(_MONEY)},
                    "required": ["v", "name"],
                    "additionalProperties": False,
                },
            },
            "options": {
                "type": "object",
                "properties": {"mode": {"type": "string", "enum": ["fast", "exact"]}, "limit": {"type": "integer"}},
            },
        },
        "required": ["number", "orders"],
        "additionalProperties": False,
    }


async def settle(
    number: int,
    orders: list[Any],
    lines: list[Any] | None = None,
    options: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """What every tool of a graph does."""
    value = sum([one["v"] for one in orders]) + (sum([one["v"] for one in lines]) if lines else 0)
    return {
        "id": number,
        "v": (value + number + 1) % MODULUS,
        "customer": {"name": "Ada", "tags": ["new", "north"]},
        "total": {"amount": 12.5, "currency": "EUR"},
    }


def tools() -> list[Tool]:
    """The tools of the graphs."""
    return [
        Tool(
            name=f"settle{number}",
            group="shop",
            description="Settles orders.",
            input_schema=request(),
            output_schema=order(),
            effect="read",
            body=settle,
        )
        for number in range(TOOLS)
    ]


def plan_of(graph: Graph, *, salt: int = 0) -> dict[str, Any]:
    """The graph as a plan in a dictionary. Plans with another `salt` are others."""
    return {
        "name": f"orders {salt}",
        "inputs": {"type": "object", "properties": {"mode": {"type": "string", "default": "fast"}}},
        "concurrency": min(graph.limit or graph.size, 1_000),
        "steps": [_step(step, before) for step, before in enumerate(graph.deps)],
        "outputs": {"v": f"{{{{ s{graph.size - 1}.v }}}}", "last": f"{{{{ s{graph.size - 1} }}}}", "kind": "orders"},
    }


def _step(step: int, before: list[int]) -> dict[str, Any]:
    whole, built = before[::2], before[1::2]
    inputs: dict[str, Any] = {
        "number": step,
        "orders": [f"{{{{ s{other} }}}}" for other in whole],
        "options": {"mode": "{{ inputs.mode }}", "limit": 10},
    }
    if built:
        inputs["lines"] = [
            {"v": f"{{{{ s{other}.v }}}}", "name": f"of {{{{ s{other}.customer.name }}}}",
             "price": f"{{{{ s{other}.total }}}}"}
            for other in built
        ]  # fmt: skip
    return {
        "id": f"s{step}",
        "tool": f"shop.settle{step % TOOLS}",
        "inputs": inputs,
        "cache": None,
        "retry": {"max_retries": 3},
        "timeout": "60s",
    }


def floor_tool(step: int) -> Callable[[list[Any]], Awaitable[Any]]:
    """The step on the floor: it gets a list of results, and calls the same function."""
    options = {"mode": "fast", "limit": 10}

    async def run(inputs: list[Any]) -> Any:
        return await settle(**step_inputs(step, inputs, options))

    return run


def step_inputs(step: int, results: list[Any], options: dict[str, Any]) -> dict[str, Any]:
    """What the step's tool gets of the results of the steps before it."""
    lines = [{"v": one["v"], "name": f"of {one['customer']['name']}", "price": one["total"]} for one in results[1::2]]
    inputs: dict[str, Any] = {"number": step, "orders": results[::2], "options": options}
    if lines:
        inputs["lines"] = lines
    return inputs


def map_tool() -> Tool:
    """The tool of a map."""
    line = {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "name": {"type": "string"}, "price": dict(_MONEY)},
        "required": ["n", "name"],
    }
    return Tool(
        name="price",
        group="shop",
        description="Prices a line of an order.",
        input_schema={
            "type": "object",
            "properties": {"line": line, "options": {"type": "object"}, "note": {"type": "string"}},
            "required": ["line"],
            "additionalProperties": False,
        },
        output_schema=order(),
        effect="read",
        body=price,
    )


async def price(line: dict[str, Any], options: dict[str, Any] | None = None, note: str = "") -> dict[str, Any]:
    """One turn of the loop, so that the limit means something."""
    await asyncio.sleep(0)
    number = line["n"]
    return {
        "id": number,
        "v": (number + 1) % MODULUS,
        "customer": {"name": line["name"], "tags": ["new", "north"]},
        "total": {"amount": 12.5, "currency": "EUR"},
    }


def map_plan(items: Map) -> dict[str, Any]:
    """The map as a loop over objects, with what is the default written out."""
    return {
        "name": "prices",
        "inputs": {
            "type": "object",
            "properties": {
                "lines": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"n": {"type": "integer"}, "name": {"type": "string"}},
                        "required": ["n", "name"],
                    },
                }
            },
            "required": ["lines"],
        },
        "concurrency": items.limit,
        "steps": [
            {
                "id": "each",
                "loop": {
                    "over": "{{ inputs.lines }}",
                    "as": "line",
                    "concurrency": items.limit,
                    "steps": [
                        {
                            "id": "price",
                            "tool": "shop.price",
                            "inputs": {
                                "line": {"n": "{{ line.n }}", "name": "{{ line.name }}"},
                                "options": {"mode": "fast"},
                                "note": None,
                            },
                            "when": None,
                            "cache": None,
                            "fallback": [],
                            "retry": {"max_retries": 3},
                            "timeout": "60s",
                        }
                    ],
                    "collect": {"v": "{{ price.v }}", "name": "{{ price.customer.name }}"},
                },
            }
        ],
        "outputs": {"prices": "{{ each }}", "count": "{{ each | length }}"},
    }


def map_inputs(items: Map) -> dict[str, Any]:
    """The items."""
    return {"lines": [{"n": item, "name": "Ada"} for item in range(items.size)]}


class MixedMap(Map):
    """The map on the floor: the same items and the same function."""

    async def tool(self, item: int) -> Any:
        """The price of one line."""
        return await price({"n": item, "name": "Ada"}, {"mode": "fast"})
