"""The tests of a composite: that it checks against its tools, its examples, its failures, and whom it refuses."""

from __future__ import annotations

import re

import msgspec

from toolpath.cli.project.factory.source import GeneratedArgument, finished, flat, line, literal, python_name
from toolpath.model.tool import Tool
from toolpath.values import JsonObject


class CompositeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts that the tests know of a composite beside its document."""

    tools: JsonObject
    """Name of a tool as the composite writes it → what it takes, gives and requires; only of those that are known."""
    context: JsonObject
    """The arguments of a context that may run it."""
    refused: dict[str, JsonObject]
    """What is missing, in words → the arguments of a context that may not."""
    unfit: frozenset[int]
    """The error scenarios, by their place, whose inputs the composite itself refuses."""


def tests_text(
    tool: Tool, name: str, place: str, arguments: list[GeneratedArgument], source_file: str, *, facts: CompositeFacts
) -> str:
    """The source of the tests."""
    examples = _with_inputs(tool, "examples")
    scenarios = _with_inputs(tool, "error_scenarios")
    lines = [
        # Whether the module counts as first-party is for the project that it lands in.
        "# isort: skip_file",
        f'"""Tests of {line(tool.name)}, from the examples in {line(source_file)}. Generated; do not edit.',
        "",
        "Nothing is called but the composite: stand-ins answer for its tools what the examples expect.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import Any",
        "",
        *(["import pytest", ""] if examples or facts.refused else []),
        *_test_imports(name, place, bool(examples), bool(scenarios), refused=bool(facts.refused)),
        "",
        "#: What its tools took and gave when this was generated.",
        f"TOOLS: dict[str, Any] = {literal(facts.tools)}",
        "",
        "",
        "def test_the_composite_reads_without_errors() -> None:",
        '    """The composite reads, takes what the function takes, and fits the tools that it calls."""',
        "    tool = read_composite(TOOL)",
        "    assert isinstance(tool.body, Plan)",
        "    assert faults_of(TOOL, TOOLS) == []",
        f"    names: list[str] = {literal(sorted(argument.name for argument in arguments), '    ')}",
        '    assert sorted(tool.input_schema.get("properties", {})) == names',
    ]
    lines += (_VALUE_OF if examples else []) + (_FAILURE_OF if scenarios else [])
    taken: set[str] = set()
    for number, example in enumerate(examples, 1):
        lines += _example_test(example, number, taken, name, arguments, facts=facts)
    for number, scenario in enumerate(scenarios, 1):
        lines += _scenario_test(scenario, number, taken, facts=facts)
    for number, (lacking, context) in enumerate(facts.refused.items(), 1):
        lines += _refusal_test(lacking, context, number, taken)
    return finished(lines)


def _with_inputs(tool: Tool, name: str) -> list[JsonObject]:
    return [item for item in tool.metadata.get(name, []) if isinstance(item.get("input", {}), dict)]


def _test_imports(name: str, place: str, examples: bool, scenarios: bool, *, refused: bool) -> list[str]:
    helpers = ["faults_of", *(["offline"] if examples or scenarios or refused else [])]
    errors = [*(["PolicyViolationError"] if refused else []), *(["ToolpathError"] if scenarios else [])]
    found = [
        *(["from toolpath import Toolpath"] if len(helpers) > 1 else []),
        *(["from toolpath.chains import run_composite"] if scenarios or refused else []),
        *([f"from toolpath.errors import {', '.join(errors)}"] if errors else []),
        "from toolpath.notation.composite import read_composite",
        "from toolpath.model.plan import Plan",
        *(["from toolpath.model.run import RunContext"] if scenarios else []),
        f"from toolpath.testing.composites import {', '.join(helpers)}",
    ]
    own = f"from {place} import {', '.join(sorted(['TOOL', *([name] if examples else [])]))}"
    return [own, *found] if place < "toolpath" else [*found, own]


_VALUE_OF = [
    "",
    "",
    "def value_of(result: dict[str, Any], name: str) -> Any:",
    '    """What the result holds under the name: in its final state, else in its data, else at its top."""',
    '    data = result["data"]',
    '    for part in (data.get("final_state"), data.get("outputs"), data, result):',
    "        if isinstance(part, dict) and name in part:",
    "            return part[name]",
    '    pytest.fail(f"The result holds no {name!r}.")',
]
_FAILURE_OF = [
    "",
    "",
    "async def failure_of(ctx: RunContext, inputs: dict[str, Any]) -> str:",
    '    """What is said of the failure that these inputs must cause."""',
    "    try:",
    "        result = await run_composite(ctx, TOOL, inputs)",
    "    except ToolpathError as error:",
    '        return f"{type(error).__name__}: {error}"',
    '    assert result["status"] == "failure"',
    "    return str(result)",
]


def _head(description: str, name: str, *, how: str) -> list[str]:
    return [
        "",
        "",
        "@offline(",
        "    TOOL,",
        "    tools=TOOLS,",
        *([f"    {how},"] if how else []),
        ")",
        f"async def {name}(toolpath: Toolpath) -> None:",
        f'    """{line(description)}"""',
    ]


def _test_name(description: str, prefix: str, number: int, taken: set[str]) -> str:
    words = re.sub(r"[^a-z0-9]+", "_", description.lower()).strip("_")[:60].strip("_")
    name = python_name(f"test_{prefix}_{words}" if words else f"test_{prefix}_{number}", taken)
    taken.add(name)
    return name


def _context(context: JsonObject) -> str:
    arguments = ", ".join(f"{key}={flat(value)}" for key, value in context.items() if value is not None)
    return f"    ctx = toolpath.context({arguments})"


def _given_context(item: JsonObject, facts: CompositeFacts) -> JsonObject:
    """The context that an example gives; what it does not speak of is there, as for a caller who may call it."""
    given = item.get("context")
    if not isinstance(given, dict):
        return facts.context
    session = given.get("session")
    session = session if isinstance(session, dict) else {}
    found = dict(facts.context)
    for name, keys in (
        ("user_id", ("user_id",)),
        ("session_id", ("session_id",)),
        ("case_id", ("casefile_id", "case_id")),
    ):
        for key in keys:
            if key in session:
                found[name] = session[key]
    if "permissions" in given:
        found["permissions"] = given["permissions"]
    return found


def _example_test(
    example: JsonObject,
    number: int,
    taken: set[str],
    name: str,
    arguments: list[GeneratedArgument],
    *,
    facts: CompositeFacts,
) -> list[str]:
    expected = example.get("expected_output")
    how = "" if expected is None else f"gives={literal(expected, '    ')}"
    description = str(example.get("description") or f"example {number}")
    lines = _head(description, _test_name(description, "example", number, taken), how=how)
    lines.append(_context(_given_context(example, facts)))
    python = {argument.name: argument.python for argument in arguments}
    inputs = {python.get(key, python_name(key)): value for key, value in example.get("input", {}).items()}
    if inputs:
        lines.append(f"    result = await {name}(")
        lines.append("        ctx,")
        lines += [f"        {key}={literal(value, '        ')}," for key, value in inputs.items()]
        lines.append("    )")
    else:
        lines.append(f"    result = await {name}(ctx)")
    lines.append('    assert result["status"] == "success"')
    if isinstance(expected, dict):
        for key, value in expected.items():
            lines.append(f"    assert value_of(result, {literal(key)}) == {literal(value, '    ')}")
    elif expected is not None:
        lines.append(f'    assert result["data"] == {literal(expected, "    ")}')
    return lines


def _scenario_test(scenario: JsonObject, number: int, taken: set[str], *, facts: CompositeFacts) -> list[str]:
    expected = str(scenario.get("expected_error") or "")
    # The name of an exception says only that it fails: of the inputs, where that is its sense.
    names_one = re.fullmatch(r"[A-Za-z.]*(Error|Exception)", expected)
    of_policy = "policy" in expected.lower() and names_one is not None
    of_inputs = number - 1 in facts.unfit or (names_one is not None and "valid" in expected.lower())
    # Where the tools are to fail they do; else the failure has to come from the composite itself.
    how = "" if of_policy or of_inputs else f"fails={literal(expected or 'failed')}"
    description = str(scenario.get("description") or f"failure {number}")
    lines = _head(description, _test_name(description, "failure", number, taken), how=how)
    # Nobody in particular asks, unless the scenario says who does.
    lines.append(_context({} if of_policy and "context" not in scenario else _given_context(scenario, facts)))
    # `inputs` in a line of its own reads and formats the same whatever its size.
    lines.append(f"    inputs: dict[str, Any] = {literal(scenario.get('input', {}), '    ')}")
    lines.append("    failure = await failure_of(ctx, inputs)")
    if not expected or (names_one is not None and not of_policy):
        lines.append("    assert failure")
    else:
        said = "policyviolationerror" if of_policy else expected.lower()
        lines.append(f"    assert {literal(said)} in failure.lower()")
    return lines


def _refusal_test(lacking: str, context: JsonObject, number: int, taken: set[str]) -> list[str]:
    return [
        *_head(f"Refused without {lacking}.", _test_name(f"without {lacking}", "refused", number, taken), how=""),
        _context(context),
        "    with pytest.raises(PolicyViolationError):",
        "        await run_composite(ctx, TOOL, {})",
    ]
