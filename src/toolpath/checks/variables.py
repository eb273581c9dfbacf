"""Types of a plan's variables and inputs before it runs. Pure.

A variable may be written with what it holds, so its type may be asked for while it is being looked for.
"""

from __future__ import annotations

from toolpath.checks.memory import SchemaMemory
from toolpath.checks.shapes import NEVER, Type, either, field_of, object_of, of_literal, or_null, standalone
from toolpath.checks.type_source import Depth, TypeSource
from toolpath.checks.views import StepView, TemplatePlace, Views
from toolpath.expressions.names import CHAIN_VARIABLES
from toolpath.values import JsonObject

#: Times that the type of a variable is looked for which is written with what it holds.
_MOST_ROUNDS = 5

_TEXT: JsonObject = {"type": "string"}
_COUNT: JsonObject = {"type": "integer", "minimum": 0}


class VariableTypes:
    """The types of one plan's variables and inputs, each found once."""

    __slots__ = ("_busy", "_depth", "_inputs", "_known", "_memory", "_views", "_writers", "unsettled_reads")

    def __init__(self, views: Views, memory: SchemaMemory, depth: Depth) -> None:
        self._views = views
        self._memory = memory
        self._depth = depth
        self._known: dict[str, Type] = {}
        self._inputs: dict[str, Type] = {}
        self._busy: dict[str, Type] = {}
        """Variables whose types are being looked for → what is taken for them meanwhile."""
        self.unsettled_reads = 0
        """Variables that were read while their own type was being looked for: what was found with them is not kept."""
        self._writers: dict[str, list[tuple[StepView, str] | TemplatePlace]] = {}
        """What writes each: a field of a step's output, or a template."""
        for view in views.steps:
            for field, variable in view.step.on_success.map_outputs.items():
                self._writers.setdefault(variable, []).append((view, field))
        for template in views.templates:
            if template.use == "transform":
                self._writers.setdefault(template.variable, []).append(template)

    def state(self, types: TypeSource) -> Type:
        """The type of the plan's final state: every variable, though some may not be set."""
        names = self._views.root.names.variables
        parts = {name: types.variable(name) for name in sorted(names)}
        schema = object_of(parts)
        schema["required"] = [name for name in parts if name in CHAIN_VARIABLES]
        return schema

    def variable(self, types: TypeSource, name: str, *, written: bool, given: bool) -> Type:
        """The type of a variable of the state.

        `written`: a step has surely set it, so its first value is gone. `given`: it is no input that was not given.
        """
        key = f"{written}{given}:{name}"
        if key in self._busy:
            self.unsettled_reads += 1
            return self._busy[key]
        if key not in self._known:
            self._known[key] = self._depth.find(lambda: self._settled(types, key, name, written, given))
        return self._known[key]

    def _settled(self, types: TypeSource, key: str, name: str, written: bool, given: bool) -> Type:
        """The type of a variable that may be written with what it holds: looked for until it stays the same."""
        self._busy[key] = NEVER
        try:
            for _ in range(_MOST_ROUNDS):
                before = self.unsettled_reads
                found = self._found(types, name, written, given)
                if self.unsettled_reads == before or found == self._busy[key]:
                    return found
                self._busy[key] = found
        finally:
            del self._busy[key]
        return None

    def _found(self, types: TypeSource, name: str, written: bool, given: bool) -> Type:
        plan = self._views.plan
        if name in CHAIN_VARIABLES:
            return _TEXT
        if name in self._views.retry_counts:
            return _COUNT
        found = [_written_by(types, writer) for writer in self._writers.get(name, ())]
        if not written:
            if name in plan.inputs.get("properties", {}):
                first = types.input(name)
                found.append(types.kinds.without_null(first) if given else first)
            elif name in plan.state:
                found.append(of_literal(plan.state[name]))
        return either(found)

    def input(self, name: str) -> Type:
        """The type of an input of the plan."""
        if name not in self._inputs:
            found = self._input(name)
            self._inputs[name] = None if found is None else self._memory.one(found)
        return self._inputs[name]

    def _input(self, name: str) -> Type:
        inputs = self._views.plan.inputs
        schema = inputs.get("properties", {}).get(name)
        if not isinstance(schema, dict):
            return None
        known = standalone(schema, inputs) if schema.keys() - {"description", "title", "default"} else None
        is_given = name in inputs.get("required", ()) or "default" in schema
        return known if is_given or known is None else or_null(known)


def _written_by(types: TypeSource, writer: tuple[StepView, str] | TemplatePlace) -> Type:
    if isinstance(writer, TemplatePlace):
        return types.template(writer)
    view, field = writer
    place = field_of(types.output(view), field)
    return standalone(place.schema, place.root) if place.found == "found" and place.schema else None
