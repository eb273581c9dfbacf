"""Rules on agents: what one may call is there, and what it is to give can be given. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from toolpath.checks.context import Context
from toolpath.checks.remarks import error, warning
from toolpath.checks.tools import missing_tool
from toolpath.errors import Finding, SchemaError
from toolpath.model.agent import BUILT_IN, COLUMN_TYPES, NONE, column_of
from toolpath.model.plan import Agent

#: More rounds than this no agent makes: beyond it lies no goal.
MOST_ROUNDS = 1000


def agents_have_their_tools(context: Context) -> Iterator[Finding]:
    """unknown_tool, ambiguous_tool, contradictory_tools, bad_schema: what an agent may call is in the catalogue."""
    for view in context.views.steps:
        match view.step:
            case Agent(tools=names):
                path = f"{view.path}/agent/tools"
                if NONE in names and len(set(names)) > 1:
                    yield error(
                        "contradictory_tools",
                        path,
                        f"The agent '{view.step.id}' may call '{NONE}' and others.",
                        hint=f"Write ['{NONE}'] alone, or take it out.",
                    )
                for number, name in enumerate(names):
                    if name not in BUILT_IN and name != NONE:
                        yield from _callable(context, name, f"{path}/{number}")
            case _:
                pass


def _callable(context: Context, name: str, path: str) -> Iterator[Finding]:
    tool = context.catalog.get(name)
    if tool is None:
        yield missing_tool(context, name, path, others=BUILT_IN)
        return
    validator = context.validator(tool)
    if isinstance(validator, SchemaError):
        yield warning("bad_schema", path, f"The input schema of '{tool.key}' is no usable JSON Schema: {validator}")


def agents_have_their_models(context: Context) -> Iterator[Finding]:
    """unknown_model: the model that an agent asks is one that there is."""
    models = context.catalog.models
    for view in context.views.steps:
        match view.step:
            case Agent(model=str(name)) if name and not models.knows(name):
                known = [*models.prints, *(f"{provider}:{name}" for provider in models.providers)]
                yield error(
                    "unknown_model",
                    f"{view.path}/agent/model",
                    f"The agent '{view.step.id}' asks the model '{name[:200]}', which there is not.",
                    hint="`toolpath models add` adds one; a provider's own by its variables is written provider:model.",
                    suggestions=context.suggest(name, known),
                )
            case _:
                pass


def agents_can_end(context: Context) -> Iterator[Finding]:
    """bad_column, too_many_rounds: the result has columns that can be filled, in rounds that can be made."""
    for view in context.views.steps:
        match view.step:
            case Agent(output=columns, max_rounds=rounds) as agent:
                if columns and not agent.require_tool_call:
                    yield error(
                        "text_without_columns",
                        f"{view.path}/agent/output",
                        f"The agent '{agent.id}' ends with text, which has no columns.",
                        hint="Leave out 'output', or 'require_tool_call: false'.",
                    )
                yield from _columns(context, columns, f"{view.path}/agent/output")
                if rounds is not None and rounds > MOST_ROUNDS:
                    yield error(
                        "too_many_rounds",
                        f"{view.path}/agent/max_rounds",
                        f"The agent '{view.step.id}' may make {rounds:,} rounds; at most {MOST_ROUNDS:,} are made.",
                        hint="Set 'max_rounds' to what the goal needs; 30 is the usual.",
                    )
            case _:
                pass


def _columns(context: Context, columns: tuple[str, ...], path: str) -> Iterator[Finding]:
    said: set[str] = set()
    for number, column in enumerate(columns):
        name, kind = column_of(column)
        at = f"{path}/{number}"
        if not name:
            yield error("bad_column", at, "A column has no name.", hint="Write 'name' or 'name: type'.")
        elif name in said:
            yield error("bad_column", at, f"The column '{name}' is there twice.", hint="Name each column once.")
        elif not kind:
            wanted = column.partition(":")[2].strip()
            yield error(
                "bad_column",
                at,
                f"The column '{name}' has the type '{wanted[:60]}', which is none.",
                hint=f"Types are {', '.join(COLUMN_TYPES)}.",
                suggestions=context.suggest(wanted.casefold(), COLUMN_TYPES),
            )
        said.add(name)
