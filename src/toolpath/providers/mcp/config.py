"""Lists of servers as other MCP clients write them (`mcpServers`, or `servers`), and servers that `describe` named."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolpath.errors import ConfigError, closest
from toolpath.providers.mcp.provider import McpProvider
from toolpath.providers.surroundings import OUTSIDE, Surroundings
from toolpath.values import JsonObject

_LARGEST = 1_000_000
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]+")
_KEYS = ("mcpServers", "servers", "mcp")
_TYPES = {
    "stdio": "command",
    "http": "url",
    "streamable-http": "url",
    "streamableHttp": "url",
    "streamable_http": "url",
}
_FIELDS = (
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "type",
    "disabled",
    "timeout",
    "trust_annotations",
    "max_concurrency",
    "concurrency",
    "overrides",
)


def read_mcp_config(source: str | Path | Mapping[str, Any], surroundings: Surroundings = OUTSIDE) -> list[McpProvider]:
    """The servers of a configuration that are not disabled: a path, or its content.

    `${VAR}` stays as written until a server starts. A server's name becomes its tools' group: what a group cannot have
    is replaced by `-`. Raises `ConfigError`, naming file and server.
    """
    where, document = _document(source)
    servers = next((document[key] for key in _KEYS if key in document), None)
    if isinstance(servers, dict) and isinstance(servers.get("servers"), dict):
        # VS Code's settings have them one level down.
        servers = servers["servers"]
    if not isinstance(servers, dict):
        raise ConfigError(
            f"{where} has no object 'mcpServers'.", hint='Write {"mcpServers": {"time": {"command": …}}}.'
        )
    providers: dict[str, McpProvider] = {}
    for name, entry in servers.items():
        provider = _read_entry(f"{where}: server {name!r}", _group(str(name)), entry, surroundings)
        if provider is None:
            continue
        if provider.name in providers:
            raise ConfigError(f"{where}: two servers would be called {provider.name!r}.", hint="Rename one of them.")
        providers[provider.name] = provider
    return list(providers.values())


def providers_again(description: JsonObject, surroundings: Surroundings = OUTSIDE) -> list[McpProvider]:
    """The server that `McpProvider.describe` described. Raises `ConfigError` when it had secrets: they are not kept."""
    name = str(description.get("mcp", ""))
    hidden = description.get("hidden")
    if hidden:
        raise ConfigError(
            f"Server {name!r} cannot be reached from its description: {', '.join(map(str, hidden))} is not kept.",
            hint="Name it in the configuration, with secrets as ${VARIABLE}.",
        )
    entry = {key: description[key] for key in description if key != "mcp"}
    provider = _read_entry(f"server {name!r}", name, entry, surroundings)
    if provider is None:
        raise ConfigError(f"Server {name!r} is disabled.")
    return [provider]


def _document(source: str | Path | Mapping[str, Any]) -> tuple[str, JsonObject]:
    if isinstance(source, Mapping):
        return "The MCP configuration", dict(source)
    path = Path(source)
    try:
        if path.stat().st_size > _LARGEST:
            raise ConfigError(f"{path} is larger than {_LARGEST} bytes, which no list of servers is.")
        document = json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from None
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path}:{error.lineno}:{error.colno}: no JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is no JSON: {error}") from None
    if not isinstance(document, dict):
        raise ConfigError(f"{path} is no JSON object.")
    return str(path), document


def _group(name: str) -> str:
    return _ILLEGAL.sub("-", name).strip("-")[:64]


def _read_entry(where: str, name: str, entry: Any, surroundings: Surroundings) -> McpProvider | None:
    if not isinstance(entry, dict):
        raise ConfigError(f"{where} is no object.", hint='Write {"command": …, "args": […]} or {"url": …}.')
    if _read(where, entry, "disabled", bool, False) or entry.get("enabled") is False:
        return None
    kind = entry.get("type")
    if kind is not None and kind not in _TYPES:
        hint = "The older SSE transport is gone; most such servers speak streamable HTTP too." if kind == "sse" else ""
        raise ConfigError(
            f"{where}: the type {kind!r} is not known.", suggestions=closest(str(kind), _TYPES), hint=hint
        )
    needed = _TYPES.get(str(kind))
    if needed and not entry.get(needed):
        raise ConfigError(f"{where} is of type {kind!r} and has no {needed!r}.")
    if not entry.get("command") and not entry.get("url"):
        slips = [key for key in entry if key not in _FIELDS and closest(key, ("command", "url"))]
        raise ConfigError(f"{where} has neither 'command' nor 'url'{f', but {slips[0]!r}' if slips else ''}.")
    try:
        return McpProvider(
            name,
            command=_read(where, entry, "command", str, None),
            args=_texts(where, entry),
            env=_pairs(where, entry, "env"),
            cwd=_read(where, entry, "cwd", str, None),
            url=_read(where, entry, "url", str, None),
            headers=_pairs(where, entry, "headers"),
            timeout=float(_read(where, entry, "timeout", (int, float), 30.0)),
            trust_annotations=_read(where, entry, "trust_annotations", bool, True),
            max_concurrency=_read(
                where, entry, "max_concurrency" if "max_concurrency" in entry else "concurrency", int, None
            ),
            overrides=_read(where, entry, "overrides", dict, {}),
            secrets=surroundings.secrets,
        )
    except ConfigError as error:
        if error.message.startswith(where):
            raise
        raise ConfigError(f"{where}: {error.message}", hint=error.hint, suggestions=error.suggestions) from None


def _read(where: str, entry: JsonObject, field: str, kind: Any, default: Any) -> Any:
    value = entry.get(field, default)
    if value is not default and not isinstance(value, kind):
        raise ConfigError(f"{where}: {field!r} cannot be {type(value).__name__}.")
    return value


def _texts(where: str, entry: JsonObject) -> list[str]:
    values = _read(where, entry, "args", list, [])
    for value in values:
        if not isinstance(value, str | int | float):
            raise ConfigError(f"{where}: 'args' is a list of texts, not of {type(value).__name__}.")
    return [str(value) for value in values]


def _pairs(where: str, entry: JsonObject, field: str) -> dict[str, str]:
    pairs = _read(where, entry, field, dict, {}) or {}
    for name, value in pairs.items():
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise ConfigError(f"{where}: {field}.{name} is a text, not {type(value).__name__}.")
    return {str(name): str(value) for name, value in pairs.items()}
