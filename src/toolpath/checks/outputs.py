"""Types of what the steps and blocks of a plan give, before it runs. Pure.

A type here is a JSON Schema that stands for itself, or None where nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.dependencies import StepWait
from toolpath.checks.history import BlockFacts
from toolpath.checks.jumps import goes_on_after_failure, may_skip
from toolpath.checks.memory import SchemaMemory
from toolpath.checks.shapes import HELD, Type, either, list_of, object_of, of_field, or_null
from toolpath.checks.type_source import Depth, TypeSource
from toolpath.checks.views import BlockView, StepView, Views, called_tools
from toolpath.model.agent import output_schema
from toolpath.model.plan import Agent, Ask, Call, Loop, Parallel, Plan
from toolpath.model.tool import Tool
from toolpath.values import JsonObject


class Outputs:
    """The types of what one plan's steps and blocks give, each found once."""

    __slots__ = ("_blocks", "_depth", "_plan", "_steps", "_tools", "_waits")

    def __init__(self, views: Views, waits: dict[BlockView, list[StepWait]], tools: ToolOutputs, depth: Depth) -> None:
        self._plan = views.plan
        self._waits = waits
        self._tools = tools
        self._depth = depth
        self._steps: dict[StepView, Type] = {}
        self._blocks: dict[BlockView, Type] = {}

    def step(self, types: TypeSource, view: StepView) -> Type:
        """The type of the step's output where it has succeeded."""
        if view not in self._steps:
            self._steps[view] = None
            self._steps[view] = self._depth.find(lambda: self._step(types, view))
        return self._steps[view]

    def block(self, types: TypeSource, block: BlockView) -> Type:
        """The type of the block's own output."""
        if block not in self._blocks:
            self._blocks[block] = None
            self._blocks[block] = self._depth.find(lambda: self._block(types, block))
        return self._blocks[block]

    def _step(self, types: TypeSource, view: StepView) -> Type:
        match view.step:
            case Call():
                return self._tools.of_call(view)
            case Parallel() as parallel:
                branches = {block.name: types.block(block) for block in view.blocks}
                if parallel.wait_for == "all":
                    return object_of(branches)
                winner: JsonObject = {"type": "string", "enum": list(branches)}
                return object_of({"winner": winner, "output": either(branches.values())})
            case Loop():
                return list_of(self._item_output(types, view))
            case Agent() as agent:
                return (
                    either([output_schema(agent), self._tools.of_call(view)])
                    if agent.fallback
                    else output_schema(agent)
                )
            case Ask(fields=fields):
                return object_of({field.name: of_field(field) for field in fields})
            case _:
                return None

    def _item_output(self, types: TypeSource, view: StepView) -> Type:
        collect = next((template for template in view.templates if template.use == "collect"), None)
        found = types.template(collect) if collect is not None else types.block(view.blocks[0]) if view.blocks else None
        # An item that failed leaves null where the mode lets the loop go on.
        return found if self._plan.failure_mode == "stop" else or_null(found)

    def _block(self, types: TypeSource, block: BlockView) -> Type:
        facts = types.history.end(block) or BlockFacts()
        if block.is_chain:
            last = [view for view in block.steps if facts.last >> view.index & 1]
            none = facts.last >> len(block.steps) & 1
            return either([*(types.output(view) for view in last), *([{"type": "null"}] if none else [])])
        if len(block.steps) == 1 and block.steps[0].step.id == block.name:
            return self._sink(types, block.steps[0])
        waited_for = {wait.source for wait in self._waits[block] if wait.source != wait.step}
        return object_of({v.step.id: self._sink(types, v) for v in block.steps if v.index not in waited_for})

    def _sink(self, types: TypeSource, view: StepView) -> Type:
        plan, found = self._plan, types.output(view)
        is_void = may_skip(view.step, plan.on_unresolved) or goes_on_after_failure(view.step, plan.failure_mode)
        return or_null(found) if is_void or not view.step.critical else found


class ToolOutputs:
    """The types of what tools give, each found once. `type_of_body`: that of a tool which is a plan."""

    __slots__ = ("_catalog", "_known", "_memory", "_type_of_body")

    def __init__(self, catalog: Catalog, memory: SchemaMemory, type_of_body: Callable[[Tool], Type]) -> None:
        self._catalog = catalog
        self._memory = memory
        self._type_of_body = type_of_body
        self._known: dict[tuple[str, bool], Type] = {}

    def of_call(self, view: StepView) -> Type:
        """The type of what the tool of a call gives, or one of its fallbacks."""
        if isinstance(view.step, Call) and not view.step.fallback and view.tool is not None:
            return self._of(view, view.tool)
        return either(self._of(view, tool) for _, tool in called_tools(self._catalog, view))

    def _of(self, view: StepView, tool: Tool) -> Type:
        schema = tool.output_schema
        held = schema is not None and (view.step.output_validation or tool.output_validation) == "strict"
        key = (tool.key, held)
        if key not in self._known:
            self._known[key] = self._found(tool, schema, held)
        return self._known[key]

    def _found(self, tool: Tool, schema: Type, held: bool) -> Type:
        if schema is None:
            return either([self._type_of_body(tool)]) if isinstance(tool.body, Plan) else None
        if not schema:
            return None
        one, results = self._memory.one(schema), self._memory.results
        mark = (id(one), held)
        if mark not in results:
            results[mark] = either([self._memory.made(("held", *mark), (one,), lambda: {**one, HELD: held})])
        return results[mark]
