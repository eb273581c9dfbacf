"""JSON values: plain form, canonical form and digest, pointers, handles of large values. Pure."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from toolpath.errors import OutputInvalid

type_names = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}

# `Any` stands for a JSON value throughout: None, bool, int, float, str, list or dict with text keys.
Json = Any
JsonObject = dict[str, Any]

_encoder = msgspec.json.Encoder()
_sorted_encoder = msgspec.json.Encoder(order="deterministic")
_decoder = msgspec.json.Decoder()
# Looked for with `find`: `in` asks first whether it is a number, which for bytes takes longer than a short text does.
_NULL = b"null"

#: Nesting beyond this is refused everywhere: every reader and writer here recurses.
MAX_DEPTH = 200


def made_ready(*records: Any) -> None:
    """Have msgspec know these types of records: said by each module that reads some, once it is loaded.

    It makes what it knows when it first reads one, and two threads that are the first at once end the process.
    """
    for record in records:
        msgspec.json.Decoder(record)


def duration_text(value: float) -> str:
    """A duration for people, e.g. `0.12 s` or `2 min 3 s`."""
    if value < 60:
        return f"{value:.2f} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def type_name(value: Json) -> str:
    """The JSON Schema name of the value's type, e.g. `object`."""
    return type_names.get(type(value), type(value).__name__)


def encode(value: Json) -> bytes:
    """The value as compact JSON text. Raises `OutputInvalid` for what is no JSON."""
    try:
        data = _encoder.encode(value)
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise OutputInvalid(f"The value is no JSON: {error}", hint="Return objects, lists, text and numbers.") from None
    # msgspec writes NaN and infinity as null; a silent null would be a changed result.
    if data.find(_NULL) >= 0 and _has_no_number(value):
        raise OutputInvalid("The value holds NaN or infinity, which JSON does not have.")
    return data


def decode(data: bytes | str) -> Json:
    """The value of JSON text. Raises `ValueError` for what is no JSON."""
    return _decoder.decode(data)


def plain(value: Any) -> tuple[Json, bytes]:
    """A tool's result as a plain JSON value of its own, and the same as text.

    Dataclasses, tuples, dates, enums and the like become what JSON has for them. Raises `OutputInvalid` otherwise.
    """
    try:
        data = _encoder.encode(value)
        if type(value) is str:
            # It cannot be changed, and may be long.
            return value, data
        if data.find(_NULL) < 0:
            return _decoder.decode(data), data
    except (TypeError, ValueError, RecursionError, OverflowError):
        # `encode` says what is wrong.
        pass
    data = encode(value)
    try:
        return _decoder.decode(data), data
    except (ValueError, RecursionError) as error:
        raise OutputInvalid(f"The value is nested too deeply or is no JSON: {error}") from None


def writable(text: str) -> str:
    """The text with what no JSON text can hold, lone surrogates, replaced by question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _has_no_number(value: Any) -> bool:
    waiting = [value]
    while waiting:
        here = waiting.pop()
        kind = type(here)
        if kind is str or here is None or kind is int or kind is bool:
            continue
        if kind is dict:
            waiting += here.values()
        elif kind is list or isinstance(here, list | tuple | set | frozenset):
            waiting += here
        elif isinstance(here, float):
            if not math.isfinite(here):
                return True
        elif isinstance(here, Mapping):
            waiting += here.values()
    return False


def canonical(value: Json) -> bytes:
    """The one text that equal values share: sorted keys, no blanks, 1.0 as 1."""
    data = _sorted_encoder.encode(value)
    # Whole floats that have an equal integer are written with this end; most values have none.
    return _sorted_encoder.encode(_folded_numbers(value)) if data.find(b".0") >= 0 else data


def _folded_numbers(value: Json) -> Json:
    match value:
        case float() if value.is_integer() and abs(value) < 2**53:
            return int(value)
        case dict():
            return {key: _folded_numbers(item) for key, item in value.items()}
        case list() | tuple():
            return [_folded_numbers(item) for item in value]
        case _:
            return value


def digest(value: Json) -> str:
    """`sha256:` and the hexadecimal digest of the value's canonical form."""
    return f"sha256:{hashlib.sha256(canonical(value)).hexdigest()}"


def digest_bytes(data: bytes) -> str:
    """`sha256:` and the hexadecimal digest of bytes."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def pointer(*parts: str | int) -> str:
    """A JSON pointer (RFC 6901) of these parts, e.g. `/steps/0/inputs`."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def key_pointer(key: str | int) -> str:
    """The JSON pointer of one key or index: what `pointer` gives, without a detour."""
    if type(key) is str and "~" not in key and "/" not in key:
        return "/" + key
    return pointer(key)


def walk(value: Json, at: str = "") -> Iterator[tuple[str, Json]]:
    """Every value inside this one, itself first, with its JSON pointer."""
    yield at, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from walk(item, at + key_pointer(key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from walk(item, at + pointer(index))


class Handle(msgspec.Struct, frozen=True, kw_only=True, rename={"digest": "$blob"}):
    """Stands for a value too large to travel: where its bytes are, how many, and how it begins."""

    digest: str
    size: int
    preview: str = ""


HANDLE_KEY = "$blob"


def handle_of(data: bytes, known: str = "") -> Handle:
    """The handle of a value with this text, whose digest may be known."""
    return Handle(digest=known or digest_bytes(data), size=len(data), preview=data[:200].decode(errors="replace"))


def as_handle(value: Json) -> Handle | None:
    """The handle that a journaled value stands for, or None for an ordinary value."""
    if type(value) is Handle:
        return value
    if type(value) is dict and HANDLE_KEY in value and set(value) <= {HANDLE_KEY, "size", "preview"}:
        try:
            return msgspec.convert(value, Handle)
        except msgspec.ValidationError:
            return None
    return None


made_ready(Handle)
