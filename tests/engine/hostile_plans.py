"""Plans made to do as much as can be without end: blocks in blocks, all at once, with nothing in them, in circles."""

from __future__ import annotations

from random import Random
from typing import Any

MANY = "{{ ('a' * 400) | list }}"


def hostile_plan(random: Random) -> dict[str, Any]:
    """A plan that checks, and whose work is far beyond what a run may do."""
    flow = random.choice(("graph", "chain"))
    steps = _steps(random, random.randint(1, 3), flow, top=True)
    limits = {"step_visits": 10**9, "steps": 10**9, "depth": 10**9}
    plan = {
        "flow": flow,
        "inputs": {"properties": {"go": {}}},
        "steps": steps,
        "limits": limits,
        "concurrency": 100_000,
    }
    if random.random() < 0.5:
        plan["failure_mode"] = random.choice(("stop", "isolate", "continue"))
    return plan


def _steps(random: Random, depth: int, flow: str, *, top: bool = False) -> list[dict[str, Any]]:
    steps = [{"id": f"s{random.getrandbits(40)}", **_action(random, depth)} for _ in range(random.randint(1, 3))]
    for number, step in enumerate(steps):
        if random.random() < 0.3:
            step["when"] = random.choice(("inputs.go", "not inputs.go", "(range | default([1]) | sum) > 0"))
        if flow == "chain" and random.random() < 0.7:
            step["when"] = "inputs.go"
            step["on_success"] = {"next": steps[random.randint(0, number)]["id"]}
        if "tool" in step and random.random() < 0.3:
            step["retry"] = {"max_retries": 10**6, "initial_delay": 0, "backoff": "none"}
            step["tool"] = "fail"
    return steps


def _action(random: Random, depth: int) -> dict[str, Any]:
    kind = random.random()
    if depth == 0 or kind < 0.2:
        return {"tool": "echo", "inputs": {"x": random.choice((1, "{{ inputs.go }}"))}}
    flow = random.choice(("graph", "chain"))
    if kind < 0.7:
        over = random.choice((MANY, MANY, [], [1, 2, 3]))
        body = {"over": over, "flow": flow, "steps": _steps(random, depth - 1, flow)}
        return {"loop": {**body, "concurrency": random.choice((1, 7, 100_000))}}
    branches = [
        {"id": f"b{number}", "flow": flow, "steps": _steps(random, depth - 1, flow)}
        for number in range(random.choice((0, 1, 2, 8)))
    ]
    return {"parallel": branches, "wait_for": random.choice(("all", "any", "first_success")) if branches else "all"}
