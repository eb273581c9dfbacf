"""Python functions as tools: the `@tool` mark, tools from functions, and the bodies of tools from data."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypedDict, TypeVar, Unpack, overload

import msgspec

from toolpath.catalog.fields import read_fields
from toolpath.errors import ConfigError
from toolpath.model.plan import Plan
from toolpath.model.tool import Body, Tool
from toolpath.providers.modules import load_module, reference_to
from toolpath.providers.process import run_in_process
from toolpath.providers.signature import Signature, read_signature
from toolpath.values import JsonObject

_F = TypeVar("_F", bound=Callable[..., Any])
_MARK = "__toolpath__"


class ToolFields(TypedDict, total=False):
    """Fields that a function as a tool may be given. Durations are seconds or text such as `10s`."""

    name: str
    group: str
    title: str
    description: str
    category: str
    version: str
    effect: str
    """`read`, `write` (when nothing is said) or `destructive`."""
    idempotent: bool
    capabilities: Any
    limitations: Any
    examples: Any
    aliases: Any
    timeout: Any
    retry: Any
    cache: Any
    cost: float
    verify: str
    max_concurrency: int
    rate: Any
    requires: Any
    isolation: str
    output_validation: str
    input_schema: JsonObject
    output_schema: JsonObject | None
    strict_formats: bool
    undo: Any
    reads: Any
    sends: Any
    metadata: JsonObject


_ALLOWED = frozenset(ToolFields.__annotations__)


@overload
def tool(function: _F, /) -> _F: ...


@overload
def tool(**fields: Unpack[ToolFields]) -> Callable[[_F], _F]: ...


def tool(function: Any = None, /, **fields: Unpack[ToolFields]) -> Any:
    """Mark a function as a tool and return it unchanged: `@tool`, or `@tool(group="blog", effect="read")`.

    Nothing is registered; `Toolpath.add` takes the function. Raises `ConfigError` for a field that is unknown or cannot
    be read.
    """

    def mark(marked: _F) -> _F:
        name = getattr(marked, "__qualname__", repr(marked))
        read_fields(fields, where=f"@tool of {name}", allowed=_ALLOWED)
        try:
            setattr(marked, _MARK, dict(fields))
        except AttributeError:
            raise ConfigError(f"{name} cannot be marked.", hint="Use `tool_from_function(function, …)`.") from None
        return marked

    return mark if function is None else mark(function)


def is_marked(value: object) -> bool:
    """Whether `@tool` was put on it."""
    return callable(value) and isinstance(getattr(value, _MARK, None), dict)


def tool_from_function(function: Callable[..., Any], /, **overrides: Unpack[ToolFields]) -> Tool:
    """The tool that a function, method, partial or callable object is.

    Schemas come from its type hints, texts from its docstring, the rest from `@tool` and `overrides`, which win.
    Without a word on effects it writes. Raises `ConfigError` for what has no JSON Schema or cannot be a tool.
    """
    if not callable(function):
        raise ConfigError(f"{type(function).__name__} is no function.", hint="Add functions, tools or providers.")
    signature = read_signature(function)
    said: Mapping[str, Any] = {**(getattr(function, _MARK, None) or {}), **overrides}
    fields = read_fields(said, where=f"tool {signature.name!r}", allowed=_ALLOWED)
    fields.setdefault("name", signature.name)
    fields.setdefault("description", signature.description)
    fields.setdefault("input_schema", signature.input_schema)
    if "output_schema" not in fields:
        fields["output_schema"] = signature.output_schema
        if signature.is_typed:
            fields.setdefault("output_validation", "strict")
    found = Tool(**fields)
    return msgspec.structs.replace(found, body=_body(function, signature, found))


def bind(tool: Tool, /) -> Tool:
    """The tool with a body that the engine can call: a plain callable becomes a `Body`, everything else stays.

    What the tool does not say of its schemas is read from the callable. Raises `ConfigError` when there is no body, or
    when schema and callable do not agree.
    """
    match tool.body:
        case Body() | Plan():
            return tool
        case None:
            raise ConfigError(f"Tool {tool.key!r} has no body.", hint="Give it a function or a plan as `body`.")
        case function:
            signature = read_signature(function)
    changes: dict[str, Any] = {"body": _body(function, signature, tool)}
    if tool.input_schema:
        _compare(tool, function)
    else:
        changes["input_schema"] = signature.input_schema
    if tool.output_schema is None and signature.is_typed:
        changes |= {"output_schema": signature.output_schema, "output_validation": "strict"}
    if not tool.description:
        changes["description"] = signature.description
    return msgspec.structs.replace(tool, **changes)


def _compare(tool: Tool, function: Callable[..., Any]) -> None:
    """Refuse a schema whose arguments the function cannot take, or that leaves out one it needs."""
    offered = tool.input_schema.get("properties")
    if not isinstance(offered, dict):
        return
    taken = read_signature(function).input_schema
    needed = [name for name in taken.get("required", ()) if name not in offered]
    if needed:
        raise ConfigError(f"Tool {tool.key!r}: its function needs {needed[0]!r}, which its input_schema does not have.")
    surplus = [name for name in offered if name not in taken["properties"]]
    if surplus and taken.get("additionalProperties") is False:
        raise ConfigError(
            f"Tool {tool.key!r}: its input_schema has {surplus[0]!r}, which its function does not take.",
            hint=f"It takes {', '.join(taken['properties']) or 'nothing'}.",
        )


def _body(function: Callable[..., Any], signature: Signature, tool: Tool) -> Body:
    if tool.isolation == "process":
        reference = _reference(function, signature, tool.key)
        return Body(invoke=lambda inputs, context: run_in_process(reference, inputs), runs="loop", reference=reference)
    runs = "loop" if signature.is_async else "thread"
    invoke = _invoke(function, signature)
    return Body(invoke=invoke, runs=runs, wants_context=signature.wants_context)  # type: ignore[arg-type]


def _reference(function: Callable[..., Any], signature: Signature, key: str) -> str:
    """The words by which another process finds the function. Raises `ConfigError` where it cannot."""
    if signature.wants_context:
        raise ConfigError(
            f"Tool {key!r} runs in a process of its own and cannot have a ToolContext.",
            hint="Drop the parameter or `isolation='process'`.",
        )
    if reference := reference_to(function):
        return reference
    raise ConfigError(
        f"Tool {key!r} is to run in a process of its own, which cannot find "
        f"{getattr(function, '__qualname__', repr(function))}.",
        hint="Use a function defined at the top of a module; lambdas, closures and methods have no name there.",
    )


def _invoke(function: Callable[..., Any], signature: Signature) -> Callable[[JsonObject, Any], Any]:
    """How the function is called with JSON inputs: without detours where its parameters are plain JSON."""
    write = signature.write
    if signature.readers or signature.positional:
        function = _reading(function, signature)
    if signature.is_async and write is not None:
        return _writing_async(function, write, wants_context=signature.wants_context)
    match signature.wants_context, write:
        case False, None:
            return lambda inputs, context: function(**inputs)
        case True, None:
            return lambda inputs, context: function(context, **inputs)
        case False, _:
            return lambda inputs, context: write(function(**inputs))  # type: ignore[misc]
        case _:
            return lambda inputs, context: write(function(context, **inputs))  # type: ignore[misc]


def _reading(function: Callable[..., Any], signature: Signature) -> Callable[..., Any]:
    """The function taking JSON by name, where it takes Python values, some of them by place."""
    readers, positional = signature.readers, signature.positional

    def call(*context: Any, **inputs: Any) -> Any:
        for name, read in readers.items():
            if name in inputs:
                inputs[name] = read(inputs[name])
        places = [inputs.pop(name) for name in positional if name in inputs]
        return function(*context, *places, **inputs)

    return call


def _writing_async(
    function: Callable[..., Any], write: Callable[[Any], Any], *, wants_context: bool
) -> Callable[[JsonObject, Any], Any]:
    if wants_context:

        async def invoke(inputs: JsonObject, context: Any) -> Any:
            return write(await function(context, **inputs))
    else:

        async def invoke(inputs: JsonObject, context: Any) -> Any:
            return write(await function(**inputs))

    return invoke


def marked_in(module: Any) -> tuple[Callable[..., Any], ...]:
    """Every function marked with `@tool` that a module defines, in its order."""
    return tuple(
        value
        for value in vars(module).values()
        if is_marked(value) and inspect.getmodule(value) in (module, None) and not inspect.isclass(value)
    )


def tools_of_module(module: str) -> list[Tool]:
    """The tools that a module marks, by its dotted name or its file's path. Raises `ConfigError`."""
    return [tool_from_function(function) for function in marked_in(load_module(module))]
