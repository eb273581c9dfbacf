"""The program of a run as its journal froze it: the tools it began with, and each plan that took its place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.config import Settings
from toolpath.engine.compile.program import Program
from toolpath.errors import RunConflict, ToolpathError
from toolpath.model.events import AnyEvent, PlanRevised, RunStarted, ToolsFrozen
from toolpath.model.language_model import MARK, KnownModels
from toolpath.model.plan import thaw
from toolpath.model.policy import requirement_of
from toolpath.model.tool import Body, Requires, Tool
from toolpath.runs.beside_the_loop import BesideTheLoop, weight_of
from toolpath.runs.opening import Load
from toolpath.values import Json, JsonObject


class FrozenBodies:
    """A catalogue in which the bodies that a run was started with take the place of today's."""

    def __init__(self, catalog: Catalog, bodies: dict[str, JsonObject], *, to_end: bool) -> None:
        self._catalog = catalog
        self._bodies = {key: thaw(body) for key, body in bodies.items()}
        self._to_end = to_end

    def find(self, name: str) -> Tool:
        """The tool of that key, alias or unambiguous name."""
        body = self._bodies.get(name)
        if body is None:
            return self._found(name)
        known = self._catalog.get(name)
        if known is not None:
            return msgspec.structs.replace(known, body=body)
        group, _, bare = name.rpartition(".")
        requires = requirement_of(body) or Requires(auth=True, permissions=("*",))
        said: Any = {"description": body.description, "input_schema": body.inputs, "requires": requires}
        return Tool(name=bare, group=group, body=body, **said)

    def selectable(self) -> list[Tool]:
        """Every tool that an agent may be given today: agents of a journal name theirs."""
        return self._catalog.selectable()

    @property
    def models(self) -> KnownModels:
        """The models of today: steps of a journal name theirs."""
        return msgspec.structs.replace(self._catalog.models, default="")

    def _found(self, name: str) -> Tool:
        try:
            return self._catalog.find(name)
        except ToolpathError as error:
            if not self._to_end:
                raise
            return _gone(name, error)


def _gone(name: str, error: ToolpathError) -> Tool:
    """The stand-in of a tool that is not there any more, in a run that is only taken up to be ended."""

    def invoke(inputs: JsonObject, context: object) -> Json:
        raise error

    group, _, bare = name.rpartition(".")
    return Tool(name=bare, group=group, input_schema={"type": "object"}, body=Body(invoke=invoke))


class Frozen(msgspec.Struct, frozen=True):
    """Program as a journal froze it: the plans, and the tools called beside them."""

    stages: tuple[RunStarted | PlanRevised, ...]
    called: tuple[ToolsFrozen, ...]
    """Of tools that were called beside the plan."""

    @property
    def tools(self) -> set[str]:
        """The keys of all tools."""
        keys = (key for stage in (*self.stages, *self.called) for key in stage.tools)
        return {key for key in keys if not key.startswith(MARK)}

    @property
    def tenant(self) -> str:
        """The tenant whose run it is."""
        first = self.stages[0]
        return str(first.context.get("tenant", "")) if isinstance(first, RunStarted) else ""

    @property
    def weight(self) -> int:
        """How much there is to compile."""
        return weight_of(
            [[stage.plan for stage in self.stages], [said.bodies for said in (*self.stages, *self.called)]]
        )


def frozen(events: Sequence[AnyEvent]) -> Frozen:
    """The program that the journal holds. Raises `RunConflict` for the journal of a run that was never begun."""
    started = events[0] if events else None
    if not isinstance(started, RunStarted):
        raise RunConflict("The run was stored, but never begun.", hint="Start it anew.")
    revised = (event for event in events if isinstance(event, PlanRevised))
    return Frozen((started, *revised), tuple(event for event in events if isinstance(event, ToolsFrozen)))


def frozen_program(said: Frozen, catalog: Catalog, settings: Settings, *, to_end: bool = False) -> Program:
    """The program that a journal was written by, followed by those that took its place."""
    started, called = said.stages[0], said.called
    settings = _began_with(settings, started)
    bodies = {**started.bodies, **{key: body for event in called for key, body in event.bodies.items()}}
    programs = [
        Program(thaw(stage.plan), FrozenBodies(catalog, {**bodies, **stage.bodies}, to_end=to_end), settings)
        for stage in said.stages
    ]
    # A fork begins with what tools called beside the plan in the run that it comes of.
    beside = [key for key in started.tools if key not in programs[0].used]
    keys = [key for key in (*beside, *(key for event in called for key in event.tools)) if not key.startswith(MARK)]
    for program in programs:
        for key in keys:
            program.dynamic(key)
    for program in programs[1:]:
        programs[0].revise(program)
    return programs[0]


def _began_with(settings: Settings, started: RunStarted | PlanRevised) -> Settings:
    """The settings of this process, with those in their place that were stored when the run began."""
    if not isinstance(started, RunStarted) or not started.settings:
        return settings
    known = {name: value for name, value in started.settings.items() if name in Settings.__struct_fields__}
    return msgspec.structs.replace(settings, **known)


class ReplayPrograms:
    """Programs of journals, with the tools of today under what was frozen."""

    def __init__(
        self,
        load: Load,
        settings: Settings,
        aside: BesideTheLoop,
        models: Callable[[str], Awaitable[KnownModels]] | None = None,
    ) -> None:
        self._load = load
        self._models = models
        """The models that a tenant's plans may name; None: not known."""
        self._settings = settings
        self._aside = aside

    async def of(self, events: Sequence[AnyEvent], *, to_end: bool = False) -> Program:
        """The program that a journal was written by, followed by those that took its place.

        Raises `RunConflict` for the journal of a run that was never begun.
        """
        said = frozen(events)
        catalog = await self._load(said.tools, said.tenant)
        if self._models is not None:
            catalog = catalog.with_models(await self._models(said.tenant))
        return await self._aside.do(lambda: frozen_program(said, catalog, self._settings, to_end=to_end), said.weight)
