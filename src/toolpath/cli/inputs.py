"""Inputs from the command line: `-i name=value`, files, stdin."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from toolpath.cli.exits import UsageError
from toolpath.values import Json, JsonObject, decode, type_name

#: More on stdin or in a file of inputs is refused before it is parsed.
MAX_BYTES = 100_000_000


def read_inputs(pairs: Sequence[str], file: str, schema: JsonObject | None = None) -> JsonObject:
    """The inputs of the file, overridden by the pairs. `schema` tells which of them are to stay text."""
    inputs = _from_file(file) if file else {}
    inputs.update(parse_pairs(pairs, schema))
    return inputs


def parse_pairs(pairs: Sequence[str], schema: JsonObject | None = None) -> JsonObject:
    """`name=value` pairs as an object. A value is JSON where it is JSON and the schema does not want text."""
    properties = (schema or {}).get("properties", {})
    result: JsonObject = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"{pair!r} is no input.", hint="Write name=value.")
        result[name] = _value(text, properties.get(name))
    return result


def _value(text: str, declared: Json) -> Json:
    try:
        value = decode(text)
    except (ValueError, RecursionError):
        return text
    allowed = declared.get("type") if isinstance(declared, dict) else None
    types = {allowed} if isinstance(allowed, str) else set(allowed or ())
    kinds = {"integer", "number"} if type_name(value) == "integer" else {type_name(value)}
    # A postcode that is declared a string stays one.
    return text if "string" in types and not kinds & types else value


def _from_file(file: str) -> JsonObject:
    text = read_text(file)
    if file.endswith((".yaml", ".yml")):
        value = _yaml(text, file)
    else:
        try:
            value = decode(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"The inputs in {_name(file)} are no JSON: {error}") from None
    if not isinstance(value, dict):
        raise UsageError(f"The inputs in {_name(file)} are {type_name(value)}; they must be an object.")
    return value


def _yaml(text: str, file: str) -> Json:
    try:
        return YAML(typ="safe", pure=True).load(text)
    except (YAMLError, RecursionError) as error:
        raise UsageError(f"The inputs in {_name(file)} are no YAML: {error}") from None


def read_text(file: str) -> str:
    """The text of a file, or of stdin for `-`."""
    try:
        with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise UsageError(f"{_name(file)} holds more than {MAX_BYTES // 1_000_000} MB.")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{_name(file)} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{_name(file)} is no UTF-8 text.") from None


def read_words(words: str) -> str:
    """The words that were typed, or those of stdin for `-`, without the line end that a pipe puts behind them."""
    return read_text("-").rstrip("\r\n") if words == "-" else words


def _name(file: str) -> str:
    return "stdin" if file == "-" else file
