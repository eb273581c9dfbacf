"""The tools that an agent may call: named by its step, or all that are selectable; settled before it runs. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

import msgspec

from toolpath.errors import ToolpathError
from toolpath.model.agent import BUILT_IN, FORM_INPUT, NONE
from toolpath.model.language_model import KnownModels
from toolpath.model.plan import Agent, Block, Loop, Parallel, Plan, Step
from toolpath.model.tool import Tool


class Tools(Protocol):
    """The side of the catalogue that a program needs."""

    def find(self, name: str) -> Tool:
        """The tool of that key, alias or unambiguous name."""
        ...

    def selectable(self) -> Iterable[Tool]:
        """Every tool that an agent may be given."""
        ...

    @property
    def models(self) -> KnownModels:
        """The models that an agent may ask."""
        ...


def getter(tools: Tools) -> Callable[[str], Tool | None]:
    """Gives the tool of a name, or None where there is none."""

    def get(name: str) -> Tool | None:
        try:
            return tools.find(name)
        except ToolpathError:
            return None

    return get


def selected_tools(step: Agent, tools: Tools) -> list[Tool]:
    """The tools that the step names, each once; all that are selectable where it names none. Raises `ToolNotFound`."""
    if not step.tools:
        return list(tools.selectable())
    named = [name for name in step.tools if name not in BUILT_IN and name != NONE]
    return list({tool.key: tool for tool in map(tools.find, named)}.values())


def settled_step(step: Agent, tools: Iterable[Tool], model: str) -> Agent:
    """The step with the whole keys of the tools that it may call, and its model: it may use no others later."""
    may_ask = [FORM_INPUT] if not step.tools or FORM_INPUT in step.tools else []
    keys = (*may_ask, *(tool.key for tool in tools)) or (NONE,)
    if keys == step.tools and model == (step.model or ""):
        return step
    return msgspec.structs.replace(step, tools=keys, model=model or None)


def settled_plan(plan: Plan, settled: Mapping[int, Agent]) -> Plan:
    """The plan with its agents as they were settled, by the identity of the steps they stand for."""
    return msgspec.structs.replace(plan, steps=_settled(plan.steps, settled)) if settled else plan


def _settled(steps: tuple[Step, ...], settled: Mapping[int, Agent]) -> tuple[Step, ...]:
    return tuple(_settled_one(step, settled) for step in steps)


def _settled_one(step: Step, settled: Mapping[int, Agent]) -> Step:
    match step:
        case Agent():
            return settled.get(id(step), step)
        case Parallel():
            return msgspec.structs.replace(step, branches=tuple(_block(block, settled) for block in step.branches))
        case Loop():
            return msgspec.structs.replace(step, body=_block(step.body, settled))
        case _:
            return step


def _block(block: Block, settled: Mapping[int, Agent]) -> Block:
    return msgspec.structs.replace(block, steps=_settled(block.steps, settled))
