"""Variables that a composite reads and nobody writes or declares: what its callers must give it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolpath.language.names import CHAIN_VARIABLES, written_variables
from toolpath.model.plan import Ask, Call, Loop, Plan, Step, every_step
from toolpath.values import Json, walk

_TEMPLATE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_QUOTED = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"")
_VARIABLE = re.compile(r"(?<![\w.\]])(?:state|inputs)\.([A-Za-z_]\w*)")
_SUBSCRIPT = re.compile(r"(?<![\w.\]])(?:state|inputs)\[\s*(?:'([^'\\]+)'|\"([^\"\\]+)\")\s*\]")


def undeclared_variables(plan: Plan) -> dict[str, str]:
    """Each variable that is read as `state.x` or `inputs.x` and that no step writes → pointer to its first use."""
    known = {*written_variables(plan.block), *plan.state, *plan.inputs.get("properties", {}), *CHAIN_VARIABLES}
    found: dict[str, str] = {}
    for path, expression in _expressions(plan):
        for name in _read_in(expression):
            if name not in known:
                found.setdefault(name, path)
    return found


def _read_in(expression: str) -> Iterator[str]:
    for match in _SUBSCRIPT.finditer(expression):
        yield match[1] or match[2]
    for match in _VARIABLE.finditer(_QUOTED.sub("''", expression)):
        yield match[1]


def _expressions(plan: Plan) -> Iterator[tuple[str, str]]:
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
