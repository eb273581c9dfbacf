"""A composite alone: its inner tools are stand-ins that answer what an example of it expects."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from toolpath.app import Toolpath
from toolpath.errors import ToolFailed
from toolpath.language.composite import read_composite
from toolpath.model.plan import Call, Plan, every_step
from toolpath.opening import tools_of
from toolpath.testing.scripted import ScriptedTool, scripted
from toolpath.values import Json, JsonObject

Test = Callable[[Toolpath], Awaitable[None]]


def stand_ins(composite: JsonObject, *, gives: Json = None, fails: str = "") -> list[ScriptedTool]:
    """A scripted tool for each one that the composite calls.

    `gives`: the output that is expected of the composite; each field that a step keeps in one of its variables answers
    that variable's value, any other an empty list. `fails`: every call fails with this text instead.
    """
    plan = read_composite(composite).body
    assert isinstance(plan, Plan)
    expected = gives if isinstance(gives, dict) else {}
    answers: dict[str, JsonObject] = {name: dict(expected) for name in sorted(tools_of(plan))}
    for _, step in every_step(plan.block):
        if isinstance(step, Call) and step.on_success is not None:
            kept = step.on_success.map_outputs
            answers[step.tool].update({field: expected.get(variable, []) for field, variable in kept.items()})
    return [scripted(name, then=ToolFailed(fails) if fails else answer) for name, answer in answers.items()]


def offline(composite: JsonObject, *, gives: Json = None, fails: str = "") -> Callable[[Test], Callable[[], None]]:
    """Makes an `async` test of an open `Toolpath` one that any runner runs: in memory, the tools being `stand_ins`."""

    def decorated(test: Test) -> Callable[[], None]:
        async def opened() -> None:
            async with Toolpath() as tp:
                tp.add(*stand_ins(composite, gives=gives, fails=fails))
                await test(tp)

        def run() -> None:
            asyncio.run(opened())

        # Not `wraps`: a test runner would look for a fixture of the name of the test's parameter.
        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        return run

    return decorated
