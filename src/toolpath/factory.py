"""Tool factory: a composite → a typed Python module that runs it, and a pytest module from its examples.

Writes text only; where it is stored is the caller's matter. The texts pass ruff and mypy's strict mode.
"""

from __future__ import annotations

import keyword
import re
from typing import Any

import msgspec

from toolpath.errors import SchemaError
from toolpath.language.composite_printing import composite_to_dict
from toolpath.model.tool import Tool
from toolpath.values import Json, JsonObject

_LONGEST_LINE = 120
_MOST_ARGUMENTS = 8
_PYTHON_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list[Any]",
    "object": "dict[str, Any]",
    "null": "None",
}
#: Names that the generated module uses itself.
_TAKEN = frozenset({"ctx", "TOOL", "Any", "Literal", "RunContext", "run_composite", "inputs", "self"})


class Generated(msgspec.Struct, frozen=True):
    """The texts of a module and of its tests, and the name that module and function have."""

    name: str
    module: str
    tests: str


class _Argument(msgspec.Struct, frozen=True):
    """One argument of the generated function."""

    name: str
    """Of the input."""
    python: str
    """Of the argument: the same, made fit for Python."""
    annotation: str
    default: str | None
    """Its source text; None: the argument must be given."""
    omitted: bool
    """None means that the input is not given at all."""
    description: str


def generate(tool: Tool, *, source_file: str, package: str = "") -> Generated:
    """The module and the tests of a composite; `package` is the dotted place from which the tests import the module.

    Raises `SchemaError` for a tool whose body is no plan.
    """
    try:
        document = composite_to_dict(tool)
    except ValueError as error:
        raise SchemaError(str(error), hint="Only composites are generated.") from None
    name = python_name(tool.name, _TAKEN)
    arguments = _arguments(tool.input_schema)
    module = _module(tool, document, name, arguments, source_file)
    place = f"{package}.{name}" if package else name
    return Generated(name, module, _tests(tool, name, place, arguments, source_file))


def python_name(name: str, taken: frozenset[str] | set[str] = frozenset()) -> str:
    """The name as a Python name that is no keyword and not taken: `max-results` → `max_results`, `from` → `from_`."""
    safe = re.sub(r"\W", "_", name, flags=re.ASCII) or "value"
    if safe[0].isdigit():
        safe = f"_{safe}"
    while keyword.iskeyword(safe) or keyword.issoftkeyword(safe) or safe in taken or safe.startswith("__"):
        safe = f"{safe.lstrip('_') or 'value'}_"
    return safe


def _arguments(schema: JsonObject) -> list[_Argument]:
    required = schema.get("required", [])
    taken = set(_TAKEN)
    found: list[_Argument] = []
    for name, part in schema.get("properties", {}).items():
        described = part if isinstance(part, dict) else {}
        python = python_name(name, taken)
        taken.add(python)
        annotation = annotation_of(described)
        default, omitted = None, False
        if name not in required:
            default, omitted = _default(described)
            if omitted and annotation not in ("Any", "None") and not annotation.endswith("| None"):
                annotation = f"{annotation} | None"
        description = " ".join(str(described.get("description", "")).split())
        found.append(_Argument(name, python, annotation, default, omitted, description))
    return sorted(found, key=lambda argument: argument.default is not None)


def _default(schema: JsonObject) -> tuple[str, bool]:
    """The default as source text, and whether it stands for 'not given': the run fills in lists and mappings."""
    value = schema.get("default")
    if value is None or isinstance(value, dict | list):
        return "None", True
    return literal(value), False


def annotation_of(schema: JsonObject) -> str:
    """The Python type of what a JSON Schema describes, as source text."""
    words = schema.get("enum")
    if isinstance(words, list) and 0 < len(words) <= 8 and all(isinstance(word, str | None) for word in words):
        return f"Literal[{', '.join(literal(word) for word in words)}]"
    kinds = schema.get("type")
    each = kinds if isinstance(kinds, list) else [kinds]
    names = [_type_name(kind, schema) for kind in each]
    return "Any" if "Any" in names else " | ".join(dict.fromkeys(names))


def _type_name(kind: Json, schema: JsonObject) -> str:
    items = schema.get("items")
    if kind == "array" and isinstance(items, dict):
        return f"list[{annotation_of(items)}]"
    return _PYTHON_TYPES.get(kind, "Any") if isinstance(kind, str) else "Any"


def literal(value: Json, indent: str = "") -> str:
    """A JSON value as Python source: `True`, `None`, quotes and escapes are Python's; mappings over several lines."""
    inner = indent + "    "
    match value:
        case str():
            return _quoted(value)
        case dict() if value:
            members = (f"{inner}{literal(key)}: {literal(item, inner)},\n" for key, item in value.items())
            return "{\n" + "".join(members) + indent + "}"
        case list() if value:
            return "[\n" + "".join(f"{inner}{literal(item, inner)},\n" for item in value) + indent + "]"
        case _:
            return repr(value)


def _quoted(text: str) -> str:
    """The text in those quotes that need the fewer escapes, double ones where it is the same."""
    bare = re.sub(r"\\(.)", lambda found: "'" if found[1] == "'" else found[0], ascii(text)[1:-1])
    quote = "'" if bare.count('"') > bare.count("'") else '"'
    return quote + bare.replace(quote, f"\\{quote}") + quote


def _module(tool: Tool, document: JsonObject, name: str, arguments: list[_Argument], source_file: str) -> str:
    typing = ["Any", *(["Literal"] if any("Literal[" in argument.annotation for argument in arguments) else [])]
    lines = [
        f'"""{_line(tool.title or tool.name)}: a composite tool. Generated from {_line(source_file)}; do not edit."""',
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
    return _finished(lines)


def _function(tool: Tool, name: str, arguments: list[_Argument]) -> list[str]:
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


def _docstring(tool: Tool, arguments: list[_Argument]) -> list[str]:
    text = [_line(part) for part in tool.description.strip().splitlines()] or [f"Run {_line(tool.title or tool.name)}."]
    lines = [f'    """{text[0]}', *(f"    {part}".rstrip() for part in text[1:]), ""]
    if arguments:
        lines.append("    Args:")
        lines.append("        ctx: Who runs it, for whom; bound to a Toolpath, or used inside `async with Toolpath()`.")
        for argument in arguments:
            told = _line(argument.description) or "Input of the composite."
            lines.append(f"        {argument.python}: {told}")
        lines.append("")
    lines.append("    Returns `{tool, status, chain_id, steps_executed, data}`; `status` is `success` or `failure`.")
    lines.append('    """')
    return lines


def _body(arguments: list[_Argument]) -> list[str]:
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


def _line(text: str) -> str:
    """The text on one line, as it may stand in a docstring."""
    escaped = text.replace("\\", "\\\\").replace('"""', "'''")
    escaped = escaped.encode("ascii", "backslashreplace").decode()
    shown = " ".join(escaped.split())
    return shown[:-1] + "'" if shown.endswith('"') else shown


def _finished(lines: list[str]) -> str:
    text = "\n".join(lines) + "\n"
    if any(len(line) > _LONGEST_LINE for line in text.splitlines()):
        # A text of the composite cannot be broken without changing it.
        return f"# ruff: noqa: E501\n{text}"
    return text


def _tests(tool: Tool, name: str, place: str, arguments: list[_Argument], source_file: str) -> str:
    examples = [item for item in tool.metadata.get("examples", []) if isinstance(item.get("input", {}), dict)]
    scenarios = [item for item in tool.metadata.get("error_scenarios", []) if isinstance(item.get("input", {}), dict)]
    lines = [
        # Whether the module counts as first-party is for the project that it lands in.
        "# isort: skip_file",
        f'"""Tests of {_line(tool.name)}, from the examples in {_line(source_file)}. Generated; do not edit.',
        "",
        "Nothing is called but the composite: stand-ins answer for its tools what the examples expect.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        *(["from typing import Any", ""] if examples or scenarios else []),
        *(["import pytest", ""] if examples else []),
        *_test_imports(name, place, bool(examples), bool(scenarios)),
        "",
        "",
        "def test_the_composite_reads_without_errors() -> None:",
        '    """The composite reads, and takes what the function takes."""',
        "    tool = read_composite(TOOL)",
        "    assert isinstance(tool.body, Plan)",
        '    assert [str(finding) for finding in tool.body.source.findings if finding.severity == "error"] == []',
        f"    names: list[str] = {literal(sorted(argument.name for argument in arguments), '    ')}",
        '    assert sorted(tool.input_schema.get("properties", {})) == names',
    ]
    lines += (_VALUE_OF if examples else []) + (_FAILURE_OF if scenarios else [])
    taken: set[str] = set()
    for number, example in enumerate(examples, 1):
        lines += _example_test(example, number, taken, name, arguments)
    for number, scenario in enumerate(scenarios, 1):
        lines += _scenario_test(scenario, number, taken)
    return _finished(lines)


def _test_imports(name: str, place: str, examples: bool, scenarios: bool) -> list[str]:
    found = [
        *(["from toolpath import Toolpath"] if examples or scenarios else []),
        *(["from toolpath.chains import run_composite"] if scenarios else []),
        *(["from toolpath.errors import ToolpathError"] if scenarios else []),
        "from toolpath.language.composite import read_composite",
        "from toolpath.model.plan import Plan",
        *(["from toolpath.model.run import RunContext"] if scenarios else []),
        *(["from toolpath.testing.composites import offline"] if examples or scenarios else []),
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


def _test_head(item: JsonObject, prefix: str, number: int, taken: set[str], *, how: str) -> list[str]:
    description = str(item.get("description") or f"{prefix} {number}")
    words = re.sub(r"[^a-z0-9]+", "_", description.lower()).strip("_")[:60].strip("_")
    name = python_name(f"test_{prefix}_{words}" if words else f"test_{prefix}_{number}", taken)
    taken.add(name)
    context = item.get("context") if isinstance(item.get("context"), dict) else {}
    return [
        "",
        "",
        *(["@offline(", "    TOOL,", f"    {how},", ")"] if how else ["@offline(TOOL)"]),
        f"async def {name}(toolpath: Toolpath) -> None:",
        f'    """{_line(description)}"""',
        *_context(context),
    ]


def _context(context: Any) -> list[str]:
    session = context.get("session") if isinstance(context.get("session"), dict) else {}
    given = {
        "user_id": session.get("user_id", "test_user"),
        "session_id": session.get("session_id", "test_session"),
        "case_id": session.get("casefile_id", session.get("case_id")),
        "permissions": context.get("permissions"),
    }
    arguments = ", ".join(f"{key}={_flat(value)}" for key, value in given.items() if value is not None)
    return [f"    ctx = toolpath.context({arguments})"]


def _example_test(
    example: JsonObject, number: int, taken: set[str], name: str, arguments: list[_Argument]
) -> list[str]:
    expected = example.get("expected_output")
    how = "" if expected is None else f"gives={literal(expected, '    ')}"
    lines = _test_head(example, "example", number, taken, how=how)
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


def _scenario_test(scenario: JsonObject, number: int, taken: set[str]) -> list[str]:
    expected = str(scenario.get("expected_error") or "")
    lines = _test_head(scenario, "failure", number, taken, how=f"fails={literal(expected or 'failed')}")
    # `inputs` in a line of its own reads and formats the same whatever its size.
    lines.append(f"    inputs: dict[str, Any] = {literal(scenario.get('input', {}), '    ')}")
    lines.append("    failure = await failure_of(ctx, inputs)")
    # The name of another system's exception says only that it fails.
    foreign = re.fullmatch(r"[A-Za-z]*(Error|Exception)", expected) and expected != "PolicyViolationError"
    if not expected or foreign:
        lines.append("    assert failure")
    else:
        lines.append(f"    assert {literal(expected.lower())} in failure.lower()")
    return lines


def _flat(value: Json) -> str:
    """A JSON value as Python source on one line."""
    match value:
        case dict():
            return "{" + ", ".join(f"{literal(key)}: {_flat(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + ", ".join(_flat(item) for item in value) + "]"
        case _:
            return literal(value)
