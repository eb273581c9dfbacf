"""One attempt at a request, over pydantic-ai's model layer; retries and time limits live in `chat`.

Loads pydantic-ai, so it is imported only when a model is asked.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final

import httpx2
import msgspec
from pydantic_ai import direct
from pydantic_ai import messages as wire
from pydantic_ai.exceptions import UnexpectedModelBehavior, UserError
from pydantic_ai.models import Model, create_async_httpx2_client
from pydantic_ai.settings import ModelSettings

from toolpath.errors import ChatFailed
from toolpath.llm.bodies import bounded
from toolpath.llm.choice import ModelChoice
from toolpath.llm.faults import fault_of
from toolpath.llm.messages import ANSWER, reply_of, wire_messages, wire_parameters, wire_settings
from toolpath.llm.models import build_model, takes_temperature
from toolpath.llm.ways import Way, plainer
from toolpath.model.chat import ChatDelta, ChatReply, ChatRequest
from toolpath.model.model_providers import MODEL_PROVIDERS
from toolpath.ports import Clock

#: Kinds of failures after which asking in a plainer way may help.
_REFUSALS: Final = frozenset(("rejected", "server", "too_long"))
_MAX_MODELS: Final = 16
#: Models whose ways are known, and seconds for which one is: what a server refused once, for one request or while it
#: was being mended, it may take another time.
_MAX_WAYS: Final = 256
_KNOWN_FOR: Final = 3_600.0
#: Where servers that speak OpenAI's language are asked.
USUAL_PATH: Final = "/chat/completions"


class Client:
    """The connections to one provider, and the way in which its server hands over values."""

    def __init__(self, choice: ModelChoice, clock: Clock, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self.choice = choice
        self._clock = clock
        self._http: httpx2.AsyncClient = create_async_httpx2_client(transport=transport)
        self._http.headers.update(choice.headers)
        self._http.event_hooks["response"].append(bounded)
        if choice.completions_path:
            self._http.event_hooks["request"].append(_at(choice.completions_path))
        # Built now, because the provider's client library is imported with it.
        self._models: dict[str, Model] = {"": build_model(choice, self._http)}
        self._first = Way(modes=MODEL_PROVIDERS[choice.api].output_modes)
        self._ways: dict[str, tuple[Way, float]] = {}
        """By model: what was asked in them was answered, and when it was first."""

    async def close(self) -> None:
        """Let go of all connections."""
        await self._http.aclose()

    async def reply(self, request: ChatRequest, *, timeout: float, attempts: int) -> ChatReply:
        """The answer. Raises `ChatFailed`."""
        way = self._way(request)
        while True:
            try:
                model = self._model(request.model)
                response = await direct.model_request(
                    model,
                    wire_messages(request, way),
                    model_settings=self._settings(model, request, way, timeout),
                    model_request_parameters=wire_parameters(request, way),
                )
            except Exception as error:  # noqa: BLE001 - client libraries raise whatever they like; none may leak a key
                way = self._step_down(way, request, error)
                continue
            self._remember(request.model, way)
            try:
                return self._read(response, request, attempts)
            except Exception as error:  # noqa: BLE001 - as above
                raise self._fault(error) from None

    async def stream(self, request: ChatRequest, *, timeout: float, attempts: int) -> AsyncGenerator[ChatDelta]:
        """The answer in pieces. Raises `ChatFailed`."""
        way = self._way(request)
        while True:
            begun = False
            if "stream" in way.without:
                reply = await self.reply(request, timeout=timeout, attempts=attempts)
                yield ChatDelta(text=reply.text)
                yield ChatDelta(reply=reply)
                return
            try:
                model = self._model(request.model)
                async with direct.model_request_stream(
                    model,
                    wire_messages(request, way),
                    model_settings=self._settings(model, request, way, timeout),
                    model_request_parameters=wire_parameters(request, way),
                ) as response:
                    async for event in response:
                        text = _text(event, request)
                        if text:
                            begun = True
                            yield ChatDelta(text=text)
                    self._remember(request.model, way)
                    reply = self._read(response.get(), request, attempts)
                yield ChatDelta(reply=reply)
                return
            except Exception as error:  # noqa: BLE001 - as above
                if begun:
                    raise self._fault(error) from None
                # A server that takes no notice of `stream` sends its answer as a whole, which is none of a stream.
                way = _unstreamed(way) if _is_empty(error) else self._step_down(way, request, error, streams=True)
                if "stream" in way.without:
                    self._remember(request.model, way)

    def _way(self, request: ChatRequest) -> Way:
        """The way that the model took last; each model of a server may know another."""
        way, since = self._ways.get(request.model, (self._first, 0.0))
        return way if self._clock.monotonic() - since < _KNOWN_FOR else self._first

    def _remember(self, model: str, way: Way) -> None:
        now = self._clock.monotonic()
        known, since = self._ways.pop(model, (way, now))
        is_fresh = known == way and now - since < _KNOWN_FOR
        if way != self._first:
            self._ways[model] = (way, since if is_fresh else now)
        while len(self._ways) > _MAX_WAYS:
            del self._ways[next(iter(self._ways))]

    def _settings(self, model: Model, request: ChatRequest, way: Way, timeout: float) -> ModelSettings:
        if not takes_temperature(model):
            return wire_settings(request, way, None, timeout)
        return wire_settings(request, way, self.choice.temperature, timeout, top_p=self.choice.top_p)

    def _read(self, response: wire.ModelResponse, request: ChatRequest, attempts: int) -> ChatReply:
        if response.finish_reason == "content_filter":
            said = str((response.provider_details or {}).get("refusal", "")) or response.text or "no reason given"
            raise ChatFailed(
                f"{self.choice.api}'s {self.choice.model!r} refused to answer: {said:.300}", kind="refused"
            )
        reply = reply_of(response, request, model=request.model or self.choice.model, attempts=attempts)
        if not reply.text and not reply.tool_calls:
            is_cut = response.finish_reason == "length"
            raise ChatFailed(
                f"{self.choice.api}'s {self.choice.model!r} answered nothing.",
                kind="malformed",
                retryable=not is_cut,
                hint="It had used up its tokens before its answer, for thoughts perhaps." if is_cut else "",
            )
        return reply

    def _model(self, name: str) -> Model:
        if name not in self._models:
            if len(self._models) >= _MAX_MODELS:
                self._models.pop(next(reversed(self._models)))
            self._models[name] = build_model(self.choice, self._http, name)
        return self._models[name]

    def _step_down(self, way: Way, request: ChatRequest, error: Exception, *, streams: bool = False) -> Way:
        """The plainer way in which to ask again where the server rejects this one; else raise."""
        failure = self._fault(error)
        # The library refuses some requests itself, by the name of the model, and sends nothing.
        is_own = isinstance(error, UserError)
        is_refused = is_own or (failure.status is not None and failure.kind in _REFUSALS)
        next_way = None
        if is_refused:
            status = None if is_own else failure.status
            next_way = plainer(way, request, status=status, said=failure.message, streams=streams)
        if next_way is None:
            raise failure from None
        return next_way

    def _fault(self, error: Exception) -> ChatFailed:
        cause: BaseException | None = error
        while cause is not None:
            # Client libraries wrap what is raised while an answer is read.
            if isinstance(cause, ChatFailed):
                return cause
            cause = cause.__cause__ or cause.__context__
        return fault_of(error, self.choice)


def _is_empty(error: Exception) -> bool:
    """Whether the client library found nothing in a stream."""
    return isinstance(error, UnexpectedModelBehavior) and not isinstance(error, ChatFailed)


def _unstreamed(way: Way) -> Way:
    return msgspec.structs.replace(way, without=way.without | {"stream"})


def _at(path: str) -> Callable[[httpx2.Request], Awaitable[None]]:
    """Sends what the client library sends to its usual path to this one."""

    async def move(request: httpx2.Request) -> None:
        if request.url.path.endswith(USUAL_PATH):
            request.url = request.url.copy_with(raw_path=path.encode("ascii"))

    return move


def _text(event: object, request: ChatRequest) -> str:
    """The piece of the answer's text that an event brings."""
    match event:
        case wire.PartStartEvent(part=wire.TextPart(content=text)):
            return text
        case wire.PartDeltaEvent(delta=wire.TextPartDelta(content_delta=text)):
            return text
        case wire.PartStartEvent(part=wire.ToolCallPart() as call) if _is_answer(call.tool_name, request):
            return call.args if isinstance(call.args, str) else call.args_as_json_str() if call.args else ""
        case wire.PartDeltaEvent(delta=wire.ToolCallPartDelta(args_delta=str() as text)) if request.output_schema:
            return text
        case _:
            return ""


def _is_answer(name: str, request: ChatRequest) -> bool:
    return request.output_schema is not None and name == ANSWER
