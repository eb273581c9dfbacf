"""Preparation of what somebody wants run: read, load its tools, check, compile, fill its inputs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from toolpath.access.acting import tenant_of
from toolpath.access.permits import permit
from toolpath.catalog.registry import Registry
from toolpath.catalog.snapshot import Catalog
from toolpath.checks.check import checked, has_errors
from toolpath.checks.check_result import Checked
from toolpath.checks.explainer import explain
from toolpath.checks.explanation import Explanation
from toolpath.checks.memory import SchemaMemory
from toolpath.checks.request.tools import acts
from toolpath.checks.start import check_intent, secrets_given
from toolpath.config import Settings
from toolpath.engine.compile.program import Program
from toolpath.engine.drive.services import Services
from toolpath.errors import Finding, OutputInvalid, PlanInvalid, PolicyViolationError, ReadError
from toolpath.json_schema.members import with_members
from toolpath.model.language_model import UNKNOWN_MODELS, KnownModels
from toolpath.model.plan import Agent, Call, Origin, Plan, every_step
from toolpath.model.policy import refusal
from toolpath.model.run import RunContext
from toolpath.model.tool import Tool
from toolpath.model_output.documents import read_document
from toolpath.notation.nodes import TooManySteps, too_many_steps
from toolpath.providers.functions import bind
from toolpath.providers.secret_values import EnvironmentSecrets
from toolpath.runs.beside_the_loop import LIGHT, BesideTheLoop, parts_of, weight_of
from toolpath.runs.opening import TenantCatalogs, call_plan, file_bytes, is_file, tools_of
from toolpath.runs.weighted_cache import WeightedCache
from toolpath.values import JsonObject, plain

#: What may be run: a plan, a tool, a tool's name, a document's path or text, or a document as a dictionary.
Runnable = Plan | Tool | str | Path | JsonObject

_NO_ORIGIN = Origin()
#: Compiled plans that are kept; a plan that is run again is neither checked nor compiled again.
KEPT = 256
#: Parts of all plans that are kept, and of one up to which it is weighed: some 50 MB.
KEPT_PARTS = 200_000


class _Prepared(NamedTuple):
    """A plan that was compiled, and what holds as long as the program does."""

    plan: Plan
    tools: Mapping[str, Tool]
    """Those of the catalogue: another one has others."""
    models: KnownModels
    program: Program
    findings: tuple[Finding, ...]
    names: set[str]
    """Of the tools that it calls."""


class _Reviewed(NamedTuple):
    """A plan that was reviewed, and what holds as long as the review does."""

    plan: Plan
    tools: Mapping[str, Tool]
    models: KnownModels
    found: tuple[tuple[Finding, ...], Explanation]
    names: set[str]


class Preparation:
    """Prepares runs for one Toolpath."""

    def __init__(
        self,
        registry: Registry,
        services: Services,
        catalogs: TenantCatalogs,
        *,
        catch_up: Callable[[], Awaitable[None]],
    ) -> None:
        self._registry = registry
        self._services = services
        self._secrets = services.secrets
        self._redactor = services.redactor
        self._load = catalogs.load
        self._known = catalogs.known
        self._catch_up = catch_up
        """Hears of what was configured anew."""
        self.aside = BesideTheLoop()
        """Does what is large beside the event loop."""
        self._memory = SchemaMemory()
        """What the checks so far found of schemas: most plans call the same few tools."""
        self._programs: WeightedCache[int, _Prepared] = _kept()
        self._reviews: WeightedCache[int, _Reviewed] = _kept()

    @property
    def _settings(self) -> Settings:
        """Those in force now."""
        return self._services.settings

    async def catch_up(self) -> None:
        """Hear of what was configured anew, here or elsewhere. Raises `StoreError`."""
        await self._catch_up()

    async def _models(self, tenant: str | None) -> KnownModels:
        """The models that plans of the tenant may name; None: the acting caller's."""
        known = self._services.models
        return UNKNOWN_MODELS if known is None else await known(tenant_of(tenant))

    def document(self, source: Runnable) -> Plan | Tool:
        """The plan or tool that is written there. Raises `ReadError`, and `PlanInvalid` where it has too many steps."""
        try:
            return self._document(source)
        except TooManySteps as error:
            raise PlanInvalid(error.findings) from None

    def _document(self, source: Runnable) -> Plan | Tool:
        most = self.most_steps
        match source:
            case Plan():
                return _whole(source)
            case Tool():
                return source
            case dict():
                return read_document(source, most_steps=most)
            case Path():
                return read_document(file_bytes(source), file=str(source), most_steps=most)
            case str():
                if "\n" not in source and len(source) < 4096 and not source.lstrip().startswith(("{", "[")):
                    return read_document(file_bytes(Path(source)), file=source, most_steps=most)
                return read_document(source, most_steps=most)
            case _:
                raise ReadError(
                    f"{source!r:.80} is no plan.",
                    hint="Give a plan's path, text or dictionary, a Plan, a Tool, or a tool's name.",
                )

    def plan(self, source: Runnable) -> Plan:
        """The plan that is written there. Raises `ReadError` where there is none."""
        document = self.document(source)
        if isinstance(document, Plan):
            return document
        if isinstance(document.body, Plan):
            return document.body
        raise ReadError(f"{document.key} is a tool without a plan of its own.", hint="Run it by its name.")

    @property
    def most_steps(self) -> int:
        """How many steps a plan may have."""
        return self._settings.max_plan_steps

    def bound(self, plan: Plan) -> None:
        """Raise `PlanInvalid` for a plan that is larger than the settings allow: nothing else of it is looked at."""
        most = self.most_steps
        if sum(1 for _ in islice(every_step(plan.block), most + 1)) > most:
            raise PlanInvalid(too_many_steps(most).findings)

    def checked(self, plan: Plan, catalog: Catalog) -> tuple[Finding, ...]:
        """Everything that is wrong with the plan."""
        return self._checked(plan, catalog).findings

    def _checked(self, plan: Plan, catalog: Catalog) -> Checked:
        known = list(self._secrets) if not isinstance(self._secrets, EnvironmentSecrets) else None
        memory = self._memory
        try:
            return checked(plan, catalog, secrets=known, memory=memory)
        finally:
            if memory.is_full and memory is self._memory:
                self._memory = SchemaMemory()

    async def read(self, source: Runnable) -> Plan | Tool:
        """As `document`, without holding the event loop up over what is large."""
        if isinstance(source, Plan | Tool):
            return source
        return await self.aside.do(lambda: self.document(source), weight_of([source]))

    async def reviewed(self, plan: Plan) -> tuple[tuple[Finding, ...], Explanation]:
        """Everything that is wrong with the plan, and what it will do; its tools are loaded first."""
        await self._catch_up()
        models = await self._models(None)
        known = self._reviews.get(id(plan))
        if (
            known is not None
            and known.plan is plan
            and known.models is models
            and (await self._load(known.names)).tools is known.tools
        ):
            return known.found
        self.bound(plan)
        names = await self.tools_of(plan)
        catalog = (await self._load(names)).with_models(models)
        weight = self._weight(plan, catalog)
        found, parts = await self.aside.do(
            lambda: ((self.checked(plan, catalog), explain(plan, catalog)), parts_of(plan)), weight
        )
        self._reviews.put(id(plan), _Reviewed(plan, catalog.tools, models, found, names), parts)
        return found

    async def tools_of(self, plan: Plan) -> set[str]:
        """As `opening.tools_of`, without holding the event loop up over what is large."""
        steps = sum(1 for _ in islice(every_step(plan.block), LIGHT + 1))
        return await self.aside.do(lambda: tools_of(plan), steps)

    async def catalog_with(self, names: set[str], tenant: str) -> Catalog:
        """The tenant's catalogue once these tools are loaded, where there are such."""
        return await self._load(names, tenant)

    @property
    def house_groups(self) -> Collection[str]:
        """The groups of tools that providers of the house have for themselves."""
        return self._registry.groups

    async def program(self, plan: Plan, tenant: str | None = None) -> tuple[Program, tuple[Finding, ...]]:
        """The plan compiled, and what the check found. Raises `PlanInvalid` where there are errors.

        Its tools and models are the tenant's; None: the acting caller's.
        """
        await self._catch_up()
        models = await self._models(tenant)
        cached = self._programs.get(id(plan))
        is_same = cached is not None and cached.models is models and cached.program.settings is self._settings
        # A provider may have said, or another process of the store, that what it calls is another tool now.
        if (
            cached is not None
            and cached.plan is plan
            and is_same
            and (await self._load(cached.names, tenant)).tools is cached.tools
        ):
            return cached.program, cached.findings
        self.bound(plan)
        names = await self.tools_of(plan)
        catalog = (await self._load(names, tenant)).with_models(models)
        program, findings, parts = await self.aside.do(lambda: self._made(plan, catalog), self._weight(plan, catalog))
        if program is None:
            # Why a server's tools are not there is known to the registry alone.
            raise PlanInvalid((*findings, *self._registry.findings()))
        names = names | set(program.used)
        self._programs.put(id(plan), _Prepared(plan, catalog.tools, models, program, findings, names), parts)
        return program, findings

    def _weight(self, plan: Plan, catalog: Catalog) -> int:
        """How much there is to check: the plan, and the tools and plans that it calls."""
        # A plan that was read is no larger than any document: its text is written faster than its parts are counted.
        weight = LIGHT + 1 if len(plan.steps) > LIGHT else parts_of(plan)
        if weight > LIGHT:
            return weight
        tools = [tool for name in tools_of(plan) if (tool := catalog.get(name)) is not None]
        bodies = [tool.body for tool in tools if isinstance(tool.body, Plan)]
        schemas = [schema for tool in tools for schema in (tool.input_schema, tool.output_schema)]
        new = [schema for schema in schemas if schema and not self._memory.knows(schema)]
        # Most of a schema is not looked at.
        return weight + weight_of(bodies) + weight_of([*new, plan.inputs], 4 * LIGHT) // 4

    def _made(self, plan: Plan, catalog: Catalog) -> tuple[Program | None, tuple[Finding, ...], int]:
        memory = self._memory
        found = self._checked(plan, catalog)
        if has_errors(found.findings):
            return None, found.findings, 0
        program = Program(plan, catalog, self._settings, memory=memory, checked=found)
        program.prepare()
        return program, found.findings, parts_of(plan)

    def open_points(self, plan: Plan, tenant: str | None = None) -> tuple[Finding, ...]:
        """Why a plan that was made of words is not run yet; its tools have to be loaded. One that only reads may be
        half as sure. Tenant: as for `program`."""
        catalog = self._known(tenant)
        is_acting = any(
            isinstance(step, Agent) or (isinstance(step, Call) and acts(catalog.get(step.tool)))
            for _, step in every_step(plan.block)
        )
        return check_intent(plan, self._settings.planner_floor / (1 if is_acting else 2))

    async def runnable(self, plan: Plan, tenant: str | None = None) -> Program:
        """The plan compiled, where it may be run. Raises `PlanInvalid`."""
        program, _ = await self.program(plan, tenant)
        faults = self.open_points(plan, tenant) if plan.origin != _NO_ORIGIN else ()
        if faults:
            raise PlanInvalid(faults)
        return program

    async def ready(self, what: Runnable, inputs: JsonObject, context: RunContext | None) -> tuple[Program, JsonObject]:
        """The program to run and its inputs, filled in. Raises `PlanInvalid`, `ReadError`, `PolicyViolationError`."""
        inputs = _own(inputs)
        plan = await self._runnable(what, inputs, context)
        program = await self.runnable(plan, None if context is None else context.tenant)
        permit(plan, program.secrets, context or RunContext())
        self._redactor.add([self._secrets[name] for name in program.secrets if name in self._secrets])
        looked_through = bool(plan.inputs) or self._redactor.active
        weight = weight_of([inputs]) + weight_of([plan.inputs]) if looked_through else 0
        return program, await self.aside.do(lambda: self._filled(program, inputs), weight)

    def _filled(self, program: Program, inputs: JsonObject) -> JsonObject:
        """The inputs with what is not given. Raises `PlanInvalid` where they do not fit."""
        faults = secrets_given(inputs, self._redactor) or program.declared.faults(inputs)
        if faults:
            raise PlanInvalid(faults)
        return program.declared.filled(inputs)

    async def _runnable(self, what: Runnable, inputs: JsonObject, context: RunContext | None) -> Plan:
        if isinstance(what, Plan):
            return _whole(what)
        if isinstance(what, str) and "\n" not in what and not what.lstrip().startswith("{"):
            catalog = await self._load({what}, None if context is None else context.tenant)
            if what in catalog or not is_file(what):
                return call_plan(catalog.find(what).key, inputs)
        document = await self.read(what)
        if isinstance(document, Plan):
            return document
        refused = refusal(document, context or RunContext())
        if refused is not None:
            raise PolicyViolationError(refused.message, missing=refused.details or (), hint=refused.hint)
        if isinstance(document.body, Plan):
            return document.body
        self._registry.add(bind(document))
        return call_plan(document.key, inputs)


def _whole(plan: Plan) -> Plan:
    """The plan made in Python with its inputs as a reader of documents gives them."""
    inputs = with_members(plan.inputs)
    return plan if inputs is plan.inputs else msgspec.structs.replace(plan, inputs=inputs)


def _kept() -> WeightedCache[int, Any]:
    return WeightedCache(number=KEPT, weight=KEPT_PARTS)


def _own(inputs: JsonObject) -> JsonObject:
    """The inputs as plain JSON of the run's own. Raises `PlanInvalid` for what is none."""
    try:
        value = plain(inputs)[0]
    except OutputInvalid as error:
        message = f"The inputs are no JSON: {error.message}"
        fault = Finding(code="wrong_input", severity="error", message=message, path="/inputs", hint=error.hint)
        raise PlanInvalid((fault,)) from None
    return value if isinstance(value, dict) else inputs
