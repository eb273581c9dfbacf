"""Requests with the plans that are right for them: a line of a data set, its tools, a plan as it is scored. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import ReadError, ToolNotFound, ToolpathError, closest
from toolpath.model.plan import Call, Plan, every_step
from toolpath.model.tool import Tool
from toolpath.planner.scoring.score import GoldCall, MadeCall
from toolpath.values import Json, JsonObject

#: Bytes of one line.
LONGEST_LINE = 4_000_000
_READS = re.compile(r"\{\{\s*([A-Za-z_][\w-]*)")
_LONG_FORM = re.compile(r"(\{\{[^}]*?)\bsteps(?:\.([A-Za-z_]\w*)|\[['\"]([\w-]+)['\"]\])\.output\b")
T = TypeVar("T")
_LITERAL = "{{ '{{' }}"


class GoldStep(msgspec.Struct, frozen=True):
    """One call that a right plan makes; a reference in its arguments is `{{step.path}}`."""

    step: str
    tool: str
    arguments: dict[str, Any] = {}
    depends_on: tuple[str, ...] = ()


class ToolData(msgspec.Struct, frozen=True):
    """A tool as a data set describes it."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = {}
    output_schema: dict[str, Any] | None = None


class ToolSet(msgspec.Struct, frozen=True):
    """Tools that tasks name together."""

    toolset: str
    tools: tuple[ToolData, ...]


class Task(msgspec.Struct, frozen=True):
    """A request with its gold plan; an empty one: nothing may be called."""

    query: str
    gold_plan: tuple[GoldStep, ...]
    id: str = ""
    accepted_values: tuple[dict[str, list[Any]], ...] | None = None
    """For each call: parameter → every value that is right; `""` among them: it may be left out."""
    tools: tuple[ToolData, ...] | None = None
    toolset: str | None = None
    toolsets: tuple[str, ...] = ()
    """Several tool sets, whose tools are offered together."""
    excluded_tools: tuple[str, ...] = ()
    """Names of tools in them that are not offered."""
    defects: tuple[str, ...] = ()
    """What is wrong with the gold plan; such a task is not scored."""
    messages: Any = None
    """A conversation before the request; such a task is not scored."""
    arguments: str | None = None
    """`unlabelled`: the arguments of the gold plan are not meant to be compared."""

    @property
    def is_sound(self) -> bool:
        """Its gold can be trusted, and its request is one text."""
        return not self.defects and not self.messages


_TASKS = msgspec.json.Decoder(Task)
_TOOL_SETS = msgspec.json.Decoder(ToolSet)


def read_task(line: bytes) -> Task:
    """The task of one line of JSON. Raises `ReadError`."""
    task = _read(line, _TASKS)
    if not task.query.strip():
        raise ReadError("The query is empty.")
    if task.accepted_values is not None and len(task.accepted_values) != len(task.gold_plan):
        raise ReadError(
            f"accepted_values has {len(task.accepted_values)} entries, gold_plan {len(task.gold_plan)} calls.",
            hint="Give one object of accepted values for each call.",
        )
    known = {step.step for step in task.gold_plan}
    for step in task.gold_plan:
        for source in step.depends_on:
            if source not in known:
                raise ReadError(f"Gold step {step.step!r} depends on {source!r}, which is no step.")
    return task


def read_tool_set(line: bytes) -> ToolSet:
    """The tools of one line of JSON. Raises `ReadError`."""
    return _read(line, _TOOL_SETS)


def _read(line: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    if len(line) > LONGEST_LINE:
        raise ReadError(f"The line is longer than {LONGEST_LINE:,} bytes.")
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ReadError(str(error)) from None
    except RecursionError:
        raise ReadError("It is nested too deeply.") from None


def catalog_of(tools: Iterable[ToolData]) -> Catalog:
    """The tools as a catalogue; of two of one name the first. They can be planned with, not called."""
    found: dict[str, Tool] = {}
    for one in tools:
        if one.name not in found:
            found[one.name] = Tool(
                name=one.name,
                description=one.description,
                input_schema=one.parameters,
                output_schema=one.output_schema,
                effect="read",
            )
    return Catalog(found)


def tool_set_of(name: str, sets: Mapping[str, Catalog]) -> Catalog:
    """The tool set of that name. Raises `ReadError`."""
    if name not in sets:
        near = closest(name, sets)
        hint = f"Did you mean {near[0]!r}?" if near else "Name the file that has it with --toolsets."
        raise ReadError(f"No tool set is called {name!r}.", hint=hint)
    return sets[name]


def tool_sets_of(names: Sequence[str], sets: Mapping[str, Catalog], excluded: Collection[str] = ()) -> Catalog:
    """The tools of all these sets together, without those excluded. Raises `ReadError`."""
    tools = {key: tool for name in names for key, tool in tool_set_of(name, sets).tools.items()}
    return Catalog({key: tool for key, tool in tools.items() if tool.name not in excluded})


def gold_calls(task: Task, catalog: Catalog) -> list[GoldCall]:
    """The calls that a right plan makes, with the keys of their tools. Raises `ReadError`."""
    accepted: Iterable[dict[str, list[Any]] | None] = task.accepted_values or [None] * len(task.gold_plan)
    return [
        GoldCall(
            tool=_key(step, catalog),
            step=step.step,
            arguments=step.arguments,
            accepted=values,
            depends_on=step.depends_on,
        )
        for step, values in zip(task.gold_plan, accepted, strict=True)
    ]


def _key(step: GoldStep, catalog: Catalog) -> str:
    try:
        return catalog.find(step.tool).key
    except ToolNotFound as error:
        raise ReadError(
            f"Gold step {step.step!r} calls {step.tool!r}, which is no tool here.", hint=str(error)
        ) from None
    except ToolpathError as error:
        raise ReadError(f"Gold step {step.step!r}: {error.message}", hint=error.hint) from None


def made_calls(plan: Plan) -> list[MadeCall]:
    """The calls of a plan, however deep, as they are scored."""
    return [made_call(step) for _, step in every_step(plan.block) if isinstance(step, Call)]


def made_call(step: Call) -> MadeCall:
    """A step as it is scored: `steps.a.output.x` reads the same as `a.x`."""
    inputs: JsonObject = {name: _shortened(value) for name, value in step.inputs.items()}
    read = _READS.findall(str(inputs).replace(_LITERAL, ""))
    return MadeCall(
        tool=step.tool, step=step.id, arguments=inputs, depends_on=tuple(dict.fromkeys([*step.depends_on, *read]))
    )


def _shortened(value: Json) -> Json:
    match value:
        case str() if "{{" in value:
            return _LONG_FORM.sub(lambda found: f"{found[1]}{found[2] or found[3]}", value)
        case list():
            return [_shortened(item) for item in value]
        case dict():
            return {name: _shortened(item) for name, item in value.items()}
        case _:
            return value
