"""A server that speaks the wire formats of model providers and answers from a script, for tests with real clients."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Sequence
from types import TracebackType
from typing import Self

import msgspec

from toolpath.testing.model_manners import Manner
from toolpath.testing.model_replies import Breaks, Fails, Hangs, Received, Reply, Says, Sends
from toolpath.testing.model_wire import Answer, Protocol, as_answer, pieces, protocol_of, wants_stream, whole
from toolpath.values import Json, JsonObject

_LARGEST = 20_000_000
_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


class ModelServer:
    """Answers requests with `replies`, in order, and with `then` after the last; without it a surplus request fails.

    One server speaks OpenAI's chat completions and responses, Anthropic's messages and Google's generateContent, whole
    and as streams. Use it with `async with`; `url` is its address, to which `/v1` is added where a provider wants it.
    """

    def __init__(
        self,
        *replies: Reply | str,
        then: Reply | str | None = None,
        models: Sequence[str] | None = None,
        key: str = "",
        manner: Manner | None = None,
    ) -> None:
        self.replies: list[Reply | str] = list(replies)
        """What is still to be answered; a string is what the model says."""
        self.models = models
        """What its list of models names; None: it has no list."""
        self.key = key
        """The key that it takes; empty: any."""
        self.then = then
        self.manner = manner
        """What it takes and how it refuses; None: it takes anything."""
        self.requests: list[Received] = []
        """What was asked, in order."""
        self._server: asyncio.Server | None = None
        self._closed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """Its address, e.g. `http://127.0.0.1:40123`."""
        if self._server is None:
            raise RuntimeError("The server is not running; use it with `async with`.")
        port = self._server.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed.set()
        if self._server is not None:
            self._server.close()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        try:
            received = await _read(reader)
            if received is not None:
                self.requests.append(received)
                await self._answer(received, writer)
        except ConnectionError:
            # The client has gone; what it did not read concerns nobody.
            pass
        finally:
            with contextlib.suppress(ConnectionError):
                writer.close()
                await writer.wait_closed()

    def _next(self) -> Reply:
        reply = self.replies.pop(0) if self.replies else self.then
        if reply is None:
            return Fails(status=400, message=f"Request {len(self.requests)} is not in the script.")
        return Says(text=reply) if isinstance(reply, str) else reply

    async def _answer(self, received: Received, writer: asyncio.StreamWriter) -> None:
        protocol = protocol_of(received.path)
        if self.key and self.key not in "".join(received.headers.values()):
            await _send(writer, 401, _error(401, "That is not the key."))
            return
        if received.path.endswith("/models") and self.models is not None:
            await _send(writer, 200, {"object": "list", "data": [{"id": name} for name in self.models]})
            return
        body: JsonObject = received.body if isinstance(received.body, dict) else {}
        if protocol is None:
            await _send(writer, 404, _error(404, f"Nothing is at {received.path}."))
            return
        refusal = self.manner.refusal(received) if self.manner is not None else None
        if refusal is not None:
            await _send(writer, refusal.status, refusal.body)
            return
        reply = self._next()
        if self.manner is not None and isinstance(reply, Says):
            reply = msgspec.structs.replace(reply, text=self.manner.decoded(received, reply.text))
        match reply:
            case Fails() as failure:
                headers = {"retry-after": failure.retry_after} if failure.retry_after else {}
                await _send(writer, failure.status, _error(failure.status, failure.message), headers=headers)
            case Sends() as raw:
                await _send(writer, 200, raw.body, content_type=raw.content_type)
            case Breaks() | Hangs() as cut:
                await self._cut(cut, protocol, received, writer)
            case answer:
                pause = answer.pause if isinstance(answer, Says) else 0.0
                await _whole_answer(as_answer(answer, body), protocol, received, writer, pause)

    async def _cut(
        self, reply: Breaks | Hangs, protocol: Protocol, received: Received, writer: asyncio.StreamWriter
    ) -> None:
        answer = as_answer(Says(text=reply.text, piece=reply.piece), received.body)
        if wants_stream(received.path, received.body) and reply.text:
            _start_stream(writer)
            # What opens a stream carries no text; pieces are counted from the first that does.
            sent = 0
            for name, data in pieces(protocol, answer, _model(received)):
                is_text = _brings_text(name, data)
                if is_text and sent >= reply.after:
                    break
                sent += is_text
                await _send_event(writer, name, data)
        elif isinstance(reply, Breaks):
            content = json.dumps(whole(protocol, answer, _model(received))).encode()
            writer.write(_head(200, "application/json", len(content), {}) + content[: len(content) // 2])
            await writer.drain()
        if isinstance(reply, Hangs):
            await self._closed.wait()


async def _whole_answer(
    answer: Answer, protocol: Protocol, received: Received, writer: asyncio.StreamWriter, pause: float
) -> None:
    if not wants_stream(received.path, received.body):
        await _send(writer, 200, whole(protocol, answer, _model(received)))
        return
    _start_stream(writer)
    for name, data in pieces(protocol, answer, _model(received)):
        if pause and isinstance(data, dict) and _brings_text(name, data):
            await asyncio.sleep(pause)
        await _send_event(writer, name, data)
    writer.write(b"0\r\n\r\n")
    await writer.drain()


def _brings_text(name: str, data: Json) -> bool:
    if name:
        return name.endswith(".delta") or name == "content_block_delta"
    if "choices" in data:
        return any(choice["delta"] for choice in data["choices"])
    return any(candidate["content"]["parts"] for candidate in data.get("candidates", ()))


def _model(received: Received) -> str:
    if isinstance(received.body, dict) and "model" in received.body:
        return str(received.body["model"])
    return received.path.rpartition("/models/")[2].partition(":")[0]


def _error(status: int, message: str) -> JsonObject:
    # One body that OpenAI's, Anthropic's and Google's clients can all read.
    kind = "rate_limit_error" if status == 429 else "invalid_request_error" if status < 500 else "api_error"
    return {"type": "error", "error": {"type": kind, "code": status, "message": message, "status": kind.upper()}}


async def _read(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.split("\r\n")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if name
    }
    size = min(int(headers.get("content-length", "0")), _LARGEST)
    data = await reader.readexactly(size)
    target = first.split(" ")[1]
    return Received(path=target.partition("?")[0], headers=headers, body=json.loads(data) if data else None)


def _head(status: int, content_type: str, size: int | None, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}", f"content-type: {content_type}", "connection: close"]
    lines.append("transfer-encoding: chunked" if size is None else f"content-length: {size}")
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def _send(
    writer: asyncio.StreamWriter,
    status: int,
    body: Json,
    *,
    content_type: str = "application/json",
    headers: dict[str, str] | None = None,
) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    writer.write(_head(status, content_type, len(data), headers or {}) + data)
    await writer.drain()


def _start_stream(writer: asyncio.StreamWriter) -> None:
    writer.write(_head(200, "text/event-stream", None, {}))


async def _send_event(writer: asyncio.StreamWriter, name: str, data: Json) -> None:
    text = data if isinstance(data, str) else json.dumps(data)
    event = (f"event: {name}\n" if name else "") + f"data: {text}\n\n"
    chunk = event.encode()
    writer.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
    await writer.drain()
