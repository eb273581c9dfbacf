"""The expressions that a plan's texts hold, as they are written. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolpath.model.plan import Ask, Call, Loop, Plan, Step, every_step
from toolpath.values import Json, walk

_TEMPLATE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)


def expressions_of(plan: Plan) -> Iterator[tuple[str, str]]:
    """Each expression of the plan, with the pointer to the text that holds it."""
    for path, step in every_step(plan.block):
        for name, value in _templates(step):
            for at, item in walk(value, f"{path}/{name}"):
                yield from _within(at, item)
        for name, condition in (("when", step.when), ("requires_approval", step.requires_approval)):
            if isinstance(condition, str):
                # These are expressions with or without braces.
                yield f"{path}/{name}", condition
    for at, item in walk(plan.outputs, "/outputs"):
        yield from _within(at, item)


def _within(at: str, item: Json) -> Iterator[tuple[str, str]]:
    if isinstance(item, str) and "{{" in item:
        for match in _TEMPLATE.finditer(item):
            yield at, match[1]


def _templates(step: Step) -> Iterator[tuple[str, Json]]:
    yield "on_success/transform", step.on_success.transform
    for index, fallback in enumerate(step.fallback):
        yield f"fallback/{index}/inputs", fallback.inputs
    match step:
        case Call():
            yield "inputs", step.inputs
        case Loop():
            yield "loop/over", step.over
            yield "loop/collect", step.collect
        case Ask():
            yield "ask/title", step.title
        case _:
            pass
