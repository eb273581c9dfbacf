import ast
import copy
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import TypedDict

import msgspec
import pytest
from tests.soak import scaled

from toolpath import Toolpath, tool
from toolpath.cli.project.factory.generating import generate
from toolpath.cli.project.factory.source import annotation_of, literal, python_name
from toolpath.errors import PlanInvalid, ReadError, SchemaError
from toolpath.model.tool import Requires, Tool
from toolpath.notation.composite import read_composite

ROOT = Path(__file__).parents[1]
ECHO = {
    "name": "echo-chain_demo",
    "description": 'Chains "echo" calls.\nC:\\new """ — and \u2013 so on',
    "parameters": [
        {"name": "initial_message", "type": "string", "required": True, "description": "What is said\nfirst."},
        {"name": "from", "type": "string", "required": True, "allow_null": True},
        {"name": "max-results", "type": "integer", "default": 10},
        {"name": "max_results", "type": "array", "items": {"type": "number"}},
        {"name": "loud", "type": "boolean", "default": False},
        {"name": "mode", "type": "string", "enum": ["a", "b"], "default": "a"},
        {"name": "ctx", "type": "object", "default": {"deep": True}},
        {"name": "Casing", "type": "any"},
        {"name": "ninth", "type": "string", "default": "both ' and \" quotes"},
    ],
    "implementation": {
        "type": "composite",
        "composite": {
            "steps": [
                {
                    "tool": "echo_tool",
                    "inputs": {"message": "{{ state.initial_message }}", "on": True, "off": None, "text": "é" * 130},
                    "on_success": {"map_outputs": {"data": "final_result"}},
                }
            ]
        },
    },
    "examples": [
        {
            "description": "Says it \u2013 once",
            "context": {"session": {"user_id": "u", "casefile_id": None}, "permissions": ["a.b"]},
            "input": {"initial_message": "hi", "from": None, "max-results": 3},
            "expected_output": {"final_result": {"message": "hi", "ok": True}},
        },
        {"description": "Says it \u2013 once", "input": {}},
    ],
    "error_scenarios": [
        {"description": "no message", "input": {"initial_message": None}, "expected_error": "initial_message"},
        {"description": "bad", "input": {}, "expected_error": "ValidationError"},
    ],
}


@pytest.fixture
def generated():
    return generate(read_composite(ECHO), source_file="config/echo.yaml", package="tools")


def namespace_of(source):
    """What the module defines, without running anything of the chain."""
    tree = ast.parse(source)
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def constant_of(source, name):
    for node in ast.parse(source).body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return ast.literal_eval(node.value)
    raise AssertionError(name)


def test_the_module_holds_the_whole_composite_as_a_python_literal(generated):
    assert read_composite(constant_of(generated.module, "TOOL")) == read_composite(ECHO)


def test_the_function_takes_each_input_by_a_name_that_python_admits(generated):
    function = namespace_of(generated.module)["echo_chain_demo"]
    given = {argument.arg: ast.unparse(argument.annotation) for argument in function.args.kwonlyargs}
    assert given == {
        "initial_message": "str",
        "from_": "str | None",
        "max_results": "int",
        "max_results_": "list[float] | None",
        "loud": "bool",
        "mode": "Literal['a', 'b']",
        "ctx_": "dict[str, Any] | None",
        "Casing": "Any",
        "ninth": "str",
    }
    defaults = [None if default is None else ast.literal_eval(default) for default in function.args.kw_defaults]
    assert defaults == [None, None, 10, None, False, "a", None, None, "both ' and \" quotes"]
    assert [argument.arg for argument in function.args.args] == ["ctx"]
    assert ast.get_docstring(function).startswith('Chains "echo" calls.')


def test_each_example_and_each_scenario_becomes_a_test_that_asserts(generated):
    tests = namespace_of(generated.tests)
    assert sorted(name for name in tests if name.startswith("test_")) == [
        "test_example_says_it_once",
        "test_example_says_it_once_",
        "test_failure_bad",
        "test_failure_no_message",
        "test_the_composite_reads_without_errors",
    ]
    for name, test in tests.items():
        if name.startswith("test_"):
            assert any(isinstance(node, ast.Assert) for node in ast.walk(test)), name
    assert "max_results=3" in ast.unparse(tests["test_example_says_it_once"])
    assert "'initial_message' in failure.lower()" in ast.unparse(tests["test_failure_no_message"])


@pytest.mark.parametrize("rich", [True, False])
def test_what_is_generated_pleases_the_linter_and_the_formatter(tmp_path, rich):
    bare = {"name": "bare", "implementation": {"type": "simple", "simple": {"tool": "x"}}, "parameters": []}
    made = generate(read_composite(ECHO if rich else bare), source_file="a.yaml")
    (tmp_path / f"{made.name}.py").write_text(made.module, encoding="utf-8")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / f"test_{made.name}.py").write_text(made.tests, encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff"]
    if subprocess.run([*ruff, "--version"], capture_output=True, check=False).returncode:
        pytest.skip("ruff is not installed")
    # What the project allows in its tests/, by the name of the file.
    allowed = 'lint.per-file-ignores = {"test_*.py" = ["S", "D1", "PLR"]}'
    config = ["--config", str(ROOT / "pyproject.toml"), "--config", allowed, "--no-cache", str(tmp_path)]
    checked = subprocess.run([*ruff, "check", *config], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    formatted = subprocess.run([*ruff, "format", "--diff", *config], capture_output=True, text=True, check=False)
    assert formatted.returncode == 0, formatted.stdout


def test_only_composites_are_generated():
    with pytest.raises(SchemaError, match="no plan"):
        generate(Tool(name="plain"), source_file="x")


@pytest.mark.parametrize(
    ("name", "python"),
    [("a", "a"), ("class", "class_"), ("match", "match_"), ("my-tool", "my_tool"), ("1st", "_1st"), ("é", "value_"),
     ("", "value"), ("__init__", "init___"), ("__12j", "value_12j_")],
)  # fmt: skip
def test_names_are_made_fit_for_python(name, python):
    assert python_name(name) == python
    assert python.isidentifier()


def test_literals_are_python():
    value = {"a": [True, None, 1.5, "x", "it's", 'say "x"', "é\n"], "b": {}, "c": []}
    assert ast.literal_eval(literal(value)) == value


def test_types_are_read_out_of_schemas():
    assert annotation_of({}) == "Any"
    assert annotation_of({"type": ["integer", "null"]}) == "int | None"
    assert annotation_of({"type": "array", "items": {"type": "object"}}) == "list[dict[str, Any]]"
    assert annotation_of({"type": "string", "enum": ["a", None]}) == 'Literal["a", None]'


ARCHIVE = """
name: archive_messages
parameters:
  - {name: query, type: string, required: true, min_length: 1}
implementation:
  type: composite
  composite:
    steps:
      - id: search
        tool: mail.search
        inputs: {query: "{{ state.query }}"}
        on_success: {map_outputs: {messages: found, count: total}}
      - id: each
        loop: {over: "{{ state.found }}", as: message, steps: [{tool: drive.upload, inputs: {it: "{{ message }}"}}]}
      - id: save
        tool: disk.save
        inputs: {content: "{{ state.found }}"}
        on_success: {map_outputs: {file_id: stored_as}}
examples:
  - {description: about tea, input: {query: tea}, expected_output: {total: 3, stored_as: local-3}}
error_scenarios:
  - {description: the server is away, input: {query: tea}, expected_error: mailbox is away}
  - {description: nothing to look for, input: {query: ""}, expected_error: query}
"""


@pytest.mark.parametrize(("wrong", "failed"), [(False, 0), (True, 1)], ids=["as it says", "not as it says"])
def test_the_generated_test_runs_alone_with_pytest_and_nothing_else(tmp_path, wrong, failed):
    source = ARCHIVE.replace("{file_id: stored_as}", "{file_id: stored_at}") if wrong else ARCHIVE
    made = generate(read_composite(source), source_file="archive.yaml")
    (tmp_path / f"{made.name}.py").write_text(made.module, encoding="utf-8")
    (tmp_path / f"test_{made.name}.py").write_text(made.tests, encoding="utf-8")
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    ran = subprocess.run(words, cwd=tmp_path, env=alone, capture_output=True, text=True, check=False)
    assert f"{4 - failed} passed" in ran.stdout, ran.stdout
    assert ran.returncode == bool(failed)


class Mailbox(TypedDict):
    messages: list[str]
    count: int


class Stored(TypedDict):
    file_id: str


@tool(group="mail", effect="read")
def search(query: str) -> Mailbox:
    """Search the mailbox."""
    return Mailbox(messages=[], count=0)


@tool(group="disk", effect="write", requires=Requires(permissions=("disk.write",)))
def save(content: list[str]) -> Stored:
    """Store something."""
    return Stored(file_id="x")


async def tools():
    door = Toolpath()
    door.add(search, save)
    return await door.tools()


POLICED = """
name: archive
parameters:
  - {name: query, type: string, required: true, min_length: 1}
business_rules: {requires_auth: true, required_permissions: [mail.read], requires_casefile: true}
session_policies: {requires_active_session: true}
implementation:
  type: composite
  composite:
    steps:
      - tool: mail.search
        inputs: {query: "{{ state.query }}"}
        on_success: {map_outputs: {messages: found, count: n}}
      - {tool: save, inputs: {content: "{{ state.found }}"}, on_success: {map_outputs: {file_id: stored_as}}}
examples:
  - {description: about tea, input: {query: tea}, expected_output: {n: 3, stored_as: s}}
error_scenarios:
  - {description: the server is away, input: {query: tea}, expected_error: mailbox is away}
  - {description: nothing to look for, input: {query: ""}, expected_error: ValidationError}
  - {description: nobody asks, input: {query: tea}, expected_error: PolicyViolationError}
"""


def played(folder, made):
    """Passed and failed tests of what was generated."""
    (folder / f"{made.name}.py").write_text(made.module, encoding="utf-8")
    (folder / f"test_{made.name}.py").write_text(made.tests, encoding="utf-8")
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)]
    ran = subprocess.run(words, cwd=folder, env=alone, capture_output=True, text=True, check=False)
    failed = re.findall(r"^FAILED .*::(\w+)", ran.stdout, re.M)
    return ran.stdout, failed


async def test_policies_refusals_and_contexts_are_proved(tmp_path):
    made = generate(read_composite(POLICED), source_file="a.yaml", catalog=await tools())
    out, failed = played(tmp_path, made)
    assert failed == [], out
    assert "9 passed" in out
    for name in ("without_a_user", "without_a_session", "without_a_case", "without_the_permission_mail_read"):
        assert f"test_refused_{name}" in made.tests


@pytest.mark.parametrize(
    ("wrong", "failing"),
    [
        # What the tools give, take and require no longer fits what the module holds.
        (("'count'", "'number'"), {"test_the_composite_reads_without_errors", "test_example_about_tea"}),
        (
            ('map_outputs": {\n', "map_outputs\": {\n'no_such_field': 'total',\n"),
            {"test_the_composite_reads_without_errors"},
        ),
        (('"action": "stop"', '"action": "explode"'), set()),
    ],
    ids=["a field is gone", "a field that no tool gives", "nothing"],
)
async def test_the_tests_fail_where_the_composite_can_no_longer_run(tmp_path, wrong, failing):
    made = generate(read_composite(POLICED), source_file="a.yaml", catalog=await tools())
    before, after = wrong
    module = made.module.replace(before.replace("'", '"'), after.replace("'", '"'))
    out, failed = played(tmp_path, msgspec.structs.replace(made, module=module))
    assert failing <= set(failed), out
    assert bool(failed) == bool(failing)


async def test_an_example_whose_caller_is_refused_fails(tmp_path):
    text = POLICED.replace(
        "input: {query: tea}, expected_output", "context: {permissions: []}, input: {query: tea}, expected_output"
    )
    out, failed = played(tmp_path, generate(read_composite(text), source_file="a.yaml", catalog=await tools()))
    assert failed == ["test_example_about_tea"], out


async def test_a_scenario_that_does_not_fail_is_no_scenario(tmp_path):
    text = POLICED.replace('input: {query: ""}', "input: {query: x}")
    out, failed = played(tmp_path, generate(read_composite(text), source_file="a.yaml", catalog=await tools()))
    assert failed == ["test_failure_nothing_to_look_for"], out


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (("on_success: {map_outputs: {file_id", "on_succes: {map_outputs: {file_id"), "unknown_field"),
        (("- {tool: save,", '- {tool: save, wehn: "{{ false }}",'), "unknown_field"),
        (("- {tool: save,", "- {tool: save, on_failure: {action: explode},"), "unknown_value"),
        (("tool: save", "tool: svae"), "unknown_tool"),
        (("file_id: stored_as", "no_such_field: stored_as"), "outside_schema"),
        (("{{ state.found }}", "{{ state.fuond }}"), "unknown_variable"),
        (('query: "{{ state.query }}"', 'qeury: "{{ state.query }}"'), "missing_input"),
        (("name: archive", "name: 'not a name'"), "bad_id"),
    ],
)
async def test_what_validate_refuses_is_not_generated(wrong, code):
    text = POLICED.replace(*wrong)
    assert text != POLICED
    with pytest.raises(PlanInvalid) as caught:
        generate(read_composite(text), source_file="a.yaml", catalog=await tools())
    assert code in [finding.code for finding in caught.value.findings]


@pytest.mark.parametrize("package", ["a b", "x; import os", "1a", "a..b", "é", "a\nimport os"])
def test_a_package_is_a_dotted_name(package):
    with pytest.raises(SchemaError, match="is no package"):
        generate(read_composite(ECHO), source_file="x", package=package)


HOSTILE = [
    *("\x00", "\x00end", "\\", '"""', "'''", '"', "\x1b[2J", "\u202e", "\u2028", "\x0c", "\r\n", "#", "{x}", "{{ y"),
    *("\\N{BULLET}", "\\x", "import os", "é" * 50, "\x7f", "\x85", "", " ", "\\u12", "%s"),
]


def hostile(chance):
    # Half a character is refused when the composite is read.
    if chance.random() < 0.005:
        return "\ud800"
    return "".join(chance.choices(HOSTILE, k=chance.randint(0, 4)))


def hostile_composite(seed):
    """A composite with hostile texts wherever a text may stand that is shown."""
    chance = random.Random(seed)
    made = copy.deepcopy(ECHO)
    made["description"], made["display_name"] = hostile(chance), hostile(chance)
    for number, parameter in enumerate(made["parameters"]):
        parameter["description"] = hostile(chance)
        if chance.random() < 0.3:
            parameter["name"] = f"p{number}{hostile(chance)}"
        if "enum" in parameter:
            parameter["enum"] = ["a", hostile(chance)]
    step = made["implementation"]["composite"]["steps"][0]
    step["inputs"]["text"] = hostile(chance).replace("{{", "")
    step["inputs"]["message"] = (
        "{{ state.initial_message }}" if made["parameters"][0]["name"] == "initial_message" else "m"
    )
    for item in [*made["examples"], *made["error_scenarios"]]:
        item["description"] = hostile(chance)
        item["input"] = {hostile(chance): hostile(chance), **item["input"]}
    made["error_scenarios"][0]["expected_error"] = hostile(chance)
    made["business_rules"] = {"required_permissions": [hostile(chance) or "p"]}
    return made, hostile(chance)


def generated_or_refused(seed):
    composite, source = hostile_composite(seed)
    try:
        made = generate(read_composite(composite), source_file=source)
    except (PlanInvalid, SchemaError, ReadError):
        return False
    for text in (made.module, made.tests):
        compile(text, "generated", "exec")
        assert "\x00" not in text
        assert text.isascii()
    assert read_composite(constant_of(made.module, "TOOL")).name == "echo-chain_demo"
    return True


def test_hostile_texts_never_give_a_module_that_cannot_be_read():
    assert sum(generated_or_refused(seed) for seed in range(150)) > 50


@pytest.mark.soak
@pytest.mark.parametrize("first", range(1_000, 3_000, 200))
def test_hostile_texts_never_give_a_module_that_cannot_be_read_in_large(first):
    assert sum(generated_or_refused(seed) for seed in range(first, first + scaled(200, least=20))) > scaled(70, least=4)


def test_a_module_that_python_could_not_read_is_refused():
    deep = {}
    for _ in range(60):
        deep = {"a": [deep]}
    composite = copy.deepcopy(ECHO)
    composite["examples"][0]["expected_output"] = deep
    try:
        made = generate(read_composite(composite), source_file="x")
    except (SchemaError, PlanInvalid, ReadError):
        return
    compile(made.tests, "generated", "exec")
