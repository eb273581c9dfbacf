"""Types of the values in a plan before it runs: outputs of steps and blocks, variables, inputs, items. Pure.

A type here is a JSON Schema that stands for itself, or None where nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from toolpath.checks.dependencies import Wait
from toolpath.checks.history import Facts, History
from toolpath.checks.judged import Judged, PlanReader, judge_leaf
from toolpath.checks.jumps import goes_on_after_failure, may_skip
from toolpath.checks.kinds import Kinds
from toolpath.checks.memory import Memory
from toolpath.checks.readings import Argument, Reading
from toolpath.checks.shapes import (
    HELD,
    NEVER,
    Type,
    either,
    field_of,
    list_of,
    object_of,
    of_field,
    of_literal,
    or_null,
    shape_of,
    standalone,
    tuple_of,
)
from toolpath.checks.views import BlockView, Read, StepView, Template, Views, called_tools, has_template
from toolpath.expressions.leaf import Leaf
from toolpath.expressions.names import CHAIN_VARIABLES
from toolpath.expressions.tree import Path
from toolpath.json_schema.describe import type_text
from toolpath.model.agent import output_schema
from toolpath.model.plan import Agent, Ask, Call, Loop, Parallel, Plan
from toolpath.model.run import StepStatus
from toolpath.model.tool import Tool
from toolpath.values import Json, JsonObject, key_pointer

#: Types that are found by way of others, one inside the other, at most.
_DEEPEST = 40
#: Items of a list that are told apart.
_MOST_ITEMS = 50
#: Times that the type of a variable is looked for which is written with what it holds.
_MOST_ROUNDS = 5

#: Kinds of values that templates may be in.
_HOLDING = frozenset({str, dict, list})
_TEXT: JsonObject = {"type": "string"}
_COUNT: JsonObject = {"type": "integer", "minimum": 0}
_ASPECTS: dict[str, JsonObject] = {
    "status": {"type": "string", "enum": list(get_args(StepStatus))},
    "duration": {"type": "number"},
    "error": {
        "type": ["object", "null"],
        "properties": {"type": _TEXT, "message": _TEXT, "code": _TEXT, "retryable": {"type": "boolean"}},
        "required": ["type", "message", "code", "retryable"],
        "additionalProperties": False,
    },
}


class Types:
    """The types of one plan, each found once."""

    __slots__ = (
        "_blocks",
        "_body",
        "_busy",
        "_depth",
        "_inputs",
        "_judged",
        "_open",
        "_readers",
        "_results",
        "_steps",
        "_variables",
        "_views",
        "_waits",
        "_writers",
        "history",
        "kinds",
        "memory",
        "plan_mode",
    )

    def __init__(
        self,
        views: Views,
        waits: dict[BlockView, list[Wait]],
        history: History,
        type_of_body: Callable[[Tool], Type],
        memory: Memory,
    ) -> None:
        self._views = views
        self._waits = waits
        self.history = history
        self.plan_mode = views.plan.on_unresolved
        self._body = type_of_body
        self._steps: dict[StepView, Type] = {}
        self._blocks: dict[BlockView, Type] = {}
        self._variables: dict[str, Type] = {}
        self._busy: dict[str, Type] = {}
        """Variables whose types are being looked for → what is taken for them meanwhile."""
        self._results: dict[tuple[str, bool], Type] = {}
        self._inputs: dict[str, Type] = {}
        self._judged: dict[Leaf, Judged] = {}
        self._readers: dict[Template, PlanReader] = {}
        self._open = 0
        """Variables that were read while their own type was being looked for: what was found with them is not kept."""
        self.memory = memory
        self.kinds = Kinds(self.memory)
        self._depth = 0
        self._writers: dict[str, list[Callable[[], Type]]] = {}
        for view in views.steps:
            for field, variable in view.step.on_success.map_outputs.items():
                self._writers.setdefault(variable, []).append(_mapped(self, view, field))
        for template in views.templates:
            if template.use == "transform":
                self._writers.setdefault(template.variable, []).append(_transformed(self, template))

    def let_go(self) -> None:
        """Forget those who ask it in turn."""
        self._readers.clear()
        self._writers.clear()

    def output(self, view: StepView) -> Type:
        """The type of the step's output where it has succeeded."""
        if view not in self._steps:
            self._steps[view] = None
            self._steps[view] = self._guarded(lambda: self._output(view))
        return self._steps[view]

    def block(self, block: BlockView) -> Type:
        """The type of the block's own output."""
        if block not in self._blocks:
            self._blocks[block] = None
            self._blocks[block] = self._guarded(lambda: self._block(block))
        return self._blocks[block]

    def plan(self) -> Type:
        """The type of the plan's output."""
        views = self._views
        if views.outputs is not None:
            return self.template(views.outputs)
        if views.plan.composite:
            return self.state()
        return self.block(views.root)

    def state(self) -> Type:
        """The type of the plan's final state: every variable, though some may not be set."""
        names = self._views.root.names.variables
        parts = {name: self.variable(name) for name in sorted(names)}
        schema = object_of(parts)
        schema["required"] = [name for name in parts if name in CHAIN_VARIABLES]
        return schema

    def variable(self, name: str, *, written: bool = False, given: bool = False) -> Type:
        """The type of a variable of the state.

        `written`: a step has surely set it, so its first value is gone. `given`: it is no input that was not given.
        """
        key = f"{written}{given}:{name}"
        if key in self._busy:
            self._open += 1
            return self._busy[key]
        if key not in self._variables:
            self._variables[key] = self._guarded(lambda: self._settled(key, name, written, given))
        return self._variables[key]

    def _settled(self, key: str, name: str, written: bool, given: bool) -> Type:
        """The type of a variable that may be written with what it holds: looked for until it stays the same."""
        self._busy[key] = NEVER
        try:
            for _ in range(_MOST_ROUNDS):
                before = self._open
                found = self._variable(name, written, given)
                if self._open == before or found == self._busy[key]:
                    return found
                self._busy[key] = found
        finally:
            del self._busy[key]
        return None

    def input(self, name: str) -> Type:
        """The type of an input of the plan."""
        if name not in self._inputs:
            found = self._input(name)
            self._inputs[name] = None if found is None else self.memory.one(found)
        return self._inputs[name]

    def _input(self, name: str) -> Type:
        inputs = self._views.plan.inputs
        schema = inputs.get("properties", {}).get(name)
        if not isinstance(schema, dict):
            return None
        known = standalone(schema, inputs) if schema.keys() - {"description", "title", "default"} else None
        is_given = name in inputs.get("required", ()) or "default" in schema
        return known if is_given or known is None else or_null(known)

    def template(self, template: Template) -> Type:
        """The type of what the template gives."""
        return self.value(template, "", template.value)

    def _guarded(self, find: Callable[[], Type]) -> Type:
        if self._depth >= _DEEPEST:
            return None
        self._depth += 1
        try:
            return find()
        finally:
            self._depth -= 1

    def _output(self, view: StepView) -> Type:
        match view.step:
            case Call() if not view.step.fallback and view.tool is not None:
                return self._of_tool(view, view.tool)
            case Call():
                return either(self._of_tool(view, tool) for _, tool in called_tools(self._views.catalog, view))
            case Parallel() as parallel:
                branches = {block.name: self.block(block) for block in view.blocks}
                if parallel.wait_for == "all":
                    return object_of(branches)
                winner: JsonObject = {"type": "string", "enum": list(branches)}
                return object_of({"winner": winner, "output": either(branches.values())})
            case Loop():
                return list_of(self._item_output(view))
            case Agent() as agent:
                return output_schema(agent)
            case Ask(fields=fields):
                return object_of({field.name: of_field(field) for field in fields})
            case _:
                return None

    def _of_tool(self, view: StepView, tool: Tool) -> Type:
        schema = tool.output_schema
        held = schema is not None and (view.step.output_validation or tool.output_validation) == "strict"
        key = (tool.key, held)
        if key not in self._results:
            self._results[key] = either([self._result(tool, schema, held)])
        return self._results[key]

    def _result(self, tool: Tool, schema: Type, held: bool) -> Type:
        """The type of what the tool gives."""
        if schema is None:
            return self._body(tool) if isinstance(tool.body, Plan) else None
        if not schema:
            return None
        one = self.memory.one(schema)
        return self.memory.made(("held", id(one), held), (one,), lambda: {**one, HELD: held})

    def _item_output(self, view: StepView) -> Type:
        collect = next((template for template in view.templates if template.use == "collect"), None)
        found = self.template(collect) if collect is not None else self.block(view.blocks[0]) if view.blocks else None
        # An item that failed leaves null where the mode lets the loop go on.
        return found if self._views.plan.failure_mode == "stop" else or_null(found)

    def _block(self, block: BlockView) -> Type:
        facts = self.history.end(block) or Facts()
        if block.is_chain:
            last = [view for view in block.steps if facts.last >> view.index & 1]
            none = facts.last >> len(block.steps) & 1
            return either([*(self.output(view) for view in last), *([{"type": "null"}] if none else [])])
        if len(block.steps) == 1 and block.steps[0].step.id == block.name:
            return self._sink(block.steps[0])
        waited_for = {wait.source for wait in self._waits[block] if wait.source != wait.step}
        return object_of({v.step.id: self._sink(v) for v in block.steps if v.index not in waited_for})

    def _sink(self, view: StepView) -> Type:
        plan, found = self._views.plan, self.output(view)
        is_void = may_skip(view.step, plan.on_unresolved) or goes_on_after_failure(view.step, plan.failure_mode)
        return or_null(found) if is_void or not view.step.critical else found

    def _variable(self, name: str, written: bool, given: bool) -> Type:
        plan = self._views.plan
        if name in CHAIN_VARIABLES:
            return _TEXT
        if name in self._views.retry_counts:
            return _COUNT
        found = [find() for find in self._writers.get(name, ())]
        if not written:
            if name in plan.inputs.get("properties", {}):
                first = self.input(name)
                found.append(self.kinds.without_null(first) if given else first)
            elif name in plan.state:
                found.append(of_literal(plan.state[name]))
        return either(found)

    def reading(self, read: Read) -> Reading:
        """What is known of the value that the reference gives, where there is one."""
        return self.memory.reading(self._root(read), read.reference.path if read.kind != "run" else ())

    def _root(self, read: Read) -> Type:
        """The type of what the name stands for."""
        match read.kind:
            case "output":
                return None if read.source is None else self.output(read.source)
            case "steps":
                return _ASPECTS.get(read.reference.aspect)
            case "state" if read.key:
                _, written = self.history.written(read.key, read)
                return self.variable(read.key, written=written)
            case "inputs" if read.key:
                return self.input(read.key)
            case "item":
                return self._item(read)
            case "last":
                return self.block(read.template.block)
            case "run" | "secrets":
                return _TEXT
            case _:
                return None

    def described_by(self, read: Read) -> str:
        """Whose schema it is that tells of what is read, for messages; empty: nobody's."""
        match read.kind:
            case "output" if read.source is not None:
                return _describer(read.source)
            case "state" if read.key:
                return f"what is written to '{read.key}'"
            case "inputs" if read.key:
                return "the plan's inputs"
            case "item":
                return "the list of the loop"
            case "last":
                return "the body of the loop"
            case "steps" | "run" | "secrets":
                return "the engine"
            case _:
                return ""

    def _item(self, read: Read) -> Type:
        block = read.template.block.climb(read.up)
        owner = None if block is None else block.owner
        over = next((t for t in owner.templates if t.use == "over"), None) if owner is not None else None
        found = None if over is None else self.template(over)
        if over is not None and isinstance(over.value, list) and not has_template(over.value):
            return self.memory.one({"enum": over.value}) if over.value else None
        return self.kinds.items(found)

    def is_lone(self, read: Read) -> bool:
        """Whether the reference is all that stands in its text, so that its value goes on as it is."""
        return isinstance(read.template.tree(read.reference.pointer), Path)

    def given(self, template: Template, pointer: str, value: Json, *, drops_null: bool) -> Type:
        """The type of a part of the inputs. That a step may have been skipped is for another rule to say."""
        if not isinstance(value, str):
            return self.value(template, pointer, value)
        leaf = template.leaves.get(pointer)
        is_lone = leaf is not None and leaf.whole is not None and isinstance(leaf.whole.tree, Path)
        schema = self.judged(template, pointer).lone if is_lone else self.value(template, pointer, value)
        return self.kinds.without_null(schema) if drops_null else schema

    def argument(self, template: Template, pointer: str, value: Json, schema: JsonObject) -> Argument:
        """All that a message tells of a part of the inputs, whose type is known."""
        reads = template.reads_below(pointer)
        text, kind = "a value", ""
        if len(reads) == 1 and reads[0].reference.pointer == pointer and self.is_lone(reads[0]):
            text, kind = f"'{reads[0].text}'", reads[0].kind
        held = all(self.reading(read).held for read in reads)
        sure = schema if held else shape_of(value)
        return Argument(schema=schema, sure=sure, text=f"{text} ({type_text(schema)})", reads=kind)

    def describer(self, read: Read) -> str:
        """Who would have to say what the reference gives, e.g. `the output of 'web.search'`."""
        return self.described_by(read) or f"'{read.text}'"

    def value(self, template: Template, pointer: str, value: Json) -> Type:
        """The type of a part of a template: literals are themselves, templates what they give."""
        match value:
            case str() if "{{" in value:
                return self._text(template, pointer)
            case dict() if len(value) <= _MOST_ITEMS or has_template(value):
                parts = {
                    name: self.value(template, pointer + key_pointer(name), item)
                    if type(item) in _HOLDING
                    else self.memory.literal(item)
                    for name, item in value.items()
                }
                return self._object(parts)
            case list() if len(value) <= _MOST_ITEMS or has_template(value):
                items = [self.value(template, f"{pointer}/{index}", item) for index, item in enumerate(value)]
                return self._tuple(items) if len(items) <= _MOST_ITEMS else list_of(either(items))
            case _:
                return self.memory.literal(value)

    def _object(self, parts: dict[str, Type]) -> JsonObject:
        key = ("object", *parts, *map(id, parts.values()))
        return self.memory.made(key, parts.values(), lambda: object_of(parts))

    def _tuple(self, items: list[Type]) -> JsonObject:
        return self.memory.made(("tuple", *map(id, items)), items, lambda: tuple_of(items))

    def _text(self, template: Template, pointer: str) -> Type:
        return self.judged(template, pointer).type if pointer in template.leaves else _TEXT

    def judged(self, template: Template, pointer: str) -> Judged:
        """What is known of one string of the template."""
        leaf = template.leaves[pointer]
        if leaf in self._judged:
            return self._judged[leaf]
        if template not in self._readers:
            self._readers[template] = PlanReader(self, template)
        before = self._open
        found = judge_leaf(self._readers[template], leaf)
        if self._open == before:
            self._judged[leaf] = found
        return found


def _mapped(types: Types, view: StepView, field: str) -> Callable[[], Type]:
    """The type of a field that `map_outputs` takes out of the step's output."""

    def find() -> Type:
        place = field_of(types.output(view), field)
        return standalone(place.schema, place.root) if place.found == "found" and place.schema else None

    return find


def _transformed(types: Types, template: Template) -> Callable[[], Type]:
    return lambda: types.template(template)


def _describer(source: StepView) -> str:
    match source.step:
        case Call() if source.tool is not None:
            return f"the output of '{source.tool.key}'"
        case _:
            return f"the output of '{source.step.id}'"
