"""One attempt at a request, over pydantic-ai's model layer; retries and time limits live in `chat`.

Loads pydantic-ai, so it is imported only when a model is asked.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final

import httpx2
from pydantic_ai import direct
from pydantic_ai import messages as wire
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, create_async_httpx2_client
from pydantic_ai.settings import ModelSettings

from toolpath.errors import ChatFailed
from toolpath.llm.choice import ModelChoice
from toolpath.llm.faults import fault_of
from toolpath.llm.messages import ANSWER, OutputMode, reply_of, wire_messages, wire_parameters, wire_settings
from toolpath.llm.models import build_model, output_modes, takes_temperature
from toolpath.model.chat import ChatDelta, ChatReply, ChatRequest

#: Statuses of a server that does not know how to give values of a form.
_NOT_SO: Final = (400, 415, 422, 501)
_MAX_MODELS: Final = 16
#: Where servers that speak OpenAI's language are asked.
USUAL_PATH: Final = "/chat/completions"


class Client:
    """The connections to one provider, and the way in which its server hands over values."""

    def __init__(self, choice: ModelChoice, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self.choice = choice
        self._http: httpx2.AsyncClient = create_async_httpx2_client(transport=transport)
        self._http.headers.update(choice.headers)
        if choice.completions_path:
            self._http.event_hooks["request"].append(_at(choice.completions_path))
        # Built now, because the provider's client library is imported with it.
        self._models: dict[str, Model] = {"": build_model(choice, self._http)}
        self._modes: tuple[OutputMode, ...] = output_modes(choice)

    async def close(self) -> None:
        """Let go of all connections."""
        await self._http.aclose()

    async def reply(self, request: ChatRequest, *, timeout: float, attempts: int) -> ChatReply:
        """The answer. Raises `ChatFailed`."""
        while True:
            mode = self._modes[0]
            try:
                model = self._model(request.model)
                response = await direct.model_request(
                    model,
                    wire_messages(request, mode),
                    model_settings=self._settings(model, request, timeout),
                    model_request_parameters=wire_parameters(request, mode),
                )
                return self._read(response, request, attempts)
            except Exception as error:  # noqa: BLE001 - client libraries raise whatever they like; none may leak a key
                self._step_down(request, error)

    async def stream(self, request: ChatRequest, *, timeout: float, attempts: int) -> AsyncGenerator[ChatDelta]:
        """The answer in pieces. Raises `ChatFailed`."""
        while True:
            mode, begun = self._modes[0], False
            try:
                model = self._model(request.model)
                async with direct.model_request_stream(
                    model,
                    wire_messages(request, mode),
                    model_settings=self._settings(model, request, timeout),
                    model_request_parameters=wire_parameters(request, mode),
                ) as response:
                    async for event in response:
                        text = _text(event, request)
                        if text:
                            begun = True
                            yield ChatDelta(text=text)
                    reply = self._read(response.get(), request, attempts)
                yield ChatDelta(reply=reply)
                return
            except Exception as error:  # noqa: BLE001 - as above
                if begun:
                    raise self._fault(error) from None
                self._step_down(request, error)

    def _settings(self, model: Model, request: ChatRequest, timeout: float) -> ModelSettings:
        if not takes_temperature(model):
            return wire_settings(request, None, timeout)
        return wire_settings(request, self.choice.temperature, timeout, top_p=self.choice.top_p)

    def _read(self, response: wire.ModelResponse, request: ChatRequest, attempts: int) -> ChatReply:
        if response.finish_reason == "content_filter":
            said = str((response.provider_details or {}).get("refusal", "")) or response.text or "no reason given"
            raise ChatFailed(
                f"{self.choice.api}'s {self.choice.model!r} refused to answer: {said:.300}", kind="refused"
            )
        reply = reply_of(response, request, model=request.model or self.choice.model, attempts=attempts)
        if not reply.text and not reply.tool_calls:
            raise ChatFailed(
                f"{self.choice.api}'s {self.choice.model!r} answered nothing.", kind="malformed", retryable=True
            )
        return reply

    def _model(self, name: str) -> Model:
        if name not in self._models:
            if len(self._models) >= _MAX_MODELS:
                self._models.pop(next(reversed(self._models)))
            self._models[name] = build_model(self.choice, self._http, name)
        return self._models[name]

    def _step_down(self, request: ChatRequest, error: Exception) -> None:
        """Ask for values in a plainer way from now on where the server rejects the better one; else raise."""
        failure = self._fault(error)
        # The library refuses some requests itself, by the name of the model, and sends nothing.
        is_rejected = isinstance(error, UserError) or failure.status in _NOT_SO
        if not is_rejected or request.output_schema is None or len(self._modes) == 1:
            raise failure from None
        self._modes = self._modes[1:]

    def _fault(self, error: Exception) -> ChatFailed:
        return error if isinstance(error, ChatFailed) else fault_of(error, self.choice)


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
