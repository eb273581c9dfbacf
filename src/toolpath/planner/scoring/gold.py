"""Requests with the plans that are right for them: a line of a data set, its tools, a plan as it is scored. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from typing import Any, Literal, TypeVar

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import ReadError, ToolNotFound, ToolpathError, closest
from toolpath.model.plan import Block, Call, Loop, Plan, blocks_of
from toolpath.model.tool import Effect, Tool
from toolpath.planner.scoring.score import GoldCall, MadeCall
from toolpath.values import Json, JsonObject

Right = Literal["plan", "question", "refusal"]
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
    values: dict[str, list[Any]] = {}
    """Parameter → every value that is right, where there are several; `""` among them: it may be left out."""
    contains: dict[str, list[str]] = {}
    """Parameter → words that its text has to hold, where no one wording of it is right."""
    over: str = ""
    """Template of the list for whose items it is made, each of which is called `item`."""
    when: tuple[str, ...] = ()
    """Conditions, any of which is right."""
    depends_on: tuple[str, ...] = ()


class ToolData(msgspec.Struct, frozen=True):
    """A tool as a data set describes it."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = {}
    output_schema: dict[str, Any] | None = None
    effect: Effect = "read"


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
    right: tuple[Right, ...] = ()
    """What is right; none: a plan where the gold plan has steps, else a refusal, and questions count for nothing."""
    other_plans: tuple[tuple[GoldStep, ...], ...] = ()
    """Plans that are as right as `gold_plan`."""
    missing: tuple[str, ...] = ()
    """Parameters that a right question asks for."""
    language: str = ""
    category: str = ""
    today: date | None = None
    """What days such as `Friday` are counted from."""

    @property
    def is_sound(self) -> bool:
        """Its gold can be trusted, and its request is one text."""
        return not self.defects and not self.messages


_TASKS = msgspec.json.Decoder(Task)
_TOOL_SETS = msgspec.json.Decoder(ToolSet)
_NAMES = msgspec.json.Decoder(dict[str, msgspec.Raw])


def read_task(line: bytes) -> Task:
    """The task of one line of JSON. Raises `ReadError`."""
    task = _read(line, _TASKS)
    misspelt = _misspelt(line)
    if misspelt:
        name, near = misspelt
        raise ReadError(f"There is no field {name!r} - at `$`", hint=f"Did you mean {near!r}?")
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


def _misspelt(line: bytes) -> tuple[str, str] | None:
    """A field of the line that nobody knows, and the one that it is nearly; data sets have fields of their own, too."""
    known = Task.__struct_fields__
    for name in _NAMES.decode(line):
        if name not in known and (near := closest(name, known, threshold=0.8)):
            return name, near[0]
    return None


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
                effect=one.effect,
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
    return [_gold_call(step, values, catalog) for step, values in zip(task.gold_plan, accepted, strict=True)]


def all_gold(task: Task, catalog: Catalog) -> list[list[GoldCall]]:
    """The calls of each plan that is right; the first is `gold_calls`. Raises `ReadError`."""
    others = [[_gold_call(step, None, catalog) for step in plan] for plan in task.other_plans]
    return [gold_calls(task, catalog), *others]


def _gold_call(step: GoldStep, accepted: dict[str, list[Any]] | None, catalog: Catalog) -> GoldCall:
    if accepted is None and step.values:
        accepted = {name: [value] for name, value in step.arguments.items()} | step.values
    key = _key(step, catalog)
    _check_names(step, catalog.tools[key])
    return GoldCall(
        tool=key,
        step=step.step,
        arguments=step.arguments,
        accepted=accepted,
        contains=step.contains,
        over=step.over,
        when=step.when,
        depends_on=step.depends_on,
    )


def _key(step: GoldStep, catalog: Catalog) -> str:
    try:
        return catalog.find(step.tool).key
    except ToolNotFound as error:
        raise ReadError(
            f"Gold step {step.step!r} calls {step.tool!r}, which is no tool here.", hint=str(error)
        ) from None
    except ToolpathError as error:
        raise ReadError(f"Gold step {step.step!r}: {error.message}", hint=error.hint) from None


def _check_names(step: GoldStep, tool: Tool) -> None:
    """Raise `ReadError` for an argument that the tool does not take, and that is nearly one that it takes."""
    known = tool.input_schema.get("properties", {})
    if tool.input_schema.get("additionalProperties") is not False:
        return
    for name in (*step.arguments, *step.values):
        if name not in known and (near := closest(name, known)):
            raise ReadError(
                f"Gold step {step.step!r} gives {name!r}, which {tool.key!r} does not take.",
                hint=f"Did you mean {near[0]!r}?",
            )


def made_calls(plan: Plan) -> list[MadeCall]:
    """The calls of a plan, however deep, as they are scored."""
    return _calls_of(plan.block, "", "")


def _calls_of(block: Block, over: str, item: str) -> list[MadeCall]:
    """The calls of a block that is run for each `item` of `over`, or once."""
    made: list[MadeCall] = []
    for step in block.steps:
        match step:
            case Call():
                made.append(_of_item(made_call(step), over, item))
            case Loop():
                made += _calls_of(step.body, str(_shortened(step.over)), step.item)
            case _:
                for inner in blocks_of(step):
                    made += _calls_of(inner, over, item)
    return made


def _of_item(call: MadeCall, over: str, item: str) -> MadeCall:
    """The call of a loop's body: its item is called `item`, whatever the plan calls it."""
    if not over:
        return call
    reads = re.compile(rf"(\{{\{{[^}}]*?)(?<![\w.]){re.escape(item)}\b")
    arguments = {name: _with_item(value, reads) for name, value in call.arguments.items()}
    depends_on = [one for one in (*_READS.findall(over), *call.depends_on) if one != item]
    when = str(_with_item(call.when, reads))
    return msgspec.structs.replace(
        call, arguments=arguments, over=over, when=when, depends_on=tuple(dict.fromkeys(depends_on))
    )


def _with_item(value: Json, reads: re.Pattern[str]) -> Json:
    match value:
        case str():
            return reads.sub(r"\1item", value)
        case list():
            return [_with_item(one, reads) for one in value]
        case dict():
            return {name: _with_item(one, reads) for name, one in value.items()}
        case _:
            return value


def made_call(step: Call) -> MadeCall:
    """A step as it is scored: `steps.a.output.x` reads the same as `a.x`."""
    inputs: JsonObject = {name: _shortened(value) for name, value in step.inputs.items()}
    when = "" if step.when is None else str(_shortened(step.when))
    read = [name for name in _READS.findall(f"{inputs} {when}".replace(_LITERAL, "")) if name != "not"]
    return MadeCall(
        tool=step.tool,
        step=step.id,
        arguments=inputs,
        when=when,
        depends_on=tuple(dict.fromkeys([*step.depends_on, *read])),
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
