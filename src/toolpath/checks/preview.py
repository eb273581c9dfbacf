"""Dry run of a plan: what a run would call, with inputs as far as they are known before anything was called. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import ExpressionError
from toolpath.expressions.compile import Compiled, compile_condition, compile_value
from toolpath.expressions.extent import extent
from toolpath.expressions.names import Frame, Names, Root, inner_names, plan_names
from toolpath.expressions.work import Work
from toolpath.model.plan import Call, Parallel, Plan, Step, blocks_of
from toolpath.values import Json, JsonObject

#: Elements that the expressions of one preview may visit, and bytes of all values that they may give to be shown.
_WORK, _SHOWN = 10_000_000, 4_000_000


class Planned(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One step of the preview."""

    path: str
    kind: str
    tool: str = ""
    effect: str = ""
    inputs: Json = None
    """Known values; what is not known yet, or more than a preview shows, stays as it is written."""
    waits_for: tuple[str, ...] = ()
    """Steps whose output the inputs need."""
    condition: str = ""
    """`runs`, `skipped`, or the condition that decides at run time."""
    items: int | None = None
    """Of a loop: how many, where that is known."""
    approval: bool = False


class Known:
    """Values that are known before the run: inputs and constants."""

    def __init__(self, plan: Plan, inputs: JsonObject) -> None:
        properties = plan.inputs.get("properties", {})
        given = {name: schema.get("default") for name, schema in properties.items() if isinstance(schema, dict)}
        self.frame = Frame(inputs=given | inputs, run={}, state=dict(plan.state))
        self.frame.work = Work(_WORK, lambda _: None)
        self._left = _SHOWN
        """Bytes that may still be shown: many steps may read one large input."""

    def value(self, value: Json, names: Names, needs: dict[str, None]) -> Json:
        """The value with every template that reads inputs alone replaced; the steps that others read go to `needs`."""
        match value:
            case str() if "{{" in value:
                compiled = compile_value(value, names, allow_secrets=True)
                needs.update(dict.fromkeys(_steps_read(compiled)))
                return self._shown(compiled, value) if _is_known(compiled) else value
            case dict():
                return {key: self.value(item, names, needs) for key, item in value.items()}
            case list() | tuple():
                return [self.value(item, names, needs) for item in value]
            case _:
                return value

    def condition(self, when: str | bool | None, names: Names) -> str:
        """`runs`, `skipped`, or the text that is decided at run time."""
        if when is None:
            return ""
        compiled = compile_condition(when, names)
        if not _is_known(compiled):
            return str(when)
        return "runs" if self._evaluated(compiled, False) else "skipped"

    def _shown(self, compiled: Compiled, written: str) -> Json:
        found = self._evaluated(compiled, written)
        weight = extent(found).weight
        if weight > self._left:
            return written
        self._left -= weight
        return found

    def _evaluated(self, compiled: Compiled, otherwise: Json) -> Json:
        try:
            return compiled.evaluate(self.frame)
        except ExpressionError:
            return otherwise


def _is_known(compiled: Compiled) -> bool:
    return all(isinstance(found.root, Root) and found.root.kind == "inputs" for found in compiled.references)


def _steps_read(compiled: Compiled) -> tuple[str, ...]:
    roots = (found.root for found in compiled.references)
    return tuple(root.key for root in roots if isinstance(root, Root) and root.kind in ("output", "steps"))


def planned(plan: Plan, catalog: Catalog, inputs: JsonObject) -> list[Planned]:
    """Every step in the order in which it is written, with what is known of it."""
    known = Known(plan, inputs)
    return list(_steps(plan.steps, plan_names(plan), catalog, known))


def _steps(steps: tuple[Step, ...], names: Names, catalog: Catalog, known: Known, above: str = "") -> Iterator[Planned]:
    for step in steps:
        yield _planned(step, names, catalog, known, above)
        for block, inner in zip(blocks_of(step), inner_names(step, names), strict=True):
            inside = f"{above}{step.id}/"
            if (
                isinstance(step, Parallel)
                and block.id
                and not (len(block.steps) == 1 and block.steps[0].id == block.id)
            ):
                inside += f"{block.id}/"
            yield from _steps(block.steps, inner, catalog, known, inside)


def _planned(step: Step, names: Names, catalog: Catalog, known: Known, above: str) -> Planned:
    needs: dict[str, None] = {}
    entry = Planned(path=f"{above}{step.id}", kind=step.shape.kind)
    entry.condition = known.condition(step.when, names)
    entry.approval = bool(step.requires_approval)
    if isinstance(step, Call):
        tool = catalog.called(step.tool, step.inputs)
        entry.tool = tool.key if tool else step.tool
        entry.effect = tool.effect if tool else ""
        entry.approval = entry.approval or bool(tool and tool.requires.approval)
    if step.shape.gist:
        entry.inputs = known.value(getattr(step, step.shape.gist), names, needs)
    if step.shape.item and isinstance(entry.inputs, list):
        entry.items = len(entry.inputs)
    entry.waits_for = tuple(dict.fromkeys([*step.depends_on, *needs]))
    return entry
