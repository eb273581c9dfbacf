"""The expressions that a plan's texts hold, as they are written. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from toolpath.model.plan import Plan, Step, TemplateUse, every_step
from toolpath.values import Json, walk

Use = TemplateUse | Literal["fallback", "when", "approval", "transform", "cache_key", "outputs"]

#: Uses whose texts are expressions with or without braces.
CONDITIONS: frozenset[str] = frozenset({"when", "approval"})
_TEMPLATE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)


def expressions_of(plan: Plan) -> Iterator[tuple[str, str]]:
    """Each expression of the plan, with the pointer to the text that holds it."""
    for path, step in every_step(plan.block):
        for use, where, value in templates_of(step):
            if use in CONDITIONS:
                yield path + where, value
                continue
            for at, item in walk(value, path + where):
                yield from _within(at, item)
        for at, item in walk(step.on_success.transform, f"{path}/on_success/transform"):
            yield from _within(at, item)
    for at, item in walk(plan.outputs, "/outputs"):
        yield from _within(at, item)


def _within(at: str, item: Json) -> Iterator[tuple[str, str]]:
    if isinstance(item, str) and "{{" in item:
        for match in _TEMPLATE.finditer(item):
            yield at, match[1]


def templates_of(step: Step) -> Iterator[tuple[Use, str, Json]]:
    """Where expressions may stand in the step, but for its transformations: what for, pointer from the step, value."""
    if isinstance(step.when, str):
        yield "when", "/when", step.when
    if isinstance(step.requires_approval, str):
        yield "approval", "/requires_approval", step.requires_approval
    for use, where, name in step.shape.templates:
        value = getattr(step, name)
        if value is not None:
            yield use, where, value
    for index, fallback in enumerate(step.fallback):
        if fallback.inputs:
            yield "fallback", f"/fallback/{index}/inputs", fallback.inputs
    if step.cache is not None and step.cache.key is not None:
        yield "cache_key", "/cache/key", step.cache.key
