"""Reader of what people write about a tool: durations, retry, cache, rate, requirements. Pure.

One reader for the `@tool` decorator, override files and tools from data, so that they cannot differ.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_args

import msgspec

from toolpath.errors import ConfigError, closest
from toolpath.model.plan import Cache, OutputValidation, Retry
from toolpath.model.tool import Effect, Example, Isolation, Rate, Requires, Tool
from toolpath.notation.reading.durations import HINT
from toolpath.notation.reading.durations import seconds as duration
from toolpath.values import Json, made_ready

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_Kind = TypeVar("_Kind")
_RATE = re.compile(r"\s*(\d+)\s*/\s*(.+)")

#: Fields that say what a tool is, not how it is to be treated: an override may not change them.
IDENTITY = frozenset({"name", "group", "body", "server", "server_identity", "input_schema"})


def seconds(value: Json) -> float:
    """A duration of more than 0 in seconds, of a number or of text such as `10s`. Raises `ValueError`."""
    found = duration(value)
    if not found:
        raise ValueError(f"{value!r} is no duration of more than 0. {HINT}")
    return found


def _retry(value: Any) -> Retry:
    if isinstance(value, int) and not isinstance(value, bool):
        value = {"max_retries": value}
    if isinstance(value, Mapping):
        value = dict(value)
        if "max_attempts" in value:
            value["max_retries"] = value.pop("max_attempts") - 1
        for name in ("initial_delay", "max_delay"):
            if name in value:
                value[name] = seconds(value[name])
    return _convert(value, Retry)


def _cache(value: Any) -> Cache | None:
    if isinstance(value, bool):
        return Cache() if value else None
    if isinstance(value, int | float | str):
        return Cache(ttl=seconds(value))
    if isinstance(value, Mapping) and "ttl" in value:
        value = {**value, "ttl": seconds(value["ttl"])}
    return _convert(value, Cache)


def _rate(value: Any) -> Rate:
    if isinstance(value, str) and (match := _RATE.fullmatch(value)):
        period = match.group(2)
        value = {"calls": int(match.group(1)), "seconds": _UNITS.get(period.strip().lower()) or seconds(period)}
    if isinstance(value, Mapping) and "seconds" in value:
        value = {**value, "seconds": seconds(value["seconds"])}
    rate = _convert(value, Rate)
    if rate.calls < 1 or rate.seconds <= 0:
        raise ValueError("a rate lets at least one call through: write {calls: 60, seconds: 60} or '60/m'")
    return rate


def _requires(value: Any) -> Requires:
    if isinstance(value, list | tuple | set | frozenset):
        value = {"permissions": tuple(value)}
    return _convert(value, Requires)


def _texts(value: Any) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) else tuple(value)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{value!r} is no list of texts")
    return texts


def _examples(value: Any) -> tuple[Example, ...]:
    return tuple(_convert({"query": item} if isinstance(item, str) else item, Example) for item in value)


def _positive(value: Any) -> int:
    count = _convert(value, int)
    if count < 1:
        raise ValueError(f"{count} is less than 1")
    return count


def _cost(value: Any) -> float:
    cost = float(value)
    if not math.isfinite(cost) or cost < 0:
        raise ValueError(f"a cost is a number of USD from 0, not {value!r}")
    return cost


def _convert(value: Any, kind: type[_Kind]) -> _Kind:
    if isinstance(value, Mapping) and issubclass(kind, msgspec.Struct):
        # msgspec leaves out what it does not know; here a slip of the pen is told.
        unknown = [str(name) for name in value if name not in kind.__struct_fields__]
        if unknown:
            raise ValueError(f"unknown field {unknown[0]!r}; there are {', '.join(kind.__struct_fields__)}")
    return msgspec.convert(value, kind)


_READERS: dict[str, Callable[[Any], Any]] = {
    "timeout": seconds,
    "retry": _retry,
    "cache": _cache,
    "rate": _rate,
    "requires": _requires,
    "capabilities": _texts,
    "limitations": _texts,
    "aliases": _texts,
    "examples": _examples,
    "max_concurrency": _positive,
    "cost": _cost,
}


def read_fields(raw: Mapping[str, Any], *, where: str, allowed: frozenset[str] | None = None) -> dict[str, Any]:
    """Values for `Tool`'s fields, from what was written about a tool.

    `where` names the place in messages. Raises `ConfigError` for a field that is unknown (or not in `allowed`) or whose
    value cannot be read.
    """
    names = frozenset(Tool.__struct_fields__) if allowed is None else allowed
    fields: dict[str, Any] = {}
    for name, value in raw.items():
        if name not in names:
            raise ConfigError(
                f"{where}: a tool has no field {name!r} that can be set here.",
                suggestions=closest(str(name), names),
                hint="" if name not in IDENTITY else "It belongs to the tool itself.",
            )
        try:
            fields[name] = _read(name, value)
        except (ValueError, TypeError, AttributeError) as error:
            raise ConfigError(f"{where}: {name}: {error}") from None
    return fields


def _read(name: str, value: Any) -> Any:
    if name in _READERS:
        return value if value is None else _READERS[name](value)
    if name in _LITERALS and value not in _LITERALS[name]:
        raise ValueError(f"{value!r} is none of {', '.join(_LITERALS[name])}")
    if name in _BOOLEANS and not isinstance(value, bool):
        raise ValueError(f"{value!r} is neither true nor false")
    return value


_BOOLEANS = frozenset({"idempotent", "strict_formats"})
_LITERALS = {
    "effect": get_args(Effect),
    "isolation": get_args(Isolation),
    "output_validation": get_args(OutputValidation),
}

#: What a local override may change.
OVERRIDABLE = frozenset(Tool.__struct_fields__) - IDENTITY


made_ready(Cache, Example, Rate, Requires, Retry)
