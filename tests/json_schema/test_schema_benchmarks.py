"""Public tool schemas and gold calls: every schema is usable, good arguments are accepted, bad ones are not."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from toolpath.errors import SchemaError
from toolpath.json_schema.fits import fits
from toolpath.json_schema.locate import locate
from toolpath.json_schema.validate import Validator, schema_faults

FOLDER = os.environ.get("TOOLPATH_BENCHMARK_DATA")
REFERENCE = re.compile(r"\{\{.*?\}\}")
WHOLE = re.compile(r"\{\{\s*([A-Za-z_]\w*)((?:\.\w+|\[\d+\])*)\s*\}\}")
LITERAL_DEFECT = re.compile(r" is not (of type|one of) ")

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(FOLDER is None, reason="TOOLPATH_BENCHMARK_DATA names no folder with the benchmark records"),
]


def lines(pattern: str) -> Iterator[dict[str, Any]]:
    for path in sorted(Path(FOLDER or ".").glob(pattern)):
        with path.open(encoding="utf-8") as file:
            yield from map(json.loads, file)


@pytest.fixture(scope="module")
def toolsets() -> dict[str, dict[str, Any]]:
    return {record["toolset"]: {tool["name"]: tool for tool in record["tools"]} for record in lines("toolsets*.jsonl")}


def tools_of(record, toolsets):
    found = {tool["name"]: tool for tool in record.get("tools", [])}
    for name in [record.get("toolset"), *record.get("toolsets", [])]:
        found.update(toolsets.get(name, {}))
    return found


def part(tool, name):
    """One parameter's schema as a schema of its own."""
    schema = tool["parameters"].get("properties", {}).get(name)
    return None if schema is None else {**schema, "$defs": tool["parameters"].get("$defs", {})}


def refused_literals(record, toolsets):
    """Arguments without references that their schema does not accept."""
    tools = tools_of(record, toolsets)
    for step in record["gold_plan"]:
        arguments, tool = step["arguments"], tools.get(step["tool"])
        for name, value in arguments.items() if isinstance(arguments, dict) and tool else ():
            schema = part(tool, name)
            if schema is None or REFERENCE.search(json.dumps(value)):
                continue
            try:
                Validator(schema).accept(value)
            except SchemaError as error:
                yield step["step"], name, error.faults


def test_every_public_tool_schema_is_usable_or_its_fault_is_located(toolsets):
    tools = [tool for group in toolsets.values() for tool in group.values()]
    tools += [tool for record in lines("plans_*.jsonl") for tool in record.get("tools", [])]
    schemas = {
        json.dumps(tool[key]): (tool["name"], key)
        for tool in tools
        for key in ("parameters", "output_schema")
        if key in tool
    }
    broken = {place: faults for text, place in schemas.items() if (faults := schema_faults(json.loads(text)))}
    assert len(schemas) > 5_000
    # Two tools of one recorded API say `"items": null`.
    assert {key for _, key in broken} <= {"output_schema"}
    assert all(at.endswith("/items") and "got null" in message for faults in broken.values() for at, message in faults)


def test_gold_literals_are_accepted_unless_the_record_is_marked_defect(toolsets):
    checked = 0
    for record in lines("plans_*.jsonl"):
        if not record.get("defects"):
            checked += 1
            assert list(refused_literals(record, toolsets)) == [], record["id"]
    assert checked > 3_000


def test_literals_that_are_marked_defect_are_refused(toolsets):
    checked = 0
    for record in lines("plans_*.jsonl"):
        if any(LITERAL_DEFECT.search(defect) for defect in record.get("defects", [])):
            checked += 1
            assert list(refused_literals(record, toolsets)), record["id"]
    assert checked > 20


def test_verdicts_on_gold_references_agree_with_recorded_values(toolsets):
    """`never` is always right; `fits` fails only where a schema lies about its own output."""
    agreed = 0
    for record in lines("plans_*.jsonl"):
        for output, wanted, recorded in references(record, toolsets):
            place = locate(output, recorded[0])
            verdict = fits(place.schema, wanted).verdict
            if place.found != "found" or verdict not in ("fits", "never"):
                continue
            try:
                value = follow(recorded[1], recorded[0])
            except (LookupError, TypeError):
                continue
            if not Validator({**(place.schema or {}), "$defs": place.root.get("$defs", {})}).is_valid(value):
                continue
            assert is_accepted(wanted, value) is (verdict == "fits"), record["id"]
            agreed += 1
    assert agreed > 500


def references(record, toolsets):
    tools, steps = tools_of(record, toolsets), {step["step"]: step for step in record["gold_plan"]}
    recorded = record.get("recorded_outputs") or {}
    for step in record["gold_plan"]:
        if step["tool"] not in tools or not isinstance(step["arguments"], dict):
            continue
        for name, value in step["arguments"].items():
            found = WHOLE.fullmatch(value) if isinstance(value, str) else None
            wanted = part(tools[step["tool"]], name)
            if found is None or found[1] not in recorded or found[1] not in steps or wanted is None:
                continue
            path = tuple(int(key[1:-1]) if key[0] == "[" else key[1:] for key in re.findall(r"\.\w+|\[\d+\]", found[2]))
            source = tools.get(steps[found[1]]["tool"], {})
            yield source.get("output_schema"), wanted, (path, recorded[found[1]])


def follow(value, path):
    for key in path:
        value = value[key]
    return value


def is_accepted(schema, value) -> bool:
    try:
        Validator(schema).accept(value)
    except SchemaError:
        return False
    return True
