"""Source of the types of one plan's values, as the parts that find them ask one another. Protocol and depth only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from toolpath.checks.history import History
from toolpath.checks.judge import Judged
from toolpath.checks.kinds import Kinds
from toolpath.checks.memory import SchemaMemory
from toolpath.checks.readings import Reading
from toolpath.checks.shapes import Type
from toolpath.checks.views import BlockView, ReferenceUse, StepView, TemplatePlace
from toolpath.model.plan import OnUnresolved

#: Types that are found by way of others, one inside the other, at most.
_DEEPEST = 40


class TypeSource(Protocol):
    """Types of one plan. The type of one value depends on those of others, which are asked for here."""

    history: History
    kinds: Kinds
    memory: SchemaMemory
    plan_mode: OnUnresolved

    def output(self, view: StepView) -> Type:
        """The type of the step's output where it has succeeded."""

    def block(self, block: BlockView) -> Type:
        """The type of the block's own output."""

    def variable(self, name: str, *, written: bool = False, given: bool = False) -> Type:
        """The type of a variable of the state."""

    def input(self, name: str) -> Type:
        """The type of an input of the plan."""

    def template(self, template: TemplatePlace) -> Type:
        """The type of what the template gives."""

    def judged(self, template: TemplatePlace, pointer: str) -> Judged:
        """The judgement on one string of the template."""

    def reading(self, read: ReferenceUse) -> Reading:
        """The reading of the value that the reference gives, where there is one."""


class Depth:
    """Depth of the search: types that are being found one inside the other. What lies deeper stays unknown."""

    __slots__ = ("_open",)

    def __init__(self) -> None:
        self._open = 0

    def find(self, find: Callable[[], Type]) -> Type:
        """The type of what `find` finds, or None where it lies too deep."""
        if self._open >= _DEEPEST:
            return None
        self._open += 1
        try:
            return find()
        finally:
            self._open -= 1
