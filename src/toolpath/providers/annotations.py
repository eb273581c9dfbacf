"""Type annotations as JSON Schema, and the conversions between JSON and Python's types.

Plain JSON types are read here; whatever else has a schema is pydantic's, which is imported only where it is needed.
"""

from __future__ import annotations

import functools
import inspect
import operator
import types
import typing
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, is_typeddict

import msgspec

from toolpath.errors import ConfigError, OutputInvalid, SchemaError
from toolpath.model.tool import ToolResult
from toolpath.values import Json, JsonObject, pointer

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic.json_schema import GenerateJsonSchema

#: What `inspect` says where nothing is said.
MISSING = inspect.Parameter.empty


def plain_schema(annotation: Any) -> JsonObject | None:
    """The schema of a type whose JSON values need no conversion; None for every other type."""
    try:
        if annotation in _PLAIN:
            return dict(_PLAIN[annotation])
    except TypeError:
        # What cannot be hashed, e.g. an Annotated with a list in it, is not plain.
        return None
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is list and (item := plain_schema(arguments[0])) is not None:
        return {"type": "array", "items": item} if item else {"type": "array"}
    if origin in (dict, Mapping) and arguments[0] is str and (item := plain_schema(arguments[1])) is not None:
        return {"type": "object", "additionalProperties": item} if item else {"type": "object"}
    if origin is Literal and all(type(value) in (str, int, bool, type(None)) for value in arguments):
        return _literal(arguments)
    if origin in (Union, types.UnionType):
        members = [plain_schema(member) for member in arguments]
        return None if any(member is None for member in members) else {"anyOf": members}
    if origin is Annotated and all(isinstance(extra, str) for extra in arguments[1:]):
        inner = plain_schema(arguments[0])
        return None if inner is None else {**inner, "description": arguments[1]}
    return None


#: `Any` and no annotation: everything.
_PLAIN: dict[Any, JsonObject] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    type(None): {"type": "null"},
    None: {"type": "null"},
    dict: {"type": "object"},
    list: {"type": "array"},
    typing.Dict: {"type": "object"},  # noqa: UP006 - what older code still says
    typing.List: {"type": "array"},  # noqa: UP006
    Any: {},
    object: {},
    MISSING: {},
}


def _literal(values: tuple[Any, ...]) -> JsonObject:
    names = {str: "string", int: "integer", bool: "boolean", type(None): "null"}
    kinds = sorted({names[type(value)] for value in values})
    return {"enum": list(values), "type": kinds[0] if len(kinds) == 1 else kinds}


def adapter_of(annotation: Any, where: str) -> TypeAdapter[Any]:
    """Pydantic's adapter of a type. Raises `ConfigError`, saying `where`, for a type that has no schema."""
    # pydantic takes a third of a second to import, and most functions do without.
    from pydantic import PydanticUserError, TypeAdapter  # noqa: PLC0415

    try:
        # pydantic takes the TypedDict of `typing` only from Python 3.12 on.
        return TypeAdapter(_modern(annotation))
    except (PydanticUserError, TypeError, NameError, RecursionError) as error:
        raise _no_schema(where, annotation, error) from None


def _modern(annotation: Any) -> Any:
    """The annotation with every TypedDict of `typing`, however deep, as one of `typing_extensions`."""
    if is_typeddict(annotation) and type(annotation).__module__ == "typing":
        from typing_extensions import TypedDict as Modern  # noqa: PLC0415 - as in `adapter_of`

        optional = annotation.__optional_keys__
        fields = {
            name: typing.NotRequired[_modern(hint)] if name in optional else _modern(hint)
            for name, hint in typing.get_type_hints(annotation, include_extras=True).items()
        }
        return Modern(annotation.__name__, fields)  # type: ignore[operator]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is None or origin is Literal:
        return annotation
    if origin is Annotated:
        return Annotated[(_modern(arguments[0]), *arguments[1:])]
    modern = tuple(_modern(argument) for argument in arguments)
    if all(new is old for new, old in zip(modern, arguments, strict=True)):
        return annotation
    return functools.reduce(operator.or_, modern) if origin in (Union, types.UnionType) else origin[modern]


def _no_schema(where: str, annotation: Any, error: Exception) -> ConfigError:
    name = getattr(annotation, "__name__", None) or str(annotation)
    reason = str(error).split("\n", 1)[0]
    return ConfigError(
        f"{where}: the type {name} has no JSON Schema ({reason[:200]}).",
        hint="Use JSON types, dataclasses, TypedDict, enums, Literal or pydantic models.",
    )


def adapter_schemas(
    adapters: Mapping[str, TypeAdapter[Any]], mode: Literal["validation", "serialization"], where: str
) -> tuple[JsonObject, JsonObject]:
    """The schema of each adapter, and the definitions that they share. Raises `ConfigError`."""
    from pydantic import PydanticUserError, TypeAdapter  # noqa: PLC0415 - as in `adapter_of`

    try:
        wanted = [(name, mode, adapter) for name, adapter in adapters.items()]
        found, shared = TypeAdapter.json_schemas(wanted, schema_generator=_generator())
    except PydanticUserError as error:
        raise _no_schema(where, " or ".join(adapters), error) from None
    schemas: JsonObject = {name: _untitled(schema) for (name, _), schema in found.items()}
    definitions: JsonObject = {name: _untitled(schema) for name, schema in shared.get("$defs", {}).items()}
    return schemas, definitions


@functools.cache
def _generator() -> type[GenerateJsonSchema]:
    """Pydantic's writer of schemas, which says of written values that they have what is filled in by default."""
    from pydantic.json_schema import GenerateJsonSchema  # noqa: PLC0415 - as in `adapter_of`

    class Generator(GenerateJsonSchema):
        def field_is_required(self, field: Any, total: bool) -> bool:
            if self.mode == "serialization" and field["type"] != "typed-dict-field":
                return field.get("serialization_exclude_if") is None
            return super().field_is_required(field, total)

    return Generator


def _untitled(schema: Any) -> Any:
    """The schema without the titles that pydantic makes of names; a property may be called `title`."""
    if not isinstance(schema, dict):
        return schema
    found = {key: value for key, value in schema.items() if not (key == "title" and isinstance(value, str))}
    if isinstance(found.get("properties"), dict):
        found["properties"] = {name: _untitled(value) for name, value in found["properties"].items()}
    return found


#: Kinds of pydantic's core schema whose values are JSON as they come.
_PLAIN_CORE = frozenset({"str", "int", "float", "bool", "none", "any", "literal"})


def is_plain_core(schema: Any) -> bool:
    """Values of this core schema of pydantic are JSON as they come."""
    match schema["type"]:
        case "list":
            return is_plain_core(schema.get("items_schema", {"type": "any"}))
        case "nullable" | "default":
            return is_plain_core(schema["schema"])
        case kind:
            return kind in _PLAIN_CORE


def reader_of(adapter: TypeAdapter[Any], name: str) -> Callable[[Json], Any]:
    """The function that makes the Python value of the argument `name`; it raises `SchemaError` with each fault."""

    def read(value: Json) -> Any:
        from pydantic import ValidationError  # noqa: PLC0415 - loaded already, since there is an adapter

        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            faults = [(pointer(name, *fault["loc"]), fault["msg"]) for fault in error.errors(include_input=False)]
            raise SchemaError(
                f"Argument {name!r} does not fit: {faults[0][1] if faults else error}", faults=faults
            ) from None

    return read


def write_with(adapter: TypeAdapter[Any], result: Any) -> Any:
    """The JSON of a result of the adapter's type. Raises `OutputInvalid` for what is none."""
    from pydantic_core import PydanticSerializationError  # noqa: PLC0415 - as in `reader_of`

    if type(result) is ToolResult:
        return msgspec.structs.replace(result, output=write_with(adapter, result.output))
    if type(result) in (dict, list):
        result = _filled(adapter, result)
    try:
        return adapter.dump_python(result, mode="json", by_alias=True, warnings="none")
    except (PydanticSerializationError, ValueError, TypeError) as error:
        raise OutputInvalid(f"The result is no JSON: {str(error)[:500]}") from None


def _filled(adapter: TypeAdapter[Any], result: Any) -> Any:
    """A plain object in the place of a model or dataclass with its defaults; anything else as it is."""
    from pydantic import ValidationError  # noqa: PLC0415 - loaded already, since there is an adapter

    kinds = _kinds_of(adapter)
    if "'type': 'default'" not in kinds or "typed-dict" in kinds:
        return result
    try:
        return adapter.validate_python(result)
    except ValidationError:
        # What is wrong with it, the schema says.
        return result


@functools.lru_cache(maxsize=1024)
def _kinds_of(adapter: TypeAdapter[Any]) -> str:
    return str(adapter.core_schema)


def write_model(result: Any) -> Any:
    """A pydantic model that no annotation announced, as JSON; everything else as it is."""
    if type(result) is ToolResult:
        return msgspec.structs.replace(result, output=write_model(result.output))
    dump = getattr(type(result), "model_dump", None)
    return dump(result, mode="json", by_alias=True) if callable(dump) else result
