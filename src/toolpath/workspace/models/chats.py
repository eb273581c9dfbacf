"""Chats behind the names of models: the program's own, those that are stored, and those of the settings.

A name that is none of them is told as that: no other model's key and address stand in for it.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING

import msgspec

from toolpath.config import Settings
from toolpath.errors import ChatFailed, ConfigError, ToolpathError, closest
from toolpath.llm.choice import ModelChoice, api_at, choose_model, provider_of
from toolpath.model.chat import ChatDelta, ChatReply, ChatRequest
from toolpath.model.language_model import KnownModels
from toolpath.model.model_providers import MODEL_PROVIDERS
from toolpath.model.redaction import Redactor
from toolpath.ports import Chat, ChatObserver, Clock
from toolpath.providers.builtin.reach import Reach
from toolpath.values import digest
from toolpath.workspace.models.model_records import KeptModel, ModelRecords, ModelSecrets, print_of

if TYPE_CHECKING:
    from toolpath.llm.chat import ModelChat

#: Names that one tenant is told of, and tenants whose names are at hand.
_MOST_TENANTS = 1_000
#: Chats that stay open while nobody asks them: any name of a provider's may be asked for, and each has its own.
_MOST_IDLE = 64


class _Opened:
    """A chat that is open, and how many requests it has under way."""

    def __init__(self, model: ModelChat, chat: Chat) -> None:
        self.model = model
        self.chat = chat
        self.users = 0
        self.is_over = False


class _Own(msgspec.Struct, frozen=True):
    """Models that a tenant, or the house, has stored."""

    by_name: dict[str, KeptModel]
    default: str = ""


class ModelChats:
    """The chats of one Toolpath. `given`: the program's own, which answers to whatever is stored under no name."""

    def __init__(
        self,
        records: ModelRecords,
        clock: Clock,
        *,
        settings: Callable[[], Settings],
        redactor: Redactor,
        given: Chat | None = None,
        observer: ChatObserver | None = None,
    ) -> None:
        self._records = records
        self._clock = clock
        self._settings = settings
        self._redactor = redactor
        self._observer = observer
        self._given = None if given is None else self._watched(given)
        self._opened: dict[str, _Opened] = {}
        self._stored: dict[str, _Own] = {}
        self._known: dict[str, KnownModels] = {}
        self._generation = 0
        """How often all was forgotten: what was read before is not kept after it."""

    # Names.

    async def known(self, tenant: str) -> KnownModels:
        """The names that the tenant's plans may use. Raises `StoreError`."""
        if tenant and not (await self._of(tenant)).by_name and not (await self._of(tenant)).default:
            # Most tenants have none of their own: what is checked and compiled with these names serves them all.
            tenant = ""
        found = self._known.get(tenant)
        if found is None:
            generation = self._generation
            found = await self._found(tenant)
            if generation == self._generation:
                self._known[tenant] = found
        return found

    async def _found(self, tenant: str) -> KnownModels:
        settings = self._settings()
        house, own = await self._of(""), await self._of(tenant)
        loose = {"temperature": settings.planner_temperature}
        kept = {**house.by_name, **own.by_name}
        prints = {name: print_of(each.model, loose) for name, each in kept.items()}
        providers = {
            name: digest([name, choice.base_url, loose])
            for name in MODEL_PROVIDERS
            if (choice := self._of_provider(name))
        }
        choice = self._of_settings()
        default = ""
        if self._given is None:
            named = settings.planner_model.strip()
            if choice is not None and not (not settings.planner_llm and named in prints):
                default = f"{provider_of(settings)}:{choice.model}"
                prints.setdefault(choice.model, f"{providers.get(provider_of(settings), '')}:{choice.model}")
            elif named in prints:
                default = named
            else:
                default = own.default or house.default
        return KnownModels(default=default, prints=prints, providers=providers, takes_any=self._given is not None)

    async def _of(self, tenant: str) -> _Own:
        """The models that this tenant alone has stored."""
        found = self._stored.get(tenant)
        if found is None:
            generation = self._generation
            kept = {each.model.name: each for each in await self._records.of_tenant(tenant)}
            default = next((name for name, each in kept.items() if each.model.is_default), "")
            found = _Own(kept, default)
            if generation != self._generation:
                return found
            if len(self._stored) >= _MOST_TENANTS:
                self._stored.clear()
                self._known.clear()
            self._stored[tenant] = found
        return found

    def _of_settings(self, settings: Settings | None = None) -> ModelChoice | None:
        """The choice that the settings make; None where they make none that can be used."""
        with contextlib.suppress(ConfigError):
            return choose_model(settings or self._settings())
        return None

    def _of_provider(self, provider: str, model: str = "any") -> ModelChoice | None:
        settings = msgspec.structs.replace(self._settings(), planner_llm=provider, planner_model=model)
        choice = self._of_settings(settings)
        # A server of one's own is there only where somebody has said so.
        is_named = provider != "ollama" or self._settings().planner_llm == "ollama"
        return choice if is_named else None

    # Chats.

    async def chat(self, tenant: str) -> Chat | None:
        """The chat of the tenant's requests; None where there is no model. Raises `ConfigError`, `StoreError`."""
        if self._given is None and self._settings().planner_llm:
            # What is wrong with the settings is said to who needs a model.
            choose_model(self._settings())
        known = await self.known(tenant)
        if known.default or known.prints or known.takes_any:
            return TenantChat(self, tenant)
        return None

    async def load(self) -> None:
        """Have the default's library loaded, so that its first answer takes no longer than others."""
        known = await self.known("")
        if self._given is None and known.default:
            async with self._use(await self._choice("", known.default)) as opened:
                await opened.model.open()

    @asynccontextmanager
    async def asking(self, tenant: str, request: ChatRequest) -> AsyncIterator[tuple[Chat, ChatRequest]]:
        """The chat that the request's model is, and the request as it goes there. Raises `ChatFailed`."""
        known = await self.known(tenant)
        name = known.settled(request.model)
        if self._given is not None and name not in known.prints:
            yield self._given, request
            return
        choice = await self._choice(tenant, name)
        async with self._use(choice) as opened:
            yield opened.chat, msgspec.structs.replace(request, model="")

    async def _choice(self, tenant: str, name: str) -> ModelChoice:
        """How the model of this name is asked. Raises `ChatFailed` where there is none."""
        own = (await self._of(tenant)).by_name.get(name) or (await self._of("")).by_name.get(name)
        if own is not None:
            return choice_of(own, self._records.secrets(own), self._settings())
        provider, _, model = name.partition(":")
        choice = self._of_provider(provider, model) if model and provider in MODEL_PROVIDERS else None
        if choice is None:
            chosen = choose_model(self._settings())
            choice = chosen if chosen is not None and name in ("", chosen.model) else None
        if choice is None:
            raise await self._unknown(tenant, name)
        return choice

    async def _unknown(self, tenant: str, name: str) -> ChatFailed:
        known = await self.known(tenant)
        if not name:
            hint = "Add one with `toolpath models add`, or set TOOL_PLANNER_LLM and the provider's key."
            return ChatFailed("No model is configured.", kind="rejected", hint=hint)
        near = ", ".join(map(repr, closest(name, known.prints)))
        hint = f"Did you mean {near}?" if near else "`toolpath models list` shows those there are."
        return ChatFailed(f"There is no model {name[:200]!r}.", kind="rejected", hint=hint)

    @asynccontextmanager
    async def _use(self, choice: ModelChoice) -> AsyncIterator[_Opened]:
        mark = digest(msgspec.to_builtins(choice))
        # The last that was asked stands last.
        opened = self._opened.pop(mark) if mark in self._opened else self._open(choice)
        self._opened[mark] = opened
        opened.users += 1
        try:
            yield opened
        finally:
            opened.users -= 1
            if opened.is_over and not opened.users:
                await opened.model.close()
            await self._let_idle_go()

    async def _let_idle_go(self) -> None:
        idle = [mark for mark, each in self._opened.items() if not each.users]
        # All are taken out before one is closed: nobody is to find one that is being closed.
        for each in [self._opened.pop(mark) for mark in idle[:-_MOST_IDLE]]:
            await each.model.close()

    def _open(self, choice: ModelChoice) -> _Opened:
        from toolpath.llm.chat import ModelChat  # the providers' libraries are heavy: only who has a model pays

        transport = None
        if choice.is_guarded:
            from toolpath.workspace.models.guarded import GuardedTransport  # as above

            transport = GuardedTransport(lambda: Reach(allow=self._settings().http_allow))
        self._redactor.add([secret for secret in (choice.key, *choice.headers.values()) if secret])
        model = ModelChat(choice, clock=self._clock, redactor=self._redactor, transport=transport)
        return _Opened(model, self._watched(model))

    def _watched(self, chat: Chat) -> Chat:
        if self._observer is None:
            return chat
        # A model of the caller's own making need not say which it is.
        choice = getattr(chat, "choice", None)
        provider, model = getattr(choice, "api", ""), getattr(choice, "model", "")
        return WatchedChat(chat, self._observer, provider=provider, model=model)

    # Life.

    async def forget(self) -> None:
        """Look at what is stored anew: it has changed. Requests under way go on as they began."""
        self._generation += 1
        self._stored.clear()
        self._known.clear()
        await self._let_go()

    async def close(self) -> None:
        """Let go of all connections."""
        await self._let_go()

    async def _let_go(self) -> None:
        opened, self._opened = list(self._opened.values()), {}
        for each in opened:
            each.is_over = True
            if not each.users:
                await each.model.close()


class TenantChat:
    """The models of one tenant as one chat: which is asked says the request, or the default is."""

    def __init__(self, chats: ModelChats, tenant: str) -> None:
        self._chats = chats
        self._tenant = tenant

    async def open(self) -> None:
        """Load what it needs. Raises `ConfigError`."""
        await self._chats.load()

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """The answer. Raises `ChatFailed`."""
        async with self._asking(request) as (chat, sent):
            return await chat(sent)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        """The answer while it is being written; the last piece carries the reply. Raises `ChatFailed`."""
        async with self._asking(request) as (chat, sent), aclosing(chat.stream(sent)) as pieces:
            async for piece in pieces:
                yield piece

    @asynccontextmanager
    async def _asking(self, request: ChatRequest) -> AsyncIterator[tuple[Chat, ChatRequest]]:
        try:
            async with self._chats.asking(self._tenant, request) as found:
                yield found
        except ChatFailed:
            raise
        except ToolpathError as error:
            # A key that cannot be opened, a library that is not there: to who asks, a model that does not answer.
            raise ChatFailed(error.message, kind="rejected", hint=error.hint) from None


def choice_of(kept: KeptModel, secrets: ModelSecrets, settings: Settings) -> ModelChoice:
    """How the stored model is asked."""
    model = kept.model
    temperature = settings.planner_temperature if model.temperature is None else model.temperature
    api = model.api
    base_url = model.base_url or MODEL_PROVIDERS[api].assumed_address
    if model.completions_path:
        base_url, path = joined(base_url, model.completions_path)
    else:
        path = ""
    return ModelChoice(
        api=api_at(api, base_url),
        model=model.model,
        key=secrets.key,
        base_url=base_url,
        temperature=temperature,
        top_p=model.top_p,
        completions_path=path,
        headers=secrets.headers,
        name=model.name,
        is_guarded=bool(model.tenant),
    )


def joined(base_url: str, path: str) -> tuple[str, str]:
    """The address of the provider's client and, where it would ask elsewhere, the path that is asked."""
    usual = "/chat/completions"
    if not path.endswith(usual):
        return base_url, path
    head = path.removesuffix(usual)
    # Those who write `/v1` into the address write it into the path as well.
    return (base_url if base_url.rstrip("/").endswith(head) else base_url.rstrip("/") + head), ""


class WatchedChat:
    """Asks `chat` and tells `observer`. `provider` and `model` are what is asked where the request names no model."""

    def __init__(self, chat: Chat, observer: ChatObserver, *, provider: str = "", model: str = "") -> None:
        self._chat = chat
        self._observer = observer
        self._provider = provider
        self._model = model

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """The answer. Raises `ChatFailed`."""
        over = self._observer.asking(request, self._provider, request.model or self._model)
        try:
            reply = await self._chat(request)
        except BaseException as failure:
            over(failure)
            raise
        over(reply)
        return reply

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        """The answer while it is being written; the last piece carries the reply. Raises `ChatFailed`."""
        over = self._observer.asking(request, self._provider, request.model or self._model)
        # A reader that has read enough leaves off: then there is an answer, of which nobody knows the end.
        came: ChatReply | BaseException = ChatReply()
        try:
            async with aclosing(self._chat.stream(request)) as pieces:
                async for piece in pieces:
                    came = piece.reply or came
                    yield piece
        except GeneratorExit:
            raise
        except BaseException as failure:
            came = failure
            raise
        finally:
            over(came)
