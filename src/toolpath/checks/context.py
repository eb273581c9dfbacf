"""All that the rules of one check know of a plan, found once each. Pure; finds nothing wrong itself."""

from __future__ import annotations

from collections.abc import Callable, Collection

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.dependencies import waits_of
from toolpath.checks.history import History
from toolpath.checks.memory import SchemaMemory
from toolpath.checks.plan_types import PlanTypes
from toolpath.checks.remarks import Suggestions
from toolpath.checks.roots import describer
from toolpath.checks.shapes import Type
from toolpath.checks.spending import LeastSpent, Spending
from toolpath.checks.views import ReferenceUse, StepView, TemplatePlace, Views
from toolpath.errors import SchemaError
from toolpath.json_schema.validate import Validator
from toolpath.model.plan import Call, Plan
from toolpath.model.tool import Tool


class NestedPlanFacts:
    """Facts of a nested plan: the type of its output and the least that it spends."""

    __slots__ = ("least", "type")

    def __init__(self, of: Type, least: LeastSpent) -> None:
        self.type = of
        self.least = least


class Context:
    """The plan as rules see it."""

    __slots__ = (
        "catalog",
        "history",
        "least",
        "memory",
        "plan",
        "secrets",
        "suggest",
        "types",
        "unknown",
        "views",
        "waits",
    )

    def __init__(
        self,
        plan: Plan,
        catalog: Catalog,
        *,
        secrets: Collection[str] | None = None,
        body_of: Callable[[Tool], NestedPlanFacts | None] = lambda tool: None,
        memory: SchemaMemory | None = None,
    ) -> None:
        self.plan = plan
        self.catalog = catalog
        self.secrets = None if secrets is None else frozenset(secrets)
        """Names of the secrets that there are; None: not known."""
        self.suggest = Suggestions()
        self.views = Views(plan, catalog)
        self.waits = waits_of(self.views)
        """What the steps of each block wait for."""
        self.memory = memory = memory or SchemaMemory()
        self.history = History(self.views, memory)
        self.types = PlanTypes(self.views, self.waits, self.history, lambda tool: _type(body_of(tool)), memory)
        self.least = Spending(plan, self.history, lambda tool: _least(body_of(tool))).block(self.views.root)
        """The least that a run spends when all goes well."""
        self.unknown: dict[str, list[ReferenceUse]] = {}
        """Who does not say what they give → where that is read."""

    def let_go(self) -> None:
        """The check is done: forget it. Its parts know one another, and a search for garbage would find them late."""
        self.types.let_go()
        self.views.let_go()

    def note_unknown(self, template: TemplatePlace, pointer: str) -> None:
        """Remember that the types of what is read at this place are not known; one finding tells of them all."""
        for read in template.reads_below(pointer):
            self.note_unknown_read(read)

    def note_unknown_read(self, read: ReferenceUse) -> None:
        """Remember that the type of what is read is not known."""
        source = read.source
        is_undeclared = read.kind == "inputs" and read.key not in self.plan.inputs.get("properties", {})
        if is_undeclared or read.kind in ("unknown", "ambiguous") or (source is not None and _is_faulty(source)):
            # Another finding says what is wrong; that nothing is known of it then is no news.
            return
        if self.types.reading(read).place.found == "missing" and not read.reference.guarded:
            return
        self.unknown.setdefault(describer(read), []).append(read)

    def validator(self, tool: Tool) -> Validator | SchemaError:
        """The validator of literals for the tool's inputs, or the error for which its schema cannot be used."""
        return self.memory.validator(tool.input_schema, formats=tool.strict_formats)


def _is_faulty(view: StepView) -> bool:
    return isinstance(view.step, Call) and view.tool is None


def _least(body: NestedPlanFacts | None) -> LeastSpent:
    return LeastSpent() if body is None else body.least


def _type(body: NestedPlanFacts | None) -> Type:
    return None if body is None else body.type
