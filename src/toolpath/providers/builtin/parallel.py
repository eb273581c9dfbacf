"""The tools `parallel.map` and `parallel.read`: one tool called for each item of a list, so many at once.

Each call is a step of its own in the journal, under the number of its item, or what it says where it stands in a file:
approvals, policies and limits hold for it, and after a crash none that has ended is made again. What may be called is
named by who switches the tools on; for an agent it is no more than the agent may call itself.
"""

from __future__ import annotations

import asyncio
import fnmatch
from collections import Counter
from collections.abc import Callable
from typing import Annotated, Any, Final, Protocol, TypeVar

import msgspec

from toolpath.errors import AmbiguousTool, ConfigError, ToolFailed, ToolNotFound, ToolpathError
from toolpath.model.plan import Retry
from toolpath.model.tool import Body, CallsOther, Tool
from toolpath.providers.builtin.groups import BuiltinGroup, options_of
from toolpath.providers.run_files.folder import Folder
from toolpath.providers.surroundings import Surroundings
from toolpath.values import Json, JsonObject, decode, digest, encode

#: Seconds that the tool may take between its calls: what it waits for is not counted.
_LONGEST: Final = 600.0
_Found = TypeVar("_Found")
#: Bytes of a file of items.
_LARGEST: Final = 20_000_000
_PATH: Final[JsonObject] = {"type": "string", "minLength": 1, "maxLength": 1_000}
_OWN: Final = ("parallel", "toolpath")


class ParallelOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the group `parallel`."""

    tools: tuple[str, ...] = ()
    """Keys of the tools that may be called, or patterns of keys."""
    max_items: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 1_000
    concurrency: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 10
    """Calls at the same time; what the run allows is the other bound."""


class CallingContext(Protocol):
    """The side of its context that these tools need."""

    async def find_tool(self, name: str) -> Tool:
        """The tool of this name."""
        ...

    def may_call(self, key: str) -> bool:
        """Whether who called this tool may call that one, too."""
        ...

    async def act(self, tool: str, inputs: JsonObject, *, key: str) -> Json:
        """Call a tool; once it has failed it is not called again under this key."""
        ...


def parallel_group(given: JsonObject, surroundings: Surroundings) -> BuiltinGroup:
    """The tools over those that the options name. Raises `ConfigError` where they name none."""
    options = options_of("parallel", given, ParallelOptions)
    if not options.tools:
        raise ConfigError(
            "The built-in tools of 'parallel' have no tool that they may call.",
            hint='Name them: [builtin.parallel] tools = ["shop.*"].',
        )
    reads = _tool(options, surroundings, reads=True)
    writes = _tool(options, surroundings, reads=False)
    return BuiltinGroup((reads, writes), said=f"calls {', '.join(options.tools)}")


def _invoke(options: ParallelOptions, surroundings: Surroundings, *, reads: bool) -> Callable[[JsonObject, Any], Any]:
    async def invoke(inputs: JsonObject, context: Any) -> Json:
        items = await _items(inputs, context.run_id, options, surroundings)
        found = await _mapped({**inputs, "items": items}, context, options, reads=reads)
        path = inputs.get("results_file")
        if path is None:
            return found
        await _in_folder(surroundings, context.run_id, lambda folder: folder.write(path, (encode(found["results"]),)))
        return {**found, "results": [], "results_file": path}

    return invoke


def _tool(options: ParallelOptions, surroundings: Surroundings, *, reads: bool) -> Tool:
    # A file is written by what writes alone.
    kept: JsonObject = {"results_file": {**_PATH, "description": "A file for the results, which are then not given."}}

    reading = _invoke(options, surroundings, reads=True)
    other = CallsOther(named_by="tool", writes_by="results_file", reading=reading)
    what = "that only reads" if reads else ""
    return Tool(
        name="read" if reads else "map",
        group="parallel",
        description=(
            f"Call one tool {what} for each item of a list, several at a time. ".replace("  ", " ")
            + f"It may be one of: {', '.join(options.tools)}. Results come in the order of the items; that some calls "
            "fail is no failure of the whole."
        ),
        category="workflow",
        input_schema={
            "type": "object",
            "properties": {
                "tool": {"type": "string", "minLength": 1, "maxLength": 300, "description": "Key of the tool."},
                "items": {
                    "type": "array",
                    "maxItems": options.max_items,
                    "description": "For each call the inputs of the tool; or values of the one input that `as` names.",
                },
                "items_file": {
                    **_PATH,
                    "description": "A file of the run with the items as a JSON list, instead of items.",
                },
                **({} if reads else kept),
                "as": {"type": "string", "minLength": 1, "description": "The input that an item is the value of."},
                "inputs": {"type": "object", "description": "Inputs that all calls have besides."},
                "concurrency": {"type": "integer", "minimum": 1, "maximum": options.concurrency},
            },
            "required": ["tool"],
            "additionalProperties": False,
        },
        output_schema=_OUTPUT,
        output_validation="strict",
        effect="read" if reads else "write",
        # What it does to the world is done by its calls: they are in doubt after a crash, never the tool.
        idempotent=True,
        timeout=_LONGEST,
        retry=Retry(max_retries=0),
        annotations={"calls": list(options.tools)},
        body=Body(invoke=_invoke(options, surroundings, reads=reads), wants_context=True, calls_other=other),
    )


_OUTPUT: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "results": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "status": {"enum": ["succeeded", "failed"]},
                    "output": {},
                    "error": {"type": "string"},
                },
                "required": ["status"],
            },
        },
        "results_file": {"type": "string"},
        "succeeded": {"type": "integer"},
        "failed": {"type": "integer"},
    },
    "required": ["results", "succeeded", "failed"],
}


async def _items(inputs: JsonObject, run_id: str, options: ParallelOptions, surroundings: Surroundings) -> list[Json]:
    """The items, given or read. Raises `ToolFailed` where they are no list, or too long a one."""
    path, given = inputs.get("items_file"), inputs.get("items")
    if (path is None) == (given is None):
        raise ToolFailed("Items are given or in a file: one of the two.", hint="Give items or items_file.")
    if path is None:
        return list(given or ())
    try:
        found = await _in_folder(
            surroundings, run_id, lambda folder: decode(folder.read(path, _LARGEST + 1)[: _LARGEST + 1])
        )
    except (ValueError, RecursionError):
        raise ToolFailed(f"{path[:200]} is no JSON, or has more than {_LARGEST:,} bytes.") from None
    if not isinstance(found, list) or len(found) > options.max_items:
        raise ToolFailed(f"{path[:200]} holds no list of at most {options.max_items:,} items.")
    return found


async def _in_folder(surroundings: Surroundings, run_id: str, work: Callable[[Folder], _Found]) -> _Found:
    if surroundings.folders is None:
        raise ToolFailed("There are no folders of runs here.", hint="Give the items themselves.")
    try:
        return await surroundings.folders.do("runs", run_id, work)
    except ToolpathError as error:
        raise error if isinstance(error, ToolFailed) else ToolFailed(error.message, hint=error.hint) from None


async def _mapped(inputs: JsonObject, context: CallingContext, options: ParallelOptions, *, reads: bool) -> JsonObject:
    try:
        tool = await context.find_tool(inputs["tool"])
    except (ToolNotFound, AmbiguousTool) as error:
        near = f" Did you mean {' or '.join(error.suggestions[:3])}?" if error.suggestions else ""
        raise ToolFailed(f"{error.message}{near}", hint=f"What may be called: {', '.join(options.tools)}.") from None
    _check(tool, context, options, reads=reads)
    calls = [_inputs(item, number, inputs) for number, item in enumerate(inputs["items"])]
    # A file may have changed when the tool runs again: an item of one is known by what it says.
    in_file = inputs.get("items_file") is not None
    keys = await asyncio.to_thread(_keys_of, calls) if in_file else [f"item-{number}" for number in range(len(calls))]
    places = asyncio.Semaphore(min(inputs.get("concurrency") or options.concurrency, options.concurrency))

    async def one(number: int, given: JsonObject) -> JsonObject:
        async with places:
            try:
                return {"status": "succeeded", "output": await context.act(tool.key, given, key=keys[number])}
            except ToolFailed as error:
                return {"status": "failed", "error": str(error)}

    results = await asyncio.gather(*(one(number, given) for number, given in enumerate(calls)))
    succeeded = sum(result["status"] == "succeeded" for result in results)
    return {"results": results, "succeeded": succeeded, "failed": len(results) - succeeded}


def _keys_of(calls: list[JsonObject]) -> list[str]:
    """Keys of calls, by what they are given; of equal ones the first, the second and so on."""
    counts: Counter[str] = Counter()
    keys = []
    for given in calls:
        told = digest(given).rpartition(":")[2][:20]
        counts[told] += 1
        keys.append(f"item-{told}-{counts[told]}")
    return keys


def _check(tool: Tool, context: CallingContext, options: ParallelOptions, *, reads: bool) -> None:
    """Raise `ToolFailed` for a tool that may not be called so."""
    named = any(fnmatch.fnmatchcase(tool.key, pattern) for pattern in options.tools)
    if tool.group in _OWN or not named:
        raise ToolFailed(
            f"{tool.key} may not be called for each item.", hint=f"What may be: {', '.join(options.tools)}."
        )
    if not context.may_call(tool.key):
        raise ToolFailed(f"The agent may not call {tool.key}.", hint="It may call the tools that its step names.")
    if reads and not tool.is_read:
        raise ToolFailed(
            f"{tool.key} writes.", hint="parallel.map calls what writes, where a plan says so when it is checked."
        )


def _inputs(item: Json, number: int, inputs: JsonObject) -> JsonObject:
    shared = inputs.get("inputs") or {}
    name = inputs.get("as")
    if name is not None:
        return {**shared, name: item}
    if isinstance(item, dict):
        return {**shared, **item}
    raise ToolFailed(
        f"Item {number} is no object.", hint="Give the inputs of the tool as objects, or the name of one input as `as`."
    )
