"""Checks of what an MCP server is said to be, and the reading of lists of servers. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import msgspec

from toolpath.errors import SchemaError, closest
from toolpath.model.language_model import MASK
from toolpath.model.mcp_server import McpServer, Transport
from toolpath.values import Json, JsonObject, made_ready

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
#: Headers that say how a request is sent, not by whom.
_NOT_OURS: Final = frozenset({"host", "content-length", "transfer-encoding", "connection"})
_LONGEST: Final = 2_000
_LONGEST_SECRET: Final = 20_000
_MOST_ARGS: Final = 100
_MOST_SECRETS: Final = 50
_MOST_IMPORTED: Final = 200
_TRANSPORTS: Final[dict[str, Transport]] = {
    "stdio": "stdio",
    "studio": "stdio",
    "http": "http",
    "streaming": "http",
    "streamablehttp": "http",
}
_ENTRY: Final = ("command", "args", "env", "url", "headers", "timeout", "trust_annotations")
#: Fields of a file of servers that one which is stored has not, and that would be missed.
_ONLY_IN_FILES: Final = ("cwd", "overrides", "max_concurrency", "concurrency")


class ServerDraft(msgspec.Struct, frozen=True, kw_only=True):
    """Draft of an MCP server; None: as it was, or the usual."""

    name: str | None = None
    url: str | None = None
    command: str | None = None
    args: tuple[str, ...] | None = None
    env: Mapping[str, str] | None = None
    """Values that are masked stay as they were."""
    headers: Mapping[str, str] | None = None
    enabled: bool | None = None
    timeout: float | None = None
    trust_annotations: bool | None = None

    def __repr__(self) -> str:
        return f"ServerDraft(name={self.name!r})"


def check_server(server: McpServer) -> None:
    """Raise `SchemaError` for what no server can be."""
    if not _NAME.fullmatch(server.name):
        raise SchemaError(
            f"An MCP server cannot be called {server.name[:100]!r}.",
            hint="Use up to 64 letters, digits, '_' and '-': it is the group of its tools.",
        )
    if bool(server.command) == bool(server.url):
        raise SchemaError(f"The MCP server {server.name!r} needs a 'command' or a 'url', one of the two.")
    if server.command:
        _check_command(server)
    else:
        _check_url(server.url)
        if server.args:
            raise SchemaError("'args' are for a command; this server has a 'url'.")
    if not (math.isfinite(server.timeout) and 0 < server.timeout <= 600):
        raise SchemaError("The 'timeout' is seconds, more than 0 and at most 600.")


def secrets_of(given: Mapping[str, str] | None, known: Mapping[str, str], *, field: str) -> dict[str, str]:
    """Values of `env` or `headers`, those that are masked as they were. Raises `SchemaError`, which holds none."""
    if given is None:
        return dict(known)
    if len(given) > _MOST_SECRETS:
        raise SchemaError(f"{field!r} has at most {_MOST_SECRETS} entries.")
    made: dict[str, str] = {}
    for name, value in given.items():
        if field == "headers":
            is_name = bool(_HEADER.fullmatch(name)) and name.lower() not in _NOT_OURS
            is_value = isinstance(value, str) and value.isascii() and value.isprintable()
        else:
            is_name = bool(_VARIABLE.fullmatch(name))
            is_value = isinstance(value, str) and "\0" not in value and not has_surrogates(value)
        if not is_name:
            raise SchemaError(f"{name[:50]!r} cannot be given in {field!r}.")
        if not is_value or len(value) > _LONGEST_SECRET:
            raise SchemaError(f"The value of {name!r} in {field!r} is too long, or holds signs that none may have.")
        kept = known.get(name, "") if is_masked(value) else value
        if not kept and is_masked(value):
            raise SchemaError(f"The value of {name!r} in {field!r} is masked, and none is known.", hint="Give it anew.")
        made[name] = kept
    return made


def read_servers(document: Json) -> list[ServerDraft]:
    """The servers of an `mcpServers` document, as other MCP clients write it. Raises `SchemaError` naming one."""
    if isinstance(document, str):
        try:
            document = msgspec.json.decode(document)
        except (ValueError, RecursionError) as error:
            raise SchemaError(f"The list of MCP servers is no JSON: {error}") from None
    servers = document.get("mcpServers") if isinstance(document, dict) else None
    if not isinstance(servers, dict) or not servers:
        raise SchemaError(
            "There is no object 'mcpServers' with servers.", hint='Write {"mcpServers": {"time": {"url": …}}}.'
        )
    if len(servers) > _MOST_IMPORTED:
        raise SchemaError(f"At most {_MOST_IMPORTED} MCP servers are taken at once.")
    return [_entry(name, entry) for name, entry in servers.items()]


def check_transport(kind: str, name: str) -> None:
    """Raise `SchemaError` for a kind of connection that there is not."""
    plain = re.sub(r"[-_ ]", "", kind).lower()
    if plain == "sse":
        raise SchemaError(
            f"The MCP server {name[:100]!r} is of the older SSE transport, which is not spoken.",
            hint="Most such servers speak streamable HTTP, too: give that address.",
        )
    if plain not in _TRANSPORTS:
        raise SchemaError(f"There is no kind of MCP server {kind[:50]!r}.", hint="There are 'stdio' and 'http'.")


def is_masked(value: str) -> bool:
    """Whether it is what stands for a secret where it is read."""
    return bool(value) and not value.strip(MASK)


def has_surrogates(text: str) -> bool:
    """Whether it holds half a sign, which can be written nowhere."""
    return any("\ud800" <= sign <= "\udfff" for sign in text)


def _entry(name: str, entry: Json) -> ServerDraft:
    where = f"The MCP server {name[:100]!r}"
    if not isinstance(entry, dict):
        raise SchemaError(f"{where} is no object.", hint='Write {"command": …, "args": […]} or {"url": …}.')
    for field in _ONLY_IN_FILES:
        if field in entry:
            raise SchemaError(f"{where}: {field!r} can only be said in a file of servers.", hint="Leave it out.")
    for field in ("type", "connectionType", "transport"):
        kind = entry.get(field)
        if kind is not None:
            check_transport(str(kind), name)
    if not entry.get("command") and not entry.get("url"):
        slips = [key for key in entry if closest(key, ("command", "url"))]
        raise SchemaError(f"{where} has neither 'command' nor 'url'{f', but {slips[0]!r}' if slips else ''}.")
    said: JsonObject = {field: entry[field] for field in _ENTRY if entry.get(field) is not None}
    said["enabled"] = not (entry.get("disabled") is True or entry.get("enabled") is False)
    try:
        return msgspec.convert({**said, "name": name}, ServerDraft)
    except msgspec.ValidationError as error:
        raise SchemaError(f"{where}: {error}") from None


def _check_command(server: McpServer) -> None:
    command = server.command
    if any(sign.isspace() for sign in command):
        raise SchemaError(
            "Command field should contain only the executable name, not arguments.",
            hint="What follows goes into 'args'.",
        )
    if len(command) > _LONGEST or not command.isprintable():
        raise SchemaError("The command is none: it holds signs that no program's name has.")
    if len(server.args) > _MOST_ARGS:
        raise SchemaError(f"A command has at most {_MOST_ARGS} arguments.")
    for argument in server.args:
        if len(argument) > _LONGEST or "\0" in argument or has_surrogates(argument):
            raise SchemaError(f"An argument has at most {_LONGEST:,} characters, and no zero byte.")


def _check_url(url: str) -> None:
    try:
        split = urlsplit(url)
        _ = split.port
    except ValueError:
        split = urlsplit("")
    is_plain = url.isprintable() and not any(sign.isspace() for sign in url)
    if split.scheme not in ("http", "https") or not split.hostname or len(url) > _LONGEST or not is_plain:
        raise SchemaError("The URL is none: it begins with http:// or https:// and names a host.")
    if split.username or split.password or split.query or split.fragment:
        raise SchemaError("The URL holds a password or a query.", hint="Secrets go into 'headers': they are sealed.")


made_ready(ServerDraft)
