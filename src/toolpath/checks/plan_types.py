"""Types of the values in a plan before it runs: outputs of steps and blocks, variables, inputs, items. Pure.

`PlanTypes` is what the parts ask one another through: `outputs.py` knows steps and blocks, `variables.py` variables and
inputs, `roots.py` what names stand for, `template_types.py` templates, `judged.py` single expressions.
"""

from __future__ import annotations

from collections.abc import Callable

from toolpath.checks.dependencies import StepWait
from toolpath.checks.history import History
from toolpath.checks.judge import Judged
from toolpath.checks.judged_templates import PlanReader, judge_leaf
from toolpath.checks.kinds import Kinds
from toolpath.checks.memory import SchemaMemory
from toolpath.checks.outputs import Outputs, ToolOutputs
from toolpath.checks.readings import Reading
from toolpath.checks.roots import root_type
from toolpath.checks.shapes import Type
from toolpath.checks.template_types import type_of_part
from toolpath.checks.type_source import Depth
from toolpath.checks.variables import VariableTypes
from toolpath.checks.views import BlockView, ReferenceUse, StepView, TemplatePlace, Views
from toolpath.expressions.leaf import Leaf
from toolpath.model.tool import Tool


class PlanTypes:
    """The types of one plan, each found once."""

    __slots__ = ("_judged", "_outputs", "_readers", "_variables", "_views", "history", "kinds", "memory", "plan_mode")

    def __init__(
        self,
        views: Views,
        waits: dict[BlockView, list[StepWait]],
        history: History,
        type_of_body: Callable[[Tool], Type],
        memory: SchemaMemory,
    ) -> None:
        depth = Depth()
        self.history = history
        self.memory = memory
        self.kinds = Kinds(memory)
        self.plan_mode = views.plan.on_unresolved
        self._views = views
        self._outputs = Outputs(views, waits, ToolOutputs(views.catalog, memory, type_of_body), depth)
        self._variables = VariableTypes(views, memory, depth)
        self._judged: dict[Leaf, Judged] = {}
        self._readers: dict[TemplatePlace, PlanReader] = {}

    def let_go(self) -> None:
        """Forget those who ask it in turn."""
        self._readers.clear()

    def plan(self) -> Type:
        """The type of the plan's output."""
        views = self._views
        if views.outputs is not None:
            return self.template(views.outputs)
        if views.plan.composite:
            return self._variables.state(self)
        return self.block(views.root)

    def output(self, view: StepView) -> Type:
        """The type of the step's output where it has succeeded."""
        return self._outputs.step(self, view)

    def block(self, block: BlockView) -> Type:
        """The type of the block's own output."""
        return self._outputs.block(self, block)

    def variable(self, name: str, *, written: bool = False, given: bool = False) -> Type:
        """The type of a variable of the state.

        `written`: a step has surely set it, so its first value is gone. `given`: it is no input that was not given.
        """
        return self._variables.variable(self, name, written=written, given=given)

    def input(self, name: str) -> Type:
        """The type of an input of the plan."""
        return self._variables.input(name)

    def template(self, template: TemplatePlace) -> Type:
        """The type of what the template gives."""
        return type_of_part(self, template, "", template.value)

    def reading(self, read: ReferenceUse) -> Reading:
        """The reading of the value that the reference gives, where there is one."""
        return self.memory.reading(root_type(self, read), read.reference.path if read.kind != "run" else ())

    def judged(self, template: TemplatePlace, pointer: str) -> Judged:
        """The judgement on one string of the template."""
        leaf = template.leaves[pointer]
        found = self._judged.get(leaf)
        if found is not None:
            return found
        reader = self._readers.get(template)
        if reader is None:
            reader = self._readers[template] = PlanReader(self, template)
        before = self._variables.unsettled_reads
        found = judge_leaf(reader, leaf)
        if self._variables.unsettled_reads == before:
            self._judged[leaf] = found
        return found
