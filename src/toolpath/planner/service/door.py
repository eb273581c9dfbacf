"""Planning of a request in words: which planner, what it stands on, and what is remembered of it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Literal

import msgspec

from toolpath.access.acting import who_acts
from toolpath.catalog.embeddings import Embeddings
from toolpath.catalog.search import Hit, ToolSearch
from toolpath.catalog.snapshot import Catalog
from toolpath.catalog.vector_cache import cache_file
from toolpath.checks.check import check, has_errors
from toolpath.config import Settings
from toolpath.errors import ConfigError, PlanInvalid, StoreError
from toolpath.model.chat import ChatDelta, ChatReply, ChatRequest
from toolpath.model.plan import Plan, freeze
from toolpath.model.redaction import Redactor
from toolpath.model.tool import Tool
from toolpath.planner.by_model.streaming import PlanWritten, StepWritten
from toolpath.planner.choose import options_of
from toolpath.planner.decompose import Decomposition, read_decomposition
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.records import Ground, Planned, PlanningRecord, PlanRequest, Selection
from toolpath.planner.router.records import OnMultiple, Routed, RouteRecord, RouterOptions
from toolpath.planner.router.route import route
from toolpath.planner.service.memory import Memory
from toolpath.planner.service.report import PlanningReport, read_weights, report_of
from toolpath.planner.service.routes import Routes, filled_by_rules
from toolpath.planner.service.watched_chat import WatchedChat
from toolpath.ports import Chat, ChatObserver, Clock, Store
from toolpath.values import digest

Planner = Literal["offline", "model"]

#: How many plannings are remembered, so that what became of their plans can be learned from, and how much of each text.
REMEMBERED = 256
LONGEST_REMEMBERED = 10_000
#: Tenants of which the memory is at hand.
_MOST_TENANTS = 64


class Planning:
    """Plans requests for one Toolpath."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        *,
        load: Callable[[set[str] | None], Awaitable[Catalog]],
        store: Store,
        redactor: Redactor,
        chat: Chat | None = None,
        observer: ChatObserver | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._load = load
        self._redactor = redactor
        self._observer = observer
        self._chat = None if chat is None else self._watched(chat)
        self._own_chat: Any = None
        self._search = ToolSearch()
        self._meanings: Embeddings | None = None
        self._by_meaning: ToolSearch | None = None
        self._whole: Mapping[str, Tool] | None = None
        """The tools that the index is for."""
        self._store = store
        self.routes = Routes(store, clock, redactor)
        self._memories: dict[str, Memory] = {}
        self._weights = read_weights(settings.planner_experiment)
        self._known: dict[str, tuple[PlanRequest, Ground, Planned, str]] = {}
        self.options = options_of(settings)

    async def plan(
        self,
        request: str,
        *,
        tools: Sequence[str] | None = None,
        planner: Planner | None = None,
        decomposition: Decomposition | Mapping[str, Any] | None = None,
        tenant: str | None = None,
    ) -> Planned:
        """A checked plan and how it came about.

        `planner`: None takes the model where one is configured, else the offline planner. Raises `NoToolFits`,
        `PlanningFailed` where no plan that checks came of it, `ConfigError` where a model is wanted and there is none.
        What is remembered of requests is the tenant's own; None: of the caller's tenant.
        """
        catalog = await self.catalog()
        asked = PlanRequest(
            text=request,
            tools=tuple(tools or ()),
            decomposition=None if decomposition is None else read_decomposition(decomposition),
        )
        chat = await self._model(_planner_for(request, planner))
        if chat is not None:
            await self._know_meanings(catalog)
        ground = self._ground(catalog, chat)
        memory = await self._memory(_tenant(tenant))
        chooser = await memory.load()
        way = "rules" if (is_alone := chat is None) else "model" if planner == "model" else ""
        planned = await chooser.plan(asked, ground, way=way, cached=not is_alone)
        self._remember(asked, ground, planned, _tenant(tenant))
        if not is_alone:
            memory.changed()
            await memory.save()
        return planned

    async def stream(
        self,
        request: str,
        *,
        tools: Sequence[str] | None = None,
        planner: Planner | None = None,
        tenant: str | None = None,
    ) -> AsyncGenerator[StepWritten | PlanWritten]:
        """As `plan`, step by step while a model writes it; without one the whole plan comes at once."""
        asked = PlanRequest(text=request, tools=tuple(tools or ()))
        catalog = await self.catalog()
        chat = await self._model(_planner_for(request, planner))
        ground = self._ground(catalog, chat)
        if chat is None:
            yield PlanWritten(planned=await self.plan(request, tools=tools, planner="offline", tenant=tenant))
            return
        await self._know_meanings(catalog)
        memory = await self._memory(_tenant(tenant))
        chooser = await memory.load()
        async with aclosing(chooser.stream(asked, ground)) as parts:
            async for part in parts:
                if isinstance(part, PlanWritten):
                    self._remember(asked, ground, part.planned, _tenant(tenant))
                    memory.changed()
                yield part
        await memory.save()

    async def route(
        self,
        request: str,
        *,
        tools: Sequence[str] = (),
        planner: Planner | None = None,
        on_multiple: OnMultiple | None = None,
        tenant: str | None = None,
    ) -> Routed:
        """Which tools the request means, as a plan of their calls, with every decision and its scores."""
        catalog = await self.catalog()
        options = RouterOptions(on_multiple=on_multiple, timeout=self._settings.planner_timeout)
        chat = await self._model(planner)
        routed = await route(
            request, catalog, self._clock, chat=chat, tools=tools, options=options, fill=filled_by_rules
        )
        await self.routes.keep(routed.record, _tenant(tenant))
        return routed

    async def newest_routes(self, limit: int, *, tenant: str | None = None) -> list[RouteRecord]:
        """How the tenant's requests were routed, the newest first."""
        return await self.routes.newest(_tenant(tenant), limit)

    async def _memory(self, tenant: str) -> Memory:
        memory = self._memories.pop(tenant, None)
        if memory is None:
            strategies = {"model": _by_model, "rules": self._by_rules}
            memory = Memory(self._store, self._clock, tenant, strategies=strategies, weights=self._weights)
            while len(self._memories) >= _MOST_TENANTS:
                await self._memories.pop(next(iter(self._memories))).save(at_once=True)
        self._memories[tenant] = memory
        return memory

    async def report(self, tenant: str | None = None) -> PlanningReport:
        """What is remembered: the plan cache and its hits, lessons, and how the ways of planning did."""
        chooser = await (await self._memory(_tenant(tenant))).load()
        return report_of(chooser)

    async def catalog(self) -> Catalog:
        """Every tool, providers asked."""
        catalog = await self._load(None)
        self._whole = catalog.tools
        return catalog

    @property
    def has_model(self) -> bool:
        """Whether a model was found when something was planned last."""
        return self._chat is not None or self._own_chat is not None

    def _ground(self, catalog: Catalog, chat: Chat | None) -> Ground:
        return Ground(
            catalog=catalog,
            chat=chat or _NoChat(),
            clock=self._clock,
            rank=self._rank,
            options=self.options,
            offline=self._offline,
        )

    async def ground_for_replanning(self) -> Ground:
        """What a run is planned anew on: the model where one is configured."""
        return self._ground(await self.catalog(), await self._model(None))

    async def _by_rules(self, asked: PlanRequest, ground: Ground) -> Planned:
        return self._without_model(asked, ground.catalog)

    def _without_model(self, asked: PlanRequest, catalog: Catalog) -> Planned:
        began = self._clock.monotonic()
        started_at = self._clock.time()
        plan = self._offline(asked, catalog)
        findings = check(plan, catalog)
        if has_errors(findings) and not plan.questions:
            raise PlanInvalid(findings)
        record = PlanningRecord(
            request=asked.text,
            planner="offline",
            catalog=catalog.digest,
            selections=tuple(Selection(step=step.id, tool=getattr(step, "tool", "")) for step in plan.steps),
            reasoning=plan.reasoning,
            confidence=plan.confidence,
            started_at=started_at,
            duration=self._clock.monotonic() - began,
        )
        return Planned(plan=plan, record=record)

    def _offline(self, asked: PlanRequest, catalog: Catalog) -> Plan:
        return plan_offline(asked.text, catalog, tools=asked.tools or None, search=self._index(catalog))

    def _index(self, catalog: Catalog) -> ToolSearch:
        """The one index, brought to this catalogue; a part of a catalogue gets one of its own."""
        if catalog.tools is not self._whole:
            return ToolSearch(catalog.tools.values(), stats=catalog.stats)
        self._search.follow(catalog)
        return self._search

    def _finder(self, catalog: Catalog) -> ToolSearch:
        """What finds tools for people and models. The rules keep to words, by which they are measured."""
        if self._settings.search == "words":
            return self._index(catalog)
        if self._meanings is None:
            self._use(Embeddings(file=cache_file()))
        if self._by_meaning is None or catalog.tools is not self._whole:
            similarity = Embeddings(like=self._meanings)
            return ToolSearch(catalog.tools.values(), stats=catalog.stats, similarity=similarity)
        self._by_meaning.follow(catalog)
        return self._by_meaning

    def _use(self, meanings: Embeddings) -> None:
        self._meanings = meanings
        self._by_meaning = ToolSearch(similarity=meanings)

    async def _know_meanings(self, catalog: Catalog) -> None:
        """Load the model beside the event loop, and give few tools the time until their meanings are known."""
        if self._settings.search == "words":
            return
        if self._meanings is None:
            loaded = await asyncio.to_thread(Embeddings, file=cache_file())
            if self._meanings is None:
                self._use(loaded)
        self._finder(catalog)
        if self._meanings is not None:
            await asyncio.to_thread(self._meanings.settle_few)

    def _rank(self, catalog: Catalog, text: str, limit: int) -> Sequence[Hit]:
        return self._finder(catalog).search(text, limit)

    async def search(self, text: str, limit: int) -> list[Hit]:
        """The tools that fit a text, best first."""
        catalog = await self.catalog()
        await self._know_meanings(catalog)
        return self._finder(catalog).search(text, limit)

    async def model(self, *, opened: bool = False) -> Chat | None:
        """The model that is given or configured; None where there is none.

        `opened`: what it needs is loaded now, so that its first answer takes no longer than others. Raises
        `ConfigError` where that is not installed.
        """
        chat = await self._model(None)
        if opened and self._own_chat is not None:
            await self._own_chat.open()
        return chat

    async def _model(self, planner: Planner | None) -> Chat | None:
        if planner == "offline":
            return None
        if self._chat is not None:
            return self._chat
        if self._own_chat is None:
            from toolpath.llm.chat import ModelChat  # the providers' libraries are heavy: only who has a model pays
            from toolpath.llm.choice import choose_model

            choice = choose_model(self._settings)
            if choice is None:
                if planner == "model":
                    raise _no_model()
                return None
            self._own_chat = ModelChat(choice, clock=self._clock, redactor=self._redactor)
        return self._watched(self._own_chat)

    def _watched(self, chat: Chat) -> Chat:
        if self._observer is None:
            return chat
        # A model of the caller's own making need not say which it is.
        choice = getattr(chat, "choice", None)
        provider, model = getattr(choice, "api", ""), getattr(choice, "model", "")
        return WatchedChat(chat, self._observer, provider=provider, model=model)

    def _remember(self, asked: PlanRequest, ground: Ground, planned: Planned, tenant: str = "") -> None:
        while len(self._known) >= REMEMBERED:
            del self._known[next(iter(self._known))]
        self._known[digest(freeze(planned.plan))] = (
            msgspec.structs.replace(asked, text=asked.text[:LONGEST_REMEMBERED]),
            ground,
            msgspec.structs.replace(
                planned,
                record=msgspec.structs.replace(planned.record, request=planned.record.request[:LONGEST_REMEMBERED]),
            ),
            tenant,
        )

    def remember(self, plan: Plan, planned: Planned, tenant: str = "") -> None:
        """Have `record(plan)` say how the plan came about."""
        ground = self._ground(Catalog({}), None)
        asked = PlanRequest(text=planned.record.request)
        self._remember(asked, ground, msgspec.structs.replace(planned, plan=plan), tenant)

    def record(self, plan: Plan) -> PlanningRecord | None:
        """How a plan that was planned here came about; None for any other."""
        known = self._known.get(digest(freeze(plan)))
        return None if known is None else known[2].record

    async def learn(self, plan: Plan, *, success: bool, tenant: str = "") -> None:
        """Note whether the run of a planned plan did what was asked. `tenant`: whose run it was.

        Which way it was planned is known to the process that planned it; any other one learns which tools did what.
        """
        known = self._known.get(digest(freeze(plan)))
        # What could not be read is learned another time; the run has ended all the same.
        with contextlib.suppress(StoreError):
            memory = await self._memory(tenant if known is None else known[3])
            chooser = await memory.load()
            chooser.learn(*(await self._made_elsewhere(plan) if known is None else known[:3]), success)
            memory.changed()

    async def _made_elsewhere(self, plan: Plan) -> tuple[PlanRequest, Ground, Planned]:
        """A plan that another process made, as far as it is known here. No provider is started for it."""
        text = plan.origin.request[:LONGEST_REMEMBERED]
        record = PlanningRecord(request=text, started_at=self._clock.time())
        return PlanRequest(text=text), self._ground(await self._load(set()), None), Planned(plan=plan, record=record)

    async def close(self) -> None:
        """Write down what was learned, and let go of the model's connections."""
        for memory in self._memories.values():
            # What could not be kept is learned anew; the door closes all the same.
            with contextlib.suppress(StoreError):
                await memory.save(at_once=True)
        if self._own_chat is not None:
            await self._own_chat.close()


def _planner_for(request: str, wanted: Planner | None) -> Planner | None:
    """Who says nothing wants nothing, which rules see: a model would make something up, and be paid for it."""
    return wanted if request.strip() else "offline"


def _tenant(given: str | None) -> str:
    """Whose memory it is: as given, else of whoever calls."""
    if given is not None:
        return given
    caller = who_acts()
    return caller.tenant if caller is not None else ""


async def _by_model(asked: PlanRequest, ground: Ground) -> Planned:
    from toolpath.planner.by_model.planner import plan_with_model  # only who has a model pays for what it needs

    return await plan_with_model(asked, ground)


class _NoChat:
    """Stands where no model is configured."""

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """Nobody answers."""
        raise _no_model()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        """Nobody answers."""
        raise _no_model()
        yield  # an asynchronous generator, as the port wants it


def _no_model() -> ConfigError:
    return ConfigError(
        "No model is configured for planning.",
        hint="Set TOOL_PLANNER_LLM and the provider's key, or take the offline planner.",
    )
