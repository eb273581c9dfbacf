"""Guard before every door: who asks, from where, how much and how often. Pure ASGI, so that streams stream."""

from __future__ import annotations

import asyncio
import logging
import re

import msgspec
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from toolpath.access.acting import acting
from toolpath.access.caller import NOBODY, Caller
from toolpath.access.credentials import Credentials, delegated
from toolpath.config import Settings
from toolpath.errors import CredentialsRefused, ToolpathError
from toolpath.ports import Clock, waiting_at_most
from toolpath.server.entry.bodies import BoundedBody, body_limits, check_length, check_message
from toolpath.server.entry.heads import check_host, check_nearness, check_origin, credentials_in, headers_of
from toolpath.server.entry.lease import Lease
from toolpath.server.entry.rates import Rates
from toolpath.server.openai_problems import refusal
from toolpath.server.problems import Problem, details_of, problem

#: Paths that answer everybody: whether the server lives. Exactly these, and the files of the page; every other path
#: needs credentials.
PUBLIC = frozenset({"/health", "/ready"})
#: A file of the page.
_ASSET = re.compile(r"/assets/[A-Za-z0-9_-][A-Za-z0-9_.-]*")
#: Where a person signs out, also with credentials that have ended.
_SIGN_OUT = ("DELETE", "/api/v1/session")
#: Seconds for which a request waits for a store that is away; the client can ask again.
STORE_WITHIN = 3.0
_log = logging.getLogger("toolpath.access")
_SECRETS = re.compile(r"tpk_[\w-]+|eyJ[\w-]+\.[\w.-]+")
#: What closes a WebSocket whose credentials have ended.
_UNAUTHORIZED = 4401
#: What closes a WebSocket that brings more than `rate_limit`.
_TOO_MANY = 4429
_TOO_LARGE = 1009
#: Bytes of an answer that are handed on at once, and seconds that a client has to take them.
PIECE = 256 * 1024
WRITE_WITHIN = 30.0
_DOORS = {"graphql": "graphql", "mcp": "mcp", "v1": "openai"}
#: What clients of OpenAI's API say to an open server, since they always show a key.
_NO_KEY = "none"


class Guard:
    """Lets in who may, and puts the caller into the request's state."""

    def __init__(self, app: ASGIApp, *, credentials: Credentials, settings: Settings, clock: Clock) -> None:
        self.app = app
        self._credentials = credentials
        self._clock = clock
        self._settings = settings
        self._rates = Rates(settings.rate_limit)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        with waiting_at_most(STORE_WITHIN):
            await self._asked(scope, receive, send)

    async def _asked(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = _Answer(scope, send)
        try:
            headers = headers_of(scope["headers"])
            caller = await self._admitted(scope, headers)
        except ToolpathError as error:
            await answer.refuse(error)
            return
        scope.setdefault("state", {})["caller"] = caller
        if scope["type"] == "websocket":
            receive = self._counted(caller, receive, answer)
        else:
            limits = body_limits(self._settings, scope["method"], path_of(scope))
            receive = BoundedBody(receive, limits=limits, refuse=answer.refuse).receive
        with acting(caller):
            # Who needs no credentials is not asked what they are.
            await self._answered(scope, receive, answer, None if caller is NOBODY else credentials_in(headers))

    def _counted(self, caller: Caller, receive: Receive, answer: _Answer) -> Receive:
        """The messages of a WebSocket, each counted and bounded like a request."""
        settings = self._settings

        async def counted() -> Message:
            message = await receive()
            if message["type"] != "websocket.receive":
                return message
            code = _TOO_LARGE
            try:
                said = message.get("text") or message.get("bytes") or b""
                check_message(said, most=settings.max_body, parts=settings.max_body_values)
                if caller.key:
                    code = _TOO_MANY
                    await self._rates.count(caller.tenant, caller.key)
                # Many that came together are seen to in a turn of the loop each.
                await asyncio.sleep(0)
            except Problem as error:
                await answer.close(code, error)
                return {"type": "websocket.disconnect", "code": code}
            return message

        return counted

    async def _answered(self, scope: Scope, receive: Receive, answer: _Answer, presented: str | None) -> None:
        """Have the app answer, for as long as the credentials hold."""
        caller: Caller = scope["state"]["caller"]
        if presented is None or caller is NOBODY:
            await self.app(scope, receive, answer.send)
        else:
            async with Lease(self._credentials, self._clock, refuse=answer.cut).held(presented, caller):
                await self.app(scope, receive, answer.send)
        # What was broken off, here or by an app whose server stops, ends as its protocol wants it.
        await answer.end()

    async def _admitted(self, scope: Scope, headers: dict[str, str]) -> Caller:
        """Caller of the request. Raises where they may not come in."""
        settings = self._settings
        is_open = self._credentials.open_as is not None
        check_host(headers, settings.allowed_hosts, is_open=is_open)
        if not _is_page(path_of(scope)):
            # The page itself may be come to by a link from anywhere.
            check_origin(headers, settings.allowed_origins)
        check_length(headers, body_limits(settings, scope.get("method", ""), path_of(scope)))
        if _is_public(scope) or _is_preflight(scope, headers, settings.allowed_origins):
            return NOBODY
        client = scope.get("client")
        address = str(client[0]) if client else ""
        presented = credentials_in(headers)
        if is_open and presented == _NO_KEY and _door(path_of(scope)) == "openai":
            presented = None
        if presented is None and is_open:
            check_nearness(client, headers)
        try:
            caller = delegated(await self._credentials.caller(presented), headers)
        except CredentialsRefused:
            if presented is not None:
                # Only who shows wrong ones is asked to wait: others may come through the same proxy.
                await self._rates.count_wrong(address)
            raise
        if caller.key:
            # What a token calls its user is a name within the tenant alone.
            await self._rates.count(caller.tenant, caller.key)
        return msgspec.structs.replace(caller, address=address, door=_door(path_of(scope)))


class _Answer:
    """Answer to one request, on which the guard may say no before the app has said anything."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope = scope
        self._send = send
        self._begun = False
        self._refused = False
        self._ended = False
        self._cut = False
        self._turn = asyncio.Lock()
        """Held by what is said over a WebSocket: a hundred subscriptions may have something to say at once."""

    async def send(self, message: Message) -> None:
        """Hand on what the app says, unless the guard has spoken for it."""
        if self._refused:
            return
        if message["type"] in ("http.response.start", "websocket.accept"):
            self._begun = True
        self._ended = _is_last(message)
        if message["type"] == "http.response.start":
            message = {**message, "status": int(message["status"]), "headers": self._headers(message)}
        if message["type"] == "http.response.body":
            await self._write(message)
        elif message["type"] == "websocket.send":
            async with self._turn:
                await self._send(message)
                # The next one is made and said in another turn of the loop.
                await asyncio.sleep(0)
        else:
            await self._send(message)

    def _headers(self, message: Message) -> list[tuple[bytes, bytes]]:
        """The headers, a place on this server said as it is seen from outside: also where the app is mounted."""
        root = str(self._scope.get("root_path", "")).rstrip("/").encode("latin-1", "replace")
        headers = [
            (name, root + value if root and name.lower() == b"location" and _is_own(value, root) else value)
            for name, value in message.get("headers", ())
        ]
        return [*headers, (b"x-content-type-options", b"nosniff")]

    async def _write(self, message: Message) -> None:
        """Hand on a body a piece at a time, each of which the client has to take in time: else it is given up."""
        body, more = message.get("body", b""), message.get("more_body", False)
        try:
            for begin in range(0, max(len(body), 1), PIECE):
                last = begin + PIECE >= len(body)
                piece = {**message, "body": body[begin : begin + PIECE], "more_body": more or not last}
                async with asyncio.timeout(WRITE_WITHIN):
                    await self._send(piece)
        except TimeoutError:
            self._refused = self._ended = True
            raise ClientDisconnect from None

    async def close(self, code: int, error: ToolpathError) -> None:
        """End the WebSocket: it has asked too much."""
        _log_refusal(self._scope, error, details_of(error).status)
        if not self._ended:
            self._refused = self._ended = True
            await self._send({"type": "websocket.close", "code": code, "reason": error.code})

    async def refuse(self, error: ToolpathError) -> None:
        """Say no, and log it."""
        details = details_of(error)
        _log_refusal(self._scope, error, details.status)
        if self._begun or self._refused:
            return
        self._refused = True
        if self._scope["type"] == "websocket":
            await _refuse_websocket(self._scope, self._send, error)
            return
        response = refusal(error) if path_of(self._scope).startswith("/v1/") else problem(error)
        if details.status == 401:  # unauthorized
            response.headers["WWW-Authenticate"] = "Bearer"
        # What is left of the body is not read: the connection cannot be used again.
        if details.status in (400, 408, 413, 431):
            response.headers["Connection"] = "close"
        await response(self._scope, _no_more, self._send)

    async def cut(self, error: ToolpathError) -> bool:
        """The credentials ended meanwhile: say so, and give whether the app is to be broken off."""
        if self._ended:
            return False
        if not self._begun:
            # What was accepted is done; its answer is not for them any more.
            await self.refuse(error)
            return False
        _log_refusal(self._scope, error, details_of(error).status)
        self._cut = True
        return True

    async def end(self) -> None:
        """End an answer that was broken off, in the way of its protocol."""
        if self._ended or not self._begun:
            return
        if self._scope["type"] == "websocket":
            if not self._cut:
                return
            await self._send({"type": "websocket.close", "code": _UNAUTHORIZED, "reason": CredentialsRefused.code})
        else:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})


def _is_last(message: Message) -> bool:
    """Whether nothing may follow the message."""
    match message["type"]:
        case "http.response.body":
            return not message.get("more_body", False)
        case kind:
            return kind in ("websocket.close", "websocket.http.response.start")


async def _no_more() -> Message:
    return {"type": "http.disconnect"}


async def _refuse_websocket(scope: Scope, send: Send, error: ToolpathError) -> None:
    """No to somebody who asks for a WebSocket: as an HTTP answer where the server can give one."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": error.code})
        return
    response = problem(error)
    head = {"type": "websocket.http.response.start", "status": response.status_code, "headers": response.raw_headers}
    await send(head)
    await send({"type": "websocket.http.response.body", "body": bytes(response.body), "more_body": False})


def _log_refusal(scope: Scope, error: ToolpathError, status: int) -> None:
    """Log who was refused what, and why. No header, query or body is in it, nothing that could be a credential."""
    client = scope.get("client")
    reason = error.reason or error.code if isinstance(error, CredentialsRefused) else error.code
    key = getattr(error, "key", "")
    _log.warning(
        "refused %s %s from %s: %s%s (%d)",
        scope.get("method", "WEBSOCKET"),
        _SECRETS.sub("[redacted]", ascii(scope["path"][:200])),
        client[0] if client else "-",
        reason,
        f" {key}" if key else "",
        status,
    )


def _is_public(scope: Scope) -> bool:
    path = path_of(scope)
    return path in PUBLIC or _is_page(path) or (scope.get("method"), path) == _SIGN_OUT


def _is_page(path: str) -> bool:
    """Whether this is a file of the page, which tells nothing of what the server holds."""
    return path == "/" or _ASSET.fullmatch(path) is not None


def path_of(scope: Scope) -> str:
    """The path as the app's own routes have it, wherever it is mounted."""
    path, root = str(scope["path"]), str(scope.get("root_path", "")).rstrip("/")
    return path[len(root) :] if root and path.startswith(f"{root}/") else path


def _is_own(place: bytes, root: bytes) -> bool:
    """A place on this server as the app itself knows it."""
    return place.startswith(b"/") and not place.startswith((b"//", root + b"/"))


def _is_preflight(scope: Scope, headers: dict[str, str], allowed: tuple[str, ...]) -> bool:
    """A browser asks, without credentials, whether a page of an allowed origin may ask with them."""
    is_asking = scope.get("method") == "OPTIONS" and "access-control-request-method" in headers
    return is_asking and headers.get("origin") in allowed


def _door(path: str) -> str:
    first = path.lstrip("/").partition("/")[0]
    return _DOORS.get(first, "rest")
