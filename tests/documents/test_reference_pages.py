"""The reference says what the code says: the same names, the same defaults, the results it shows."""

from __future__ import annotations

import re
from typing import get_args

import msgspec
import pytest

import toolpath
from pages import ROOT, encoded, named_in, table_rows
from toolpath import errors
from toolpath.config import ENGINE_NAMES, Settings
from toolpath.engine.decide.retries import NEVER
from toolpath.expressions import budget, lower, parse, scan
from toolpath.expressions.compile import compile_value
from toolpath.expressions.names import Frame, Names
from toolpath.expressions.table import (
    COMPARING_TESTS,
    FILTERS,
    FORBIDDEN,
    SPECIAL_FILTERS,
    SPECIAL_TESTS,
    TESTS,
)
from toolpath.model.events import AnyEvent, Failure
from toolpath.notation.plan import read_plan
from toolpath.notation.plan_schema import plan_json_schema

REFERENCE = ROOT / "docs" / "reference"


def page(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


EXPRESSIONS = page("expressions.md")
EXAMPLES = [
    (row[-2], row[-1])
    for heading in ("Templates", "Operators", "Filters", "Tests")
    for row in table_rows(EXPRESSIONS, heading)
]


@pytest.mark.parametrize(("example", "result"), EXAMPLES, ids=[example for example, _ in EXAMPLES])
def test_an_example_of_the_expressions_has_the_result_shown(example: str, result: str) -> None:
    text = example.strip("`")
    text = text if "{" in text and ("{{" in text or "{#" in text) else f"{{{{ {text} }}}}"
    names = Names(flow="graph", ids={}, shared={})
    value = compile_value(text.replace("\\n", "\n"), names).evaluate(Frame(inputs={}, run={}))
    shown = msgspec.json.decode(result.strip("`"))
    assert (value, type(value)) == (shown, type(shown))


def test_every_filter_and_test_stands_on_the_page_with_its_parameters() -> None:
    filters = {named_in(row[0])[0]: named_in(row[1]) for row in table_rows(EXPRESSIONS, "Filters")}
    assert set(filters) == {*FILTERS, *SPECIAL_FILTERS}
    for name, function in FILTERS.items():
        assert filters[name] == [*function.parameters, *(["attribute"] if function.by else [])], name
    assert {named_in(row[0])[0] for row in table_rows(EXPRESSIONS, "Tests")} == {*TESTS, *SPECIAL_TESTS}
    comparing = re.search(r"The comparisons may be written.*?\.", EXPRESSIONS, re.DOTALL)
    assert comparing
    words = {word for word in COMPARING_TESTS if word.isalpha()}
    assert words <= set(named_in(comparing[0]))
    refused = re.search(r"Not there,.*?\.", EXPRESSIONS, re.DOTALL)
    assert refused
    assert set(named_in(refused[0])) == set(FORBIDDEN) - {"callable", "test", "sameas", "escaped"}


def test_the_limits_of_expressions_are_those_of_the_code() -> None:
    shown = [int(row[1].replace(",", "")) for row in table_rows(EXPRESSIONS, "Limits")]
    assert shown == [
        scan.MAX_SOURCE,
        parse.MAX_TOKENS,
        parse.MAX_BRACKETS,
        lower.MAX_NESTING,
        scan.MAX_TEMPLATES,
        budget.WORK,
        budget.MAX_TEXT,
        budget.MAX_BITS,
    ]


PLAN = page("plan.md")
SCHEMA = plan_json_schema()
STEP = SCHEMA["$defs"]["step"]["properties"]
PARTS = {name: SCHEMA["$defs"][name]["properties"] for name in ("retry", "fallback", "loop", "ask", "field", "agent")}
FULL = read_plan(
    {
        "steps": [
            {"tool": "x", "retry": {}, "fallback": {"tool": "y"}, "cache": {}},
            {"loop": {"over": [1], "steps": [{"tool": "x"}]}},
            {"ask": {"inputs": [{"name": "a"}]}},
            {"agent": {"requirement": "r"}},
            {"parallel": [{"tool": "x"}]},
        ]
    }
)
CALL, LOOP, ASK, AGENT, PARALLEL = FULL.steps
NONE = "\N{EN DASH}"
#: Heading, the fields of the schema, and a record with the reader's defaults.
TABLES = [
    ("Plan", SCHEMA["properties"], FULL),
    ("Budget", SCHEMA["properties"]["budget"]["properties"], FULL.budget),
    ("Limits", SCHEMA["properties"]["limits"]["properties"], FULL.limits),
    ("Origin", SCHEMA["properties"]["origin"]["properties"], FULL.origin),
    ("Step", STEP, msgspec.structs.replace(CALL, derived_id=False)),
    ("Retry", PARTS["retry"], CALL.retry),
    ("Fallback", PARTS["fallback"], CALL.fallback[0]),
    ("Cache", STEP["cache"]["anyOf"][1]["properties"], CALL.cache),
    ("on_success", STEP["on_success"]["properties"], CALL.on_success),
    ("on_failure", STEP["on_failure"]["properties"], None),
    ("Branch", SCHEMA["$defs"]["block"]["properties"], None),
    ("Loop", PARTS["loop"], LOOP),
    ("Ask", PARTS["ask"], ASK),
    ("Field", PARTS["field"], ASK.fields[0]),
    ("Agent", PARTS["agent"], AGENT),
]
#: Their own field in the notation, another one in the record.
RENAMED = {"as": "item", "initial_state": "state"}


def rows_of(heading: str) -> list[list[str]]:
    """The rows of a section's tables: a step has two."""
    rows = table_rows(PLAN, heading)
    if heading == "Step":
        rows += table_rows(PLAN.replace("All the rest is optional:", "## Rest"), "Rest")
    return rows


@pytest.mark.parametrize(("heading", "fields", "record"), TABLES, ids=[table[0] for table in TABLES])
def test_a_table_of_the_plan_page_has_the_readers_fields_and_defaults(heading, fields, record) -> None:
    rows = rows_of(heading)
    shown = {named_in(row[0])[0]: row for row in rows}
    aliases = {name for name, schema in fields.items() if schema.get("deprecated")}
    assert set(shown) == set(fields) - aliases - {"$schema"}
    assert aliases <= {name for row in rows for name in [*named_in(row[3]), *re.findall(r"\w+", row[3])]}
    for name, row in shown.items():
        choices = [word for word in fields[name].get("enum", []) if word is not None]
        if choices and "as the plan's" not in row[1]:
            assert sorted(named_in(row[1])) == sorted(choices), name
        given = "required" in row[3] and row[2] == NONE
        value = getattr(PARALLEL if name == "wait_for" else record, RENAMED.get(name, name), None)
        if given or name in ("id", "tool", "steps"):
            continue
        assert row[2] == default_text(value), name


def default_text(value: object) -> str:
    """A default as the page shows it."""
    if value is None or isinstance(value, msgspec.Struct) or value in ({}, "") or isinstance(value, tuple):
        return NONE
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"`{value if isinstance(value, str) else encoded(value)}`"


def test_the_page_of_settings_has_each_setting_with_its_default_and_other_names() -> None:
    rows = table_rows(page("settings.md"), "Settings")
    shown = {named_in(row[0])[0]: (row[1].strip("`"), named_in(row[2])) for row in rows}
    others = {name: [variable] for variable, name in ENGINE_NAMES.items()}
    assert shown == {
        field: (default_of_setting(getattr(Settings(), field)), others.get(field, []))
        for field in Settings.__struct_fields__
    }
    assert all(row[3] for row in rows)


def default_of_setting(value: object) -> str:
    """A setting's default as JSON, whole numbers without a point."""
    return encoded(int(value) if isinstance(value, float) and value.is_integer() else value)


def test_the_page_of_events_has_each_event_with_its_fields() -> None:
    text = page("events.md")
    shown = {
        named_in(row[0])[0]: tuple(named_in(row[1]))
        for heading in ("Run", "Step", "Flow", "People")
        for row in table_rows(text, heading)
    }
    assert shown == {
        event.__struct_config__.tag: tuple(name for name in event.__struct_fields__ if name not in ("seq", "at"))
        for event in get_args(AnyEvent)
    }
    assert [named_in(row[0])[0] for row in table_rows(text, "Failure")] == list(Failure.__struct_fields__)


def test_the_page_of_python_has_every_public_name_and_every_method_of_the_door() -> None:
    text = page("python.md")
    assert {named_in(row[0])[0] for row in table_rows(text, "Names")} == set(toolpath.__all__)
    shown = {named_in(row[0])[0].partition("(")[0] for part in DOORS for row in table_rows(text, part)}
    door = toolpath.Toolpath
    public = {name for name in dir(door) if not name.startswith("_") and callable(getattr(door, name))}
    assert shown == public


DOORS = ("Tools", "Plans", "Running", "Runs that are there", "People")


def test_the_page_of_errors_has_every_class_with_its_code() -> None:
    shown = {named_in(row[0])[0]: named_in(row[1])[0] for row in table_rows(page("errors.md"), "Exceptions")}
    classes = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.ToolpathError)]
    assert shown == {c.__name__: c.code for c in classes if c is not errors.ToolpathError}


def test_the_codes_that_are_never_tried_again_are_those_of_the_engine() -> None:
    rows = table_rows(page("errors.md"), "Codes of failures")
    assert {named_in(row[0])[0] for row in rows if row[2] == "never"} == NEVER
