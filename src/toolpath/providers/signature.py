"""Signature of a function, read from its hints and docstring; types themselves are `annotations`'."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

import msgspec

from toolpath.errors import ConfigError
from toolpath.model.tool import ToolResult
from toolpath.ports import ToolContext
from toolpath.providers.annotations import (
    MISSING,
    adapter_of,
    adapter_schemas,
    is_plain_core,
    plain_schema,
    reader_of,
    write_model,
    write_with,
)
from toolpath.providers.docstrings import read_docstring
from toolpath.values import Json, JsonObject

if TYPE_CHECKING:
    from pydantic import TypeAdapter


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """Signature of a function: how it is described, what it takes and what it gives."""

    name: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject | None
    """None: the result's type is not known."""
    is_typed: bool
    """The result has an annotation that says something."""
    is_async: bool
    wants_context: bool
    positional: tuple[str, ...] = ()
    """Parameters that take no name in a call."""
    readers: dict[str, Callable[[Json], Any]] = {}
    """Parameter → what makes its Python value of a JSON value; only for those that need it."""
    write: Callable[[Any], Any] | None = None
    """What makes JSON of the result; None: it is JSON already."""


class _Parameter(msgspec.Struct, frozen=True):
    name: str
    annotation: Any
    default: Any
    is_positional: bool


def read_signature(function: Callable[..., Any]) -> Signature:
    """The signature of a function, method, partial or callable object.

    Raises `ConfigError` that names the parameter for a type that has no JSON Schema, for `*args`, and for what cannot
    be called as a tool.
    """
    inner = _innermost(function)
    where = f"Function {function_name(function)!r}"
    _refuse_generators(inner, where)
    parameters, rest, wants_context = _parameters(function, _hints(inner, where), where)
    document = read_docstring(inspect.getdoc(inner if _is_plain_function(inner) else function))
    properties, readers, definitions = _read_parameters(parameters, where)
    for parameter in parameters:
        schema = properties[parameter.name]
        if parameter.name in document.parameters and "description" not in schema:
            properties[parameter.name] = {**schema, "description": document.parameters[parameter.name]}
    result = _hints(inner, where).get("return", MISSING)
    output_schema, write = _read_result(result, where)
    return Signature(
        name=function_name(function),
        description=document.description,
        input_schema=_object_schema(parameters, properties, rest, definitions),
        output_schema=output_schema,
        is_typed=output_schema is not None,
        is_async=inspect.iscoroutinefunction(inner),
        wants_context=wants_context,
        positional=tuple(parameter.name for parameter in parameters if parameter.is_positional),
        readers=readers,
        write=write,
    )


def function_name(function: Callable[..., Any]) -> str:
    """The name by which a callable goes; that of its class for a callable object."""
    if isinstance(function, functools.partial):
        return function_name(function.func)
    return str(getattr(function, "__name__", type(function).__name__))


def _innermost(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that carries annotations and docstring."""
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.isclass(function):
        raise ConfigError(f"{function.__name__!r} is a class, not a function.", hint="Add an object or its methods.")
    if _is_plain_function(function) or inspect.isbuiltin(function):
        return function
    call: Callable[..., Any] = type(function).__call__
    return call


def _is_plain_function(function: Callable[..., Any]) -> bool:
    return inspect.isfunction(function) or inspect.ismethod(function)


def _refuse_generators(function: Callable[..., Any], where: str) -> None:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ConfigError(f"{where} is a generator.", hint="Return a list; report progress through `ToolContext`.")


def _hints(function: Callable[..., Any], where: str) -> Mapping[str, Any]:
    # ToolContext is often imported for type checkers alone.
    try:
        return typing.get_type_hints(function, localns={"ToolContext": ToolContext}, include_extras=True)
    except NameError as error:
        raise ConfigError(
            f"{where}: the annotation {error.name!r} is not known at run time.",
            hint="Import it outside `if TYPE_CHECKING:`, or define it where the function's module can see it.",
        ) from None
    except Exception as error:  # noqa: BLE001 - annotations are evaluated: anything can go wrong
        raise ConfigError(f"{where}: its annotations cannot be read: {type(error).__name__}: {error}") from None


def _parameters(
    function: Callable[..., Any], hints: Mapping[str, Any], where: str
) -> tuple[list[_Parameter], Any, bool]:
    """The parameters a caller gives, the annotation of `**rest` (or nothing), whether a context comes first."""
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{where} does not say what it takes: {error}", hint="Wrap it in a `def`.") from None
    found: list[_Parameter] = []
    rest: Any = MISSING
    wants_context = False
    for index, parameter in enumerate(signature.parameters.values()):
        annotation = hints.get(parameter.name, MISSING)
        if _is_context(annotation):
            if index:
                raise ConfigError(f"{where}: {parameter.name!r} is a ToolContext but not the first parameter.")
            wants_context = True
        elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            raise ConfigError(
                f"{where} takes *{parameter.name}, which has no name in JSON.", hint="Take a list instead."
            )
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            rest = Any if annotation is MISSING else annotation
        elif index == 0 and parameter.name in ("self", "cls") and annotation is MISSING:
            raise ConfigError(f"{where} is a method without its object.", hint="Add `object.method` instead.")
        else:
            is_positional = parameter.kind is inspect.Parameter.POSITIONAL_ONLY
            found.append(_Parameter(parameter.name, annotation, parameter.default, is_positional))
    return found, rest, wants_context


def _is_context(annotation: Any) -> bool:
    if get_origin(annotation) in (Union, types.UnionType):
        return ToolContext in get_args(annotation)
    return annotation is ToolContext


def _object_schema(
    parameters: list[_Parameter], properties: JsonObject, rest: Any, definitions: JsonObject
) -> JsonObject:
    schema: JsonObject = {"type": "object", "properties": properties}
    required = [parameter.name for parameter in parameters if _default(parameter) is MISSING]
    if required:
        schema["required"] = required
    if rest is MISSING:
        schema["additionalProperties"] = False
    elif (plain := plain_schema(rest)) is not None:
        schema["additionalProperties"] = plain or True
    if definitions:
        schema["$defs"] = definitions
    return schema


def _default(parameter: _Parameter) -> Any:
    """The parameter's default, or `MISSING`; that of a pydantic `Field` where this is the default."""
    default = parameter.default
    if type(default).__name__ == "FieldInfo":
        return MISSING if default.is_required() else default.get_default(call_default_factory=True, validated_data={})
    return default


def _read_parameters(
    parameters: list[_Parameter], where: str
) -> tuple[JsonObject, dict[str, Callable[[Json], Any]], JsonObject]:
    """The schema of each parameter, the readers of those that need one, and shared definitions."""
    properties: JsonObject = {}
    adapters: dict[str, TypeAdapter[Any]] = {}
    for parameter in parameters:
        is_field = type(parameter.default).__name__ == "FieldInfo"
        schema = None if is_field else plain_schema(parameter.annotation)
        properties[parameter.name] = {} if schema is None else schema
        if schema is None:
            annotation = Any if parameter.annotation is MISSING else parameter.annotation
            annotation = Annotated[annotation, parameter.default] if is_field else annotation
            adapters[parameter.name] = adapter_of(annotation, f"{where}: parameter {parameter.name!r}")
    definitions: JsonObject = {}
    if adapters:
        schemas, definitions = adapter_schemas(adapters, "validation", where)
        properties |= schemas
    for parameter in parameters:
        _add_default(properties, parameter)
    readers = {
        name: reader_of(adapter, name) for name, adapter in adapters.items() if not is_plain_core(adapter.core_schema)
    }
    return properties, readers, definitions


def _add_default(properties: JsonObject, parameter: _Parameter) -> None:
    default = _default(parameter)
    if default is MISSING or "default" in properties[parameter.name]:
        return
    try:
        value = msgspec.to_builtins(default, str_keys=True)
    except (TypeError, ValueError, RecursionError):
        # A default that JSON cannot say stays the function's own affair.
        return
    properties[parameter.name] = {**properties[parameter.name], "default": value}


def _read_result(annotation: Any, where: str) -> tuple[JsonObject | None, Callable[[Any], Any] | None]:
    """The schema of the result, None where nothing is known, and what makes JSON of it where that needs doing."""
    if any(annotation is unknown for unknown in (MISSING, Any, object, ToolResult)):
        return None, write_model
    plain = plain_schema(annotation)
    if plain is not None:
        return plain or None, None
    adapter = adapter_of(annotation, f"{where}: its result")
    schemas, definitions = adapter_schemas({"result": adapter}, "serialization", f"{where}: its result")
    schema = schemas["result"]
    if definitions:
        schema = {**schema, "$defs": definitions}
    return schema, functools.partial(write_with, adapter)
