"""The tools `http.get` and `http.request`: one HTTP request, bounded in size, time and redirects.

The group `http` of the built-in tools has them for the hosts that it names.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import msgspec

from toolpath.errors import ConfigError, ToolFailed, ToolRetry, ToolTimeout, ToolUnavailable
from toolpath.model.http_failures import code_of, seconds_of
from toolpath.model.redaction import Redactor
from toolpath.model.tool import Body, Tool
from toolpath.model.traceparent import current_trace, trace_in
from toolpath.providers.builtin.groups import BuiltinGroup, options_of
from toolpath.providers.builtin.option_secrets import filled
from toolpath.providers.builtin.reach import Reach, is_among
from toolpath.providers.surroundings import Surroundings
from toolpath.values import Json, JsonObject, decode

if TYPE_CHECKING:
    import httpx2

_SCHEMES = ("http", "https")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_PREVIEW = 500
#: Seconds by which the time of the whole is longer than those of its parts.
_GRACE = 0.1
_PORTS = {"http": 80, "https": 443}
#: Headers that say nothing of who asks: they go with a redirect to another origin.
_HARMLESS = frozenset({"accept", "accept-encoding", "accept-language", "user-agent"})


class HttpLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one request."""

    bytes: int = 10 * 1024 * 1024
    """Of the body that comes back, unpacked."""
    redirects: int = 5
    seconds: float = 30.0
    """Where the call does not say."""
    reach: Reach = Reach()
    """Where requests may go."""
    proxy: str = ""
    """`http://host:port` of the proxy that requests go through, to addresses that were looked at here. Variables as
    HTTP_PROXY say nothing: what may be reached is not to depend on where a process runs."""
    headers: Mapping[str, Mapping[str, str]] = {}
    """Host, or a pattern of hosts → headers that requests to it have besides, `{{ secrets.NAME }}` in them. Who calls
    neither sees nor replaces them."""
    secrets: Callable[[], Mapping[str, str]] = dict
    """Where these are found."""


class HttpOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the group `http`."""

    hosts: tuple[str, ...] = ()
    """Hosts that may be reached, `*.example.org` too; `*`: any."""
    allow: tuple[str, ...] = ()
    """Of these, hosts and networks that are not of the public Internet."""
    headers: dict[str, dict[str, str]] = {}
    """Host, or a pattern of hosts → headers that requests to it have besides."""
    max_bytes: Annotated[int, msgspec.Meta(ge=1_000, le=2**30)] = 10 * 1024 * 1024
    timeout: Annotated[float, msgspec.Meta(gt=0, le=600)] = 30.0
    redirects: Annotated[int, msgspec.Meta(ge=0, le=20)] = 5
    proxy: str = ""


def http_group(given: JsonObject, surroundings: Surroundings) -> BuiltinGroup:
    """The tools for the hosts that the options name. Raises `ConfigError` where they name none."""
    options = options_of("http", given, HttpOptions)
    if not options.hosts:
        raise ConfigError(
            "The built-in tools of 'http' have no host that they may reach.",
            hint='Name them, [builtin.http] hosts = ["api.example.org", "*.example.com"]; "*" is any public one.',
        )
    limits = HttpLimits(
        bytes=options.max_bytes,
        redirects=options.redirects,
        seconds=options.timeout,
        reach=Reach(allow=options.allow, only=options.hosts),
        proxy=options.proxy,
        headers=options.headers,
        secrets=lambda: surroundings.secrets,
    )
    return BuiltinGroup(http_tools(limits), said=f"hosts {', '.join(options.hosts)}")


def http_tools(limits: HttpLimits | None = None) -> tuple[Tool, Tool]:
    """`http.get`, which reads, and `http.request`, which may write."""
    bounds = limits or HttpLimits()

    async def get(inputs: JsonObject, context: Any) -> Json:
        return await _request({**inputs, "method": "GET"}, bounds, context)

    async def request(inputs: JsonObject, context: Any) -> Json:
        return await _request(inputs, bounds, context)

    said: dict[str, Any] = {
        "group": "http",
        "category": "external",
        "output_schema": _OUTPUT,
        "output_validation": "strict",
        "limitations": (f"Bodies of more than {bounds.bytes} bytes fail.",),
    }
    return (
        Tool(
            name="get",
            title="HTTP GET",
            description="Fetch a URL. JSON comes parsed, other text as it is.",
            input_schema=_schema("url", "headers", "query", "timeout"),
            effect="read",
            idempotent=True,
            capabilities=("http.get", "web.fetch"),
            body=Body(invoke=get, wants_context=True),
            **said,
        ),
        Tool(
            name="request",
            title="HTTP request",
            description="Make an HTTP request of any method. JSON comes parsed, other text as it is.",
            input_schema=_schema("method", "url", "headers", "query", "json", "body", "timeout"),
            effect="write",
            capabilities=("http.request",),
            body=Body(invoke=request, wants_context=True),
            **said,
        ),
    )


_PROPERTIES: JsonObject = {
    "method": {"type": "string", "enum": list(_METHODS), "description": "The HTTP method."},
    "url": {"type": "string", "description": "An http or https URL."},
    "headers": {"type": "object", "additionalProperties": {"type": "string"}, "description": "Headers to send."},
    "query": {"type": "object", "description": "Parameters to add to the URL; a list gives several of one name."},
    "json": {"description": "A body to send as JSON."},
    "body": {"type": "string", "description": "A body to send as text; not together with json."},
    "timeout": {"type": "number", "exclusiveMinimum": 0, "maximum": 600, "description": "Seconds."},
}
_OUTPUT: JsonObject = {
    "type": "object",
    "properties": {
        "status": {"type": "integer", "description": "The HTTP status, 200 to 399."},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}, "description": "In lower case."},
        "body": {"description": "Parsed where it is JSON, else text; null when there is none."},
    },
    "required": ["status", "headers", "body"],
}


def _schema(*names: str) -> JsonObject:
    return {
        "type": "object",
        "properties": {name: _PROPERTIES[name] for name in names},
        "required": [name for name in ("method", "url") if name in names],
        "additionalProperties": False,
    }


async def _request(inputs: JsonObject, limits: HttpLimits, context: Any) -> Json:
    if inputs.get("json") is not None and inputs.get("body") is not None:
        raise ToolFailed("A request has one body: give json or body, not both.")
    seconds = inputs.get("timeout") or limits.seconds
    url = inputs["url"]
    _check_url(url)
    own = _OwnHeaders(limits)
    try:
        until = asyncio.get_running_loop().time() + seconds
        # What ends within, as the look-up of a name, knows more of what was sent.
        async with asyncio.timeout_at(until + _GRACE):
            return own.without_secrets(await _answered(inputs, limits, own, context, until))
    except TimeoutError:
        raise ToolTimeout(
            f"{_host(url)} has not answered in full within {seconds:g} seconds.", hint="Give more time: timeout."
        ) from None
    except ToolFailed as error:
        own.clean(error)
        raise


async def _answered(inputs: JsonObject, limits: HttpLimits, own: _OwnHeaders, context: Any, until: float) -> JsonObject:
    # httpx2 takes a while to import, and many runs make no request.
    import httpx2

    url = inputs["url"]
    seconds = until - asyncio.get_running_loop().time()
    try:
        # With a transport of its own it heeds no proxy but this one.
        transport = httpx2.AsyncHTTPTransport(proxy=limits.proxy or None)
        async with httpx2.AsyncClient(timeout=seconds, transport=transport) as client:
            request = client.build_request(
                inputs["method"],
                url,
                headers=_headers(inputs.get("headers") or {}, context),
                params=inputs.get("query"),
                json=inputs.get("json"),
                content=inputs.get("body"),
            )
            for _ in range(limits.redirects + 1):
                url = str(request.url)
                response, content = await _sent(client, request, limits, own, until)
                if not response.has_redirect_location:
                    return _answer(response, content, _host(url), own.redactor(context))
                request = _redirected(client, request, response)
    except httpx2.TransportError as error:
        reached = not isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.UnsupportedProtocol)
        text = f"{_host(url)} cannot be reached: {type(error).__name__} {error}".rstrip()
        raise ToolUnavailable(text, reached=reached) from None
    except (httpx2.InvalidURL, httpx2.HTTPError, ValueError, TypeError) as error:
        raise ToolFailed(f"The request cannot be made: {type(error).__name__}: {error}") from None
    raise ToolFailed(f"The server redirected more than {limits.redirects} times.")


async def _sent(
    client: httpx2.AsyncClient, request: httpx2.Request, limits: HttpLimits, own: _OwnHeaders, until: float
) -> tuple[httpx2.Response, bytes]:
    """The answer to the request, sent to an address that was looked at: a name may stand for another a moment later."""
    import httpx2

    host = request.url.host
    port = request.url.port or _PORTS[request.url.scheme]
    try:
        async with asyncio.timeout_at(until):
            addresses = await limits.reach.addresses(host, port)
    except TimeoutError:
        # Nothing was sent: what the request would have written was not.
        raise ToolUnavailable(f"{host} cannot be reached: its name is not looked up in time.", reached=False) from None
    for number, address in enumerate(addresses, 1):
        pinned = client.build_request(
            request.method,
            request.url.copy_with(host=address),
            headers=own.added_to(request.headers, host),
            content=request.content,
            extensions={**request.extensions, "sni_hostname": host},
        )
        try:
            response = await client.send(pinned, stream=True, follow_redirects=False)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            if number == len(addresses):
                raise
            continue
        try:
            return response, b"" if response.has_redirect_location else await _read(response, limits.bytes)
        finally:
            await response.aclose()
    raise AssertionError("a host has an address")


class _OwnHeaders:
    """The headers that settings give the requests of one call, by host: never shown, in no result and no error."""

    def __init__(self, limits: HttpLimits) -> None:
        self._limits = limits
        self._redactor = Redactor()

    def added_to(self, headers: httpx2.Headers, host: str) -> httpx2.Headers:
        """The headers with those for this host, which win. Raises `ToolFailed` where a secret is not set."""
        own: dict[str, str] = {}
        for pattern, named in self._limits.headers.items():
            if is_among(host.lower().rstrip("."), (pattern,)):
                own |= named
        if not own:
            return headers
        secrets = self._limits.secrets()
        try:
            values = {name: filled(value, secrets) for name, value in own.items()}
        except ConfigError as error:
            raise ToolFailed(error.message, hint=error.hint) from None
        for name, value in values.items():
            # A server that repeats it may leave out the word before it, as Bearer.
            self._redactor.add((value, value.split()[-1]) if name.lower() == "authorization" and value else (value,))
        added = headers.copy()
        added.update(values)
        return added

    def redactor(self, context: Any) -> Callable[[str], str]:
        """Takes out what the run knows as a secret, and these headers."""
        known: Callable[[str], str] = getattr(context, "redact", str)
        return lambda text: self._redactor.text(known(text))

    def without_secrets(self, answer: JsonObject) -> JsonObject:
        """The answer of a server that may repeat what it was sent."""
        clean: JsonObject = self._redactor.value(answer)
        return clean

    def clean(self, error: ToolFailed) -> None:
        """Take them out of an error."""
        error.message = self._redactor.text(error.message)
        error.args = (error.message,)
        error.details = self._redactor.value(error.details)


def _redirected(client: httpx2.AsyncClient, request: httpx2.Request, response: httpx2.Response) -> httpx2.Request:
    """The request that the answer asks for. What the caller gave goes to no other origin than it was given for."""
    target = request.url.join(response.headers["location"])
    _check_url(str(target))
    method, content = request.method, request.content
    if (response.status_code == 303 and method != "HEAD") or (response.status_code in (301, 302) and method == "POST"):
        method, content = "GET", b""
    is_same = _is_same_origin(request.url, target)
    if content and not is_same:
        raise ToolFailed(
            f"{request.url.host} redirected the request to {target.host}: its body is not sent there.",
            hint=f"Send it to {target.host} in the first place, if that is meant.",
        )
    kept = {name: value for name, value in request.headers.items() if is_same or name.lower() in _HARMLESS}
    own = {"host", "content-length", "transfer-encoding"} | (set() if content else {"content-type"})
    headers = {name: value for name, value in kept.items() if name.lower() not in own}
    return client.build_request(method, target, headers=headers, content=content or None)


def _is_same_origin(before: httpx2.URL, after: httpx2.URL) -> bool:
    """The same host by the same way, or by a safer one."""
    here = (before.scheme, before.host, before.port or _PORTS[before.scheme])
    there = (after.scheme, after.host, after.port or _PORTS[after.scheme])
    is_safer = here[1] == there[1] and (here[0], here[2], there[0], there[2]) == ("http", 80, "https", 443)
    return here == there or is_safer


def _headers(given: Mapping[str, str], context: Any) -> dict[str, str]:
    """The headers, and the trace that the call belongs to where they name none."""
    if any(name.lower() == "traceparent" for name in given):
        return dict(given)
    return {**(current_trace() or trace_in(getattr(context, "metadata", None) or {})), **given}


def _check_url(url: str) -> None:
    try:
        split = urlsplit(url)
    except ValueError:
        raise ToolFailed("The URL cannot be read.") from None
    if split.scheme.lower() not in _SCHEMES or not split.hostname:
        raise ToolFailed(f"Only http and https URLs are fetched, not {split.scheme or 'a relative URL'!r}.")
    if "@" in split.netloc:
        raise ToolFailed("The URL holds a user or a password.", hint="Give credentials as a header: Authorization.")


async def _read(response: httpx2.Response, limit: int) -> bytes:
    content = bytearray()
    async for chunk in response.aiter_bytes():
        content += chunk
        if len(content) > limit:
            raise ToolFailed(f"The answer has more than {limit} bytes.", details={"status": response.status_code})
    return bytes(content)


def _answer(response: httpx2.Response, content: bytes, host: str, redact: Callable[[str], str]) -> JsonObject:
    body = _body(response, content)
    status = response.status_code
    if status < 400:
        return {"status": status, "headers": dict(response.headers), "body": body}
    details = {"status": status, "body": body if len(content) <= _PREVIEW * 8 else None}
    message = f"{host} answered {status} {response.reason_phrase}".rstrip()
    # Cut short only without the secrets: a piece of one is not found any more.
    preview = redact(_text(response, content)).strip()[:_PREVIEW]
    message += f": {preview}" if preview else "."
    if status in (408, 429) or status >= 500:
        raise ToolRetry(message, retry_after=seconds_of(response.headers), details=details, code=code_of(status))
    raise ToolFailed(message, details=details, code=code_of(status))


def _body(response: httpx2.Response, content: bytes) -> Json:
    if not content:
        return None
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json" or kind.endswith("+json"):
        try:
            return decode(content)
        except (ValueError, RecursionError):
            pass
    return _text(response, content)


def _text(response: httpx2.Response, content: bytes) -> str:
    try:
        return content.decode(response.encoding or "utf-8", "replace")
    except LookupError:
        return content.decode("utf-8", "replace")


def _host(url: str) -> str:
    # Never the whole URL: its query may hold a key.
    return urlsplit(url).hostname or "The server"
