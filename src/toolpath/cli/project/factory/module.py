"""The module of a composite: its document as a literal, and one typed function that runs it."""

from __future__ import annotations

from toolpath.cli.project.factory.source import GeneratedArgument, finished, line, literal
from toolpath.model.tool import Tool
from toolpath.values import JsonObject

_MOST_ARGUMENTS = 8


def module_text(
    tool: Tool, document: JsonObject, name: str, arguments: list[GeneratedArgument], source_file: str
) -> str:
    """The source of the module."""
    typing = ["Any", *(["Literal"] if any("Literal[" in argument.annotation for argument in arguments) else [])]
    lines = [
        f'"""{line(tool.title or tool.name)}: a composite tool. Generated from {line(source_file)}; do not edit."""',
        "",
        "from __future__ import annotations",
        "",
        f"from typing import {', '.join(typing)}",
        "",
        "from toolpath.chains import run_composite",
        "from toolpath.model.run import RunContext",
        "",
        f"TOOL: dict[str, Any] = {literal(document)}",
        "",
        "",
        *_function(tool, name, arguments),
    ]
    return finished(lines)


def _function(tool: Tool, name: str, arguments: list[GeneratedArgument]) -> list[str]:
    codes = ["N802"] if name != name.lower() else []
    if len(arguments) + 1 > _MOST_ARGUMENTS:
        codes.append("PLR0913")
    noqa = f"  # noqa: {', '.join(codes)}" if codes else ""
    if arguments:
        head = [f"async def {name}({noqa}", "    ctx: RunContext,", "    *,"]
        for argument in arguments:
            given = f" = {argument.default}" if argument.default is not None else ""
            casing = "  # noqa: N803" if argument.python != argument.python.lower() else ""
            head.append(f"    {argument.python}: {argument.annotation}{given},{casing}")
        head.append(") -> dict[str, Any]:")
    else:
        head = [f"async def {name}(ctx: RunContext) -> dict[str, Any]:{noqa}"]
    return [*head, *_docstring(tool, arguments), *_body(arguments)]


def _docstring(tool: Tool, arguments: list[GeneratedArgument]) -> list[str]:
    text = [line(part) for part in tool.description.strip().splitlines()] or [f"Run {line(tool.title or tool.name)}."]
    lines = [f'    """{text[0]}', *(f"    {part}".rstrip() for part in text[1:]), ""]
    if arguments:
        lines.append("    Args:")
        lines.append("        ctx: Who runs it, for whom; bound to a Toolpath, or used inside `async with Toolpath()`.")
        for argument in arguments:
            told = line(argument.description) or "Input of the composite."
            lines.append(f"        {argument.python}: {told}")
        lines.append("")
    lines.append("    Returns `{tool, status, chain_id, steps_executed, data}`; `status` is `success` or `failure`.")
    lines.append('    """')
    return lines


def _body(arguments: list[GeneratedArgument]) -> list[str]:
    always = [argument for argument in arguments if not argument.omitted]
    sometimes = [argument for argument in arguments if argument.omitted]
    if not arguments:
        return ["    return await run_composite(ctx, TOOL, {})"]
    lines = ["    inputs: dict[str, Any] = {"]
    lines += [f"        {literal(argument.name)}: {argument.python}," for argument in always]
    lines.append("    }")
    if not always:
        lines = ["    inputs: dict[str, Any] = {}"]
    for argument in sometimes:
        lines.append(f"    if {argument.python} is not None:")
        lines.append(f"        inputs[{literal(argument.name)}] = {argument.python}")
    return [*lines, "    return await run_composite(ctx, TOOL, inputs)"]
